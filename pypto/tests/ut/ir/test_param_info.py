"""ParamInfo and the rules of signatures."""

from __future__ import annotations

import dataclasses
import json

import pypto.language as pl
import pytest
from pypto.ir import param_info
from pypto.ir.param_info import ParamDirection, ParamInfo

from pypto import dtypes

In, Out, InOut = ParamDirection.In, ParamDirection.Out, ParamDirection.InOut


def tensor(name="x", direction=In, shape=(16, 32), dtype=pl.FP32, **more) -> ParamInfo:
    return ParamInfo(name, direction, shape, dtype, **more)


def scalar(name="n", dtype=pl.INT32) -> ParamInfo:
    return ParamInfo(name, In, None, dtype)


def test_a_parameter_cannot_be_changed():
    param = tensor(shape=[16, 32])
    for field in ("name", "shape", "direction", "dtype", "layout"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(param, field, None)
    assert hash(param) == hash(tensor()) and param == tensor()


def test_the_shape_is_a_tuple_and_a_list_in_json():
    given = [16, -1]
    param = tensor(shape=given)
    given[0] = 99
    assert param.shape == (16, -1)
    record = json.loads(json.dumps(param.record()))
    assert record["shape"] == [16, -1]
    assert ParamInfo.from_record(record) == param
    assert isinstance(ParamInfo.from_record(record).shape, tuple)


@pytest.mark.parametrize(
    "param",
    [
        tensor(),
        scalar(dtype=pl.BF16),
        tensor(direction=InOut, shape=(-1, 64), dim_names=("N", ""), layout="ND"),
        tensor(strides=(64, 1)),
        tensor(shape=(2, 64, 32), dtype=pl.FP16, layout="NZ"),
    ],
)
def test_json_keeps_everything(param):
    assert ParamInfo.from_record(json.loads(json.dumps(param.record()))) == param


@pytest.mark.parametrize("dtype", dtypes.ALL.values(), ids=str)
def test_element_types_have_one_name_in_json(dtype):
    record = tensor(dtype=dtype).record()
    assert record["dtype"] == str(dtype)
    assert ParamInfo.from_record(record).dtype is dtype


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"name": ""}, "has the name ''"),
        ({"name": 3}, "has the name 3"),
        ({"direction": "in"}, "direction is 'in'"),
        ({"direction": None}, "direction is None"),
        ({"dtype": "float"}, "dtype is 'float'"),
        ({"dtype": []}, r"dtype is \[\]"),
        ({"shape": [16, True]}, "shape is"),
        ({"shape": [16, -2]}, "shape is"),
        ({"shape": [1.5]}, "shape is"),
        ({"shape": "16"}, "shape is"),
        ({"shape": [1] * 6}, "rank 6"),
        ({"layout": "CHW"}, "layout is 'CHW'"),
        ({"strides": [1]}, "strides has another length"),
        ({"dim_names": ["N"]}, "dim_names has another length"),
        ({"dim_names": "N"}, "dim_names is 'N'"),
    ],
)
def test_json_that_is_wrong_says_where(change, text):
    with pytest.raises(ValueError, match=text):
        ParamInfo.from_record({**tensor().record(), **change})


def test_json_without_a_shape_is_no_scalar():
    record = tensor().record()
    del record["shape"]
    with pytest.raises(ValueError, match="shape is missing"):
        ParamInfo.from_record(record)


def test_names_are_unique():
    param_info.check_unique_names([tensor("x"), scalar("n"), tensor("y", Out)])
    with pytest.raises(ValueError, match="parameters 0 and 2 are both named 'x'"):
        param_info.check_unique_names([tensor("x"), scalar("n"), tensor("x", Out)])


def test_return_aliases_count_scalars_and_may_repeat():
    params = [scalar("n"), tensor("x"), scalar("k"), tensor("y", Out)]
    assert param_info.check_return_aliases(params, [3, 1, 3]) == (3, 1, 3)


