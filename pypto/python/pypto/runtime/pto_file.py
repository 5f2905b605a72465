"""Runs kernels of `.pto` files on this machine: `run_pto`."""

from __future__ import annotations

import functools
import os
import re
import sys
from pathlib import Path
from typing import Any

from pypto import bridge, knobs
from pypto.errors import Error
from pypto.runtime import _execution_mode

# Element types as NumPy's array interface and torch name them; the rest goes by size alone.
_CODES = {
    "f32": ("f4", "float32"),
    "f64": ("f8", "float64"),
    "f16": ("f2", "float16"),
    "bf16": ("bfloat16", "u2", "V2"),
    "i8": ("i1", "int8"),
    "i16": ("i2", "int16"),
    "i32": ("i4", "int32"),
    "i64": ("i8", "int64"),
    "ui8": ("u1", "uint8"),
    "ui16": ("u2", "uint16"),
    "ui32": ("u4", "uint32"),
    "ui64": ("u8", "uint64"),
    "i1": ("b1", "bool"),
    "f8E4M3FN": ("float8_e4m3fn", "u1", "V1"),
    "f8E5M2": ("float8_e5m2", "u1", "V1"),
    "!pto.f8E8M0": ("float8_e8m0fnu", "u1", "V1"),
}


class PtoError(Error):
    """A `.pto` text that is wrong, arguments that do not fit it, or a kernel that ended early.

    The message has `file:line:col: error: …` for what the text or the kernel did.
    """


def _is_text(source: str) -> bool:
    return "\n" in source or source.lstrip().startswith(("module", "func.func", "//", "!"))


def _read(source: str | os.PathLike) -> tuple[str | bytes, str]:
    if not isinstance(source, str | os.PathLike):
        raise PtoError(
            f"expected the path of a .pto file or its text, got a {type(source).__name__}"
        )
    if isinstance(source, str) and _is_text(source):
        try:
            source.encode()
        except UnicodeEncodeError as error:
            raise PtoError(f"the text has a character that no file can have: {error}") from None
        return source, "<pto>"
    if not str(source):
        raise PtoError("expected the path of a .pto file or its text, got an empty string")
    try:
        data = Path(source).read_bytes()
        return (data if data.startswith(b"PTOBC") else data.decode()), str(source)
    except (OSError, ValueError) as error:  # also bytes that are no text, a name with a null byte
        raise PtoError(f"{source!s}: cannot be read: {error}") from None


@functools.lru_cache(maxsize=64)
def _open(text: str | bytes, name: str, arch: str, entry: str, check: bool):
    try:
        return bridge.compiler().pto_open(text, name, arch, entry, check)
    except ValueError as error:
        raise PtoError(str(error).rstrip()) from None


def _memory(tensor: Any) -> tuple[int, int, str, bool, bool] | None:
    """(address, bytes, element code, contiguous, writable) of a torch tensor or an array; else None."""
    if hasattr(tensor, "data_ptr") and hasattr(tensor, "element_size"):
        code = str(tensor.dtype).removeprefix("torch.")
        if tensor.device.type != "cpu":
            raise PtoError(f"tensors must be in host memory, got one on {tensor.device}")
        if str(tensor.layout) != "torch.strided":
            raise PtoError(f"tensors must be dense, got one with the layout {tensor.layout}")
        return (
            tensor.data_ptr(),
            tensor.numel() * tensor.element_size(),
            code,
            # A view that is negated when it is read is not what its memory holds.
            tensor.is_contiguous() and not tensor.is_neg(),
            True,
        )
    interface = getattr(tensor, "__array_interface__", None)
    if interface is None or not hasattr(tensor, "nbytes") or getattr(tensor, "ndim", 0) == 0:
        return None
    address, read_only = interface["data"]
    code = interface["typestr"][1:]
    if interface["typestr"][0] == ">" and tensor.dtype.itemsize > 1:
        code = interface["typestr"]  # another byte order is no element type of a kernel
    if code.startswith("V"):  # ml_dtypes
        code = getattr(tensor.dtype, "name", code)
    return address, tensor.nbytes, code, tensor.flags.c_contiguous, not read_only


def run_pto(
    source: str | os.PathLike,
    *tensors: Any,
    entry: str | None = None,
    arch: str | None = None,
    blocks: int = 1,
    check: bool | None = None,
) -> None:
    """Runs a kernel of a `.pto` or `.ptobc` file, or of a text, on torch tensors and NumPy arrays.

    `tensors` are the kernel's arguments in order: contiguous arrays for pointers (used in place, nothing
    is copied) and numbers for scalars. Block numbers that a kernel takes as `%__pypto_spmd_…` arguments
    are not given. bfloat16 may come as torch.bfloat16, as ml_dtypes.bfloat16, or as uint16 bit patterns.

    `entry` names the function where the module has several; `"cube,vector"` are the two halves of a cluster,
    which run side by side. `arch` ("a3", "a5") overrides the module's. All `blocks` run. With `check` (or
    `PTO_CHECK=1`) each access of global memory is checked against its tensor, tiles against their memory, and
    instructions for the order of their queues (docs/pto-files.md); a fault says where, notes go to stderr.

    Raises `PtoError`. Compiled kernels are kept, so that a second call costs microseconds.
    """
    _execution_mode.claim_program()
    for what, given in (("entry", entry), ("arch", arch)):
        if given is not None and not isinstance(given, str):
            raise PtoError(f"{what} must be a string, got {given!r}")
    text, name = _read(source)
    if not isinstance(blocks, int) or blocks < 1:
        raise PtoError(f"blocks must be at least 1, got {blocks!r}")
    check = bool(knobs.get("PTO_CHECK")) if check is None else check
    kernel, function, arguments = _open(text, name, arch or "", entry or "", check)
    if len(tensors) != len(arguments):
        wanted = ", ".join(f"{n or '?'}: {t}" for n, t, _, _ in arguments)
        raise PtoError(
            f"kernel '{function}' takes {len(arguments)} arguments ({wanted}), got {len(tensors)}"
        )
    values = []
    for index, (given, (label, type_, element, _)) in enumerate(
        zip(tensors, arguments, strict=True)
    ):
        what = f"argument {index}" + (f" ('{label}')" if label else "") + f" of '{function}'"
        memory = _memory(given)
        if not type_.startswith("!pto.ptr"):
            if memory is not None:
                raise PtoError(f"{what} is a scalar of type {type_}: give a number, not an array")
            try:
                values.append((bridge.compiler().pto_scalar(kernel, index, str(given)), 0))
            except ValueError:
                raise PtoError(f"{what}: {given!r} is no value of type {type_}") from None
            continue
        if memory is None:
            raise PtoError(
                f"{what} is {type_}: give a torch tensor or a NumPy array, not a {type(given).__name__}"
            )
        address, size, code, contiguous, writable = memory
        if not contiguous:
            raise PtoError(f"{what} must be contiguous: kernels see its memory as it is")
        if not writable:
            raise PtoError(f"{what} is read-only memory, which a kernel could write to")
        if code not in _CODES.get(element, (code,)):
            raise PtoError(f"{what} has elements of {code}, where the kernel needs {element}")
        values.append((address, size))
    try:
        notes = bridge.compiler().pto_run(kernel, tuple(values), blocks)
    except (ValueError, RuntimeError) as error:
        message = str(error).rstrip()
        if not re.search(r":\d+:\d+: error:", message):
            message = f"kernel '{function}': {message}"
        raise PtoError(message) from None
    if notes:
        sys.stderr.write(notes)
