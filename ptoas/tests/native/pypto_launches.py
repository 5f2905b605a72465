"""How the programs of the conformance cases launch their kernels, where that is more than their
only kernel once: what an orchestration does between two `.pto` modules, as a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import torch

F32, BF16, I8, I32 = torch.float32, torch.bfloat16, torch.int8, torch.int32

# (kernel, scalar arguments in the kernel's order, number of blocks)
Launch = tuple[str, tuple, int]


@dataclass(frozen=True)
class Program:
    # Launches in an order that the program allows, from the call's arguments by name.
    launches: Callable[[dict], Iterable[Launch]]
    # Memory that the program creates: name -> (shape, element type).
    created: dict = field(default_factory=dict)
    # A view's name -> the argument it is, where the compiler gave it another name.
    renamed: dict = field(default_factory=dict)
    # What the module computes, where that is known to differ from what its program says.
    reference: Callable[..., dict] | None = None
    # The extents of the case's first call are constants of the module: the others do not fit.
    first_call_only: bool = False


def once(*kernels: str, blocks: int = 1, **options) -> Program:
    """Each kernel once, without scalars."""
    return Program(lambda _: [(kernel, (), blocks) for kernel in kernels], **options)


def each(kernel: str, *scalars: tuple, **options) -> Program:
    """One kernel, once for each tuple of scalars."""
    return Program(lambda _: [(kernel, values, 1) for values in scalars], **options)


def blocks_of(extent: int, size: int) -> int:
    return -(-extent // size)


# Index arguments come in fours and twos: an orchestration's loop counter travels with the loop's
# bound, then the dynamic extents. Kernels read the counter (the second) and the extents.
def column_blocks(arguments):
    width = arguments["x"].shape[1]
    return [("cols", (0, j, width), 1) for j in range(blocks_of(width, 64))]


def patches(arguments):
    rows, columns = arguments["x"].shape
    return [
        ("patch", (0, i, 0, j, rows, columns), 1)
        for i in range(blocks_of(rows, 8))
        for j in range(blocks_of(columns, 32))
    ]


def row_blocks(kernel: str):
    def launches(arguments):
        rows = arguments["x"].shape[0]
        return [(kernel, (rows, rows), blocks_of(rows, 16))]

    return launches


def online_attention(_):
    yield "start", (), 1
    for block in range(4):
        yield from (("qk", (block,), 1), ("soft", (), 1), ("pv", (block,), 1), ("merge", (), 1))
    yield "finish", (), 1


def paged_attention(arguments):
    page = 32
    for b, length in enumerate(arguments["ctx"].tolist()):
        yield "start", (), 1
        for j in range(blocks_of(length, page)):
            row, live = int(arguments["table"][b, j]) * page, min(page, length - j * page)
            yield "qk", (b, row), 1
            yield "soft", (live,), 1
            yield "pv", (row,), 1
            yield "merge", (), 1
        yield "finish", (b,), 1


ATTENTION = {
    "m": ((16, 1), F32),
    "l": ((16, 1), F32),
    "o": ((16, 64), F32),
    "s": ((16, 32), F32),
    "p": ((16, 32), BF16),
    "a": ((16, 1), F32),
    "pv": ((16, 64), F32),
}
PROGRAMS = {
    "appendix_a01_rebound_output": once("lost", renamed={"ret0": "total"}),
    # `continue` is an empty branch: the addition happens in every iteration.
    "appendix_a03_continue_then_use": once("skip", reference=lambda n, x, y: {2: x + n.item()}),
    "appendix_a05_column_halves": once("r1", "r2", "r16"),
    "appendix_a07_two_accumulators": once(
        "both", "act", created={"gate": ((16, 32), F32), "up": ((16, 32), F32)}
    ),
    "appendix_a11_matmul_odd_extents": once("odd", first_call_only=True),
    "appendix_a19_long_vector_tail": once("vadd", blocks=2),
    # The case hands its tensor over transposed; the kernel sees dense memory.
    "appendix_a25_strided_argument": once("inc", renamed={"x": "x transposed"}),
    "appendix_a33_odd_widths": Program(column_blocks),
    "class_atomic_store": once("part", blocks=4),
    "class_block_num": once("kernel", blocks=5),
    "class_no_dep_argument": each("kernel", (0,), (16,)),
    "class_opaque": each("main_incore_0", (0,), (16,), (32,)),
    "class_runtime_scalar": Program(lambda a: [("apply", (a["k"],), 1)]),
    # The loop's product goes to a tile that is never read.
    "class_while": Program(
        lambda a: [("kernel", (a["n"],), 1)], reference=lambda x, n, y: {2: x.clone()}
    ),
    "control_if_orchestration": Program(
        lambda a: [("twofold" if a["mode"].item() else "square", (), 1)]
    ),
    "control_parallel_tasks": each("rows", *[(r,) for r in range(0, 80, 16)]),
    # Only the second of the carried tiles moves: b += a, six times, from a = b = x.
    "control_yield_carry": once("fib", reference=lambda x, y: {1: x * 7}),
    "dynamic_rows": Program(row_blocks("rows")),
    "dynamic_rows_matmul": Program(row_blocks("linear")),
    "dynamic_two_axes": Program(patches),
    # The operands' order is lost.
    "expand_sub_column_first": once("gap", reference=lambda x, y: {1: x - x.amax(1, keepdim=True)}),
    "function_returned_tensor": once(
        "square", "norm", created={"q": ((16, 64), F32)}, renamed={"out_inline0": "q"}
    ),
    "function_shape_attributes": once("flipsign", first_call_only=True),
    "function_task_array_parameter": Program(
        lambda _: [("start", (0,), 1), ("start", (1,), 1), ("finish", (), 1)],
        created={"t": ((32, 32), F32)},
    ),
    "function_two_outputs": once(
        "sum_and_gap", "product", created={"s": ((16, 32), F32), "d": ((16, 32), F32)}
    ),
    "matmul_chain_two_scopes": once("first", "second", created={"mid": ((16, 128), BF16)}),
    "model_attention_online": Program(online_attention, created=ATTENTION),
    "model_attention_single_block": once(
        "qk", "soft", "pv", created={"s": ((16, 64), F32), "p": ((16, 64), BF16)}
    ),
    "model_layer_norm": each("layernorm", (0,), (16,)),
    "model_paged_attention": Program(paged_attention, created=ATTENTION),
    "model_quantised_linear": once(
        "quant",
        "product",
        "dequant",
        created={"q": ((16, 128), I8), "sx": ((16, 1), F32), "acc": ((16, 64), I32)},
    ),
    "model_residual_block": once("norm", "project", created={"h": ((16, 64), BF16)}),
    "spmd_more_blocks_than_cores": once("tiny", blocks=200),
    "spmd_sync_start": once("together", blocks=2),
    "spmd_syncall": once("exchange", blocks=2),
    "spmd_with_block_index": Program(
        lambda _: [("stage_a", (), 4), ("stage_b", (), 2)], created={"t": ((64, 64), F32)}
    ),
    "task_chain_intermediate": once(
        "one", "two", "three", created={"t": ((16, 64), F32), "u": ((16, 64), F32)}
    ),
    "task_double_buffer_loop": once(
        "seed",
        *["there", "back"] * 5,
        "out",
        created={"a": ((16, 32), F32), "b": ((16, 32), F32)},
    ),
    "task_dummy_barrier": once("top", "bottom", "after", created={"t": ((32, 32), F32)}),
    "task_explicit_deps": once("reader", "writer"),
    "task_manual_scope": once("make", "use", created={"t": ((16, 64), F32)}),
    "task_no_dep_args": each("rows", (0,), (1,)),
    "tile_rows_scalar_if": Program(lambda a: [("kernel", (a["at"],), 1)]),
    "view_write_plane": each("plane", (0,), (1,), (2,)),
}
