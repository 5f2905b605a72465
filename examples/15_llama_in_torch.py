"""A small Llama-like model in torch whose operators are kernels: RMSNorm, RoPE, causal attention, SwiGLU.

`pypto.torch.register` makes each kernel an operator of torch with a derivative: a kernel again (RoPE, SwiGLU), or a function
of torch operators (RMSNorm, attention). The model then runs and trains like any other module, in eager mode and under
torch.compile, on "cpu" and on "npu". Attention reads the projections as they come, so no head is ever transposed.
"""

import pypto.language as pl
import pypto.torch
import torch
from program import Program, main

TOKENS, DIM, HEADS, HEAD, HIDDEN, LAYERS, VOCAB = 256, 128, 2, 64, 256, 2, 64
HALF, EPS, SCALE = HEAD // 2, 1e-5, HEAD**-0.5
R = 64  # rows of a block
CQ, CK = 64, 64  # queries of a block, keys of a step


@pl.jit
def rms_norm(
    x: pl.Tensor[[TOKENS, DIM], pl.FP32],
    gain: pl.Tensor[[1, DIM], pl.FP32],
    y: pl.Out[pl.Tensor[[TOKENS, DIM], pl.FP32]],
):
    for block in pl.spmd(TOKENS // R, name_hint="rms_norm"):
        t = x[block * R : block * R + R, 0:DIM]
        mean = pl.mul(pl.row_sum(pl.mul(t, t)), 1.0 / DIM)
        inverse = pl.rsqrt(pl.add(mean, EPS), high_precision=True)
        g = gain[0:1, 0:DIM]
        y[block * R : block * R + R, 0:DIM] = pl.col_expand_mul(pl.row_expand_mul(t, inverse), g)
    return y


def rms_norm_grad(grad_y, x, gain):
    inverse = torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS)
    normal = x * inverse
    scaled = grad_y * gain
    along = (scaled * normal).mean(-1, keepdim=True)
    return (scaled - normal * along) * inverse, (grad_y * normal).sum(0, keepdim=True)


