//===- SmallFloats.cpp - elements of eight and four bits ------------------===//
//
// Eight-bit floats move like bytes; what looks into them calls functions compiled
// ahead. Four-bit floats lie two to a byte (the low half first), and all their ops
// stand here: strides and starts count values, pointers bytes.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

using namespace llvm;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
namespace pto = mlir::pto;
namespace ptoas::native {

FailureOr<bool> FunctionEmitter::emitSmallFloats(pto::TileOpInterface op) {
  StringRef name = op->getName().getStringRef();
  auto elem = [&](mlir::Value v) -> std::optional<Elem> {
    if (!v)
      return std::nullopt;
    if (model.isTile(v))
      return model.info(v).elem;
    auto view = views.find(v);
    return view == views.end() ? std::nullopt : std::optional<Elem>(view->second.elem);
  };
  auto is = [&](mlir::Value v, bool (*what)(Elem)) {
    std::optional<Elem> e = elem(v);
    return e && what(*e);
  };
  if (name == "pto.tquant.mx")
    return emitQuantMx(op);
  mlir::Value src = op.getNamedOperand("src"), dst = op.getNamedOperand("dst");
  if (name == "pto.tcvt" && (is(src, isSmallFloat) || is(dst, isSmallFloat))) {
    flush();
    tileViews.erase(dst);
    auto mode = op->getAttrOfType<pto::RoundModeAttr>("rmode");
    auto saturation = op->getAttrOfType<pto::SaturationModeAttr>("sat_mode");
    callRuntime("pto_convert_small",
                {describe(dst), describe(src),
                 b.getInt32(unsigned(mode ? mode.getValue() : pto::RoundMode::CAST_RINT)),
                 b.getInt32(saturation && saturation.getValue() == pto::SaturationMode::On)});
    return true;
  }
  if (isa<pto::TGetScaleAddrOp>(op))
    return false; // looks at an address, not at elements
  for (mlir::Value operand : op->getOperands())
    if (is(operand, isPacked))
      return emitPacked(op);
  if (is(dst, isSmallFloat) && src && elem(src) && !is(src, isSmallFloat) &&
      bitsOf(*elem(src)) != bitsOf(*elem(dst)))
    return exitInto(op);
  return false;
}

/// An accumulator that leaves through the fixed pipe as eight-bit floats: by way of FP32.
FailureOr<bool> FunctionEmitter::exitInto(pto::TileOpInterface op) {
  StringRef name = op->getName().getStringRef();
  bool window = name.starts_with("pto.textract"), insert = name.starts_with("pto.tinsert");
  if (!window && !insert && name != "pto.tmov" && name != "pto.tmov.fp" && name != "pto.tstore" &&
      name != "pto.tstore_fp")
    return op->emitError("native target: '")
           << op->getName() << "' has no code for eight-bit floats";
  mlir::Value src = op.getNamedOperand("src"), dst = op.getNamedOperand("dst");
  mlir::Value row = op.getNamedOperand("row"), col = op.getNamedOperand("col");
  if (auto atomic = op->getAttrOfType<pto::AtomicTypeAttr>("atomicType");
      atomic && atomic.getValue() == pto::AtomicType::AtomicAdd)
    return op->emitError("native target: memory does not add up eight-bit floats");
  const TileInfo &from = model.info(src);
  flush();
  auto made = std::make_unique<NestOp>();
  made->source = op;
  made->in.push_back(window ? windowAccess(src, row, col) : tileAccess(src));
  auto describeMatrix = [&](const Access &access, Elem elem, Value *rows, Value *cols) {
    AllocaInst *slot = stackSlot(ArrayType::get(b.getInt64Ty(), 8), "desc");
    Value *fields[] = {b.CreatePtrToInt(access.base, b.getInt64Ty()),
                       access.rowStride,
                       access.colStride,
                       rows,
                       cols,
                       rows,
                       cols,
                       index(int64_t(elem))};
    for (unsigned i = 0; i < 8; ++i)
      b.CreateStore(fields[i], b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), slot, i));
    return slot;
  };
  Value *rows = validRows(from), *cols = validCols(from), *target;
  std::optional<Picture> boxed;
  if (model.isTile(dst)) {
    tileViews.erase(dst);
    const TileInfo &to = model.info(dst);
    if (window) {
      rows = validRows(to), cols = validCols(to);
    } else if (!insert) {
      rows = smaller(rows, validRows(to)), cols = smaller(cols, validCols(to));
    }
    Access place = insert ? windowAccess(dst, row, col) : tileAccess(dst);
    extendLife(rootStorage[to.root], current);
    target = describeMatrix(place, to.elem, rows, cols);
  } else {
    const GmView &view = views.find(dst)->second;
    Value *viewRows, *viewCols;
    FailureOr<Access> place = viewAccess(view, viewRows, viewCols);
    if (succeeded(place) && place->rowDims.empty()) {
      rows = smaller(rows, viewRows), cols = smaller(cols, viewCols);
      target = describeMatrix(*place, view.elem, rows, cols);
    } else { // boxes and outer dimensions take finished elements
      boxed = {privateStorage(from.rows * from.cols), index(from.cols), index(1), view.elem,
               from.rows * from.cols};
      Access finished;
      finished.base = boxed->base;
      finished.rowStride = boxed->rowStride;
      finished.colStride = boxed->colStride;
      target = describeMatrix(finished, view.elem, rows, cols);
    }
  }
  made->rows = rows;
  made->cols = cols;
  made->out.elem = Elem::F32;
  made->out.base = privateStorage(from.rows * from.cols * 4);
  made->out.rowStride = index(from.cols);
  made->out.colStride = index(1);
  Value *wide = describeMatrix(made->out, Elem::F32, rows, cols);
  convertOnTheWay(op, *made);
  addNest(std::move(made));
  flush();
  callRuntime("pto_convert_small",
              {target, wide, b.getInt32(unsigned(pto::RoundMode::CAST_RINT)), b.getInt32(1)});
  if (boxed && failed(copyByDimensions(op, views.find(dst)->second, *boxed, Transfer::Store)))
    return failure();
  return true;
}

