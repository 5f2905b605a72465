"""A function for each op of the `pto` dialect, written from the op records by tools/gen_ops.py; do not edit.

Operands stand in the order of the record, optional ones and attributes are named. Tiles and views are values;
a Python number is a constant of the type that the op's record names: `index`, `i32`, `i64`, or the element type of
the op's tile. Enums are members of `ptoas.RoundMode` and so on, or their words. An op with a body is the head of a `with`,
which gives its results. docs/isa has a page for each op.
"""

# ruff: noqa: F401
# fmt: off
from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import ptoas

from .build import Scalar, Value, _build_op, _section


def addptr(ptr: Value, offset: Scalar, *, result: str | None = None) -> Value:
    """Pointer plus a number of elements. result = ptr + offset * bytes(element). Architectures: A2/A3, A5."""
    return _build_op("pto.addptr", groups=[ptr, offset], kinds="vi", attributes={}, segments=False, results=[result])[1][0]


def load_scalar(ptr: Value, offset: Scalar, *, result: str | None = None) -> Value:
    """Read one element of global memory. value = ptr[offset]. Queue: S. Architectures: A2/A3, A5."""
    return _build_op("pto.load_scalar", groups=[ptr, offset], kinds="vi", attributes={}, segments=False, results=[result])[1][0]


def store_scalar(value: Scalar, ptr: Value, offset: Scalar) -> None:
    """Write one element of global memory. ptr[offset] = value. Queue: S. Architectures: A2/A3, A5."""
    _build_op("pto.store_scalar", groups=[value, ptr, offset], kinds="svi", attributes={}, segments=False, results=[], element=ptr)[1]


def ptrtoint(ptr: Value, result: str) -> Value:
    """Address of a pointer as an integer. result = address(ptr). Architectures: A2/A3, A5."""
    return _build_op("pto.ptrtoint", groups=[ptr], kinds="v", attributes={}, segments=False, results=[result])[1][0]


def inttoptr(value: Value, result: str) -> Value:
    """Pointer with the address of an integer. address(result) = value. Architectures: A2/A3, A5."""
    return _build_op("pto.inttoptr", groups=[value], kinds="v", attributes={}, segments=False, results=[result])[1][0]


def castptr(ptr: Value, result: str) -> Value:
    """The same address seen as other elements. address(result) = address(ptr). Architectures: A2/A3, A5."""
    return _build_op("pto.castptr", groups=[ptr], kinds="v", attributes={}, segments=False, results=[result])[1][0]


def make_tensor_view(ptr: Value, shape: Sequence[Scalar], strides: Sequence[Scalar], *, layout: ptoas.Layout | str | None = None, result: str | None = None) -> Value:
    """A tensor in global memory: pointer, extents and strides in elements. result[i0, …] = ptr[sum_k ik *
    strides_k], 0 <= ik < shape_k. Architectures: A2/A3, A5."""
    return _build_op("pto.make_tensor_view", groups=[ptr, shape, strides], kinds="vii", attributes={"layout": ("layout", layout)}, segments=True, results=[result])[1][0]


def partition_view(source: Value, offsets: Sequence[Scalar], sizes: Sequence[Scalar], *, result: str | None = None) -> Value:
    """A window of a view. result[i0, …] = source[offsets_0 + i0, …], 0 <= ik < sizes_k. Architectures: A2/A3, A5."""
    return _build_op("pto.partition_view", groups=[source, offsets, sizes], kinds="vii", attributes={}, segments=True, results=[result])[1][0]


def get_tensor_view_dim(view: Value, dim: Scalar) -> Value:
    """Extent of a view. result = shape(view)[dim]. Architectures: A2/A3, A5."""
    return _build_op("pto.get_tensor_view_dim", groups=[view, dim], kinds="vi", attributes={}, segments=False, results=['index'])[1][0]


def get_tensor_view_stride(view: Value, dim: Scalar) -> Value:
    """Stride of a view in elements. result = strides(view)[dim]. Architectures: A2/A3, A5."""
    return _build_op("pto.get_tensor_view_stride", groups=[view, dim], kinds="vi", attributes={}, segments=False, results=['index'])[1][0]


def alloc_tile(result: str, *, addr: Scalar | None = None, validRow: Scalar | None = None, validCol: Scalar | None = None) -> Value:
    """A tile; `addr` is its byte address in its space (level3 only). Architectures: A2/A3, A5."""
    return _build_op("pto.alloc_tile", groups=[addr, validRow, validCol], kinds="aii", attributes={}, segments=True, results=[result])[1][0]


def alloc_multi_tile(result: str, *, addr: Scalar | None = None, validRow: Scalar | None = None, validCol: Scalar | None = None) -> Value:
    """Several equal tiles, one of which is picked by index. Architectures: A2/A3, A5."""
    return _build_op("pto.alloc_multi_tile", groups=[addr, validRow, validCol], kinds="aii", attributes={}, segments=True, results=[result])[1][0]


def multi_tile_get(source: Value, slot: Scalar, *, result: str | None = None) -> Value:
    """Slot of a multi-slot tile buffer. result = source[slot], 0 <= slot < count. Architectures: A2/A3, A5."""
    return _build_op("pto.multi_tile_get", groups=[source, slot], kinds="vi", attributes={}, segments=False, results=[result])[1][0]


def declare_tile(result: str) -> Value:
    """A tile handle without storage; a pop binds it. Architectures: A2/A3, A5."""
    return _build_op("pto.declare_tile", groups=[], kinds="", attributes={}, segments=False, results=[result])[1][0]


def declare_global(result: str) -> Value:
    """A tensor handle without storage; talloc or tpop binds it to a slot. Architectures: A2/A3, A5."""
    return _build_op("pto.declare_global", groups=[], kinds="", attributes={}, segments=False, results=[result])[1][0]


def subview(source: Value, offsets: Sequence[Scalar], sizes: Sequence[int], valid: Sequence[Scalar], result: str) -> Value:
    """A window of a tile that shares its bytes. result[i, j] = source[offsets_0 + i, offsets_1 + j], the same bytes.
    Architectures: A2/A3, A5."""
    return _build_op("pto.subview", groups=[source, offsets, valid], kinds="vii", attributes={"sizes": ("ints", sizes)}, segments=True, results=[result])[1][0]


def subset(source: Value, offsets: Sequence[Scalar], sizes: Sequence[int], result: str) -> Value:
    """Older spelling of subview; the result type follows from the sizes. result[i, j] = source[offsets_0 + i,
    offsets_1 + j], the same bytes. Architectures: A2/A3, A5."""
    return _build_op("pto.subset", groups=[source, offsets], kinds="vi", attributes={"sizes": ("ints", sizes)}, segments=False, results=[result])[1][0]


def set_validshape(tile: Value, validRow: Scalar, validCol: Scalar) -> None:
    """Change the valid extents of a tile whose type leaves both open. valid(tile) = (validRow, validCol).
    Architectures: A2/A3, A5."""
    _build_op("pto.set_validshape", groups=[tile, validRow, validCol], kinds="vii", attributes={}, segments=False, results=[])[1]


def get_validshape(tile: Value) -> tuple[Value, Value]:
    """Valid extents of a tile. (validRow, validCol) = valid(tile). Architectures: A2/A3, A5."""
    return tuple(_build_op("pto.get_validshape", groups=[tile], kinds="v", attributes={}, segments=False, results=['index', 'index'])[1])


def tile_valid_rows(tile: Value) -> Value:
    """Valid rows of a tile. result = validRow(tile). Architectures: A2/A3, A5."""
    return _build_op("pto.tile_valid_rows", groups=[tile], kinds="v", attributes={}, segments=False, results=['index'])[1][0]


def tile_valid_cols(tile: Value) -> Value:
    """Valid columns of a tile. result = validCol(tile). Architectures: A2/A3, A5."""
    return _build_op("pto.tile_valid_cols", groups=[tile], kinds="v", attributes={}, segments=False, results=['index'])[1][0]


def treshape(source: Value, result: str) -> Value:
    """The same bytes seen with another shape. bytes(result) = bytes(source). Architectures: A2/A3, A5."""
    return _build_op("pto.treshape", groups=[source], kinds="v", attributes={}, segments=False, results=[result])[1][0]


def bitcast(source: Value, result: str) -> Value:
    """The same bytes seen as other elements. bytes(result) = bytes(source). Architectures: A2/A3, A5."""
    return _build_op("pto.bitcast", groups=[source], kinds="v", attributes={}, segments=False, results=[result])[1][0]


def tassign(source: Value, addr: Scalar, result: str) -> Value:
    """Rebind a tile to a byte address. address(result) = addr. Architectures: A2/A3, A5."""
    return _build_op("pto.tassign", groups=[source, addr], kinds="va", attributes={}, segments=False, results=[result])[1][0]


def tload(src: Value, dst: Value, *, padValue: Scalar | None = None, leftPaddingNum: Scalar | None = None, rightPaddingNum: Scalar | None = None, initCondition: Scalar | None = None, padMode: ptoas.PadMode | str | None = None, initOutBuffer: bool | None = None) -> None:
    """Copy a window of global memory into a tile. dst[i, j] = src[i, j]; the rest of dst is padded as its type
    (pad=) says. Queue: MTE2. Architectures: A2/A3, A5."""
    _build_op("pto.tload", groups=[src, dst, padValue, leftPaddingNum, rightPaddingNum, initCondition], kinds="vvsiib", attributes={"padMode": ("padmode", padMode), "initOutBuffer": ("unit", initOutBuffer)}, segments=True, results=[], element=src)[1]


def tprefetch(src: Value, dst: Value) -> None:
    """Bring a window of global memory near. dst[i, j] = src[i, j], or nothing. Queue: MTE2. Architectures: A2/A3,
    A5."""
    _build_op("pto.tprefetch", groups=[src, dst], kinds="vv", attributes={}, segments=False, results=[])[1]


def tstore(src: Value, dst: Value, *, fp: Value | None = None, preQuantScalar: Scalar | None = None, stPhase: ptoas.STPhase | str | None = None, atomicType: ptoas.AtomicType | str | None = None, reluPreMode: ptoas.ReluPreMode | str | None = None) -> None:
    """Copy the valid part of a tile into a window of global memory. dst[i, j] = relu(scale * src[i, j]), or dst[i,
    j] += … with atomic_add, for valid (i, j). Queue: FIX from acc, else MTE3. Architectures: A2/A3, A5.
    Defaults: `stPhase`: unspecified, `atomicType`: atomic_none, `reluPreMode`: no_relu."""
    _build_op("pto.tstore", groups=[src, fp, preQuantScalar, dst], kinds="vvav", attributes={"stPhase": ("st_phase", stPhase), "atomicType": ("atomic_type", atomicType), "reluPreMode": ("relu_pre_mode", reluPreMode)}, segments=True, results=[])[1]


