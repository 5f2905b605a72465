"""Loops, scopes, tasks and other forms that kernels are written with.

These names are compiled, not called: the compiler reads them in the text of a decorated function. They
are functions here so that editors and `help()` know their parameters; called from Python, each says so.
"""

from __future__ import annotations

from typing import Any, NoReturn

from pypto.enums import ScopeMode
from pypto.errors import Error

# fmt: off
__all__ = [
    "at", "cluster", "cond", "const", "cross_core_slot", "dump_tag", "func_attr", "manual_scope",
    "max", "min", "no_dep", "parallel", "pipeline", "range", "scope", "split", "split_aiv", "spmd",
    "spmd_submit", "static_assert", "static_print", "submit", "unroll", "while_", "yield_",
]
# fmt: on


def outside(name: str) -> NoReturn:
    """What calling a name of the language from Python gives."""
    raise Error(
        f"{name} belongs to kernels: it is compiled, not called from Python",
        hint=f"use {name} inside a function decorated with @pl.jit or @pl.function",
    )


def range(*bounds: Any, init_values: Any = None, attrs: Any = None) -> Any:
    """`for i in pl.range([start,] stop[, step])`: one iteration after the other.

    With `init_values=(x, …)` the loop is `for i, (a, …) in …` and `a2, … = pl.yield_(…)` carries.
    """
    outside("pl.range")


def parallel(*bounds: Any, init_values: Any = None, attrs: Any = None) -> Any:
    """As pl.range; the author asserts that iterations are independent."""
    outside("pl.parallel")


def pipeline(*bounds: Any, stage: int, init_values: Any = None, attrs: Any = None) -> Any:
    """As pl.range, in a kernel, with `stage` (a constant >= 1) iterations in flight."""
    outside("pl.pipeline")


def unroll(*bounds: int) -> Any:
    """As pl.range with constant bounds; the body is repeated in place."""
    outside("pl.unroll")


def while_(*, init_values: Any) -> Any:
    """`for (a, …) in pl.while_(init_values=(…))`; the first statement is pl.cond(…)."""
    outside("pl.while_")


def cond(condition: Any) -> None:
    """First statement of a pl.while_ loop: goes on while it holds."""
    outside("pl.cond")


def yield_(*values: Any) -> Any:
    """Values that the next iteration, or the code after an `if`, sees."""
    outside("pl.yield_")


def spmd(
    core_num: Any,
    *,
    sync_start: bool = False,
    name_hint: str = "",
    optimizations: Any = None,
    deps: Any = None,
    allow_early_resolve: bool = False,
    predicate: Any = None,
) -> Any:
    """`for b in pl.spmd(n)` or `with pl.spmd(n) [as tid]`: one kernel, n blocks."""
    outside("pl.spmd")


def split_aiv(count: int, *, mode: Any) -> Any:
    """`for lane in pl.split_aiv(2, mode=…)`: the vector part, run by both vector cores."""
    outside("pl.split_aiv")


def at(
    level: Any,
    role: Any = None,
    *,
    optimizations: Any = None,
    deps: Any = None,
    no_dep_args: Any = None,
    dumps: Any = None,
    allow_early_resolve: bool = False,
    name_hint: str = "",
    windowize: bool = False,
) -> Any:
    """`with pl.at(level=pl.Level.CORE_GROUP) [as tid]`: the body becomes one kernel."""
    outside("pl.at")


def cluster(*, name_hint: str = "") -> Any:
    """`with pl.cluster()`: the scopes inside form one task."""
    outside("pl.cluster")


def scope(*, mode: ScopeMode = ScopeMode.AUTO) -> Any:
    """`with pl.scope(mode=…)`: a scope of the runtime; intermediates live until it ends."""
    outside("pl.scope")


def manual_scope() -> Any:
    """`with pl.manual_scope()`: tasks wait for what `deps` names and for nothing else."""
    outside("pl.manual_scope")


def submit(
    kernel: Any,
    *args: Any,
    deps: Any = None,
    dumps: Any = None,
    allow_early_resolve: bool = False,
    predicate: Any = None,
) -> Any:
    """`out, tid = pl.submit(self.kernel, …)`: launches a kernel and names its task."""
    outside("pl.submit")


def spmd_submit(
    kernel: Any,
    *args: Any,
    core_num: Any,
    sync_start: bool = False,
    deps: Any = None,
    dumps: Any = None,
    allow_early_resolve: bool = False,
    predicate: Any = None,
) -> Any:
    """As pl.submit with `core_num` blocks."""
    outside("pl.spmd_submit")


def no_dep(tensor: Any) -> Any:
    """An argument of a kernel call that makes no dependency."""
    outside("pl.no_dep")


def split(mode: Any, slot_num: int | None = None) -> Any:
    """Entry of `optimizations`: each vector core takes half of every tile."""
    outside("pl.split")


def cross_core_slot(*, slot_num: int) -> Any:
    """Entry of `optimizations`: depth of the channel between matrix and vector part."""
    outside("pl.cross_core_slot")


def func_attr(attributes: dict[str, Any]) -> None:
    """Attributes of the function; first statement of its body."""
    outside("pl.func_attr")


def static_print(*values: Any) -> None:
    """Prints while the program is compiled."""
    outside("pl.static_print")


def static_assert(condition: bool, message: str = "") -> None:
    """Refuses the program when a compile-time condition does not hold."""
    outside("pl.static_assert")


def dump_tag(tensor: Any) -> None:
    """Marks a tensor for the selective dump of arguments."""
    outside("pl.dump_tag")


def const(value: Any, dtype: Any) -> Any:
    """A number of the given type."""
    outside("pl.const")


def max(a: Any, b: Any) -> Any:
    """The larger of two scalars."""
    outside("pl.max")


def min(a: Any, b: Any) -> Any:
    """The smaller of two scalars."""
    outside("pl.min")
