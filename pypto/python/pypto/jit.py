"""What happens behind `@pl.jit`: names and defaults of a call, specialisation, lookup, compilation.

Calls whose arguments match a program in memory never come here (pypto._core.JITFunction).
"""

from __future__ import annotations

import copyreg
import operator
from typing import Any

from pypto import backend, bridge, cache, dtypes, executable
from pypto.dtypes import DataType
from pypto.enums import MemoryPlanner
from pypto.errors import ArgumentTypeError, ArgumentValueError, Error
from pypto.source import Record, Snapshot, snapshot
from pypto.types import RUNTIME, Annotation, DynVar

_PYTHON_TYPES = {"bool": "BOOL", "int": "INDEX", "float": "FP32"}
_CALLABLE = ("jit",)


def make_function(record: Record):
    """The object that a `@pl.jit…` decorator puts in place of a function."""
    made = bridge.core().JITFunction(Implementation(record))
    made.__module__ = made.impl.__module__
    # As of Python's functions: a copy is the function itself, a pickle is its name.
    copyreg.pickle(type(made), operator.attrgetter("impl.__qualname__"))
    return made


class Implementation:
    """Behind one JITFunction; attributes that the function does not have are looked up here."""

    def __init__(self, record: Record):
        function = record.function
        code = function.__code__
        self.__pypto_function__ = record
        self.__name__ = record.name
        self.__qualname__ = function.__qualname__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self.__wrapped__ = function
        self.names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        defaults = function.__defaults__ or ()
        self.defaults = dict(
            zip(
                code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount],
                defaults,
                strict=True,
            )
        )
        self.defaults.update(function.__kwdefaults__ or {})
        self._annotations: dict[str, Any] | None = None

    @property
    def record(self) -> Record:
        return self.__pypto_function__

    @property
    def annotations(self) -> dict[str, Any]:
        if self._annotations is None:
            self._annotations = self.record.annotations()
        return self._annotations

    def __repr__(self) -> str:
        form = "" if self.record.form == "jit" else f".{self.record.form}"
        return f"<@pl.jit{form} function {self.__name__}>"

    # Called by JITFunction.

    def parameter_name(self, index: int) -> str:
        return self.names[index] if index < len(self.names) else f"argument {index}"

    def bind(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, Any]:
        """Arguments in the order of the parameters, and the config."""
        self._check_form()
        config = kwargs.pop("config", None) if "config" not in self.names else None
        values = self._by_name(args, kwargs)
        missing = [name for name in self.names if name not in values]
        if missing:
            raise ArgumentTypeError(
                f"{self.__name__}: missing {_counted(missing)}",
                hint=f"call it as {self._usage()}",
            )
        return tuple(values[name] for name in self.names), config

    def prepare(self, function, args: tuple, config: Any):
        """The executable for these arguments, compiled if need be and kept in `function`."""
        self._check_form()
        key = "" if config is None else _config(config)._call_key
        snap = snapshot([self.record])
        header, code, _ = self._find(snap, args, _config(config))
        made = executable.load(header, code, dict(zip(self.names, args, strict=True)).get)
        function.add(made, key, snap.guards)
        return made

    def call(self, function, args: tuple, config: Any):
        """A call that is recorded or saved, as its config asks."""
        from pypto.runtime import trace

        with trace.recording(config.trace):
            return function(*args, config=config.without_recording())

    # Called by users.

    def compile(self, *args: Any, config: Any = None, **kwargs: Any):
        """A CompiledProgram for these arguments; without tensors, for what the annotations say."""
        from pypto.ir.compile import from_header

        self._check_form()
        config = _config(config)
        values = self._signature_args(self._by_name(args, kwargs))
        snap = snapshot([self.record])
        header, code, result = self._find(snap, values, config)

        def request():
            baked = {slot[1] for slot in header["slots"] if slot[0] == "baked"}
            return self.artifact_request(values, config.platform, None, None, baked)

        return from_header(header, code, request, result, program=self.record)

    def artifact_request(
        self, values: tuple, platform: str, runtime: Any, contract: Any, baked: set[str]
    ):
        """What compiling for these arguments asks of the compiler; `baked` are the parameters whose values
        it needs as constants. Samples may be tensors of any device, and ParamInfo."""
        from pypto.ir.compile import function_request

        self._check_form()
        if values and len(values) != len(self.names):
            raise ArgumentTypeError(
                f"{self.__name__} takes {len(self.names)} arguments, got {len(values)} samples",
                hint=f"give one for each of {', '.join(self.names)}, or none",
            )
        values = values or tuple(self.defaults.get(name, RUNTIME) for name in self.names)
        specs, _ = self._specialise(values, baked)
        auto_scope = bool(self.record.options.get("auto_scope", True))
        return function_request(self, specs, auto_scope, platform, runtime, contract)

    def lower(self, *args: Any, config: Any = None, **kwargs: Any):
        """The program after all passes, without machine code. Not cached."""
        from pypto.ir.compiled import LoweredProgram

        self._check_form()
        config = _config(config)
        values = self._signature_args(self._by_name(args, kwargs))
        snap = snapshot([self.record])
        options = {**self._options(config), "lower_only": True, "emit_dumps": True}
        baked: set[str] = set()
        while True:
            specs, _ = self._specialise(values, baked)
            result = bridge.compile_program(
                self.__name__, False, [self.record], snap, specs, options
            )
            if not self._bake(result, baked):
                return LoweredProgram(self.__name__, result["unit"]["dumps"])

    # Inside.

    def _check_form(self) -> None:
        if self.record.form not in _CALLABLE:
            raise Error(
                f"{self.__name__} is a @pl.jit.{self.record.form} function: programs call it, Python does not",
                hint="call it from a function decorated with @pl.jit and call that one",
            )

    def _usage(self) -> str:
        return f"{self.__name__}({', '.join(self.names)})"

    def _by_name(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        if len(args) > len(self.names):
            raise ArgumentTypeError(
                f"{self.__name__} takes {len(self.names)} arguments, got {len(args)}",
                hint=f"call it as {self._usage()}",
            )
        values = dict(zip(self.names, args, strict=False))
        for name, value in kwargs.items():
            if name not in self.names:
                raise ArgumentTypeError(
                    f"{self.__name__} has no parameter {name!r}",
                    hint=f"call it as {self._usage()}",
                )
            if name in values:
                raise ArgumentTypeError(f"{self.__name__}: {name} is given twice")
            values[name] = value
        for name, value in self.defaults.items():
            values.setdefault(name, value)
        return values

    def _signature_args(self, values: dict[str, Any]) -> tuple:
        """Values in order; RUNTIME for what is left to the annotation."""
        tensors = [n for n, v in values.items() if isinstance(_named_sample(n, v), tuple)]
        missing = [name for name in self.names if name not in values]
        if tensors and missing:
            raise ArgumentTypeError(
                f"{self.__name__}: missing {_counted(missing)}", hint=f"call it as {self._usage()}"
            )
        return tuple(values.get(name, RUNTIME) for name in self.names)

    def _options(self, config: Any) -> dict[str, Any]:
        backend.notice(config.platform)
        return {
            **bridge.default_options(),
            "platform": config.platform,
            "auto_scope": bool(self.record.options.get("auto_scope", True)),
        }

    def _find(self, snap: Snapshot, args: tuple, config: Any) -> tuple[dict, bytes, dict | None]:
        """Header and code for arguments: from disk, or compiled and put there. The third value is
        the compiler's result where it ran."""
        options = self._options(config)
        artifacts = config.wants_artifacts
        baked: set[str] = set()
        while True:
            specs, only = self._specialise(args, baked)
            key = bridge.key_for(snap, (self._key_specs(specs), sorted(only.items())), options)
            entry = None if artifacts else cache.load(key)
            if entry is not None:
                header, code = entry
                if more := header.get("bake"):
                    baked.update(more)
                    continue
                bridge._replay(header["warnings"])
                return header, code, None
            emit = dict.fromkeys(("emit_pto", "emit_dumps", "emit_lowered"), artifacts)
            emit["bake_addresses"] = config.memory_planner is not MemoryPlanner.PTOAS
            result = bridge.compile_program(
                self.__name__, False, [self.record], snap, specs, {**options, **emit}
            )
            if self._bake(result, baked):
                cache.store(key, {"bake": sorted(baked)}, b"")
                continue
            from pypto.ir.signature import metadata_of

            unit = result["unit"]
            header = executable.header_of(unit, self.names, config.platform, only)
            header["warnings"] = result["warnings"]
            header["metadata"] = metadata_of(unit, platform=config.platform).record()
            cache.store(key, header, unit["code"])
            if artifacts:
                config.save(self.__name__, result)
            return header, unit["code"], result

    def _bake(self, result: dict[str, Any], baked: set[str]) -> bool:
        """Adds the parameters that the program needs as constants; False when there is none."""
        names = {self.names[index] for index in result["bake"]} - baked
        baked |= names
        if result["bake"] and not names:
            raise Error(
                f"{self.__name__}: a parameter is needed as a constant and no value is known",
                hint=f"give values for {', '.join(self.names[i] for i in result['bake'])}",
            )
        return bool(names)

    def _specialise(self, args: tuple, baked: set[str]) -> tuple[list[tuple], dict[str, str]]:
        """What the compiler is told of each argument, and the Python types of scalars that have no
        annotation."""
        specs: list[tuple] = []
        only: dict[str, str] = {}
        for name, value in zip(self.names, args, strict=True):
            annotation = self.annotations.get(name)
            if value is RUNTIME:
                if name in baked:
                    raise ArgumentTypeError(
                        f"{name}: the program needs its value to be compiled",
                        hint=f"pass a number for {name}",
                    )
                specs.append(("absent",))
                continue
            what = _named_sample(name, value)
            if what is value and what is not None:  # ParamInfo of a scalar
                specs.append(("runtime", what.dtype.name))
            elif isinstance(what, tuple):
                specs.append(self._tensor_spec(name, annotation, *what))
            elif isinstance(what, str):
                specs.append(self._scalar_spec(name, annotation, what, value, name in baked, only))
            else:
                raise ArgumentTypeError(
                    f"{name}: takes a tensor or a number, got {type(value).__name__}"
                )
        return specs, only

    def _tensor_spec(self, name, annotation, dtype, shape, strides, read_only) -> tuple:
        if isinstance(annotation, Annotation) and annotation.kind == "tensor":
            _compare(name, annotation, dtype, shape)
        elif annotation is not None and _scalar_type(annotation) is not None:
            raise ArgumentTypeError(
                f"{name}: takes a number ({_scalar_type(annotation)}), got a tensor"
            )
        return ("tensor", dtype, shape, strides or ())

    def _scalar_spec(self, name, annotation, kind, value, bake, only) -> tuple:
        wanted = _scalar_type(annotation)
        if wanted is None and _takes_tensor(annotation):
            raise ArgumentTypeError(f"{name}: takes a tensor, got {value!r}")
        dtype = wanted or _PYTHON_TYPES[kind]
        if wanted is None:
            only[name] = kind
        _check_number(name, dtype, kind, value)
        if bake:
            return ("scalar", dtype, value)
        return ("runtime", dtype)

    def _key_specs(self, specs: list[tuple]) -> list[tuple]:
        """Specifications with extents that any call may change left out."""
        result = []
        for name, spec in zip(self.names, specs, strict=True):
            annotation = self.annotations.get(name)
            if spec[0] == "tensor" and isinstance(annotation, Annotation) and annotation.shape:
                shape = tuple(
                    None if isinstance(dim, DynVar) else extent
                    for dim, extent in zip(annotation.shape, spec[2], strict=True)
                )
                spec = (*spec[:2], shape, *spec[3:])
            result.append(spec)
        return result


def _sample(value: Any) -> Any:
    """What an argument is: (dtype, shape, strides, read-only), the kind of a number, or None. Tensors
    whose memory is elsewhere, or that have none, are described by what they say of themselves."""
    module = type(value).__module__
    if module == "pypto.ir.param_info":
        if value.is_scalar:
            return value
        if value.is_dynamic:
            raise ArgumentValueError(
                f"a sample has constant extents, not {list(value.shape)}",
                hint="leave extents open with pl.dynamic in the annotation",
            )
        return value.dtype.name, value.shape, value.strides, False
    if module.partition(".")[0] == "torch" and hasattr(value, "untyped_storage"):
        if value.device.type != "cpu" or type(value).__name__ == "FakeTensor":
            from pypto.ir.type_tables import describe_torch

            return describe_torch(value)
    return bridge.core().describe(value)


def _named_sample(name: str, value: Any) -> Any:
    """_sample(), with the parameter's name in front of what is wrong with the value."""
    try:
        return _sample(value)
    except Error as error:
        raise type(error)(f"{name}: {error.message}", hint=error.hint) from None
    except TypeError as error:  # torch tensors with element types that the language does not have
        raise ArgumentTypeError(f"{name}: {error}") from None


def _config(config: Any):
    from pypto.runtime.config import RunConfig, default_config

    if config is None:
        return default_config()
    if not isinstance(config, RunConfig):
        raise ArgumentTypeError(f"config: takes a RunConfig, got {type(config).__name__}")
    return config


def _counted(names: list[str]) -> str:
    return ("argument " if len(names) == 1 else "arguments ") + ", ".join(names)


def _takes_tensor(annotation: Any) -> bool:
    if isinstance(annotation, Annotation):
        return annotation.kind in ("tensor", "distributed_tensor")
    return getattr(annotation, "_kind", None) in ("tensor", "distributed_tensor")


def _scalar_type(annotation: Any) -> str | None:
    """Element type that an annotation gives a scalar parameter."""
    if isinstance(annotation, DataType):
        return annotation.name
    if isinstance(annotation, Annotation) and annotation.kind == "scalar" and annotation.dtype:
        return annotation.dtype.name
    return None


def _compare(name: str, annotation: Annotation, dtype: str, shape: tuple) -> None:
    """Raises where a tensor is not what its annotation says."""
    if annotation.shape is None:
        return
    got = f"[{', '.join(map(str, shape))}] {dtype}"
    wanted = (
        "["
        + ", ".join(d.name if isinstance(d, DynVar) else str(d) for d in annotation.shape)
        + f"] {annotation.dtype.name}"
    )
    if len(shape) != len(annotation.shape):
        raise ArgumentTypeError(
            f"{name}: takes {wanted}, got {got}: rank {len(shape)} is not {len(annotation.shape)}"
        )
    if dtype != annotation.dtype.name and {dtype, annotation.dtype.name} != {"INT64", "INDEX"}:
        raise ArgumentTypeError(
            f"{name}: takes {wanted}, got {got}: element type {dtype} is not {annotation.dtype.name}"
        )
    for axis, (dim, extent) in enumerate(zip(annotation.shape, shape, strict=True)):
        if isinstance(dim, int) and dim != extent:
            raise ArgumentTypeError(
                f"{name}: takes {wanted}, got {got}: axis {axis} has {extent} elements, not {dim}"
            )


def _check_number(name: str, dtype: str, kind: str, value: Any) -> None:
    row = dtypes.ALL[dtype]
    if dtype == "BOOL":
        good = kind == "bool"
    elif row.is_float():
        good = kind in ("int", "float")
    else:
        good = kind == "int"
    if not good:
        raise ArgumentTypeError(f"{name}: takes {dtype}, got {value!r}")
    if dtype in dtypes.RANGES:
        low, high = dtypes.RANGES[dtype]
        if not low <= int(value) <= high:
            raise ArgumentValueError(f"{name}: {value!r} does not fit {dtype}")
