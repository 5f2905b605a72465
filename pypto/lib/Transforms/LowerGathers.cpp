//===- LowerGathers.cpp - gathers and scatters of tensors on tiles ---------===//
//
// Tensor forms name elements per axis as torch does; tile forms name positions
// in the whole tile. Rows of global memory come one by one.
//===----------------------------------------------------------------------===//
#include "TensorRoots.h"
#include "TensorToTile.h"
#include "TileShape.h"

using namespace mlir;

namespace pypto {

/// Positions in the whole source tile, whose rows have `stride` elements, of the elements that
/// `positions` names along the last axis or along the rows. In 32 bits: a tile has more elements
/// than 16 count.
Value TensorToTile::flatPositions(Value positions, int64_t stride, bool lastAxis) {
  auto type = cast<TileType>(positions.getType());
  Type element = type.getElementType();
  auto bare = TileType::get(type.getShape(), element, MemorySpace::None, type.getValid());
  int64_t rows = type.getShape()[0], cols = type.getShape()[1];
  Value start = arith::ConstantOp::create(b, loc, b.getIntegerAttr(element, 0));
  Value scale = arith::ConstantOp::create(b, loc, b.getIntegerAttr(element, stride));
  if (lastAxis) {
    auto line = TileType::get({1, rows}, element);
    Value base = make("mul", line, {make("arange", line, start), scale});
    base = make("reshape", TileType::get({rows, 1}, element), base);
    return make("row_expand_add", bare, {positions, base});
  }
  Value base = make("arange", TileType::get({1, cols}, element), start);
  return make("col_expand_add", bare, {make("mul", bare, {positions, scale}), base});
}

LogicalResult TensorToTile::lowerGather(GatherOp op) {
  Value source = tile(op.getInput()), at = tile(op.getIndex());
  TileType type = flatTileType(op.getType());
  auto gather = [&](TileType to, Value from, Value positions) {
    return make("gather", to, {from, positions}, attr("flat", b.getBoolAttr(true)));
  };
  if (op.getFlat()) {
    map.map(op.getResult(), gather(type, source, at));
    return success();
  }
  auto narrow = cast<TileType>(at.getType());
  if (narrow.getElementType().getIntOrFloatBitWidth() < 32)
    at =
        make("cast",
             TileType::get(narrow.getShape(), b.getI32Type(), MemorySpace::None, narrow.getValid()),
             at, attr("mode", b.getStringAttr("rint")));
  SmallVector<int64_t> from(shapeOf(op.getInput().getType())),
      named(shapeOf(op.getIndex().getType()));
  int64_t rank = from.size(), dim = op.getDim(), rows = rank - 2;
  bool lastAxis = dim == rank - 1;
  if (dim >= rows && planesOf(from) == 1 && planesOf(named) == 1) {
    map.map(op.getResult(), gather(type, source, flatPositions(at, from.back(), lastAxis)));
    return success();
  }
  if (failed(needsKnownValid(op, op.getInput().getType())) ||
      failed(needsKnownValid(op, op.getIndex().getType())))
    return failure();
  if (dim < rows) { // along an axis of planes: among the rows for a while
    source = swapAxes(source, from, dim, rows);
    at = swapAxes(at, named, dim, rows);
  }
  Type element = type.getElementType();
  auto part = TileType::get({named[rows], named.back()}, element);
  auto whole = TileType::get({rowsOf(named), named.back()}, element);
  Value result = joinPlanes(planesOf(named), whole, [&](Value plane) {
    Values leading = coordinates(plane, ArrayRef<int64_t>(named).drop_back(2));
    Value other = positionOf(leading, ArrayRef<int64_t>(from).drop_back(2));
    Value positions = flatPositions(planeOf(at, named, plane), from.back(), lastAxis);
    return gather(part, planeOf(source, from, other), positions);
  });
  if (dim < rows)
    result = swapAxes(result, named, dim, rows);
  map.map(op.getResult(), result);
  return success();
}

/// The instruction leaves 0 where it writes nothing. `scatter` applies it to given values; ones
/// sent along the same way tell which elements of `target` stay.
Value TensorToTile::scatterInto(Value target, Value source,
                                llvm::function_ref<Value(Value, Value)> scatter) {
  auto like = cast<TileType>(target.getType());
  Type element = like.getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  Type f16 = b.getF16Type();
  Type one = width == 32 ? Type(b.getF32Type()) : width == 16 ? f16 : element;
  auto typed = [&](TileType t, Type of) {
    return TileType::get(t.getShape(), of, MemorySpace::None, t.getValid());
  };
  Value values = scatter(splat(typed(like, element), 0), source);
  Value marks =
      scatter(splat(typed(like, one), 0), splat(typed(cast<TileType>(source.getType()), one), 1));
  if (width < 16) { // comparisons take wider elements
    marks = make("cast", typed(like, f16), marks, attr("mode", b.getStringAttr("rint")));
    one = f16;
  }
  Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(one, 0));
  Value untouched =
      make("cmp", maskOf(like), {marks, zero}, attr("cmp_type", b.getStringAttr("eq")));
  return make("sel", typed(like, element), {untouched, target, values});
}

