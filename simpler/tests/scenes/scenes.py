"""The scenes: one row is an entry of an orchestration, its tensors, and what must be in them afterwards.

Tensors are int32 arrays unless a dtype is given; `golden` changes them in place as a sequential program would.
A scene with `fails` must end with that code and text, and leave a worker that works.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

I, O, IO = "IN", "OUT", "INOUT"
TMR, HBG = "tensormap_and_ringbuffer", "host_build_graph"


@dataclass(frozen=True)
class Scene:
    file: str
    entry: str
    tensors: Sequence[tuple[str, np.ndarray]]
    golden: Callable[..., None] | None = None
    scalars: Sequence[int | float] = ()
    fails: tuple[int, str] | None = None
    runtime: str = TMR
    budgets: dict[str, int] = field(default_factory=dict)
    tolerance: float = 0.0


def ints(*shape: int, start: int = 1) -> np.ndarray:
    return (np.arange(np.prod(shape), dtype=np.int32) + start).reshape(shape)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int32)


def junk(*shape: int) -> np.ndarray:
    return np.full(shape, 77, np.int32)


def put(tensor: np.ndarray, value: object) -> None:
    tensor[...] = value


def affine_chain(x: np.ndarray, factors: Sequence[int], addends: Sequence[int]) -> None:
    for a, b in zip(factors, addends, strict=True):
        x[...] = x * a + b


def index_blocks(x: np.ndarray, *widths: int) -> None:
    for width in widths:
        x[:width] += 1000 * width + 10 * np.arange(width, dtype=np.int32)


def lanes(x: np.ndarray, blocks: int, used: Sequence[int], value: int) -> None:
    for block in range(blocks):
        for lane in used:
            x[3 * block + lane] += value + lane


def wave(g: np.ndarray) -> None:
    for i in range(1, g.shape[0]):
        for j in range(1, g.shape[1]):
            g[i, j] = g[i - 1, j] + g[i, j - 1]


def war(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(12):
        y[8 * i : 8 * i + 8] = x
        x[:] = i


def predicates(flag: np.ndarray, ticks: np.ndarray) -> None:
    import operator as o

    for n, op in enumerate((o.eq, o.ne, o.gt, o.lt, o.ge, o.le)):
        for i, value in enumerate(flag.tolist()):
            ticks[3 * n + i] += int(op(value, 5))


def doubling(x: np.ndarray) -> None:
    while x[0] < 100:
        x[:] = x * 2 + 1


def graph_calls(x: np.ndarray, y: np.ndarray) -> None:
    for call in range(9):
        part = x[4 * (call % 3) : 4 * (call % 3) + 4]
        y[:] = part + 2 * call + y


def cohorts(arrived: np.ndarray, total: np.ndarray) -> None:
    for i in range(8):
        arrived[i] += 6
        total[i] = (total[i] + 1000 + 21) * 2


def matmul(a: np.ndarray, b: np.ndarray, c: np.ndarray, _: int) -> None:
    c += a @ b


def attention(q, k, v, table, lengths, out, page):
    for r in range(q.shape[0]):
        rows = [int(table[r, p]) * page + i for p in range(table.shape[1]) for i in range(page)][
            : int(lengths[r])
        ]
        scores = k[rows] @ q[r]
        weights = np.exp(scores - scores.max())
        out[r] = weights @ v[rows] / weights.sum()


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


HAZARDS = [
    Scene(
        "hazards",
        "raw_chain",
        [(IO, ints(8))],
        lambda x: affine_chain(x, [i % 3 for i in range(40)], range(40)),
    ),
    Scene("hazards", "war", [(IO, ints(8)), (O, junk(96))], war),
    Scene("hazards", "waw", [(IO, ints(8))], lambda x: put(x, 11)),
    Scene("hazards", "waw_partial", [(IO, ints(8))], lambda x: put(x, [1, 1, 1, 2, 3, 3, 3, 3])),
    Scene(
        "hazards",
        "other_base",
        [(IO, ints(8)), (O, junk(4))],
        lambda x, y: (put(x, [5] * 4 + [11] * 4), put(y, 11)),
    ),
    Scene(
        "hazards",
        "column_tiles",
        [(IO, ints(5, 6)), (O, junk(5, 6))],
        lambda x, y: (put(x, np.arange(6)), put(y, np.arange(6) + 10)),
    ),
    Scene(
        "hazards",
        "transposed_reader",
        [(IO, ints(4, 6)), (O, junk(6, 4))],
        lambda x, y: (put(x, 3), put(x[1:3], 7), put(y, x.T)),
    ),
    Scene(
        "hazards",
        "permuted_and_sliced",
        [(IO, ints(4, 6)), (O, junk(3, 4))],
        lambda x, y: (put(x, 2 * x), put(y, x.T[1:6:2] + 1)),
    ),
    Scene(
        "hazards",
        "stepped_slices",
        [(IO, ints(16))],
        lambda x: (put(x[0::2], x[0::2] + 100), put(x[1::2], x[1::2] + 200), put(x, 2 * x)),
    ),
    Scene(
        "hazards",
        "element_types_alias",
        [(IO, ints(8)), (O, junk(8))],
        lambda x, y: (put(x, 9), put(y, 9)),
    ),
    Scene("hazards", "same_tensor_twice", [(IO, ints(8))], lambda x: put(x, x * 32)),
    Scene("hazards", "diamond", [(I, ints(8)), (O, junk(8))], lambda x, y: put(y, 3 * x + 7)),
    Scene("hazards", "wavefront", [(IO, np.ones((9, 9), np.int32))], wave),
]
SCOPES = [
    Scene(
        "scopes", "manual_chain", [(IO, ints(4))], lambda x: affine_chain(x, [2] * 10, range(10))
    ),
    Scene(
        "scopes",
        "auto_inside_manual",
        [(IO, ints(4))],
        lambda x: affine_chain(x, [3] * 10, range(10)),
    ),
    Scene("scopes", "nested_64", [(IO, ints(4))], lambda x: put(x, x + 5)),
    Scene("scopes", "nested_65", [(IO, ints(4))], fails=(5, "deeper than 64")),
    Scene("scopes", "scope_guard", [(IO, ints(4))], lambda x: put(x, x + 5)),
    Scene("scopes", "temporaries_reused", [(IO, ints(300))], lambda x: put(x, x + 4950)),
    Scene("scopes", "alloc_forms", [(O, junk(50))], lambda x: put(x, 81)),
    Scene(
        "scopes",
        "dummy_fan_in",
        [(IO, ints(8)), (O, junk(8))],
        lambda x, y: (put(x, np.arange(8)), put(y, np.arange(8) + 1)),
    ),
    Scene(
        "scopes",
        "deps_with_gaps",
        [(IO, ints(8)), (O, junk(8))],
        lambda x, y: (put(x, 4), put(y, 4)),
    ),
    Scene(
        "scopes",
        "fan_in_500",
        [(IO, ints(500)), (O, junk(500))],
        lambda x, y: (put(x, x + np.arange(500)), put(y, x)),
    ),
    Scene(
        "scopes", "early_resolve", [(IO, ints(4))], lambda x: affine_chain(x, [2] * 10, range(10))
    ),
    Scene("scopes", "reset_keeps_launch_spec", [(IO, zeros(4))], lambda x: index_blocks(x, 3, 3)),
    Scene(
        "scopes",
        "fan_in_500",
        [(IO, ints(500)), (O, junk(500))],
        fails=(4, "ring_dep_pool"),
        budgets={"ring_dep_pool": 16},
    ),
    *(
        Scene(
            "scopes",
            entry,
            [(IO, zeros(4)), (IO, zeros(1)), (IO, ints(4))],
            golden,
            runtime=runtime,
        )
        for runtime in (TMR, HBG)
        for entry, golden in (
            ("dependency_retains", lambda box, n, x: (put(box[:1], 50), put(n, 1), put(x, 5))),
            (
                "predicate_retains",
                lambda box, n, x: (put(box[:1], 50), put(n, 1), put(x, 2 * x + 1)),
            ),
            ("retaining_is_no_waiting", lambda box, n, x: (put(box[:1], 50), put(n, 1))),
        )
    ),
    Scene(
        "scopes",
        "predicate_of_an_ended_scope",
        [(IO, zeros(4)), (IO, zeros(1)), (IO, ints(4))],
        fails=(5, "allocated in a scope that has ended"),
    ),
]
LAUNCHES = [
    Scene("launches", "spmd_one", [(IO, zeros(4))], lambda x: index_blocks(x, 1)),
    Scene("launches", "spmd_many", [(IO, zeros(200))], lambda x: index_blocks(x, 200)),
    Scene("launches", "spmd_none", [(IO, ints(4))], lambda x: None),
    Scene(
        "launches", "spmd_chain", [(IO, zeros(100))], lambda x: index_blocks(x, 5, 50, 7, 100, 1)
    ),
    Scene("launches", "core_num_spelling", [(IO, zeros(4))], lambda x: index_blocks(x, 4)),
    Scene("launches", "geometry", [(IO, zeros(2))], lambda x: put(x, [8, 16])),
    Scene("launches", "mix_all_lanes", [(IO, zeros(3))], lambda x: lanes(x, 1, (0, 1, 2), 10)),
    Scene(
        "launches",
        "mix_two_lanes",
        [(IO, zeros(3))],
        lambda x: (lanes(x, 1, (0, 1), 10), lanes(x, 1, (1, 2), 100)),
    ),
    Scene("launches", "mix_spmd", [(IO, zeros(90))], lambda x: lanes(x, 30, (0, 1, 2), 1)),
    Scene(
        "launches",
        "cohort_yielding",
        [(IO, zeros(8)), (IO, zeros(8))],
        lambda a, s: (put(a, 8), put(s, 36)),
    ),
    Scene(
        "launches",
        "cohort_spinning",
        [(IO, zeros(1)), (IO, zeros(1))],
        lambda a, s: (put(a, 4), put(s, 10)),
    ),
    Scene(
        "launches",
        "cohort_of_all_lanes",
        [(IO, zeros(1)), (IO, zeros(1))],
        lambda a, s: (put(a, 24), put(s, 108)),
    ),
    Scene(
        "launches",
        "cohort_vector_pairs",
        [(IO, zeros(1)), (IO, zeros(1))],
        lambda a, s: (put(a, 16), put(s, 72)),
    ),
    Scene("launches", "cohort_among_plain_tasks", [(IO, zeros(8)), (IO, ints(8))], cohorts),
    Scene(
        "launches",
        "cohort_too_wide",
        [(IO, zeros(1)), (IO, zeros(1))],
        fails=(7, "sync_start with 9 blocks"),
    ),
    Scene(
        "launches", "predicates", [(I, np.array([4, 5, 6], np.int32)), (IO, zeros(18))], predicates
    ),
    Scene(
        "launches",
        "predicate_after_writer",
        [(IO, zeros(1)), (IO, zeros(1))],
        lambda f, x: (put(f, 10), put(x, 10)),
    ),
    Scene(
        "launches", "skipped_task_releases", [(I, ints(1)), (IO, zeros(1))], lambda f, x: put(x, 50)
    ),
    Scene(
        "launches",
        "predicate_out_of_range",
        [(I, ints(1)), (IO, zeros(1))],
        fails=(5, "index 99 of axis 0"),
    ),
    Scene(
        "launches",
        "deferred_one",
        [(IO, zeros(4)), (IO, zeros(1)), (O, junk(4))],
        lambda b, c, y: (put(b, np.arange(50, 54)), put(c, 4), put(y, np.arange(150, 154))),
    ),
    Scene(
        "launches",
        "deferred_64",
        [(IO, zeros(4)), (IO, zeros(1)), (O, junk(4))],
        lambda b, c, y: (put(b, np.arange(50, 54)), put(c, 4), put(y, np.arange(150, 154))),
    ),
    Scene(
        "launches",
        "deferred_65",
        [(IO, zeros(4)), (IO, zeros(1)), (O, junk(4))],
        fails=(102, "65 completion conditions"),
    ),
    Scene(
        "launches",
        "deferred_malformed",
        [(IO, zeros(4)), (IO, zeros(1)), (O, junk(4))],
        fails=(101, "counter address"),
    ),
]
DATA = [
    Scene("data", "read_between_tasks", [(IO, ints(3))], doubling),
    Scene(
        "data",
        "write_between_tasks",
        [(IO, ints(1)), (O, junk(6))],
        lambda x, y: (put(x, 6), put(y, [1, 1, 2, 3, 4, 5])),
    ),
    Scene("data", "read_every_type", [(IO, zeros(1))], lambda x: put(x, 65000 - 7 + 1)),
    Scene(
        "data",
        "read_out_of_range",
        [(IO, ints(4))],
        fails=(5, "index 4 of axis 0 is outside the extent 4"),
    ),
    Scene(
        "data",
        "entry_scalars",
        [(IO, zeros(2))],
        lambda x, a, b: put(x, [a, b * 4]),
        scalars=[31, 2.25],
    ),
    Scene("data", "no_task", [(IO, ints(4))], lambda x: None),
    Scene("data", "stop_with_42", [(IO, ints(4))], fails=(42, "stopped at 7")),
    Scene("data", "unknown_kernel", [(IO, ints(4))], fails=(5, "no kernel with func_id 999")),
    Scene("data", "no_lane", [(IO, ints(4))], fails=(5, "names no kernel on any lane")),
    Scene("data", "tensor_after_scalar", [(IO, ints(4))], fails=(5, "tensors come first")),
    Scene("data", "seventeen_scalars", [(IO, ints(4))], fails=(5, "more than 16 scalars")),
    Scene(
        "data",
        "view_leaves_tensor",
        [(IO, ints(4))],
        fails=(5, "offset 3 + extent 2 leaves the tensor's extent 4"),
    ),
    Scene(
        "data",
        "reshape_strided",
        [(IO, ints(4))],
        fails=(5, "only contiguous elements can be reshaped"),
    ),
    Scene(
        "data",
        "forged_id",
        [(IO, ints(4))],
        fails=(5, "explicit dependency 0 is no task of this run"),
    ),
    Scene(
        "data",
        "throwing_kernel",
        [(IO, ints(4))],
        fails=(200, "'throw.cpp' threw an exception: lost a tile"),
    ),
    Scene(
        "data", "throwing_orchestration", [(IO, ints(4))], fails=(200, "the orchestration threw")
    ),
    Scene("data", "dangling_output", [(IO, ints(4))], fails=(5, "scope that has ended")),
    Scene(
        "data",
        "heap_in_one_scope",
        [(IO, ints(4))],
        fails=(2, "ring_heap"),
        budgets={"ring_heap": 8192},
    ),
    Scene(
        "data",
        "heap_scope_by_scope",
        [(IO, ints(4))],
        lambda x: put(x, 50),
        budgets={"ring_heap": 8192},
    ),
    Scene("data", "logging", [(IO, ints(4))], lambda x: put(x, x + 1)),
]
GRAPHS = [
    *(
        Scene(
            "graphs", "graph_calls", [(I, ints(12)), (IO, zeros(4))], graph_calls, runtime=runtime
        )
        for runtime in (TMR, HBG)
    ),
    Scene(
        "graphs",
        "graph_with_config",
        [(IO, ints(4))],
        lambda x: affine_chain(x, [2, 3, 2], [1] * 3),
        runtime=HBG,
    ),
    Scene(
        "graphs",
        "graph_task_id",
        [(IO, ints(4)), (O, junk(4))],
        lambda x, y: (put(x, 5 * x + 1), put(y, x)),
        runtime=HBG,
    ),
    Scene(
        "graphs",
        "graph_inner_order",
        [(IO, ints(4))],
        lambda x: affine_chain(x, [2] * 10, [0, 1, 2, 3, 4] * 2),
        runtime=HBG,
    ),
    Scene(
        "graphs",
        "built_first",
        [(IO, ints(4))],
        lambda x: affine_chain(x, [i % 3 for i in range(30)], range(30)),
        runtime=HBG,
    ),
    Scene(
        "graphs",
        "read_host_input",
        [(I, np.array([9, 4], np.int32)), (IO, ints(4))],
        lambda n, x: affine_chain(x, [2] * 4, range(4)),
        runtime=HBG,
    ),
    Scene(
        "graphs",
        "read_unborn",
        [(IO, ints(4))],
        fails=(8, "starts tasks only after the orchestration has ended"),
        runtime=HBG,
    ),
]
MODELS = [
    Scene(
        "models",
        "blocked_matmul",
        [(I, floats(24, 32)), (I, floats(32, 16, seed=1)), (IO, floats(24, 16, seed=2))],
        matmul,
        scalars=[8],
        tolerance=1e-4,
    ),
    Scene(
        "models",
        "paged_attention",
        [
            (I, floats(3, 16)),
            (I, floats(32, 16, seed=1)),
            (I, floats(32, 16, seed=2)),
            (I, np.array([[3, 0, 5], [1, 2, 4], [7, 6, 0]], np.int32)),
            (I, np.array([10, 1, 12], np.int32)),
            (O, np.full((3, 16), 77, np.float32)),
        ],
        attention,
        scalars=[4],
        tolerance=1e-4,
    ),
]
ALL = [*HAZARDS, *SCOPES, *LAUNCHES, *DATA, *GRAPHS, *MODELS]
