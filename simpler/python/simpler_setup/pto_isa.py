"""Where the tile instruction library is."""

from __future__ import annotations

from pathlib import Path


def runtime_sources() -> Path:
    """The folder with the runtime's `kit` and `include`: that of the source tree, or the copy in an installation."""
    here = Path(__file__).resolve()
    tree = here.parents[2]
    return tree if (tree / "kit" / "include").is_dir() else here.parent / "_assets"


def ensure_pto_isa_root() -> str:
    """The folder whose `include` has `pto/pto-inst.hpp`: the library of this tree, or the qualifiers alone when the tree
    has none yet. Nothing is fetched and nothing is deleted."""
    simpler = runtime_sources()
    for root in (simpler.parent / "pto-isa", simpler / "kit" / "qualifiers"):
        if (root / "include" / "pto" / "pto-inst.hpp").exists():
            return str(root)
    raise RuntimeError("pto-isa is not installed: no include/pto/pto-inst.hpp beside the runtime")
