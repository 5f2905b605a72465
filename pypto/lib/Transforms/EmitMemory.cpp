//===- EmitMemory.cpp - loads, stores and elements of global memory -------===//
//
// A window of a parameter becomes a view of its memory, made once, and a part of
// that view. Packed columns [.., M, 1] are one long column.
//
//===----------------------------------------------------------------------===//
#include "PtoEmitter.h"
#include "TensorRoots.h"
#include "TileShape.h"

using namespace mlir;

namespace pypto {

PtoEmitter::Window PtoEmitter::windowOf(Value tensor) {
  tensor = sameTensor(tensor);
  if (auto slice = tensor.getDefiningOp<SliceOp>()) {
    Window source = windowOf(slice.getInput()), window;
    window.argument = source.argument;
    window.offsets = source.offsets;
    for (auto [number, offset] : llvm::enumerate(slice.getOffset())) {
      unsigned axis = source.axes[number];
      Value base = source.offsets[axis], more = mapped(offset);
      auto known = constantOf(base), added = constantOf(more);
      window.offsets[axis] = known && added ? index(*known + *added)
                             : known && *known == 0
                                 ? more
                                 : Value(arith::AddIOp::create(b, loc, base, more));
      if (!llvm::is_contained(slice.getDropDims(), int64_t(number)))
        window.axes.push_back(axis);
    }
    return window;
  }
  auto arg = cast<BlockArgument>(tensor);
  Window window;
  window.argument = arg.getArgNumber();
  for (unsigned axis = 0; axis < shapeOf(arg.getType()).size(); ++axis) {
    window.offsets.push_back(index(0));
    window.axes.push_back(axis);
  }
  return window;
}

Value PtoEmitter::viewOf(unsigned argument) {
  Memory &memory = memoryOf(argument);
  if (!memory.view) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(headEnd);
    if (memory.blocked)
      return memory.view = blockedView(argument);
    auto type = cast<TensorType>(old.getArgument(argument).getType());
    SmallVector<int64_t> open(type.getRank(), ShapedType::kDynamic);
    // Column-major memory: the stride of the last axis is not 1, that of the one before is.
    unsigned rank = type.getRank();
    bool columns = memory.columnMajor || (rank >= 2 && constantOf(memory.strides[rank - 2]) == 1 &&
                                          constantOf(memory.strides[rank - 1]) != 1);
    auto layout = pto::LayoutAttr::get(b.getContext(), columns ? pto::Layout::Dn : pto::Layout::Nd);
    SmallVector<Value> dims(memory.dims), strides(memory.strides);
    if (memory.isColumn()) {
      // The planes of packed columns follow each other: one long column.
      Value length = dims[0];
      for (Value extent : ArrayRef(dims).slice(1, rank - 2)) {
        auto known = constantOf(length), more = constantOf(extent);
        length = known && more ? index(*known * *more)
                               : Value(arith::MulIOp::create(b, loc, length, extent));
      }
      open.resize(2);
      dims = {length, index(1)};
      strides = {index(1), length};
    }
    memory.view = pto::MakeTensorViewOp::create(
        b, old.getArgument(argument).getLoc(),
        pto::TensorViewType::get(open, ptoElement(type.getElementType())), memory.pointer, dims,
        strides, layout);
  }
  return memory.view;
}

Value PtoEmitter::partition(const Window &window, ArrayRef<Value> sizes) {
  SmallVector<int64_t> extents;
  for (Value size : sizes)
    extents.push_back(constantOf(size).value_or(ShapedType::kDynamic));
  Type element = ptoElement(elementTypeOf(old.getArgument(window.argument).getType()));
  const Memory &memory = memoryOf(window.argument);
  if (memory.blocked)
    return blockedPartition(window, sizes);
  if (!memory.isColumn())
    return pto::PartitionViewOp::create(b, loc, pto::PartitionTensorViewType::get(extents, element),
                                        viewOf(window.argument), window.offsets, sizes);
  // Elements of the long column that follow each other: below the first extent that is not 1,
  // planes are whole.
  Value length = index(1);
  for (auto [axis, size] : llvm::enumerate(sizes.drop_back())) {
    auto known = constantOf(length), more = constantOf(size);
    bool whole = size == memory.dims[axis] || (more && more == constantOf(memory.dims[axis]));
    if (known == 1) {
      length = size;
    } else if (!whole) {
      emitError(loc) << "a window of several columns [.., 1] that does not take them whole (axis "
                     << axis << "); take one column at a time, in a loop";
      return Value();
    } else {
      length = known && more ? index(*known * *more)
                             : Value(arith::MulIOp::create(b, loc, length, size));
    }
  }
  SmallVector<int64_t> lengths = {constantOf(length).value_or(ShapedType::kDynamic), 1};
  Value view = viewOf(window.argument);
  return pto::PartitionViewOp::create(b, loc, pto::PartitionTensorViewType::get(lengths, element),
                                      view, ValueRange{flatOffset(window, {}), index(0)},
                                      ValueRange{length, index(1)});
}

