"""Texts of the types of the `pto` dialect. Scalars are their own names: "i32", "f32", "index"."""

from __future__ import annotations

from collections.abc import Sequence

Extent = int | None  # None: known at run time only


def _extents(extents: Sequence[Extent], element: str) -> str:
    return "x".join(["?" if e is None else str(e) for e in extents] + [element])


def ptr(element: str, space: str | None = None) -> str:
    """A pointer to global memory, or to another space ("vec", "mat", ...)."""
    return f"!pto.ptr<{element}, {space}>" if space else f"!pto.ptr<{element}>"


def tensor_view(shape: Sequence[Extent], element: str) -> str:
    """A tensor of rank 1 to 5 in global memory."""
    return f"!pto.tensor_view<{_extents(shape, element)}>"


def partition_tensor_view(shape: Sequence[Extent], element: str) -> str:
    """A window of a tensor view."""
    return f"!pto.partition_tensor_view<{_extents(shape, element)}>"


def _tile(space, rows, cols, element, valid, options) -> str:
    parts = [str(getattr(space, "name", space)), _extents((rows, cols), element)]
    if valid is not None:
        parts.append("valid=" + "x".join("?" if v is None else str(v) for v in valid))
    for name, value in options.items():
        if value is not None:
            parts.append(f"{name}={getattr(value, 'name', value)}")
    return ", ".join(parts)


def tile_buf(
    space: str,
    rows: int,
    cols: int,
    element: str,
    *,
    valid: tuple[Extent, Extent] | None = None,
    blayout: str | None = None,
    slayout: str | None = None,
    fractal: int | None = None,
    pad: str | None = None,
    compact: str | None = None,
) -> str:
    """A tile of `rows` x `cols` elements in a space ("vec", "mat", "left", "right", "acc", "bias", "scaling")
    of which `valid` (rows, columns) hold data: all of them if not given."""
    options = {
        "blayout": blayout,
        "slayout": slayout,
        "fractal": fractal,
        "pad": pad,
        "compact": compact,
    }
    return f"!pto.tile_buf<{_tile(space, rows, cols, element, valid, options)}>"


def multi_tile_buf(space: str, rows: int, cols: int, element: str, *, count: int, **options) -> str:
    """`count` (2 to 16) equal tiles, one of which is picked by index; options as of `tile_buf`."""
    valid = options.pop("valid", None)
    options["count"] = count
    return f"!pto.multi_tile_buf<{_tile(space, rows, cols, element, valid, options)}>"


def local_array(shape: Sequence[int], element: str) -> str:
    """An array of scalars on the scalar unit's stack."""
    return f"!pto.local_array<{_extents(shape, element)}>"


def eventid_array(size: int) -> str:
    """An array of event ids."""
    return f"!pto.eventid_array<{size}>"
