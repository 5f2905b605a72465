//===- PTOTileOps.td - the tile instruction set ------------*- tablegen -*-===//
//
// One record per instruction, grouped as in the manual: data movement, matrix,
// element-wise, compare and generate, reduce and broadcast, gather and sort.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_DIALECT_PTO_IR_PTOTILEOPS_TD
#define PTOAS_DIALECT_PTO_IR_PTOTILEOPS_TD

include "ptoas/Dialect/PTO/IR/PTOTileBase.td"

defvar A5Only = "false, true";
defvar Both = "true, true";

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

def PTO_TLoadOp : PTO_TileOp<"tload", "TLOAD", "PIPE_MTE2",
    [ViewIn<"src">, Out<"dst", E_Any, "spaces::Vec | spaces::Mat">, OptClause<"padValue">,
     OptClause<"leftPaddingNum", PTO_IndexNumber>, OptClause<"rightPaddingNum", PTO_IndexNumber>,
     OptClause<"initCondition", PTO_I1Number>], [],
    (ins OptionalAttr<PTO_PadModeAttr>:$padMode, UnitAttr:$initOutBuffer), "checkTLoad", Both, 0, 0, 1> {
  let constraints = ["the window is not empty",
                     "the elements of the window and of `dst` have the same size",
                     "no f64, i1, 8-bit or 4-bit floats on A2/A3",
                     "64-bit elements are padded with null or zero only",
                     "the padding clauses have no effect in C++ and native code (warning): hardware pads as the type of `dst` says"];
  let summary = "Copy a window of global memory into a tile.";
  let equation = "dst[i, j] = src[i, j]; the rest of dst is padded as its type (pad=) says";
}
def PTO_TPrefetchOp : PTO_TileOp<"tprefetch", "TPREFETCH", "PIPE_MTE2",
    [ViewIn<"src">, Out<"dst", E_Any, "spaces::Vec | spaces::Mat">], [], (ins), "checkTPrefetch"> {
  let constraints = ["the elements of the window and of `dst` have the same size"];
  let summary = "Bring a window of global memory near.";
  let equation = "dst[i, j] = src[i, j], or nothing";
}
def PTO_TStoreOp : PTO_TileOp<"tstore", "TSTORE", "getStorePipe",
    [In<"src", E_Any, "spaces::Vec | spaces::Mat | spaces::Acc">, OptIn<"fp", E_Any, "spaces::Scaling">,
     OptSc<"preQuantScalar", PTO_I64Number>, ViewOut<"dst">], [],
    (ins DefaultValuedAttr<PTO_STPhaseAttr, "::mlir::pto::STPhase::Unspecified">:$stPhase,
         DefaultValuedAttr<PTO_AtomicTypeAttr, "::mlir::pto::AtomicType::AtomicNone">:$atomicType,
         DefaultValuedAttr<PTO_ReluPreModeAttr, "::mlir::pto::ReluPreMode::NoRelu">:$reluPreMode),
    "checkTStore", Both, 0, 0, 1> {
  let constraints = ["`src` lies in mat on A2/A3 only",
                     "scales (`fp` or `preQuantScalar`, not both) and relu only from acc",
                     "the window has as many elements as `src` has valid ones, where both are known",
                     "from vec and mat: elements of the same size",
                     "from acc: i32 or f32 becomes i32, f32, f16 or bf16; quantised: i32 becomes i8, ui8 or f16 (on A5 bf16 too), f32 becomes i8 or ui8 (on A5 f16, bf16, f32, fp8 and hif8 too)",
                     "from acc on A2/A3: 1 to 4095 columns",
                     "atomic_add: 8-, 16- and 32-bit integers, f16, bf16 or f32"];
  let summary = "Copy the valid part of a tile into a window of global memory.";
  let equation = "dst[i, j] = relu(scale * src[i, j]), or dst[i, j] += … with atomic_add, for valid (i, j)";
}
def PTO_TStoreFpOp : PTO_TileOp<"tstore_fp", "TSTORE_FP", "PIPE_FIX",
    [In<"src", E_Any, "spaces::Acc">, In<"fp", E_Any, "spaces::Scaling">, ViewOut<"dst">], [], (ins),
    "checkTStoreFp"> {
  let constraints = ["at most 4095 columns",
                     "quantised: i32 becomes i8, ui8 or f16 (on A5 bf16 too), f32 becomes i8 or ui8 (on A5 f16, bf16, f32, fp8 and hif8 too)"];
  let summary = "Store an accumulator, quantised by a vector of scales.";
  let equation = "dst[i, j] = quantise(fp[j] * src[i, j])";
}
def PTO_TMovOp : PTO_TileOp<"tmov", "TMOV", "getMovePipe",
    [In<"src", E_Any, SpAny>, OptIn<"fp", E_Any, SpAny>, OptSc<"preQuantScalar", PTO_I64Number>, Out<"dst", E_Any, SpAny>], [],
    (ins OptionalAttr<PTO_AccToVecModeAttr>:$accToVecMode,
         DefaultValuedAttr<PTO_ReluPreModeAttr, "::mlir::pto::ReluPreMode::NoRelu">:$reluPreMode,
         OptionalAttr<PTO_MxGroupAxisAttr>:$grpAxis),
    "checkTMov", Both, 0, 0, 1> {
  let constraints = ["paths: mat to left, right, bias and scaling; vec to vec, on A5 to mat; acc to mat and vec (a function without kernel kind also knows vec to mat on A2/A3)",
                     "shapes are equal from mat, and on A2/A3 always (not with accToVecMode)",
                     "element sizes are equal from vec and into left and right",
                     "a bias is i32 from i32, or f32 from f16, bf16 or f32",
                     "scales (`fp` in scaling, or `preQuantScalar`, not both) and relu only from acc with blayout col_major and slayout row_major",
                     "an accumulator holds i32 or f32",
                     "from acc to mat without scales f32 becomes f32, f16 or bf16, i32 stays i32",
                     "quantised: i32 becomes i8, ui8, f16 or 16-bit integers (on A5 i8, ui8, f16 or bf16), f32 becomes i8 or ui8 (on A5 f16, bf16, f32, fp8 and hif8 too)",
                     "acc to mat on A2/A3: `dst` is NZ (col_major with row_major boxes, fractal 512)",
                     "accToVecMode only from acc to vec, its dual modes without scales",
                     "grpAxis on A5 only"];
  let summary = "Move a tile between memory spaces.";
  let equation = "dst[i, j] = relu(scale * src[i, j])";
}
def PTO_TMovFpOp : PTO_TileOp<"tmov.fp", "TMOV_FP", "PIPE_FIX",
    [In<"src", E_Any, "spaces::Acc">, In<"fp", E_Any, "spaces::Scaling">, Out<"dst", E_Any, "spaces::Mat">], [],
    (ins), "checkTMovFp"> {
  let constraints = ["`dst` is NZ (col_major with row_major boxes, fractal 512) (A2/A3)",
                     "quantised: i32 becomes i8, ui8, f16 or 16-bit integers (on A5 i8, ui8, f16 or bf16), f32 becomes i8 or ui8 (on A5 f16, bf16, f32, fp8 and hif8 too)"];
  let summary = "Move an accumulator to L1, quantised by a vector of scales.";
  let equation = "dst[i, j] = quantise(fp[j] * src[i, j])";
}
def PTO_TExtractOp : PTO_TileOp<"textract", "TEXTRACT", "getExtractPipe",
    [In<"src", E_Any, SpAny>, Idx<"row">, Idx<"col">, OptIn<"fp", E_Any, "spaces::Scaling">,
     OptSc<"preQuantScalar", PTO_I64Number>, Out<"dst", E_Any, SpAny>], [],
    (ins OptionalAttr<PTO_AccToVecModeAttr>:$accToVecMode,
         DefaultValuedAttr<PTO_ReluPreModeAttr, "::mlir::pto::ReluPreMode::NoRelu">:$reluPreMode),
    "checkTExtract", Both, 0, 0, 1> {
  let constraints = ["paths: mat to left and right, on A5 to scaling; vec to vec, on A5 to mat; acc to mat and vec",
                     "from mat: the same element type on both sides, i8, ui8, f16, bf16 or f32, on A5 also fp8, hif8 and fp4",
                     "`dst` in left has slayout row_major; in right blayout row_major and slayout col_major",
                     "from vec: elements of the same size; vec to vec on A5: both row_major and unboxed (ND)",
                     "acc to mat on A2/A3: `dst` is NZ (col_major with row_major boxes, fractal 512)",
                     "from acc to mat without scales f32 becomes f32, f16 or bf16, i32 stays i32",
                     "quantised: i32 becomes i8, ui8, f16 or 16-bit integers (on A5 i8, ui8, f16 or bf16), f32 becomes i8 or ui8 (on A5 f16, bf16, f32, fp8 and hif8 too)",
                     "scales only from acc",
                     "the window lies inside `src` where that is known"];
  let summary = "Copy the window of a tile that starts at (row, col).";
  let equation = "dst[i, j] = src[row + i, col + j]";
}
def PTO_TInsertOp : PTO_TileOp<"tinsert", "TINSERT", "getInsertPipe",
    [In<"src", E_Any, SpAny>, Idx<"row">, Idx<"col">, OptIn<"fp", E_Any, "spaces::Scaling">,
     OptSc<"preQuantScalar", PTO_I64Number>, InOut<"dst", E_Any, SpAny>], [],
    (ins OptionalAttr<PTO_AccToVecModeAttr>:$accToVecMode, OptionalAttr<PTO_TInsertModeAttr>:$tinsertMode,
         DefaultValuedAttr<PTO_ReluPreModeAttr, "::mlir::pto::ReluPreMode::NoRelu">:$reluPreMode),
    "checkTInsert", Both, 0, 0, 1> {
  let constraints = ["paths: acc to mat; vec to vec, on A5 to mat",
                     "acc to mat without scales: f32 becomes f16 or bf16 (on A5 f32 too), on A5 i32 stays i32",
                     "quantised: i32 becomes i8, ui8, f16 or 16-bit integers (on A5 i8, ui8, f16 or bf16), f32 becomes i8 or ui8 (on A5 f16, bf16, f32, fp8 and hif8 too)",
                     "acc to mat on A2/A3: `dst` is NZ (col_major with row_major boxes, fractal 512)",
                     "from vec: elements of the same size",
                     "from vec on A5: i8, ui8, i32, ui32, f16, bf16, f32, fp8, hif8 or fp4; vec to vec both row_major and unboxed (ND), vec to mat `dst` is NZ",
                     "scales only from acc",
                     "the window lies inside `dst` where that is known"];
  let summary = "Copy a tile into the window of another that starts at (row, col).";
  let equation = "dst[row + i, col + j] = src[i, j]";
  let notes = "dst keeps its content outside the window.";
}
def PTO_TExtractFpOp : PTO_TileOp<"textract_fp", "TEXTRACT_FP", "PIPE_FIX",
    [In<"src", E_Any, "spaces::Acc">, In<"fp", E_Any, "spaces::Scaling">, Idx<"row">, Idx<"col">,
     Out<"dst", E_Any, "spaces::Mat">], [], (ins), "checkFixpipeQuant"> {
  let constraints = ["`dst` is col_major with row_major boxes, on A2/A3 of fractal 512 (NZ)",
                     "quantised: i32 becomes i8, ui8, f16 or 16-bit integers (on A5 i8, ui8, f16 or bf16), f32 becomes i8 or ui8 (on A5 f16, bf16, f32, fp8 and hif8 too)"];
  let summary = "textract from an accumulator, quantised by a vector of scales.";
  let equation = "dst[i, j] = quantise(fp[j] * src[row + i, col + j])";
}
def PTO_TInsertFpOp : PTO_TileOp<"tinsert_fp", "TINSERT_FP", "PIPE_FIX",
    [In<"src", E_Any, "spaces::Acc">, In<"fp", E_Any, "spaces::Scaling">, Idx<"row">, Idx<"col">,
     InOut<"dst", E_Any, "spaces::Mat">], [], (ins), "checkFixpipeQuant"> {
  let constraints = ["`dst` is col_major with row_major boxes, on A2/A3 of fractal 512 (NZ)",
                     "quantised: i32 becomes i8, ui8, f16 or 16-bit integers (on A5 i8, ui8, f16 or bf16), f32 becomes i8 or ui8 (on A5 f16, bf16, f32, fp8 and hif8 too)"];
  let summary = "tinsert from an accumulator, quantised by a vector of scales.";
  let equation = "dst[row + i, col + j] = quantise(fp[j] * src[i, j])";
  let notes = "dst keeps its content outside the window.";
}
def PTO_TPackOp : PTO_TileOp<"tpack", "TPACK", "PIPE_V", [In<"src">, Out<"dst">],
    [PTO_Rule<"SameValid", "src dst">], (ins), "checkTPack", A5Only> {
  let constraints = ["4 bytes become 2 or 1, 2 bytes become 1"];
  let summary = "Keep the low bytes of each element.";
  let equation = "dst[i, j] = src[i, j] mod 2^bits(dst)";
}
def PTO_TTransOp : PTO_TileOp<"ttrans", "TTRANS", "PIPE_V",
    [In<"src", E_Data>, OptTmp<"tmp", E_Data>, Out<"dst", E_Data>], [PTO_Rule<"SameElem", "src tmp dst">],
    (ins), "checkTTrans"> {
  let constraints = ["`src` is row_major (A2/A3)",
                     "the major dimension of `src` is a multiple of 32 bytes (A5)"];
  let summary = "Transpose.";
  let equation = "dst[j, i] = src[i, j]";
  let notes = "Only the valid part of src moves; what it does not cover of dst keeps its content. src and dst must not share memory.";
}
def PTO_TConcatOp : PTO_TileOp<"tconcat", "TCONCAT", "PIPE_V",
    [In<"src0", E_Data>, In<"src1", E_Data>, Out<"dst", E_Data>],
    [PTO_Rule<"SameElem", "src0 src1 dst">, PTO_Rule<"SameRows", "src0 src1 dst">,
     PTO_Rule<"RowMajor", "src0 src1 dst", "A5">], (ins), "checkTConcat"> {
  let constraints = ["`dst` has room for the valid columns of both where they are known"];
  let summary = "Put the valid columns of two tiles side by side.";
  let equation = "dst[i, :] = (src0[i, 0 .. c0), src1[i, 0 .. c1)), ck = validCol(src_k)";
  let notes = "The columns of dst behind c0 + c1 keep their content. dst must not share memory with src1.";
}
def PTO_TConcatIdxOp : PTO_TileOp<"tconcatidx", "TCONCAT", "PIPE_V",
    [In<"src0", E_Data>, In<"src1", E_Data>, In<"idx0", E_I16_I32>, In<"idx1", E_I16_I32>, Out<"dst", E_Data>,
     OptOut<"dstIdx", E_I16_I32>],
    [PTO_Rule<"SameElem", "src0 src1 dst">, PTO_Rule<"SameRows", "src0 src1 dst">,
     PTO_Rule<"SameElem", "idx0 idx1 dstIdx">, PTO_Rule<"SameRows", "src0 idx0 idx1 dstIdx">,
     PTO_Rule<"RowMajor", "src0 src1 dst">], (ins), "nullptr"> {
  let summary = "Put the first idx0 bytes of each row of src0 and the first idx1 bytes of src1 side by side.";
  let equation = "dst[i, :] = (src0[i, 0 .. n0), src1[i, 0 .. n1)), nk = idx_k[i, 0] / bytes(element of idx_k); dstIdx[i, 0] = idx0[i, 0] + idx1[i, 0]";
}
defvar PadNote = "The pad value reaches to the capacity of dst, not only to its valid part; "
                 "it is the least (min), greatest (max) or zero of the element type, infinities for floats.";
