"""Memory that tensors are views of: who owns it, where it is, what may be done with it."""

from __future__ import annotations

import ctypes
import enum
import mmap
import operator
import os
import secrets
import weakref
from collections.abc import Sequence
from multiprocessing import shared_memory
from typing import Any

from simpler._task_interface import AddressSpace, DataType, Tensor


class AccessMode(enum.IntEnum):
    READ = 0
    WRITE = 1
    READWRITE = 2


class BackendKind(enum.IntEnum):
    FORK_SHM = 0
    POSIX_SHM = 1
    VMM_WINDOW = 2
    REMOTE_SIDECAR = 3
    DEVICE_MALLOC = 4
    FORK_COW = 5


_DEVICE_KINDS = (BackendKind.VMM_WINDOW, BackendKind.DEVICE_MALLOC)
_next_id = iter(range(1, 1 << 62))


def mint_owner_instance_id() -> bytes:
    """Eight random bytes that name one owner of buffers."""
    return secrets.token_bytes(8)


_process_owner = mint_owner_instance_id()


class Buffer:
    """`nbytes` bytes from address `base`. Keeps the memory's owner alive; closing is idempotent."""

    def __init__(
        self,
        base: int,
        nbytes: int,
        *,
        backend_kind: BackendKind,
        access: AccessMode = AccessMode.READWRITE,
        owner: Any = None,
        owner_instance_id: bytes | None = None,
        shm: shared_memory.SharedMemory | None = None,
        owner_worker_id: int = 0,
    ) -> None:
        if nbytes < 0 or (nbytes > 0 and base == 0):
            raise ValueError(f"Buffer: {nbytes} bytes at address {base:#x}")
        if backend_kind == BackendKind.FORK_COW and access != AccessMode.READ:
            raise ValueError("Buffer: a copy-on-write snapshot is READ only")
        self.base = base
        self.nbytes = nbytes
        self.backend_kind = BackendKind(backend_kind)
        self.access = AccessMode(access)
        self.owner_worker_id = owner_worker_id
        self.shm = shm
        self.identity = (owner_instance_id or _process_owner, next(_next_id), 1)
        self.closed = False
        self._owner = owner
        self._pid = os.getpid()

    @property
    def address_space(self) -> AddressSpace:
        return AddressSpace.DEVICE if self.backend_kind in _DEVICE_KINDS else AddressSpace.HOST

    @property
    def body(self) -> bytes:
        return self.base.to_bytes(8, "little") if self.shm is None else self.shm.name.encode()

    @classmethod
    def wrap(cls, source: Any, *, nbytes: int | None = None, device: bool = False) -> Buffer:
        """Describes memory that someone else owns: a torch tensor, anything with the buffer protocol, or an address
        with `nbytes`. Nothing is copied; the owner is kept alive."""
        kind = BackendKind.DEVICE_MALLOC if device else BackendKind.FORK_SHM
        if isinstance(source, int):
            if nbytes is None:
                raise TypeError("Buffer.wrap: an address needs nbytes")
            return cls(source, nbytes, backend_kind=kind)
        if hasattr(source, "untyped_storage"):
            storage = source.untyped_storage()
            return cls(storage.data_ptr(), storage.nbytes(), backend_kind=kind, owner=source)
        view = memoryview(source).cast("B")
        if view.readonly:
            raise TypeError("Buffer.wrap: the memory is read-only")
        base = ctypes.addressof(ctypes.c_char.from_buffer(view)) if view.nbytes else 0
        return cls(base, view.nbytes, backend_kind=kind, owner=(source, view))

    def tensor(
        self,
        shapes: Sequence[int],
        dtype: DataType,
        strides: Sequence[int] | None = None,
        byte_offset: int = 0,
    ) -> Tensor:
        """A view; strides in elements, row-major when absent."""
        if self.closed:
            raise ValueError("Buffer.tensor: the buffer is closed")
        shapes = whole_numbers(shapes, "Buffer.tensor: extent")
        if 0 in shapes:
            raise ValueError(f"Buffer.tensor: an extent of {tuple(shapes)} is 0")
        return Tensor(
            self,
            self.base,
            self.nbytes,
            shapes,
            dtype,
            whole_numbers(strides, "Buffer.tensor: stride") if strides is not None else None,
            *whole_numbers([byte_offset], "Buffer.tensor: byte_offset"),
            self.address_space == AddressSpace.DEVICE,
        )

    @property
    def buffer(self) -> memoryview:
        """The bytes themselves."""
        if self.closed:
            raise ValueError("the buffer is closed")
        array = (ctypes.c_char * self.nbytes).from_address(self.base)
        array._owner = self._owner  # the view keeps the memory
        return memoryview(array).cast("B")

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        if self.shm is not None and os.getpid() == self._pid:
            try:
                self.shm.close()
            except BufferError:
                _leave_to_views(self.shm)
            try:
                self.shm.unlink()
            except FileNotFoundError:
                pass
        self._owner = None

    def __repr__(self) -> str:
        return f"Buffer({self.nbytes} bytes at {self.base:#x}, {self.backend_kind.name})"


