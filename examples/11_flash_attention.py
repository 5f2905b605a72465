"""Flash attention with an online softmax: 8 heads, 1024 positions, head dimension 64, causal and not.

One block holds some queries of one head and walks over the keys. It keeps the running row maximum `m`, the running sum
`l` and the output `o`; each step rescales them, so that the scores never leave the chip. In the causal form a block
stops at its diagonal, where one masked step is left.
"""

import pypto.language as pl
import torch
from program import Program, main

HEADS, SEQ, DIM = 8, 1024, 64
BQ, BK = 64, 256  # queries of a block, keys of a step
CQ, CK = 128, 128  # the same for the causal form: long steps would be masked for the most part
PER_HEAD = SEQ // BQ
SCALE = 0.125  # 1 / sqrt(DIM)


@pl.jit
def attention_fp32(
    q: pl.Tensor[[HEADS * SEQ, DIM], pl.FP32],
    k: pl.Tensor[[HEADS * SEQ, DIM], pl.FP32],
    v: pl.Tensor[[HEADS * SEQ, DIM], pl.FP32],
    y: pl.Out[pl.Tensor[[HEADS * SEQ, DIM], pl.FP32]],
):
    for block in pl.spmd(HEADS * PER_HEAD, name_hint="attention"):
        head = block // PER_HEAD * SEQ
        qt = q[block * BQ : block * BQ + BQ, 0:DIM]
        m = pl.reshape(pl.full([1, BQ], dtype=pl.FP32, value=-1e30), [BQ, 1])
        l = pl.reshape(pl.full([1, BQ], dtype=pl.FP32, value=0.0), [BQ, 1])
        o = pl.full([BQ, DIM], dtype=pl.FP32, value=0.0)
        for j in pl.range(head, head + SEQ, BK):
            s = pl.mul(pl.matmul(qt, k[j : j + BK, 0:DIM], b_trans=True), SCALE)
            m_new = pl.maximum(m, pl.row_max(s))
            p = pl.exp(pl.row_expand_sub(s, m_new))
            keep = pl.exp(pl.sub(m, m_new))
            l = pl.add(pl.mul(l, keep), pl.row_sum(p))
            o = pl.add(pl.row_expand_mul(o, keep), pl.matmul(p, v[j : j + BK, 0:DIM]))
            m = m_new
        y[block * BQ : block * BQ + BQ, 0:DIM] = pl.row_expand_mul(o, pl.recip(l))
    return y


@pl.jit
def attention_bf16(
    q: pl.Tensor[[HEADS * SEQ, DIM], pl.BF16],
    k: pl.Tensor[[HEADS * SEQ, DIM], pl.BF16],
    v: pl.Tensor[[HEADS * SEQ, DIM], pl.BF16],
    y: pl.Out[pl.Tensor[[HEADS * SEQ, DIM], pl.BF16]],
):
    for block in pl.spmd(HEADS * PER_HEAD, name_hint="attention"):
        head = block // PER_HEAD * SEQ
        qt = q[block * BQ : block * BQ + BQ, 0:DIM]
        m = pl.reshape(pl.full([1, BQ], dtype=pl.FP32, value=-1e30), [BQ, 1])
        l = pl.reshape(pl.full([1, BQ], dtype=pl.FP32, value=0.0), [BQ, 1])
        o = pl.full([BQ, DIM], dtype=pl.FP32, value=0.0)
        for j in pl.range(head, head + SEQ, BK):
            s = pl.mul(pl.matmul(qt, k[j : j + BK, 0:DIM], out_dtype=pl.FP32, b_trans=True), SCALE)
            m_new = pl.maximum(m, pl.row_max(s))
            p = pl.exp(pl.row_expand_sub(s, m_new))
            keep = pl.exp(pl.sub(m, m_new))
            l = pl.add(pl.mul(l, keep), pl.row_sum(p))
            weights = pl.cast(p, pl.BF16, mode="rint")
            pv = pl.matmul(weights, v[j : j + BK, 0:DIM], out_dtype=pl.FP32)
            o = pl.add(pl.row_expand_mul(o, keep), pv)
            m = m_new
        out = pl.row_expand_mul(o, pl.recip(l))
        y[block * BQ : block * BQ + BQ, 0:DIM] = pl.cast(out, pl.BF16, mode="rint")
    return y


