"""Random kernels give what Python gives; fusing them and sharing memory changes no bit."""

from __future__ import annotations

import pytest
import random_programs
import torch
from hypothesis import HealthCheck, given, settings


def run(body, columns, a, b, n):
    y, v = torch.full_like(a, 99), torch.full((random_programs.ROWS, 1), 99.0)
    random_programs.native(body, columns)(a, b, n, y, v)
    return y, v


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(random_programs.programs())
def test_random_kernels(program):
    body, columns = program
    generator = torch.Generator().manual_seed(columns)
    a, b = (torch.randn(random_programs.ROWS, columns, generator=generator) for _ in range(2))
    results = []
    for knobs in ({}, {"PTO_FUSE": "0"}, {"PTO_REUSE": "0"}):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PTO_CACHE", "0")
            for name, value in knobs.items():
                patch.setenv(name, value)
            results.append(run(body, columns, a, b, 2))
    wanted = random_programs.reference(body, a, b, 2)
    for got, want in zip(results[1], wanted, strict=True):
        torch.testing.assert_close(got.double(), want, rtol=1e-4, atol=1e-5)
    for other in (results[0], results[2]):
        for got, want in zip(other, results[1], strict=True):
            assert torch.equal(got, want)