class PTO_FillPad<string mn, string cpp>
    : PTO_TileOp<mn, cpp, "getFillPadPipe",
                 [In<"src", E_Any, "spaces::Vec | spaces::Mat">, Out<"dst", E_Any, "spaces::Vec | spaces::Mat">],
                 [PTO_Rule<"SameWidth", "src dst">], (ins OptionalAttr<PTO_PadValueAttr>:$padValue),
                 "checkFillPad"> {
  defvar shapes = !if(!eq(mn, "tfillpad_expand"), "the shape of `dst` is at least that of `src`",
                      "`src` and `dst` have the same shape");
  let constraints = ["elements of 1, 2 or 4 bytes", shapes,
                     "`dst` names a pad value (pad= zero, max or min), or padValue does"];
}
def PTO_TFillPadOp : PTO_FillPad<"tfillpad", "TFILLPAD"> {
  let summary = "Copy, and fill what is not valid with the pad value of dst.";
  let notes = PadNote # " src and dst may be the same tile.";
  let equation = "dst[i, j] = src[i, j] if valid, else pad";
}
def PTO_TFillPadInplaceOp : PTO_FillPad<"tfillpad_inplace", "TFILLPAD_INPLACE"> {
  let summary = "Fill what is not valid with the pad value, in place.";
  let notes = PadNote;
  let equation = "dst[i, j] = dst[i, j] if valid, else pad";
}
def PTO_TFillPadExpandOp : PTO_FillPad<"tfillpad_expand", "TFILLPAD_EXPAND"> {
  let summary = "Copy into a larger tile and fill the rest with the pad value.";
  let notes = PadNote;
  let equation = "dst[i, j] = src[i, j] if valid, else pad";
}
def PTO_MGatherOp : PTO_TileOp<"mgather", "MGATHER", "PIPE_MTE2",
    [ViewIn<"src">, In<"indices", E_I32>, OptTmp<>, Out<"dst">], [],
    (ins OptionalAttr<PTO_CoalesceAttr>:$coalesce,
         DefaultValuedAttr<PTO_GatherOOBAttr, "::mlir::pto::GatherOOB::Undefined">:$gatherOob), "checkMGather"> {
  let constraints = ["`dst` is row_major and unboxed",
                     "the window and `dst` have the same element type",
                     "coalesce row: `indices` is a vector with at least one for each row of `dst`; elem: it has the valid shape of `dst`; absent: either"];
  let summary = "Load rows or elements of global memory named by indices.";
  let equation = "dst[i, :] = src[indices[i], :] (row), or dst[i, j] = src.flat[indices[i, j]] (elem)";
  let notes = "Without coalesce rows are meant when the indices are a vector, elements when they have the shape of dst. "
              "An index outside src is moved to the nearest end (clamp), taken modulo the extent (wrap), or gives 0 (zero); "
              "with undefined hardware leaves the value open, native code gives 0. Only the valid part of dst is written.";
}
def PTO_MScatterOp : PTO_TileOp<"mscatter", "MSCATTER", "PIPE_MTE3",
    [In<"src">, In<"indices", E_I32>, ViewInOut<>], [],
    (ins OptionalAttr<PTO_CoalesceAttr>:$coalesce,
         DefaultValuedAttr<PTO_ScatterAtomicOpAttr, "::mlir::pto::ScatterAtomicOp::None">:$scatterAtomicOp,
         DefaultValuedAttr<PTO_ScatterOOBAttr, "::mlir::pto::ScatterOOB::Undefined">:$scatterOob,
         OptionalAttr<PTO_ScatterConflictAttr>:$scatterConflict), "checkMScatter"> {
  let constraints = ["`src` and the window have the same element type",
                     "scatterAtomicOp add: i32, ui32, f16 or f32; max and min: i32, ui32 or f32",
                     "coalesce row: `indices` is a vector with at least one for each row of `src`; elem: it has the valid shape of `src`; absent: either"];
  let summary = "Store rows or elements to places of global memory named by indices.";
  let equation = "dst[indices[i], :] = src[i, :] (row), or dst.flat[indices[i, j]] = src[i, j] (elem)";
  let notes = "What no index names keeps its content. Without coalesce rows are meant when the indices are a vector, elements when "
              "they have the shape of src. Of several elements for one place the last in row-major order wins, or all are "
              "combined (scatterAtomicOp). An index outside dst writes nothing (skip), is moved to the nearest end (clamp) or "
              "taken modulo the extent (wrap); with undefined hardware leaves the effect open, native code writes nothing.";
}

