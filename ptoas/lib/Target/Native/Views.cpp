//===- Views.cpp - tile handles, views of global memory, tload and tstore -===//
#include "Emitter.h"

using namespace llvm;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::success;
namespace pto = mlir::pto;
namespace ptoas::native {

static std::optional<int64_t> constant(Value *v) {
  if (auto *c = dyn_cast<ConstantInt>(v))
    return c->getSExtValue();
  return std::nullopt;
}

FailureOr<bool> FunctionEmitter::emitViews(mlir::Operation &op) {
  if (auto make = dyn_cast<pto::MakeTensorViewOp>(op)) {
    GmView view;
    std::optional<Elem> elem = elemOf(make.getResult().getType().getElementType());
    if (!elem)
      return op.emitError("native target: no code for tensors of ")
             << make.getResult().getType().getElementType() << " elements";
    view.elem = *elem;
    view.base = value(make.getPtr());
    view.root = pointerRoot(make.getPtr());
    view.layout = make.getLayout();
    for (mlir::Value v : make.getShape())
      view.sizes.push_back(asIndex(v));
    for (mlir::Value v : make.getStrides())
      view.strides.push_back(asIndex(v));
    views[make.getResult()] = std::move(view);
    return true;
  }
  if (auto part = dyn_cast<pto::PartitionViewOp>(op)) {
    GmView view = views.lookup(part.getSource());
    Value *offset = index(0);
    for (auto [at, stride] : zip(part.getOffsets(), view.strides))
      offset = b.CreateAdd(offset, b.CreateMul(asIndex(at), stride));
    if (isPacked(view.elem)) {
      view.base = b.CreatePtrAdd(view.base, b.CreateAShr(offset, 1));
      view.half = b.CreateAnd(offset, index(1));
    } else {
      view.base = elementPointer(view.base, offset, bytesOf(view.elem));
    }
    for (auto [i, size] : enumerate(part.getSizes()))
      view.sizes[i] = asIndex(size);
    views[part.getResult()] = std::move(view);
    return true;
  }
  if (isa<pto::GetTensorViewDimOp, pto::GetTensorViewStrideOp>(op)) {
    const GmView &view = views.find(op.getOperand(0))->second;
    std::optional<int64_t> dim = constantOf(op.getOperand(1));
    if (!dim || *dim < 0 || *dim >= int64_t(view.sizes.size()))
      return op.emitError("native target: the dimension must be a constant below ")
             << view.sizes.size();
    values[op.getResult(0)] =
        isa<pto::GetTensorViewDimOp>(op) ? view.sizes[*dim] : view.strides[*dim];
    return true;
  }
  if (auto resize = dyn_cast<pto::SetValidShapeOp>(op)) {
    // Ops that wait in the group have their extents already.
    const TileInfo &tile = model.info(resize.getTile());
    validRows(tile);
    Extents &e = extents[tile.validOwner];
    mlir::Value wanted[2] = {resize.getValidRow(), resize.getValidCol()};
    // An extent beyond the tile would reach other tiles' bytes.
    if (failed(requireWithin(op, wanted[0], tile.rows, validRowsText)) ||
        failed(requireWithin(op, wanted[1], tile.cols, validColsText)))
      return failure();
    for (unsigned axis : {0u, 1u}) {
      e.known[axis] = asIndex(wanted[axis]);
      b.CreateStore(e.known[axis], e.slot[axis]);
    }
    return true;
  }
  if (isa<pto::GetValidShapeOp, pto::TileValidRowsOp, pto::TileValidColsOp>(op)) {
    const TileInfo &tile = model.info(op.getOperand(0));
    if (isa<pto::GetValidShapeOp>(op)) {
      values[op.getResult(0)] = validRows(tile);
      values[op.getResult(1)] = validCols(tile);
    } else {
      values[op.getResult(0)] = isa<pto::TileValidRowsOp>(op) ? validRows(tile) : validCols(tile);
    }
    return true;
  }
  if (op.getNumResults() != 1 || !model.isTile(op.getResult(0)))
    return false;
  // A tile handle. Starts that are run-time values are computed here, once; that they lie where
  // they may is checked before the first use (Checks.cpp).
  const TileInfo &tile = model.info(op.getResult(0));
  if (tile.inBoxes && tile.home != tile.handle) {
    placeInCopy(op);
  } else if (!tile.exact && tile.dynamicStart == op.getResult(0)) {
    Value *start = nullptr;
    if (auto get = dyn_cast<pto::MultiTileGetOp>(op)) {
      start =
          b.CreatePtrAdd(addressOf(model.info(get.getSource())),
                         b.CreateMul(asIndex(get.getSlot()), index(tile.type.getSizeInBytes())));
    } else if (isa<pto::SubviewOp, pto::SubsetOp>(op)) {
      const TileInfo &whole = model.info(op.getOperand(0));
      Value *at = b.CreateMul(asIndex(op.getOperand(1)), index(whole.rowStride));
      at = b.CreateAdd(at, b.CreateMul(asIndex(op.getOperand(2)), index(whole.colStride)));
      start = elementPointer(tilePointer(whole), at, bytesOf(whole.elem));
    } else {
      mlir::Value addr = isa<pto::TAssignOp>(op) ? op.getOperand(1) : op.getOperand(0);
      start = b.CreatePtrAdd(rootPointer(tile.root), asIndex(addr));
    }
    dynamicStarts[op.getResult(0)] = start;
  }
  if (model.isResized(tile.validOwner)) {
    if (tile.validOwner == tile.handle)
      for (auto [sign, capacity, text] : {std::tuple(&tile.initialRows, tile.rows, validRowsText),
                                          std::tuple(&tile.initialCols, tile.cols, validColsText)})
        if (sign->value && failed(requireWithin(op, sign->value, capacity, text)))
          return failure();
    validRows(tile); // sets up the slots where they dominate every use
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

Access FunctionEmitter::tileAccess(mlir::Value handle, Spread spread) {
  const TileInfo &tile = model.info(handle);
  Access access;
  access.elem = tile.elem;
  access.spread = spread;
  if (std::optional<TileView> view = viewOf(handle)) {
    access.base = view->base;
    access.rowStride = view->rowStride;
    access.colStride = view->colStride;
    access.tile = view->tile;
    access.gmRoot = view->gmRoot;
    return access;
  }
  access.base = tilePointer(tile);
  access.rowStride = index(tile.rowStride);
  access.colStride = index(tile.colStride);
  access.tile = &tile;
  return access;
}

Access FunctionEmitter::maskAccess(mlir::Value handle) {
  Access access = tileAccess(handle);
  access.mask = true;
  access.rowStride = index(access.tile->rowStride * bytesOf(access.elem));
  access.colStride = index(1);
  access.elem = Elem::U8;
  return access;
}

FailureOr<Access> FunctionEmitter::viewAccess(const GmView &view, Value *&rows, Value *&cols) {
  if (view.layout && *view.layout != pto::Layout::Nd && *view.layout != pto::Layout::Dn)
    return failure();
  unsigned rank = view.sizes.size();
  Access access;
  access.elem = view.elem;
  access.base = view.base;
  access.gmRoot = view.root;
  cols = view.sizes[rank - 1];
  access.colStride = view.strides[rank - 1];
  rows = index(1);
  access.rowStride = index(0);
  SmallVector<std::pair<Value *, Value *>, 4> dims;
  for (unsigned d = 0; d + 1 < rank; ++d)
    if (constant(view.sizes[d]) != 1)
      dims.push_back({view.sizes[d], view.strides[d]});
  // In a DN view the outer dimensions are columns.
  bool dn = view.layout == pto::Layout::Dn;
  if (dn &&
      (dims.size() > 1 || (dims.size() == 1 && constant(view.sizes[rank - 2]) == 1 && rank > 2)))
    return failure();
  // Join dimensions that follow each other without a gap.
  for (unsigned d = dims.size(); d-- > 1;) {
    auto size = constant(dims[d].first), stride = constant(dims[d].second);
    auto outer = constant(dims[d - 1].second);
    if (size && stride && outer && *outer == *size * *stride) {
      dims[d - 1] = {b.CreateMul(dims[d - 1].first, dims[d].first), dims[d].second};
      dims.erase(dims.begin() + d);
    }
  }
  if (dims.size() == 1) {
    rows = dims[0].first;
    access.rowStride = dims[0].second;
  } else if (!dims.empty()) {
    for (auto [size, stride] : dims)
      rows = b.CreateMul(rows, size);
    access.rowDims.assign(dims.begin(), dims.end());
  }
  return access;
}

FunctionEmitter::Picture FunctionEmitter::pictureOf(const TileInfo &tile) {
  return {tilePointer(tile), index(tile.rowStride), index(tile.colStride), tile.elem,
          tile.rows * tile.cols};
}

/// Windows without a rows x cols form (boxes, outer columns): up to five strided dimensions.
LogicalResult FunctionEmitter::copyByDimensions(mlir::Operation *op, const GmView &view,
                                                const Picture &tile, Transfer way) {
  flush();
  unsigned rank = view.sizes.size();
  if (rank > 5)
    return op->emitError("native target: views have at most five dimensions");
  Value *rowStride = tile.rowStride, *colStride = tile.colStride;
  SmallVector<Value *, 5> tileStrides(rank), sizes(view.sizes.begin(), view.sizes.end());
  bool nz = view.layout == pto::Layout::Nz;
  if (nz) {
    if (rank < 4)
      return op->emitError("native target: an nz view has at least four dimensions");
    unsigned d = rank - 4; // column boxes, row boxes, rows, columns
    Value *boxCols = sizes[d + 3], *boxRows = sizes[d + 2];
    tileStrides[d] = b.CreateMul(boxCols, colStride);
    tileStrides[d + 1] = b.CreateMul(boxRows, rowStride);
    tileStrides[d + 2] = rowStride;
    tileStrides[d + 3] = colStride;
    if (d == 1)
      tileStrides[0] = b.CreateMul(b.CreateMul(boxRows, sizes[d + 1]), rowStride);
  } else if (view.layout == pto::Layout::MxAZz || view.layout == pto::Layout::MxBNn) {
    // Boxes of 16 x 2 scales, those of an rhs turned: outer boxes, inner boxes, 16, 2.
    if (rank < 4)
      return op->emitError("native target: a view of scales has at least four dimensions");
    bool left = view.layout == pto::Layout::MxAZz;
    Value *outer = left ? rowStride : colStride, *inner = left ? colStride : rowStride;
    unsigned d = rank - 4;
    tileStrides[0] = index(0);
    tileStrides[d] = b.CreateMul(sizes[d + 2], outer);
    tileStrides[d + 1] = b.CreateMul(sizes[d + 3], inner);
    tileStrides[d + 2] = outer;
    tileStrides[d + 3] = inner;
  } else if (view.layout == pto::Layout::Dn) {
    Value *stride = colStride;
    for (unsigned d = rank; d-- > 0;) {
      if (d == rank - 2) {
        tileStrides[d] = rowStride;
        continue;
      }
      tileStrides[d] = stride;
      stride = b.CreateMul(stride, sizes[d]);
    }
  } else if (!view.layout || view.layout == pto::Layout::Nd) {
    // Rows over all dimensions but the last.
    tileStrides[rank - 1] = colStride;
    Value *stride = rowStride;
    for (unsigned d = rank - 1; d-- > 0;) {
      tileStrides[d] = stride;
      stride = b.CreateMul(stride, sizes[d]);
    }
  } else {
    return op->emitError("native target: no code for views of this layout");
  }
  // Sizes are not trusted with the tile's memory: the helper stops at its capacity.
  auto *array = ArrayType::get(b.getInt64Ty(), 15);
  AllocaInst *table = stackSlot(array, "dims");
  for (unsigned d = 0; d < 5; ++d) {
    bool present = d + rank >= 5;
    unsigned from = d + rank - 5;
    Value *fields[3] = {present ? sizes[from] : index(1), present ? view.strides[from] : index(0),
                        present ? tileStrides[from] : index(0)};
    for (unsigned k = 0; k < 3; ++k)
      b.CreateStore(fields[k], b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), table, d * 3 + k));
  }
  if (way == Transfer::Add)
    callRuntime("pto_atomic_add_dims",
                {table, view.base, b.getInt32(unsigned(view.elem)), tile.base,
                 b.getInt32(unsigned(tile.elem)), index(tile.capacity)});
  else
    callRuntime("pto_copy_dims",
                {table, view.base, tile.base, index(tile.capacity), b.getInt32(bytesOf(view.elem)),
                 b.getInt32(way == Transfer::Load)});
  return success();
}

//===----------------------------------------------------------------------===//
// tload, tstore
//===----------------------------------------------------------------------===//

static void transposeView(Access &access, Value *&rows, Value *&cols) {
  std::swap(access.rowStride, access.colStride);
  std::swap(rows, cols);
}

/// A single column may lie in a view of one row and the other way round.
static void matchVector(const TileInfo &tile, Access &access, Value *&rows, Value *&cols) {
  if (!access.rowDims.empty())
    return;
  bool column = tile.cols == 1 && tile.rows != 1, line = tile.rows == 1 && tile.cols != 1;
  if ((column && constant(rows) == 1 && constant(cols) != 1) ||
      (line && constant(cols) == 1 && constant(rows) != 1))
    transposeView(access, rows, cols);
}

LogicalResult FunctionEmitter::emitLoad(pto::TileOpInterface op) {
  mlir::Value dst = op.getNamedOperand("dst");
  const GmView &view = views.find(op.getNamedOperand("src"))->second;
  const TileInfo &tile = model.info(dst);
  if (bytesOf(view.elem) != bytesOf(tile.elem))
    return op->emitError("native target: tload between elements of different size");
  Value *rows, *cols;
  FailureOr<Access> from = viewAccess(view, rows, cols);
  if (failed(from))
    return copyByDimensions(op, view, pictureOf(tile), Transfer::Load);
  matchVector(tile, *from, rows, cols);
  auto nest = newNest(op, dst);
  from->elem = tile.elem; // bits are moved as they are
  nest->in.push_back(*from);
  nest->rows = smaller(nest->rows, rows);
  nest->cols = smaller(nest->cols, cols);
  rows = nest->rows;
  cols = nest->cols;
  // Without extents of its own a tile takes what the window has, up to its capacity.
  addNest(std::move(nest));
  padBehind(op, rows, cols);
  return success();
}

/// A load writes whole boxes of L1, and whole blocks of 32 bytes when the tile names a pad value
/// (pto-isa 6.8): what the window does not have of them is padded.
void FunctionEmitter::padBehind(pto::TileOpInterface load, Value *rows, Value *cols) {
  mlir::Value dst = load.getNamedOperand("dst");
  const TileInfo &tile = model.info(dst);
  pto::PadValue pad = tile.type.getPad();
  int64_t unit[2] = {1, 1};
  if (tile.type.getSpace() == pto::AddressSpace::Mat && tile.type.isBoxed())
    std::tie(unit[0], unit[1]) = tile.type.getBoxShape();
  else if (tile.type.getSpace() == pto::AddressSpace::Vec && !tile.type.isBoxed() &&
           pad != pto::PadValue::Null)
    unit[tile.type.isRowMajor()] = std::max<int64_t>(1, 32 / bytesOf(tile.elem));
  auto whole = [&](Value *extent, int64_t size, int64_t limit) {
    Value *up =
        b.CreateMul(b.CreateUDiv(b.CreateAdd(extent, index(size - 1)), index(size)), index(size));
    return size == 1 ? extent : smaller(up, index(limit));
  };
  Value *allRows = whole(rows, unit[0], tile.rows), *allCols = whole(cols, unit[1], tile.cols);
  auto fill = [&](Value *row, Value *col, Value *height, Value *width) {
    if (constant(height) == 0 || constant(width) == 0)
      return;
    auto nest = newNest(load, dst);
    nest->out = windowAccess(dst, row, col);
    nest->rows = height;
    nest->cols = width;
    nest->compute = [elem = tile.elem, pad](const Lane &lane, ArrayRef<Value *>) -> Value * {
      return padConstant(lane.vb, elem, pad);
    };
    addNest(std::move(nest));
  };
  // Nothing where the unit is one element: loads of extents known at run time stay one nest.
  if (unit[1] > 1)
    fill(index(0), cols, rows, b.CreateSub(allCols, cols));
  if (unit[0] > 1)
    fill(rows, index(0), b.CreateSub(allRows, rows), allCols);
}

LogicalResult FunctionEmitter::emitStore(pto::TileOpInterface op) {
  mlir::Value src = op.getNamedOperand("src");
  const GmView &view = views.find(op.getNamedOperand("dst"))->second;
  const TileInfo &tile = model.info(src);
  bool atomic = false;
  if (auto attr = op->getAttrOfType<pto::AtomicTypeAttr>("atomicType"))
    atomic = attr.getValue() == pto::AtomicType::AtomicAdd;
  bool acc = tile.type.getSpace() == pto::AddressSpace::Acc;
  if (!acc && bytesOf(view.elem) != bytesOf(tile.elem))
    return op->emitError("native target: tstore between elements of different size");
  auto nest = std::make_unique<NestOp>();
  nest->source = op;
  nest->in.push_back(tileAccess(src));
  nest->out.elem = acc ? view.elem : tile.elem;
  if (acc)
    convertOnTheWay(op, *nest);
  Value *rows, *cols;
  FailureOr<Access> to = viewAccess(view, rows, cols);
  if (succeeded(to) && !atomic) {
    matchVector(tile, *to, rows, cols);
    to->elem = nest->out.elem;
    nest->out = *to;
    nest->rows = smaller(validRows(tile), rows);
    nest->cols = smaller(validCols(tile), cols);
    addNest(std::move(nest));
    return success();
  }
  // Boxes, outer columns and sums take finished elements.
  Picture picture = pictureOf(tile);
  if (nest->compute) {
    picture = {privateStorage(tile.rows * tile.cols * bytesOf(view.elem)), index(tile.cols),
               index(1), view.elem, tile.rows * tile.cols};
    nest->out.base = picture.base;
    nest->out.rowStride = picture.rowStride;
    nest->out.colStride = picture.colStride;
    nest->rows = validRows(tile);
    nest->cols = validCols(tile);
    flush();
    addNest(std::move(nest));
  }
  flush();
  if (!atomic)
    return copyByDimensions(op, view, picture, Transfer::Store);
  if (failed(to) || !to->rowDims.empty())
    return copyByDimensions(op, view, picture, Transfer::Add);
  matchVector(tile, *to, rows, cols);
  callRuntime("pto_atomic_add", {to->base, to->rowStride, to->colStride,
                                 b.getInt32(unsigned(view.elem)), picture.base, picture.rowStride,
                                 picture.colStride, b.getInt32(unsigned(picture.elem)),
                                 smaller(validRows(tile), rows), smaller(validCols(tile), cols)});
  return success();
}

} // namespace ptoas::native
