//===- VectorChecks.cpp - rules of vector instructions --------------------===//
#include "TileChecks.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mlir::pto;

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

LogicalResult mlir::pto::checkPart(Operation *op, Arch) {
  TileBufType a = tileOf(op, "src0"), b = tileOf(op, "src1"), dst = tileOf(op, "dst");
  auto inside = [&](TileBufType src) {
    return mayBeAtMost(src.getValidRow(), dst.getValidRow()) &&
           mayBeAtMost(src.getValidCol(), dst.getValidCol());
  };
  auto equal = [&](TileBufType src) {
    return mayEqual(src.getValidRow(), dst.getValidRow()) &&
           mayEqual(src.getValidCol(), dst.getValidCol());
  };
  if (!inside(a) || !inside(b))
    return op->emitOpError() << "the valid shapes of src0 and src1 (" << validText(a) << ", "
                             << validText(b) << ") must lie inside that of dst, " << validText(dst);
  if (!equal(a) && !equal(b))
    return op->emitOpError() << "the valid shape of src0 or src1 (" << validText(a) << ", "
                             << validText(b) << ") must equal that of dst, " << validText(dst);
  if (isa<TPartMaxOp, TPartMinOp>(op) &&
      (shapeText(a) != shapeText(dst) || shapeText(b) != shapeText(dst)))
    return op->emitOpError() << "shapes must be equal, got " << shapeText(a) << ", " << shapeText(b)
                             << " and " << shapeText(dst);
  return success();
}

LogicalResult mlir::pto::checkRemTmp(Operation *op, Arch) {
  TileBufType tmp = tileOf(op, "tmp"), dst = tileOf(op, "dst");
  if (tmp && !mayBeAtMost(dst.getValidCol(), tmp.getValidCol()))
    return op->emitOpError() << "tmp must have at least as many valid columns as dst, got "
                             << extentText(tmp.getValidCol()) << " and "
                             << extentText(dst.getValidCol());
  return success();
}

LogicalResult mlir::pto::checkXorTmp(Operation *op, Arch arch) {
  TileBufType tmp = tileOf(op, "tmp"), dst = tileOf(op, "dst");
  if (isa<TXorSOp>(op) && operandOf(op, "src") == operandOf(op, "dst"))
    return op->emitOpError() << "'src' and 'dst' must be different tiles";
  if (isa<TXorSOp>(op) && failed(checkIntScalar(op, arch)))
    return failure();
  if (!tmp || arch == Arch::A5)
    return success();
  if (tmp.getElementType() != dst.getElementType())
    return op->emitOpError() << "element types of tmp and dst must be equal, got "
                             << tmp.getElementType() << " and " << dst.getElementType();
  if (!mayEqual(tmp.getValidRow(), dst.getValidRow()) ||
      !mayEqual(tmp.getValidCol(), dst.getValidCol()))
    return op->emitOpError() << "valid shapes of tmp and dst must be equal, got " << validText(tmp)
                             << " and " << validText(dst);
  return success();
}

// Only modules for "a3", not "a2a3", ask for different tiles (spec/ptoas.md 6.4 and 16, 15).
static bool namesA3(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto name = module ? module->getAttrOfType<StringAttr>("pto.target_arch") : StringAttr();
  return name && name.getValue().lower() == "a3";
}

LogicalResult mlir::pto::checkPReluTmp(Operation *op, Arch arch) {
  TileBufType tmp = tileOf(op, "tmp"), dst = tileOf(op, "dst");
  if (!tmp || arch == Arch::A5)
    return success();
  if (!hasElem(tmp, elem::B8))
    return op->emitOpError() << "tmp must hold bytes (ui8), got " << tmp.getElementType();
  if (!ShapedType::isDynamic(dst.getValidRow()) && tmp.getRows() < dst.getValidRow() + 1)
    return op->emitOpError() << "tmp needs at least one row more than dst has valid rows, got "
                             << tmp.getRows() << " and " << dst.getValidRow();
  if (!namesA3(op))
    return success();
  SmallVector<Value> values = {operandOf(op, "src0"), operandOf(op, "src1"), operandOf(op, "tmp"),
                               operandOf(op, "dst")};
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned j = i + 1; j < 4; ++j)
      if (values[i] == values[j])
        return op->emitOpError() << "src0, src1, tmp and dst must be four different tiles";
  return success();
}

LogicalResult mlir::pto::checkRecip(Operation *op, Arch) {
  if (namesA3(op) && operandOf(op, "src") == operandOf(op, "dst"))
    return op->emitOpError() << "'src' and 'dst' must be different tiles on A3";
  return success();
}

