"""Calls as simpler's TaskArgs: views of memory and typed scalars, resolved and encoded by simpler."""

from __future__ import annotations

import ast
import inspect

import numpy
import pypto.language as pl
import pytest
import torch
from artifact_programs import GAIN, parse
from pypto.enums import BackendType
from pypto.ir.artifact_metadata import (
    ArtifactExecutionMode,
    ArtifactMetadata,
    ExecutionCapabilities,
)
from pypto.ir.param_info import ParamDirection, ParamInfo, lowered_form
from pypto.runtime import RunConfig, task_args
from pypto.runtime.task_args import build_task_args, call_config

from pypto import ir

In, Out, InOut = ParamDirection.In, ParamDirection.Out, ParamDirection.InOut


def signature(*params: ParamInfo) -> ArtifactMetadata:
    return ArtifactMetadata(
        "main",
        params,
        tuple(map(lowered_form, params)),
        0,
        (),
        "a2a3sim",
        BackendType.Ascend910B,
        ExecutionCapabilities([ArtifactExecutionMode.PROGRAM]),
    )


def tensor(name, direction=In, shape=(4, 8), dtype=pl.FP32, **more):
    return ParamInfo(name, direction, shape, dtype, **more)


def test_tensors_then_scalars_in_order():
    params = signature(
        ParamInfo("n", In, None, pl.INT8),
        tensor("x"),
        ParamInfo("k", In, None, pl.FP32),
        tensor("y", Out),
        tensor("z", InOut),
    )
    x, y, z = (torch.zeros(4, 8) for _ in range(3))
    made = build_task_args(params, [-1, x, 1.0, y, z])
    assert (made.tensor_count(), made.scalar_count()) == (3, 2)
    assert [made.tag(i).name for i in range(3)] == ["INPUT", "OUTPUT_EXISTING", "INOUT"]
    assert [made.tensor(i).buffer._owner is t for i, t in enumerate((x, y, z))] == [True] * 3
    # How values lie in a word is simpler's affair.
    assert [made.scalar(i) for i in range(2)] == [0xFF, 0x3F800000]


def test_a_view_keeps_its_offset_in_its_storage():
    base = torch.arange(128, dtype=torch.float32)
    view = base[32:64].view(4, 8)
    made = build_task_args(signature(tensor("x")), [view]).tensor(0)
    assert (made.byte_offset, made.shapes, made.strides) == (128, (4, 8), (8, 1))
    assert made.buffer.nbytes == 512 and made.data == view.data_ptr()


def test_no_address_passes_through_this_package():
    tree = ast.parse(inspect.getsource(task_args))
    names = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    assert not names & {"data_ptr", "ctypes", "__array_interface__", "base", "addr"}


@pytest.mark.parametrize("dtype", [pl.FP16, pl.BF16])
def test_half_precision_scalars_travel_as_floats(dtype):
    made = build_task_args(signature(ParamInfo("k", In, None, dtype)), [1.5])
    assert made.scalar(0) == 0x3FC00000


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (torch.zeros(4, 9), TypeError, r"x: takes \[4, 8\] FP32, got \[4, 9\] float32: axis 1"),
        (torch.zeros(32), TypeError, r"got \[32\] float32"),
        (torch.zeros(4, 8, dtype=torch.float64), TypeError, "float64"),
        (torch.zeros(4, 8, dtype=torch.int32), TypeError, "int32"),
        (torch.zeros(8, 4).t(), ValueError, "its strides"),
        (torch.zeros(4, 8, device="meta"), TypeError, "host memory, got one on meta"),
        (3.0, TypeError, "x: takes a tensor, got float"),
        (numpy.zeros((8, 4), "float32").T, ValueError, "x: "),
    ],
)
def test_a_tensor_that_is_not_the_parameter_s(value, error, text):
    with pytest.raises(error, match=text):
        build_task_args(signature(tensor("x")), [value])


def test_wrong_counts_and_scalars():
    params = signature(tensor("x"), ParamInfo("n", In, None, pl.INT8))
    with pytest.raises(TypeError, match="main expects 2 arguments including all Out/InOut"):
        build_task_args(params, [torch.zeros(4, 8)])
    with pytest.raises(ValueError, match="Parameter 'n': 300 does not fit int8"):
        build_task_args(params, [torch.zeros(4, 8), 300])
    with pytest.raises(TypeError, match="Parameter 'n' takes an int"):
        build_task_args(params, [torch.zeros(4, 8), 1.5])


def test_dimensions_with_one_name_agree():
    params = signature(
        tensor("x", shape=(-1, 8), dim_names=("N", "")),
        tensor("y", Out, shape=(-1, 8), dim_names=("N", "")),
    )
    build_task_args(params, [torch.zeros(3, 8), torch.zeros(3, 8)])
    with pytest.raises(ValueError, match="dimension N is 3 in x and 2 in y"):
        build_task_args(params, [torch.zeros(3, 8), torch.zeros(2, 8)])


def test_empty_tensors_refer_to_nothing():
    params = signature(tensor("x", shape=(-1, 8)))
    made = build_task_args(params, [torch.zeros(0, 8)])
    assert made.tensor(0).shapes == (0, 8) and made.tensor(0).buffer is None


def test_a_blocked_tensor_is_described_as_it_lies():
    params = signature(tensor("w", shape=(-1, 32, 32), dtype=pl.FP16, layout="NZ"))
    weight = torch.zeros(3, 32, 32, dtype=torch.float16)
    made = build_task_args(params, [weight]).tensor(0)
    assert made.shapes == (3, 2, 2, 16, 16) and made.nbytes() == weight.nbytes


def test_a_program_builds_its_arguments():
    compiled = ir.compile(parse(GAIN))
    made = compiled.build_orch_args(torch.zeros(16, 32), 2.0, torch.zeros(16, 32))
    assert (made.tensor_count(), made.scalar_count()) == (2, 1)
    made = compiled.build_orch_args(torch.zeros(16, 32), 2.0)  # the output is allocated
    assert made.tensor_count() == 2
    with pytest.raises(TypeError, match="takes 3 arguments, or 2 without its outputs; got 1"):
        compiled.build_orch_args(torch.zeros(16, 32))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_call_s_configuration(tmp_path):
    config = RunConfig(ring_heap=4096, ring_task_window=[0, 8, 16, 32], enable_dep_gen=True)
    made = call_config(config, aicpu_thread_num=3, dfx_dir=tmp_path / "dfx")
    assert made.aicpu_thread_num == 3
    assert list(made.runtime_env.ring_heap) == [4096] * 4
    assert list(made.runtime_env.ring_task_window) == [0, 8, 16, 32]
    assert made.enable_dep_gen and made.output_prefix == str(tmp_path / "dfx")
    with pytest.raises(ValueError, match="diagnostics need a folder"):
        call_config(config)
    with pytest.raises(TypeError, match="takes a RunConfig"):
        call_config({"platform": "a2a3"})
