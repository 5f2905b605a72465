"""Where the tile instruction library is."""

from __future__ import annotations

from pathlib import Path


def ensure_pto_isa_root() -> str:
    """The folder whose `include` has `pto/pto-inst.hpp`: the library of this tree, or the qualifiers alone when the tree
    has none yet. Nothing is fetched and nothing is deleted."""
    simpler = Path(__file__).resolve().parents[2]
    for root in (simpler.parent / "pto-isa", simpler / "kit" / "qualifiers"):
        if (root / "include" / "pto" / "pto-inst.hpp").exists():
            return str(root)
    raise RuntimeError("pto-isa is not installed: no include/pto/pto-inst.hpp beside the runtime")
