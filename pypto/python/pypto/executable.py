"""Makes callable code of what the compiler gave, and of what the cache holds of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pypto import bridge

# Header of a cache entry: what is needed to call the code again.
#   name, arch, entry, slots, returns, kernels, stage_ms, warnings
# A slot is ["tensor", …], ["scalar", …] as pypto._core.Executable takes them, or ["baked", name].


def header_of(
    unit: dict[str, Any], order: Sequence[str], platform: str, only: dict[str, str]
) -> dict[str, Any]:
    """The header of a compiled unit. `order` names the call's parameters; those that the unit lacks are
    compiled in. `only` names the Python type of scalars that no annotation gives a type."""
    params = {param["name"]: param for param in unit["params"]}
    slots: list[list] = []
    for name in order:
        param = params.get(name)
        if param is None:
            slots.append(["baked", name])
        elif param["tensor"]:
            slots.append(
                [
                    "tensor",
                    name,
                    param["direction"],
                    param["dtype"],
                    param["shape"],
                    param["dynamic"],
                    param["strides"],
                ]
            )
        else:
            slots.append(["scalar", name, param["dtype"], only.get(name, "")])
    position = {name: index for index, name in enumerate(order)}
    return {
        "name": unit["name"],
        "arch": "a5" if platform.startswith("a5") else "a2a3",
        "entry": unit["entry"],
        "slots": slots,
        "returns": [position[unit["params"][index]["name"]] for index in unit["returns"]],
        "kernels": unit["kernels"],
        "stage_ms": unit["stage_ms"],
    }


def load(header: dict[str, Any], code: bytes, baked: Callable[[str], Any] | None = None):
    """The executable of a header and its machine code. `baked` gives the value of a parameter that
    was compiled in."""
    slots = []
    for slot in header["slots"]:
        if slot[0] == "baked":
            slots.append(("baked", slot[1], baked(slot[1]) if baked else None))
        else:
            slots.append(tuple(slot))
    return bridge.core().Executable(
        code,
        name=header["name"],
        arch=header["arch"],
        entry=header["entry"],
        slots=slots,
        returns=header["returns"],
        returns_tuple=len(header["returns"]) > 1,
    )