def tstore_fp(src: Value, fp: Value, dst: Value) -> None:
    """Store an accumulator, quantised by a vector of scales. dst[i, j] = quantise(fp[j] * src[i, j]). Queue: FIX.
    Architectures: A2/A3, A5."""
    _build_op("pto.tstore_fp", groups=[src, fp, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tmov(src: Value, dst: Value, *, fp: Value | None = None, preQuantScalar: Scalar | None = None, accToVecMode: ptoas.AccToVecMode | str | None = None, reluPreMode: ptoas.ReluPreMode | str | None = None, grpAxis: ptoas.MxGroupAxis | str | None = None) -> None:
    """Move a tile between memory spaces. dst[i, j] = relu(scale * src[i, j]). Queue: MTE1 from mat, FIX from acc,
    MTE3 from vec to mat, else V. Architectures: A2/A3, A5. Defaults: `reluPreMode`: no_relu."""
    _build_op("pto.tmov", groups=[src, fp, preQuantScalar, dst], kinds="vvav", attributes={"accToVecMode": ("acc_to_vec_mode", accToVecMode), "reluPreMode": ("relu_pre_mode", reluPreMode), "grpAxis": ("mx_group_axis", grpAxis)}, segments=True, results=[])[1]


def tmov_fp(src: Value, fp: Value, dst: Value) -> None:
    """Move an accumulator to L1, quantised by a vector of scales. dst[i, j] = quantise(fp[j] * src[i, j]). Queue:
    FIX. Architectures: A2/A3, A5."""
    _build_op("pto.tmov.fp", groups=[src, fp, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def textract(src: Value, row: Scalar, col: Scalar, dst: Value, *, fp: Value | None = None, preQuantScalar: Scalar | None = None, accToVecMode: ptoas.AccToVecMode | str | None = None, reluPreMode: ptoas.ReluPreMode | str | None = None) -> None:
    """Copy the window of a tile that starts at (row, col). dst[i, j] = src[row + i, col + j]. Queue: MTE1 from mat,
    FIX from acc or to mat, else V. Architectures: A2/A3, A5. Defaults: `reluPreMode`: no_relu."""
    _build_op("pto.textract", groups=[src, row, col, fp, preQuantScalar, dst], kinds="viivav", attributes={"accToVecMode": ("acc_to_vec_mode", accToVecMode), "reluPreMode": ("relu_pre_mode", reluPreMode)}, segments=True, results=[])[1]


def tinsert(src: Value, row: Scalar, col: Scalar, dst: Value, *, fp: Value | None = None, preQuantScalar: Scalar | None = None, accToVecMode: ptoas.AccToVecMode | str | None = None, tinsertMode: ptoas.TInsertMode | str | None = None, reluPreMode: ptoas.ReluPreMode | str | None = None) -> None:
    """Copy a tile into the window of another that starts at (row, col). dst[row + i, col + j] = src[i, j]. Queue:
    FIX from acc, MTE3 from vec to mat, V from vec to vec. Architectures: A2/A3, A5. Defaults: `reluPreMode`:
    no_relu."""
    _build_op("pto.tinsert", groups=[src, row, col, fp, preQuantScalar, dst], kinds="viivav", attributes={"accToVecMode": ("acc_to_vec_mode", accToVecMode), "tinsertMode": ("tinsert_mode", tinsertMode), "reluPreMode": ("relu_pre_mode", reluPreMode)}, segments=True, results=[])[1]


def textract_fp(src: Value, fp: Value, row: Scalar, col: Scalar, dst: Value) -> None:
    """textract from an accumulator, quantised by a vector of scales. dst[i, j] = quantise(fp[j] * src[row + i, col +
    j]). Queue: FIX. Architectures: A2/A3, A5."""
    _build_op("pto.textract_fp", groups=[src, fp, row, col, dst], kinds="vviiv", attributes={}, segments=False, results=[])[1]


def tinsert_fp(src: Value, fp: Value, row: Scalar, col: Scalar, dst: Value) -> None:
    """tinsert from an accumulator, quantised by a vector of scales. dst[row + i, col + j] = quantise(fp[j] * src[i,
    j]). Queue: FIX. Architectures: A2/A3, A5."""
    _build_op("pto.tinsert_fp", groups=[src, fp, row, col, dst], kinds="vviiv", attributes={}, segments=False, results=[])[1]


def tpack(src: Value, dst: Value) -> None:
    """Keep the low bytes of each element. dst[i, j] = src[i, j] mod 2^bits(dst). Queue: V. Architectures: A5."""
    _build_op("pto.tpack", groups=[src, dst], kinds="vv", attributes={}, segments=False, results=[])[1]


def ttrans(src: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """Transpose. dst[j, i] = src[i, j]. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.ttrans", groups=[src, tmp, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tconcat(src0: Value, src1: Value, dst: Value) -> None:
    """Put the valid columns of two tiles side by side. dst[i, :] = (src0[i, 0 .. c0), src1[i, 0 .. c1)), ck =
    validCol(src_k). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tconcat", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tconcatidx(src0: Value, src1: Value, idx0: Value, idx1: Value, dst: Value, *, dstIdx: Value | None = None) -> None:
    """Put the first idx0 bytes of each row of src0 and the first idx1 bytes of src1 side by side. dst[i, :] =
    (src0[i, 0 .. n0), src1[i, 0 .. n1)), nk = idx_k[i, 0] / bytes(element of idx_k); dstIdx[i, 0] = idx0[i,
    0] + idx1[i, 0]. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tconcatidx", groups=[src0, src1, idx0, idx1, dst, dstIdx], kinds="vvvvvv", attributes={}, segments=False, results=[])[1]


def tfillpad(src: Value, dst: Value, *, padValue: ptoas.PadValue | str | None = None) -> None:
    """Copy, and fill what is not valid with the pad value of dst. dst[i, j] = src[i, j] if valid, else pad. Queue:
    MTE1 in mat, V in vec. Architectures: A2/A3, A5."""
    _build_op("pto.tfillpad", groups=[src, dst], kinds="vv", attributes={"padValue": ("pad_value", padValue)}, segments=False, results=[])[1]


def tfillpad_inplace(src: Value, dst: Value, *, padValue: ptoas.PadValue | str | None = None) -> None:
    """Fill what is not valid with the pad value, in place. dst[i, j] = dst[i, j] if valid, else pad. Queue: MTE1 in
    mat, V in vec. Architectures: A2/A3, A5."""
    _build_op("pto.tfillpad_inplace", groups=[src, dst], kinds="vv", attributes={"padValue": ("pad_value", padValue)}, segments=False, results=[])[1]


def tfillpad_expand(src: Value, dst: Value, *, padValue: ptoas.PadValue | str | None = None) -> None:
    """Copy into a larger tile and fill the rest with the pad value. dst[i, j] = src[i, j] if valid, else pad. Queue:
    MTE1 in mat, V in vec. Architectures: A2/A3, A5."""
    _build_op("pto.tfillpad_expand", groups=[src, dst], kinds="vv", attributes={"padValue": ("pad_value", padValue)}, segments=False, results=[])[1]


def mgather(src: Value, indices: Value, dst: Value, *, tmp: Value | None = None, coalesce: ptoas.Coalesce | str | None = None, gatherOob: ptoas.GatherOOB | str | None = None) -> None:
    """Load rows or elements of global memory named by indices. dst[i, :] = src[indices[i], :] (row), or dst[i, j] =
    src.flat[indices[i, j]] (elem). Queue: MTE2. Architectures: A2/A3, A5. Defaults: `gatherOob`: undefined."""
    _build_op("pto.mgather", groups=[src, indices, tmp, dst], kinds="vvvv", attributes={"coalesce": ("coalesce", coalesce), "gatherOob": ("gather_oob", gatherOob)}, segments=False, results=[])[1]


def mscatter(src: Value, indices: Value, dst: Value, *, coalesce: ptoas.Coalesce | str | None = None, scatterAtomicOp: ptoas.ScatterAtomicOp | str | None = None, scatterOob: ptoas.ScatterOOB | str | None = None, scatterConflict: ptoas.ScatterConflict | str | None = None) -> None:
    """Store rows or elements to places of global memory named by indices. dst[indices[i], :] = src[i, :] (row), or
    dst.flat[indices[i, j]] = src[i, j] (elem). Queue: MTE3. Architectures: A2/A3, A5. Defaults:
    `scatterAtomicOp`: none, `scatterOob`: undefined."""
    _build_op("pto.mscatter", groups=[src, indices, dst], kinds="vvv", attributes={"coalesce": ("coalesce", coalesce), "scatterAtomicOp": ("scatter_atomic_op", scatterAtomicOp), "scatterOob": ("scatter_oob", scatterOob), "scatterConflict": ("scatter_conflict", scatterConflict)}, segments=False, results=[])[1]


def tmatmul(lhs: Value, rhs: Value, dst: Value, *, accPhase: ptoas.AccPhase | str | None = None) -> None:
    """dst = lhs * rhs. Queue: M. Architectures: A2/A3, A5."""
    _build_op("pto.tmatmul", groups=[lhs, rhs, dst], kinds="vvv", attributes={"accPhase": ("acc_phase", accPhase)}, segments=False, results=[])[1]


def tmatmul_acc(accIn: Value, lhs: Value, rhs: Value, dst: Value, *, accPhase: ptoas.AccPhase | str | None = None) -> None:
    """dst = accIn + lhs * rhs. Queue: M. Architectures: A2/A3, A5."""
    _build_op("pto.tmatmul.acc", groups=[accIn, lhs, rhs, dst], kinds="vvvv", attributes={"accPhase": ("acc_phase", accPhase)}, segments=False, results=[])[1]


def tmatmul_bias(lhs: Value, rhs: Value, bias: Value, dst: Value, *, accPhase: ptoas.AccPhase | str | None = None) -> None:
    """dst = lhs * rhs + bias. Queue: M. Architectures: A2/A3, A5."""
    _build_op("pto.tmatmul.bias", groups=[lhs, rhs, bias, dst], kinds="vvvv", attributes={"accPhase": ("acc_phase", accPhase)}, segments=False, results=[])[1]


def tmatmul_mx(lhs: Value, lhsScale: Value, rhs: Value, rhsScale: Value, dst: Value, *, accPhase: ptoas.AccPhase | str | None = None) -> None:
    """dst = lhs * rhs with a shared scale per group. Queue: M. Architectures: A5."""
    _build_op("pto.tmatmul.mx", groups=[lhs, lhsScale, rhs, rhsScale, dst], kinds="vvvvv", attributes={"accPhase": ("acc_phase", accPhase)}, segments=False, results=[])[1]


def tmatmul_mx_acc(accIn: Value, lhs: Value, lhsScale: Value, rhs: Value, rhsScale: Value, dst: Value, *, accPhase: ptoas.AccPhase | str | None = None) -> None:
    """dst = accIn + lhs * rhs with a shared scale per group. Queue: M. Architectures: A5."""
    _build_op("pto.tmatmul.mx.acc", groups=[accIn, lhs, lhsScale, rhs, rhsScale, dst], kinds="vvvvvv", attributes={"accPhase": ("acc_phase", accPhase)}, segments=False, results=[])[1]


def tmatmul_mx_bias(lhs: Value, lhsScale: Value, rhs: Value, rhsScale: Value, bias: Value, dst: Value, *, accPhase: ptoas.AccPhase | str | None = None) -> None:
    """dst = lhs * rhs + bias with a shared scale per group. Queue: M. Architectures: A5."""
    _build_op("pto.tmatmul.mx.bias", groups=[lhs, lhsScale, rhs, rhsScale, bias, dst], kinds="vvvvvv", attributes={"accPhase": ("acc_phase", accPhase)}, segments=False, results=[])[1]


def tgemv(lhs: Value, rhs: Value, dst: Value, *, accPhase: ptoas.AccPhase | str | None = None) -> None:
    """dst = lhs * rhs. Queue: M. Architectures: A2/A3, A5."""
    _build_op("pto.tgemv", groups=[lhs, rhs, dst], kinds="vvv", attributes={"accPhase": ("acc_phase", accPhase)}, segments=False, results=[])[1]


def tgemv_acc(accIn: Value, lhs: Value, rhs: Value, dst: Value, *, accPhase: ptoas.AccPhase | str | None = None) -> None:
    """dst = accIn + lhs * rhs. Queue: M. Architectures: A2/A3, A5."""
    _build_op("pto.tgemv.acc", groups=[accIn, lhs, rhs, dst], kinds="vvvv", attributes={"accPhase": ("acc_phase", accPhase)}, segments=False, results=[])[1]


def tgemv_bias(lhs: Value, rhs: Value, bias: Value, dst: Value, *, accPhase: ptoas.AccPhase | str | None = None) -> None:
    """dst = lhs * rhs + bias. Queue: M. Architectures: A2/A3, A5."""
    _build_op("pto.tgemv.bias", groups=[lhs, rhs, bias, dst], kinds="vvvv", attributes={"accPhase": ("acc_phase", accPhase)}, segments=False, results=[])[1]


def tgemv_mx(lhs: Value, lhsScale: Value, rhs: Value, rhsScale: Value, dst: Value, *, accPhase: ptoas.AccPhase | str | None = None) -> None:
    """dst = lhs * rhs with a shared scale per group. Queue: M. Architectures: A5."""
    _build_op("pto.tgemv.mx", groups=[lhs, lhsScale, rhs, rhsScale, dst], kinds="vvvvv", attributes={"accPhase": ("acc_phase", accPhase)}, segments=False, results=[])[1]


def tgemv_mx_acc(accIn: Value, lhs: Value, lhsScale: Value, rhs: Value, rhsScale: Value, dst: Value, *, accPhase: ptoas.AccPhase | str | None = None) -> None:
    """dst = accIn + lhs * rhs with a shared scale per group. Queue: M. Architectures: A5."""
    _build_op("pto.tgemv.mx.acc", groups=[accIn, lhs, lhsScale, rhs, rhsScale, dst], kinds="vvvvvv", attributes={"accPhase": ("acc_phase", accPhase)}, segments=False, results=[])[1]


def tgemv_mx_bias(lhs: Value, lhsScale: Value, rhs: Value, rhsScale: Value, bias: Value, dst: Value, *, accPhase: ptoas.AccPhase | str | None = None) -> None:
    """dst = lhs * rhs + bias with a shared scale per group. Queue: M. Architectures: A5."""
    _build_op("pto.tgemv.mx.bias", groups=[lhs, lhsScale, rhs, rhsScale, bias, dst], kinds="vvvvvv", attributes={"accPhase": ("acc_phase", accPhase)}, segments=False, results=[])[1]


def tget_scale_addr(src: Value, dst: Value) -> None:
    """Bind dst to the scales that belong to src. address(dst) = address(src) >> 4. Queue: S. Architectures: A5."""
    _build_op("pto.tget_scale_addr", groups=[src, dst], kinds="vv", attributes={}, segments=False, results=[])[1]


def tadd(src0: Value, src1: Value, dst: Value) -> None:
    """dst = src0 + src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tadd", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tsub(src0: Value, src1: Value, dst: Value) -> None:
    """dst = src0 - src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tsub", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tmul(src0: Value, src1: Value, dst: Value) -> None:
    """dst = src0 * src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tmul", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tdiv(src0: Value, src1: Value, dst: Value, *, precisionType: ptoas.DivPrecision | str | None = None) -> None:
    """dst = src0 / src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tdiv", groups=[src0, src1, dst], kinds="vvv", attributes={"precisionType": ("div_precision", precisionType)}, segments=False, results=[])[1]


def tmax(src0: Value, src1: Value, dst: Value) -> None:
    """dst = max(src0, src1). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tmax", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tmin(src0: Value, src1: Value, dst: Value) -> None:
    """dst = min(src0, src1). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tmin", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tfmod(src0: Value, src1: Value, dst: Value, *, precisionType: ptoas.FmodPrecision | str | None = None) -> None:
    """dst = src0 - trunc(src0 / src1) * src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tfmod", groups=[src0, src1, dst], kinds="vvv", attributes={"precisionType": ("fmod_precision", precisionType)}, segments=False, results=[])[1]


def trem(src0: Value, src1: Value, dst: Value, *, tmp: Value | None = None, precisionType: ptoas.RemPrecision | str | None = None) -> None:
    """dst = src0 - floor(src0 / src1) * src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trem", groups=[src0, src1, tmp, dst], kinds="vvvv", attributes={"precisionType": ("rem_precision", precisionType)}, segments=False, results=[])[1]


def tand(src0: Value, src1: Value, dst: Value) -> None:
    """dst = src0 & src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tand", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tor(src0: Value, src1: Value, dst: Value) -> None:
    """dst = src0 | src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tor", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def txor(src0: Value, src1: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """dst = src0 ^ src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.txor", groups=[src0, src1, tmp, dst], kinds="vvvv", attributes={}, segments=False, results=[])[1]


def tshl(src0: Value, src1: Value, dst: Value) -> None:
    """dst = src0 << src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tshl", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tshr(src0: Value, src1: Value, dst: Value) -> None:
    """dst = src0 >> src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tshr", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tprelu(src0: Value, src1: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """dst = src0 where positive, else src0 * src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tprelu", groups=[src0, src1, tmp, dst], kinds="vvvv", attributes={}, segments=False, results=[])[1]


def tpow(src0: Value, src1: Value, dst: Value, *, tmp: Value | None = None, precisionType: ptoas.PowPrecision | str | None = None) -> None:
    """dst = src0 to the power of src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tpow", groups=[src0, src1, tmp, dst], kinds="vvvv", attributes={"precisionType": ("pow_precision", precisionType)}, segments=False, results=[])[1]


def taddrelu(src0: Value, src1: Value, dst: Value) -> None:
    """dst = max(src0 + src1, 0). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.taddrelu", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def taddc(src0: Value, src1: Value, src2: Value, dst: Value) -> None:
    """dst = src0 + src1 + src2. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.taddc", groups=[src0, src1, src2, dst], kinds="vvvv", attributes={}, segments=False, results=[])[1]


def tsubc(src0: Value, src1: Value, src2: Value, dst: Value) -> None:
    """dst = src0 - src1 + src2. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tsubc", groups=[src0, src1, src2, dst], kinds="vvvv", attributes={}, segments=False, results=[])[1]


def tpartadd(src0: Value, src1: Value, dst: Value) -> None:
    """Sum where both are valid, else the valid one. dst = src0 + src1 where both are valid, else the one that is.
    Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tpartadd", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tpartmul(src0: Value, src1: Value, dst: Value) -> None:
    """Product where both are valid, else the valid one. dst = src0 * src1 where both are valid, else the one that
    is. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tpartmul", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tpartmax(src0: Value, src1: Value, dst: Value) -> None:
    """Maximum where both are valid, else the valid one. dst = max(src0, src1) where both are valid, else the one
    that is. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tpartmax", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tpartmin(src0: Value, src1: Value, dst: Value) -> None:
    """Minimum where both are valid, else the valid one. dst = min(src0, src1) where both are valid, else the one
    that is. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tpartmin", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tpartargmax(src0: Value, src1: Value, idx0: Value, idx1: Value, dst: Value, dstIdx: Value) -> None:
    """Larger value of two partial maxima, with its index. (dst, dstIdx) = (src0, idx0) if src0 > src1, else (src1,
    idx1). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tpartargmax", groups=[src0, src1, idx0, idx1, dst, dstIdx], kinds="vvvvvv", attributes={}, segments=False, results=[])[1]


def tpartargmin(src0: Value, src1: Value, idx0: Value, idx1: Value, dst: Value, dstIdx: Value) -> None:
    """Smaller value of two partial minima, with its index. (dst, dstIdx) = (src0, idx0) if src0 < src1, else (src1,
    idx1). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tpartargmin", groups=[src0, src1, idx0, idx1, dst, dstIdx], kinds="vvvvvv", attributes={}, segments=False, results=[])[1]


def tadds(src: Value, scalar: Scalar, dst: Value) -> None:
    """dst = src + scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tadds", groups=[src, scalar, dst], kinds="vsv", attributes={}, segments=False, results=[], element=src)[1]


def tsubs(src: Value, scalar: Scalar, dst: Value) -> None:
    """dst = src - scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tsubs", groups=[src, scalar, dst], kinds="vsv", attributes={}, segments=False, results=[], element=src)[1]


def tmuls(src: Value, scalar: Scalar, dst: Value) -> None:
    """dst = src * scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tmuls", groups=[src, scalar, dst], kinds="vsv", attributes={}, segments=False, results=[], element=src)[1]


def tdivs(src: Value, scalar: Scalar, dst: Value, *, scalarFirst: bool | None = None, precisionType: ptoas.DivPrecision | str | None = None) -> None:
    """dst = src / scalar, or scalar / src when the scalar stands first. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tdivs", groups=[src, scalar, dst], kinds="vsv", attributes={"scalarFirst": ("unit", scalarFirst), "precisionType": ("div_precision", precisionType)}, segments=False, results=[], element=src)[1]


def tmaxs(src: Value, scalar: Scalar, dst: Value) -> None:
    """dst = max(src, scalar). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tmaxs", groups=[src, scalar, dst], kinds="vsv", attributes={}, segments=False, results=[], element=src)[1]


def tmins(src: Value, scalar: Scalar, dst: Value) -> None:
    """dst = min(src, scalar). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tmins", groups=[src, scalar, dst], kinds="vsv", attributes={}, segments=False, results=[], element=src)[1]


def trems(src: Value, scalar: Scalar, dst: Value, *, tmp: Value | None = None, precisionType: ptoas.RemPrecision | str | None = None) -> None:
    """dst = src - floor(src / scalar) * scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trems", groups=[src, scalar, tmp, dst], kinds="vsvv", attributes={"precisionType": ("rem_precision", precisionType)}, segments=False, results=[], element=src)[1]


def tfmods(src: Value, scalar: Scalar, dst: Value, *, precisionType: ptoas.FmodPrecision | str | None = None) -> None:
    """dst = src - trunc(src / scalar) * scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tfmods", groups=[src, scalar, dst], kinds="vsv", attributes={"precisionType": ("fmod_precision", precisionType)}, segments=False, results=[], element=src)[1]


def tpows(src: Value, scalar: Scalar, dst: Value, *, tmp: Value | None = None, precisionType: ptoas.PowPrecision | str | None = None) -> None:
    """dst = src to the power of scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tpows", groups=[src, scalar, tmp, dst], kinds="vsvv", attributes={"precisionType": ("pow_precision", precisionType)}, segments=False, results=[], element=src)[1]


def tands(src: Value, scalar: Scalar, dst: Value) -> None:
    """dst = src & scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tands", groups=[src, scalar, dst], kinds="vsv", attributes={}, segments=False, results=[], element=src)[1]


def tors(src: Value, scalar: Scalar, dst: Value) -> None:
    """dst = src | scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tors", groups=[src, scalar, dst], kinds="vsv", attributes={}, segments=False, results=[], element=src)[1]


def txors(src: Value, scalar: Scalar, dst: Value, *, tmp: Value | None = None) -> None:
    """dst = src ^ scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.txors", groups=[src, scalar, tmp, dst], kinds="vsvv", attributes={}, segments=False, results=[], element=src)[1]


def tshls(src: Value, scalar: Scalar, dst: Value) -> None:
    """dst = src << scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tshls", groups=[src, scalar, dst], kinds="vsv", attributes={}, segments=False, results=[], element=src)[1]


def tshrs(src: Value, scalar: Scalar, dst: Value) -> None:
    """dst = src >> scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tshrs", groups=[src, scalar, dst], kinds="vsv", attributes={}, segments=False, results=[], element=src)[1]


def tlrelu(src: Value, scalar: Scalar, dst: Value) -> None:
    """dst = src where positive, else src * scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tlrelu", groups=[src, scalar, dst], kinds="vfv", attributes={}, segments=False, results=[])[1]


def taddsc(src0: Value, scalar: Scalar, src1: Value, dst: Value) -> None:
    """dst = src0 + scalar + src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.taddsc", groups=[src0, scalar, src1, dst], kinds="vsvv", attributes={}, segments=False, results=[], element=src0)[1]


def tsubsc(src0: Value, scalar: Scalar, src1: Value, dst: Value) -> None:
    """dst = src0 - scalar + src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tsubsc", groups=[src0, scalar, src1, dst], kinds="vsvv", attributes={}, segments=False, results=[], element=src0)[1]


def taxpy(src: Value, scalar: Scalar, dst: Value) -> None:
    """dst += src * scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.taxpy", groups=[src, scalar, dst], kinds="vsv", attributes={}, segments=False, results=[], element=src)[1]


def texpands(scalar: Scalar, dst: Value) -> None:
    """Fill a tile with a scalar. dst[i, j] = scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.texpands", groups=[scalar, dst], kinds="sv", attributes={}, segments=False, results=[], element=dst)[1]


def tabs(src: Value, dst: Value) -> None:
    """dst = |src|. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tabs", groups=[src, dst], kinds="vv", attributes={}, segments=False, results=[])[1]


def texp(src: Value, dst: Value, *, precisionType: ptoas.ExpPrecision | str | None = None) -> None:
    """dst = e to the power of src. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.texp", groups=[src, dst], kinds="vv", attributes={"precisionType": ("exp_precision", precisionType)}, segments=False, results=[])[1]


def tlog(src: Value, dst: Value, *, precisionType: ptoas.LogPrecision | str | None = None) -> None:
    """dst = natural logarithm of src. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tlog", groups=[src, dst], kinds="vv", attributes={"precisionType": ("log_precision", precisionType)}, segments=False, results=[])[1]


def tsqrt(src: Value, dst: Value, *, precisionType: ptoas.SqrtPrecision | str | None = None) -> None:
    """dst = square root of src. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tsqrt", groups=[src, dst], kinds="vv", attributes={"precisionType": ("sqrt_precision", precisionType)}, segments=False, results=[])[1]


def trsqrt(src: Value, dst: Value, *, tmp: Value | None = None, precisionType: ptoas.RsqrtPrecision | str | None = None) -> None:
    """dst = 1 / square root of src. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trsqrt", groups=[src, tmp, dst], kinds="vvv", attributes={"precisionType": ("rsqrt_precision", precisionType)}, segments=False, results=[])[1]


def trecip(src: Value, dst: Value, *, precisionType: ptoas.RecipPrecision | str | None = None) -> None:
    """dst = 1 / src. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trecip", groups=[src, dst], kinds="vv", attributes={"precisionType": ("recip_precision", precisionType)}, segments=False, results=[])[1]


def tneg(src: Value, dst: Value) -> None:
    """dst = -src. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tneg", groups=[src, dst], kinds="vv", attributes={}, segments=False, results=[])[1]


def trelu(src: Value, dst: Value) -> None:
    """dst = max(src, 0). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trelu", groups=[src, dst], kinds="vv", attributes={}, segments=False, results=[])[1]


def tnot(src: Value, dst: Value) -> None:
    """dst = ~src. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tnot", groups=[src, dst], kinds="vv", attributes={}, segments=False, results=[])[1]


def tcvt(src: Value, dst: Value, *, tmp: Value | None = None, rmode: ptoas.RoundMode | str | None = None, sat_mode: ptoas.SaturationMode | str | None = None) -> None:
    """Convert the element type. dst[i, j] = convert(src[i, j], rmode, sat_mode). Queue: V. Architectures: A2/A3, A5.
    Defaults: `rmode`: CAST_RINT."""
    _build_op("pto.tcvt", groups=[src, tmp, dst], kinds="vvv", attributes={"rmode": ("round_mode", rmode), "sat_mode": ("saturation_mode", sat_mode)}, segments=False, results=[])[1]


def tcmp(src0: Value, src1: Value, dst: Value, *, cmpMode: ptoas.CmpMode | str | None = None) -> None:
    """Packed mask of src0 cmp src1. bit j of dst[i, :] = src0[i, j] cmp src1[i, j]. Queue: V. Architectures: A2/A3,
    A5. Defaults: `cmpMode`: eq."""
    _build_op("pto.tcmp", groups=[src0, src1, dst], kinds="vvv", attributes={"cmpMode": ("cmp", cmpMode)}, segments=False, results=[])[1]


def tcmps(src: Value, scalar: Scalar, dst: Value, *, cmpMode: ptoas.CmpMode | str | None = None) -> None:
    """Packed mask of src cmp scalar. bit j of dst[i, :] = src[i, j] cmp scalar. Queue: V. Architectures: A2/A3, A5.
    Defaults: `cmpMode`: eq."""
    _build_op("pto.tcmps", groups=[src, scalar, dst], kinds="vsv", attributes={"cmpMode": ("cmp", cmpMode)}, segments=False, results=[], element=src)[1]


def tsel(mask: Value, src0: Value, src1: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """dst = src0 where the mask is set, else src1. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tsel", groups=[mask, src0, src1, tmp, dst], kinds="vvvvv", attributes={}, segments=False, results=[])[1]


def tsels(mask: Value, src: Value, scalar: Scalar, dst: Value, *, tmp: Value | None = None) -> None:
    """dst = src where the mask is set, else scalar. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tsels", groups=[mask, src, tmp, scalar, dst], kinds="vvvsv", attributes={}, segments=False, results=[], element=src)[1]


def tci(start: Scalar, dst: Value, *, tmp: Value | None = None, descending: bool | None = None) -> None:
    """Count up (or down) from start along the row. dst[0, j] = start + j, or start - j when descending. Queue: S.
    Architectures: A2/A3, A5. Defaults: `descending`: false."""
    _build_op("pto.tci", groups=[start, tmp, dst], kinds="svv", attributes={"descending": ("bool", descending)}, segments=False, results=[], element=dst)[1]


def ttri(diagonal: Scalar, dst: Value, *, upperOrLower: int | None = None) -> None:
    """Ones below (0) or above (1) a diagonal, zeros elsewhere. dst[i, j] = 1 if j <= i + diagonal (lower) or j >= i
    + diagonal (upper), else 0. Queue: V. Architectures: A2/A3, A5. Defaults: `upperOrLower`: 0."""
    _build_op("pto.ttri", groups=[diagonal, dst], kinds="wv", attributes={"upperOrLower": ("int", upperOrLower)}, segments=False, results=[])[1]


def trandom(key0: Scalar, key1: Scalar, counter0: Scalar, counter1: Scalar, counter2: Scalar, counter3: Scalar, dst: Value, *, rounds: int | None = None) -> None:
    """Counter-based random bits. dst = philox(key, counter + i, rounds). Queue: V. Architectures: A5. Defaults:
    `rounds`: 10."""
    _build_op("pto.trandom", groups=[key0, key1, counter0, counter1, counter2, counter3, dst], kinds="wwwwwwv", attributes={"rounds": ("int", rounds)}, segments=False, results=[])[1]


def thistogram(src: Value, indices: Value, dst: Value, *, isMSB: bool | None = None, byte: int | None = None) -> None:
    """Count the values of one byte per row. dst[i, v] = number of j with byte(src[i, j]) <= v, for elements whose
    upper byte is indices[i]. Queue: V. Architectures: A5."""
    _build_op("pto.thistogram", groups=[src, indices, dst], kinds="vvv", attributes={"isMSB": ("bool", isMSB), "byte": ("int", byte)}, segments=False, results=[])[1]


def trowsum(src: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """Sum of each row. dst[i, 0] = sum_j src[i, j]. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trowsum", groups=[src, tmp, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def trowmax(src: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """Maximum of each row. dst[i, 0] = max_j src[i, j]. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trowmax", groups=[src, tmp, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def trowmin(src: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """Minimum of each row. dst[i, 0] = min_j src[i, j]. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trowmin", groups=[src, tmp, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def trowprod(src: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """Product of each row. dst[i, 0] = prod_j src[i, j]. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trowprod", groups=[src, tmp, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def trowargmax(src: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """Column of the maximum of each row. dst[i, 0] = the first j where src[i, j] is greatest. Queue: V.
    Architectures: A2/A3, A5."""
    _build_op("pto.trowargmax", groups=[src, tmp, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def trowargmin(src: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """Column of the minimum of each row. dst[i, 0] = the first j where src[i, j] is least. Queue: V. Architectures:
    A2/A3, A5."""
    _build_op("pto.trowargmin", groups=[src, tmp, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tcolsum(src: Value, dst: Value, *, tmp: Value | None = None, isBinary: bool | None = None) -> None:
    """Sum of each column. dst[0, j] = sum_i src[i, j]. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tcolsum", groups=[src, tmp, dst], kinds="vvv", attributes={"isBinary": ("bool", isBinary)}, segments=False, results=[])[1]


def tcolmax(src: Value, dst: Value) -> None:
    """Maximum of each column. dst[0, j] = max_i src[i, j]. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tcolmax", groups=[src, dst], kinds="vv", attributes={}, segments=False, results=[])[1]


def tcolmin(src: Value, dst: Value) -> None:
    """Minimum of each column. dst[0, j] = min_i src[i, j]. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tcolmin", groups=[src, dst], kinds="vv", attributes={}, segments=False, results=[])[1]


def tcolprod(src: Value, dst: Value) -> None:
    """Product of each column. dst[0, j] = prod_i src[i, j]. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tcolprod", groups=[src, dst], kinds="vv", attributes={}, segments=False, results=[])[1]


def tcolargmax(src: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """Row of the maximum of each column. dst[0, j] = the first i where src[i, j] is greatest. Queue: V.
    Architectures: A2/A3, A5."""
    _build_op("pto.tcolargmax", groups=[src, tmp, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tcolargmin(src: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """Row of the minimum of each column. dst[0, j] = the first i where src[i, j] is least. Queue: V. Architectures:
    A2/A3, A5."""
    _build_op("pto.tcolargmin", groups=[src, tmp, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def trowexpand(src: Value, dst: Value) -> None:
    """Repeat the first value of each row along the row. dst[i, j] = src[i, 0]. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trowexpand", groups=[src, dst], kinds="vv", attributes={}, segments=False, results=[])[1]


def trowexpandadd(src0: Value, src1: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """dst = src0 + (src1 per row). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trowexpandadd", groups=[src0, src1, tmp, dst], kinds="vvvv", attributes={}, segments=False, results=[])[1]


def trowexpandsub(src0: Value, src1: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """dst = src0 - (src1 per row). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trowexpandsub", groups=[src0, src1, tmp, dst], kinds="vvvv", attributes={}, segments=False, results=[])[1]


def trowexpandmul(src0: Value, src1: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """dst = src0 * (src1 per row). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trowexpandmul", groups=[src0, src1, tmp, dst], kinds="vvvv", attributes={}, segments=False, results=[])[1]


def trowexpanddiv(src0: Value, src1: Value, dst: Value, *, tmp: Value | None = None, precisionType: ptoas.DivPrecision | str | None = None) -> None:
    """dst = src0 / (src1 per row). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trowexpanddiv", groups=[src0, src1, tmp, dst], kinds="vvvv", attributes={"precisionType": ("div_precision", precisionType)}, segments=False, results=[])[1]


def trowexpandmax(src0: Value, src1: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """dst = max(src0, src1 per row). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trowexpandmax", groups=[src0, src1, tmp, dst], kinds="vvvv", attributes={}, segments=False, results=[])[1]


def trowexpandmin(src0: Value, src1: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """dst = min(src0, src1 per row). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trowexpandmin", groups=[src0, src1, tmp, dst], kinds="vvvv", attributes={}, segments=False, results=[])[1]


def trowexpandexpdif(src0: Value, src1: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """dst = exp(src0 - (src1 per row)). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.trowexpandexpdif", groups=[src0, src1, tmp, dst], kinds="vvvv", attributes={}, segments=False, results=[])[1]


def tcolexpand(src: Value, dst: Value) -> None:
    """Repeat the first row down the tile. dst[i, j] = src[0, j]. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tcolexpand", groups=[src, dst], kinds="vv", attributes={}, segments=False, results=[])[1]


def tcolexpandadd(src0: Value, src1: Value, dst: Value) -> None:
    """dst = src0 + (src1 per column). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tcolexpandadd", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tcolexpandsub(src0: Value, src1: Value, dst: Value) -> None:
    """dst = src0 - (src1 per column). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tcolexpandsub", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tcolexpandmul(src0: Value, src1: Value, dst: Value) -> None:
    """dst = src0 * (src1 per column). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tcolexpandmul", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tcolexpanddiv(src0: Value, src1: Value, dst: Value, *, precisionType: ptoas.DivPrecision | str | None = None) -> None:
    """dst = src0 / (src1 per column). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tcolexpanddiv", groups=[src0, src1, dst], kinds="vvv", attributes={"precisionType": ("div_precision", precisionType)}, segments=False, results=[])[1]


def tcolexpandmax(src0: Value, src1: Value, dst: Value) -> None:
    """dst = max(src0, src1 per column). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tcolexpandmax", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tcolexpandmin(src0: Value, src1: Value, dst: Value) -> None:
    """dst = min(src0, src1 per column). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tcolexpandmin", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tcolexpandexpdif(src0: Value, src1: Value, dst: Value) -> None:
    """dst = exp(src0 - (src1 per column)). Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tcolexpandexpdif", groups=[src0, src1, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tgather(src: Value, dst: Value, *, indices: Value | None = None, kValue: Scalar | None = None, tmp: Value | None = None, cdst: Value | None = None, maskPattern: ptoas.MaskPattern | str | None = None, axis: str | None = None, cmpMode: ptoas.CmpMode | str | None = None, offset: int | None = None) -> None:
    """Collect elements by index, by mask pattern, or by comparison. dst[i, j] = src.flat[indices[i, j]]; with
    maskPattern the marked elements of each group, packed; with a value the positions that compare true,
    packed. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tgather", groups=[src, indices, kValue, tmp, dst, cdst], kinds="vvsvvv", attributes={"maskPattern": ("mask_pattern", maskPattern), "axis": ("str", axis), "cmpMode": ("cmp", cmpMode), "offset": ("int", offset)}, segments=True, results=[], element=src)[1]


def tgatherb(src: Value, offsets: Value, dst: Value) -> None:
    """Collect 32-byte blocks by byte offset. 32 bytes of dst at block k = 32 bytes of src at offsets[k]. Queue: V.
    Architectures: A2/A3, A5."""
    _build_op("pto.tgatherb", groups=[src, offsets, dst], kinds="vvv", attributes={}, segments=False, results=[])[1]


def tscatter(src: Value, dst: Value, *, indices: Value | None = None, maskPattern: ptoas.MaskPattern | str | None = None, axis: str | None = None) -> None:
    """Write elements to the places named by indices. dst = 0, then dst.flat[indices[i, j]] = src[i, j]; with
    maskPattern dst[i, marked j] = the elements of src[i, :] in order, all others 0. Queue: V on A5, S on
    A2/A3. Architectures: A2/A3, A5."""
    _build_op("pto.tscatter", groups=[src, indices, dst], kinds="vvv", attributes={"maskPattern": ("mask_pattern", maskPattern), "axis": ("str", axis)}, segments=False, results=[])[1]


def tsort32(src: Value, indices: Value, dst: Value, *, tmp: Value | None = None) -> None:
    """Sort runs of 32 in falling order; dst holds value and index pairs. dst[i, :] = runs of 32 pairs (src[i, j],
    indices[i, j]) in falling order of src. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tsort32", groups=[src, indices, tmp, dst], kinds="vvvv", attributes={}, segments=False, results=[])[1]


def tmrgsort(srcs: Sequence[Value], dst: Value, *, blockLen: Scalar | None = None, tmp: Value | None = None, executed: Value | None = None, exhausted: bool | None = None, no_tmp: bool | None = None) -> None:
    """Merge sorted runs of one row, or two to four sorted lists. dst = the pairs of all lists in falling order.
    Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tmrgsort", groups=[srcs, blockLen, tmp, dst, executed], kinds="vwvvv", attributes={"exhausted": ("bool", exhausted), "no_tmp": ("unit", no_tmp)}, segments=True, results=[])[1]


def tquant(src: Value, fp: Value, dst: Value, quant_type: ptoas.QuantType | str, *, offset: Value | None = None, tmp: Value | None = None) -> None:
    """Quantise to eight bits. dst[i, j] = saturate(rint(src[i, j] * fp[i]) + offset[i]). Queue: V. Architectures:
    A2/A3, A5."""
    _build_op("pto.tquant", groups=[src, fp, offset, tmp, dst], kinds="vvvvv", attributes={"quant_type": ("quant_type", quant_type)}, segments=True, results=[])[1]


def tquant_mx(src: Value, dst: Value, exp: Value, max: Value, scaling: Value, quant_type: ptoas.QuantType | str, *, expZz: Value | None = None, quantScaleAlg: ptoas.QuantScaleAlg | str | None = None, grpAxis: ptoas.MxGroupAxis | str | None = None, storeMode: ptoas.VecStoreMode | str | None = None, interleave: bool | None = None) -> None:
    """Quantise groups of 32 elements with one power-of-two scale each. exp[g] = scale of group g; dst[i, j] =
    convert(src[i, j] / 2^exp[g]). Queue: V. Architectures: A5."""
    _build_op("pto.tquant.mx", groups=[src, dst, exp, max, scaling, expZz], kinds="vvvvvv", attributes={"quant_type": ("quant_type", quant_type), "quantScaleAlg": ("quant_scale_alg", quantScaleAlg), "grpAxis": ("mx_group_axis", grpAxis), "storeMode": ("vec_store_mode", storeMode), "interleave": ("bool", interleave)}, segments=False, results=[])[1]


def tdequant(src: Value, scale: Value, offset: Value, dst: Value) -> None:
    """dst = (src - offset) * scale. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tdequant", groups=[src, scale, offset, dst], kinds="vvvv", attributes={}, segments=False, results=[])[1]


def tsetval(offset: Scalar, value: Scalar, dst: Value) -> None:
    """Write one element of a tile by its linear index. dst.flat[offset] = value. Queue: S. Architectures: A2/A3, A5."""
    _build_op("pto.tsetval", groups=[offset, value, dst], kinds="isv", attributes={}, segments=False, results=[], element=dst)[1]


def tgetval(src: Value, offset: Scalar, *, result: str | None = None) -> Value:
    """Read one element of a tile by its linear index. result = src.flat[offset]. Queue: S. Architectures: A2/A3, A5."""
    return _build_op("pto.tgetval", groups=[src, offset], kinds="vi", attributes={}, segments=False, results=[result])[1][0]


def get_block_idx() -> Value:
    """Index of this block. result = block, 0 <= block < blocks. Architectures: A2/A3, A5."""
    return _build_op("pto.get_block_idx", groups=[], kinds="", attributes={}, segments=False, results=['i64'])[1][0]


def get_block_num() -> Value:
    """Number of blocks. result = blocks. Architectures: A2/A3, A5."""
    return _build_op("pto.get_block_num", groups=[], kinds="", attributes={}, segments=False, results=['i64'])[1][0]


def get_subblock_idx() -> Value:
    """Index of this vector core in its cluster. result = lane, 0 or 1. Architectures: A2/A3, A5."""
    return _build_op("pto.get_subblock_idx", groups=[], kinds="", attributes={}, segments=False, results=['i64'])[1][0]


def get_subblock_num() -> Value:
    """Number of vector cores in a cluster. result = lanes. Architectures: A2/A3, A5."""
    return _build_op("pto.get_subblock_num", groups=[], kinds="", attributes={}, segments=False, results=['i64'])[1][0]


def tprint(src: Value, *, printFormat: ptoas.PrintFormat | str | None = None) -> None:
    """Print a tile. Queue: V. Architectures: A2/A3, A5."""
    _build_op("pto.tprint", groups=[src], kinds="v", attributes={"printFormat": ("print_format", printFormat)}, segments=False, results=[])[1]


def print_(format: str, *, value: Value | None = None) -> None:
    """Print a scalar through a format string. Queue: S. Architectures: A2/A3, A5."""
    _build_op("pto.print", groups=[value], kinds="v", attributes={"format": ("str", format)}, segments=False, results=[])[1]


def trap() -> None:
    """Stop the core. Queue: S. Architectures: A2/A3, A5."""
    _build_op("pto.trap", groups=[], kinds="", attributes={}, segments=False, results=[])[1]


def declare_local_array(result: str) -> Value:
    """A scalar array on the stack. Architectures: A2/A3, A5."""
    return _build_op("pto.declare_local_array", groups=[], kinds="", attributes={}, segments=False, results=[result])[1][0]


def local_array_get(array: Value, indices: Sequence[Scalar], *, result: str | None = None) -> Value:
    """Read an element of a local array. value = array[indices]. Queue: S. Architectures: A2/A3, A5."""
    return _build_op("pto.local_array_get", groups=[array, indices], kinds="vi", attributes={}, segments=False, results=[result])[1][0]


def local_array_set(array: Value, indices: Sequence[Scalar], value: Scalar) -> None:
    """Write an element of a local array. array[indices] = value. Queue: S. Architectures: A2/A3, A5."""
    _build_op("pto.local_array_set", groups=[array, indices, value], kinds="vis", attributes={}, segments=False, results=[], element=array)[1]


def declare_struct(result: str) -> Value:
    """A struct on the stack. Architectures: A2/A3, A5."""
    return _build_op("pto.declare_struct", groups=[], kinds="", attributes={}, segments=False, results=[result])[1][0]


def struct_get(object: Value, path: Sequence[int], result: str) -> Value:
    """Read a member of a struct. value = object.path. Architectures: A2/A3, A5."""
    return _build_op("pto.struct_get", groups=[object], kinds="v", attributes={"path": ("ints", path)}, segments=False, results=[result])[1][0]


def struct_set(object: Value, path: Sequence[int], value: Value) -> None:
    """Write a member of a struct. object.path = value. Architectures: A2/A3, A5."""
    _build_op("pto.struct_set", groups=[object, value], kinds="vv", attributes={"path": ("ints", path)}, segments=False, results=[])[1]


def set_flag(src_pipe: ptoas.PIPE | str, dst_pipe: ptoas.PIPE | str, event_id: ptoas.EVENT | str) -> None:
    """Queue src signals an event to queue dst. Architectures: A2/A3, A5."""
    _build_op("pto.set_flag", groups=[], kinds="", attributes={"src_pipe": ("pipe", src_pipe), "dst_pipe": ("pipe", dst_pipe), "event_id": ("event", event_id)}, segments=False, results=[])[1]


def wait_flag(src_pipe: ptoas.PIPE | str, dst_pipe: ptoas.PIPE | str, event_id: ptoas.EVENT | str) -> None:
    """Queue dst waits for an event of queue src. Architectures: A2/A3, A5."""
    _build_op("pto.wait_flag", groups=[], kinds="", attributes={"src_pipe": ("pipe", src_pipe), "dst_pipe": ("pipe", dst_pipe), "event_id": ("event", event_id)}, segments=False, results=[])[1]


def set_flag_dyn(src_pipe: ptoas.PIPE | str, dst_pipe: ptoas.PIPE | str, event_id: Scalar) -> None:
    """set_flag with a run-time event id. Architectures: A2/A3, A5."""
    _build_op("pto.set_flag_dyn", groups=[event_id], kinds="i", attributes={"src_pipe": ("pipe", src_pipe), "dst_pipe": ("pipe", dst_pipe)}, segments=False, results=[])[1]


def wait_flag_dyn(src_pipe: ptoas.PIPE | str, dst_pipe: ptoas.PIPE | str, event_id: Scalar) -> None:
    """wait_flag with a run-time event id. Architectures: A2/A3, A5."""
    _build_op("pto.wait_flag_dyn", groups=[event_id], kinds="i", attributes={"src_pipe": ("pipe", src_pipe), "dst_pipe": ("pipe", dst_pipe)}, segments=False, results=[])[1]


def declare_eventid_array(result: str) -> Value:
    """Storage for run-time event ids. Architectures: A2/A3, A5."""
    return _build_op("pto.declare_eventid_array", groups=[], kinds="", attributes={}, segments=False, results=[result])[1][0]


def eventid_array_get(array: Value, index: Scalar) -> Value:
    """Read an event id. result = array[index]. Architectures: A2/A3, A5."""
    return _build_op("pto.eventid_array_get", groups=[array, index], kinds="vi", attributes={}, segments=False, results=['index'])[1][0]


def eventid_array_set(array: Value, index: Scalar, value: Scalar) -> None:
    """Write an event id. array[index] = value. Architectures: A2/A3, A5."""
    _build_op("pto.eventid_array_set", groups=[array, index, value], kinds="vii", attributes={}, segments=False, results=[])[1]


def record_event(src_op: ptoas.PipeEventType | str, dst_op: ptoas.PipeEventType | str, event_id: ptoas.EVENT | str) -> None:
    """set_flag named by kinds of instruction. Architectures: A2/A3, A5."""
    _build_op("pto.record_event", groups=[], kinds="", attributes={"src_op": ("pipe_event_type", src_op), "dst_op": ("pipe_event_type", dst_op), "event_id": ("event", event_id)}, segments=False, results=[])[1]


def wait_event(src_op: ptoas.PipeEventType | str, dst_op: ptoas.PipeEventType | str, event_id: ptoas.EVENT | str) -> None:
    """wait_flag named by kinds of instruction. Architectures: A2/A3, A5."""
    _build_op("pto.wait_event", groups=[], kinds="", attributes={"src_op": ("pipe_event_type", src_op), "dst_op": ("pipe_event_type", dst_op), "event_id": ("event", event_id)}, segments=False, results=[])[1]


def barrier(pipe: ptoas.PIPE | str) -> None:
    """Everything issued to the queue before is done before anything after. Architectures: A2/A3, A5."""
    _build_op("pto.barrier", groups=[], kinds="", attributes={"pipe": ("pipe", pipe)}, segments=False, results=[])[1]


def barrier_sync(op_type: ptoas.PipeEventType | str) -> None:
    """Barrier of the queue that runs a kind of instruction. Architectures: A2/A3, A5."""
    _build_op("pto.barrier_sync", groups=[], kinds="", attributes={"op_type": ("pipe_event_type", op_type)}, segments=False, results=[])[1]


def get_buf(pipe: ptoas.PIPE | str, buf_id: int, *, mode: int | None = None) -> None:
    """Take the token of a buffer. Architectures: A2/A3, A5. Defaults: `mode`: 0."""
    _build_op("pto.get_buf", groups=[], kinds="", attributes={"pipe": ("pipe", pipe), "buf_id": ("int", buf_id), "mode": ("int", mode)}, segments=False, results=[])[1]


def rls_buf(pipe: ptoas.PIPE | str, buf_id: int, *, mode: int | None = None) -> None:
    """Give the token of a buffer back. Architectures: A2/A3, A5. Defaults: `mode`: 0."""
    _build_op("pto.rls_buf", groups=[], kinds="", attributes={"pipe": ("pipe", pipe), "buf_id": ("int", buf_id), "mode": ("int", mode)}, segments=False, results=[])[1]


def get_buf_dyn(pipe: ptoas.PIPE | str, buf_id: Scalar, *, mode: int | None = None) -> None:
    """get_buf with a run-time buffer id. Architectures: A2/A3, A5. Defaults: `mode`: 0."""
    _build_op("pto.get_buf_dyn", groups=[buf_id], kinds="i", attributes={"pipe": ("pipe", pipe), "mode": ("int", mode)}, segments=False, results=[])[1]


def rls_buf_dyn(pipe: ptoas.PIPE | str, buf_id: Scalar, *, mode: int | None = None) -> None:
    """rls_buf with a run-time buffer id. Architectures: A2/A3, A5. Defaults: `mode`: 0."""
    _build_op("pto.rls_buf_dyn", groups=[buf_id], kinds="i", attributes={"pipe": ("pipe", pipe), "mode": ("int", mode)}, segments=False, results=[])[1]


def mem_bar(kind: ptoas.MemBar | str) -> None:
    """Order memory accesses of one kind before those of another (A5). Architectures: A5."""
    _build_op("pto.mem_bar", groups=[], kinds="", attributes={"kind": ("membar", kind)}, segments=False, results=[])[1]


def sync_set(pipe: ptoas.PIPE | str, *, event_id: int | None = None, event_id_dyn: Scalar | None = None, ffts_mode: int | None = None) -> None:
    """Signal the other core of the cluster. Architectures: A2/A3, A5."""
    _build_op("pto.sync.set", groups=[event_id_dyn], kinds="i", attributes={"pipe": ("pipe", pipe), "event_id": ("int", event_id), "ffts_mode": ("int", ffts_mode)}, segments=False, results=[])[1]


def sync_wait(pipe: ptoas.PIPE | str, *, event_id: int | None = None, event_id_dyn: Scalar | None = None, ffts_mode: int | None = None) -> None:
    """Wait for a signal of the other core of the cluster. Architectures: A2/A3, A5."""
    _build_op("pto.sync.wait", groups=[event_id_dyn], kinds="i", attributes={"pipe": ("pipe", pipe), "event_id": ("int", event_id), "ffts_mode": ("int", ffts_mode)}, segments=False, results=[])[1]


def set_ffts(base: Value) -> None:
    """Base address of the cross-core signals. Architectures: A2/A3, A5."""
    _build_op("pto.set_ffts", groups=[base], kinds="v", attributes={}, segments=False, results=[])[1]


def set_cross_block(pipe: ptoas.PIPE | str, *, event_id: int | None = None, event_id_dyn: Scalar | None = None) -> None:
    """Signal another block. Architectures: A2/A3, A5."""
    _build_op("pto.set_cross_block", groups=[event_id_dyn], kinds="i", attributes={"pipe": ("pipe", pipe), "event_id": ("int", event_id)}, segments=False, results=[])[1]


def wait_cross_block(pipe: ptoas.PIPE | str, *, event_id: int | None = None, event_id_dyn: Scalar | None = None) -> None:
    """Wait for another block. Architectures: A2/A3, A5."""
    _build_op("pto.wait_cross_block", groups=[event_id_dyn], kinds="i", attributes={"pipe": ("pipe", pipe), "event_id": ("int", event_id)}, segments=False, results=[])[1]


def set_intra_block(pipe: ptoas.PIPE | str, *, event_id: int | None = None, event_id_dyn: Scalar | None = None) -> None:
    """Signal inside a block. Architectures: A2/A3, A5."""
    _build_op("pto.set_intra_block", groups=[event_id_dyn], kinds="i", attributes={"pipe": ("pipe", pipe), "event_id": ("int", event_id)}, segments=False, results=[])[1]


def wait_intra_block(pipe: ptoas.PIPE | str, *, event_id: int | None = None, event_id_dyn: Scalar | None = None) -> None:
    """Wait inside a block. Architectures: A2/A3, A5."""
    _build_op("pto.wait_intra_block", groups=[event_id_dyn], kinds="i", attributes={"pipe": ("pipe", pipe), "event_id": ("int", event_id)}, segments=False, results=[])[1]


def tsync(operands: Sequence[Value]) -> None:
    """Wait for everything that touches the operands. Queue: S. Architectures: A2/A3, A5."""
    _build_op("pto.tsync", groups=[operands], kinds="v", attributes={}, segments=False, results=[])[1]


def syncall(mode: ptoas.SyncAllMode | str, core_type: ptoas.SyncCoreType | str, *, workspace: Value | None = None, usedCores: Value | None = None) -> None:
    """All cores meet; the soft mode does so through a workspace in global memory. Architectures: A2/A3, A5."""
    _build_op("pto.syncall", groups=[workspace, usedCores], kinds="vv", attributes={"mode": ("sync_all_mode", mode), "core_type": ("sync_core_type", core_type)}, segments=True, results=[])[1]


def fence_barrier_all(scope: ptoas.FenceScope | str) -> None:
    """All transfers are visible before anything after. Architectures: A2/A3, A5."""
    _build_op("pto.fence.barrier_all", groups=[], kinds="", attributes={"scope": ("fence_scope", scope)}, segments=False, results=[])[1]


def cmo_cacheinvalid(*, target: Value | None = None, space: ptoas.AddressSpace | str | None = None) -> None:
    """Drop cached global memory: all of it, or the line of a view. Architectures: A2/A3, A5."""
    _build_op("pto.cmo.cacheinvalid", groups=[target], kinds="v", attributes={"space": ("address_space", space)}, segments=False, results=[])[1]


def section_cube() -> AbstractContextManager[list[Value]]:
    """Code of the cube core only. Architectures: A2/A3, A5."""
    return _section("pto.section.cube", groups=[], kinds="", attributes={}, segments=False, results=[])


def section_vector() -> AbstractContextManager[list[Value]]:
    """Code of the vector cores only. Architectures: A2/A3, A5."""
    return _section("pto.section.vector", groups=[], kinds="", attributes={}, segments=False, results=[])


def section_simt(dims: Sequence[Scalar], static_dims: Sequence[int]) -> AbstractContextManager[list[Value]]:
    """Code that x * y * z threads of the vector core run (A5). Architectures: A5."""
    return _section("pto.section.simt", groups=[dims], kinds="i", attributes={"static_dims": ("ints", static_dims)}, segments=False, results=[])


def fusion_region(*, results: Sequence[str] = ()) -> AbstractContextManager[list[Value]]:
    """Instructions that a target may run as one; the same as its body. Architectures: A2/A3, A5."""
    return _section("pto.fusion_region", groups=[], kinds="", attributes={}, segments=False, results=[*results], terminator="pto.yield")


def yield_(values: Sequence[Value]) -> None:
    """End of a fusion_region, with its results. Architectures: A2/A3, A5."""
    _build_op("pto.yield", groups=[values], kinds="v", attributes={}, segments=False, results=[])[1]


def reserve_buffer(name: str, size: int, location: ptoas.AddressSpace | str, auto: bool, *, base: int | None = None) -> Value:
    """Local bytes that the peer core fills through a FIFO. Architectures: A2/A3, A5."""
    return _build_op("pto.reserve_buffer", groups=[], kinds="", attributes={"name": ("str", name), "size": ("int", size), "location": ("address_space", location), "auto_": ("bool", auto), "base": ("int", base)}, segments=False, results=['i32'])[1][0]


def import_reserved_buffer(name: str, peer_func: str) -> Value:
    """The buffer that the peer function reserved under a name. Architectures: A2/A3, A5."""
    return _build_op("pto.import_reserved_buffer", groups=[], kinds="", attributes={"name": ("str", name), "peer_func": ("symbol", peer_func)}, segments=False, results=['i32'])[1][0]


def aic_initialize_pipe(dir_mask: int, slot_size: int, *, id: int | None = None, slot_num: int | None = None, local_slot_num: int | None = None, nosplit: bool | None = None, acc_push_epilogue: str | None = None, gm_slot_buffer: Value | None = None, gm_slot_tensor: Value | None = None, c2v_consumer_buf: Scalar | None = None, v2c_consumer_buf: Scalar | None = None) -> None:
    """The cube core joins a FIFO. Architectures: A2/A3, A5. Defaults: `id`: 0."""
    _build_op("pto.aic_initialize_pipe", groups=[gm_slot_buffer, gm_slot_tensor, c2v_consumer_buf, v2c_consumer_buf], kinds="vvww", attributes={"id": ("int", id), "dir_mask": ("int", dir_mask), "slot_size": ("int", slot_size), "slot_num": ("int", slot_num), "local_slot_num": ("int", local_slot_num), "nosplit": ("bool", nosplit), "acc_push_epilogue": ("any", acc_push_epilogue)}, segments=True, results=[])[1]


def aiv_initialize_pipe(dir_mask: int, slot_size: int, *, id: int | None = None, slot_num: int | None = None, local_slot_num: int | None = None, nosplit: bool | None = None, acc_push_epilogue: str | None = None, gm_slot_buffer: Value | None = None, gm_slot_tensor: Value | None = None, c2v_consumer_buf: Scalar | None = None, v2c_consumer_buf: Scalar | None = None) -> None:
    """The vector core joins a FIFO. Architectures: A2/A3, A5. Defaults: `id`: 0."""
    _build_op("pto.aiv_initialize_pipe", groups=[gm_slot_buffer, gm_slot_tensor, c2v_consumer_buf, v2c_consumer_buf], kinds="vvww", attributes={"id": ("int", id), "dir_mask": ("int", dir_mask), "slot_size": ("int", slot_size), "slot_num": ("int", slot_num), "local_slot_num": ("int", local_slot_num), "nosplit": ("bool", nosplit), "acc_push_epilogue": ("any", acc_push_epilogue)}, segments=True, results=[])[1]


def tpush_to_aiv(tile: Value, split: int, *, id: int | None = None, aiv_subblockid: Value | None = None) -> None:
    """Send a tile from the cube core to the vector cores. Queue: of the tile: FIX from acc, MTE3 from vec; pops MTE2
    on A2/A3; else S. Architectures: A2/A3, A5. Defaults: `id`: 0."""
    _build_op("pto.tpush_to_aiv", groups=[tile, aiv_subblockid], kinds="vv", attributes={"id": ("int", id), "split": ("int", split)}, segments=False, results=[])[1]


def tpush_to_aic(tile: Value, split: int, *, id: int | None = None, aiv_subblockid: Value | None = None) -> None:
    """Send a tile from a vector core to the cube core. Queue: of the tile: FIX from acc, MTE3 from vec; pops MTE2 on
    A2/A3; else S. Architectures: A2/A3, A5. Defaults: `id`: 0."""
    _build_op("pto.tpush_to_aic", groups=[tile, aiv_subblockid], kinds="vv", attributes={"id": ("int", id), "split": ("int", split)}, segments=False, results=[])[1]


def tpop_from_aic(split: int, result: str, *, validRow: Scalar | None = None, validCol: Scalar | None = None, id: int | None = None) -> Value:
    """Receive a tile from the cube core. Queue: of the tile: FIX from acc, MTE3 from vec; pops MTE2 on A2/A3; else
    S. Architectures: A2/A3, A5. Defaults: `id`: 0."""
    return _build_op("pto.tpop_from_aic", groups=[validRow, validCol], kinds="ii", attributes={"id": ("int", id), "split": ("int", split)}, segments=True, results=[result])[1][0]


def tpop_from_aiv(split: int, result: str, *, validRow: Scalar | None = None, validCol: Scalar | None = None, id: int | None = None) -> Value:
    """Receive a tile from a vector core. Queue: of the tile: FIX from acc, MTE3 from vec; pops MTE2 on A2/A3; else
    S. Architectures: A2/A3, A5. Defaults: `id`: 0."""
    return _build_op("pto.tpop_from_aiv", groups=[validRow, validCol], kinds="ii", attributes={"id": ("int", id), "split": ("int", split)}, segments=True, results=[result])[1][0]


def tfree_from_aic(split: int, *, entry: Value | None = None, id: int | None = None) -> None:
    """Give the slot of the last popped tile back. Queue: of the tile: FIX from acc, MTE3 from vec; pops MTE2 on
    A2/A3; else S. Architectures: A2/A3, A5. Defaults: `id`: 0."""
    _build_op("pto.tfree_from_aic", groups=[entry], kinds="v", attributes={"id": ("int", id), "split": ("int", split)}, segments=False, results=[])[1]


def tfree_from_aiv(split: int, *, entry: Value | None = None, id: int | None = None) -> None:
    """Give the slot of the last popped tile back. Queue: of the tile: FIX from acc, MTE3 from vec; pops MTE2 on
    A2/A3; else S. Architectures: A2/A3, A5. Defaults: `id`: 0."""
    _build_op("pto.tfree_from_aiv", groups=[entry], kinds="v", attributes={"id": ("int", id), "split": ("int", split)}, segments=False, results=[])[1]


def talloc_to_aiv(split: int, result: str, *, id: int | None = None) -> Value:
    """The next free slot of a cube-to-vector FIFO, as a tensor to write; a push sends it. Queue: of the tile: FIX
    from acc, MTE3 from vec; pops MTE2 on A2/A3; else S. Architectures: A2/A3, A5. Defaults: `id`: 0."""
    return _build_op("pto.talloc_to_aiv", groups=[], kinds="", attributes={"id": ("int", id), "split": ("int", split)}, segments=False, results=[result])[1][0]


def talloc_to_aic(split: int, result: str, *, id: int | None = None) -> Value:
    """The next free slot of a vector-to-cube FIFO, as a tensor to write; a push sends it. Queue: of the tile: FIX
    from acc, MTE3 from vec; pops MTE2 on A2/A3; else S. Architectures: A2/A3, A5. Defaults: `id`: 0."""
    return _build_op("pto.talloc_to_aic", groups=[], kinds="", attributes={"id": ("int", id), "split": ("int", split)}, segments=False, results=[result])[1][0]


def set_quant_scalar(scale: Value, *, id: int | None = None) -> None:
    """Scale of the pushes through a pipe. Queue: S. Architectures: A2/A3, A5. Defaults: `id`: 0."""
    _build_op("pto.set_quant_scalar", groups=[scale], kinds="v", attributes={"id": ("int", id)}, segments=False, results=[])[1]


def set_quant_vector(scales: Value, *, id: int | None = None) -> None:
    """Scales, one per column, of the pushes through a pipe. Queue: FIX. Architectures: A2/A3, A5. Defaults: `id`: 0."""
    _build_op("pto.set_quant_vector", groups=[scales], kinds="v", attributes={"id": ("int", id)}, segments=False, results=[])[1]


def initialize_l2l_pipe(dir_mask: int, slot_size: int, slot_num: int, local_buf: Scalar, *, flag_base: int | None = None, nosplit: bool | None = None, peer_buf: Scalar | None = None) -> Value:
    """A FIFO from local memory to local memory (A5). Architectures: A5."""
    return _build_op("pto.initialize_l2l_pipe", groups=[local_buf, peer_buf], kinds="ww", attributes={"dir_mask": ("int", dir_mask), "slot_size": ("int", slot_size), "slot_num": ("int", slot_num), "flag_base": ("int", flag_base), "nosplit": ("bool", nosplit)}, segments=False, results=['!pto.pipe'])[1][0]


def initialize_l2g2l_pipe(dir_mask: int, slot_size: int, slot_num: int, gm_buf: Value, *, local_slot_num: int | None = None, flag_base: int | None = None, nosplit: bool | None = None, local_buf: Scalar | None = None, peer_buf: Scalar | None = None) -> Value:
    """A FIFO through global memory. Architectures: A2/A3, A5."""
    return _build_op("pto.initialize_l2g2l_pipe", groups=[gm_buf, local_buf, peer_buf], kinds="vww", attributes={"dir_mask": ("int", dir_mask), "slot_size": ("int", slot_size), "slot_num": ("int", slot_num), "local_slot_num": ("int", local_slot_num), "flag_base": ("int", flag_base), "nosplit": ("bool", nosplit)}, segments=True, results=['!pto.pipe'])[1][0]


def tpush(tile: Value, pipe_handle: Value, split: int) -> None:
    """Send a tile through a FIFO. Queue: FIX from acc, else MTE3. Architectures: A2/A3, A5."""
    _build_op("pto.tpush", groups=[tile, pipe_handle], kinds="vv", attributes={"split": ("int", split)}, segments=False, results=[])[1]


def talloc(entry: Value, pipe_handle: Value, split: int) -> None:
    """Bind a tensor handle to the next free slot of a FIFO. Queue: S. Architectures: A2/A3, A5."""
    _build_op("pto.talloc", groups=[entry, pipe_handle], kinds="vv", attributes={"split": ("int", split)}, segments=False, results=[])[1]


def tpop(tile: Value, pipe_handle: Value, split: int) -> None:
    """Receive a tile from a FIFO. Queue: S on A5, MTE2 on A2/A3. Architectures: A2/A3, A5."""
    _build_op("pto.tpop", groups=[tile, pipe_handle], kinds="vv", attributes={"split": ("int", split)}, segments=False, results=[])[1]


def tfree(pipe_handle: Value, split: int) -> None:
    """Give the slot of the last popped tile back. Queue: S. Architectures: A2/A3, A5."""
    _build_op("pto.tfree", groups=[pipe_handle], kinds="v", attributes={"split": ("int", split)}, segments=False, results=[])[1]


def comm_tnotify(signal: Value, value: Value, notifyOp: ptoas.NotifyOp | str) -> None:
    """Write or add to a signal of another device. signal += value, or signal = value. Queue: S. Architectures:
    A2/A3, A5."""
    _build_op("pto.comm.tnotify", groups=[signal, value], kinds="vv", attributes={"notifyOp": ("notify_op", notifyOp)}, segments=False, results=[])[1]


def comm_twait(signal: Value, value: Value, cmp: ptoas.WaitCmp | str) -> None:
    """Wait until a signal compares true. returns when signal cmp value. Queue: S. Architectures: A2/A3, A5."""
    _build_op("pto.comm.twait", groups=[signal, value], kinds="vv", attributes={"cmp": ("wait_cmp", cmp)}, segments=False, results=[])[1]


def comm_ttest(signal: Value, value: Value, cmp: ptoas.WaitCmp | str) -> Value:
    """Whether a signal compares true. result = signal cmp value. Queue: S. Architectures: A2/A3, A5."""
    return _build_op("pto.comm.ttest", groups=[signal, value], kinds="vv", attributes={"cmp": ("wait_cmp", cmp)}, segments=False, results=['i1'])[1][0]


def comm_tput(dst: Value, src: Value, ping: Value, *, pong: Value | None = None, atomicType: ptoas.AtomicType | str | None = None) -> None:
    """Copy to another device through a staging tile. dst = src (dst += src with atomic_add). Queue: S.
    Architectures: A2/A3, A5. Defaults: `atomicType`: atomic_none."""
    _build_op("pto.comm.tput", groups=[dst, src, ping, pong], kinds="vvvv", attributes={"atomicType": ("atomic_type", atomicType)}, segments=False, results=[])[1]


def comm_tget(dst: Value, src: Value, ping: Value, *, pong: Value | None = None, atomicType: ptoas.AtomicType | str | None = None) -> None:
    """Copy from another device through a staging tile. dst = src (dst += src with atomic_add). Queue: S.
    Architectures: A2/A3, A5. Defaults: `atomicType`: atomic_none."""
    _build_op("pto.comm.tget", groups=[dst, src, ping, pong], kinds="vvvv", attributes={"atomicType": ("atomic_type", atomicType)}, segments=False, results=[])[1]


def comm_tbroadcast(src: Value, ping: Value, group: Sequence[Value], root: int, *, pong: Value | None = None) -> None:
    """Copy from the root to every device of the group. group_k = src for all k. Queue: S. Architectures: A2/A3, A5."""
    _build_op("pto.comm.tbroadcast", groups=[src, ping, pong, group], kinds="vvvv", attributes={"root": ("int", root)}, segments=True, results=[])[1]


def comm_tgather(dst: Value, ping: Value, group: Sequence[Value], root: int, *, pong: Value | None = None) -> None:
    """Put the parts of all devices of the group behind each other, at the root. dst = (group_0, group_1, …). Queue:
    S. Architectures: A2/A3, A5."""
    _build_op("pto.comm.tgather", groups=[dst, ping, pong, group], kinds="vvvv", attributes={"root": ("int", root)}, segments=True, results=[])[1]


def comm_tscatter(src: Value, ping: Value, group: Sequence[Value], root: int, *, pong: Value | None = None) -> None:
    """Give every device of the group its part of the root's tensor. (group_0, group_1, …) = src. Queue: S.
    Architectures: A2/A3, A5."""
    _build_op("pto.comm.tscatter", groups=[src, ping, pong, group], kinds="vvvv", attributes={"root": ("int", root)}, segments=True, results=[])[1]


def comm_treduce(dst: Value, acc: Value, ping: Value, group: Sequence[Value], root: int, reduceOp: ptoas.ReduceOp | str, *, pong: Value | None = None) -> None:
    """Combine the tensors of all devices of the group, at the root. dst = reduceOp_k group_k. Queue: S.
    Architectures: A2/A3, A5."""
    _build_op("pto.comm.treduce", groups=[dst, acc, ping, pong, group], kinds="vvvvv", attributes={"root": ("int", root), "reduceOp": ("reduce_op", reduceOp)}, segments=True, results=[])[1]


def comm_build_async_session(scratch: Value, workspace: Value, *, sync_id: int | None = None) -> Value:
    """A session of asynchronous copies. Queue: S. Architectures: A2/A3, A5. Defaults: `sync_id`: 0."""
    return _build_op("pto.comm.build_async_session", groups=[scratch, workspace], kinds="vv", attributes={"sync_id": ("int", sync_id)}, segments=False, results=['!pto.async_session'])[1][0]


def comm_tput_async(dst: Value, src: Value, session: Value) -> Value:
    """Start a copy to another device. dst = src, some time before the event. Queue: S. Architectures: A2/A3, A5."""
    return _build_op("pto.comm.tput_async", groups=[dst, src, session], kinds="vvv", attributes={}, segments=False, results=['!pto.async_event'])[1][0]


def comm_tget_async(dst: Value, src: Value, session: Value) -> Value:
    """Start a copy from another device. dst = src, some time before the event. Queue: S. Architectures: A2/A3, A5."""
    return _build_op("pto.comm.tget_async", groups=[dst, src, session], kinds="vvv", attributes={}, segments=False, results=['!pto.async_event'])[1][0]


def comm_wait_async_event(event: Value, session: Value) -> Value:
    """Wait for a copy. Queue: S. Architectures: A2/A3, A5."""
    return _build_op("pto.comm.wait_async_event", groups=[event, session], kinds="vv", attributes={}, segments=False, results=['i1'])[1][0]


def comm_test_async_event(event: Value, session: Value) -> Value:
    """Whether a copy is done. Queue: S. Architectures: A2/A3, A5."""
    return _build_op("pto.comm.test_async_event", groups=[event, session], kinds="vv", attributes={}, segments=False, results=['i1'])[1][0]


def make_prefetch_async_context(inputs: Sequence[Value]) -> Value:
    """A context for asynchronous prefetches. Queue: S. Architectures: A2/A3, A5."""
    return _build_op("pto.make_prefetch_async_context", groups=[inputs], kinds="v", attributes={}, segments=False, results=['!pto.prefetch_async_context'])[1][0]


def get_prefetch_async_session(context: Value) -> Value:
    """The session of a prefetch context. Queue: S. Architectures: A2/A3, A5."""
    return _build_op("pto.get_prefetch_async_session", groups=[context], kinds="v", attributes={}, segments=False, results=['!pto.async_session'])[1][0]


def tprefetch_async(src: Value, context: Value) -> Value:
    """Start to bring a window of global memory near. Queue: S. Architectures: A2/A3, A5."""
    return _build_op("pto.tprefetch_async", groups=[src, context], kinds="vv", attributes={}, segments=False, results=['!pto.async_event'])[1][0]
