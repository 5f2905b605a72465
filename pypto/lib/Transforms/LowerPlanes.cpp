//===- LowerPlanes.cpp - values of rank above 2, plane by plane -----------===//
//
// Part of LowerTensorToTile. A tile has rows and columns, a value of higher rank all
// its leading axes as rows. What concerns the second-last axis alone (column reductions
// and expansions, transposes, windows inside planes, broadcasts in the middle) is done
// for one plane after the other and joined. Few planes are written out, many are a loop.
//
//===----------------------------------------------------------------------===//
#include "TensorRoots.h"
#include "TensorToTile.h"
#include "TileShape.h"

using namespace mlir;

namespace pypto {

int64_t planesOf(ArrayRef<int64_t> shape) {
  int64_t planes = 1;
  for (int64_t extent : shape.drop_back(std::min<size_t>(2, shape.size())))
    planes *= extent;
  return planes;
}

/// True if a window's rows follow each other in a value of this shape.
static bool isRunOfRows(ArrayRef<int64_t> window, ArrayRef<int64_t> shape) {
  bool whole = true;
  for (int axis = int(shape.size()) - 2; axis >= 0; --axis) {
    if (!whole && window[axis] != 1)
      return false;
    whole &= window[axis] == shape[axis];
  }
  return true;
}

Value TensorToTile::times(Value value, int64_t by) {
  if (auto constant = constantOf(value))
    return index(*constant * by);
  return by == 1 ? value : arith::MulIOp::create(b, loc, value, index(by)).getResult();
}

Value TensorToTile::plus(Value x, Value y) {
  auto p = constantOf(x), q = constantOf(y);
  if (p && q)
    return index(*p + *q);
  if (p && *p == 0)
    return y;
  return q && *q == 0 ? x : arith::AddIOp::create(b, loc, x, y).getResult();
}

/// The coordinates of position `number` in row-major order.
TensorToTile::Values TensorToTile::coordinates(Value number, ArrayRef<int64_t> extents) {
  Values result(extents.size(), index(0));
  for (size_t axis = extents.size(); axis-- > 0;) {
    if (extents[axis] == 1)
      continue;
    bool outermost =
        llvm::all_of(extents.take_front(axis), [](int64_t extent) { return extent == 1; });
    if (auto constant = constantOf(number)) {
      result[axis] = index(*constant % extents[axis]);
      number = index(*constant / extents[axis]);
    } else if (outermost) {
      result[axis] = number;
    } else {
      result[axis] = arith::RemUIOp::create(b, loc, number, index(extents[axis]));
      number = arith::DivUIOp::create(b, loc, number, index(extents[axis]));
    }
  }
  return result;
}

/// The inverse of `coordinates`; axes of extent 1 are broadcast.
Value TensorToTile::positionOf(ArrayRef<Value> coordinates, ArrayRef<int64_t> extents) {
  Value position = index(0);
  for (auto [coordinate, extent] : llvm::zip_equal(coordinates, extents))
    position = plus(times(position, extent), extent == 1 ? index(0) : coordinate);
  return position;
}

/// `step` for every number below `count`, each on what the one before left.
Value TensorToTile::inTurn(int64_t count, Value into, function_ref<Value(Value, Value)> step) {
  constexpr int64_t writtenOut = 8;
  if (count <= writtenOut) {
    for (int64_t i = 0; i < count; ++i)
      into = step(into, index(i));
    return into;
  }
  auto loop = scf::ForOp::create(b, loc, index(0), index(count), index(1), ValueRange{into});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value next = step(loop.getRegionIterArg(0), loop.getInductionVar());
  scf::YieldOp::create(b, loc, next);
  return loop.getResult(0);
}

Value TensorToTile::windowOf(Value all, int64_t rows, int64_t cols, Value row, Value col) {
  auto type = cast<TileType>(all.getType());
  SmallVector<int64_t> valid;
  if (!type.getValid().empty() && cols == type.getShape()[1])
    valid = {rows, type.getValidShape()[1]};
  return make("slice",
              TileType::get({rows, cols}, type.getElementType(), type.getMemorySpace(), valid),
              {all, index(rows), index(cols), row, col},
              attr("operandSegmentSizes", b.getDenseI32ArrayAttr({1, 2, 2, 0})));
}

Value TensorToTile::planeOf(Value all, ArrayRef<int64_t> shape, Value plane) {
  int64_t rows = shape[shape.size() - 2];
  return windowOf(all, rows, shape.back(), times(plane, rows), index(0));
}

/// One tile of planes; `valid` is what of it is real data, empty for all.
Value TensorToTile::joinPlanes(int64_t planes, TileType type,
                               function_ref<Value(Value plane)> part) {
  auto whole = TileType::get(type.getShape(), type.getElementType());
  int64_t rows = type.getShape()[0] / planes;
  Value joined =
      inTurn(planes, make("create_tile", whole, {}), [&](Value into, Value plane) -> Value {
        return make("assemble", whole, {into, part(plane), times(plane, rows), index(0)});
      });
  if (type.getValid().empty())
    return joined;
  ArrayRef<int64_t> valid = type.getValid();
  return make("set_validshape",
              TileType::get(type.getShape(), type.getElementType(), MemorySpace::None, valid),
              {joined, index(valid[0]), index(valid[1])});
}

/// An error unless the real extents of a value are known while it is taken apart.
LogicalResult TensorToTile::needsKnownValid(Operation *op, Type type) {
  if (isa<TensorType, TileType>(type) &&
      llvm::is_contained(flatTileType(type).getValid(), ShapedType::kDynamic))
    return op->emitError() << op->getName().stripDialect()
                           << ": planes of a value whose valid extents are known at run time only "
                              "cannot be taken apart; work on one plane at a time";
  return success();
}

LogicalResult TensorToTile::lowerByPlane(Operation *op) {
  Type oldType = op->getResult(0).getType();
  int64_t planes = planesOf(shapeOf(oldType));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (failed(needsKnownValid(op, operand.getType())))
      return failure();
    operands.push_back(tile(operand));
  }
  TileType type = flatTileType(oldType);
  auto part =
      TileType::get({type.getShape()[0] / planes, type.getShape()[1]}, type.getElementType());
  map.map(op->getResult(0), joinPlanes(planes, type, [&](Value plane) {
            SmallVector<Value> parts;
            for (auto [operand, old] : llvm::zip_equal(operands, op->getOperands())) {
              bool taken = isa<TensorType, TileType>(old.getType()) &&
                           planesOf(shapeOf(old.getType())) == planes;
              parts.push_back(taken ? planeOf(operand, shapeOf(old.getType()), plane) : operand);
            }
            return make(op->getName().stripDialect(), part, parts, llvm::to_vector(op->getAttrs()));
          }));
  return success();
}

