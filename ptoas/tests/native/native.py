"""Compile `.pto` text with the native target and call it with NumPy arrays."""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path

import ml_dtypes
import numpy as np

HOST, AVX2, AVX512 = 0, 1, 2
# Those that this machine runs; AVX512 is without arithmetic in half precision.
ISAS = (HOST, AVX2) + ((AVX512,) if " avx512vl " in Path("/proc/cpuinfo").read_text() else ())
DTYPES = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
}


def _load_binding() -> ctypes.CDLL:
    path = os.environ.get("PTOAS_NATIVE_BINDING")
    if path is None:
        root = Path(__file__).resolve().parents[3]
        found = sorted(
            root.glob("build/*/ptoas/tests/native/libptoas_native_binding.so"),
            key=lambda p: p.stat().st_mtime,
        )
        if not found:
            raise RuntimeError("build the target ptoas_native_binding first")
        path = str(found[-1])
    binding = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    binding.native_compile.restype = ctypes.c_void_p
    binding.native_symbol.restype = ctypes.c_void_p
    binding.runner_open.restype = ctypes.c_void_p
    binding.runner_compile_ms.restype = ctypes.c_double
    return binding


_binding = _load_binding()


# Operations of every program that was compiled and called, for the listing test.
executed: set[str] = set()


def _operations(text: str) -> set[str]:
    code = re.sub(r"//.*|[!#]pto\.\w+", "", text)
    return set(re.findall(r"\bpto\.([a-z]\w*(?:\.[a-z]\w*)*)", code))


class CompileError(Exception):
    """The native target refused the module; the text is its diagnostics."""


class Code:
    """Loaded code of one module."""

    def __init__(
        self, text: str, *, fuse: bool = True, reuse: bool = True, isa: int = HOST, dump: str = ""
    ):
        message = ctypes.create_string_buffer(4096)
        times = (ctypes.c_double * 3)()
        self.handle = _binding.native_compile(
            text.encode(), int(fuse), int(reuse), isa, dump.encode(), message, len(message), times
        )
        self.times = list(times)
        self.operations = _operations(text)
        if not self.handle:
            raise CompileError(message.value.decode())

    def __call__(self, name: str, *args):
        """Arrays are passed as pointers, numbers as i64 (or as given ctypes values)."""
        executed.update(self.operations)
        address = _binding.native_symbol(ctypes.c_void_p(self.handle), name.encode())
        assert address, name
        converted = []
        for arg in args:
            if isinstance(arg, np.ndarray):
                converted.append(ctypes.c_void_p(arg.ctypes.data))
            elif isinstance(arg, int):
                converted.append(ctypes.c_int64(arg))
            else:
                converted.append(arg)
        ctypes.CFUNCTYPE(None, *[type(c) for c in converted])(address)(*converted)


class KernelFault(Exception):
    """A kernel ended early: a check that failed, or a deadlock."""


class Kernel:
    """A compiled entry with all that a launch needs: clusters, block numbers, checks."""

    def __init__(
        self,
        text: str,
        *,
        entry: str = "",
        arch: str = "",
        check: bool = False,
        name: str = "k.pto",
    ):
        message = ctypes.create_string_buffer(1 << 16)
        self.operations = _operations(text)
        self._handle = _binding.runner_open(
            text.encode(),
            name.encode(),
            arch.encode(),
            entry.encode(),
            int(check),
            message,
            len(message),
        )
        said = message.value.decode()
        if not self._handle:
            raise CompileError(said)
        # (name, type, element type, bytes of an element)
        self.arguments = [tuple(line.rsplit(" ", 3)) for line in said.splitlines()]

    @property
    def compile_ms(self) -> float:
        return _binding.runner_compile_ms(ctypes.c_void_p(self._handle))

    def __call__(self, *args, blocks: int = 1) -> None:
        assert len(args) == len(self.arguments), (
            f"{len(self.arguments)} arguments: {self.arguments}"
        )
        words = (ctypes.c_uint64 * len(args))()
        sizes = (ctypes.c_int64 * len(args))()
        for i, (arg, (_, _, element, _)) in enumerate(zip(args, self.arguments)):
            if isinstance(arg, np.ndarray):
                words[i], sizes[i] = arg.ctypes.data, arg.nbytes
            elif element in ("f32", "f16", "f64", "bf16"):
                bits = np.array(arg, DTYPES.get(element, np.float64)).tobytes().ljust(8, b"\0")
                words[i] = int.from_bytes(bits, "little")
            else:
                words[i] = int(arg) & (2**64 - 1)
        message = ctypes.create_string_buffer(1 << 16)
        failed = _binding.runner_run(
            ctypes.c_void_p(self._handle),
            words,
            sizes,
            ctypes.c_int64(blocks),
            message,
            len(message),
        )
        executed.update(self.operations)
        if failed:
            raise KernelFault(message.value.decode())
        self.notes = message.value.decode()  # of a checked run

    def __del__(self):
        if getattr(self, "_handle", None):
            _binding.runner_close(ctypes.c_void_p(self._handle))
            self._handle = None


