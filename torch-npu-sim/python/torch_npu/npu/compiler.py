"""The device as Dynamo and Inductor see it."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from typing import Any

import torch

from .. import _C


def _device_interface():
    from torch._dynamo.device_interface import DeviceInterface

    npu = torch.npu

    class NpuInterface(DeviceInterface):
        device = npu.device
        Event = npu.Event
        Stream = npu.Stream

        class Worker:
            """Inductor's compile workers must not touch the device: they see what the parent recorded."""

            _current: int | None = None
            _properties: list[Any] | None = None

            @classmethod
            def set_device(cls, device: int) -> None:
                cls._current = device

            @classmethod
            def current_device(cls) -> int:
                return npu.current_device() if cls._current is None else cls._current

            @classmethod
            def get_device_properties(cls, device=None):
                if cls._properties is None:
                    cls._properties = [
                        npu.get_device_properties(i) for i in range(npu.device_count())
                    ]
                index = (
                    npu._get_device_index(device, optional=True)
                    if device is not None
                    else cls.current_device()
                )
                return cls._properties[index]

        current_device = staticmethod(npu.current_device)
        set_device = staticmethod(npu.set_device)
        exchange_device = staticmethod(npu._exchange_device)
        maybe_exchange_device = staticmethod(npu._maybe_exchange_device)
        device_count = staticmethod(npu.device_count)
        is_available = staticmethod(npu.is_available)
        stream = staticmethod(npu.stream)
        current_stream = staticmethod(npu.current_stream)
        set_stream = staticmethod(npu.set_stream)
        synchronize = staticmethod(npu.synchronize)
        memory_allocated = staticmethod(npu.memory_allocated)
        get_raw_stream = staticmethod(_C._npu_getCurrentRawStream)

        @staticmethod
        def _set_stream_by_id(stream_id: int, device_index: int, device_type: int) -> None:
            _C._npu_setStream(device_index, stream_id)

        @staticmethod
        def get_compute_capability(device=None) -> int:
            return npu.get_device_properties(device).major

        @staticmethod
        def is_bf16_supported(including_emulation: bool = False) -> bool:
            return True

        @staticmethod
        def is_triton_capable(device=None) -> bool:
            return False

    return NpuInterface


def _holds_npu_tensor(graph, inputs) -> bool:
    tensors = list(inputs) + [node.meta.get("example_value") for node in graph.graph.nodes]
    return any(isinstance(t, torch.Tensor) and t.device.type == "npu" for t in tensors)


def _route_inductor() -> None:
    """`torch.compile` without a backend means Inductor, which has no code generator for this device.

    Graphs with NPU tensors go to aot_eager instead, after one line of notice; all others to Inductor as ever.
    """
    wrapper = torch._TorchCompileInductorWrapper
    compile_by_inductor = wrapper.__call__

    def call(self, model, inputs):
        if not _holds_npu_tensor(model, inputs):
            return compile_by_inductor(self, model, inputs)
        warnings.warn(
            "torch.compile: Inductor has no code generator for the simulated NPU; "
            "the graph is captured and run with backend='aot_eager'",
            stacklevel=2,
        )
        from torch._dynamo.backends.registry import lookup_backend

        return lookup_backend("aot_eager")(model, inputs)

    wrapper.__call__ = call


def _register(device_interface_module) -> None:
    interface = _device_interface()
    device_interface_module.register_interface_for_device("npu", interface)
    for index in range(torch.npu.device_count()):
        device_interface_module.register_interface_for_device(f"npu:{index}", interface)


class _WhenDynamoLoads:
    """Import hook: registers the device right after Dynamo's table of devices has been imported."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch._dynamo.device_interface":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            _register(module)

        spec.loader.exec_module = exec_module
        return spec


def install() -> None:
    """Makes the device known to torch.compile, without importing Dynamo."""
    _route_inductor()
    known = sys.modules.get("torch._dynamo.device_interface")
    if known is not None:
        _register(known)
    else:
        sys.meta_path.insert(0, _WhenDynamoLoads())