/// `small`, of the shape `from`, in the shape `to` by NumPy's rules.
Value TensorToTile::broadcast(Value small, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<int64_t> own(to.size() - from.size(), 1);
  own.append(from.begin(), from.end());
  ArrayRef<int64_t> shape(own);
  Type element = cast<TileType>(small.getType()).getElementType();
  auto type = TileType::get({rowsOf(to), colsOf(to)}, element, MemorySpace::None);
  bool oneRow = llvm::all_of(shape.drop_back(), [](int64_t extent) { return extent == 1; });
  if (shape.drop_back() == to.drop_back() || oneRow)
    return replicate(small, type);
  int64_t rows = to[to.size() - 2];
  auto plane = TileType::get({rows, to.back()}, element);
  return joinPlanes(planesOf(to), type, [&](Value number) {
    Value from = positionOf(coordinates(number, to.drop_back(2)), shape.drop_back(2));
    return replicate(planeOf(small, shape, from), plane);
  });
}

/// Two axes swapped, in the value and in its shape.
Value TensorToTile::swapAxes(Value x, SmallVectorImpl<int64_t> &shape, int64_t first,
                             int64_t second) {
  int64_t rank = shape.size();
  if (first > second)
    std::swap(first, second);
  if (first == second)
    return x;
  if (second == rank - 1 && first != rank - 2) {
    x = swapAxes(x, shape, first, rank - 2);
    x = swapAxes(x, shape, rank - 2, rank - 1);
    return swapAxes(x, shape, first, rank - 2);
  }
  Type element = cast<TileType>(x.getType()).getElementType();
  SmallVector<int64_t> old(shape.begin(), shape.end());
  std::swap(shape[first], shape[second]);
  auto type = TileType::get({rowsOf(shape), shape.back()}, element);
  if (second == rank - 1) {
    auto turned = TileType::get({old.back(), old[rank - 2]}, element);
    auto turn = [&](Value plane) {
      return make("transpose", turned, plane,
                  {attr("axis1", b.getI64IntegerAttr(0)), attr("axis2", b.getI64IntegerAttr(1))});
    };
    int64_t planes = planesOf(old);
    if (planes == 1)
      return turn(x);
    return joinPlanes(planes, type, [&](Value plane) { return turn(planeOf(x, old, plane)); });
  }
  // Runs of rows change places.
  ArrayRef<int64_t> outer = ArrayRef<int64_t>(shape).take_front(second + 1);
  int64_t count = 1;
  for (int64_t extent : outer)
    count *= extent;
  int64_t rows = type.getShape()[0] / count;
  return joinPlanes(count, type, [&](Value number) {
    Values at = coordinates(number, outer);
    std::swap(at[first], at[second]);
    Value from = positionOf(at, ArrayRef<int64_t>(old).take_front(second + 1));
    return windowOf(x, rows, shape.back(), times(from, rows), index(0));
  });
}

