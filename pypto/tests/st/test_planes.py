"""Values of rank above 2 and vectors: what an operation does in each plane, against torch."""

import pypto.language as pl
import pytest
import torch

CORE = pl.Level.CORE_GROUP
F32, I32 = pl.FP32, pl.INT32
R = torch.randn


@pl.jit
def column_sums(x: pl.Tensor[[3, 4, 8], F32], y: pl.Out[pl.Tensor[[3, 1, 8], F32]]):
    with pl.at(level=CORE):
        y[:] = pl.col_sum(x[:])
    return y


@pl.jit
def many_planes(x: pl.Tensor[[5, 7, 4, 8], F32], y: pl.Out[pl.Tensor[[5, 7, 1, 8], F32]]):
    with pl.at(level=CORE):  # a loop over planes
        y[:] = pl.col_max(x[:])
    return y


@pl.jit
def column_positions(x: pl.Tensor[[3, 4, 8], F32], y: pl.Out[pl.Tensor[[3, 1, 8], I32]]):
    with pl.at(level=CORE):
        y[:] = pl.col_argmax(x[:])
    return y


@pl.jit
def rows_spread(
    x: pl.Tensor[[3, 4, 8], F32],
    v: pl.Tensor[[3, 1, 8], F32],
    y: pl.Out[pl.Tensor[[3, 4, 8], F32]],
):
    with pl.at(level=CORE):
        y[:] = pl.add(pl.col_expand_mul(x[:], v[:]), pl.col_expand(x[:], v[:]))
    return y


@pl.jit
def broadcasts(
    a: pl.Tensor[[1, 4, 8], F32],
    b: pl.Tensor[[4, 1, 8], F32],
    c: pl.Tensor[[4, 1, 1], F32],
    d: pl.Tensor[[4, 8], F32],
    y: pl.Out[pl.Tensor[[4, 4, 8], F32]],
):  # the first two have the same rows and columns, but of other axes
    with pl.at(level=CORE):
        t = pl.sub(a[:], b[:])
        y[:] = pl.add(pl.mul(t, c[:]), pl.mul(pl.cmp(t, b[:], 4), d[:]))
    return y


@pl.jit
def turned(
    x: pl.Tensor[[6, 20, 32], F32],
    a: pl.Out[pl.Tensor[[6, 32, 20], F32]],
    b: pl.Out[pl.Tensor[[20, 6, 32], F32]],
):
    with pl.at(level=CORE):
        a[:] = pl.transpose(x[:], 1, 2)
        b[:] = pl.transpose(x[:], 0, 1)
    return a, b


@pl.jit
def turned_over(x: pl.Tensor[[6, 5, 8], F32], y: pl.Out[pl.Tensor[[8, 5, 6], F32]]):
    with pl.at(level=CORE):
        y[:] = pl.transpose(x[:], 0, -1)
    return y


@pl.jit
def windows(x: pl.Tensor[[3, 16, 8], F32], y: pl.Out[pl.Tensor[[3, 16, 8], F32]]):
    with pl.at(level=CORE):
        t = pl.mul(x[:], 2.0)
        u = pl.mul(t, 1.0)
        u[:, 4:8, :] = t[:, 12:16, :]
        y[:] = u
    return y


@pl.jit
def gathered(
    x: pl.Tensor[[4, 12, 16], F32],
    i: pl.Tensor[[3, 9, 5], I32],
    j: pl.Tensor[[2, 12, 16], I32],
    a: pl.Out[pl.Tensor[[3, 9, 5], F32]],
    b: pl.Out[pl.Tensor[[2, 12, 16], F32]],
):
    with pl.at(level=CORE):
        a[:] = pl.gather(x[:], 2, i[:])
        b[:] = pl.gather(x[:], 0, j[:])
    return a, b


@pl.jit
def many_positions(
    x: pl.Tensor[[128, 300], pl.FP16],
    i: pl.Tensor[[128, 20], pl.INT16],
    y: pl.Out[pl.Tensor[[128, 20], pl.FP16]],
):  # 16 bits do not count the elements
    with pl.at(level=CORE):
        y[:] = pl.gather(x[:], -1, i[:])
    return y


@pl.jit
def column_vector(
    a: pl.Tensor[[4, 32], F32], b: pl.Tensor[[32], F32], y: pl.Out[pl.Tensor[[4], F32]]
):
    with pl.at(level=CORE):
        y[:] = pl.matmul(a[:], b[:])
    return y


@pl.jit
def row_vector(
    a: pl.Tensor[[32], F32], b: pl.Tensor[[3, 32, 5], F32], y: pl.Out[pl.Tensor[[3, 5], F32]]
):
    with pl.at(level=CORE):
        y[:] = pl.matmul(a[:], b[:])
    return y