def _leave_to_views(shm: shared_memory.SharedMemory) -> None:
    """Views of the memory live on and the mapping goes with them: what remains to close is the file."""
    file = getattr(shm, "_fd", -1)
    if file >= 0:
        os.close(file)
        shm._fd = -1
    shm.close = lambda: None  # its destructor would complain


def _unlink(shm: shared_memory.SharedMemory, pid: int) -> None:
    if os.getpid() != pid:
        return  # a forked child: the segment is its parent's
    try:
        shm.unlink()
    except FileNotFoundError:
        pass


def whole_numbers(values: Sequence[int], what: str) -> list[int]:
    """As ints, none negative."""
    result = [operator.index(value) for value in values]
    for axis, value in enumerate(result):
        if value < 0:
            where = f" of axis {axis}" if len(result) > 1 else ""
            raise ValueError(f"{what}{where} is {value}; it must not be negative")
    return result


def _check_size(nbytes: int, what: str) -> None:
    if not isinstance(nbytes, int) or isinstance(nbytes, bool):
        raise TypeError(f"{what}: nbytes is {nbytes!r}; it must be an int")
    if nbytes <= 0:
        raise ValueError(f"{what}: nbytes is {nbytes}; it must be positive")


def create_host_shared_buffer(nbytes: int) -> Buffer:
    """POSIX shared memory; `.shm.buf` is its content."""
    _check_size(nbytes, "create_buffer")
    shm = shared_memory.SharedMemory(
        create=True, size=nbytes, name=f"simpler-{os.getpid()}-{secrets.token_hex(4)}"
    )
    anchor = ctypes.c_char.from_buffer(shm.buf)
    base = ctypes.addressof(anchor)
    del anchor  # the mapping stays where it is; an exported pointer would forbid closing
    buffer = Buffer(base, nbytes, backend_kind=BackendKind.POSIX_SHM, shm=shm)
    weakref.finalize(buffer, _unlink, shm, os.getpid())
    return buffer


def allocate_device(nbytes: int) -> Buffer:
    """Zeroed pages, as a device's malloc gives them."""
    _check_size(nbytes, "malloc")
    try:
        pages = mmap.mmap(-1, nbytes)
    except (OSError, OverflowError) as error:
        raise MemoryError(f"malloc: no memory for {nbytes} bytes") from error
    base = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    return Buffer(base, nbytes, backend_kind=BackendKind.DEVICE_MALLOC, owner=pages)


def wrap_node_memory(source: Any, nbytes: int, heap: Any, what: str) -> Buffer:
    """Zeroed memory of a level-3 worker's shared heap. `source`: what allocates it, a node's lane or run."""
    base = source.allocate(nbytes)
    if base == 0:
        raise MemoryError(
            f"{what}: no room for {nbytes} bytes in the shared heap, {heap.used} of {heap.capacity} are in use; free some "
            "or give a larger heap_ring_size"
        )
    return Buffer(base, nbytes, backend_kind=BackendKind.DEVICE_MALLOC, owner=heap)


def host_memory(source: Any, what: str, *, writable: bool = False) -> tuple[int, int, Any]:
    """Address, bytes and owner of contiguous host memory: a Buffer, a tensor, anything with the buffer protocol."""
    if isinstance(source, Buffer):
        return source.base, source.nbytes, source
    if hasattr(source, "data_ptr"):
        if not source.is_contiguous():
            raise ValueError(f"{what}: the tensor is not contiguous")
        return source.data_ptr(), source.numel() * source.element_size(), source
    try:
        view = memoryview(source)
    except TypeError:
        raise TypeError(
            f"{what}: expected a Buffer, a tensor or an object with the buffer protocol, got {type(source).__name__}"
        ) from None
    if not view.c_contiguous:
        raise ValueError(f"{what}: the memory is not contiguous")
    view = view.cast("B")
    if view.readonly:
        if writable:
            raise TypeError(f"{what}: the memory is read-only")
        copy = ctypes.create_string_buffer(view.tobytes(), view.nbytes)
        return ctypes.addressof(copy), view.nbytes, copy
    return (
        ctypes.addressof(ctypes.c_char.from_buffer(view)) if view.nbytes else 0,
        view.nbytes,
        view,
    )


def wrap_fork_inherited(
    base: int, nbytes: int, *, owner: Any = None, owner_instance_id: bytes | None = None
) -> Buffer:
    return Buffer(
        base,
        nbytes,
        backend_kind=BackendKind.FORK_SHM,
        owner=owner,
        owner_instance_id=owner_instance_id,
    )


def wrap_device_malloc(base: int, nbytes: int, *, owner_worker_id: int = 0) -> Buffer:
    return Buffer(
        base, nbytes, backend_kind=BackendKind.DEVICE_MALLOC, owner_worker_id=owner_worker_id
    )