//===----------------------------------------------------------------------===//
// Matrix
//===----------------------------------------------------------------------===//

defvar PhaseAttr = (ins OptionalAttr<PTO_AccPhaseAttr>:$accPhase);
class InL<string n = "lhs"> : In<n, E_Any, "spaces::Left">;
class InR<string n = "rhs"> : In<n, E_Any, "spaces::Right">;
class InA<string n = "accIn"> : In<n, E_Any, "spaces::Acc">;
class InB<string n = "bias"> : In<n, E_Any, "spaces::Bias">;
class InS<string n> : In<n, E_Any, "spaces::Scaling">;
class OutA<string n = "dst"> : Out<n, E_Any, "spaces::Acc">;
class PTO_Matrix<string mn, string cpp, list<PTO_Opnd> opnds, string check, string archs = Both>
    : PTO_TileOp<mn, cpp, "PIPE_M", opnds, [], PhaseAttr, check, archs> {
  defvar mx = !ne(!find(mn, ".mx"), -1);
  let constraints = !listconcat(
      [!if(mx, "elements: fp8 and hif8 with each other, fp4 with fp4, into f32",
           "elements: i8 * i8 into i32; equal f16, bf16 or f32 into f32; on A5 also fp8, hif8 and fp4 into f32"),
       "valid extents: `lhs` M x K, `rhs` K x N, `dst` M x N; each 1 to 4095 where known",
       "on A5 `lhs` has slayout row_major (in which order its boxes lie is the architecture's), `rhs` is row_major with "
       "col_major boxes, `dst` col_major with row_major boxes; alloc_tile warns of other orders on A2/A3"],
      !if(!eq(!find(mn, "tgemv"), 0), ["`lhs` has one valid row"], []<string>),
      !if(!ne(!find(mn, ".acc"), -1), ["`accIn` and `dst` have the same element type"], []<string>),
      !if(!ne(!find(mn, ".bias"), -1),
          ["`bias` has one row with a column for each of `dst`, and " # !if(mx, "holds f32", "the element type of `dst`"),
           "`bias` is row_major (A5)"], []<string>));
}

multiclass PTO_MatrixFamily<string mn, string cpp, string check, string mxArchs> {
  def Op : PTO_Matrix<mn, cpp, [InL<>, InR<>, OutA<>], check> {
    let summary = "dst = lhs * rhs.";
  }
  def AccOp : PTO_Matrix<mn # ".acc", cpp # "_ACC", [InA<>, InL<>, InR<>, OutA<>], check> {
    let summary = "dst = accIn + lhs * rhs.";
  }
  def BiasOp : PTO_Matrix<mn # ".bias", cpp # "_BIAS", [InL<>, InR<>, InB<>, OutA<>], check> {
    let summary = "dst = lhs * rhs + bias.";
  }
  def MxOp : PTO_Matrix<mn # ".mx", cpp # "_MX",
                        [InL<>, InS<"lhsScale">, InR<>, InS<"rhsScale">, OutA<>], check, mxArchs> {
    let summary = "dst = lhs * rhs with a shared scale per group.";
  }
  def MxAccOp : PTO_Matrix<mn # ".mx.acc", cpp # "_MX",
                           [InA<>, InL<>, InS<"lhsScale">, InR<>, InS<"rhsScale">, OutA<>], check, mxArchs> {
    let summary = "dst = accIn + lhs * rhs with a shared scale per group.";
  }
  def MxBiasOp : PTO_Matrix<mn # ".mx.bias", cpp # "_MX",
                            [InL<>, InS<"lhsScale">, InR<>, InS<"rhsScale">, InB<>, OutA<>], check, mxArchs> {
    let summary = "dst = lhs * rhs + bias with a shared scale per group.";
  }
}
defm PTO_TMatmul : PTO_MatrixFamily<"tmatmul", "TMATMUL", "checkMatmul", A5Only>;
defm PTO_TGemv : PTO_MatrixFamily<"tgemv", "TGEMV", "checkMatmul", A5Only>;
def PTO_TGetScaleAddrOp : PTO_TileOp<"tget_scale_addr", "TGET_SCALE_ADDR", "PIPE_S",
    [In<"src", E_Any, SpAny>, Out<"dst", E_Any, "spaces::Scaling">], [], (ins), "nullptr", A5Only> {
  let summary = "Bind dst to the scales that belong to src.";
  let equation = "address(dst) = address(src) >> 4";
}

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

class PTO_Binary<string mn, PTO_Elems e, dag attrs = (ins)>
    : PTO_TileOp<mn, !toupper(mn), "PIPE_V", [In<"src0", e>, In<"src1", e>, Out<"dst", e>],
                 [PTO_Rule<"SameElem", "src0 src1 dst">, PTO_Rule<"SameValid", "src0 src1 dst">,
                  PTO_Rule<"RowMajor", "src0 src1 dst">], attrs>;
class PTO_BinaryTmp<string mn, PTO_Elems e, string check, dag attrs = (ins)>
    : PTO_TileOp<mn, !toupper(mn), "PIPE_V", [In<"src0", e>, In<"src1", e>, OptTmp<>, Out<"dst", e>],
                 [PTO_Rule<"SameElem", "src0 src1 dst">, PTO_Rule<"SameValid", "src0 src1 dst">,
                  PTO_Rule<"RowMajor", "src0 src1 dst">], attrs, check>;
class PTO_Part<string mn, PTO_Elems e>
    : PTO_TileOp<mn, !toupper(mn), "PIPE_V", [In<"src0", e>, In<"src1", e>, Out<"dst", e>],
                 [PTO_Rule<"SameElem", "src0 src1 dst">], (ins), "checkPart"> {
  let constraints = !listconcat(
      ["the valid shapes of `src0` and `src1` lie inside that of `dst`, one of them is equal to it"],
      !if(!or(!eq(mn, "tpartmax"), !eq(mn, "tpartmin")), ["all have the same shape"], []<string>));
  let notes = "One source has the valid shape of dst, the other may be shorter. Outside the valid part dst keeps its content. "
              "dst may be the same tile as either source.";
}

