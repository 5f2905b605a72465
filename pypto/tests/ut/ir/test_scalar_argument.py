"""Scalars are checked against their parameter and left as they are."""

from __future__ import annotations

import ctypes
import dataclasses
import math

import pypto.language as pl
import pytest
from pypto.ir.param_info import ParamDirection, ParamInfo
from pypto.ir.scalar_argument import ScalarArgument, scalar_argument


def check(dtype, value):
    return scalar_argument(ParamInfo("n", ParamDirection.In, None, dtype), 3, value)


def test_it_keeps_value_and_type_and_encodes_nothing():
    made = check(pl.INT32, -7)
    assert made == ScalarArgument("n", 3, pl.INT32, -7)
    assert {field.name for field in dataclasses.fields(made)} == {
        "name",
        "param_index",
        "dtype",
        "value",
    }
    assert type(check(pl.BF16, 1.5).value) is float
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.value = 3


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (pl.INT8, -128),
        (pl.INT8, 127),
        (pl.UINT64, 2**64 - 1),
        (pl.INDEX, 2**63 - 1),
        (pl.BOOL, True),
        (pl.FP32, 3),
        (pl.FP16, 65504.0),
        (pl.FP32, math.inf),
        (pl.INT16, ctypes.c_int16(-5)),
        (pl.FP16, ctypes.c_float(0.5)),
        (pl.BOOL, ctypes.c_bool(False)),
    ],
)
def test_what_fits(dtype, value):
    want = value.value if hasattr(value, "value") else value
    assert check(dtype, value).value == want


def test_nan_stays_nan():
    assert math.isnan(check(pl.FP32, math.nan).value)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (pl.INT32, True),
        (pl.INT32, 1.0),
        (pl.INT32, "1"),
        (pl.FP32, True),
        (pl.FP32, "1"),
        (pl.BOOL, 1),
        (pl.INT32, ctypes.c_int64(1)),
        (pl.FP32, ctypes.c_double(1)),
        (pl.BOOL, ctypes.c_int8(1)),
    ],
)
def test_other_kinds_are_refused(dtype, value):
    with pytest.raises(TypeError, match="Parameter 'n' takes"):
        check(dtype, value)


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        (pl.INT8, 128, "128 does not fit int8"),
        (pl.UINT8, -1, "-1 does not fit uint8"),
        (pl.INT64, 2**63, "does not fit int64"),
        (pl.FP16, 65520.0, "overflows fp16"),
        (pl.FP32, 1e39, "overflows fp32"),
        (pl.BF16, 3.4e38, "overflows bfloat16"),
        (pl.FP32, 10**400, "overflows fp32"),
    ],
)
def test_out_of_range(dtype, value, text):
    with pytest.raises(ValueError, match=text):
        check(dtype, value)


def test_a_ctypes_object_is_read_at_the_call():
    given = ctypes.c_int32(4)
    made = check(pl.INT32, given)
    given.value = 5
    assert made.value == 4


def test_types_that_only_tensors_have():
    with pytest.raises(TypeError, match="no scalar has it"):
        check(pl.FP8E4M3FN, 1.0)