@pl.jit
def rope(
    x: pl.Tensor[[TOKENS, DIM], pl.FP32],
    cos: pl.Tensor[[TOKENS, HALF], pl.FP32],
    sin: pl.Tensor[[TOKENS, HALF], pl.FP32],
    y: pl.Out[pl.Tensor[[TOKENS, DIM], pl.FP32]],
):
    """Turns each pair (element i of a head's first half, of its second half) by its position's angle."""
    for block in pl.spmd(TOKENS // R, name_hint="rope"):
        r = block * R
        c = cos[r : r + R, 0:HALF]
        s = sin[r : r + R, 0:HALF]
        for head in pl.range(0, DIM, HEAD):
            a = x[r : r + R, head : head + HALF]
            b = x[r : r + R, head + HALF : head + HEAD]
            y[r : r + R, head : head + HALF] = pl.sub(pl.mul(a, c), pl.mul(b, s))
            y[r : r + R, head + HALF : head + HEAD] = pl.add(pl.mul(b, c), pl.mul(a, s))
    return y


@pl.jit
def rope_grad(
    grad_y: pl.Tensor[[TOKENS, DIM], pl.FP32],
    cos: pl.Tensor[[TOKENS, HALF], pl.FP32],
    sin: pl.Tensor[[TOKENS, HALF], pl.FP32],
    grad_x: pl.Out[pl.Tensor[[TOKENS, DIM], pl.FP32]],
):
    """Turns back."""
    for block in pl.spmd(TOKENS // R, name_hint="rope_grad"):
        r = block * R
        c = cos[r : r + R, 0:HALF]
        s = sin[r : r + R, 0:HALF]
        for head in pl.range(0, DIM, HEAD):
            a = grad_y[r : r + R, head : head + HALF]
            b = grad_y[r : r + R, head + HALF : head + HEAD]
            grad_x[r : r + R, head : head + HALF] = pl.add(pl.mul(a, c), pl.mul(b, s))
            grad_x[r : r + R, head + HALF : head + HEAD] = pl.sub(pl.mul(b, c), pl.mul(a, s))
    return grad_x


@pl.jit
def attention(
    q: pl.Tensor[[TOKENS, DIM], pl.FP32],
    k: pl.Tensor[[TOKENS, DIM], pl.FP32],
    v: pl.Tensor[[TOKENS, DIM], pl.FP32],
    y: pl.Out[pl.Tensor[[TOKENS, DIM], pl.FP32]],
):
    """Online softmax as in 11_flash_attention.py; a head is a block of columns."""
    for block in pl.spmd(HEADS * (TOKENS // CQ), name_hint="attention"):
        h = block % HEADS * HEAD
        row = block // HEADS * CQ
        qt = q[row : row + CQ, h : h + HEAD]
        m = pl.reshape(pl.full([1, CQ], dtype=pl.FP32, value=-1e30), [CQ, 1])
        l = pl.reshape(pl.full([1, CQ], dtype=pl.FP32, value=0.0), [CQ, 1])
        o = pl.full([CQ, HEAD], dtype=pl.FP32, value=0.0)
        for j in pl.range(0, row, CK):  # keys before the block: all visible
            s = pl.mul(pl.matmul(qt, k[j : j + CK, h : h + HEAD], b_trans=True), SCALE)
            m_new = pl.maximum(m, pl.row_max(s))
            p = pl.exp(pl.row_expand_sub(s, m_new))
            keep = pl.exp(pl.sub(m, m_new))
            l = pl.add(pl.mul(l, keep), pl.row_sum(p))
            pv = pl.matmul(p, v[j : j + CK, h : h + HEAD])
            o = pl.add(pl.row_expand_mul(o, keep), pv)
            m = m_new
        # The diagonal: a query sees the keys up to itself.
        ramp = pl.cast(pl.arange(0, [1, CQ], dtype=pl.INT32), pl.FP32)
        query = pl.reshape(ramp, [CQ, 1])
        s = pl.mul(pl.matmul(qt, k[row : row + CQ, h : h + HEAD], b_trans=True), SCALE)
        ahead = pl.col_expand_add(pl.row_expand_sub(pl.mul(s, 0.0), query), ramp)
        s = pl.sub(s, pl.mul(pl.maximum(ahead, 0.0), 1e30))
        m_new = pl.maximum(m, pl.row_max(s))
        p = pl.exp(pl.row_expand_sub(s, m_new))
        keep = pl.exp(pl.sub(m, m_new))
        l = pl.add(pl.mul(l, keep), pl.row_sum(p))
        o = pl.add(pl.row_expand_mul(o, keep), pl.matmul(p, v[row : row + CQ, h : h + HEAD]))
        y[row : row + CQ, h : h + HEAD] = pl.row_expand_mul(o, pl.recip(l))
    return y


def attention_grad(grad_y, q, k, v):
    gy, q, k, v = (t.view(TOKENS, HEADS, HEAD).transpose(0, 1) for t in (grad_y, q, k, v))
    later = torch.ones(TOKENS, TOKENS, dtype=torch.bool, device=q.device).triu(1)
    p = (q @ k.transpose(1, 2) * SCALE).masked_fill(later, float("-inf")).softmax(-1)
    gp = gy @ v.transpose(1, 2)
    gs = p * (gp - (gp * p).sum(-1, keepdim=True)) * SCALE
    grads = (gs @ k, gs.transpose(1, 2) @ q, p.transpose(1, 2) @ gy)
    return tuple(g.transpose(0, 1).reshape(TOKENS, DIM) for g in grads)


@pl.jit
def swiglu(
    gate: pl.Tensor[[TOKENS, HIDDEN], pl.FP32],
    up: pl.Tensor[[TOKENS, HIDDEN], pl.FP32],
    y: pl.Out[pl.Tensor[[TOKENS, HIDDEN], pl.FP32]],
):
    for block in pl.spmd(TOKENS // R, name_hint="swiglu"):
        for r in pl.range(block * R, block * R + R, 16):
            g = gate[r : r + 16, 0:HIDDEN]
            u = up[r : r + 16, 0:HIDDEN]
            s = pl.recip(pl.add(pl.exp(pl.neg(g)), 1.0))
            y[r : r + 16, 0:HIDDEN] = pl.mul(pl.mul(g, s), u)
    return y


@pl.jit
def swiglu_grad(
    grad_y: pl.Tensor[[TOKENS, HIDDEN], pl.FP32],
    gate: pl.Tensor[[TOKENS, HIDDEN], pl.FP32],
    up: pl.Tensor[[TOKENS, HIDDEN], pl.FP32],
    grad_gate: pl.Out[pl.Tensor[[TOKENS, HIDDEN], pl.FP32]],
    grad_up: pl.Out[pl.Tensor[[TOKENS, HIDDEN], pl.FP32]],
):
    for block in pl.spmd(TOKENS // R, name_hint="swiglu_grad"):
        for r in pl.range(block * R, block * R + R, 16):
            d = grad_y[r : r + 16, 0:HIDDEN]
            g = gate[r : r + 16, 0:HIDDEN]
            s = pl.recip(pl.add(pl.exp(pl.neg(g)), 1.0))
            grad_up[r : r + 16, 0:HIDDEN] = pl.mul(d, pl.mul(g, s))
            slope = pl.mul(s, pl.add(pl.mul(g, pl.sub(1.0, s)), 1.0))
            u = up[r : r + 16, 0:HIDDEN]
            grad_gate[r : r + 16, 0:HIDDEN] = pl.mul(pl.mul(d, u), slope)
    return grad_up


class Kernels:
    """The operators of the model as kernels."""

    rms_norm = pypto.torch.register("llama", "rms_norm", rms_norm, backward=rms_norm_grad)
    rope = pypto.torch.register("llama", "rope", rope, backward=rope_grad)
    attention = pypto.torch.register("llama", "attention", attention, backward=attention_grad)
    swiglu = pypto.torch.register("llama", "swiglu", swiglu, backward=swiglu_grad)


class Plain:
    """The same operators as Llama models write them in torch."""

    @staticmethod
    def rms_norm(x, gain):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * gain

    @staticmethod
    def rope(x, cos, sin):
        x = x.view(TOKENS, HEADS, HEAD)
        a, b = x.chunk(2, -1)
        cos, sin = (torch.cat((t, t), -1).unsqueeze(1) for t in (cos, sin))
        return (x * cos + torch.cat((-b, a), -1) * sin).view(TOKENS, DIM)

    @staticmethod
    def attention(q, k, v):
        q, k, v = (t.view(1, TOKENS, HEADS, HEAD).transpose(1, 2) for t in (q, k, v))
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return y.transpose(1, 2).reshape(TOKENS, DIM)

    @staticmethod
    def swiglu(gate, up):
        return torch.nn.functional.silu(gate) * up


class Layer(torch.nn.Module):
    def __init__(self, ops):
        super().__init__()
        self.ops = ops
        self.before = torch.nn.Parameter(torch.ones(1, DIM))
        self.between = torch.nn.Parameter(torch.ones(1, DIM))
        self.q, self.k, self.v, self.o = (torch.nn.Linear(DIM, DIM, bias=False) for _ in range(4))
        self.gate, self.up = (torch.nn.Linear(DIM, HIDDEN, bias=False) for _ in range(2))
        self.down = torch.nn.Linear(HIDDEN, DIM, bias=False)

    def forward(self, x, cos, sin):
        ops = self.ops
        h = ops.rms_norm(x, self.before)
        q, k = ops.rope(self.q(h), cos, sin), ops.rope(self.k(h), cos, sin)
        x = x + self.o(ops.attention(q, k, self.v(h)))
        h = ops.rms_norm(x, self.between)
        return x + self.down(ops.swiglu(self.gate(h), self.up(h)))


class Llama(torch.nn.Module):
    """Logits of the next token for TOKENS tokens. `ops`: Kernels or Plain."""

    def __init__(self, ops):
        super().__init__()
        torch.manual_seed(0)
        self.ops = ops
        self.embed = torch.nn.Embedding(VOCAB, DIM)
        self.layers = torch.nn.ModuleList(Layer(ops) for _ in range(LAYERS))
        self.gain = torch.nn.Parameter(torch.ones(1, DIM))
        self.head = torch.nn.Linear(DIM, VOCAB, bias=False)
        angles = torch.arange(TOKENS)[:, None] * 10000.0 ** -(torch.arange(HALF) / HALF)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return self.head(self.ops.rms_norm(x, self.gain))


def train(model, tokens, losses):
    """One step for each element of `losses`: predict each token's successor."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    target = tokens.roll(-1)
    for step in range(len(losses)):
        loss = torch.nn.functional.cross_entropy(model(tokens), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses[step] = loss.detach()
    return losses


def forward(model):
    def run(tokens, logits):
        with torch.no_grad():
            return logits.copy_(model(tokens))

    return run


def training(ops):
    def run(tokens, losses):
        return train(Llama(ops), tokens, losses)

    return run


def tokens():
    return torch.randint(VOCAB, (TOKENS,), generator=torch.Generator().manual_seed(1))


PROGRAMS = [
    Program(
        name="Llama in torch, forward",
        entry=forward(Llama(Kernels)),
        inputs=lambda: (tokens(), torch.empty(TOKENS, VOCAB)),
        reference=lambda ids, logits: {1: forward(Llama(Plain).double())(ids, logits.double())},
        torch=forward(Llama(Plain)),
        rtol=1e-4,
        atol=1e-5,
    ),
    Program(
        name="Llama in torch, 50 training steps",
        entry=training(Kernels),
        inputs=lambda: (tokens(), torch.empty(50)),
        reference=lambda ids, losses: {1: training(Plain)(ids, losses)},
        torch=training(Plain),
        rtol=1e-3,
        atol=1e-3,
    ),
]

if __name__ == "__main__":
    main(PROGRAMS)
