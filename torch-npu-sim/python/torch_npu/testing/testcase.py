"""`TestCase` and `run_tests`, as extensions' tests import them."""

from __future__ import annotations

import unittest

import torch


class TestCase(unittest.TestCase):
    """unittest's, plus numeric comparison of arrays and tensors of any device."""

    def assertRtolEqual(
        self,
        first,
        second,
        prec: float = 1e-4,
        prec16: float = 1e-3,
        auto_trans_dtype: bool = False,
    ):
        """Elements agree within `prec` relative (and absolute) tolerance, `prec16` for half-precision types."""
        a, b = torch.as_tensor(first).detach().cpu(), torch.as_tensor(second).detach().cpu()
        if auto_trans_dtype:
            b = b.to(a.dtype)
        half = a.dtype in (torch.float16, torch.bfloat16)
        torch.testing.assert_close(
            a, b, rtol=prec16 if half else prec, atol=prec16 if half else prec
        )


def run_tests() -> None:
    unittest.main()


__all__ = ["TestCase", "run_tests"]