def PTO_TAddOp : PTO_Binary<"tadd", E_N4_I8_BF> { let summary = "dst = src0 + src1."; }
def PTO_TSubOp : PTO_Binary<"tsub", E_N4_I8_BF> { let summary = "dst = src0 - src1."; }
def PTO_TMulOp : PTO_Binary<"tmul", E_N4_BF> { let summary = "dst = src0 * src1."; }
def PTO_TDivOp : PTO_Binary<"tdiv", E_F2_N4, (ins OptionalAttr<PTO_DivPrecisionAttr>:$precisionType)> {
  let summary = "dst = src0 / src1.";
}
def PTO_TMaxOp : PTO_Binary<"tmax", E_N4_I8_BF> { let summary = "dst = max(src0, src1)."; }
def PTO_TMinOp : PTO_Binary<"tmin", E_N4_I8_BF> { let summary = "dst = min(src0, src1)."; }
def PTO_TFmodOp : PTO_Binary<"tfmod", E_N4, (ins OptionalAttr<PTO_FmodPrecisionAttr>:$precisionType)> {
  let summary = "dst = src0 - trunc(src0 / src1) * src1.";
}
def PTO_TRemOp : PTO_BinaryTmp<"trem", E_I32F32_N4, "checkRemTmp",
                               (ins OptionalAttr<PTO_RemPrecisionAttr>:$precisionType)> {
  let constraints = ["`tmp` has at least as many valid columns as `dst`"];
  let summary = "dst = src0 - floor(src0 / src1) * src1.";
}
def PTO_TAndOp : PTO_Binary<"tand", E_Logic> { let summary = "dst = src0 & src1."; }
def PTO_TOrOp : PTO_Binary<"tor", E_Logic> { let summary = "dst = src0 | src1."; }
def PTO_TXorOp : PTO_BinaryTmp<"txor", E_Logic, "checkXorTmp"> {
  let constraints = ["`tmp` has the element type and valid shape of `dst` (A2/A3)"];
  let summary = "dst = src0 ^ src1.";
}
def PTO_TShlOp : PTO_Binary<"tshl", E_Int> { let summary = "dst = src0 << src1."; }
def PTO_TShrOp : PTO_Binary<"tshr", E_Int> { let summary = "dst = src0 >> src1."; }
def PTO_TPReluOp : PTO_BinaryTmp<"tprelu", E_F2, "checkPReluTmp"> {
  let constraints = ["`tmp` holds bytes and has at least one row more than `dst` has valid rows (A2/A3)",
                     "`src0`, `src1`, `tmp` and `dst` are different tiles (pto.target_arch or --pto-arch a3, not a2a3)"];
  let summary = "dst = src0 where positive, else src0 * src1.";
}
def PTO_TPowOp : PTO_BinaryTmp<"tpow", E_Any, "nullptr",
                               (ins OptionalAttr<PTO_PowPrecisionAttr>:$precisionType)> {
  let summary = "dst = src0 to the power of src1.";
}
def PTO_TAddReluOp : PTO_Binary<"taddrelu", E_N4> { let summary = "dst = max(src0 + src1, 0)."; }
class PTO_Ternary<string mn>
    : PTO_TileOp<mn, !toupper(mn), "PIPE_V",
                 [In<"src0", E_N4_I8_BF>, In<"src1", E_N4_I8_BF>, In<"src2", E_N4_I8_BF>, Out<"dst", E_N4_I8_BF>],
                 [PTO_Rule<"SameElem", "src0 src1 src2 dst">, PTO_Rule<"SameShape", "src0 src1 src2 dst">,
                  PTO_Rule<"SameValid", "src0 src1 src2 dst">, PTO_Rule<"RowMajor", "src0 src1 src2 dst">]>;
def PTO_TAddCOp : PTO_Ternary<"taddc"> { let summary = "dst = src0 + src1 + src2."; }
def PTO_TSubCOp : PTO_Ternary<"tsubc"> { let summary = "dst = src0 - src1 + src2."; }
def PTO_TPartAddOp : PTO_Part<"tpartadd", E_N4_I8_BF> {
  let summary = "Sum where both are valid, else the valid one.";
  let equation = "dst = src0 + src1 where both are valid, else the one that is";
}
def PTO_TPartMulOp : PTO_Part<"tpartmul", E_N4_I8_BF> {
  let summary = "Product where both are valid, else the valid one.";
  let equation = "dst = src0 * src1 where both are valid, else the one that is";
}
def PTO_TPartMaxOp : PTO_Part<"tpartmax", E_N4_I8_BF> {
  let summary = "Maximum where both are valid, else the valid one.";
  let equation = "dst = max(src0, src1) where both are valid, else the one that is";
}
def PTO_TPartMinOp : PTO_Part<"tpartmin", E_N4_I8_BF> {
  let summary = "Minimum where both are valid, else the valid one.";
  let equation = "dst = min(src0, src1) where both are valid, else the one that is";
}

class PTO_TileScalar<string mn, PTO_Elems e, list<PTO_Rule> extra = [], string check = "nullptr",
                     dag attrs = (ins), bit scalarMayLead = 0, Type scalar = PTO_ElementNumber>
    : PTO_TileOp<mn, !toupper(mn), "PIPE_V", [In<"src", e>, Sc<"scalar", E_Any, scalar>, Out<"dst", e>],
                 !listconcat([PTO_Rule<"SameElem", "src dst">], extra), attrs, check, Both, 0, scalarMayLead>;
defvar FullValid = [PTO_Rule<"SameValid", "src dst">];
// A5 compares columns only.
defvar ColsOnA5 = [PTO_Rule<"SameValid", "src dst", "A3">, PTO_Rule<"SameCols", "src dst", "A5">];
defvar ElemScalar = [PTO_Rule<"ScalarIsElem", "scalar src">];
def PTO_TAddSOp : PTO_TileScalar<"tadds", E_N4_I8_BF, !listconcat(ColsOnA5, ElemScalar)> {
  let summary = "dst = src + scalar.";
}
def PTO_TSubSOp : PTO_TileScalar<"tsubs", E_N4_I8_BF, !listconcat(ColsOnA5, ElemScalar)> {
  let summary = "dst = src - scalar.";
}
def PTO_TMulSOp : PTO_TileScalar<"tmuls", E_N4_I8_BF, !listconcat(ColsOnA5, ElemScalar)> {
  let summary = "dst = src * scalar.";
}
def PTO_TDivSOp : PTO_TileScalar<"tdivs", E_N4_I8, !listconcat(FullValid, ElemScalar), "nullptr",
    (ins UnitAttr:$scalarFirst, OptionalAttr<PTO_DivPrecisionAttr>:$precisionType), 1> {
  let summary = "dst = src / scalar, or scalar / src when the scalar stands first.";
}
def PTO_TMaxSOp : PTO_TileScalar<"tmaxs", E_N4_I8_BF, !listconcat(FullValid, ElemScalar)> {
  let summary = "dst = max(src, scalar).";
}
def PTO_TMinSOp : PTO_TileScalar<"tmins", E_N4_I8_BF, !listconcat(ColsOnA5, ElemScalar)> {
  let summary = "dst = min(src, scalar).";
}
def PTO_TFmodSOp : PTO_TileScalar<"tfmods", E_N4, !listconcat(FullValid, ElemScalar), "nullptr",
    (ins OptionalAttr<PTO_FmodPrecisionAttr>:$precisionType)> {
  let summary = "dst = src - trunc(src / scalar) * scalar.";
}
class PTO_TileScalarTmp<string mn, PTO_Elems e, string check, list<PTO_Rule> extra = [], dag attrs = (ins)>
    : PTO_TileOp<mn, !toupper(mn), "PIPE_V", [In<"src", e>, Sc<"scalar">, OptTmp<>, Out<"dst", e>],
                 !listconcat([PTO_Rule<"SameElem", "src dst">, PTO_Rule<"RowMajor", "src dst">,
                              PTO_Rule<"SameValid", "src dst">], extra), attrs, check>;
