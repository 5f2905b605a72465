"""Compiles the sources of scene tests into the cache, so that tests find them built."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from pathlib import Path
from types import ModuleType

from simpler_setup.kernel_compiler import CompileError
from simpler_setup.tools.run_files import FileError, command


def load(path: Path) -> ModuleType:
    if not path.is_file():
        raise FileError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(f"scene_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # scenes ask where their source is
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise FileError(f"{path}: cannot be imported: {error!r}") from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def compile_scenes(path: Path, platform: str | None = None) -> list[tuple[str, str, float]]:
    """Class, platform and seconds of each scene of a file that was compiled."""
    from simpler_setup.scene_case import SceneTestCase

    done = []
    for scene in vars(load(path)).values():
        if not (isinstance(scene, type) and issubclass(scene, SceneTestCase) and scene.CASES):
            continue
        specs = scene.CALLABLE.get("callables", [scene.CALLABLE])
        for target in sorted({p for case in scene.CASES for p in case["platforms"]}):
            if platform not in (None, target):
                continue
            start = time.perf_counter()
            for spec in specs:
                if isinstance(spec.get("orchestration"), dict):
                    scene()._chip(spec, target)
            done.append((scene.__name__, target, time.perf_counter() - start))
    return done


def run(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="scene_test_compile", description=__doc__)
    parser.add_argument("files", nargs="+", help="files with scene tests")
    parser.add_argument("-p", "--platform", help="only this platform")
    options = parser.parse_args(arguments)
    count = 0
    for name in options.files:
        try:
            for scene, platform, seconds in compile_scenes(Path(name), options.platform):
                print(f"{scene} {platform}: {seconds:.2f} s")
                count += 1
        except (CompileError, FileNotFoundError) as error:
            raise FileError(f"{name}: {error}") from error
    if not count:
        raise FileError(f"no scenes{f' for {options.platform}' if options.platform else ''} found")


def main(arguments: list[str] | None = None) -> int:
    return command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
