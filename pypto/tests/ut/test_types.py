"""Annotations as Python objects."""

from __future__ import annotations

import pypto.language as pl
import pytest

import pypto


def test_tensor_keeps_shape_type_and_layout():
    rows = pl.dynamic("rows")
    annotation = pl.Tensor[[rows, 16], pl.BF16, pl.NZ]
    assert annotation.shape == (rows, 16)
    assert annotation.dtype is pl.BF16
    assert annotation.layout is pl.TensorLayout.NZ
    assert repr(annotation).startswith("pl.Tensor[[rows, 16], pl.BF16")


def test_call_form_is_the_subscript_form():
    assert repr(pl.Tensor((4, 8), pl.FP32)) == "pl.Tensor[[4, 8], pl.FP32]".replace("[4", "[4")


@pytest.mark.parametrize(
    ("wrapped", "direction"),
    [(pl.Out[pl.Tensor], "out"), (pl.InOut[pl.Tensor[[4], pl.FP32]], "inout")],
)
def test_directions(wrapped, direction):
    assert wrapped.direction == direction
    assert wrapped.kind == "tensor"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: pl.Tensor[[4, 8]], "needs a shape and an element type"),
        (lambda: pl.Tensor[4, pl.FP32], "a shape is a list, not int"),
        (lambda: pl.Tensor[[-1], pl.FP32], "-1 is not an extent"),
        (lambda: pl.Tensor[[True], pl.FP32], "True is not an extent"),
        (lambda: pl.Tensor[[4], "fp32"], "'fp32' is not an element type"),
        (lambda: pl.Scalar[3], "3 is not an element type"),
        (lambda: pl.Array[0, pl.INT32], "0 is not a length"),
        (lambda: pl.Out[pl.Out[pl.Tensor]], "directions do not nest"),
        (lambda: pl.Out[int], "is not a type of the language"),
        (lambda: pl.dynamic("two words"), "cannot name a dimension"),
        (lambda: pl.Tensor[[4], pl.FP32](), "makes no object"),
    ],
)
def test_wrong_annotations_say_what_is_wrong(make, text):
    with pytest.raises(pypto.Error, match="(?s).*" + text):
        make()


def test_element_types_are_single_objects():
    import copy
    import pickle

    assert pickle.loads(pickle.dumps(pl.FP32)) is pl.FP32
    assert copy.deepcopy(pl.BF16) is pl.BF16
    assert (pl.FP4.get_byte(), pl.INT64.get_byte(), str(pl.BF16), repr(pl.INT8)) == (
        1,
        8,
        "bfloat16",
        "pl.INT8",
    )
