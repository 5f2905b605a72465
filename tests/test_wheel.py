"""What a wheel holds, without building one: the Python packages and the install component `wheel` of the build, laid out
as an environment has them, used from another folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LIBRARY = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


def build_folder() -> Path:
    """The build that is tested (tools/run_tests.py says which), else the one that was used last."""
    if "PTO_BUILD" in os.environ:
        return Path(os.environ["PTO_BUILD"])
    found = [p.parent.parent for p in ROOT.glob("build/*/bin/ptoas")]
    assert found, "make build"
    return max(found, key=lambda p: (p / "build.ninja").stat().st_mtime)


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("environment")
    site = folder / LIBRARY
    for package in PROJECT["tool"]["scikit-build"]["wheel"]["packages"]:
        shutil.copytree(
            ROOT / package,
            site / Path(package).name,
            ignore=shutil.ignore_patterns("*.so", "__pycache__"),
        )
    command = ["cmake", "--install", build_folder(), "--component", "wheel", "--prefix", site]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (site / "bin").rename(folder / "bin")  # where a wheel's scripts go
    return folder


def run(environment: Path, *command: str) -> subprocess.CompletedProcess:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(environment),
        "PTO_CACHE_DIR": str(environment / "cache"),
        "PYTHONPATH": str(environment / LIBRARY),  # before the path file of the tree
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    }
    return subprocess.run(
        command, cwd=environment, env=env, capture_output=True, text=True, timeout=300
    )


def test_every_part_is_there(environment):
    site = environment / LIBRARY
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    for file in (
        "pypto/_core.so",
        "pypto/_compiler.so",
        "pypto/language/__init__.py",
        "ptoas/_ptoas.so",
        "ptoas/ops.py",
        "pypto/lib/libsimpler.so",
        "pypto/lib/libpto_support.so",
        "pypto/lib/libpto_kernels.so",
        f"simpler/_task_interface{suffix}",
        "simpler/worker.py",
        "simpler_setup/tools/swimlane_converter.py",
        "simpler_setup/_assets/kit/include/pto_orchestration_api.h",
        "simpler_setup/_assets/kit/src/bind_runtime.cpp",
        "simpler_setup/_assets/include/simpler/c_api.h",
    ):
        assert (site / file).is_file(), file
    programs = {p.name for p in (environment / "bin").iterdir()}
    assert {"ptoas", "pto-run", "pto-opt"} <= programs


def test_no_file_leads_back_to_the_tree(environment):
    binaries = [*environment.rglob("*.so"), *(environment / "bin").iterdir()]
    assert len(binaries) >= 9
    for file in binaries:
        text = subprocess.run(["readelf", "-d", file], capture_output=True, text=True).stdout
        paths = [line for line in text.splitlines() if "RUNPATH" in line or "RPATH" in line]
        assert not any(str(ROOT) in line for line in paths), (file, paths)


def test_a_program_runs_from_there(environment):
    example = ROOT / "examples/01_hello_world.py"
    script = (
        "import runpy, sys, pypto, simpler\n"
        f"sys.path.append({str(example.parent)!r})\n"
        f"runpy.run_path({str(example)!r}, run_name='__main__')\n"
        "print(pypto.__file__); print(simpler.__file__); import pypto._core as c; print(c.__file__)\n"
    )
    done = run(environment, sys.executable, "-c", script)
    assert done.returncode == 0, done.stdout + done.stderr
    files = done.stdout.splitlines()[-3:]
    assert all(f.startswith(str(environment)) for f in files), files


def test_a_module_is_built_from_there(environment):
    script = (
        "import ptoas; from ptoas import ops, types\n"
        "module = ptoas.Builder()\n"
        "with module.function('f', []): ops.alloc_tile(types.tile_buf('vec', 16, 64, 'f32'))\n"
        "print(ptoas.__file__); print(module.finish().text())\n"
    )
    done = run(environment, sys.executable, "-c", script)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(str(environment)) and "pto.alloc_tile" in done.stdout


SCENE = """
import sys
sys.path.append({tests!r})
import numpy as np
import simpler_setup
from scenes import build
from simpler import Worker
from simpler.buffer import Buffer
from simpler.task_interface import DataType, TaskArgs, TensorArgType

w = Worker(level=2, platform="a2a3sim", runtime="tensormap_and_ringbuffer")
w.init()
h = w.register(build.chip("a2a3sim", "hazards", "diamond", ["IN", "OUT"]))
args = TaskArgs()
x, y = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
for array in (x, y):
    args.add_tensor(Buffer.wrap(array).tensor((8,), DataType.INT32), TensorArgType.INOUT)
w.run(h, args)
w.close()
print(simpler_setup.KernelCompiler("a2a3sim").project_root)
print(y.tolist())
"""


def test_a_scene_is_compiled_with_the_installed_headers(environment):
    done = run(environment, sys.executable, "-c", SCENE.format(tests=str(ROOT / "simpler/tests")))
    assert done.returncode == 0, done.stdout + done.stderr
    root, values = done.stdout.splitlines()[-2:]
    assert root == str(environment / LIBRARY / "simpler_setup/_assets")
    assert values == str([3 * i + 7 for i in range(8)])


@pytest.mark.parametrize(("program", "says"), [("ptoas", "OVERVIEW"), ("pto-run", "OVERVIEW")])
def test_commands_run_from_there(environment, program, says):
    done = run(environment, str(environment / "bin" / program), "--help")
    assert done.returncode == 0 and says in done.stdout, done.stderr


def test_an_installation_has_no_sources_to_compare_with(environment):
    done = run(environment, sys.executable, "-m", "pypto.runtime.runtime_pin")
    assert done.returncode == 0 and "sources    not here" in done.stdout, done.stdout + done.stderr


def test_console_commands_name_functions():
    import importlib

    for name, target in PROJECT["project"]["scripts"].items():
        module, function = target.split(":")
        assert callable(getattr(importlib.import_module(module), function)), name