LogicalResult TensorToTile::lowerScatter(ScatterOp op) {
  Value target = tile(op.getInput()), source = tile(op.getSrc());
  NamedAttribute flat = attr("flat", b.getBoolAttr(true));
  if (op.getFlat()) {
    map.map(op.getResult(), make("scatter", flatTileType(op.getType()),
                                 {target, tile(op.getIndex()), source}, flat));
    return success();
  }
  ArrayRef<int64_t> shape = shapeOf(op.getInput().getType());
  int64_t rank = shape.size(), dim = op.getDim();
  if (dim < rank - 2 || planesOf(shape) != 1 || planesOf(shapeOf(op.getIndex().getType())) != 1)
    return op.emitError(
        "scatter: only the last two axes of one plane can be scattered in a kernel");
  Value positions = flatPositions(tile(op.getIndex()), shape.back(), dim == rank - 1);
  map.map(op.getResult(), scatterInto(target, source, [&](Value into, Value values) {
            return make("scatter", into.getType(), {into, positions, values}, flat);
          }));
  return success();
}

LogicalResult TensorToTile::lowerScatterMask(ScatterMaskOp op) {
  Value target = tile(op.getDst()), source = tile(op.getSrc());
  NamedAttribute pattern = attr("mask_pattern", op.getMaskPatternAttr());
  auto scatter = [&](Value into, Value values) {
    return make("scatter_mask", into.getType(), {into, values}, pattern);
  };
  map.map(op.getResult(), op.getKeep() ? scatterInto(target, source, scatter)
                                       : make("scatter_mask", flatTileType(op.getType()),
                                              {target, source}, pattern));
  return success();
}

LogicalResult TensorToTile::lowerScatterUpdate(ScatterUpdateOp op) {
  Value rows = tile(op.getIndex()), source = tile(op.getSrc()), target = tile(op.getInput());
  auto indexType = cast<TileType>(rows.getType());
  auto sourceType = cast<TileType>(source.getType());
  TileType type = cast<TileType>(target.getType());
  int64_t count = indexType.getShape()[0] * indexType.getShape()[1],
          cols = sourceType.getShape()[1];
  auto bare =
      TileType::get(type.getShape(), type.getElementType(), MemorySpace::None, type.getValid());
  // The input stays as it is: the rows go to a copy (made where the input lives on).
  auto loop = scf::ForOp::create(b, loc, index(0), index(count), index(1), ValueRange{target});
  loop.getResult(0).setType(bare);
  loop.getRegionIterArg(0).setType(bare);
  Block *outside = b.getInsertionBlock();
  b.setInsertionPointToStart(loop.getBody());
  Value i = loop.getInductionVar();
  Value width = index(indexType.getShape()[1]);
  Value at = make(
      "read", indexType.getElementType(),
      {rows, arith::DivSIOp::create(b, loc, i, width), arith::RemSIOp::create(b, loc, i, width)});
  Value row = make("scalar_cast", b.getIndexType(), at);
  Value line = make("slice", TileType::get({1, cols}, sourceType.getElementType()),
                    {source, index(1), index(cols), i, index(0)},
                    attr("operandSegmentSizes", b.getDenseI32ArrayAttr({1, 2, 2, 0})));
  Value next = make("assemble", bare, {loop.getRegionIterArg(0), line, row, index(0)});
  scf::YieldOp::create(b, loc, next);
  b.setInsertionPointToEnd(outside);
  map.map(op.getResult(), loop.getResult(0));
  return success();
}

LogicalResult TensorToTile::lowerGatherRow(GatherRowOp op) {
  Value target = map.lookup(op.getDst()), source = map.lookup(op.getSrc());
  if (!isa<TileType>(target.getType()) || !isa<TensorType>(source.getType()))
    return op.emitError("gather_row moves rows of global memory to an on-chip tile");
  auto type = cast<TileType>(target.getType());
  SmallVector<int64_t> window(op.getShapes());
  SmallVector<Value> offsets = mapped(op.getSrcOffset());
  while (window.size() < offsets.size())
    window.insert(window.begin(), 1);
  Value rows =
      load(source, op.getSrc().getType(), window, offsets, mapped(op.getValidShape()),
           type.getMemorySpace() == MemorySpace::Mat ? MemorySpace::Mat : MemorySpace::Vec);
  if (op.getTranspose()) {
    auto t = cast<TileType>(rows.getType());
    SmallVector<int64_t> valid(llvm::reverse(t.getValid()));
    rows =
        make("transpose",
             TileType::get({t.getShape()[1], t.getShape()[0]}, t.getElementType(),
                           MemorySpace::None, valid),
             rows, {attr("axis1", b.getI64IntegerAttr(0)), attr("axis2", b.getI64IntegerAttr(1))});
  }
  auto [row, col] = flatIndex(shapeOf(op.getDst().getType()), mapped(op.getDstOffset()));
  map.map(op.getResult(), make("assemble", type, {target, rows, row, col}));
  return success();
}

