//===- Moves.cpp - moves between tiles, windows of tiles, quantised exits -===//
#include "Emitter.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
namespace pto = mlir::pto;
namespace ptoas::native {

Access FunctionEmitter::windowAccess(mlir::Value handle, Value *row, Value *col) {
  const TileInfo &tile = model.info(handle);
  Access access = tileAccess(handle);
  if (access.tile != &tile) { // data that lies elsewhere
    Value *at = b.CreateAdd(b.CreateMul(row, access.rowStride), b.CreateMul(col, access.colStride));
    access.base = elementPointer(access.base, at, bytesOf(tile.elem));
    if (access.tile) {
      windows.push_back(*access.tile);
      windows.back().exact = false;
      windows.back().dynamicStart = {};
      access.tile = &windows.back();
    }
    return access;
  }
  windows.push_back(tile);
  TileInfo &window = windows.back();
  auto *r = dyn_cast<ConstantInt>(row), *c = dyn_cast<ConstantInt>(col);
  Value *offset =
      b.CreateAdd(b.CreateMul(row, index(tile.rowStride)), b.CreateMul(col, index(tile.colStride)));
  if (r && c) {
    int64_t bytes = (r->getSExtValue() * tile.rowStride + c->getSExtValue() * tile.colStride) *
                    bytesOf(tile.elem);
    window.rows -= r->getSExtValue();
    window.cols -= c->getSExtValue();
    if (window.exact)
      window.low += bytes;
    else
      window.dynamicDelta += bytes;
  } else {
    window.exact = false;
    window.dynamicStart = {};
  }
  if (window.inBoxes)
    window.handle = {}; // not the tile itself
  access.tile = &window;
  access.base = elementPointer(access.base, offset, bytesOf(tile.elem));
  return access;
}

Access FunctionEmitter::windowAccess(mlir::Value handle, mlir::Value row, mlir::Value col) {
  return windowAccess(handle, asIndex(row), asIndex(col)); // inside the tile: Checks.cpp
}

namespace {
/// The fields of a quantisation word (pto-isa 6.8), as lanes.
struct QuantWord {
  Value *scale, *offset, *isSigned;
};
} // namespace

static QuantWord splitWord(const VecBuilder &vb, Value *word, bool perColumn) {
  IRBuilder<> &b = vb.b;
  Value *low = b.CreateTrunc(word, vb.iN(32));
  if (perColumn) // sign, exponent and ten bits of mantissa
    low = b.CreateAnd(low, vb.ints(32, 0xffffe000u));
  Value *scale = vb.bitcastTo(low, b.getFloatTy());
  Value *field = b.CreateAShr(b.CreateShl(word, vb.ints(64, 64 - 46)), vb.ints(64, 64 - 9));
  Value *offset = b.CreateSIToFP(b.CreateTrunc(field, vb.iN(32)), vb.f32());
  Value *sign = b.CreateTrunc(b.CreateLShr(word, vb.ints(64, 46)), vb.vec(b.getInt1Ty()));
  return {scale, offset, sign};
}

/// An element on its way out of an accumulator (or between tiles): ReLU, then scale, offset and
/// saturation when the op asks for them, else a conversion rounding to nearest even.
void FunctionEmitter::convertOnTheWay(pto::TileOpInterface op, NestOp &nest) {
  Elem from = nest.in[0].elem, to = nest.out.elem;
  bool relu = false;
  if (auto attr = op->getAttrOfType<pto::ReluPreModeAttr>("reluPreMode"))
    relu = attr.getValue() == pto::ReluPreMode::NormalRelu;
  mlir::Value scalar = op.getNamedOperand("preQuantScalar"), vector = op.getNamedOperand("fp");
  Value *word = nullptr;
  if (scalar) {
    word = value(scalar);
    if (word->getType()->isFloatTy()) // the scale itself; signed results
      word = b.CreateOr(b.CreateZExt(b.CreateBitCast(word, b.getInt32Ty()), b.getInt64Ty()),
                        b.getInt64(to == Elem::U8 ? 0 : 1ull << 46));
    else
      word = b.CreateZExtOrTrunc(word, b.getInt64Ty());
  }
  bool perColumn = false;
  if (vector) {
    Access scales = tileAccess(vector, Spread::PerCol);
    if (bitsOf(scales.elem) != 64) {
      op->emitOpError() << "quantises with scales of " << model.info(vector).type.getElementType()
                        << ", but a scale for each column is a word of 64 bits";
      isRefused = true;
    }
    nest.in.push_back(scales);
    perColumn = true;
  }
  if (!relu && !word && !perColumn && from == to)
    return; // a plain copy
  nest.compute = [=](const Lane &lane, ArrayRef<Value *> in) -> Value * {
    const VecBuilder &vb = lane.vb;
    Value *x = in[0];
    if (relu)
      x = vb.unary(Unary::Relu, from, x);
    if (!word && !perColumn) // FP32 to itself would be rounded to whole numbers
      return from == to ? x : vb.convert(x, from, to, Round::Rint, true);
    QuantWord q = splitWord(vb, perColumn ? in[1] : vb.splat(word), perColumn);
    Value *wide = from == Elem::F32 ? x : vb.convert(x, from, Elem::F32, Round::Rint, true);
    wide = vb.b.CreateFMul(wide, q.scale);
    if (isFloat(to))
      return to == Elem::F32 ? wide : vb.convert(wide, Elem::F32, to, Round::Rint, true);
    wide = vb.b.CreateFAdd(wide, q.offset);
    if (bitsOf(to) != 8)
      return vb.convert(wide, Elem::F32, to, Round::Rint, true);
    Value *asSigned = vb.convert(wide, Elem::F32, Elem::I8, Round::Rint, true);
    Value *asUnsigned = vb.convert(wide, Elem::F32, Elem::U8, Round::Rint, true);
    return vb.b.CreateSelect(q.isSigned, asSigned, asUnsigned);
  };
}

FailureOr<bool> FunctionEmitter::emitMove(pto::TileOpInterface op) {
  StringRef name = op->getName().getStringRef();
  if (name == "pto.tmov" || name == "pto.tmov.fp") {
    auto nest = newNest(op, op.getNamedOperand("dst"));
    const TileInfo &src = model.info(op.getNamedOperand("src"));
    // Between vector tiles what is valid in both moves; the cube core's moves take whole boxes.
    bool vectors = src.type.getSpace() == pto::AddressSpace::Vec &&
                   nest->out.tile->type.getSpace() == pto::AddressSpace::Vec;
    nest->rows = smaller(nest->rows, vectors ? validRows(src) : index(src.rows));
    nest->cols = smaller(nest->cols, vectors ? validCols(src) : index(src.cols));
    auto mode = op->getAttrOfType<pto::AccToVecModeAttr>("accToVecMode");
    bool byRows = mode && mode.getValue() == pto::AccToVecMode::DualModeSplitM;
    if (byRows || (mode && mode.getValue() == pto::AccToVecMode::DualModeSplitN)) {
      // Each vector core receives its half.
      Value *half = b.CreateMul(announced(2), index(byRows ? src.rows / 2 : src.cols / 2));
      Value *room = byRows ? b.CreateSub(index(src.rows), nest->rows)
                           : b.CreateSub(index(src.cols), nest->cols);
      if (failed(requireWithin(*op.getOperation(), half, room,
                               byRows ? "the first row of this core"
                                      : "the first column of this core")))
        return failure();
      nest->in.push_back(windowAccess(op.getNamedOperand("src"), byRows ? half : index(0),
                                      byRows ? index(0) : half));
    } else {
      nest->in.push_back(tileAccess(op.getNamedOperand("src")));
    }
    convertOnTheWay(op, *nest);
    addNest(std::move(nest));
    return true;
  }
  if (name == "pto.textract" || name == "pto.textract_fp") {
    auto nest = newNest(op, op.getNamedOperand("dst"));
    nest->in.push_back(windowAccess(op.getNamedOperand("src"), op.getNamedOperand("row"),
                                    op.getNamedOperand("col")));
    convertOnTheWay(op, *nest);
    addNest(std::move(nest));
    return true;
  }
  if (name == "pto.tinsert" || name == "pto.tinsert_fp") {
    mlir::Value src = op.getNamedOperand("src"), dst = op.getNamedOperand("dst");
    auto nest = newNest(op, dst);
    nest->in.push_back(tileAccess(src));
    const TileInfo &from = model.info(src);
    nest->out = windowAccess(dst, op.getNamedOperand("row"), op.getNamedOperand("col"));
    nest->rows = validRows(from);
    nest->cols = validCols(from);
    convertOnTheWay(op, *nest);
    addNest(std::move(nest));
    return true;
  }
  if (name == "pto.tconcat") {
    mlir::Value dst = op.getNamedOperand("dst");
    Value *at = index(0), *all = b.CreateAdd(validCols(model.info(op.getNamedOperand("src0"))),
                                             validCols(model.info(op.getNamedOperand("src1"))));
    if (failed(requireWithin(*op.getOperation(), all, index(model.info(dst).cols),
                             "the number of joined columns")))
      return failure();
    // The group may end between the two halves.
    keepInMemory(model.info(op.getNamedOperand("src1")));
    for (StringRef part : {"src0", "src1"}) {
      mlir::Value src = op.getNamedOperand(part);
      auto nest = newNest(op, dst);
      nest->in.push_back(tileAccess(src));
      nest->out = windowAccess(dst, index(0), at);
      nest->cols = validCols(model.info(src));
      at = b.CreateAdd(at, nest->cols);
      addNest(std::move(nest));
    }
    return true;
  }
  return false;
}

} // namespace ptoas::native