FailureOr<bool> FunctionEmitter::emitPacked(pto::TileOpInterface op) {
  StringRef name = op->getName().getStringRef();
  struct Side {
    Value *base, *start, *rowStride, *colStride, *rows, *cols;
    Elem elem;
  };
  auto tileSide = [&](mlir::Value handle) -> Side {
    const TileInfo &tile = model.info(handle);
    extendLife(rootStorage[tile.root], current);
    return {
        tilePointer(tile), index(0), index(tile.rowStride), index(tile.colStride), validRows(tile),
        validCols(tile),   tile.elem};
  };
  auto viewSide = [&](mlir::Value handle) -> FailureOr<Side> {
    const GmView &view = views.find(handle)->second;
    Value *rows, *cols;
    FailureOr<Access> access = viewAccess(view, rows, cols);
    if (failed(access) || !access->rowDims.empty())
      return op->emitError("native target: packed elements need a view of rows and columns");
    return Side{access->base,
                view.half ? view.half : index(0),
                access->rowStride,
                access->colStride,
                rows,
                cols,
                view.elem};
  };
  bool load = name == "pto.tload", store = name == "pto.tstore";
  bool window = name == "pto.textract", insert = name == "pto.tinsert";
  if (!load && !store && !window && !insert && name != "pto.tmov")
    return op->emitError("native target: '")
           << op->getName() << "' has no code for packed elements";
  flush();
  mlir::Value src = op.getNamedOperand("src"), dst = op.getNamedOperand("dst");
  FailureOr<Side> from = load ? viewSide(src) : FailureOr<Side>(tileSide(src));
  FailureOr<Side> to = store ? viewSide(dst) : FailureOr<Side>(tileSide(dst));
  if (failed(from) || failed(to))
    return failure();
  if (from->elem != to->elem)
    return op->emitError("native target: '")
           << op->getName() << "' between packed elements and others";
  Value *rows = smaller(from->rows, to->rows), *cols = smaller(from->cols, to->cols);
  if (window || insert) {
    // An offset outside the larger tile would reach other tiles' bytes.
    Side &whole = window ? *from : *to;
    const TileInfo &tile = model.info(window ? src : dst);
    Value *row = larger(asIndex(op.getNamedOperand("row")), index(0));
    Value *col = larger(asIndex(op.getNamedOperand("col")), index(0));
    row = smaller(row, index(tile.rows)), col = smaller(col, index(tile.cols));
    rows = smaller(window ? to->rows : from->rows, b.CreateSub(index(tile.rows), row));
    cols = smaller(window ? to->cols : from->cols, b.CreateSub(index(tile.cols), col));
    whole.start = b.CreateAdd(b.CreateMul(row, whole.rowStride), b.CreateMul(col, whole.colStride));
  }
  callRuntime("pto_copy_packed", {to->base, to->start, to->rowStride, to->colStride, from->base,
                                  from->start, from->rowStride, from->colStride, rows, cols});
  return true;
}

