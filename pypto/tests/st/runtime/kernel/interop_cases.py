"""Describing calls with tensors of an NPU: the cases, for a real one and for the simulated one.

They look at metadata and at what is refused; no kernel runs. `npu` is the fixture that gives `torch.npu`.
"""

from __future__ import annotations

import pytest
import torch
from pypto.ir.param_info import ParamDirection, ParamInfo
from pypto.torch.interop import CallSignature

from pypto import dtypes

In, Out, InOut = ParamDirection.In, ParamDirection.Out, ParamDirection.InOut


def tensor(name, direction=In, shape=(4, 8), dtype="FP32", layout=None):
    return ParamInfo(name, direction, shape, dtypes.ALL[dtype], layout)


ADD = CallSignature(
    [tensor("x"), ParamInfo("n", In, None, dtypes.ALL["INT32"]), tensor("y", Out)],
    return_aliases=[2],
    caller_name="add",
)
ONE = CallSignature([tensor("x")])
PAIR = CallSignature([tensor("x", Out), tensor("y")])


def test_a_real_tensor_is_described(npu):
    x, y = torch.ones(4, 8, device="npu"), torch.zeros(4, 8, device="npu")
    frame = ADD.describe_call([x, 3, y])
    first = frame.tensors[0].metadata
    assert (first.shape, first.strides, first.format) == ((4, 8), (8, 1), 2)
    assert (first.data_ptr, first.storage_offset) == (x.data_ptr(), 0)
    assert first.storage_ptr == x.untyped_storage().data_ptr() and first.nbytes == 128
    assert first.storage_nbytes >= 128
    assert frame.device_index == first.device_index == npu.current_device()
    assert frame.scalars[0].value == 3
    assert frame.alias_result() is y


@pytest.mark.parametrize("rank, format", [(1, 2), (2, 2), (3, 2), (4, 0)])
def test_base_formats_of_every_rank(npu, rank, format):
    shape = (2,) * rank
    x = torch.ones(shape, device="npu")
    frame = CallSignature([tensor("x", shape=shape)]).describe_call([x])
    assert frame.tensors[0].metadata.format == format


def test_rank_five_is_refused_with_its_reason(npu):
    x = torch.ones(1, 1, 2, 2, 2, device="npu")
    with pytest.raises(ValueError, match="every tensor of rank 5 the format NCDHW"):
        CallSignature([tensor("x", shape=(1, 1, 2, 2, 2))]).describe_call([x])
    frame = CallSignature([tensor("x", shape=(1, 2, 2, 2))]).describe_call([x.flatten(0, 1)])
    assert frame.tensors[0].metadata.nbytes == 32


def test_the_stream_that_is_current_is_the_frames(npu):
    x, y = torch.ones(4, 8, device="npu"), torch.zeros(4, 8, device="npu")
    default = ADD.describe_call([x, 1, y]).stream
    assert default == npu.default_stream()
    side = npu.Stream()
    with npu.stream(side):
        inside = ADD.describe_call([x, 1, y]).stream
    assert inside == side != default
    assert ADD.describe_call([x, 1, y]).stream == default  # none is remembered


def test_a_view_with_an_offset_keeps_its_address(npu):
    base = torch.arange(96, dtype=torch.float32, device="npu").view(12, 8)
    view = base[4:8]
    metadata = ONE.describe_call([view]).tensors[0].metadata
    assert metadata.storage_offset == 32
    assert metadata.data_ptr == base.data_ptr() + 128 == view.data_ptr()
    assert metadata.storage_ptr == base.untyped_storage().data_ptr()


def test_tensors_that_are_not_contiguous_are_refused(npu):
    for view in (torch.ones(8, 4, device="npu").t(), torch.ones(4, 16, device="npu")[:, ::2]):
        with pytest.raises(ValueError, match="Parameter 'x' is not contiguous"):
            ONE.describe_call([view])


def test_cpu_tensors_are_refused(npu):
    with pytest.raises(TypeError, match="Parameter 'x' takes an NPU tensor, got one on cpu"):
        ONE.describe_call([torch.ones(4, 8)])


def test_tensors_that_require_grad_are_refused_unless_nothing_is_recorded(npu):
    x = torch.ones(4, 8, device="npu", requires_grad=True)
    with pytest.raises(ValueError, match="Parameter 'x' requires grad"):
        ONE.describe_call([x])
    with torch.no_grad():
        assert ONE.describe_call([x]).tensors[0].tensor is x


def test_overlapping_outputs_are_refused(npu):
    base = torch.zeros(8, 8, device="npu")
    with pytest.raises(ValueError, match="Parameter 'x' is written and overlaps 'y' in part"):
        PAIR.describe_call([base[:4], base[2:6]])
    PAIR.describe_call([base[:4], base[:4]])
    PAIR.describe_call([base[:4], base[4:]])


def test_tensors_of_another_device_are_refused_and_nothing_is_switched(npu):
    if npu.device_count() < 2:
        pytest.skip("one NPU")
    here, there = torch.ones(4, 8, device="npu:0"), torch.ones(4, 8, device="npu:1")
    npu.set_device(0)
    with pytest.raises(ValueError, match="'x' is on npu:1, the current device is npu:0"):
        ONE.describe_call([there])
    with pytest.raises(ValueError, match="Parameter 'y' is on npu:1, 'x' on npu:0"):
        PAIR.describe_call([here, there])
    assert npu.current_device() == 0
    with npu.device(1):
        assert ONE.describe_call([there]).device_index == 1


def test_a_native_nz_weight_is_described_by_its_logical_shape(npu):
    import torch_npu

    before = npu.config.allow_internal_format
    npu.config.allow_internal_format = True
    try:
        cases = [
            (torch.randn(32, 64).to(torch.bfloat16), "BF16"),
            (torch.randint(-9, 9, (128, 32), dtype=torch.int8), "INT8"),
            (torch.randn(3, 32, 48).half(), "FP16"),
        ]
        for plain, dtype in cases:
            weight = torch_npu.npu_format_cast(plain.npu(), 29)
            param = tensor("w", shape=tuple(plain.shape), dtype=dtype, layout="NZ")
            frame = CallSignature([param], platform="a2a3").describe_call([weight])
            metadata = frame.tensors[0].metadata
            assert (metadata.format, metadata.shape) == (29, tuple(plain.shape))
            assert metadata.nbytes == plain.numel() * plain.element_size()
            with pytest.raises(
                ValueError, match="has storage format 29; kernels take base formats"
            ):
                CallSignature([tensor("w", shape=tuple(plain.shape), dtype=dtype)]).describe_call(
                    [weight]
                )
        padded = torch_npu.npu_format_cast(torch.randn(20, 64).to(torch.bfloat16).npu(), 29)
        with pytest.raises(ValueError, match="20 rows do not fill blocks of 16"):
            param = tensor("w", shape=(20, 64), dtype="BF16", layout="NZ")
            CallSignature([param], platform="a2a3").describe_call([padded])
        base = torch.randn(32, 64).to(torch.bfloat16).npu()
        with pytest.raises(ValueError, match="its storage format is 2; cast it"):
            param = tensor("w", shape=(32, 64), dtype="BF16", layout="NZ")
            CallSignature([param], platform="a2a3").describe_call([base])
    finally:
        npu.config.allow_internal_format = before