@pytest.mark.parametrize(
    ("aliases", "text"),
    [
        ([0], "result 0 is the scalar 'n'"),
        ([1, 4], "result 1 is parameter 4; there are 4"),
        ([-1], "result 0 is parameter -1"),
        ([True], "result 0 is True"),
        ([1.0], "result 0 is 1.0"),
    ],
)
def test_return_aliases_that_are_no_tensor(aliases, text):
    params = [scalar("n"), tensor("x"), scalar("k"), tensor("y", Out)]
    with pytest.raises(ValueError, match=text):
        param_info.check_return_aliases(params, aliases)


def test_complete_arguments():
    params = [tensor("x"), tensor("y", Out)]
    assert param_info.bind_complete_args([1, 2], params, caller_name="f") == (1, 2)
    with pytest.raises(
        TypeError,
        match=r"f expects 2 arguments including all Out/InOut parameters, got 1. Parameters: \['x', 'y'\]",
    ):
        param_info.bind_complete_args([1], params, caller_name="f")


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("x", "x"),
        ("x__ssa_v2", "x"),
        ("out__rv_v10", "out"),
        ("a__ssa_v", "a__ssa_v"),
        ("a__ssa_v1_b", "a__ssa_v1_b"),
        ("__ssa_v1x", "__ssa_v1x"),
    ],
)
def test_names_lose_their_ssa_version(name, plain):
    assert param_info.external_name(name) == plain


def test_blocked_shapes_have_the_same_elements():
    assert param_info.block_nz_shape([64, 32], pl.FP16) == (1, 2, 4, 16, 16)
    assert param_info.block_nz_shape([2, 3, 32, 64], pl.INT8) == (6, 2, 2, 16, 32)
    for shape, dtype in (([64, 32], pl.FP16), ([3, 32, 96], pl.INT8), ([16, 16], pl.BF16)):
        blocked = param_info.block_nz_shape(shape, dtype)
        count = 1
        for extent in shape:
            count *= extent
        product = 1
        for extent in blocked:
            product *= extent
        assert product == count


def test_a_batch_may_depend_on_the_call():
    assert param_info.block_nz_shape([-1, 32, 32], pl.BF16) == (-1, 2, 2, 16, 16)


@pytest.mark.parametrize(
    ("shape", "dtype", "text"),
    [
        ([32], pl.FP16, "no rows and columns"),
        ([17, 32], pl.FP16, "17 rows do not fill blocks of 16"),
        ([16, 24], pl.FP16, "24 columns do not fill blocks of 16"),
        ([16, 16], pl.INT8, "16 columns do not fill blocks of 32"),
        ([-1, 32], pl.FP16, "only extents before the last two"),
        ([2, 16, -1], pl.FP16, "only extents before the last two"),
        ([0, 16], pl.FP16, "0 rows"),
    ],
)
def test_blocked_shapes_have_no_padding(shape, dtype, text):
    with pytest.raises(ValueError, match=text):
        param_info.block_nz_shape(shape, dtype)


def test_lowered_form_blocks_nz_only():
    assert param_info.lowered_form(tensor()) == tensor()
    nz = tensor(shape=(64, 32), dtype=pl.FP16, layout="NZ")
    lowered = param_info.lowered_form(nz)
    assert lowered.shape == (1, 2, 4, 16, 16)
    assert (lowered.name, lowered.dtype, lowered.layout) == (nz.name, nz.dtype, "NZ")


def test_packed_elements_have_the_shape_of_their_carrier():
    assert param_info.carrier_shape([4, 64], pl.FP4) == (4, 32)
    assert param_info.carrier_shape([4, 64], pl.FP32) == (4, 64)
    for shape in ([4, 63], [4, 0]):
        with pytest.raises(ValueError, match="pairs need an even number"):
            param_info.carrier_shape(shape, pl.FP4)


def test_four_users_share_one_class():
    """Programs, torch's checks, registration and assembly read the same objects."""
    from artifact_programs import GAIN, parse
    from pypto.ir.compile import _compile_artifact
    from pypto.torch.interop import CallSignature
    from pypto.torch.registration import RegistrationSignature

    from pypto import ir

    params = ir.compile(parse(GAIN)).params
    assert all(type(param) is ParamInfo for param in params)
    assert _compile_artifact(parse(GAIN)).load().tensor_params == (params[0], params[2])
    assert CallSignature(params, return_aliases=(2,)).params == params
    assert RegistrationSignature(params, return_aliases=(2,)).params == params
