//===- MatrixChecks.cpp - rules of matrix products ------------------------===//
#include "TileChecks.h"

using namespace mlir;
using namespace mlir::pto;

static LogicalResult checkElements(Operation *op, Arch arch, bool mx, TileBufType lhs,
                                   TileBufType rhs, TileBufType dst) {
  unsigned a = elem::classify(lhs.getElementType()), b = elem::classify(rhs.getElementType());
  unsigned c = elem::classify(dst.getElementType());
  unsigned small = elem::FP8 | elem::HIF8 | elem::FP4;
  bool legal;
  if (mx) // four-bit floats go with four-bit floats (spec/pto_isa.md 6.9)
    legal = c == elem::F32 && (a & small) && (b & small) && (a == elem::FP4) == (b == elem::FP4);
  else
    legal = (c == elem::I32 && a == elem::I8 && b == elem::I8) ||
            (c == elem::F32 && a == b && (a & elem::F3)) ||
            (arch == Arch::A5 && c == elem::F32 && (a & small) && (b & small));
  if (legal)
    return success();
  return op->emitOpError() << "element types " << lhs.getElementType() << " * "
                           << rhs.getElementType() << " into " << dst.getElementType()
                           << " are not supported on " << getArchName(arch) << ", expected "
                           << (mx ? "fp8 * fp8 or fp4 * fp4 into f32"
                               : arch == Arch::A5
                                   ? "i8 * i8 into i32, equal floats or fp8 into f32"
                                   : "i8 * i8 into i32, or equal f16, bf16 or f32 into f32");
}

static LogicalResult checkExtent(Operation *op, StringRef what, StringRef a, int64_t x, StringRef b,
                                 int64_t y) {
  if (!mayEqual(x, y))
    return op->emitOpError() << what << " differs: " << a << " has " << x << ", " << b << " has "
                             << y;
  if (!ShapedType::isDynamic(x) && (x < 1 || x > 4095))
    return op->emitOpError() << what << " must be between 1 and 4095, got " << x;
  return success();
}

LogicalResult mlir::pto::checkMatmul(Operation *op, Arch arch) {
  TileBufType lhs = tileOf(op, "lhs"), rhs = tileOf(op, "rhs"), dst = tileOf(op, "dst");
  StringRef name = op->getName().getStringRef();
  bool gemv = name.starts_with("pto.tgemv"), mx = name.contains(".mx");
  if (failed(checkElements(op, arch, mx, lhs, rhs, dst)) ||
      failed(checkExtent(op, "valid row count (M)", "lhs", lhs.getValidRow(), "dst",
                         dst.getValidRow())) ||
      failed(checkExtent(op, "inner valid extent (K)", "lhs", lhs.getValidCol(), "rhs",
                         rhs.getValidRow())) ||
      failed(checkExtent(op, "valid column count (N)", "rhs", rhs.getValidCol(), "dst",
                         dst.getValidCol())))
    return failure();
  if (gemv && !mayEqual(lhs.getValidRow(), 1))
    return op->emitOpError() << "lhs must have one valid row, got " << lhs.getValidRow();
  // In which order the boxes of lhs lie is the architecture's, whatever is written
  // (spec/ptoas.md 3.1).
  if (arch == Arch::A5) {
    bool leftOrder = lhs.getSlayout() == SLayout::RowMajor;
    bool rightOrder = rhs.isRowMajor() && rhs.getSlayout() == SLayout::ColMajor;
    if (!leftOrder || !rightOrder || !isColRow(dst))
      return op->emitOpError()
             << "layouts on A5 must be lhs col_major/row_major, rhs row_major/col_major and dst "
                "col_major/row_major (blayout/slayout)";
  }
  if (TileBufType in = tileOf(op, "accIn"))
    if (in.getElementType() != dst.getElementType())
      return op->emitOpError() << "element types of accIn and dst must be equal, got "
                               << in.getElementType() << " and " << dst.getElementType();
  TileBufType bias = tileOf(op, "bias");
  if (!bias)
    return success();
  if (!mayEqual(bias.getValidRow(), 1) && bias.getRows() != 1)
    return op->emitOpError() << "bias must have one row, got " << shapeText(bias);
  if (bias.getCols() < dst.getCols() && !ShapedType::isDynamic(dst.getValidCol()) &&
      bias.getCols() < dst.getValidCol())
    return op->emitOpError() << "bias must have a column for each of the " << dst.getValidCol()
                             << " columns (N), got " << shapeText(bias);
  bool fits = mx ? hasElem(bias, elem::F32) : bias.getElementType() == dst.getElementType();
  if (!fits)
    return op->emitOpError() << "element type of bias must be "
                             << (mx ? Float32Type::get(op->getContext()) : dst.getElementType())
                             << ", got " << bias.getElementType();
  if (arch == Arch::A5 && !bias.isRowMajor())
    return op->emitOpError() << "bias must be row-major";
  return success();
}
