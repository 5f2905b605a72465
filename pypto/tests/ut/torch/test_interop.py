"""Describing a call: real CPU storage under an NPU label; only torch_npu's answers are replaced."""

from __future__ import annotations

import ctypes
import dataclasses
import gc
import sys
import weakref

import npu_label
import pytest
import torch
from npu_label import npu
from pypto.ir.param_info import ParamDirection, ParamInfo
from pypto.torch import interop
from pypto.torch.interop import CallSignature

from pypto import dtypes

In, Out, InOut = ParamDirection.In, ParamDirection.Out, ParamDirection.InOut


def tensor(name, direction=In, shape=(4, 8), dtype="FP32", **more):
    return ParamInfo(name, direction, shape, dtypes.ALL[dtype], **more)


def scalar(name, dtype="INT32"):
    return ParamInfo(name, In, None, dtypes.ALL[dtype])


@pytest.fixture
def framework(monkeypatch):
    return npu_label.install(monkeypatch)


ADD = CallSignature(
    [tensor("x"), scalar("n"), tensor("y", Out)], return_aliases=[2], caller_name="add"
)


def add_args():
    return [npu(torch.ones(4, 8)), 3, npu(torch.zeros(4, 8))]


# What a frame holds.


def test_a_frame_describes_tensors_and_scalars_in_the_order_of_the_signature(framework):
    args = add_args()
    frame = ADD.describe_call(args)
    x, y = (argument.metadata for argument in frame.tensors)
    assert (x.name, x.param_index, x.direction) == ("x", 0, In)
    assert (y.name, y.param_index, y.direction) == ("y", 2, Out)
    assert (x.shape, x.strides, x.dtype, x.format) == ((4, 8), (8, 1), dtypes.ALL["FP32"], 2)
    assert (x.device_index, x.data_ptr, x.nbytes) == (0, args[0].data_ptr(), 128)
    assert (x.storage_ptr, x.storage_offset, x.storage_nbytes) == (args[0].data_ptr(), 0, 128)
    (n,) = frame.scalars
    assert (n.name, n.param_index, n.value, n.dtype) == ("n", 1, 3, dtypes.ALL["INT32"])
    assert frame.device_index == 0
    assert frame.tensors[0].tensor is args[0]


def test_fields_are_those_of_the_contract():
    names = [field.name for field in dataclasses.fields(interop.TensorMetadata)]
    assert (
        names
        == (
            "name param_index direction dtype shape strides device_index format data_ptr storage_ptr "
            "storage_offset storage_nbytes nbytes"
        ).split()
    )
    fields = dataclasses.fields(interop.CallFrame)
    assert [f.name for f in fields] == "tensors scalars device_index stream return_tensors".split()
    assert [f.name for f in dataclasses.fields(interop.ScalarArgument)] == (
        "name param_index dtype value".split()
    )
    assert not hasattr(interop.ScalarArgument, "encode")