@pl.jit
def attention_causal(
    q: pl.Tensor[[HEADS * SEQ, DIM], pl.FP32],
    k: pl.Tensor[[HEADS * SEQ, DIM], pl.FP32],
    v: pl.Tensor[[HEADS * SEQ, DIM], pl.FP32],
    y: pl.Out[pl.Tensor[[HEADS * SEQ, DIM], pl.FP32]],
):
    for block in pl.spmd(HEADS * SEQ // CQ, name_hint="attention_causal"):
        head = block // (SEQ // CQ) * SEQ
        row = block * CQ  # first query of the block, counted over all heads like the keys
        qt = q[row : row + CQ, 0:DIM]
        m = pl.reshape(pl.full([1, CQ], dtype=pl.FP32, value=-1e30), [CQ, 1])
        l = pl.reshape(pl.full([1, CQ], dtype=pl.FP32, value=0.0), [CQ, 1])
        o = pl.full([CQ, DIM], dtype=pl.FP32, value=0.0)
        for j in pl.range(head, row, CK):  # keys before the block: all visible
            s = pl.mul(pl.matmul(qt, k[j : j + CK, 0:DIM], b_trans=True), SCALE)
            m_new = pl.maximum(m, pl.row_max(s))
            p = pl.exp(pl.row_expand_sub(s, m_new))
            keep = pl.exp(pl.sub(m, m_new))
            l = pl.add(pl.mul(l, keep), pl.row_sum(p))
            o = pl.add(pl.row_expand_mul(o, keep), pl.matmul(p, v[j : j + CK, 0:DIM]))
            m = m_new
        ramp = pl.cast(pl.arange(0, [1, CQ], dtype=pl.INT32), pl.FP32)
        query = pl.reshape(ramp, [CQ, 1])
        key = pl.cast(pl.arange(0, [1, CK], dtype=pl.INT32), pl.FP32)
        for d in pl.range(0, CQ, CK):  # the diagonal: a query sees the keys up to itself
            j = row + d
            s = pl.mul(pl.matmul(qt, k[j : j + CK, 0:DIM], b_trans=True), SCALE)
            ahead = pl.col_expand_add(
                pl.row_expand_sub(pl.mul(s, 0.0), query), key
            )  # key - query, from the block's start
            ahead = pl.maximum(pl.add(ahead, pl.cast(d, pl.FP32)), 0.0)
            s = pl.sub(s, pl.mul(ahead, 1e30))
            m_new = pl.maximum(m, pl.row_max(s))
            p = pl.exp(pl.row_expand_sub(s, m_new))
            keep = pl.exp(pl.sub(m, m_new))
            l = pl.add(pl.mul(l, keep), pl.row_sum(p))
            o = pl.add(pl.row_expand_mul(o, keep), pl.matmul(p, v[j : j + CK, 0:DIM]))
            m = m_new
        y[row : row + CQ, 0:DIM] = pl.row_expand_mul(o, pl.recip(l))
    return y


def inputs(dtype):
    return lambda: (
        *(torch.randn(HEADS * SEQ, DIM).to(dtype) for _ in range(3)),
        torch.empty(HEADS * SEQ, DIM, dtype=dtype),
    )


def sdpa(q, k, v, causal=False):
    heads = [t.view(1, HEADS, SEQ, DIM) for t in (q, k, v)]
    return torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=causal).view(
        HEADS * SEQ, DIM
    )


PROGRAMS = [
    Program(
        name="flash attention fp32",
        entry=attention_fp32,
        inputs=inputs(torch.float32),
        reference=lambda q, k, v, y: {3: sdpa(q.double(), k.double(), v.double())},
        torch=lambda q, k, v, y: y.copy_(sdpa(q, k, v)),
        rtol=1e-4,
        atol=1e-5,
    ),
    Program(
        name="flash attention fp32, causal",
        entry=attention_causal,
        inputs=inputs(torch.float32),
        reference=lambda q, k, v, y: {3: sdpa(q.double(), k.double(), v.double(), causal=True)},
        torch=lambda q, k, v, y: y.copy_(sdpa(q, k, v, causal=True)),
        rtol=1e-4,
        atol=1e-5,
    ),
    Program(
        name="flash attention bf16",
        entry=attention_bf16,
        inputs=inputs(torch.bfloat16),
        reference=lambda q, k, v, y: {3: sdpa(q.double(), k.double(), v.double())},
        torch=lambda q, k, v, y: y.copy_(sdpa(q, k, v)),
        rtol=2e-2,
        atol=2e-3,
    ),
]

if __name__ == "__main__":
    main(PROGRAMS)