class Program:
    """Text of a function on dense row-major tensors, one tile per tensor unless said otherwise."""

    def __init__(self, arch: str = "a5"):
        self.arch = arch
        self.args: list[str] = []
        self.lines: list[str] = []
        self.constants: dict[str, str] = {}
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def const(self, value, type_: str = "index") -> str:
        text = f"arith.constant {value} : {type_}"
        if text not in self.constants:
            self.constants[text] = self.name()
        return self.constants[text]

    def emit(self, line: str) -> None:
        self.lines.append(line)

    def pointer(self, dtype: str) -> str:
        name = f"%a{len(self.args)}"
        self.args.append(f"{name}: !pto.ptr<{dtype}>")
        return name

    def scalar(self, type_: str) -> str:
        name = f"%a{len(self.args)}"
        self.args.append(f"{name}: {type_}")
        return name

    def index(self, value) -> str:
        return value if isinstance(value, str) else self.const(value)

    def run_time_zero(self) -> str:
        name = self.name()
        self.emit(f"{name} = arith.subi {self.const(1)}, {self.const(1)} : index")
        return name

    def view(
        self, pointer: str, dtype: str, shape, strides=None, offsets=None, sizes=None, layout="nd"
    ):
        """A partition (name, type) of a tensor."""
        rank = len(shape)
        if strides is None:
            strides, step = [0] * rank, 1
            for d in reversed(range(rank)):
                strides[d] = step
                step = step * shape[d] if not isinstance(shape[d], str) else step
        offsets = offsets or [0] * rank
        # A constant size must be positive; an empty window has a size known at run time only.
        sizes = [self.run_time_zero() if size == 0 else size for size in sizes or shape]
        dims = "x".join("?" for _ in range(rank))
        tensor, part = self.name(), self.name()
        out = "x".join(str(s) if isinstance(s, int) else "?" for s in sizes)
        join = lambda xs: ", ".join(self.index(x) for x in xs)  # noqa: E731
        self.emit(
            f"{tensor} = pto.make_tensor_view {pointer}, shape = [{join(shape)}], strides = [{join(strides)}] "
            f"{{layout = #pto.layout<{layout}>}} : !pto.tensor_view<{dims}x{dtype}>"
        )
        type_ = f"!pto.partition_tensor_view<{out}x{dtype}>"
        self.emit(
            f"{part} = pto.partition_view {tensor}, offsets = [{join(offsets)}], sizes = [{join(sizes)}] : "
            f"!pto.tensor_view<{dims}x{dtype}> -> {type_}"
        )
        return part, type_

    def tile(
        self,
        dtype: str,
        rows: int,
        cols: int,
        vrow=None,
        vcol=None,
        space="vec",
        extra="",
        addr=None,
    ):
        """A tile (name, type); extents given as SSA names become run-time ones."""
        vrow = rows if vrow is None else vrow
        vcol = cols if vcol is None else vcol
        shown = lambda v: "?" if isinstance(v, str) else str(v)  # noqa: E731
        type_ = f"!pto.tile_buf<{space}, {rows}x{cols}x{dtype}, valid={shown(vrow)}x{shown(vcol)}{extra}>"
        name = self.name()
        operands = "" if addr is None else f" addr = {self.const(addr, 'i64')}"
        operands += f" valid_row = {vrow}" if isinstance(vrow, str) else ""
        operands += f" valid_col = {vcol}" if isinstance(vcol, str) else ""
        self.emit(f"{name} = pto.alloc_tile{operands} : {type_}")
        return name, type_

    def column(self, dtype: str, rows: int, vrow=None):
        return self.tile(dtype, rows, 1, vrow, 1, extra=", blayout=col_major")

    def op(self, mnemonic: str, ins, outs, attrs: str = "", inside: str = "") -> None:
        names = lambda xs: ", ".join(x[0] for x in xs)  # noqa: E731
        types = lambda xs: ", ".join(x[1] for x in xs)  # noqa: E731
        inside = f" {{{inside}}}" if inside else ""
        attrs = f" {{{attrs}}}" if attrs else ""
        self.emit(
            f"pto.{mnemonic} ins({names(ins)}{inside} : {types(ins)}) outs({names(outs)} : {types(outs)}){attrs}"
        )

    def load(self, view, tile) -> None:
        self.op("tload", [view], [tile])

    def store(self, tile, view, attrs="") -> None:
        self.op("tstore", [tile], [view], attrs)

    def function(self, name: str = "f") -> str:
        constants = [f"{v} = {k}" for k, v in self.constants.items()]
        body = "\n    ".join(constants + self.lines)
        return f"  func.func @{name}({', '.join(self.args)}) {{\n    {body}\n    return\n  }}\n"

    def text(self, name: str = "f") -> str:
        return module(self.arch, [self.function(name)])


def module(arch: str, functions: list[str]) -> str:
    return f'module attributes {{pto.target_arch = "{arch}"}} {{\n{"".join(functions)}}}\n'


def ops(side: str = "native") -> set[str]:
    """Names of the pto ops that the native target dispatches, the dialect registers, or "cpp" emits."""
    names = ctypes.create_string_buffer(1 << 16)
    _binding[f"{side}_ops"](names, len(names))
    return set(names.value.decode().split())


def convert(values, shape: tuple[int, int], src: str, dst: str, attrs: str, out):
    """`tcvt` of a whole tile of `shape` from `values` to `out`, arrays as the types lie in memory."""
    p = Program()
    px, py = p.pointer(src), p.pointer(dst)
    a, b = p.tile(src, *shape), p.tile(dst, *shape)
    p.load(p.view(px, src, list(shape)), a)
    p.op("tcvt", [a], [b], inside=attrs)
    p.store(b, p.view(py, dst, list(shape)))
    Code(p.text())("f", values, out)
    return out