def test_every_call_makes_a_new_immutable_frame(framework):
    args = add_args()
    first, second = ADD.describe_call(args), ADD.describe_call(args)
    assert first is not second
    for frozen, field in ((first, "device_index"), (first.tensors[0].metadata, "data_ptr")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(frozen, field, 1)
    assert isinstance(first.tensors, tuple) and isinstance(first.scalars, tuple)


def test_the_signature_is_the_shared_immutable_one():
    params = [tensor("x"), tensor("y", Out)]
    signature = CallSignature(params)
    params.clear()
    assert [p.name for p in signature.params] == ["x", "y"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        signature.params[0].shape = (1,)


def test_view_offset_and_logical_address_are_kept(framework):
    base = torch.arange(96, dtype=torch.float32).view(12, 8)
    view = npu(base[4:8])
    frame = CallSignature([tensor("x")]).describe_call([view])
    x = frame.tensors[0].metadata
    assert x.storage_offset == 32
    assert x.data_ptr == base.data_ptr() + 128
    assert x.storage_ptr == base.data_ptr() and x.storage_nbytes == 96 * 4


def test_scalars_are_snapshots_of_mutable_objects(framework):
    value = ctypes.c_int32(5)
    signature = CallSignature([tensor("x"), scalar("n")])
    x = npu(torch.ones(4, 8))
    before = signature.describe_call([x, value])
    value.value = 6
    after = signature.describe_call([x, value])
    assert (before.scalars[0].value, after.scalars[0].value) == (5, 6)


def test_each_call_asks_for_its_own_device_and_stream(framework):
    args = add_args()
    first, second = ADD.describe_call(args), ADD.describe_call(args)
    assert (first.stream.stream_id, second.stream.stream_id) == (1, 2)
    assert framework.asked == ["format", "format", "device", "stream"] * 2


def test_nothing_but_formats_device_and_stream_is_asked(framework, monkeypatch):
    # The stub's stream has no `npu_stream`, `synchronize` or `wait_*`, the framework no set_device: using
    # one would be an AttributeError. Nor may a Worker come to be.
    import simpler.worker

    monkeypatch.setattr(
        simpler.worker.Worker, "__init__", lambda *a, **k: pytest.fail("a Worker was made")
    )
    ADD.describe_call(add_args())
    assert set(framework.asked) == {"format", "device", "stream"}
    from pypto.runtime.kernel import context

    assert not context.manager().used


def test_the_frame_owns_tensors_and_storages(framework):
    x = torch.ones(4, 8)
    labelled = npu(x)
    frame = CallSignature([tensor("x")]).describe_call([labelled])
    address, alive = x.data_ptr(), weakref.ref(labelled)
    del x, labelled
    gc.collect()
    assert alive() is frame.tensors[0].tensor
    # The storage is held by itself: giving the tensor another one takes nothing from the frame.
    frame.tensors[0].tensor.data = torch.zeros(4, 8)
    storage = frame.tensors[0].storage
    assert storage.data_ptr() == address and storage.nbytes() == 128
    del frame
    gc.collect()
    assert alive() is None


def test_results_are_the_callers_own_objects(framework):
    params = [tensor("x", InOut), scalar("n"), tensor("y", Out)]
    x, y = npu(torch.ones(4, 8)), npu(torch.zeros(4, 8))

    def result(aliases):
        frame = CallSignature(params, return_aliases=aliases).describe_call([x, 1, y])
        assert frame.return_tensors == tuple([x, 1, y][i] for i in aliases)
        return frame.alias_result()

    assert result([]) is None
    assert result([2]) is y
    pair = result([2, 0])
    assert pair[0] is y and pair[1] is x and isinstance(pair, tuple)
    again = result([0, 0])
    assert again[0] is x and again[1] is x


def test_call_state_is_in_no_signature(framework):
    ADD.describe_call(add_args())
    text = repr(vars(ADD))
    assert "data_ptr" not in text and "stream" not in text and "NpuTensor" not in text


# Counting, and the order of the checks.


@pytest.mark.parametrize("given", [[], [1], [1, 2], [1, 2, 3, 4]])
def test_all_parameters_are_passed_outputs_included(monkeypatch, given):
    monkeypatch.setitem(sys.modules, "torch_npu", None)
    text = rf"add expects 3 arguments including all Out/InOut parameters, got {len(given)}. Parameters: \['x', 'n', 'y'\]"
    with pytest.raises(TypeError, match=text):
        ADD.describe_call(given)


BAD_BEFORE_FRAMEWORK = {
    "no tensor": ([1.5, 1, None], TypeError, "Parameter 'x' takes an NPU torch.Tensor, got builtins.float"),
    "cpu": ([torch.ones(4, 8), 1, torch.ones(4, 8)], TypeError, "Parameter 'x' takes an NPU tensor, got one on cpu"),
    "meta": ([torch.ones(4, 8, device="meta"), 1, None], TypeError, "Parameter 'x' is a fake or meta tensor"),
    "dtype": ([npu(torch.ones(4, 8).half()), 1, None], TypeError, "Parameter 'x' takes fp32 .torch.float32., got torch.float16"),
    "rank": ([npu(torch.ones(8)), 1, None], ValueError, r"Parameter 'x' takes rank 2 \[4, 8\], got rank 1"),
    "shape": ([npu(torch.ones(4, 9)), 1, None], ValueError, r"Parameter 'x' takes shape \[4, 8\], got \[4, 9\]: axis 1 is 9"),
    "transposed": ([npu(torch.ones(8, 4).t()), 1, None], ValueError, "Parameter 'x' is not contiguous: strides"),
    "bool for int": ([npu(torch.ones(4, 8)), True, None], TypeError, "Parameter 'n'"),
    "float for int": ([npu(torch.ones(4, 8)), 1.0, None], TypeError, "Parameter 'n'"),
    "other ctypes": ([npu(torch.ones(4, 8)), ctypes.c_int64(1), None], TypeError, "Parameter 'n'"),
    "out of range": ([npu(torch.ones(4, 8)), 2**31, None], ValueError, "Parameter 'n'"),
    "two devices": ([npu(torch.ones(4, 8)), 1, npu(torch.ones(4, 8), index=1)], ValueError, "Parameter 'y' is on npu:1, 'x' on npu:0"),
}  # fmt: skip


@pytest.mark.parametrize(
    "args, error, text", BAD_BEFORE_FRAMEWORK.values(), ids=BAD_BEFORE_FRAMEWORK
)
def test_what_plain_torch_tells_is_checked_before_torch_npu_is_loaded(
    monkeypatch, args, error, text
):
    monkeypatch.setitem(sys.modules, "torch_npu", None)  # importing it would be an ImportError
    with pytest.raises(error, match=text):
        ADD.describe_call(args)


def test_without_torch_npu_the_error_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_npu", None)
    with pytest.raises(
        RuntimeError, match="Describing NPU calls requires a compatible torch_npu installation"
    ):
        ADD.describe_call(add_args())


def test_fake_tensors_are_refused():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(4, 8)
    with pytest.raises(TypeError, match="Parameter 'x' is a fake or meta tensor"):
        ADD.describe_call([fake, 1, fake])


def test_objects_that_a_worker_owns_are_refused():
    from pypto.runtime import DeviceTensor
    from simpler.buffer import allocate_device

    buffer = allocate_device(512)
    owned = DeviceTensor(buffer.base, (4, 8), dtypes.ALL["FP32"], buffer=buffer)
    for thing in (owned, buffer):
        name = f"{type(thing).__module__}.{type(thing).__name__}"
        with pytest.raises(TypeError, match=f"Parameter 'x' takes an NPU torch.Tensor, got {name}"):
            ADD.describe_call([thing, 1, None])


# Shapes.


def test_open_extents_take_the_size_of_the_call(framework):
    signature = CallSignature([tensor("x", shape=(-1, 8))])
    for rows in (1, 7, 0):
        frame = signature.describe_call([npu(torch.ones(rows, 8))])
        assert frame.tensors[0].metadata.shape == (rows, 8)
    with pytest.raises(ValueError, match=r"takes shape \[\?, 8\], got \[3, 7\]"):
        signature.describe_call([npu(torch.ones(3, 7))])


def test_extents_with_one_name_agree(framework):
    signature = CallSignature(
        [
            tensor("x", shape=(-1, 8), dim_names=("M", "")),
            tensor("y", Out, shape=(-1, 8), dim_names=("M", "")),
        ]
    )
    signature.describe_call([npu(torch.ones(3, 8)), npu(torch.ones(3, 8))])
    with pytest.raises(ValueError, match="Parameter 'y': extent M .axis 0. is 4, in 'x' it is 3"):
        signature.describe_call([npu(torch.ones(3, 8)), npu(torch.ones(4, 8))])


def test_packed_fp4_is_compared_with_the_carrier_shape_as_it_is(framework):
    packed = npu(torch.zeros(4, 8, dtype=torch.uint8).view(torch.float4_e2m1fn_x2))
    frame = CallSignature([tensor("w", dtype="FP4")]).describe_call([packed])
    assert frame.tensors[0].metadata.shape == (4, 8) and frame.tensors[0].metadata.nbytes == 32
    with pytest.raises(ValueError, match=r"takes shape \[4, 16\], got \[4, 8\]"):
        CallSignature([tensor("w", shape=(4, 16), dtype="FP4")]).describe_call([packed])


# Formats and views.


@pytest.mark.parametrize("format", [0, 2])
def test_base_formats_are_taken(framework, format):
    x = npu(torch.ones(4, 8), format=format)
    assert CallSignature([tensor("x")]).describe_call([x]).tensors[0].metadata.format == format


@pytest.mark.parametrize("format", [-1, 1, 3, 4, 16, 27, 29, 32])
def test_other_formats_are_refused(framework, format):
    with pytest.raises(
        ValueError, match=f"Parameter 'x' has storage format {format}; kernels take base"
    ):
        CallSignature([tensor("x")]).describe_call([npu(torch.ones(4, 8), format=format)])


def test_rank_five_is_refused_with_its_reason(framework):
    five = npu(torch.ones(1, 1, 2, 2, 8), format=30)
    with pytest.raises(ValueError, match="torch_npu gives every tensor of rank 5 the format NCDHW"):
        CallSignature([tensor("x", shape=(1, 1, 2, 2, 8))]).describe_call([five])


@pytest.mark.parametrize("which", ["conj", "neg"])
def test_views_with_pending_bits_are_refused(framework, which):
    x = torch.ones(4, 8, dtype=torch.complex64).conj()
    pending = x if which == "conj" else torch._neg_view(torch.ones(4, 8))
    labelled = npu(pending)
    labelled.__class__ = type("Real", (npu_label.NpuTensor,), {"dtype": torch.float32})
    with pytest.raises(ValueError, match=f"unresolved {which} bit.*resolve_{which}"):
        CallSignature([tensor("x")]).describe_call([labelled])


def test_other_layouts_are_refused(framework):
    sparse = npu(torch.ones(4, 8))
    sparse.__class__ = type("Sparse", (npu_label.NpuTensor,), {"layout": torch.sparse_coo})
    with pytest.raises(
        ValueError, match="Parameter 'x' takes a strided tensor, got layout torch.sparse_coo"
    ):
        CallSignature([tensor("x")]).describe_call([sparse])


def test_a_view_beyond_its_storage_is_refused(framework):
    x = torch.ones(4, 8)
    x.untyped_storage().resize_(64)
    with pytest.raises(ValueError, match="Parameter 'x' covers bytes 0 to 128 of a storage of 64"):
        CallSignature([tensor("x")]).describe_call([npu(x)])


def test_an_address_that_its_storage_does_not_say_is_refused(framework):
    class Moved(npu_label.NpuTensor):
        def data_ptr(self):
            return super().data_ptr() + 4

    x = torch.ones(4, 8).as_subclass(Moved)
    with pytest.raises(ValueError, match="Parameter 'x' is at address"):
        CallSignature([tensor("x")]).describe_call([x])


def test_an_empty_view_may_begin_anywhere(framework):
    empty = npu(torch.ones(4, 8).as_strided((0, 8), (8, 1), 1000))
    frame = CallSignature([tensor("x", shape=(-1, 8))]).describe_call([empty])
    assert frame.tensors[0].metadata.storage_offset == 1000
    with pytest.raises(ValueError, match="covers bytes 4000 to"):
        outside = torch.ones(4, 8).as_strided((1, 8), (8, 1), 0)
        labelled = npu(outside)
        labelled.__class__ = type("Far", (npu_label.NpuTensor,), {"storage_offset": lambda s: 1000})
        CallSignature([tensor("x", shape=(-1, 8))]).describe_call([labelled])


# NZ.

NZ = tensor("w", shape=(-1, 32, 32), dtype="BF16", layout="NZ")


def nz_query(monkeypatch, answer):
    monkeypatch.setattr(interop, "query_nz_storage", lambda tensor: answer)


def nz_weight(batch=2, rows=32, columns=32, dtype=torch.bfloat16):
    return npu(torch.zeros(batch, rows, columns, dtype=dtype), format=29)


def test_a_complete_nz_matrix_is_taken_by_its_logical_shape(framework, monkeypatch):
    nz_query(monkeypatch, (29, (2, 2, 2, 16, 16), 0, 4096))
    frame = CallSignature([NZ], platform="a2a3").describe_call([nz_weight()])
    assert frame.tensors[0].metadata.shape == (2, 32, 32)
    assert frame.tensors[0].metadata.format == 29


def test_the_batch_of_an_nz_parameter_is_open(framework, monkeypatch):
    nz_query(monkeypatch, (29, (5, 2, 2, 16, 16), 0, 5 * 2048))
    frame = CallSignature([NZ], platform="a2a3").describe_call([nz_weight(batch=5)])
    assert frame.tensors[0].metadata.nbytes == 5 * 2048
    with pytest.raises(
        ValueError, match=r"takes rank 3 \[\?, 32, 32\], got rank 5"
    ):  # not the blocks
        blocked = npu(torch.zeros(2, 2, 2, 16, 16, dtype=torch.bfloat16), format=29)
        CallSignature([NZ], platform="a2a3").describe_call([blocked])


@pytest.mark.parametrize("dtype, width", [("FP16", 16), ("BF16", 16), ("INT8", 32)])
def test_element_types_of_nz(framework, monkeypatch, dtype, width):
    nz_query(monkeypatch, (29, (64 // width, 2, 16, width), 0, 1 << 20))
    param = tensor("w", shape=(32, 64), dtype=dtype, layout="NZ")
    weight = npu(torch.zeros(32, 64, dtype=interop.torch_dtype(param.dtype)), format=29)
    frame = CallSignature([param], platform="a2a3").describe_call([weight])
    assert frame.tensors[0].metadata.dtype.name == dtype


NZ_REFUSED = {
    "platform": (dict(), "a5", (29, (2, 2, 2, 16, 16), 0, 4096), "on platform 'a2a3' only"),
    "no platform": (dict(), None, (29, (2, 2, 2, 16, 16), 0, 4096), "on platform 'a2a3' only"),
    "written": (dict(direction=Out), "a2a3", (29, (2, 2, 2, 16, 16), 0, 4096), "read only, this one is Out"),
    "type": (dict(dtype=dtypes.ALL["FP32"]), "a2a3", (29, (2, 2, 2, 16, 16), 0, 4096), "FP16, BF16 or INT8, not fp32"),
    "blocks": (dict(), "a2a3", (29, (2, 3, 2, 16, 16), 0, 8192), "its storage has the blocks"),
    "offset": (dict(), "a2a3", (29, (2, 2, 2, 16, 16), 4, 4096), "format 29 and offset 4"),
    "format": (dict(), "a2a3", (2, (2, 32, 32), 0, 4096), "its storage has format 2"),
    "bytes": (dict(), "a2a3", (29, (2, 2, 2, 16, 16), 0, 1024), "needs 4096 bytes, its storage has 1024"),
    "padding": (dict(shape=(-1, 20, 32)), "a2a3", (29, (2, 2, 2, 16, 16), 0, 4096), "20 rows do not fill blocks of 16"),
}  # fmt: skip


@pytest.mark.parametrize("change, platform, answer, text", NZ_REFUSED.values(), ids=NZ_REFUSED)
def test_what_is_no_complete_nz_matrix_is_refused(
    framework, monkeypatch, change, platform, answer, text
):
    nz_query(monkeypatch, answer)
    param = dataclasses.replace(NZ, **change)
    weight = nz_weight(rows=param.shape[1], dtype=interop.torch_dtype(param.dtype))
    with pytest.raises(ValueError, match=rf"Parameter 'w' \(layout NZ\).*{text}"):
        CallSignature([param], platform=platform).describe_call([weight])


def test_a_slice_of_nz_and_a_base_tensor_for_nz_are_refused(framework, monkeypatch):
    nz_query(monkeypatch, (29, (3, 2, 2, 16, 16), 0, 3 * 2048))
    part = npu(torch.zeros(3, 32, 32, dtype=torch.bfloat16)[1:], format=29)
    with pytest.raises(ValueError, match="begins at element 1024 is no complete NZ matrix"):
        CallSignature([NZ], platform="a2a3").describe_call([part])
    base = npu(torch.zeros(2, 32, 32, dtype=torch.bfloat16), format=2)
    with pytest.raises(ValueError, match="its storage format is 2; cast it with"):
        CallSignature([NZ], platform="a2a3").describe_call([base])


def test_the_physical_query_loads_the_extension_when_it_is_needed(framework, monkeypatch):
    # A finder-free process has the extension or not; here it is hidden, which only an NZ tensor notices.
    monkeypatch.setitem(sys.modules, "pypto._torch_npu", None)
    ADD.describe_call(add_args())
    with pytest.raises(RuntimeError, match="PYPTO_BUILD_TORCH_NPU=ON"):
        CallSignature([NZ], platform="a2a3").describe_call([nz_weight()])


# Overlap.


def overlap(directions, views):
    params = [
        tensor(
            f"p{i}",
            d,
            shape=tuple(v.shape),
            dtype={4: "FP32", 2: "BF16", 1: "INT8"}[v.element_size()],
        )
        for i, (d, v) in enumerate(zip(directions, views))
    ]
    return CallSignature(params).describe_call([npu(v) for v in views])


PAGE = torch.zeros(1024, dtype=torch.float32)


def test_the_very_same_bytes_may_be_passed_twice(framework):
    overlap([InOut, Out], [PAGE[:64], PAGE[:64]])


def test_the_same_bytes_may_have_another_type_and_shape(framework):
    page = PAGE[:64]
    views = [page, page.view(torch.bfloat16).view(8, 16), page.view(torch.int8)]
    overlap([InOut, Out, In], views)


def test_views_that_are_apart_may_be_written(framework):
    overlap([Out, Out, In], [PAGE[:64], PAGE[64:128], PAGE[128:192]])


def test_read_only_views_may_overlap(framework):
    overlap([In, In], [PAGE[:64], PAGE[32:96]])


@pytest.mark.parametrize("directions", [(Out, In), (In, Out), (InOut, In), (Out, InOut)])
@pytest.mark.parametrize("second", [(32, 96), (63, 64), (0, 32), (0, 128)])
def test_part_overlap_with_a_written_tensor_is_refused(framework, directions, second):
    with pytest.raises(ValueError, match="is written and overlaps 'p.' in part: bytes 0x"):
        overlap(directions, [PAGE[:64], PAGE[second[0] : second[1]]])


def test_empty_views_overlap_nothing(framework):
    overlap([Out, Out], [PAGE[:64], PAGE[32:32]])


# Scalars.


@pytest.mark.parametrize(
    "dtype, value",
    [
        ("INT8", -128),
        ("UINT8", 255),
        ("INT64", -(2**63)),
        ("UINT64", 2**64 - 1),
        ("INDEX", 2**63 - 1),
    ]
    + [("FP32", 3), ("FP16", 65504.0), ("BF16", 1e38), ("FP32", float("inf")), ("BOOL", True)]
    + [
        ("FP16", ctypes.c_float(1.5)),
        ("UINT16", ctypes.c_uint16(9)),
        ("BOOL", ctypes.c_bool(False)),
    ],
)
def test_scalars_that_fit(framework, dtype, value):
    signature = CallSignature([tensor("x"), scalar("n", dtype)])
    frame = signature.describe_call([npu(torch.ones(4, 8)), value])
    assert frame.scalars[0].value == getattr(value, "value", value)


@pytest.mark.parametrize(
    "dtype, value, error",
    [("INT8", 128, ValueError), ("UINT8", -1, ValueError), ("UINT64", 2**64, ValueError)]
    + [("INT32", 1.0, TypeError), ("INT32", 1.5, TypeError), ("INT32", True, TypeError), ("INT32", "1", TypeError)]
    + [("FP16", 70000.0, ValueError), ("FP32", 1e39, ValueError), ("BF16", 3.4e38 * 1.01, ValueError), ("FP32", 10**400, ValueError)]
    + [("FP32", True, TypeError), ("BOOL", 1, TypeError), ("FP32", ctypes.c_double(1), TypeError), ("INT32", ctypes.c_uint32(1), TypeError)],
)  # fmt: skip
def test_scalars_that_do_not_fit(framework, dtype, value, error):
    signature = CallSignature([tensor("x"), scalar("n", dtype)])
    with pytest.raises(error, match="Parameter 'n'"):
        signature.describe_call([npu(torch.ones(4, 8)), value])


# Gradients.


def test_a_tensor_that_requires_grad_needs_no_grad(framework):
    parameter = npu(torch.ones(4, 8)).requires_grad_()
    signature = CallSignature([tensor("x")])
    with pytest.raises(
        ValueError, match="Parameter 'x' requires grad, and the kernel has no backward"
    ):
        signature.describe_call([parameter])
    with torch.no_grad():
        assert signature.describe_call([parameter]).tensors[0].tensor is parameter


# Current device and stream.


def test_another_current_device_is_refused_not_switched(framework):
    framework.device = 1
    with pytest.raises(ValueError, match="Parameter 'x' is on npu:0, the current device is npu:1"):
        ADD.describe_call(add_args())
    assert "stream" not in framework.asked


def test_a_stream_of_another_device_is_refused(framework):
    framework.stream_device = 1
    with pytest.raises(
        ValueError, match="the current stream is on npu:1, the current device is npu:0"
    ):
        ADD.describe_call(add_args())


# Signatures.


@pytest.mark.parametrize(
    "params, aliases, text",
    [
        ([tensor("x"), scalar("n")], [1], "result 0 is the scalar 'n'"),
        ([tensor("x")], [1], "result 0 is parameter 1; there are 1"),
        ([tensor("x")], [-1], "result 0 is parameter -1"),
        ([tensor("x"), tensor("x")], [], "parameters 0 and 1 are both named 'x'"),
    ],
)
def test_signatures_that_cannot_be(params, aliases, text):
    with pytest.raises(ValueError, match=text):
        CallSignature(params, return_aliases=aliases)


# Imports.


@pytest.mark.parametrize("optimize", [0, 1, 2])
def test_importing_and_reloading_asks_for_nothing_optional(run_without_optional_runtime, optimize):
    body = """
import importlib, sys
import pypto.torch
check("torch" not in sys.modules, "import pypto.torch loads torch")
check(callable(pypto.torch.init), "init is exported")
import pypto.torch.interop, pypto.torch.registration, pypto.runtime.kernel.context
from pypto.runtime.kernel import session, teardown
for module in (pypto.torch, pypto.torch.interop, pypto.torch.registration):
    importlib.reload(module)
check(pypto.torch.__all__ == ["init"], "what a star import gives")
from pypto.runtime import _execution_mode
check(_execution_mode.current_mode() is None, "importing chose an execution mode")
check(not pypto.runtime.kernel.context.manager().used, "importing used the manager")
"""
    run_without_optional_runtime(body, optimize=optimize)


def test_program_configuration_asks_for_nothing_optional(run_without_optional_runtime):
    body = """
from pypto.runtime import RunConfig
config = RunConfig(platform="a2a3", save_kernels=True)
check(config.platform == "a2a3", "platform")
from pypto.ir.param_info import ParamInfo
"""
    run_without_optional_runtime(body)


def test_init_and_describing_say_what_is_missing(run_without_optional_runtime):
    # In a process that has no torch_npu at all; the guard itself would count the attempt.
    body = """
import sys
for name in ("torch_npu", "simpler"):
    sys.modules[name] = None
import pypto.torch
try:
    pypto.torch.init()
except RuntimeError as error:
    print(error)
"""
    assert "pypto.torch.init() requires a compatible torch_npu installation" in (
        run_without_optional_runtime(body)
    )