def PTO_TRemSOp : PTO_TileScalarTmp<"trems", E_I32F32_N4, "checkRemTmp", ElemScalar,
                                    (ins OptionalAttr<PTO_RemPrecisionAttr>:$precisionType)> {
  let constraints = ["`tmp` has at least as many valid columns as `dst`"];
  let summary = "dst = src - floor(src / scalar) * scalar.";
}
def PTO_TPowSOp : PTO_TileScalarTmp<"tpows", E_Any, "nullptr", ElemScalar,
                                    (ins OptionalAttr<PTO_PowPrecisionAttr>:$precisionType)> {
  let summary = "dst = src to the power of scalar.";
}
defvar Apart = [PTO_Rule<"Distinct", "src dst">, PTO_Rule<"SameValid", "src dst">];
def PTO_TAndSOp : PTO_TileScalar<"tands", E_Logic, Apart, "checkIntScalar"> {
  let constraints = ["the scalar is an integer"];
  let summary = "dst = src & scalar.";
}
def PTO_TOrSOp : PTO_TileScalar<"tors", E_Logic, Apart, "checkIntScalar"> {
  let constraints = ["the scalar is an integer"];
  let summary = "dst = src | scalar.";
}
def PTO_TXorSOp : PTO_TileScalarTmp<"txors", E_Logic, "checkXorTmp"> {
  let constraints = ["`src` and `dst` are different tiles",
                     "the scalar is an integer",
                     "`tmp` has the element type and valid shape of `dst` (A2/A3)"];
  let summary = "dst = src ^ scalar.";
}
def PTO_TShlSOp : PTO_TileScalar<"tshls", E_Int, FullValid, "checkShiftScalar"> {
  let constraints = ["the shift is an integer, not negative"];
  let summary = "dst = src << scalar.";
}
def PTO_TShrSOp : PTO_TileScalar<"tshrs", E_ShrS, FullValid, "checkShiftScalar"> {
  let constraints = ["the shift is an integer, not negative"];
  let summary = "dst = src >> scalar.";
}
def PTO_TLReluOp : PTO_TileScalar<"tlrelu", E_F2, FullValid, "checkLRelu", (ins), 0, PTO_F32Number> {
  let constraints = ["the slope is f32, also for f16 tiles"];
  let summary = "dst = src where positive, else src * scalar.";
}
class PTO_TileScalarTile<string mn>
    : PTO_TileOp<mn, !toupper(mn), "PIPE_V",
                 [In<"src0", E_N4_I8_BF>, Sc<"scalar">, In<"src1", E_N4_I8_BF>, Out<"dst", E_N4_I8_BF>],
                 [PTO_Rule<"SameElem", "src0 src1 dst">, PTO_Rule<"SameValid", "src0 src1 dst">,
                  PTO_Rule<"RowMajor", "src0 src1 dst">, PTO_Rule<"ScalarIsElem", "scalar src0">]>;
def PTO_TAddSCOp : PTO_TileScalarTile<"taddsc"> { let summary = "dst = src0 + scalar + src1."; }
def PTO_TSubSCOp : PTO_TileScalarTile<"tsubsc"> { let summary = "dst = src0 - scalar + src1."; }
def PTO_TAxpyOp : PTO_TileOp<"taxpy", "TAXPY", "PIPE_V",
    [In<"src", E_F2_BF>, Sc<"scalar">, InOut<"dst", E_F2_BF>],
    [PTO_Rule<"ScalarIsElem", "scalar src">, PTO_Rule<"SameValid", "src dst">, PTO_Rule<"RowMajor", "src dst">],
    (ins), "checkTAxpy"> {
  let constraints = ["`dst` has the element type of `src`, or f32 for f16"];
  let summary = "dst += src * scalar.";
}
def PTO_TExpandSOp : PTO_TileOp<"texpands", "TEXPANDS", "PIPE_V",
    [Sc<"scalar">, Out<"dst", E_Data, "spaces::Vec | spaces::Mat">], [PTO_Rule<"ScalarIsElem", "scalar dst">],
    (ins), "checkTExpandS"> {
  let constraints = ["in vec: i16, ui16, i32, ui32, f16 or f32, on A5 also i8 and ui8; row_major"];
  let summary = "Fill a tile with a scalar.";
  let equation = "dst[i, j] = scalar";
}

class PTO_Unary<string mn, PTO_Elems e, dag attrs = (ins), string check = "nullptr">
    : PTO_TileOp<mn, !toupper(mn), "PIPE_V", [In<"src", e>, Out<"dst", e>],
                 [PTO_Rule<"SameElem", "src dst">, PTO_Rule<"SameValid", "src dst">,
                  PTO_Rule<"RowMajor", "src dst">], attrs, check>;
def PTO_TAbsOp : PTO_Unary<"tabs", E_F2> { let summary = "dst = |src|."; }
def PTO_TExpOp : PTO_Unary<"texp", E_F2, (ins OptionalAttr<PTO_ExpPrecisionAttr>:$precisionType)> {
  let summary = "dst = e to the power of src.";
}
def PTO_TLogOp : PTO_Unary<"tlog", E_F2, (ins OptionalAttr<PTO_LogPrecisionAttr>:$precisionType)> {
  let summary = "dst = natural logarithm of src.";
}
def PTO_TSqrtOp : PTO_Unary<"tsqrt", E_F2, (ins OptionalAttr<PTO_SqrtPrecisionAttr>:$precisionType)> {
  let summary = "dst = square root of src.";
}
def PTO_TRsqrtOp : PTO_TileOp<"trsqrt", "TRSQRT", "PIPE_V",
    [In<"src", E_F2>, OptTmp<>, Out<"dst", E_F2>],
    [PTO_Rule<"SameElem", "src dst">, PTO_Rule<"SameValid", "src dst">, PTO_Rule<"RowMajor", "src dst">],
    (ins OptionalAttr<PTO_RsqrtPrecisionAttr>:$precisionType), "checkRsqrtTmp"> {
  let constraints = ["`tmp` has at least 32 bytes"];
  let summary = "dst = 1 / square root of src.";
}
def PTO_TRecipOp : PTO_Unary<"trecip", E_F2, (ins OptionalAttr<PTO_RecipPrecisionAttr>:$precisionType),
                             "checkRecip"> {
  let constraints = ["`src` and `dst` are different tiles (pto.target_arch or --pto-arch a3, not a2a3)"];
  let summary = "dst = 1 / src.";
}
def PTO_TNegOp : PTO_Unary<"tneg", E_N4_I8_BF> { let summary = "dst = -src."; }
def PTO_TReluOp : PTO_Unary<"trelu", E_I32F2> { let summary = "dst = max(src, 0)."; }
def PTO_TNotOp : PTO_Unary<"tnot", E_Not> { let summary = "dst = ~src."; }
def PTO_TCvtOp : PTO_TileOp<"tcvt", "TCVT", "PIPE_V", [In<"src">, OptTmp<>, Out<"dst">],
    [PTO_Rule<"SameShape", "src dst">, PTO_Rule<"SameValid", "src dst">],
    (ins DefaultValuedAttr<PTO_RoundModeAttr, "::mlir::pto::RoundMode::CAST_RINT">:$rmode,
         OptionalAttr<PTO_SaturationModeAttr>:$sat_mode), "nullptr", Both, 1> {
  let summary = "Convert the element type.";
  let equation = "dst[i, j] = convert(src[i, j], rmode, sat_mode)";
}

//===----------------------------------------------------------------------===//
// Compare, select, generate
//===----------------------------------------------------------------------===//

