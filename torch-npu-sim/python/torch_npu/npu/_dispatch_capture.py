"""Operators of a captured graph whose host arguments can be changed: `graph(..., auto_dispatch_capture=True)`."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from .. import _C

# PyTorch's own operators are no part of this: their arguments are fixed by the capture.
_OWN_NAMESPACES = frozenset({"aten", "prim", "prims", "inductor", "profiler", "c10d"})


def _is_host_value(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return value.device.type == "cpu"
    if isinstance(value, (list, tuple)):
        return all(_is_host_value(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, str))


@dataclass
class Record:
    """One call: its arguments and results, which stay alive, and its nodes in the graph."""

    operator: Any
    arguments: dict[str, Any]
    results: list[Any]
    first: int
    count: int
    part: Any = None  # owner of the memory of the nodes, once they have been replaced

    def changed(self, index: int, update: Any) -> dict[str, Any]:
        """The arguments with those of `update`, number `index` of the list, in their place."""
        where = f"NPUGraph.update: cpu_update_input[{index}] ({self.operator})"
        if not isinstance(update, dict):
            raise TypeError(f"{where} must be a dict of arguments, got {type(update).__name__}")
        for name, value in update.items():
            if name not in self.arguments:
                raise ValueError(
                    f"{where} names {name!r}; the operator has {', '.join(self.arguments)}"
                )
            if not _is_host_value(self.arguments[name]):
                raise ValueError(
                    f"{where}: {name!r} is on the device; copy into the tensor that was captured"
                )
            if not _is_host_value(value):
                raise ValueError(f"{where}: {name!r} must be a number, a list or a tensor on 'cpu'")
        return self.arguments | update

    def call(self, arguments: dict[str, Any]) -> None:
        """Captures the call again, with its results where they were."""
        keywords = {a.name for a in self.operator._schema.arguments if a.kwarg_only}
        values = [value for name, value in arguments.items() if name not in keywords]
        named = {name: value for name, value in arguments.items() if name in keywords}
        with torch.no_grad():
            for old, new in zip(
                self.results, tree_leaves(self.operator(*values, **named)), strict=True
            ):
                if not isinstance(old, torch.Tensor) or old is new:
                    continue
                if (old.shape, old.dtype) != (new.shape, new.dtype):
                    raise ValueError(
                        f"NPUGraph.update: {self.operator} now gives {new.dtype} {tuple(new.shape)}, it was "
                        f"captured with {old.dtype} {tuple(old.shape)}"
                    )
                if old.data_ptr() != new.data_ptr():
                    old.copy_(new)


class RecordingMode(TorchDispatchMode):
    """Notes the nodes of each operator that takes host values and is not PyTorch's own."""

    def __init__(self, graph):
        super().__init__()
        self._graph = graph
        self.records: list[Record] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func.namespace in _OWN_NAMESPACES:
            return func(*args, **kwargs)
        arguments = {}
        for position, argument in enumerate(func._schema.arguments):
            if position < len(args):
                arguments[argument.name] = args[position]
            elif argument.name in kwargs:
                arguments[argument.name] = kwargs[argument.name]
            else:
                arguments[argument.name] = argument.default_value
        if not any(_is_host_value(value) for value in arguments.values()):
            return func(*args, **kwargs)
        first = self._graph.captured_size()
        result = func(*args, **kwargs)
        count = self._graph.captured_size() - first
        self.records.append(Record(func, arguments, tree_leaves(result), first, count))
        return result


def update(graph, records: list[Record], updates: Any, device: int) -> None:
    """Captures the calls that get new values and puts them into the graph: all of them, or none."""
    from .streams import Stream, StreamContext

    if not isinstance(updates, (list, tuple)):
        raise TypeError(
            f"NPUGraph.update: cpu_update_input must be a list of dicts, got {type(updates).__name__}"
        )
    if len(updates) != len(records):
        raise RuntimeError(
            f"NPUGraph.update: {len(records)} operators were recorded "
            f"({', '.join(str(record.operator) for record in records)}), cpu_update_input has {len(updates)}"
        )
    wanted = [record.changed(i, given) for i, (record, given) in enumerate(zip(records, updates))]
    parts: list[Any] = []
    with torch.npu.device(device), StreamContext(Stream(device=device)):
        for record, arguments, given in zip(records, wanted, updates):
            parts.append(None)
            if not given:
                continue
            part = _C._NPUGraph()
            # A pool of its own: what is free in the graph's may hold values of other nodes.
            part.capture_begin(None, "thread_local")
            try:
                record.call(arguments)
            except BaseException:
                with contextlib.suppress(RuntimeError):
                    part.capture_end()
                raise
            size = part.captured_size()
            part.capture_end()
            parts[-1] = (part, size)
    moved = 0
    for record, arguments, new in zip(records, wanted, parts):
        record.first += moved
        if new is None:
            continue
        part, size = new
        graph.replace_nodes(record.first, record.count, part)
        moved += size - record.count
        record.count, record.part, record.arguments = size, part, arguments
