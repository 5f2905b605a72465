"""Whether the loaded `simpler` extension was built from the sources of `simpler/` beside this package.

An extension that is older than the sources reads structures with the layout of yesterday, and says nothing. Its only
identity is the digest that the build wrote into it (`_task_interface.__build_commit__`); `check_runtime_pin` compares it
with the digest of the sources. The sources in turn may differ from what the commit of this tree records: that is
allowed while one works on the runtime, and told once as a warning.

Questions that cannot be answered are skipped: an installation without the sources, an extension that was built without
an identity, no git. An extension that has no such attribute at all is older than the attribute, which is an answer.
`PYPTO_SKIP_RUNTIME_PIN_CHECK=1` skips everything.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SKIP_VARIABLE = "PYPTO_SKIP_RUNTIME_PIN_CHECK"
_TREE = Path(__file__).resolve().parents[4]


class RuntimePinMismatch(ImportError):
    """The loaded extension is not built from the sources beside it."""


class RuntimePinWarning(UserWarning):
    """The runtime's sources differ from those that this tree's commit records."""


@dataclass(frozen=True)
class RuntimePin:
    """Both sides of the comparison. Empty text: there is no such thing here; None: the attribute is missing."""

    built: str | None
    extension: str
    source: str
    folder: str
    departed: bool = False

    @property
    def matches(self) -> bool | None:
        """None: cannot be said."""
        if self.built is None and self.source:
            return False
        if not self.built or not self.source:
            return None
        return self.built == self.source


def runtime_source() -> Path | None:
    """The folder `simpler` of this tree; None in an installation without it."""
    folder = _TREE / "simpler"
    return folder if (folder / "lib").is_dir() else None


def _departed(folder: Path) -> bool:
    """True when git knows the folder and its native sources are not those of HEAD."""
    if not (folder.parent / ".git").exists():
        return False
    command = ["git", "-C", str(folder), "status", "--porcelain", "--"]
    try:
        done = subprocess.run(
            [*command, "include", "lib", "python/bindings"],
            capture_output=True,
            text=True,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.strip() != ""


def read_runtime_pin(extension: Any = None, folder: Path | None = None) -> RuntimePin:
    """Reads both sides. `extension`: the module simpler._task_interface, imported when absent (ImportError when that
    fails); `folder`: the runtime's sources, those of this tree when absent."""
    if extension is None:
        from simpler import _task_interface as extension
    folder = folder or runtime_source()
    source = ""
    if folder is not None:
        from simpler.source_digest import source_digest

        source = source_digest(folder)
    return RuntimePin(
        built=getattr(extension, "__build_commit__", None),
        extension=getattr(extension, "__file__", None) or "the loaded simpler",
        source=source,
        folder=str(folder) if source else "",
        departed=bool(source) and _departed(folder),
    )


_checked: set[str] = set()


def check_runtime_pin(extension: Any = None, *, folder: Path | None = None) -> None:
    """Raises RuntimePinMismatch when the loaded extension was built from other sources than those beside it, and warns
    (RuntimePinWarning) when these differ from the commit. Costs some milliseconds the first time, then nothing.

    Importing `simpler` fails as it fails: the ImportError is passed on, unless the check is skipped by
    PYPTO_SKIP_RUNTIME_PIN_CHECK=1."""
    if os.environ.get(SKIP_VARIABLE, "") not in ("", "0"):
        return
    if extension is None:
        from simpler import _task_interface as extension
    key = f"{getattr(extension, '__file__', '')} {folder}"
    if key in _checked:
        return
    pin = read_runtime_pin(extension, folder)
    if pin.matches is False:
        raise RuntimePinMismatch(_mismatch(pin))
    if pin.departed:
        warnings.warn(
            f"the native sources in {pin.folder} differ from the commit of this tree; the extension is built from them",
            RuntimePinWarning,
            stacklevel=2,
        )
    _checked.add(key)


def _mismatch(pin: RuntimePin) -> str:
    built = pin.built if pin.built is not None else "unknown: it is older than this check"
    return (
        "the installed simpler was not built from the sources beside it\n"
        f"  built from: {built}  ({pin.extension})\n"
        f"  sources:    {pin.source}  ({pin.folder})\n"
        "rebuild it with: pypto-runtime-pin --fix   (or: make build)\n"
        f"or set {SKIP_VARIABLE}=1 to run it all the same"
    )


# -- the command ------------------------------------------------------------------------------------------------------
def _show(pin: RuntimePin) -> int:
    built = "no identity" if pin.built == "" else pin.built or "no attribute __build_commit__"
    print(f"extension  {built}  {pin.extension}")
    print(f"sources    {pin.source or 'not here'}  {pin.folder}".rstrip())
    if pin.departed:
        print("note: the sources differ from the commit of this tree")
    if pin.matches is None:
        print("skipped: one side has no identity, nothing can be said")
    else:
        print("match" if pin.matches else "MISMATCH: run pypto-runtime-pin --fix")
    return 1 if pin.matches is False else 0


def _build_folder() -> Path | None:
    """The build folder of this tree that was used last."""
    found = []
    for cache in _TREE.glob("build/*/CMakeCache.txt"):
        ninja = cache.parent / "build.ninja"
        if ninja.exists() and "simpler_python" in ninja.read_text(errors="replace"):
            found.append((ninja.stat().st_mtime, cache.parent))
    return max(found)[1] if found else None


def fix_commands(extension_file: str) -> list[list[str]]:
    """What rebuilds the extension: the tree's build when it lies in the tree, else the wheel."""
    if not Path(extension_file).resolve().is_relative_to(_TREE / "simpler"):
        return [
            [sys.executable, "-m", "pip", "install", "--no-deps", "--force-reinstall", str(_TREE)]
        ]
    folder = _build_folder()
    commands = []
    if folder is None:
        folder = _TREE / "build" / "dev"
        commands.append(["cmake", "--preset", "dev", "-S", str(_TREE)])
    return [*commands, ["cmake", "--build", str(folder), "--target", "simpler_python"]]


def _fix(extension_file: str) -> int:
    for command in fix_commands(extension_file):
        print("$ " + " ".join(command), flush=True)
        try:
            code = subprocess.run(command, cwd=_TREE).returncode
        except OSError as error:
            print(f"{command[0]}: {error.strerror}", file=sys.stderr)
            return 1
        if code != 0:
            print(f"the command failed with status {code}", file=sys.stderr)
            return 1
    # The old extension is loaded in this process: ask a new one.
    return subprocess.run([sys.executable, "-m", "pypto.runtime.runtime_pin"]).returncode


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="pypto-runtime-pin",
        description="Tells whether the loaded simpler was built from the sources beside it; status 1 when not.",
    )
    parser.add_argument("--fix", action="store_true", help="rebuild it, then look again")
    options = parser.parse_args(arguments)
    try:
        pin = read_runtime_pin()
    except ImportError as error:
        print(f"simpler cannot be imported: {error}", file=sys.stderr)
        if not options.fix or runtime_source() is None:
            return 1
        return _fix(str(_TREE / "simpler" / "python"))
    if options.fix and pin.matches is False:
        return _fix(pin.extension)
    return _show(pin)


if __name__ == "__main__":
    sys.exit(main())