LogicalResult mlir::pto::checkIntScalar(Operation *op, Arch) {
  if (Type type = operandOf(op, "scalar").getType(); !type.isIntOrIndex())
    return op->emitOpError() << "the scalar must be an integer like the elements, got " << type;
  return success();
}

LogicalResult mlir::pto::checkShiftScalar(Operation *op, Arch) {
  Value scalar = operandOf(op, "scalar");
  if (!scalar.getType().isIntOrIndex())
    return op->emitOpError() << "the shift must be an integer, got " << scalar.getType();
  if (auto amount = getConstantValue(scalar); amount && *amount < 0)
    return op->emitOpError() << "the shift must not be negative, got " << *amount;
  return success();
}

LogicalResult mlir::pto::checkLRelu(Operation *op, Arch) {
  Type slope = operandOf(op, "scalar").getType();
  if (!slope.isF32())
    return op->emitOpError() << "the slope must be f32, got " << slope;
  return success();
}

LogicalResult mlir::pto::checkTAxpy(Operation *op, Arch) {
  TileBufType src = tileOf(op, "src"), dst = tileOf(op, "dst");
  bool widens = hasElem(src, elem::F16) && hasElem(dst, elem::F32);
  if (src.getElementType() != dst.getElementType() && !widens)
    return op->emitOpError() << "element type of dst must be that of src, or f32 for f16, got "
                             << src.getElementType() << " and " << dst.getElementType();
  return success();
}

LogicalResult mlir::pto::checkTExpandS(Operation *op, Arch arch) {
  TileBufType dst = tileOf(op, "dst");
  if (dst.getSpace() != AddressSpace::Vec)
    return success();
  unsigned allowed = elem::N4 | (arch == Arch::A5 ? elem::B8 : 0u);
  if (!hasElem(dst, allowed))
    return op->emitOpError() << "element type " << dst.getElementType()
                             << " of operand 'dst' is not supported on " << getArchName(arch)
                             << ", expected one of " << elem::toString(allowed);
  if (!dst.isRowMajor())
    return op->emitOpError() << "'dst' must be row-major (blayout row_major)";
  return success();
}

LogicalResult mlir::pto::checkRsqrtTmp(Operation *op, Arch) {
  TileBufType tmp = tileOf(op, "tmp");
  if (tmp && tmp.getSizeInBytes() < 32)
    return op->emitOpError() << "tmp needs at least 32 bytes, got " << tmp.getSizeInBytes();
  return success();
}

//===----------------------------------------------------------------------===//
// Compare, select, generate
//===----------------------------------------------------------------------===//

LogicalResult mlir::pto::checkCmp(Operation *op, Arch arch) {
  TileBufType src = tileOf(op, isa<TCmpOp>(op) ? "src0" : "src"), dst = tileOf(op, "dst");
  if (isa<TCmpOp>(op)) {
    unsigned allowed =
        arch == Arch::A5 ? elem::B8 | elem::B16 | elem::B32 | elem::F3 : elem::B32 | elem::F2;
    if (!hasElem(src, allowed))
      return op->emitOpError() << "element type " << src.getElementType()
                               << " of operand 'src0' is not supported on " << getArchName(arch)
                               << ", expected one of " << elem::toString(allowed);
    // A5 writes a byte per element, A2/A3 a bit.
    if (arch == Arch::A5 && shapeText(src) != shapeText(dst))
      return op->emitOpError() << "shapes of src0 and dst must be equal on A5, got "
                               << shapeText(src) << " and " << shapeText(dst);
  }
  if (!mayEqual(src.getValidRow(), dst.getValidRow()))
    return op->emitOpError() << "valid rows of the source and the mask must be equal, got "
                             << extentText(src.getValidRow()) << " and "
                             << extentText(dst.getValidRow());
  return success();
}

LogicalResult mlir::pto::checkSel(Operation *op, Arch) {
  TileBufType mask = tileOf(op, "mask");
  if (!hasElem(mask, elem::B8 | elem::B16 | elem::B32 | elem::I1))
    return op->emitOpError() << "the mask must hold integers, got " << mask.getElementType();
  return success();
}

LogicalResult mlir::pto::checkTCI(Operation *op, Arch) {
  auto count = cast<TCIOp>(op);
  TileBufType dst = count.getDst().getType();
  Type start = count.getStart().getType();
  if (!start.isInteger(dst.getElementType().getIntOrFloatBitWidth()))
    return op->emitOpError() << "start must have the element type of dst, got " << start << " and "
                             << dst.getElementType();
  if (dst.getCols() == 1)
    return op->emitOpError() << "dst must have more than one column";
  return success();
}