defvar CmpAttr = (ins DefaultValuedAttr<PTO_CmpModeAttr, "::mlir::pto::CmpMode::Eq">:$cmpMode);
def PTO_TCmpOp : PTO_TileOp<"tcmp", "TCMP", "PIPE_V", [In<"src0">, In<"src1">, Out<"dst", E_B8>],
    [PTO_Rule<"SameElem", "src0 src1">, PTO_Rule<"SameValid", "src0 src1">, PTO_Rule<"RowMajor", "src0 src1">],
    CmpAttr, "checkCmp", Both, 1> {
  let constraints = ["sources hold i32, f16 or f32, on A5 also 8- and 16-bit integers and bf16",
                     "`dst` has the valid rows of the sources, on A5 their shape"];
  let summary = "Packed mask of src0 cmp src1.";
  let equation = "bit j of dst[i, :] = src0[i, j] cmp src1[i, j]";
}
def PTO_TCmpSOp : PTO_TileOp<"tcmps", "TCMPS", "PIPE_V", [In<"src", E_N4_I8>, Sc<"scalar">, Out<"dst", E_B8>],
    [PTO_Rule<"ScalarIsElem", "scalar src">, PTO_Rule<"RowMajor", "src">], CmpAttr, "checkCmp", Both, 1> {
  let constraints = ["`dst` has the valid rows of `src`"];
  let summary = "Packed mask of src cmp scalar.";
  let equation = "bit j of dst[i, :] = src[i, j] cmp scalar";
}
def PTO_TSelOp : PTO_TileOp<"tsel", "TSEL", "PIPE_V",
    [In<"mask">, In<"src0", E_N4_I8_BF>, In<"src1", E_N4_I8_BF>, OptTmp<>, Out<"dst", E_N4_I8_BF>],
    [PTO_Rule<"SameElem", "src0 src1 dst">, PTO_Rule<"SameValid", "src0 src1 dst">,
     PTO_Rule<"RowMajor", "src0 src1 dst">], (ins), "checkSel"> {
  let constraints = ["the mask holds integers"];
  let summary = "dst = src0 where the mask is set, else src1.";
}
def PTO_TSelSOp : PTO_TileOp<"tsels", "TSELS", "PIPE_V",
    [In<"mask">, In<"src", E_N4_I8_BF>, OptTmp<>, Sc<"scalar">, Out<"dst", E_N4_I8_BF>],
    [PTO_Rule<"SameElem", "src dst">, PTO_Rule<"SameValid", "src dst">, PTO_Rule<"RowMajor", "src dst">,
     PTO_Rule<"ScalarIsElem", "scalar src">], (ins), "checkSel"> {
  let constraints = ["the mask holds integers"];
  let summary = "dst = src where the mask is set, else scalar.";
}
def PTO_TCIOp : PTO_TileOp<"tci", "TCI", "PIPE_S",
    [Sc<"start">, OptTmp<>, Out<"dst", E_I16_I32>], [], (ins DefaultValuedAttr<BoolAttr, "false">:$descending),
    "checkTCI"> {
  let constraints = ["`start` is as wide as the elements of `dst`",
                     "`dst` has more than one column"];
  let summary = "Count up (or down) from start along the row.";
  let equation = "dst[0, j] = start + j, or start - j when descending";
  let notes = "Only the first row is written.";
}
def PTO_TTriOp : PTO_TileOp<"ttri", "TTRI", "PIPE_V", [Word<"diagonal">, Out<"dst", E_Tri>], [],
    (ins DefaultValuedAttr<PTO_IntAttr, "0">:$upperOrLower), "checkTTri", Both, 1> {
  let constraints = ["upperOrLower is 0 or 1",
                     "the diagonal is an integer"];
  let summary = "Ones below (0) or above (1) a diagonal, zeros elsewhere.";
  let equation = "dst[i, j] = 1 if j <= i + diagonal (lower) or j >= i + diagonal (upper), else 0";
}
def PTO_TRandomOp : PTO_TileOp<"trandom", "PTOAS__TRANDOM", "PIPE_V",
    [Word<"key0">, Word<"key1">, Word<"counter0">, Word<"counter1">, Word<"counter2">, Word<"counter3">, Out<"dst", E_I32>],
    [], (ins DefaultValuedAttr<PTO_IntAttr, "10">:$rounds), "checkTRandom", A5Only, 1> {
  let constraints = ["rounds is 7 or 10",
                     "keys and counters are i32"];
  let summary = "Counter-based random bits.";
  let equation = "dst = philox(key, counter + i, rounds)";
}
def PTO_THistogramOp : PTO_TileOp<"thistogram", "THISTOGRAM", "PIPE_V",
    [In<"src">, In<"indices", E_UI8>, Out<"dst", E_UI32>], [],
    (ins OptionalAttr<BoolAttr>:$isMSB, OptionalAttr<PTO_IntAttr>:$byte), "checkTHistogram", A5Only> {
  let constraints = ["`src` holds ui16 or ui32",
                     "`indices` is one col_major column",
                     "`dst` has at least 256 columns"];
  let summary = "Count the values of one byte per row.";
  let equation = "dst[i, v] = number of j with byte(src[i, j]) <= v, for elements whose upper byte is indices[i]";
}

//===----------------------------------------------------------------------===//
// Reductions and broadcasts
//===----------------------------------------------------------------------===//

defvar NothingNote = "Of no elements at all (extents that turn out zero when the code runs) native code makes 0 for a sum or an "
                     "index, 1 for a product, and for a maximum or minimum the value that loses against any other; hardware leaves it open.";
class PTO_RowReduce<string mn, PTO_Elems src, PTO_Elems dst, list<PTO_Rule> extra = []>
    : PTO_TileOp<mn, !toupper(mn), "PIPE_V", [In<"src", src>, OptTmp<>, Out<"dst", dst>],
                 !listconcat([PTO_Rule<"RowMajor", "src">, PTO_Rule<"NoBox", "src dst">,
                              PTO_Rule<"NonEmpty", "src">, PTO_Rule<"SameRows", "src dst">,
                              PTO_Rule<"ValidCol1", "dst">], extra), (ins), "checkRowReduce"> {
  let constraints = ["a col_major `dst` has one column"];
  let notes = NothingNote;
}
defvar KeepElem = [PTO_Rule<"SameElem", "src dst">];
defvar TmpLikeSrc = [PTO_Rule<"SameElem", "src tmp">, PTO_Rule<"SameValid", "src tmp">];
def PTO_TRowSumOp : PTO_RowReduce<"trowsum", E_N4, E_N4, KeepElem> {
  let summary = "Sum of each row.";
  let equation = "dst[i, 0] = sum_j src[i, j]";
}
def PTO_TRowMaxOp : PTO_RowReduce<"trowmax", E_N4, E_N4, KeepElem> {
  let summary = "Maximum of each row.";
  let equation = "dst[i, 0] = max_j src[i, j]";
}
def PTO_TRowMinOp : PTO_RowReduce<"trowmin", E_N4, E_N4, !listconcat(KeepElem, TmpLikeSrc)> {
  let summary = "Minimum of each row.";
  let equation = "dst[i, 0] = min_j src[i, j]";
}
def PTO_TRowProdOp : PTO_RowReduce<"trowprod", E_N4, E_N4, !listconcat(KeepElem, TmpLikeSrc)> {
  let summary = "Product of each row.";
  let equation = "dst[i, 0] = prod_j src[i, j]";
}
def PTO_TRowArgMaxOp : PTO_RowReduce<"trowargmax", E_N4, E_I32, TmpLikeSrc> {
  let summary = "Column of the maximum of each row.";
  let equation = "dst[i, 0] = the first j where src[i, j] is greatest";
}
def PTO_TRowArgMinOp : PTO_RowReduce<"trowargmin", E_N4, E_I32, TmpLikeSrc> {
  let summary = "Column of the minimum of each row.";
  let equation = "dst[i, 0] = the first j where src[i, j] is least";
}
class PTO_ColReduce<string mn, PTO_Elems e>
    : PTO_TileOp<mn, !toupper(mn), "PIPE_V", [In<"src", e>, Out<"dst", e>],
                 [PTO_Rule<"SameElem", "src dst">, PTO_Rule<"SameCols", "src dst">, PTO_Rule<"RowMajor", "src dst">,
                  PTO_Rule<"NoBox", "src dst">, PTO_Rule<"NonEmpty", "src">]> {
  let notes = NothingNote;
}
def PTO_TColSumOp : PTO_TileOp<"tcolsum", "TCOLSUM", "PIPE_V",
    [In<"src", E_N4_I8_BF>, OptTmp<>, Out<"dst", E_N4_I8_BF>],
    [PTO_Rule<"SameElem", "src tmp dst">, PTO_Rule<"SameCols", "src dst">, PTO_Rule<"RowMajor", "src dst">,
     PTO_Rule<"NoBox", "src dst">, PTO_Rule<"NonEmpty", "src">],
    (ins OptionalAttr<BoolAttr>:$isBinary), "checkTColSum", Both, 1> {
  let constraints = ["`tmp` goes with isBinary"];
  let summary = "Sum of each column.";
  let notes = !strconcat("Row after row, each sum rounded; with isBinary in pairs: rows 2i and 2i + 1, then the same of these sums, where a "
                         "last row without a partner goes into the first pair on A2/A3, into the last one on A5. ", NothingNote);
  let equation = "dst[0, j] = sum_i src[i, j]";
}
def PTO_TColMaxOp : PTO_ColReduce<"tcolmax", E_N4_I8_BF> {
  let summary = "Maximum of each column.";
  let equation = "dst[0, j] = max_i src[i, j]";
}
def PTO_TColMinOp : PTO_ColReduce<"tcolmin", E_N4_I8_BF> {
  let summary = "Minimum of each column.";
  let equation = "dst[0, j] = min_i src[i, j]";
}
def PTO_TColProdOp : PTO_ColReduce<"tcolprod", E_ColProd> {
  let summary = "Product of each column.";
  let equation = "dst[0, j] = prod_i src[i, j]";
}
class PTO_ColArg<string mn>
    : PTO_TileOp<mn, !toupper(mn), "PIPE_V", [In<"src", E_F2>, OptTmp<>, Out<"dst", E_I32>],
                 [PTO_Rule<"SameCols", "src dst">, PTO_Rule<"RowMajor", "src dst">, PTO_Rule<"NoBox", "src dst">,
                  PTO_Rule<"NonEmpty", "src">, PTO_Rule<"ValidRow1", "dst">]> {
  let notes = NothingNote;
}
def PTO_TColArgMaxOp : PTO_ColArg<"tcolargmax"> {
  let summary = "Row of the maximum of each column.";
  let equation = "dst[0, j] = the first i where src[i, j] is greatest";
}
def PTO_TColArgMinOp : PTO_ColArg<"tcolargmin"> {
  let summary = "Row of the minimum of each column.";
  let equation = "dst[0, j] = the first i where src[i, j] is least";
}
class PTO_PartArg<string mn>
    : PTO_TileOp<mn, !toupper(mn), "PIPE_V",
                 [In<"src0">, In<"src1">, In<"idx0">, In<"idx1">, Out<"dst">, Out<"dstIdx">],
                 [PTO_Rule<"SameElem", "src0 src1 dst">, PTO_Rule<"SameElem", "idx0 idx1 dstIdx">]>;
