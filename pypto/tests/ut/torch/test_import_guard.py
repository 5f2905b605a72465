"""The fixture run_without_optional_runtime can fail: negative controls at every optimisation level."""

from __future__ import annotations

import pytest

LEVELS = pytest.mark.parametrize("optimize", [0, 1, 2])
ATTEMPTS = {
    "import statement": "import torch_npu",
    "from-import": "from simpler import Worker",
    "import_module": "import importlib\nimportlib.import_module('simpler_setup')",
    "top-level extension": "import _task_interface",
    "own extension": "import pypto._torch_npu",
    "submodule": "import importlib\nimportlib.import_module('simpler.worker')",
}


@LEVELS
@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS.keys())
def test_an_attempt_fails_even_when_its_error_is_swallowed(
    run_without_optional_runtime, attempt, optimize
):
    indented = attempt.replace("\n", "\n    ")
    body = f"try:\n    {indented}\nexcept ImportError:\n    pass\n"
    with pytest.raises(
        run_without_optional_runtime.Failed, match="Optional runtime imports attempted"
    ):
        run_without_optional_runtime(body, optimize=optimize)


@LEVELS
def test_explicit_checks_are_not_optimised_away(run_without_optional_runtime, optimize):
    with pytest.raises(run_without_optional_runtime.Failed, match="check failed: two is three"):
        run_without_optional_runtime("check(2 == 3, 'two is three')", optimize=optimize)
    body = "import sys\nprint(sys.flags.optimize)\nassert sys.flags.optimize == 0"
    assert run_without_optional_runtime(body, optimize=optimize) == str(optimize)


@pytest.mark.parametrize("ending", ["import sys; sys.exit(0)", "import os; os._exit(0)"])
def test_a_body_that_ends_early_is_no_pass(run_without_optional_runtime, ending):
    with pytest.raises(run_without_optional_runtime.Failed):
        run_without_optional_runtime(ending)


@LEVELS
def test_attempts_count_where_the_modules_are_not_installed(run_without_optional_runtime, optimize):
    body = """
import sys
sys.path[:] = [p for p in sys.path if "simpler" not in p and "torch-npu-sim" not in p]
try:
    import simpler
except ImportError:
    print("swallowed")
"""
    with pytest.raises(
        run_without_optional_runtime.Failed, match="Optional runtime imports attempted: simpler"
    ):
        run_without_optional_runtime(body, optimize=optimize)


def test_backend_autoload_is_off_in_the_child(run_without_optional_runtime):
    body = "import os\nprint(os.environ['TORCH_DEVICE_BACKEND_AUTOLOAD'])"
    assert run_without_optional_runtime(body) == "0"


@LEVELS
def test_a_plain_program_passes(run_without_optional_runtime, optimize):
    assert run_without_optional_runtime("print('hello')", optimize=optimize) == "hello"
