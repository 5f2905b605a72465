"""PyTorch's own operator database on the device: forward and gradient equal the CPU's.

Each operator runs with the database's sample inputs (the first six). EXCLUDED says which operators are left
out and why; a second test runs a part of the database with every operator queued behind its call.
"""

from __future__ import annotations

import itertools
import random
import warnings

import numpy as np
import pytest
import torch

opinfo = pytest.importorskip(
    "torch.testing._internal.common_methods_invocations", exc_type=ImportError
)
pytree = torch.utils._pytree

SPARSE = "the device holds strided tensors only"
CUDA = "needs CUDA's run-time compiler"
EXCLUDED = {
    "sparse.sampled_addmm": SPARSE,
    "sparse.mm.reduce": SPARSE,
    "to_sparse": SPARSE,
    "jiterator_unary": CUDA,
    "jiterator_binary": CUDA,
    "jiterator_4inputs_with_extra_args": CUDA,
    "jiterator_binary_return_by_ref": CUDA,
    "jiterator_2inputs_2outputs": CUDA,
    "as_strided.partial_views": "the samples lean on storage that a copy to another device does not take along",
    "tensor_split": "its indices must be on the host on every device; the samples move them",
}
#: Not compared when queued: in evaluation the CPU kernel leaves out results that the Meta kernel announces.
NOT_QUEUED = ("native_batch_norm", "_native_batch_norm_legit")
RANDOM_CONTENT = ("empty", "new_empty")
OPERATORS = [op for op in opinfo.op_db if op.dtypes and op.full_name not in EXCLUDED]


def moved(value, device):
    def move(leaf):
        if isinstance(leaf, torch.Tensor):
            return leaf.detach().to(device).requires_grad_(leaf.requires_grad)
        return torch.device(device) if isinstance(leaf, torch.device) or leaf == "cpu" else leaf

    return pytree.tree_map(move, value)


def tensors(value):
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def dtype_of(op):
    return torch.float32 if torch.float32 in op.dtypes else sorted(op.dtypes, key=str)[0]


def check(op, dtype, samples=6):
    differentiable = dtype.is_floating_point and op.supports_autograd
    ran = 0
    # The samples are random: the same ones each time, whatever ran before.
    random.seed(0), np.random.seed(0), torch.manual_seed(0)
    for sample in itertools.islice(
        op.sample_inputs("cpu", dtype, requires_grad=differentiable), samples
    ):
        host = moved((sample.input, sample.args, sample.kwargs), "cpu")
        device = moved((sample.input, sample.args, sample.kwargs), "npu")
        torch.manual_seed(1)
        want = tensors(op(host[0], *host[1], **host[2]))
        torch.manual_seed(1)
        got = tensors(op(device[0], *device[1], **device[2]))
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            assert a.device.type == "npu"
            assert a.shape == b.shape and a.dtype == b.dtype
            if not any(word in op.name for word in RANDOM_CONTENT):
                torch.testing.assert_close(a.cpu(), b, equal_nan=True)
        ran += 1
        want, got = [t for t in want if t.requires_grad], [t for t in got if t.requires_grad]
        if differentiable and want and not want[0].is_complex():
            want[0].sum().backward()
            got[0].sum().backward()
            for a, b in zip(tensors(device), tensors(host), strict=True):
                if b.grad is not None:
                    torch.testing.assert_close(a.grad.cpu(), b.grad, equal_nan=True)
    return ran


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.full_name)
def test_operator_equals_cpu(op):
    assert check(op, dtype_of(op)) > 0


LOWER = ["add", "mul", "matmul", "softmax", "nn.functional.gelu", "nn.functional.layer_norm", "sum", "cat", "index_select",
         "where", "exp", "pow", "cumsum", "sort", "bmm", "nn.functional.silu", "mean", "maximum", "transpose", "clamp"]  # fmt: skip


OTHER_TYPES = [
    (op, dtype)
    for op in opinfo.op_db
    if op.full_name in LOWER
    for dtype in (torch.bfloat16, torch.float16, torch.float64, torch.int64, torch.bool)
    if dtype in op.dtypes
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("op", "dtype"), OTHER_TYPES, ids=lambda v: getattr(v, "full_name", str(v))
)
def test_other_types_equal_cpu(op, dtype):
    assert check(op, dtype, samples=3) > 0


def test_the_database_covers_enough():
    assert len({op.name for op in OPERATORS}) >= 150
    known = {op.full_name for op in opinfo.op_db}
    with warnings.catch_warnings():
        assert not set(EXCLUDED) - known, "an exclusion names no operator"


@pytest.mark.parametrize("part", range(4))
def test_operators_queued_behind_their_call(run_python, part):
    """All of the database with PTO_NPU_ASYNC=1, in four processes."""
    text = f"""
import sys; sys.path.insert(0, {str(__file__).rsplit("/", 1)[0]!r})
import torch, torch_npu, test_opinfo as t
bad = []
for op in t.OPERATORS[{part}::4]:
    if op.full_name in t.NOT_QUEUED:
        continue
    try:
        t.check(op, t.dtype_of(op), samples=2)
    except Exception as e:
        bad.append((op.full_name, str(e)[:200]))
print(bad)
sys.exit(bool(bad))
"""
    code, out = run_python(text, timeout=900, PTO_NPU_ASYNC="1")
    assert code == 0, out