def PTO_TPartArgMaxOp : PTO_PartArg<"tpartargmax"> {
  let summary = "Larger value of two partial maxima, with its index.";
  let equation = "(dst, dstIdx) = (src0, idx0) if src0 > src1, else (src1, idx1)";
}
def PTO_TPartArgMinOp : PTO_PartArg<"tpartargmin"> {
  let summary = "Smaller value of two partial minima, with its index.";
  let equation = "(dst, dstIdx) = (src0, idx0) if src0 < src1, else (src1, idx1)";
}

def PTO_TRowExpandOp : PTO_TileOp<"trowexpand", "TROWEXPAND", "PIPE_V",
    [In<"src", E_Data>, Out<"dst", E_Data>],
    [PTO_Rule<"SameElem", "src dst">, PTO_Rule<"SameRows", "src dst">, PTO_Rule<"NonEmpty", "src dst">,
     PTO_Rule<"RowMajor", "dst">]> {
  let summary = "Repeat the first value of each row along the row.";
  let equation = "dst[i, j] = src[i, 0]";
}
def PTO_TColExpandOp : PTO_TileOp<"tcolexpand", "TCOLEXPAND", "PIPE_V",
    [In<"src", E_Data>, Out<"dst", E_Data>],
    [PTO_Rule<"SameElem", "src dst">, PTO_Rule<"SameCols", "src dst">, PTO_Rule<"RowMajor", "src dst">,
     PTO_Rule<"NoBox", "src dst">]> {
  let summary = "Repeat the first row down the tile.";
  let equation = "dst[i, j] = src[0, j]";
}
class PTO_RowExpandBin<string mn, PTO_Elems e, dag attrs = (ins)>
    : PTO_TileOp<mn, !toupper(mn), "PIPE_V", [In<"src0", e>, In<"src1", e>, OptTmp<>, Out<"dst", e>],
                 [PTO_Rule<"SameElem", "src0 src1 dst">, PTO_Rule<"SameRows", "src0 src1 dst">,
                  PTO_Rule<"RowMajor", "dst">], attrs, "checkRowExpandBin"> {
  defvar noTmp = !or(!eq(mn, "trowexpandmax"), !eq(mn, "trowexpandmin"), !eq(mn, "trowexpandexpdif"));
  let constraints = !listconcat(
      ["one source is row_major with the valid columns of `dst`; the other holds one value per row: a col_major column, or "
       "row_major with as many valid columns as 32 bytes have elements",
       "`tmp` goes with the col_major column (A2/A3)"],
      !if(noTmp, ["no `tmp` (A5)"], []<string>));
}
def PTO_TRowExpandMulOp : PTO_RowExpandBin<"trowexpandmul", E_N4_I8_BF> {
  let summary = "dst = src0 * (src1 per row).";
}
def PTO_TRowExpandSubOp : PTO_RowExpandBin<"trowexpandsub", E_N4_I8_BF> {
  let summary = "dst = src0 - (src1 per row).";
}
def PTO_TRowExpandDivOp : PTO_RowExpandBin<"trowexpanddiv", E_F2,
                                           (ins OptionalAttr<PTO_DivPrecisionAttr>:$precisionType)> {
  let summary = "dst = src0 / (src1 per row).";
}
def PTO_TRowExpandAddOp : PTO_RowExpandBin<"trowexpandadd", E_N4_I8_BF> {
  let summary = "dst = src0 + (src1 per row).";
}
def PTO_TRowExpandMaxOp : PTO_RowExpandBin<"trowexpandmax", E_N4_I8_BF> {
  let summary = "dst = max(src0, src1 per row).";
}
def PTO_TRowExpandMinOp : PTO_RowExpandBin<"trowexpandmin", E_N4_I8_BF> {
  let summary = "dst = min(src0, src1 per row).";
}
def PTO_TRowExpandExpdifOp : PTO_RowExpandBin<"trowexpandexpdif", E_F2> {
  let summary = "dst = exp(src0 - (src1 per row)).";
}
class PTO_ColExpandBin<string mn, PTO_Elems e, dag attrs = (ins)>
    : PTO_TileOp<mn, !toupper(mn), "PIPE_V", [In<"src0", e>, In<"src1", e>, Out<"dst", e>],
                 [PTO_Rule<"SameElem", "src0 src1 dst">, PTO_Rule<"SameCols", "src1 dst">,
                  PTO_Rule<"SameValid", "src0 dst">, PTO_Rule<"RowMajor", "src0 src1 dst">], attrs>;
def PTO_TColExpandAddOp : PTO_ColExpandBin<"tcolexpandadd", E_N4_I8_BF> {
  let summary = "dst = src0 + (src1 per column).";
}
def PTO_TColExpandSubOp : PTO_ColExpandBin<"tcolexpandsub", E_N4_I8_BF> {
  let summary = "dst = src0 - (src1 per column).";
}
def PTO_TColExpandMulOp : PTO_ColExpandBin<"tcolexpandmul", E_N4_I8_BF> {
  let summary = "dst = src0 * (src1 per column).";
}
def PTO_TColExpandMaxOp : PTO_ColExpandBin<"tcolexpandmax", E_N4_I8_BF> {
  let summary = "dst = max(src0, src1 per column).";
}
def PTO_TColExpandMinOp : PTO_ColExpandBin<"tcolexpandmin", E_N4_I8_BF> {
  let summary = "dst = min(src0, src1 per column).";
}
def PTO_TColExpandDivOp : PTO_ColExpandBin<"tcolexpanddiv", E_F2,
                                           (ins OptionalAttr<PTO_DivPrecisionAttr>:$precisionType)> {
  let summary = "dst = src0 / (src1 per column).";
}
def PTO_TColExpandExpdifOp : PTO_ColExpandBin<"tcolexpandexpdif", E_F2> {
  let summary = "dst = exp(src0 - (src1 per column)).";
}

//===----------------------------------------------------------------------===//
// Gather, scatter, sort, quantise
//===----------------------------------------------------------------------===//

