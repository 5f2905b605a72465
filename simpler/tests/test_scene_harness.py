"""The scene-test harness itself: cases, goldens, selection, the node level, files."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from simpler.task_interface import ArgDirection as D  # noqa: E402
from simpler.task_interface import TaskArgs, TensorArgType  # noqa: E402
from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, TensorArg, scene_test  # noqa: E402
from simpler_setup.scene_case import SceneOptions  # noqa: E402
from simpler_setup.torch_interop import make_tensor_arg  # noqa: E402

KERNELS = [
    {"func_id": 1, "name": "affine", "source": "scenes/kernels/affine.cpp", "core_type": "aiv"},
    {"func_id": 2, "name": "copy", "source": "scenes/kernels/copy.cpp", "core_type": "aiv"},
]


def callable_of(file: str, entry: str, *signature: D) -> dict:
    return {
        "orchestration": {
            "source": f"scenes/orchestrations/{file}.cpp",
            "function_name": entry,
            "signature": list(signature),
        },
        "incores": KERNELS,
    }


@scene_test(level=2)
class TestScalars(SceneTestCase):
    CALLABLE = callable_of("data", "entry_scalars", D.INOUT)
    CASES = [
        {"name": "small", "platforms": ["a2a3sim", "a5sim"], "params": {"n": 3}},
        {"name": "big", "platforms": ["a5sim"], "params": {"n": 300000}},
        {"name": "slow", "platforms": ["a2a3sim"], "params": {"n": 1}, "manual": True},
    ]

    def generate_args(self, params):
        return TaskArgsBuilder(
            TensorArg("x", torch.zeros(2, dtype=torch.int32)),
            Scalar("n", ctypes.c_int64(params["n"])),
            Scalar("f", 0.5),
        )

    def compute_golden(self, args, params):
        args.x[:] = torch.tensor([params["n"], 2])


class TestWrongGolden(TestScalars):
    """Collected by hand below: a wrong expectation must fail and name the tensor."""

    CASES: list[dict] = []
    test_case = None

    def compute_golden(self, args, params):
        args.x[:] = 1


@scene_test(level=3)
class TestNode(SceneTestCase):
    @staticmethod
    def program(orch, callables, args, config):
        for device in (0, 1):
            task = TaskArgs()
            task.add_tensor(make_tensor_arg(orch._worker, args.x), TensorArgType.INOUT)
            orch.submit_next_level(callables.plus_one, task, config, worker=device)

    CALLABLE = {
        "orchestration": program,
        "callables": [{"name": "plus_one", **callable_of("data", "logging", D.INOUT)}],
    }
    CASES = [{"name": "two", "platforms": ["a2a3sim"], "config": {"device_count": 2}}]

    def generate_args(self, params):
        return TaskArgsBuilder(TensorArg("x", torch.arange(4, dtype=torch.int32)))

    def compute_golden(self, args, params):
        args.x += 2


def test_a_wrong_result_names_the_tensor():
    case = {"name": "small", "platforms": ["a2a3sim"], "params": {"n": 3}}
    with pytest.raises(AssertionError, match="x: "):
        TestWrongGolden().run_case(case, SceneOptions())
    TestWrongGolden().run_case(case, SceneOptions(skip_golden=True, rounds=2))


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({}, {"small", "big"}),
        ({"platform": "a2a3sim"}, {"small"}),
        ({"manual": "only"}, {"slow"}),
        ({"manual": "include", "platform": "a2a3sim"}, {"small", "slow"}),
        ({"case": "slow"}, {"slow"}),
        ({"case": "TestScalars::big"}, {"big"}),
        ({"case": "Other::"}, set()),
        ({"runtime": "host_build_graph"}, set()),
        ({"level": 3}, set()),
        ({"exclude_level": 2}, set()),
    ],
)
def test_selection(options, left):
    chosen = {
        c["name"] for c in TestScalars.CASES if not TestScalars.why_not(c, SceneOptions(**options))
    }
    assert chosen == left


def test_a_file_runs_by_itself(tmp_path):
    text = (
        open(__file__)
        .read()
        .replace("scenes/", os.path.join(os.path.dirname(__file__), "scenes") + "/")
    )
    (tmp_path / "scene_file.py").write_text(
        text + "\nif __name__ == '__main__':\n    sys.exit(SceneTestCase.run_module(__name__))\n"
    )
    done = subprocess.run(
        [sys.executable, "scene_file.py", "--case", "TestScalars::small", "--enable-dep-gen"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["PASS TestScalars::small", "1 passed, 0 failed"]
    assert list(tmp_path.glob("outputs/TestScalars_small_*/deps.json"))
