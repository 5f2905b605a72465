"""Graphs: device work that is captured once and replayed."""

from __future__ import annotations

import gc

import torch

from .. import _C
from . import _dispatch_capture


def is_current_stream_capturing() -> bool:
    return _C._npu_isCapturing()


def graph_pool_handle() -> tuple[int, int]:
    """A token for `pool=`: captures that get the same one share memory."""
    return _C._graph_pool_handle()


class NPUGraph:
    """Captured work of one device. Addresses of tensors are those of the capture."""

    def __init__(self):
        from . import _lazy_init

        _lazy_init()
        self._graph = _C._NPUGraph()
        self._records = None  # calls that update() can change, with auto_dispatch_capture
        self._device = None

    def capture_begin(
        self, pool: tuple[int, int] | None = None, capture_error_mode: str = "global"
    ) -> None:
        """Starts capturing the current stream, which must not be the default one."""
        from . import current_device

        self._graph.capture_begin(pool, capture_error_mode)
        self._device = current_device()

    def capture_end(self) -> None:
        self._graph.capture_end()

    def replay(self) -> None:
        """Queues the captured work on the current stream of the captured device."""
        self._graph.replay()

    def update(self, cpu_update_input: list[dict]) -> None:
        """Gives recorded operators new host arguments, for later replays; waits for running ones.

        Only for graphs captured with `auto_dispatch_capture=True`, which records, in order, each call of an
        operator that is not PyTorch's own and takes host values (numbers, lists, strings, CPU tensors).
        `cpu_update_input` has a dict for each of them, from argument names to values; an empty one changes
        nothing. If one is refused, none takes effect. Shapes of results cannot change.
        """
        if self._records is None:
            raise RuntimeError(
                "NPUGraph.update: the graph cannot be updated; capture it with "
                "torch.npu.graph(g, auto_dispatch_capture=True)"
            )
        if is_current_stream_capturing():
            raise RuntimeError("NPUGraph.update: not while the current stream is captured")
        _dispatch_capture.update(self._graph, self._records, cpu_update_input, self._device)

    def reset(self) -> None:
        """Frees the work and its memory pool; the object can capture again."""
        self._graph.reset()
        self._records = None

    def pool(self) -> tuple[int, int]:
        return self._graph.pool()

    def debug_dump(self, debug_path: str) -> None:
        """Writes the captured operators, one a line."""
        with open(debug_path, "w", encoding="utf-8") as file:
            file.writelines(name + "\n" for name in self._graph.node_names())


class graph:
    """Context manager that captures the work inside into a graph, on a side stream.

    With `auto_dispatch_capture`, host arguments of operators can be changed later: see NPUGraph.update().
    """

    _side_stream = None

    def __init__(
        self,
        npu_graph: NPUGraph,
        pool: tuple[int, int] | None = None,
        stream=None,
        auto_dispatch_capture: bool = False,
        capture_error_mode: str = "global",
    ):
        from .streams import Stream, StreamContext

        if stream is None:
            if graph._side_stream is None:
                graph._side_stream = Stream()
            stream = graph._side_stream
        self._graph, self._pool, self._mode = npu_graph, pool, capture_error_mode
        self._context = StreamContext(stream)
        self._recording = None
        if auto_dispatch_capture:
            self._recording = _dispatch_capture.RecordingMode(npu_graph._graph)

    def __enter__(self):
        from . import empty_cache, synchronize

        synchronize()
        gc.collect()
        empty_cache()
        self._context.__enter__()
        try:
            self._graph.capture_begin(self._pool, self._mode)
        except BaseException:
            self._context.__exit__(None, None, None)
            raise
        if self._recording:
            self._recording.__enter__()
        return self._graph

    def __exit__(self, kind, error, traceback):
        if self._recording:
            self._recording.__exit__(kind, error, traceback)
        try:
            self._graph.capture_end()
            if self._recording and error is None:
                self._graph._records = self._recording.records
        except RuntimeError:
            if error is None:
                raise
        finally:
            self._context.__exit__(kind, error, traceback)
        return False


def make_graphed_callables(
    callables, sample_args, num_warmup_iters: int = 3, allow_unused_input: bool = False, pool=None
):
    """A function (or a tuple of them) whose forward replays a graph captured with `sample_args`.

    Inference only: modules and arguments that need gradients are refused. Later arguments must have the
    sample's shapes; results live in the graph's memory and are overwritten by the next call.
    """
    from . import current_stream
    from .streams import Stream, StreamContext

    if not isinstance(callables, tuple):
        return make_graphed_callables(
            (callables,), (sample_args,), num_warmup_iters, allow_unused_input, pool
        )[0]
    pool = pool or graph_pool_handle()

    def refuse_gradients(what, values):
        if torch.is_grad_enabled() and any(
            isinstance(value, torch.Tensor) and value.requires_grad for value in values
        ):
            raise RuntimeError(
                f"make_graphed_callables: {what} that need gradients are not supported; "
                "use requires_grad_(False), or torch.no_grad() around the calls"
            )

    def make(function, sample):
        parameters = function.parameters() if isinstance(function, torch.nn.Module) else ()
        refuse_gradients("sample arguments", sample)
        refuse_gradients("modules", parameters)
        side = Stream()
        side.wait_stream(current_stream())
        with StreamContext(side), torch.no_grad():
            for _ in range(num_warmup_iters):
                function(*sample)
        current_stream().wait_stream(side)
        captured = NPUGraph()
        with graph(captured, pool=pool), torch.no_grad():
            result = function(*sample)

        def replay(*args):
            refuse_gradients("arguments", args)
            for static, new in zip(sample, args, strict=True):
                if isinstance(static, torch.Tensor) and static is not new:
                    static.copy_(new)
            captured.replay()
            return result

        return replay

    return tuple(
        make(function, sample) for function, sample in zip(callables, sample_args, strict=True)
    )
