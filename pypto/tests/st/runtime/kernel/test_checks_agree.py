"""The rules of a call against independent answers, on random calls: overlaps against sets of bytes, and what the
native launch accepts against what describing the call accepts."""

from __future__ import annotations

import random

import pytest
import torch
from pypto.ir.param_info import ParamDirection, ParamInfo
from pypto.torch.interop import CallSignature

from pypto import dtypes

torch_npu = pytest.importorskip("torch_npu")
In, Out, InOut = ParamDirection.In, ParamDirection.Out, ParamDirection.InOut
TYPES = {"FP32": torch.float32, "BF16": torch.bfloat16, "INT8": torch.int8}


def bytes_of(tensor):
    begin = tensor.data_ptr()
    return set(range(begin, begin + tensor.numel() * tensor.element_size()))


@pytest.mark.parametrize("seed", range(4))
def test_overlaps_are_those_of_the_bytes(seed):
    random_ = random.Random(seed)
    pages = [torch.zeros(256, dtype=torch.int8, device="npu") for _ in range(2)]
    refused = accepted = 0
    for _ in range(300):
        params, views = [], []
        for index in range(random_.randint(2, 4)):
            name, dtype = random_.choice(list(TYPES.items()))
            item = torch.empty(0, dtype=dtype).element_size()
            count = random_.choice([0, 1, 4, 8, 16])
            begin = random_.randrange(0, 256 // item - count + 1)
            page = random_.choice(pages).view(dtype)
            views.append(page[begin : begin + count])
            params.append(
                ParamInfo(f"p{index}", random_.choice([In, Out, InOut]), (-1,), dtypes.ALL[name])
            )
        spans = [bytes_of(view) for view in views]
        bad = any(
            i != j and spans[i] & spans[j] and spans[i] != spans[j] and params[i].is_written
            for i in range(len(views))
            for j in range(len(views))
        )
        try:
            CallSignature(params).describe_call(views)
            assert not bad, (params, [v.storage_offset() for v in views])
            accepted += 1
        except ValueError as error:
            assert bad and "overlaps" in str(error), error
            refused += 1
    assert refused > 20 and accepted > 20


KERNEL = """
import pypto.language as pl

N = pl.dynamic("N")

@pl.jit
def mix(x: pl.Tensor[[N, 16], pl.FP32], s: pl.Scalar[pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Tensor[[N, 16], pl.FP32],
        out: pl.Out[pl.Tensor[[N, 16], pl.FP32]]):
    rows = pl.tensor.dim(x, 0)
    for block in pl.spmd((rows + 15) // 16, name_hint="mix"):
        live = pl.min(16, rows - block * 16)
        a = pl.slice(x, [16, 16], [block * 16, 0], valid_shape=[live, 16])
        b = pl.slice(y, [16, 16], [block * 16, 0], valid_shape=[live, 16])
        out = pl.assemble(out, pl.add(pl.mul(a, s), b), [block * 16, 0])
    return out
"""


@pytest.fixture(scope="module")
def mix(tmp_path_factory):
    file = tmp_path_factory.mktemp("kernels") / "mix.py"
    file.write_text(KERNEL)
    names: dict = {}
    exec(compile(KERNEL, str(file), "exec"), names)
    return names["mix"]


SIGNATURE = CallSignature(
    [
        ParamInfo("x", In, (-1, 16), dtypes.ALL["FP32"], dim_names=("N", "")),
        ParamInfo("s", In, None, dtypes.ALL["FP32"]),
        ParamInfo("n", In, None, dtypes.ALL["INT32"]),
        ParamInfo("y", In, (-1, 16), dtypes.ALL["FP32"], dim_names=("N", "")),
        ParamInfo("out", Out, (-1, 16), dtypes.ALL["FP32"], dim_names=("N", "")),
    ]
)


def random_tensor(random_, pool, rows):
    """Mostly one that fits."""
    begin = random_.randrange(0, 12)
    kind = random_.choices(
        [
            "fits",
            "rows",
            "columns",
            "dtype",
            "strided",
            "transposed",
            "rank",
            "cpu",
            "other",
            "grad",
            "meta",
            "number",
            "neg",
        ],
        [60] + [2] * 12,
    )[0]
    match kind:
        case "rows":
            return pool[begin : begin + rows + 1]
        case "columns":
            return torch.zeros(rows, 8, device="npu")
        case "dtype":
            return torch.zeros(rows, 16, dtype=torch.float16, device="npu")
        case "strided":
            return torch.zeros(rows, 32, device="npu")[:, ::2]
        case "transposed":
            return torch.zeros(16, 16, device="npu").t()[:rows]
        case "rank":
            return torch.zeros(rows * 16, device="npu")
        case "cpu":
            return torch.zeros(rows, 16)
        case "other":
            return torch.zeros(rows, 16, device="npu:1")
        case "grad":
            return torch.zeros(rows, 16, device="npu", requires_grad=True)
        case "meta":
            return torch.zeros(rows, 16, device="meta")
        case "number":
            return 3.5
        case "neg":
            return torch._neg_view(torch.zeros(rows, 16, device="npu"))
    return pool[begin : begin + rows]


@pytest.mark.parametrize("seed", range(3))
def test_launches_accept_what_describing_accepts(mix, seed):
    import pypto.torch

    torch_npu.npu.set_device(0)
    random_ = random.Random(seed)
    pools = [torch.randn(32, 16, device="npu") for _ in range(3)]
    sample = pools[0][:4]
    pypto.torch.prepare(mix, sample, 1.0, 1, sample, pools[1][:4])
    agreed = {True: 0, False: 0}
    for number in range(250):
        rows = random_.choice([1, 2, 7, 16])
        x, y, out = (random_tensor(random_, random_.choice(pools), rows) for _ in range(3))
        s = random_.choices([0.5, 2, 1e39, "1", True], [10, 5, 1, 1, 1])[0]
        n = random_.choices([3, 2**31, 1.0, True], [12, 1, 1, 1])[0]
        args = (x, s, n, y, out)

        def error_of(call, args=args):
            try:
                call(*args)
            except Exception as error:
                return error

        described = error_of(lambda *args: SIGNATURE.describe_call(args))
        launched = error_of(lambda *args: pypto.torch.launch(mix, *args))
        assert (described is None) == (launched is None), (number, args, described, launched)
        if described is not None:
            kinds = [
                next(k for k in (TypeError, ValueError) if isinstance(e, k))
                for e in (described, launched)
            ]
            assert kinds[0] is kinds[1], (number, described, launched)
        agreed[described is None] += 1
    torch_npu.npu.synchronize()
    assert min(agreed.values()) > 30, agreed