LogicalResult mlir::pto::checkTTri(Operation *op, Arch) {
  int64_t side = cast<TTriOp>(op).getUpperOrLower();
  if (side != 0 && side != 1)
    return op->emitOpError() << "upperOrLower must be 0 (lower) or 1 (upper), got " << side;
  if (Type type = operandOf(op, "diagonal").getType(); !type.isIntOrIndex())
    return op->emitOpError() << "the diagonal must be an integer, got " << type;
  return success();
}

LogicalResult mlir::pto::checkTRandom(Operation *op, Arch) {
  int64_t rounds = cast<TRandomOp>(op).getRounds();
  if (rounds != 7 && rounds != 10)
    return op->emitOpError() << "rounds must be 7 or 10, got " << rounds;
  for (Value word : op->getOperands().drop_back())
    if (!word.getType().isInteger(32))
      return op->emitOpError() << "keys and counters must be i32, got " << word.getType();
  return success();
}

LogicalResult mlir::pto::checkTHistogram(Operation *op, Arch) {
  TileBufType src = tileOf(op, "src"), indices = tileOf(op, "indices"), dst = tileOf(op, "dst");
  if (!hasElem(src, elem::UI16 | elem::UI32))
    return op->emitOpError() << "src must hold ui16, got " << src.getElementType();
  if (!indices.isColMajor() || indices.getCols() != 1)
    return op->emitOpError() << "indices must be one col_major column, got " << shapeText(indices);
  if (dst.getCols() < 256)
    return op->emitOpError() << "dst needs at least 256 columns, got " << dst.getCols();
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions and broadcasts
//===----------------------------------------------------------------------===//

LogicalResult mlir::pto::checkRowReduce(Operation *op, Arch) {
  TileBufType dst = tileOf(op, "dst");
  if (dst.isColMajor() && dst.getCols() != 1)
    return op->emitOpError() << "a col_major dst must have exactly one column, got "
                             << dst.getCols();
  return success();
}

LogicalResult mlir::pto::checkTColSum(Operation *op, Arch) {
  auto sum = cast<TColSumOp>(op);
  if (sum.getTmp() && !sum.getIsBinary())
    return op->emitOpError() << "a scratch tile (tmp) needs the attribute isBinary";
  return success();
}

LogicalResult mlir::pto::checkRowExpandBin(Operation *op, Arch arch) {
  TileBufType a = tileOf(op, "src0"), b = tileOf(op, "src1"), dst = tileOf(op, "dst");
  int64_t block = 32 / std::max<int64_t>(1, dst.getElementBytes());
  auto isFull = [&](TileBufType type) {
    return type.isRowMajor() && mayEqual(type.getValidCol(), dst.getValidCol());
  };
  auto isColumn = [](TileBufType type) {
    return type.isColMajor() && mayEqual(type.getValidCol(), 1);
  };
  auto isBlock = [&](TileBufType type) {
    return type.isRowMajor() && mayEqual(type.getValidCol(), block);
  };
  auto isPerRow = [&](TileBufType type) { return isColumn(type) || isBlock(type); };
  if (!(isFull(a) && isPerRow(b)) && !(isFull(b) && isPerRow(a)))
    return op->emitOpError()
           << "one operand must be row-major with the valid columns of dst, the other hold one "
              "value per row: a col_major column, or row-major with "
           << block << " valid columns; got " << validText(a) << " and " << validText(b);
  if (!operandOf(op, "tmp"))
    return success();
  if (arch == Arch::A5 && isa<TRowExpandMaxOp, TRowExpandMinOp, TRowExpandExpdifOp>(op))
    return op->emitOpError() << "takes no scratch tile (tmp) on A5";
  if (arch == Arch::A3 && !isColumn(a) && !isColumn(b))
    return op->emitOpError() << "a scratch tile (tmp) is only possible when the values per row are "
                                "a col_major column";
  return success();
}

//===----------------------------------------------------------------------===//
// Gather, scatter, sort, quantise
//===----------------------------------------------------------------------===//

static LogicalResult checkIndexGather(TGatherOp op, Arch arch) {
  TileBufType src = op.getSrc().getType(), indices = op.getIndices().getType(),
              dst = op.getDst().getType();
  unsigned integers = elem::B32 | (arch == Arch::A5 ? elem::B16 : 0u);
  if (!hasElem(indices, integers))
    return op.emitOpError() << "indices must be integers (" << elem::toString(integers) << "), got "
                            << indices.getElementType();
  if (!op.getTmp())
    return op.emitOpError()
           << "the index form needs a scratch tile; expected ins(src, indices, tmp), or a "
              "maskPattern, or a value to compare with";
  TileBufType tmp = op.getTmp().getType();
  if (tmp.getElementType() != indices.getElementType())
    return op.emitOpError() << "element types of tmp and indices must be equal, got "
                            << tmp.getElementType() << " and " << indices.getElementType();
  if (!mayEqual(tmp.getValidRow(), indices.getValidRow()) ||
      !mayEqual(tmp.getValidCol(), indices.getValidCol()))
    return op.emitOpError() << "valid shapes of tmp and indices must be equal, got "
                            << validText(tmp) << " and " << validText(indices);
  unsigned allowed = elem::N4 | (arch == Arch::A5 ? elem::B8 : 0u);
  if (!hasElem(src, allowed))
    return op.emitOpError() << "element type " << src.getElementType()
                            << " of operand 'src' is not supported on " << getArchName(arch)
                            << ", expected one of " << elem::toString(allowed);
  if (src.getElementType() != dst.getElementType())
    return op.emitOpError() << "element types of src and dst must be equal, got "
                            << src.getElementType() << " and " << dst.getElementType();
  return success();
}

static LogicalResult checkCompareGather(TGatherOp op, Arch arch) {
  TileBufType src = op.getSrc().getType(), dst = op.getDst().getType();
  CmpMode mode = op.getCmpMode().value_or(CmpMode::Eq);
  if (mode != CmpMode::Eq && mode != CmpMode::Gt)
    return op.emitOpError() << "the compare form knows eq and gt, got " << stringifyCmpMode(mode);
  if (!op.getCdst() || !op.getTmp())
    return op.emitOpError() << "the compare form is ins(src, value, tmp) outs(dst, count)";
  if (!hasElem(dst, elem::B32) || !hasElem(op.getCdst().getType(), elem::B32))
    return op.emitOpError() << "dst and count must hold i32";
  unsigned allowed = arch == Arch::A5      ? elem::N4
                     : mode == CmpMode::Eq ? elem::F2 | elem::B32
                                           : elem::F2;
  if (!hasElem(src, allowed))
    return op.emitOpError() << "element type " << src.getElementType()
                            << " of operand 'src' is not supported on " << getArchName(arch)
                            << ", expected one of " << elem::toString(allowed);
  return success();
}

static LogicalResult checkMaskForm(Operation *op, Arch arch, std::optional<StringRef> axis) {
  TileBufType src = tileOf(op, "src"), dst = tileOf(op, "dst");
  if (axis && *axis != "row" && *axis != "col")
    return op->emitOpError() << "the axis of a mask must be \"row\" or \"col\", got \"" << *axis
                             << "\"";
  int64_t bytes = src.getElementBytes();
  bool widths = bytes == 2 || bytes == 4 || (bytes == 1 && arch == Arch::A5);
  if (!widths || bytes != dst.getElementBytes())
    return op->emitOpError() << "the mask form needs equal element widths of "
                             << (arch == Arch::A5 ? "1, " : "") << "2 or 4 bytes, got "
                             << src.getElementType() << " and " << dst.getElementType();
  if (!src.isRowMajor() || !dst.isRowMajor())
    return op->emitOpError() << "the mask form needs row-major tiles";
  return success();
}

LogicalResult mlir::pto::checkTGather(Operation *op, Arch arch) {
  auto gather = cast<TGatherOp>(op);
  unsigned forms =
      bool(gather.getIndices()) + bool(gather.getKValue()) + gather.getMaskPattern().has_value();
  if (forms != 1)
    return op->emitOpError()
           << "expected exactly one form: indices, a value to compare with, or a maskPattern; got "
           << forms;
  if (gather.getIndices())
    return checkIndexGather(gather, arch);
  if (gather.getKValue())
    return checkCompareGather(gather, arch);
  return checkMaskForm(op, arch, gather.getAxis());
}

LogicalResult mlir::pto::checkTScatter(Operation *op, Arch arch) {
  auto scatter = cast<TScatterOp>(op);
  if (bool(scatter.getIndices()) == scatter.getMaskPattern().has_value())
    return op->emitOpError() << "expected exactly one form: indices or a maskPattern";
  if (scatter.getMaskPattern())
    return checkMaskForm(op, arch, scatter.getAxis());
  TileBufType src = scatter.getSrc().getType(), indices = scatter.getIndices().getType();
  int64_t wanted = std::max<int64_t>(2, src.getElementBytes());
  if (!hasElem(indices, elem::B16 | elem::B32) || indices.getElementBytes() != wanted)
    return op->emitOpError() << "indices must be integers of " << wanted * 8 << " bits for "
                             << src.getElementType() << " data, got " << indices.getElementType();
  return success();
}

LogicalResult mlir::pto::checkTSort32(Operation *op, Arch) {
  TileBufType src = tileOf(op, "src"), dst = tileOf(op, "dst");
  if (!mayEqual(src.getValidRow(), dst.getValidRow()))
    return op->emitOpError() << "valid rows of src and dst must be equal, got "
                             << extentText(src.getValidRow()) << " and "
                             << extentText(dst.getValidRow());
  return success();
}

LogicalResult mlir::pto::checkTMrgSort(Operation *op, Arch) {
  auto merge = cast<TMrgSortOp>(op);
  unsigned lists = merge.getSrcs().size();
  for (Value src : merge.getSrcs())
    if (auto rows = cast<TileBufType>(src.getType()).getValidRow(); !mayEqual(rows, 1))
      return op->emitOpError() << "lists have one row, got " << rows;
  if (merge.getBlockLen()) {
    if (lists != 1)
      return op->emitOpError() << "a run length goes with one list, got " << lists;
    if (Type type = merge.getBlockLen().getType(); !type.isIntOrIndex())
      return op->emitOpError() << "the run length (block) must be an integer, got " << type;
    auto length = getConstantValue(merge.getBlockLen());
    if (length && (*length <= 0 || *length % 64 != 0))
      return op->emitOpError() << "the run length (block) must be a positive multiple of 64, got "
                               << *length;
    return success();
  }
  if (lists < 2 || lists > 4)
    return op->emitOpError() << "merges two to four lists, got " << lists;
  if (merge.getTmp() &&
      merge.getTmp().getType().getElementType() != merge.getDst().getType().getElementType())
    return op->emitOpError() << "tmp and dst must have the same type";
  if (!merge.getExecuted())
    return op->emitOpError()
           << "needs a second output for the counts of taken elements (vector<4xi16>)";
  return success();
}

LogicalResult mlir::pto::checkTQuant(Operation *op, Arch arch) {
  auto quant = cast<TQuantOp>(op);
  TileBufType dst = quant.getDst().getType();
  switch (quant.getQuantType()) {
  case QuantType::INT8_SYM:
    if (!hasElem(dst, elem::I8) || quant.getOffset())
      return op->emitOpError() << "INT8_SYM takes no offset and writes i8, got "
                               << dst.getElementType();
    break;
  case QuantType::INT8_ASYM:
    if (!hasElem(dst, elem::UI8) || !quant.getOffset())
      return op->emitOpError() << "INT8_ASYM needs an offset and writes ui8, got "
                               << dst.getElementType();
    break;
  default:
    return op->emitOpError() << "quant_type must be INT8_SYM or INT8_ASYM";
  }
  if (arch == Arch::A3 && (!quant.getSrc().getType().isRowMajor() || !dst.isRowMajor()))
    return op->emitOpError() << "src and dst must be row-major on A2/A3";
  return success();
}

LogicalResult mlir::pto::checkTQuantMx(Operation *op, Arch) {
  auto quant = cast<TQuantMxOp>(op);
  TileBufType dst = quant.getDst().getType(), exp = quant.getExp().getType();
  bool bytes = quant.getQuantType() == QuantType::MXFP8;
  if (!bytes && quant.getQuantType() != QuantType::MXFP4_E2M1)
    return op->emitOpError() << "quant_type must be MXFP8 or MXFP4_E2M1, got "
                             << stringifyQuantType(quant.getQuantType());
  if (!hasElem(dst, bytes ? elem::FP8 | elem::B8 : elem::FP4 | elem::B8))
    return op->emitOpError() << stringifyQuantType(quant.getQuantType()) << " writes "
                             << (bytes ? "8-bit" : "packed 4-bit") << " floats, got "
                             << dst.getElementType();
  if (exp.getElementBytes() != 1)
    return op->emitOpError() << "exp holds one byte per group (ui8 or f8E8M0), got "
                             << exp.getElementType();
  return success();
}

LogicalResult mlir::pto::checkTDequant(Operation *op, Arch) {
  TileBufType src = tileOf(op, "src");
  if (!hasElem(src, elem::B8 | elem::B16))
    return op->emitOpError() << "src must hold i8 or i16, got " << src.getElementType();
  return success();
}

LogicalResult mlir::pto::checkTGetVal(Operation *op, Arch) {
  auto get = cast<TGetValOp>(op);
  Type element = get.getSrc().getType().getElementType();
  if (get.getResult().getType() != element)
    return op->emitOpError() << "result type " << get.getResult().getType()
                             << " must be the element type " << element;
  return success();
}