@pl.jit
def batch_of_columns(
    a: pl.Tensor[[3, 4, 32], F32], b: pl.Tensor[[32], F32], y: pl.Out[pl.Tensor[[3, 4], F32]]
):
    with pl.at(level=CORE):
        y[:] = pl.matmul(a[:], b[:])
    return y


@pl.jit
def turned_batches(
    a: pl.Tensor[[3, 40, 20], F32],
    b: pl.Tensor[[2, 3, 24, 40], F32],
    y: pl.Out[pl.Tensor[[2, 3, 20, 24], F32]],
):  # planes that fill no boxes
    with pl.at(level=CORE):
        y[:] = pl.matmul(a[:], b[:], a_trans=True, b_trans=True)
    return y


def numbers(below, *shape, dtype=torch.int32):
    return torch.randint(0, below, shape, dtype=dtype)


CASES = [
    (column_sums, lambda: [R(3, 4, 8)], lambda x: [x.sum(1, keepdim=True)]),
    (many_planes, lambda: [R(5, 7, 4, 8)], lambda x: [x.amax(2, keepdim=True)]),
    (column_positions, lambda: [R(3, 4, 8)], lambda x: [x.argmax(1, keepdim=True).int()]),
    (rows_spread, lambda: [R(3, 4, 8), R(3, 1, 8)], lambda x, v: [x * v + v]),
    (
        broadcasts,
        lambda: [R(1, 4, 8), R(4, 1, 8), R(4, 1, 1), R(4, 8)],
        lambda a, b, c, d: [(a - b) * c + ((a - b) > b) * d],
    ),
    (turned, lambda: [R(6, 20, 32)], lambda x: [x.transpose(1, 2), x.transpose(0, 1)]),
    (turned_over, lambda: [R(6, 5, 8)], lambda x: [x.transpose(0, 2)]),
    (
        windows,
        lambda: [R(3, 16, 8)],
        lambda x: [2 * torch.cat([x[:, :4], x[:, 12:], x[:, 8:]], 1)],
    ),
    (
        gathered,
        lambda: [R(4, 12, 16), numbers(16, 3, 9, 5), numbers(4, 2, 12, 16)],
        lambda x, i, j: [x.gather(2, i.long()), x.gather(0, j.long())],
    ),
    (
        many_positions,
        lambda: [R(128, 300).half(), numbers(300, 128, 20, dtype=torch.int16)],
        lambda x, i: [x.gather(1, i.long())],
    ),
    (column_vector, lambda: [R(4, 32), R(32)], lambda a, b: [a @ b]),
    (row_vector, lambda: [R(32), R(3, 32, 5)], lambda a, b: [a @ b]),
    (batch_of_columns, lambda: [R(3, 4, 32), R(32)], lambda a, b: [a @ b]),
    (
        turned_batches,
        lambda: [R(3, 40, 20), R(2, 3, 24, 40)],
        lambda a, b: [a.transpose(1, 2) @ b.transpose(2, 3)],
    ),
]


@pytest.mark.parametrize(
    ("program", "inputs", "reference"), CASES, ids=lambda c: getattr(c, "__name__", None)
)
def test_planes(program, inputs, reference):
    torch.manual_seed(3)
    given = inputs()
    wanted = [w.contiguous() for w in reference(*given)]
    results = [torch.zeros_like(w) for w in wanted]
    program(*given, *results)
    for result, want in zip(results, wanted, strict=True):
        torch.testing.assert_close(result, want, rtol=1e-4, atol=1e-4)


@pl.jit
def picked_rows(
    x: pl.Tensor[[64, 48], F32],
    i: pl.Tensor[[10], I32],
    n: pl.Tensor[[1], I32],
    y: pl.Out[pl.Tensor[[16, 48], F32]],
    z: pl.Out[pl.Tensor[[48, 10], F32]],
):
    with pl.at(level=CORE):
        rows = pl.full([16, 48], dtype=F32, value=0.0)
        columns = pl.create_tensor([48, 10], dtype=F32)
        for k in pl.range(10):
            r = pl.cast(pl.read(i, [k]), pl.INDEX)
            rows = pl.gather_row(rows, x, [k, 0], [r, 0], [1, 48])
            columns = pl.gather_row(columns, x, [0, k], [r, 0], [1, 48], transpose=True)
        count = pl.cast(pl.read(n, [0]), pl.INDEX)
        y[:] = pl.gather_row(rows, x, [10, 0], [7, 0], [6, 48], valid_shape=[count, 48])
        z[:] = columns
    return y, z


def test_gather_row():
    torch.manual_seed(4)
    x, i, n = R(64, 48), numbers(64, 10), torch.tensor([4], dtype=torch.int32)
    y, z = torch.ones(16, 48), torch.ones(48, 10)
    picked_rows(x, i, n, y, z)
    assert torch.equal(y, torch.cat([x[i], x[7:11], torch.zeros(2, 48)]))
    assert torch.equal(z, x[i].t())
