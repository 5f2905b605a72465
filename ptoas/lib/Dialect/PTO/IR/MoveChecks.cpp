//===- MoveChecks.cpp - rules of loads, stores and moves ------------------===//
#include "TileChecks.h"

using namespace mlir;
using namespace mlir::pto;

bool mlir::pto::isMixedBody(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<SectionCubeOp, SectionVectorOp>(parent) || parent->hasAttr("pto.kernel_kind"))
      return false;
  return true;
}

static Type elementOfView(Type view) {
  if (auto window = dyn_cast<PartitionTensorViewType>(view))
    return window.getElementType();
  return cast<TensorViewType>(view).getElementType();
}

static int64_t elementsOfView(Type view) {
  if (auto window = dyn_cast<PartitionTensorViewType>(view))
    return window.getNumElements();
  return cast<TensorViewType>(view).getNumElements();
}

static LogicalResult checkSameWidth(Operation *op, Type viewElement, Type tileElement) {
  if (getElementBytes(viewElement) != getElementBytes(tileElement))
    return op->emitOpError()
           << "element types of the view and the tile must have the same width, got " << viewElement
           << " and " << tileElement;
  return success();
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

LogicalResult mlir::pto::checkTLoad(Operation *op, Arch arch) {
  auto load = cast<TLoadOp>(op);
  TileBufType dst = load.getDst().getType();
  Type view = load.getSrc().getType();
  if (elementsOfView(view) == 0)
    return op->emitOpError() << "the window must not be empty, its type is " << view;
  unsigned classes = elem::classify(dst.getElementType());
  if (arch == Arch::A3 && (classes & (elem::F64 | elem::FP8 | elem::HIF8 | elem::FP4 | elem::I1)))
    return op->emitOpError() << "element type " << dst.getElementType()
                             << " is not supported on A2/A3";
  if (dst.getElementBytes() == 8 && dst.getPad() != PadValue::Null &&
      dst.getPad() != PadValue::Zero)
    return op->emitOpError() << "64-bit elements can only be padded with null or zero";
  return checkSameWidth(op, elementOfView(view), dst.getElementType());
}

LogicalResult mlir::pto::checkTPrefetch(Operation *op, Arch) {
  auto prefetch = cast<TPrefetchOp>(op);
  return checkSameWidth(op, elementOfView(prefetch.getSrc().getType()),
                        prefetch.getDst().getType().getElementType());
}

// What an accumulator may become on its way out. Only L1 takes 16-bit integers (spec/ptoas.md 6.2).
static LogicalResult checkAccConversion(Operation *op, Arch arch, Type from, Type to,
                                        bool quantised, bool intoTile = false) {
  unsigned source = elem::classify(from), allowed = 0;
  if (!(source & (elem::I32 | elem::F32)))
    return op->emitOpError() << "an accumulator holds i32 or f32, got " << from;
  if (!quantised)
    allowed = elem::I32 | elem::F32 | elem::F16 | elem::BF16;
  else if (source & elem::I32)
    allowed = elem::B8 | elem::F16 | (arch == Arch::A5 ? elem::BF16 : intoTile ? elem::B16 : 0u);
  else
    allowed = elem::B8 | (arch == Arch::A5 ? elem::F3 | elem::FP8 | elem::HIF8 : 0u);
  if (!(elem::classify(to) & allowed))
    return op->emitOpError() << "an accumulator of element type " << from
                             << (quantised ? ", quantised," : "") << " cannot become " << to
                             << " on " << getArchName(arch) << ", expected one of "
                             << elem::toString(allowed);
  return success();
}

// From an accumulator to L1: without scales numbers keep their kind (spec/pto_isa.md 6.10).
static LogicalResult checkAccToMat(Operation *op, Arch arch, TileBufType src, TileBufType dst,
                                   bool quantised) {
  if (quantised)
    return checkAccConversion(op, arch, src.getElementType(), dst.getElementType(), true, true);
  unsigned allowed = hasElem(src, elem::F32) ? elem::F32 | elem::F16 | elem::BF16 : elem::B32;
  if (!hasElem(dst, allowed))
    return op->emitOpError() << "an accumulator of element type " << src.getElementType()
                             << " cannot become " << dst.getElementType()
                             << " without scales, expected one of " << elem::toString(allowed);
  return success();
}

LogicalResult mlir::pto::checkTStore(Operation *op, Arch arch) {
  auto store = cast<TStoreOp>(op);
  TileBufType src = store.getSrc().getType();
  Type view = store.getDst().getType();
  bool fromAcc = src.getSpace() == AddressSpace::Acc;
  if (arch == Arch::A5 && src.getSpace() == AddressSpace::Mat)
    return op->emitOpError() << "cannot store from loc mat on A5, expected vec or acc";
  if (store.getFp() && store.getPreQuantScalar())
    return op->emitOpError() << "takes a vector of scales (fp) or a scalar, not both";
  bool quantised = store.getFp() || store.getPreQuantScalar();
  if (!fromAcc && (quantised || store.getReluPreMode() != ReluPreMode::NoRelu))
    return op->emitOpError() << "quantisation and relu are only possible from loc acc";
  int64_t count = elementsOfView(view);
  if (src.hasStaticValid() && !ShapedType::isDynamic(count) &&
      count != src.getValidRow() * src.getValidCol())
    return op->emitOpError() << "the window has " << count
                             << " elements, but the valid part of the tile is " << validText(src);
  unsigned added = elem::B8 | elem::B16 | elem::B32 | elem::F3; // spec/pto_isa.md 6.8
  if (store.getAtomicType() == AtomicType::AtomicAdd &&
      !(elem::classify(elementOfView(view)) & added))
    return op->emitOpError() << "atomic_add needs one of " << elem::toString(added) << ", got "
                             << elementOfView(view);
  if (!fromAcc)
    return checkSameWidth(op, elementOfView(view), src.getElementType());
  if (arch == Arch::A3 &&
      (src.getCols() > 4095 || (!ShapedType::isDynamic(src.getValidCol()) &&
                                (src.getValidCol() < 1 || src.getValidCol() > 4095))))
    return op->emitOpError() << "columns of an accumulator must be between 1 and 4095, got "
                             << src.getCols();
  return checkAccConversion(op, arch, src.getElementType(), elementOfView(view), quantised);
}

LogicalResult mlir::pto::checkTStoreFp(Operation *op, Arch arch) {
  auto store = cast<TStoreFpOp>(op);
  TileBufType src = store.getSrc().getType();
  if (src.getCols() > 4095)
    return op->emitOpError() << "columns of an accumulator must be at most 4095, got "
                             << src.getCols();
  return checkAccConversion(op, arch, src.getElementType(), elementOfView(store.getDst().getType()),
                            true);
}

// An index for each row of the tile (more are not looked at), or one for each element
// (spec/pto_isa.md 6.12).
static LogicalResult checkIndices(Operation *op, std::optional<Coalesce> coalesce,
                                  TileBufType indices, TileBufType tile, StringRef name) {
  int64_t rows = tile.getValidRow(), cols = tile.getValidCol();
  int64_t indexRows = indices.getValidRow(), indexCols = indices.getValidCol();
  bool perRow = (mayEqual(indexRows, 1) && mayBeAtMost(rows, indexCols)) ||
                (mayEqual(indexCols, 1) && mayBeAtMost(rows, indexRows));
  bool perElement = mayEqual(indexRows, rows) && mayEqual(indexCols, cols);
  if (coalesce ? (*coalesce == Coalesce::Row ? perRow : perElement) : perRow || perElement)
    return success();
  StringRef wanted = !coalesce ? "a vector with one for each row, or one for each element"
                     : *coalesce == Coalesce::Row ? "a vector with one for each row"
                                                  : "one for each element";
  return op->emitOpError() << "the indices must be " << wanted << " of " << name
                           << ", got valid shapes " << validText(indices) << " and "
                           << validText(tile);
}

LogicalResult mlir::pto::checkMGather(Operation *op, Arch) {
  auto gather = cast<MGatherOp>(op);
  TileBufType dst = gather.getDst().getType(), indices = gather.getIndices().getType();
  if (dst.isBoxed() || !dst.isRowMajor())
    return op->emitOpError() << "dst must be row-major and unboxed";
  if (elementOfView(gather.getSrc().getType()) != dst.getElementType())
    return op->emitOpError() << "element types of the view and dst must be equal, got "
                             << elementOfView(gather.getSrc().getType()) << " and "
                             << dst.getElementType();
  return checkIndices(op, gather.getCoalesce(), indices, dst, "dst");
}

LogicalResult mlir::pto::checkMScatter(Operation *op, Arch) {
  auto scatter = cast<MScatterOp>(op);
  TileBufType src = scatter.getSrc().getType();
  if (elementOfView(scatter.getDst().getType()) != src.getElementType())
    return op->emitOpError() << "element types of src and the view must be equal, got "
                             << src.getElementType() << " and "
                             << elementOfView(scatter.getDst().getType());
  unsigned allowed = elem::Any;
  if (scatter.getScatterAtomicOp() == ScatterAtomicOp::Add)
    allowed = elem::B32 | elem::F2;
  else if (scatter.getScatterAtomicOp() != ScatterAtomicOp::None)
    allowed = elem::B32 | elem::F32;
  if (!hasElem(src, allowed))
    return op->emitOpError() << "scatterAtomicOp "
                             << stringifyScatterAtomicOp(scatter.getScatterAtomicOp())
                             << " needs one of " << elem::toString(allowed) << ", got "
                             << src.getElementType();
  return checkIndices(op, scatter.getCoalesce(), scatter.getIndices().getType(), src, "src");
}

//===----------------------------------------------------------------------===//
// Between spaces
//===----------------------------------------------------------------------===//

static LogicalResult badPath(Operation *op, TileBufType src, TileBufType dst, StringRef legal) {
  return op->emitOpError() << "no path from loc " << stringifyAddressSpace(src.getSpace())
                           << " to loc " << stringifyAddressSpace(dst.getSpace()) << " on "
                           << getArchName(getTargetArch(op)) << ", expected " << legal;
}

LogicalResult mlir::pto::checkTMov(Operation *op, Arch arch) {
  auto move = cast<TMovOp>(op);
  TileBufType src = move.getSrc().getType(), dst = move.getDst().getType();
  AddressSpace from = src.getSpace(), to = dst.getSpace();
  bool fromMat =
      from == AddressSpace::Mat && (to == AddressSpace::Left || to == AddressSpace::Right ||
                                    to == AddressSpace::Bias || to == AddressSpace::Scaling);
  bool fromAcc = from == AddressSpace::Acc && (to == AddressSpace::Mat || to == AddressSpace::Vec);
  bool fromVec =
      from == AddressSpace::Vec &&
      (to == AddressSpace::Vec || (to == AddressSpace::Mat && arch == Arch::A5) || isMixedBody(op));
  if (!fromMat && !fromAcc && !fromVec)
    return badPath(op, src, dst,
                   arch == Arch::A5
                       ? "mat to left, right, bias or scaling; vec to vec or mat; acc to mat or vec"
                       : "mat to left, right, bias or scaling; vec to vec; acc to mat or vec");
  bool quantised = move.getFp() || move.getPreQuantScalar();
  if (move.getFp() && move.getPreQuantScalar())
    return op->emitOpError() << "takes a vector of scales (fp) or a scalar, not both";
  if (from != AddressSpace::Acc && quantised)
    return op->emitOpError() << "quantisation is only possible from loc acc";
  if (from == AddressSpace::Acc && move.getFp() &&
      move.getFp().getType().getSpace() != AddressSpace::Scaling)
    return op->emitOpError() << "the scales (fp) must lie in loc scaling, got "
                             << stringifyAddressSpace(move.getFp().getType().getSpace());
  if (from != AddressSpace::Acc && move.getReluPreMode() != ReluPreMode::NoRelu)
    return op->emitOpError() << "relu is only possible from loc acc";
  if (move.getGrpAxis() && arch != Arch::A5)
    return op->emitOpError() << "grpAxis is not supported on A2/A3, it needs A5";
  if (auto mode = move.getAccToVecMode()) {
    if (!(from == AddressSpace::Acc && to == AddressSpace::Vec))
      return op->emitOpError() << "accToVecMode is only possible from loc acc to loc vec";
    if (quantised &&
        (*mode == AccToVecMode::DualModeSplitM || *mode == AccToVecMode::DualModeSplitN))
      return op->emitOpError() << "accToVecMode " << stringifyAccToVecMode(*mode)
                               << " is not possible together with quantisation";
  }
  if (from == AddressSpace::Acc) {
    if ((quantised || move.getReluPreMode() != ReluPreMode::NoRelu) && !isColRow(src))
      return op->emitOpError() << "the accumulator must be col_major with row_major boxes";
    if (!hasElem(src, elem::F32 | elem::B32))
      return op->emitOpError() << "an accumulator holds i32 or f32, got " << src.getElementType();
    if (arch == Arch::A3 && to == AddressSpace::Mat && !isNZ(dst))
      return op->emitOpError() << "dst must be col_major with row_major boxes of fractal 512 (NZ)";
    if (to == AddressSpace::Mat && failed(checkAccToMat(op, arch, src, dst, quantised)))
      return failure();
  }
  // The table of biases holds what accumulators hold (spec/pto_isa.md 6.10).
  if (to == AddressSpace::Bias && !(hasElem(src, elem::F3) && hasElem(dst, elem::F32)) &&
      !(hasElem(src, elem::B32) && hasElem(dst, elem::B32)))
    return op->emitOpError() << "a bias is i32 from i32, or f32 from f16, bf16 or f32, got "
                             << src.getElementType() << " to " << dst.getElementType();
  // Splitting an accumulator between two vector cores halves the destination.
  bool halves = move.getAccToVecMode().has_value();
  if ((from == AddressSpace::Mat || arch == Arch::A3) && !halves &&
      (src.getRows() != dst.getRows() || src.getCols() != dst.getCols()))
    return op->emitOpError() << "shapes of src and dst must be equal, got " << shapeText(src)
                             << " and " << shapeText(dst);
  bool keepsElement =
      from == AddressSpace::Vec || to == AddressSpace::Left || to == AddressSpace::Right;
  if (keepsElement && src.getElementBytes() != dst.getElementBytes())
    return op->emitOpError() << "element types of src and dst must be equal, got "
                             << src.getElementType() << " and " << dst.getElementType();
  return success();
}

LogicalResult mlir::pto::checkTMovFp(Operation *op, Arch arch) {
  auto move = cast<TMovFpOp>(op);
  TileBufType dst = move.getDst().getType();
  if (arch == Arch::A3 && !isNZ(dst))
    return op->emitOpError() << "dst must be col_major with row_major boxes of fractal 512 (NZ)";
  return checkAccConversion(op, arch, move.getSrc().getType().getElementType(),
                            dst.getElementType(), true, true);
}

static bool isND(TileBufType tile) { return tile.isRowMajor() && !tile.isBoxed(); }

// Windows of vector tiles on A5 are plain rows (ND; spec/ptoas.md 6.2). Where one function stands
// for both cores, the way between them is the implementation's.
static LogicalResult checkVecWindowA5(Operation *op, Arch arch, TileBufType src, TileBufType dst) {
  if (arch != Arch::A5 || dst.getSpace() != AddressSpace::Vec || isMixedBody(op) ||
      (isND(src) && isND(dst)))
    return success();
  return op->emitOpError() << "between tiles in loc vec both must be row_major and unboxed (ND) on "
                              "A5";
}

// The smaller tile at (row, col) must lie inside the larger one where that is known.
static LogicalResult checkWindow(Operation *op, TileBufType large, TileBufType small) {
  auto check = [&](StringRef name, int64_t size, int64_t limit) -> LogicalResult {
    std::optional<int64_t> offset = getConstantValue(operandOf(op, name));
    if (offset && *offset < 0)
      return op->emitOpError() << name << " must not be negative, got " << *offset;
    // Only the valid part is moved; without a static one the offset alone must fit.
    int64_t moved = ShapedType::isDynamic(size) ? 1 : size;
    if (offset && *offset + moved > limit)
      return op->emitOpError() << "the window is out of bounds: " << name << " " << *offset
                               << " + size " << moved << " exceeds " << limit;
    return success();
  };
  if (failed(check("row", small.getValidRow(), large.getRows())))
    return failure();
  return check("col", small.getValidCol(), large.getCols());
}

LogicalResult mlir::pto::checkTExtract(Operation *op, Arch arch) {
  auto extract = cast<TExtractOp>(op);
  TileBufType src = extract.getSrc().getType(), dst = extract.getDst().getType();
  AddressSpace from = src.getSpace(), to = dst.getSpace();
  bool quantised = extract.getFp() || extract.getPreQuantScalar();
  bool fromMat =
      from == AddressSpace::Mat && (to == AddressSpace::Left || to == AddressSpace::Right ||
                                    (to == AddressSpace::Scaling && arch == Arch::A5));
  bool fromVec = from == AddressSpace::Vec &&
                 (to == AddressSpace::Vec ||
                  (to == AddressSpace::Mat && (arch == Arch::A5 || isMixedBody(op))));
  bool fromAcc = from == AddressSpace::Acc && (to == AddressSpace::Mat || to == AddressSpace::Vec);
  if (!fromMat && !fromVec && !fromAcc)
    return badPath(op, src, dst, "mat to left or right; vec to vec; acc to mat or vec");
  if (quantised && from != AddressSpace::Acc)
    return op->emitOpError() << "quantisation is only possible from loc acc";
  if (fromMat) {
    unsigned allowed =
        elem::B8 | elem::F3 | (arch == Arch::A5 ? elem::FP8 | elem::HIF8 | elem::FP4 : 0u);
    if (!hasElem(src, allowed) || src.getElementType() != dst.getElementType())
      return op->emitOpError() << "src and dst must hold the same element type out of "
                               << elem::toString(allowed) << ", got " << src.getElementType()
                               << " and " << dst.getElementType();
    SLayout wanted = to == AddressSpace::Right ? SLayout::ColMajor : SLayout::RowMajor;
    if (to != AddressSpace::Scaling && dst.getSlayout() != wanted)
      return op->emitOpError() << "a tile in loc " << stringifyAddressSpace(to)
                               << " must have slayout " << stringifySLayout(wanted);
    if (to == AddressSpace::Right && !dst.isRowMajor())
      return op->emitOpError() << "a tile in loc right must have blayout row_major";
  } else if (fromVec && src.getElementBytes() != dst.getElementBytes()) {
    return op->emitOpError() << "element types of src and dst must be equal, got "
                             << src.getElementType() << " and " << dst.getElementType();
  } else if (fromVec && failed(checkVecWindowA5(op, arch, src, dst))) {
    return failure();
  }
  if (from == AddressSpace::Acc && to == AddressSpace::Mat) {
    if (arch == Arch::A3 && !isNZ(dst))
      return op->emitOpError() << "dst must be col_major with row_major boxes of fractal 512 (NZ)";
    if (failed(checkAccToMat(op, arch, src, dst, quantised)))
      return failure();
  }
  return checkWindow(op, src, dst);
}

LogicalResult mlir::pto::checkTInsert(Operation *op, Arch arch) {
  auto insert = cast<TInsertOp>(op);
  TileBufType src = insert.getSrc().getType(), dst = insert.getDst().getType();
  AddressSpace from = src.getSpace(), to = dst.getSpace();
  bool quantised = insert.getFp() || insert.getPreQuantScalar();
  bool fromAcc = from == AddressSpace::Acc && to == AddressSpace::Mat;
  bool fromVec = from == AddressSpace::Vec &&
                 (to == AddressSpace::Vec ||
                  (to == AddressSpace::Mat && (arch == Arch::A5 || isMixedBody(op))));
  if (!fromAcc && !fromVec)
    return badPath(op, src, dst,
                   arch == Arch::A5 ? "acc to mat; vec to vec or mat" : "acc to mat; vec to vec");
  if (quantised && !fromAcc)
    return op->emitOpError() << "quantisation is only possible from loc acc";
  if (fromAcc && quantised &&
      failed(checkAccConversion(op, arch, src.getElementType(), dst.getElementType(), true, true)))
    return failure();
  if (fromAcc && !quantised) {
    bool legal = arch == Arch::A5 ? (hasElem(src, elem::F32) && hasElem(dst, elem::F3)) ||
                                        (hasElem(src, elem::B32) && hasElem(dst, elem::B32))
                                  : hasElem(src, elem::F32) && hasElem(dst, elem::F16 | elem::BF16);
    if (!legal)
      return op->emitOpError() << "an accumulator of element type " << src.getElementType()
                               << " cannot be inserted as " << dst.getElementType() << " on "
                               << getArchName(arch);
    if (arch == Arch::A3 && !isNZ(dst))
      return op->emitOpError() << "dst must be col_major with row_major boxes of fractal 512 (NZ)";
  }
  if (fromVec && src.getElementBytes() != dst.getElementBytes())
    return op->emitOpError() << "element types of src and dst must be equal, got "
                             << src.getElementType() << " and " << dst.getElementType();
  if (fromVec && arch == Arch::A5 && !isMixedBody(op)) {
    unsigned allowed = elem::B8 | elem::B32 | elem::F3 | elem::FP8 | elem::HIF8 | elem::FP4;
    if (!hasElem(src, allowed))
      return op->emitOpError() << "elements of type " << src.getElementType()
                               << " cannot be inserted on A5, expected one of "
                               << elem::toString(allowed);
    if (to == AddressSpace::Mat && !isNZ(dst))
      return op->emitOpError() << "dst must be col_major with row_major boxes of fractal 512 (NZ)";
  }
  if (fromVec && failed(checkVecWindowA5(op, arch, src, dst)))
    return failure();
  return checkWindow(op, dst, src);
}

LogicalResult mlir::pto::checkFixpipeQuant(Operation *op, Arch arch) {
  TileBufType src = tileOf(op, "src"), dst = tileOf(op, "dst");
  if (!isColRow(dst) || (arch == Arch::A3 && dst.getFractal() != 512))
    return op->emitOpError() << "dst must be col_major with row_major boxes of fractal 512 (NZ)";
  return checkAccConversion(op, arch, src.getElementType(), dst.getElementType(), true, true);
}

//===----------------------------------------------------------------------===//
// Inside the vector core
//===----------------------------------------------------------------------===//

LogicalResult mlir::pto::checkTPack(Operation *op, Arch) {
  int64_t from = tileOf(op, "src").getElementBytes(), to = tileOf(op, "dst").getElementBytes();
  if (!(from == 4 && (to == 2 || to == 1)) && !(from == 2 && to == 1))
    return op->emitOpError() << "packs 4 bytes to 2 or 1, or 2 bytes to 1, got " << from << " to "
                             << to;
  return success();
}

LogicalResult mlir::pto::checkTTrans(Operation *op, Arch arch) {
  TileBufType src = tileOf(op, "src");
  if (arch == Arch::A3 && !src.isRowMajor())
    return op->emitOpError() << "'src' must be row-major on A2/A3";
  int64_t run = (src.isRowMajor() ? src.getCols() : src.getRows()) * src.getElementBytes();
  if (arch == Arch::A5 && run % 32 != 0)
    return op->emitOpError() << "the major dimension of 'src' must be a multiple of 32 bytes, got "
                             << run;
  return success();
}

LogicalResult mlir::pto::checkTConcat(Operation *op, Arch) {
  TileBufType a = tileOf(op, "src0"), b = tileOf(op, "src1"), dst = tileOf(op, "dst");
  if (ShapedType::isDynamic(a.getValidCol()) || ShapedType::isDynamic(b.getValidCol()))
    return success();
  int64_t width = a.getValidCol() + b.getValidCol();
  if (width > dst.getCols())
    return op->emitOpError() << "the valid columns of src0 and src1 are " << width
                             << " wide together, but dst has " << dst.getCols() << " columns";
  return success();
}

LogicalResult mlir::pto::checkFillPad(Operation *op, Arch) {
  TileBufType src = tileOf(op, "src"), dst = tileOf(op, "dst");
  if (src.getElementBytes() > 4 || src.getElementBytes() == 0)
    return op->emitOpError() << "elements must have 1, 2 or 4 bytes, got " << src.getElementType();
  if (dst.getPad() == PadValue::Null && !op->hasAttr("padValue"))
    return op->emitOpError() << "dst must name a pad value (pad= zero, max or min)";
  bool grows = isa<TFillPadExpandOp>(op);
  bool fits = grows ? src.getRows() <= dst.getRows() && src.getCols() <= dst.getCols()
                    : src.getRows() == dst.getRows() && src.getCols() == dst.getCols();
  if (!fits)
    return op->emitOpError() << "the shape of dst must be " << (grows ? "at least" : "equal to")
                             << " that of src, got " << shapeText(src) << " and " << shapeText(dst);
  return success();
}