FailureOr<bool> FunctionEmitter::emitQuantMx(pto::TileOpInterface op) {
  auto quant = cast<pto::TQuantMxOp>(op.getOperation());
  bool bytes = quant.getQuantType() == pto::QuantType::MXFP8;
  const TileInfo &src = model.info(quant.getSrc()), &dst = model.info(quant.getDst());
  if (dst.elem != (bytes ? Elem::F8E4M3 : Elem::F4E2M1))
    return op->emitError("native target: '")
           << op->getName() << "' of " << pto::stringifyQuantType(quant.getQuantType())
           << " writes elements of " << (bytes ? "f8E4M3FN" : "!pto.f4E2M1x2") << ", got "
           << dst.type.getElementType();
  if (!bytes && src.elem == Elem::F32)
    return op->emitError("native target: '")
           << op->getName() << "' of MXFP4_E2M1 takes f16 or bf16, got f32";
  if (auto alg = quant.getQuantScaleAlg(); alg && *alg != pto::QuantScaleAlg::Ocp)
    return op->emitError("native target: '")
           << op->getName() << "' has code for quantScaleAlg = ocp only, got "
           << pto::stringifyQuantScaleAlg(*alg);
  if (quant.getInterleave().value_or(false) || quant.getExpZz())
    return op->emitError("native target: '")
           << op->getName()
           << "' has no code for interleaved exponents or those in zz order; tmov "
              "brings them there";
  bool alongRows = quant.getGrpAxis().value_or(pto::MxGroupAxis::Axis1) == pto::MxGroupAxis::Axis0;
  // Each of the small results: one value for each group, as a matrix or in one row.
  auto extent = [](const ValidSign &sign, int64_t capacity) {
    return sign.constant >= 0 ? sign.constant : capacity;
  };
  int64_t rows = extent(src.validRows, src.rows), cols = extent(src.validCols, src.cols);
  (alongRows ? rows : cols) = ((alongRows ? rows : cols) + 31) / 32;
  for (mlir::Value handle : {mlir::Value(quant.getExp()), mlir::Value(quant.getMax()),
                             mlir::Value(quant.getScaling())}) {
    const TileInfo &tile = model.info(handle);
    if ((tile.rows >= rows && tile.cols >= cols) || (tile.rows == 1 && tile.cols >= rows * cols))
      continue;
    return op->emitError("native target: '")
           << op->getName() << "' makes one value for each of " << rows << "x" << cols
           << " groups, but a tile for them is " << tile.rows << "x" << tile.cols;
  }
  flush();
  callRuntime("pto_quantise_groups",
              {describe(quant.getDst()), describe(quant.getExp()), describe(quant.getMax()),
               describe(quant.getScaling()), describe(quant.getSrc()), b.getInt32(bytes ? 8 : 2),
               b.getInt32(alongRows)});
  return true;
}

} // namespace ptoas::native
