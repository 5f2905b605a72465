"""Streams and events."""

from __future__ import annotations

from typing import Any

import torch

from .. import _C


def _device_index(device: Any) -> int:
    from . import _get_device_index, _lazy_init

    _lazy_init()
    return _get_device_index(device, optional=True)


class Stream(torch.Stream):
    """A queue of device work from the device's pool; a negative priority asks for the high one.

    Equal by device and handle. `stream_id=`, `device_index=`, `device_type=` wrap an existing stream.
    """

    def __new__(cls, device: Any = None, priority: int = 0, **kwargs):
        if "stream_id" not in kwargs:
            index = _device_index(device)
            kwargs["stream_id"] = cls._new_id(index, priority)
            kwargs["device_index"] = index
        kwargs["device_type"] = int(torch._C._autograd.DeviceType.PrivateUse1)
        return super().__new__(cls, **kwargs)

    @staticmethod
    def _new_id(index: int, priority: int) -> int:
        return _C._npu_getStreamFromPool(index, priority)

    @property
    def npu_stream(self) -> int:
        """Raw handle. Drains the task queue first: what was launched before is in the stream then."""
        _C._npu_drainQueue(self.device_index, self.stream_id)
        return _C._npu_streamHandle(self.device_index, self.stream_id)

    def wait_event(self, event) -> None:
        event.wait(self)

    def wait_stream(self, stream) -> None:
        self.wait_event(stream.record_event())

    def record_event(self, event=None):
        """Records an event (a new one by default) at the present end of the stream and returns it."""
        if event is None:
            event = Event()
        event.record(self)
        return event

    def _key(self):
        return _C._npu_streamHandle(self.device_index, self.stream_id), self.device

    def __eq__(self, other) -> bool:
        return isinstance(other, Stream) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"<torch_npu.npu.Stream device={self.device} npu_stream={self._key()[0]:#x}>"


class SyncLaunchStream(Stream):
    """A stream whose work does not go through the device's task queue."""

    @staticmethod
    def _new_id(index: int, priority: int) -> int:
        return _C._npu_getSyncLaunchStream(index)


class Event(torch.Event):
    """A point in a stream. Created on the device when first recorded."""

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ):
        if interprocess:
            raise RuntimeError(
                "torch_npu.npu.Event: events of the simulated NPU cannot be shared between processes"
            )
        return super().__new__(cls, device="npu", enable_timing=enable_timing, blocking=blocking)

    def record(self, stream=None) -> None:
        super().record(current_stream() if stream is None else stream)

    def wait(self, stream=None) -> None:
        super().wait(current_stream() if stream is None else stream)

    def query(self) -> bool:
        """Whether the last record has been reached; True without a record."""
        return super().query()

    def elapsed_time(self, end_event) -> float:
        """Milliseconds between two recorded and reached events with timing."""
        return _C._npu_elapsedTime(self.event_id, end_event.event_id)

    def __repr__(self) -> str:
        return (
            f"<torch_npu.npu.Event {self.event_id:#x}>"
            if self.event_id
            else "<torch_npu.npu.Event uninitialized>"
        )


def _wrap(index: int, stream_id: int) -> Stream:
    return Stream(stream_id=stream_id, device_index=index)


def current_stream(device: Any = None) -> Stream:
    """The calling thread's stream of a device."""
    index = _device_index(device)
    return _wrap(index, _C._npu_getCurrentStreamId(index))


def default_stream(device: Any = None) -> Stream:
    index = _device_index(device)
    return _wrap(index, _C._npu_getDefaultStreamId(index))


def set_stream(stream: Stream | None) -> None:
    """Makes a stream and its device the thread's current ones; prefer `torch.npu.stream`."""
    if stream is not None:
        _C._npu_setDevice(stream.device_index)
        _C._npu_setStream(stream.device_index, stream.stream_id)


class StreamContext:
    """Context manager: the stream, and its device, are current inside. None changes nothing."""

    def __init__(self, stream: Stream | None):
        self.stream = stream

    def __enter__(self):
        if self.stream is None:
            return
        from . import current_device

        index = self.stream.device_index
        self._device = current_device()
        self._outer = _C._npu_getCurrentStreamId(index)
        _C._npu_setDevice(index)
        _C._npu_setStream(index, self.stream.stream_id)

    def __exit__(self, *exc):
        if self.stream is not None:
            _C._npu_setStream(self.stream.device_index, self._outer)
            _C._npu_setDevice(self._device)
        return False


def stream(stream: Stream | None) -> StreamContext:
    return StreamContext(stream)
