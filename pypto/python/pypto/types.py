"""Types that annotations are made of: `pl.Tensor[[16, N], pl.FP32]`, `pl.Out[…]`, `pl.Scalar[…]`.

They describe parameters and variables of kernels and hold no data. The compiler reads the text of an
annotation; the objects made here are what Python code sees (`inspect`, checks of arguments).
"""

from __future__ import annotations

import itertools
import linecache
import sys
from typing import Any

from pypto.dtypes import DataType
from pypto.enums import TensorLayout
from pypto.errors import ParserTypeError, Span


def _usage(message: str, hint: str) -> ParserTypeError:
    """The error of a type written wrongly, at the line of the user's file that writes it."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    places = itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
    _, _, begin, end = next(places, (None, None, None, None))
    columns = (begin + 1, frame.f_lineno, end + 1) if begin is not None and end else (1,)
    span = Span(frame.f_code.co_filename, frame.f_lineno, *columns)
    line = linecache.getline(span.filename, span.begin_line).rstrip()
    return ParserTypeError(message, span, hint=hint, source_lines=[line] if line else [])


class DynVar:
    """A dimension that each call decides. Dimensions with equal names are equal in one call."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        if not isinstance(name, str) or not name.isidentifier():
            raise _usage(
                f"pl.dynamic: {name!r} cannot name a dimension",
                'give an identifier, as in ROWS = pl.dynamic("ROWS")',
            )
        self.name = name

    def __repr__(self) -> str:
        return f'pl.dynamic("{self.name}")'


def dynamic(name: str) -> DynVar:
    """Declares a dimension whose extent is known at run time."""
    return DynVar(name)


class Annotation:
    """What a subscripted type stands for. `kind` is "tensor", "tile", "scalar", "array", "tuple",
    "distributed_tensor" or "other"; `direction` is "in", "out" or "inout"."""

    __slots__ = ("kind", "shape", "dtype", "slots", "direction", "text")

    def __init__(
        self,
        kind: str,
        shape: tuple | None = None,
        dtype: DataType | None = None,
        slots: tuple = (),
        direction: str = "in",
        text: str = "",
    ):
        self.kind = kind
        self.shape = shape
        self.dtype = dtype
        self.slots = slots
        self.direction = direction
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __or__(self, other):  # `pl.Tensor[…] | None` in annotations of helpers
        return self

    __ror__ = __or__

    def __call__(self, *args: Any, **kwargs: Any):
        raise _usage(
            f"{self.text} is a type of the tile language and makes no object",
            "pass a torch tensor or NumPy array where a kernel takes it",
        )

    @property
    def layout(self) -> TensorLayout | None:
        return next((slot for slot in self.slots if isinstance(slot, TensorLayout)), None)

    def with_direction(self, direction: str) -> Annotation:
        wrapper = {"out": "pl.Out", "inout": "pl.InOut"}[direction]
        if self.direction != "in":
            raise _usage(
                f"{wrapper}[{self.text}]: directions do not nest", "use pl.Out or pl.InOut once"
            )
        return Annotation(
            self.kind, self.shape, self.dtype, self.slots, direction, f"{wrapper}[{self.text}]"
        )


def _shape(owner: str, dims: Any) -> tuple:
    if not isinstance(dims, (list, tuple)):
        raise _usage(
            f"{owner}: a shape is a list, not {type(dims).__name__}",
            f"write {owner}[[rows, columns], pl.FP32]",
        )
    for dim in dims:
        if isinstance(dim, bool) or (isinstance(dim, int) and dim < 0):
            raise _usage(f"{owner}: {dim!r} is not an extent", "extents are whole numbers >= 0")
    return tuple(dims)


def _dtype(owner: str, value: Any) -> DataType:
    if not isinstance(value, DataType):
        raise _usage(
            f"{owner}: {value!r} is not an element type", "use one of pl.FP32, pl.BF16, pl.INT32, …"
        )
    return value


def _text(value: Any) -> str:
    if isinstance(value, DynVar):
        return value.name
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_text, value)) + "]"
    return repr(value)


class _ShapedMeta(type):
    """Types of the form T[[d0, d1], dtype, …]; T((d0, d1), dtype) is an older spelling."""

    _kind: str

    def _make(cls, items: Any) -> Annotation:
        owner = f"pl.{cls.__name__}"
        if not isinstance(items, tuple) or len(items) < 2:
            raise _usage(
                f"{owner}: needs a shape and an element type",
                f"write {owner}[[rows, columns], pl.FP32]",
            )
        shape, dtype, *slots = items
        return Annotation(
            cls._kind,
            _shape(owner, shape),
            _dtype(owner, dtype),
            tuple(slots),
            "in",
            f"{owner}[{', '.join(map(_text, items))}]",
        )

    def __getitem__(cls, items: Any) -> Annotation:
        return cls._make(items)

    def __call__(cls, *items: Any) -> Annotation:
        return cls._make(items)

    def __repr__(cls) -> str:
        return f"pl.{cls.__name__}"


class Tensor(metaclass=_ShapedMeta):
    """A tensor in global memory: `pl.Tensor[[d0, …], dtype]`, or bare where the argument decides."""

    _kind = "tensor"


class Tile(metaclass=_ShapedMeta):
    """A tile in on-chip memory: `pl.Tile[[d0, …], dtype, …]` with memory space and view in any order."""

    _kind = "tile"