LogicalResult TensorToTile::lowerTranspose(TransposeOp op) {
  Value old = op->getOperand(0);
  SmallVector<int64_t> shape(shapeOf(old.getType()));
  int64_t rank = shape.size(), first = op.getAxis1(), second = op.getAxis2();
  first += first < 0 ? rank : 0;
  second += second < 0 ? rank : 0;
  Value x = tile(old);
  if (!cast<TileType>(x.getType()).getValid().empty())
    return op.emitError("transpose: a value of rank above 2 must be valid as a whole; fill the "
                        "rest with pl.fillpad");
  map.map(op.getResult(), swapAxes(x, shape, first, second));
  return success();
}

/// A window of an on-chip value whose rows do not follow each other; null if they do.
Value TensorToTile::windowInPlanes(Value source, ArrayRef<int64_t> shape, ArrayRef<int64_t> window,
                                   ArrayRef<Value> offsets) {
  if (isRunOfRows(window, shape))
    return Value();
  size_t lead = shape.size() - 2;
  auto type = TileType::get({rowsOf(window), window.back()},
                            cast<TileType>(source.getType()).getElementType());
  return joinPlanes(planesOf(window), type, [&](Value plane) {
    Values at = coordinates(plane, window.drop_back(2));
    for (auto [axis, coordinate] : llvm::enumerate(at))
      coordinate = plus(coordinate, offsets[axis]);
    at.push_back(offsets[lead]);
    return windowOf(source, window[lead], window.back(), flatIndex(shape, at).first,
                    offsets.back());
  });
}

/// The same for writing: `target` with `source` in the window; null if the rows follow each other.
Value TensorToTile::assembleInPlanes(Value target, Value source, ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> window, ArrayRef<Value> offsets) {
  if (isRunOfRows(window, shape))
    return Value();
  size_t lead = shape.size() - 2;
  return inTurn(planesOf(window), target, [&](Value into, Value plane) -> Value {
    Values at = coordinates(plane, window.drop_back(2));
    for (auto [axis, coordinate] : llvm::enumerate(at))
      coordinate = plus(coordinate, offsets[axis]);
    at.push_back(offsets[lead]);
    Value part = planeOf(source, window, plane);
    return make("assemble", target.getType(),
                {into, part, flatIndex(shape, at).first, offsets.back()});
  });
}

} // namespace pypto
