"""Scenes of recorded graphs, on both runtimes."""

from __future__ import annotations

import numpy as np

from .scenes import HBG, IO, TMR, Scene, affine_chain, index_blocks, ints, junk, lanes, put, zeros


def derived(x: np.ndarray, y: np.ndarray) -> None:
    for n in (1, 2, 4, 2, 3, 5, 1, 8):
        for i in range(n % 3):
            x[:] = 2 * x + n + i


def crosswise(x: np.ndarray, a: int, b: int, n: int) -> None:
    x[b : b + n] = x[a : a + n].copy() + 1
    x[a : a + n] = x[b : b + n].copy() + 1
    x[b : b + n] *= 2


def in_order_of_elements(x: np.ndarray, a: int, b: int, n: int) -> None:
    """As `crosswise`, element by element: what the kernels do when their two arguments overlap."""
    for i in range(n):
        x[b + i] = x[a + i] + 1
    for i in range(n):
        x[a + i] = x[b + i] + 1
    x[b : b + n] *= 2


def aliasing(x: np.ndarray) -> None:
    for a, b in ((0, 8), (4, 12), (4, 6), (4, 4), (8, 6), (0, 8)):
        in_order_of_elements(x, a, b, 4)


def shapes(x: np.ndarray) -> None:
    for n in (4, 4, 2, 4, 1, 2):
        crosswise(x, 0, 8, n)


def manual(x: np.ndarray, y: np.ndarray) -> None:
    for _ in range(3):
        affine_chain(x, [2] * 4, range(4))
        y[:] = 2 * (3 * y + 1)


def launches(x: np.ndarray, y: np.ndarray) -> None:
    for _ in range(4):
        index_blocks(x, 20)
        y[0] += 8
        y[1] += 36
        lanes(y[3:], 1, (0, 1, 2), 10)


def predicate(x: np.ndarray, flags: np.ndarray) -> None:
    x[flags == 1] += 5


def many(x: np.ndarray) -> None:
    x[:] = 2 * x + np.tile(np.arange(128), 3)


def scenes(runtime: str) -> list[Scene]:
    def scene(entry, tensors, golden=None, **more) -> Scene:
        return Scene("replay", entry, tensors, golden, runtime=runtime, **more)

    return [
        scene(
            "copied_scalars",
            [(IO, ints(4)), (IO, junk(4))],
            lambda x, y: (affine_chain(x, range(1, 6), [1] * 5), put(y, 1)),
        ),
        scene("derived_scalars", [(IO, ints(4)), (IO, ints(4))], derived),
        scene("aliasing_changes", [(IO, ints(16))], aliasing),
        scene("shapes_change", [(IO, ints(16))], shapes),
        scene(
            "internal_tensors",
            [(IO, ints(16)), (IO, ints(1))],
            lambda x, y: put(x, x + 14),
        ),
        scene("manual_scope", [(IO, ints(4)), (IO, ints(4))], manual),
        scene("spmd_and_cohorts", [(IO, zeros(20)), (IO, zeros(6))], launches),
        scene(
            "predicate_moves",
            [(IO, ints(6)), (IO, np.array([1, 0, 1, 2, 1, 0], np.int32))],
            predicate,
        ),
        scene("error_in_replay", [(IO, ints(4)), (IO, ints(4))], fails=(200, "threw an exception")),
        scene("boundary_creates", [(IO, ints(4))], fails=(5, "argument 0 is a TensorCreateInfo")),
        scene("boundary_depends", [(IO, ints(4))], fails=(5, "takes no explicit dependencies")),
        scene("boundary_too_wide", [(IO, ints(4))], fails=(5, "too many tensors")),
        scene("boundary_of_128", [(IO, ints(384))], many),
    ]


ALL = [
    *scenes(TMR),
    *scenes(HBG),
    Scene(
        "replay",
        "reads_data",
        [(IO, ints(4)), (IO, np.array([7], np.int32))],
        lambda x, y: (put(x, x + 114), put(y, 100)),
    ),
]