def PTO_TGatherOp : PTO_TileOp<"tgather", "TGATHER", "PIPE_V",
    [In<"src">, OptIn<"indices">, OptSc<"kValue">, OptTmp<>, Out<"dst">, OptOut<"cdst">], [],
    (ins OptionalAttr<PTO_MaskPatternAttr>:$maskPattern, OptionalAttr<StrAttr>:$axis,
         OptionalAttr<PTO_CmpModeAttr>:$cmpMode, OptionalAttr<PTO_IntAttr>:$offset), "checkTGather", Both, 0, 0, 1> {
  let constraints = ["exactly one form: `indices` with `tmp`, `kValue` with `tmp` and `cdst`, or maskPattern",
                     "indices: i32, on A5 also 16 bits; `tmp` has their type and valid shape; `src` and `dst` the same element type, 16- or 32-bit integers, f16 or f32, on A5 also 8 bits",
                     "a value: cmpMode eq or gt; `dst` and `cdst` hold i32; `src` f16 or f32, with eq also i32, on A5 also 16-bit integers",
                     "maskPattern: row_major tiles with elements of the same 2 or 4 bytes, on A5 also 1; the axis is \"row\" or \"col\""];
  let summary = "Collect elements by index, by mask pattern, or by comparison.";
  let equation = "dst[i, j] = src.flat[indices[i, j]]; with maskPattern the marked elements of each group, packed; with a value the positions that compare true, packed";
  let notes = "Indices count the elements of the whole source row by row, each row as long as the tile is wide (not its valid columns); "
              "one outside src gives 0 in native code, hardware leaves the value open. A mask packs to the front of each row (axis "
              "\"row\") or column (\"col\"); what lies behind the collected elements keeps its content. With a value, cdst "
              "receives how many compare true in each row, also those that found no room in dst, and offset is added to each position. "
              "dst must not share memory with src or the indices.";
}
def PTO_TGatherBOp : PTO_TileOp<"tgatherb", "TGATHERB", "PIPE_V",
    [In<"src", E_Data>, In<"offsets", E_I32>, Out<"dst", E_Data>], [PTO_Rule<"SameWidth", "src dst">]> {
  let summary = "Collect 32-byte blocks by byte offset.";
  let equation = "32 bytes of dst at block k = 32 bytes of src at offsets[k]";
  let notes = "Offsets are bytes from the start of src; bytes outside src are 0 in native code, hardware leaves them open. "
              "dst must not share memory with src or the offsets.";
}
def PTO_TScatterOp : PTO_TileOp<"tscatter", "TSCATTER", "getScatterPipe",
    [In<"src", E_Data>, OptIn<"indices">, InOut<"dst", E_Data>], [PTO_Rule<"SameElem", "src dst">],
    (ins OptionalAttr<PTO_MaskPatternAttr>:$maskPattern, OptionalAttr<StrAttr>:$axis), "checkTScatter"> {
  let constraints = ["exactly one form: `indices` or maskPattern",
                     "indices are integers as wide as the data, 16 bits for bytes",
                     "maskPattern: row_major tiles with elements of the same 2 or 4 bytes, on A5 also 1; the axis is \"row\" or \"col\""];
  let summary = "Write elements to the places named by indices.";
  let equation = "dst = 0, then dst.flat[indices[i, j]] = src[i, j]; with maskPattern dst[i, marked j] = the elements of src[i, :] in order, all others 0";
  let notes = "All of dst becomes 0 first, its whole capacity and not only the valid part; what no index names is 0 afterwards. Indices "
              "count the elements of the whole destination row by row, each row as long as the tile is wide (not its valid columns); one "
              "outside dst writes nothing. Of several elements for one place the last in row-major order wins. With maskPattern the "
              "places that the pattern leaves out, and those for which src has no element left, become 0; axis \"row\" spreads along "
              "rows, \"col\" along columns. dst must not share memory with src or the indices.";
}
def PTO_TSort32Op : PTO_TileOp<"tsort32", "TSORT32", "PIPE_V",
    [In<"src", E_F2>, In<"indices", E_UI32>, OptTmp<>, Out<"dst", E_F2>], [PTO_Rule<"SameElem", "src dst">],
    (ins), "checkTSort32"> {
  let constraints = ["`src` and `dst` have the same valid rows"];
  let summary = "Sort runs of 32 in falling order; dst holds value and index pairs.";
  let equation = "dst[i, :] = runs of 32 pairs (src[i, j], indices[i, j]) in falling order of src";
  let notes = "A pair has eight bytes: two f32 columns (value, index), or four f16 columns (value, one that stays unused, two that hold the "
              "index). Equal values keep their order, NaN comes last. A run of fewer than 32 at the end of a row is sorted as it is; the "
              "columns of dst behind the last pair keep their content. dst must not share memory with src or the indices.";
}
def PTO_TMrgSortOp : PTO_TileOp<"tmrgsort", "TMRGSORT", "PIPE_V",
    [Ins<"srcs", E_F2>, OptSc<"blockLen", PTO_I32Number>, OptTmp<"tmp", E_F2>, Out<"dst", E_F2>, OptVecOut<"executed">],
    [PTO_Rule<"SameElem", "srcs dst">], (ins OptionalAttr<BoolAttr>:$exhausted, UnitAttr:$no_tmp),
    "checkTMrgSort", Both, 0, 0, 1> {
  let constraints = ["lists have one row",
                     "one list: with blockLen, a multiple of 64 above 0",
                     "two to four lists: with `executed`; `tmp` has the element type of `dst`"];
  let summary = "Merge sorted runs of one row, or two to four sorted lists.";
  let equation = "dst = the pairs of all lists in falling order";
  let notes = "Pairs are those of tsort32. With one source, each four runs of blockLen columns become one. Of equal values that of the "
              "earlier list comes first, NaN comes last. Pairs that find no room in dst are dropped, columns behind the last pair keep their content. "
              "With exhausted the merge ends when the first list has run out.";
}
def PTO_TQuantOp : PTO_TileOp<"tquant", "TQUANT", "PIPE_V",
    [In<"src", E_F32>, In<"fp", E_F32>, OptIn<"offset">, OptTmp<>, Out<"dst", E_B8>], [],
    (ins PTO_QuantTypeAttr:$quant_type), "checkTQuant", Both, 0, 0, 1> {
  let constraints = ["INT8_SYM: no `offset`, `dst` holds i8; INT8_ASYM: with `offset`, `dst` holds ui8",
                     "`src` and `dst` are row_major (A2/A3)"];
  let summary = "Quantise to eight bits.";
  let equation = "dst[i, j] = saturate(rint(src[i, j] * fp[i]) + offset[i])";
}
def PTO_TQuantMxOp : PTO_TileOp<"tquant.mx", "TQUANT", "PIPE_V",
    [In<"src", E_F3>, Out<"dst">, Out<"exp">, Out<"max">, Out<"scaling">, OptOut<"expZz">],
    [PTO_Rule<"SameElem", "src max scaling">, PTO_Rule<"RowMajor", "src dst">],
    (ins PTO_QuantTypeAttr:$quant_type, OptionalAttr<PTO_QuantScaleAlgAttr>:$quantScaleAlg,
         OptionalAttr<PTO_MxGroupAxisAttr>:$grpAxis, OptionalAttr<PTO_VecStoreModeAttr>:$storeMode,
         OptionalAttr<BoolAttr>:$interleave), "checkTQuantMx", A5Only> {
  let constraints = ["quant_type is MXFP8 (`dst` holds 8-bit floats) or MXFP4_E2M1 (packed 4-bit floats)",
                     "`exp` holds one byte per group"];
  let summary = "Quantise groups of 32 elements with one power-of-two scale each.";
  let equation = "exp[g] = scale of group g; dst[i, j] = convert(src[i, j] / 2^exp[g])";
}
def PTO_TDequantOp : PTO_TileOp<"tdequant", "TDEQUANT", "PIPE_V",
    [In<"src">, In<"scale", E_F32>, In<"offset", E_F32>, Out<"dst", E_F32>], [], (ins), "checkTDequant"> {
  let constraints = ["`src` holds 8- or 16-bit integers"];
  let summary = "dst = (src - offset) * scale.";
}

//===----------------------------------------------------------------------===//
// Scalars of tiles, printing, waiting
//===----------------------------------------------------------------------===//

def PTO_TSetValOp : PTO_TileOp<"tsetval", "SET_VALUE", "PIPE_S",
    [Idx<"offset">, Sc<"value">, InOut<"dst", E_Any, SpAny>], [PTO_Rule<"ScalarIsElem", "value dst">]> {
  let summary = "Write one element of a tile by its linear index.";
  let equation = "dst.flat[offset] = value";
  let notes = "offset counts the elements of the whole tile in its own order, not only the valid ones.";
}
def PTO_TGetValOp : PTO_TileOpBase<"tgetval", "GET_VALUE", "PIPE_S",
    [In<"src", E_Any, SpVec>, Idx<"offset">], [], (ins), "checkTGetVal"> {
  let constraints = ["the result has the element type of `src`"];
  let summary = "Read one element of a tile by its linear index.";
  let equation = "result = src.flat[offset]";
  let notes = "offset counts the elements of the whole tile in its own order, not only the valid ones.";
  let results = (outs PTO_AnyScalar:$result);
  let assemblyFormat = [{
    `ins` `(` $src `,` $offset `:` qualified(type($src)) `,` qualified(type($offset)) `)` `outs` `:` qualified(type($result)) attr-dict
  }];
}
def PTO_TPrintOp : PTO_TileOp<"tprint", "TPRINT", "PIPE_V",
    [PTO_Opnd<"src", TB, "Tile", "Ins", "ReadWrite", E_Data, SpVec>], [],
    (ins OptionalAttr<PTO_PrintFormatAttr>:$printFormat)> {
  let summary = "Print a tile.";
}
def PTO_TSyncOp : PTO_TileOp<"tsync", "TSYNC", "PIPE_S",
    [PTO_Opnd<"operands_", AnyTypeOf<[PTO_TileBufType, PTO_AnyView], "tile or view">, "Tile", "Ins", "ReadWrite", E_Any, SpAny, 0, 1>]> {
  let summary = "Wait for everything that touches the operands.";
}

#endif // PTOAS_DIALECT_PTO_IR_PTOTILEOPS_TD
