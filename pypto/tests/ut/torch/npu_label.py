"""Tensors with real CPU memory that say they are on an NPU, and a torch_npu that answers for them."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Label:
    """What `tensor.device` is: torch makes no "npu" device where no such backend is registered."""

    type: str = "npu"
    index: int = 0

    def __str__(self) -> str:
        return f"{self.type}:{self.index}"


class NpuTensor(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl
    label = Label()
    format = 2

    @property
    def device(self):
        return self.label


def npu(tensor: torch.Tensor, *, index: int = 0, format: int = 2) -> NpuTensor:
    """The same memory and view under the label npu:`index`."""
    labelled = tensor.as_subclass(NpuTensor)
    labelled.label = Label(index=index)
    labelled.format = format
    return labelled


class Framework(types.ModuleType):
    """torch_npu as far as a call asks it. Counts the questions; answers nothing else."""

    def __init__(self) -> None:
        super().__init__("torch_npu")
        self.asked: list[str] = []
        self.device = 0
        self.stream_device = 0
        self.streams = 0
        self.npu = types.SimpleNamespace(
            current_device=self._current_device, current_stream=self._current_stream
        )

    def get_npu_format(self, tensor):
        self.asked.append("format")
        return tensor.format

    def _current_device(self):
        self.asked.append("device")
        return self.device

    def _current_stream(self, device):
        self.asked.append("stream")
        self.streams += 1
        return types.SimpleNamespace(device=Label(index=self.stream_device), stream_id=self.streams)


def install(monkeypatch) -> Framework:
    framework = Framework()
    monkeypatch.setitem(sys.modules, "torch_npu", framework)
    return framework