Value PtoEmitter::flatOffset(const Window &window, ArrayRef<Value> indices) {
  const Memory &memory = memoryOf(window.argument);
  SmallVector<Value> at(window.offsets);
  for (auto [axis, position] : llvm::zip(window.axes, indices)) {
    auto known = constantOf(at[axis]);
    at[axis] =
        known && *known == 0 ? position : Value(arith::AddIOp::create(b, loc, at[axis], position));
  }
  if (memory.blocked)
    return blockedOffset(memory, cast<TensorType>(old.getArgument(window.argument).getType()), at);
  Value offset;
  for (auto [axis, position] : llvm::enumerate(at)) {
    if (auto zero = constantOf(position); zero && *zero == 0)
      continue;
    bool unit = axis + 1 == at.size() && memory.columnMajor; // extent 1: only position 0
    auto stride = constantOf(memory.strides[axis]);
    Value term = unit || (stride && *stride == 1)
                     ? position
                     : Value(arith::MulIOp::create(b, loc, position, memory.strides[axis]));
    offset = offset ? Value(arith::AddIOp::create(b, loc, offset, term)) : term;
  }
  return offset ? offset : index(0);
}

LogicalResult PtoEmitter::emitLoad(LoadOp op) {
  Window window = windowOf(op.getTensor());
  auto shape = op->getAttrOfType<DenseI64ArrayAttr>("pypto.window").asArrayRef();
  for (auto [number, offset] : llvm::enumerate(op.getOffsets())) {
    Value more = mapped(offset);
    unsigned axis = window.axes[number];
    auto known = constantOf(window.offsets[axis]);
    window.offsets[axis] = known && *known == 0
                               ? more
                               : Value(arith::AddIOp::create(b, loc, window.offsets[axis], more));
  }
  SmallVector<Value> sizes(window.offsets.size(), index(1));
  for (auto [number, axis] : llvm::enumerate(window.axes))
    sizes[axis] =
        op.getValidShape().empty() ? index(shape[number]) : mapped(op.getValidShape()[number]);
  int rowsFrom = rowAxis(shape);
  auto type = cast<TileType>(op.getType());
  Value rows = rowsFrom >= 0 && !op.getValidShape().empty() ? mapped(op.getValidShape()[rowsFrom])
                                                            : index(type.getShape()[0]);
  Value cols =
      op.getValidShape().empty() ? index(type.getShape()[1]) : mapped(op.getValidShape().back());
  if (rowsFrom < 0 && !op.getValidShape().empty())
    for (size_t axis = 0; axis + 1 < shape.size(); ++axis)
      if (constantOf(op.getValidShape()[axis]) != shape[axis])
        return op.emitError("a window with several leading axes must be valid along all of them");
  Tile &to = define(op.getResult(), rows, cols);
  Value from = partition(window, sizes);
  if (!from)
    return failure();
  instruction("tload", {from, to.handle}, {}, {1, 1, 0, 0, 0, 0});
  return success();
}