LogicalResult TensorToTile::lowerPagedGather(PagedGatherOp op) {
  Value source = map.lookup(op.getSrc());
  if (!isa<TensorType>(source.getType()))
    return op.emitError("paged_gather moves rows of global memory, this value is on chip");
  if (op.getColOff() != 0)
    return op.emitError("paged_gather: only col_off=0 is supported in kernels of this target");
  auto declared = cast<TileType>(op.getType());
  bool transposed = op.getIsTrans();
  int64_t rows = op.getMaxIndices(), cols = shapeOf(op.getSrc().getType()).back();
  Type element = declared.getElementType();
  auto type = TileType::get({rows, cols}, element, declared.getMemorySpace());
  auto entry = [&](Value table, Value at) { // of a 1-D or [1, n] table
    Value values = map.lookup(table);
    SmallVector<Value> operands{values};
    if (isa<TileType>(values.getType()) || shapeOf(table.getType()).size() == 2)
      operands.push_back(index(0));
    operands.push_back(at);
    return make("scalar_cast", b.getIndexType(),
                make("read", elementTypeOf(table.getType()), operands));
  };
  Value target = make("create_tile", type, {});
  auto loop =
      scf::ForOp::create(b, loc, index(0), map.lookup(op.getSize()), index(1), ValueRange{target});
  Block *outside = b.getInsertionBlock();
  b.setInsertionPointToStart(loop.getBody());
  Value i = loop.getInductionVar(), pageSize = index(op.getBlockSize());
  Value position = entry(op.getIndices(), i);
  Value page = entry(op.getBlockTable(), arith::DivSIOp::create(b, loc, position, pageSize));
  Value row = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, page, pageSize),
                                    arith::RemSIOp::create(b, loc, position, pageSize));
  Value line =
      load(source, op.getSrc().getType(), {1, cols}, {row, index(0)}, {},
           declared.getMemorySpace() == MemorySpace::Mat ? MemorySpace::Mat : MemorySpace::Vec);
  Value next = make("assemble", type, {loop.getRegionIterArg(0), line, i, index(0)});
  scf::YieldOp::create(b, loc, next);
  b.setInsertionPointToEnd(outside);
  Value result = loop.getResult(0);
  if (transposed)
    result = make("transpose_view",
                  TileType::get({cols, rows}, element, declared.getMemorySpace(), {},
                                /*transposed=*/true),
                  result);
  map.map(op.getResult(), result);
  return success();
}

LogicalResult TensorToTile::lowerExpandClone(ExpandCloneOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getSrc().getType()), to = shapeOf(op.getTarget().getType());
  SmallVector<int64_t> widened;
  for (auto [axis, extents] : llvm::enumerate(llvm::zip_equal(from, to)))
    if (std::get<0>(extents) != std::get<1>(extents))
      widened.push_back(axis);
  Value source = tile(op.getSrc());
  auto flat = TileType::get({to[0] * to[1], to[2]}, elementTypeOf(op.getTarget().getType()));
  Value result = source;
  if (!widened.empty() && widened[0] == 2) {
    result = replicate(source, flat);
  } else if (!widened.empty()) { // a plane or a row of the source for each plane of the target
    bool row = widened[0] == 1;
    auto plane = TileType::get({to[1], to[2]}, flat.getElementType());
    result = splat(flat, 0);
    for (int64_t n = 0; n < to[0]; ++n) {
      Value part = source;
      if (row) {
        auto line = TileType::get({1, to[2]}, flat.getElementType());
        part = make("slice", line, {source, index(1), index(to[2]), index(n), index(0)},
                    attr("operandSegmentSizes", b.getDenseI32ArrayAttr({1, 2, 2, 0})));
        part = replicate(part, plane);
      }
      result = make("assemble", flat, {result, part, index(n * to[1]), index(0)});
    }
  }
  Value target = map.lookup(op.getTarget());
  if (isa<TensorType>(target.getType()))
    return store(target, op.getTarget(), result, TileType::get(to, flat.getElementType()),
                 {index(0), index(0), index(0)}, {}, "none", op.getResult());
  map.map(op.getResult(), result);
  return success();
}

} // namespace pypto