class DistributedTensor(metaclass=_ShapedMeta):
    """A tensor bound to a window of memory that other devices reach."""

    _kind = "distributed_tensor"


class Scalar:
    """`pl.Scalar[dtype]`: one value."""

    def __class_getitem__(cls, dtype: Any) -> Annotation:
        dtype = _dtype("pl.Scalar", dtype)
        return Annotation("scalar", (), dtype, (), "in", f"pl.Scalar[{dtype!r}]")


class Array:
    """`pl.Array[N, dtype]`: N local values of an integer type, BOOL or TASK_ID."""

    def __class_getitem__(cls, items: Any) -> Annotation:
        if not isinstance(items, tuple) or len(items) != 2:
            raise _usage(
                "pl.Array: needs a length and an element type", "write pl.Array[4, pl.TASK_ID]"
            )
        extent, dtype = items
        if isinstance(extent, bool) or not isinstance(extent, int) or extent < 1:
            raise _usage(f"pl.Array: {extent!r} is not a length", "lengths are constants >= 1")
        return Annotation(
            "array",
            (extent,),
            _dtype("pl.Array", dtype),
            (),
            "in",
            f"pl.Array[{extent}, {dtype!r}]",
        )


class Tuple:
    """`pl.Tuple[…]`: several results."""

    def __class_getitem__(cls, items: Any) -> Annotation:
        items = items if isinstance(items, tuple) else (items,)
        return Annotation("tuple", None, None, items, "in", f"pl.Tuple[{_text(items)[1:-1]}]")


class _Direction:
    _direction: str

    def __class_getitem__(cls, annotation: Any) -> Annotation:
        if isinstance(annotation, _ShapedMeta):  # bare pl.Tensor
            annotation = Annotation(annotation._kind, text=repr(annotation))
        elif annotation is Scalar or isinstance(annotation, DataType):
            annotation = Annotation("scalar", (), None, text=_text(annotation))
        if not isinstance(annotation, Annotation):
            raise _usage(
                f"pl.{cls.__name__}: {annotation!r} is not a type of the language",
                f"write pl.{cls.__name__}[pl.Tensor[[rows, columns], pl.FP32]]",
            )
        return annotation.with_direction(cls._direction)


class Out(_Direction):
    """`pl.Out[T]`: written, not read."""

    _direction = "out"


class InOut(_Direction):
    """`pl.InOut[T]`: read and written."""

    _direction = "inout"


class _Described:
    """Base of small descriptions that annotations carry: arguments by position or keyword."""

    _fields: tuple[str, ...] = ()
    _defaults: dict[str, Any] = {}

    def __init__(self, *args: Any, **kwargs: Any):
        name = type(self).__name__
        if len(args) > len(self._fields):
            raise TypeError(f"pl.{name} takes {len(self._fields)} arguments, got {len(args)}")
        values = dict(self._defaults)
        values.update(zip(self._fields, args, strict=False))
        for key, value in kwargs.items():
            if key not in self._fields:
                raise TypeError(f"pl.{name}: no argument {key!r}; has {', '.join(self._fields)}")
            values[key] = value
        missing = [field for field in self._fields if field not in values]
        if missing:
            raise TypeError(f"pl.{name}: needs {', '.join(missing)}")
        for key in self._fields:
            setattr(self, key, values[key])

    def __repr__(self) -> str:
        parts = (f"{key}={_text(getattr(self, key))}" for key in self._fields)
        return f"pl.{type(self).__name__}({', '.join(parts)})"


class TensorView(_Described):
    """How a tensor lies in memory: strides in elements, layout, the part that holds data."""

    _fields = ("stride", "layout", "valid_shape", "pad")
    _defaults = {"valid_shape": (), "pad": None}


class TileView(_Described):
    """How a tile lies in its memory space."""

    _fields = (
        "valid_shape",
        "stride",
        "start_offset",
        "blayout",
        "slayout",
        "fractal",
        "pad",
        "compact",
    )
    _defaults = {
        "stride": None,
        "start_offset": None,
        "blayout": None,
        "slayout": None,
        "fractal": 512,
        "pad": None,
        "compact": None,
    }


class MemRef:
    """An allocation that several tiles share: `ref = pl.MemRef("name", slots=2)`, `ref[i % 2]`."""

    def __init__(self, *args: Any, slots: int = 1):
        if len(args) not in (0, 1, 3):
            raise TypeError("pl.MemRef takes a name, or base, byte_offset and size")
        if isinstance(slots, bool) or not isinstance(slots, int) or slots < 1:
            raise _usage(f"pl.MemRef: slots={slots!r}", "slots is a constant >= 1")
        self.args = args
        self.slots = slots

    def __getitem__(self, slot: Any) -> tuple:
        return (self, slot)


class Ptr:
    """Type of an allocation token."""


class MemRefType:
    """Type of a memory reference."""


class PrefetchAsyncContext:
    """Type of the context of pl.prefetch."""


class AsyncEvent:
    """Type of the event that an asynchronous prefetch gives."""


class AsyncSession:
    """Type of the session that waits for asynchronous prefetches."""


class CommCtx:
    """Type of a communication context."""


class _Runtime:
    """Leaves a scalar parameter to the call; only where a program is compiled from its signature."""

    def __repr__(self) -> str:
        return "pl.RUNTIME"


RUNTIME = _Runtime()
IntLike = int