LogicalResult PtoEmitter::emitStore(StoreOp op) {
  Window window = windowOf(op.getOutputTensor());
  for (auto [number, offset] : llvm::enumerate(op.getOffsets())) {
    unsigned axis = window.axes[number];
    auto known = constantOf(window.offsets[axis]);
    Value more = mapped(offset);
    window.offsets[axis] = known && *known == 0
                               ? more
                               : Value(arith::AddIOp::create(b, loc, window.offsets[axis], more));
  }
  Tile from = tile(op.getTile());
  ArrayRef<int64_t> shape = *op.getShapes();
  SmallVector<Value> sizes(window.offsets.size(), index(1));
  int rowsFrom = rowAxis(shape);
  for (auto [number, axis] : llvm::enumerate(window.axes)) {
    bool last = number + 1 == shape.size();
    sizes[axis] = last ? from.cols : int(number) == rowsFrom ? from.rows : index(shape[number]);
  }
  if (rowsFrom < 0 && shape.size() > 2 && constantOf(from.rows) != rowsOf(shape))
    return op.emitError(
        "a partly valid value cannot be written to a window with several leading axes");
  Value to = partition(window, sizes);
  if (!to)
    return failure();
  auto atomic = pto::AtomicTypeAttr::get(b.getContext(), op.getAtomic() == "add"
                                                             ? pto::AtomicType::AtomicAdd
                                                             : pto::AtomicType::AtomicNone);
  OperationState state(loc, pto::TStoreOp::getOperationName(), {from.handle, to}, {},
                       {attr("atomicType", atomic),
                        attr("operandSegmentSizes", b.getDenseI32ArrayAttr({1, 0, 0, 1}))});
  b.create(state);
  return success();
}

LogicalResult PtoEmitter::emitElement(Operation *op) {
  auto read = dyn_cast<ReadOp>(op);
  auto write = dyn_cast<WriteOp>(op);
  Value target = read ? read.getSrc() : write.getDst();
  SmallVector<Value> indices;
  for (Value v : read ? read.getIndices() : write.getIndices())
    indices.push_back(mapped(v));
  if (isa<TensorType>(target.getType())) {
    Window window = windowOf(target);
    if (indices.size() != window.axes.size() &&
        indices.size() == 1) // flat position of a packed tensor
      window.axes = {unsigned(window.offsets.size() - 1)};
    Value offset = flatOffset(window, indices);
    Type element = elementTypeOf(target.getType()), plain = signless(element);
    Value pointer = memoryOf(window.argument).pointer;
    if (element != plain)
      pointer = pto::CastPtrOp::create(b, loc, pto::PtrType::get(plain), pointer);
    if (read)
      scalars.map(read.getResult(),
                  pto::LoadScalarOp::create(b, loc, plain, pointer, offset).getValue());
    else
      pto::StoreScalarOp::create(
          b, loc, castScalar(mapped(write.getValue()), write.getValue().getType(), element),
          pointer, offset);
    return success();
  }
  // Windows of tiles are addressed in their base, which has the row length of the bytes.
  Value row = indices[0], col = indices[1];
  while (auto slice = target.getDefiningOp<SliceOp>()) {
    row = arith::AddIOp::create(b, loc, row, mapped(slice.getOffset()[0]));
    col = arith::AddIOp::create(b, loc, col, mapped(slice.getOffset()[1]));
    target = slice.getInput();
  }
  auto offsetIn = [&](Value handle) -> Value {
    int64_t width = cast<pto::TileBufType>(handle.getType()).getCols();
    auto r = constantOf(row), c = constantOf(col);
    if (r && c)
      return index(*r * width + *c);
    if (r && *r == 0)
      return col;
    Value base = width == 1 ? row : Value(arith::MulIOp::create(b, loc, row, index(width)));
    return c && *c == 0 ? base : Value(arith::AddIOp::create(b, loc, base, col));
  };
  if (read) {
    Type plain = signless(read.getType());
    Value handle = tile(target).handle;
    scalars.map(read.getResult(),
                pto::TGetValOp::create(b, loc, plain, handle, offsetIn(handle)).getResult());
    return success();
  }
  Tile from = tile(write.getDst());
  copyInto(write.getDst(), write.getResult());
  Tile &to = define(write.getResult(), from.rows, from.cols);
  Type element = elementTypeOf(write.getDst().getType());
  Value value = castScalar(mapped(write.getValue()), write.getValue().getType(), element);
  pto::TSetValOp::create(b, loc, offsetIn(to.handle), value, to.handle);
  return success();
}

} // namespace pypto
