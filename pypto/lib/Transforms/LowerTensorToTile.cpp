//===- LowerTensorToTile.cpp - kernel bodies on 2-D tiles -----------------===//
//
// Rebuilds each kernel body: tensor values and N-D tiles become 2-D tiles, global
// memory is touched by load, store, read and write only, broadcasts become row or column
// expansions, comparisons selects, batches single products (spec dsl 17.12). Only parameters keep a
// tensor type, and windows of them that are read element by element.
//
//===----------------------------------------------------------------------===//
#include "TensorRoots.h"
#include "TensorToTile.h"
#include "TileShape.h"
#include "pypto/Transforms/Passes.h"

using namespace mlir;

namespace pypto {

LogicalResult TensorToTile::run() {
  Region &old = kernel.getBody();
  Block &from = old.front();
  Block *to = new Block();
  old.push_back(to);
  for (BlockArgument arg : from.getArguments())
    map.map(arg, to->addArgument(arg.getType(), arg.getLoc()));
  b.setInsertionPointToStart(to);
  entry = to;
  if (failed(lowerBlock(from)))
    return failure();
  from.dropAllReferences();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(from)))
    op.erase();
  from.erase();
  return success();
}

LogicalResult TensorToTile::lowerBlock(Block &block) {
  for (Operation &op : block)
    if (failed(lowerOp(&op)))
      return failure();
  return success();
}

Value TensorToTile::tile(Value old) {
  Value value = map.lookup(old);
  if (isa<TileType>(value.getType()) || !isa<TensorType>(value.getType()))
    return value;
  // Global memory used as a value: all of it.
  ArrayRef<int64_t> shape = shapeOf(old.getType());
  SmallVector<Value> zeros(shape.size(), index(0));
  return load(value, old.getType(), shape, zeros, {}, MemorySpace::Vec);
}

Value TensorToTile::index(int64_t value) {
  Value &constant = constants[value];
  if (!constant) {
    OpBuilder head = OpBuilder::atBlockBegin(entry);
    constant = arith::ConstantIndexOp::create(head, kernel.getLoc(), value);
  }
  return constant;
}

Value TensorToTile::make(StringRef op, Type type, ValueRange operands,
                         ArrayRef<NamedAttribute> attrs) {
  OperationState state(loc, ("pypto." + op).str(), operands, type, attrs);
  return b.create(state)->getResult(0);
}

Value TensorToTile::load(Value memory, Type oldType, ArrayRef<int64_t> window,
                         ArrayRef<Value> offsets, ArrayRef<Value> valid, MemorySpace space) {
  SmallVector<int64_t> staticValid;
  for (Value extent : valid)
    staticValid.push_back(constantOf(extent).value_or(ShapedType::kDynamic));
  if (staticValid == window)
    staticValid.clear();
  TileType type = flatTileType(window, elementTypeOf(oldType), staticValid, space);
  if (cast<TensorType>(memory.getType()).getLayout() == TensorLayout::MXB)
    type = TileType::get(type.getShape(), type.getElementType(), space, type.getValid(),
                         /*transposed=*/true);
  OperationState state(loc, LoadOp::getOperationName());
  state.addOperands(memory);
  state.addOperands(offsets);
  state.addOperands(staticValid.empty() ? ArrayRef<Value>() : valid);
  state.addAttribute("operandSegmentSizes",
                     b.getDenseI32ArrayAttr({1, int32_t(offsets.size()),
                                             staticValid.empty() ? 0 : int32_t(valid.size())}));
  state.addAttribute("target_memory", b.getStringAttr(stringifyMemorySpace(space)));
  state.addAttribute("pypto.window", b.getDenseI64ArrayAttr(window));
  state.addTypes(type);
  return b.create(state)->getResult(0);
}

/// True if every use ends in a matrix product (through views), so that the window goes to the mat
/// buffer.
static bool feedsMatmulOnly(Value value) {
  if (value.use_empty())
    return false;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    StringRef family = findOp(user->getName().getStringRef())
                           ? findOp(user->getName().getStringRef())->family
                           : "";
    bool operand = (family == "matmul" || family == "matmul_bias") ||
                   (family == "matmul_acc" && use.getOperandNumber() > 0);
    bool view = isa<SetValidShapeOp, SliceOp, ReshapeOp, TransposeViewOp>(user) &&
                feedsMatmulOnly(user->getResult(0));
    if (!operand && !view)
      return false;
  }
  return true;
}

LogicalResult TensorToTile::lowerSlice(SliceOp op) {
  Value source = map.lookup(op.getInput());
  SmallVector<Value> offsets = mapped(op.getOffset()), valid = mapped(op.getValidShape());
  ArrayRef<int64_t> dropped = op.getDropDims();
  SmallVector<int64_t> window;
  for (Value extent : op.getShape())
    window.push_back(constantOf(extent).value_or(ShapedType::kDynamic));
  if (isa<TensorType>(source.getType())) {
    // Element reads and windows of windows stay in memory.
    bool elements = !op->use_empty() && llvm::all_of(op->getUsers(), [](Operation *user) {
      return isa<ReadOp, DimOp>(user) || (isa<SliceOp>(user) && !cast<SliceOp>(user).getClamp());
    });
    if (elements) {
      map.map(op.getResult(), b.clone(*op, map)->getResult(0));
      return success();
    }
    if (llvm::is_contained(window, ShapedType::kDynamic))
      return op.emitError("a window that is read in a kernel needs constant extents; give the "
                          "run-time part as valid_shape");
    if (valid.empty() || op.getClamp())
      valid = clampedValid(op.getInput(), source, window, offsets, valid, op.getClamp());
    // Matrices of a batch are cut out of the mat buffer at whole boxes only; a vector may become a
    // column.
    int64_t box = std::max<int64_t>(16, 256 / elementTypeOf(op.getType()).getIntOrFloatBitWidth());
    bool boxes =
        window.size() > 1 && (planesOf(window) == 1 ||
                              (window[window.size() - 2] % box == 0 && window.back() % box == 0));
    map.map(op.getResult(),
            load(source, op.getType(), window, offsets, valid,
                 boxes && feedsMatmulOnly(op.getResult()) ? MemorySpace::Mat : MemorySpace::Vec));
    return success();
  }
  // A window of a value.
  ArrayRef<int64_t> shape = shapeOf(op.getInput().getType());
  if (shape.size() > 2) {
    if (Value parts = windowInPlanes(source, shape, window, offsets)) {
      if (!cast<TileType>(source.getType()).getValid().empty() || !valid.empty())
        return op.emitError("a window over several planes needs a value that is valid as a whole; "
                            "fill the rest with pl.fillpad");
      map.map(op.getResult(), parts);
      return success();
    }
  }
  auto [row, col] = flatIndex(shape, offsets);
  TileType type =
      flatTileType(window, elementTypeOf(op.getType()), validShapeOfWindow(op, window, dropped),
                   cast<TileType>(source.getType()).getMemorySpace());
  SmallVector<Value> operands{source, index(type.getShape()[0]), index(type.getShape()[1]), row,
                              col};
  int axis = rowAxis(window);
  if (!valid.empty()) {
    operands.push_back(axis >= 0 ? valid[axis] : index(type.getShape()[0]));
    operands.push_back(valid.back());
  }
  map.map(op.getResult(), make("slice", type, operands,
                               {attr("operandSegmentSizes",
                                     b.getDenseI32ArrayAttr({1, 2, 2, valid.empty() ? 0 : 2}))}));
  return success();
}

SmallVector<int64_t> TensorToTile::validShapeOfWindow(SliceOp op, ArrayRef<int64_t> window,
                                                      ArrayRef<int64_t> dropped) {
  ArrayRef<int64_t> valid = validShapeOf(op.getType());
  if (valid == shapeOf(op.getType()))
    return {};
  SmallVector<int64_t> full;
  size_t next = 0;
  for (size_t axis = 0; axis < window.size(); ++axis)
    full.push_back(llvm::is_contained(dropped, int64_t(axis)) ? 1 : valid[next++]);
  return full;
}

SmallVector<Value> TensorToTile::clampedValid(Value oldSource, Value source,
                                              ArrayRef<int64_t> window, ArrayRef<Value> offsets,
                                              ArrayRef<Value> valid, bool clamp) {
  ArrayRef<int64_t> shape = shapeOf(oldSource.getType());
  ArrayRef<int64_t> sourceValid = validShapeOf(oldSource.getType());
  SmallVector<Value> result;
  bool narrowed = false;
  for (size_t axis = 0; axis < window.size(); ++axis) {
    Value extent = valid.empty() ? index(window[axis]) : valid[axis];
    bool partial = sourceValid[axis] != shape[axis] && !ShapedType::isDynamic(sourceValid[axis]);
    if (clamp || partial) {
      Value limit =
          ShapedType::isDynamic(sourceValid[axis])
              ? make("dim", b.getIndexType(), source, {attr("axis", b.getI64IntegerAttr(axis))})
              : index(sourceValid[axis]);
      auto offset = constantOf(offsets[axis]);
      if (offset && !ShapedType::isDynamic(sourceValid[axis]) && constantOf(extent)) {
        int64_t left = std::max<int64_t>(0, sourceValid[axis] - *offset);
        extent = index(std::min(*constantOf(extent), left));
      } else {
        Value left = arith::SubIOp::create(b, loc, limit, offsets[axis]);
        left = arith::MaxSIOp::create(b, loc, left, index(0));
        extent = arith::MinSIOp::create(b, loc, extent, left);
      }
      narrowed = true;
    }
    result.push_back(extent);
  }
  return narrowed || !valid.empty() ? result : SmallVector<Value>();
}

std::pair<Value, Value> TensorToTile::flatIndex(ArrayRef<int64_t> shape, ArrayRef<Value> indices) {
  Value row = index(0);
  for (size_t axis = 0; axis + 1 < shape.size(); ++axis) {
    auto known = constantOf(row), next = constantOf(indices[axis]);
    if (known && next) {
      row = index(*known * shape[axis] + *next);
      continue;
    }
    if (!known || *known != 0)
      row = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, row, index(shape[axis])),
                                  indices[axis]);
    else
      row = indices[axis];
  }
  return {row, indices.empty() ? index(0) : indices.back()};
}

/// A written window in the rank of its target: dropped axes and missing leading ones count 1.
SmallVector<int64_t> TensorToTile::windowOfRank(size_t rank, ArrayRef<int64_t> shape,
                                                ArrayRef<int64_t> dropped) {
  SmallVector<int64_t> window;
  if (shape.size() + dropped.size() == rank && !dropped.empty()) {
    size_t next = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      window.push_back(llvm::is_contained(dropped, int64_t(axis)) ? 1 : shape[next++]);
    return window;
  }
  window.assign(shape.begin(), shape.end());
  while (window.size() > rank && window.front() == 1)
    window.erase(window.begin());
  while (window.size() < rank)
    window.insert(window.begin(), 1);
  return window;
}

LogicalResult TensorToTile::store(Value memory, Value oldMemory, Value source, Type oldSource,
                                  ArrayRef<Value> offsets, ArrayRef<int64_t> dropped,
                                  StringRef atomic, Value result) {
  SmallVector<int64_t> window = windowOfRank(offsets.size(), shapeOf(oldSource), dropped);
  if (window.size() != offsets.size())
    return emitError(loc, "the value has rank ")
           << shapeOf(oldSource).size() << ", the window it is written to has rank "
           << offsets.size();
  SmallVector<Value> operands{source, memory};
  operands.append(offsets.begin(), offsets.end());
  make("store", memory.getType(), operands,
       {attr("atomic", b.getStringAttr(atomic)), attr("shapes", b.getDenseI64ArrayAttr(window))});
  map.map(result, memory);
  return success();
}

LogicalResult TensorToTile::lowerAssemble(AssembleOp op) {
  Value target = map.lookup(op.getTarget());
  Value source = tile(op.getSource());
  SmallVector<Value> offsets = mapped(op.getOffset());
  if (isa<TensorType>(target.getType()))
    return store(target, op.getTarget(), source, op.getSource().getType(), offsets,
                 op.getDropDims(), op.getAtomic(), op.getResult());
  if (op.getAtomic() != "none")
    return op.emitError("atomic writes go to global memory");
  ArrayRef<int64_t> shape = shapeOf(op.getTarget().getType());
  SmallVector<int64_t> window =
      windowOfRank(shape.size(), shapeOf(op.getSource().getType()), op.getDropDims());
  if (shape.size() > 2 && window.size() == shape.size()) {
    if (Value joined = assembleInPlanes(target, source, shape, window, offsets)) {
      if (!cast<TileType>(source.getType()).getValid().empty() ||
          !cast<TileType>(target.getType()).getValid().empty())
        return op.emitError("a window over several planes takes values that are valid as a whole; "
                            "fill the rest with pl.fillpad");
      map.map(op.getResult(), joined);
      return success();
    }
  }
  auto [row, col] = flatIndex(shape, offsets);
  TileType type = flatTileType(op.getType(), cast<TileType>(target.getType()).getMemorySpace());
  map.map(op.getResult(), make("assemble", type, {target, source, row, col}));
  return success();
}

LogicalResult TensorToTile::lowerLoad(LoadOp op) {
  ArrayRef<int64_t> window = shapeOf(op.getType());
  SmallVector<int64_t> full(window);
  SmallVector<Value> offsets = mapped(op.getOffsets()), valid = mapped(op.getValidShape());
  while (full.size() < offsets.size())
    full.insert(full.begin(), 1);
  Value source = map.lookup(op.getTensor());
  if (!isa<TensorType>(source.getType()))
    return op.emitError("load reads global memory, this value is on chip");
  valid = clampedValid(op.getTensor(), source, full, offsets, valid, op.getClamp());
  auto space = symbolizeMemorySpace(op.getTargetMemory());
  map.map(op.getResult(),
          load(source, op.getType(), full, offsets, valid, space.value_or(MemorySpace::Vec)));
  return success();
}

LogicalResult TensorToTile::lowerStore(StoreOp op) {
  Value memory = map.lookup(op.getOutputTensor());
  if (!isa<TensorType>(memory.getType()))
    return op.emitError("store writes global memory, this value is on chip");
  Value source = tile(op.getTile());
  Type shaped = op.getTile().getType();
  if (auto shapes = op.getShapes())
    shaped = TileType::get(*shapes, elementTypeOf(shaped));
  return store(memory, op.getOutputTensor(), source, shaped, mapped(op.getOffsets()), {},
               op.getAtomic(), op.getResult());
}

LogicalResult TensorToTile::lowerElement(Operation *op) {
  auto read = dyn_cast<ReadOp>(op);
  auto write = dyn_cast<WriteOp>(op);
  Value oldSource = read ? read.getSrc() : write.getDst();
  Value source = map.lookup(oldSource);
  SmallVector<Value> indices = mapped(read ? read.getIndices() : write.getIndices());
  ArrayRef<int64_t> shape = shapeOf(oldSource.getType());
  SmallVector<Value> operands{source};
  if (write)
    operands.push_back(map.lookup(write.getValue()));
  if (isa<TensorType>(source.getType())) {
    operands.append(indices);
  } else {
    if (indices.size() == 1 && shape.size() > 1) // flat offset
      indices.insert(indices.begin(), index(0));
    auto [row, col] = flatIndex(
        indices.size() == shape.size() ? shape : ArrayRef<int64_t>(shape).take_back(2), indices);
    operands.append({row, col});
  }
  Type type = read ? read.getType() : source.getType();
  Value result = make(read ? "read" : "write", type, operands);
  map.map(op->getResult(0), write && isa<TensorType>(source.getType()) ? source : result);
  return success();
}

LogicalResult TensorToTile::lowerControlFlow(Operation *op) {
  // Tensors of global memory are not carried: they name the same memory on every path.
  auto dropsGlobal = [&](Value value) { return isGlobalMemory(value); };
  SmallVector<Type> types;
  for (Value result : op->getResults()) {
    if (isa<TensorType>(result.getType()) && rootIsGlobal(result)) {
      if (!dropsGlobal(result))
        return op->emitError("a kernel cannot choose between two tensors of global memory at run "
                             "time; write the branch or loop out");
      continue;
    }
    types.push_back(convert(result.getType()));
  }
  auto keptOperands = [&](OperandRange operands, ValueRange results) {
    SmallVector<Value> kept;
    for (auto [operand, result] : llvm::zip(operands, results))
      if (!isa<TensorType>(result.getType()) || !rootIsGlobal(result))
        kept.push_back(coerce(tile(operand), convert(result.getType())));
    return kept;
  };
  OperationState state(loc, op->getName());
  state.addTypes(types);
  state.addAttributes(op->getDiscardableAttrDictionary().getValue());
  auto loop = dyn_cast<scf::ForOp>(op);
  auto whileOp = dyn_cast<scf::WhileOp>(op);
  if (loop) {
    state.addOperands({map.lookup(loop.getLowerBound()), map.lookup(loop.getUpperBound()),
                       map.lookup(loop.getStep())});
    state.addOperands(keptOperands(loop.getInitArgs(), loop.getResults()));
  } else if (whileOp) {
    // Inits go to the "before" block's arguments, whose types may differ from the results'.
    for (auto [init, arg] : llvm::zip(whileOp.getInits(), whileOp.getBeforeArguments()))
      if (!isa<TensorType>(arg.getType()) || !rootIsGlobal(init))
        state.addOperands(coerce(tile(init), convert(arg.getType())));
  } else {
    state.addOperands(mapped(op->getOperands()));
  }
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *made = b.create(state);
  for (auto [oldRegion, newRegion] : llvm::zip(op->getRegions(), made->getRegions())) {
    if (oldRegion.empty())
      continue;
    Block &from = oldRegion.front();
    Block *to = b.createBlock(&newRegion);
    for (auto [number, arg] : llvm::enumerate(from.getArguments())) {
      Value init;
      if (loop && number > 0)
        init = loop.getInitArgs()[number - 1];
      if (whileOp)
        init = whileOp.getInits()[number];
      if (init && isa<TensorType>(arg.getType()) && rootIsGlobal(init)) {
        map.map(arg, map.lookup(init));
        continue;
      }
      map.map(arg, to->addArgument(convert(arg.getType()), arg.getLoc()));
    }
    for (Operation &inner : from.without_terminator())
      if (failed(lowerOp(&inner)))
        return failure();
    loc = from.getTerminator()->getLoc();
    Operation *terminator = from.getTerminator();
    SmallVector<Value> operands;
    unsigned skip = isa<scf::ConditionOp>(terminator) ? 1 : 0;
    if (skip)
      operands.push_back(map.lookup(terminator->getOperand(0)));
    ValueRange carried =
        whileOp && !skip ? ValueRange(whileOp.getBeforeArguments()) : ValueRange(op->getResults());
    for (auto [value, as] : llvm::zip(terminator->getOperands().drop_front(skip), carried)) {
      if (isa<TensorType>(as.getType()) && rootIsGlobal(value))
        continue;
      operands.push_back(coerce(tile(value), convert(as.getType())));
    }
    OperationState end(loc, terminator->getName(), operands, {}, terminator->getAttrs());
    b.create(end);
  }
  b.setInsertionPointAfter(made);
  unsigned next = 0;
  for (Value result : op->getResults()) {
    if (isa<TensorType>(result.getType()) && rootIsGlobal(result))
      map.map(result, map.lookup(sameTensor(result)));
    else
      map.map(result, made->getResult(next++));
  }
  return success();
}

bool TensorToTile::rootIsGlobal(Value value) {
  auto arg = dyn_cast<BlockArgument>(rootOf(value));
  return arg && arg.getOwner()->getParentOp() == kernel && isGlobalMemory(value);
}

Value TensorToTile::coerce(Value value, Type type) {
  // Only the valid extent may differ: what the type leaves open or narrows is carried by the value.
  auto have = dyn_cast<TileType>(value.getType());
  auto want = dyn_cast<TileType>(type);
  if (!have || !want || have == want)
    return value;
  auto as = TileType::get(have.getShape(), have.getElementType(), have.getMemorySpace(),
                          want.getValid(), have.getTransposed());
  if (as == have)
    return value;
  auto pick = [&](unsigned axis) -> Value { return index(have.getValidShape()[axis]); };
  if (ShapedType::isDynamic(have.getValidShape()[0]) ||
      ShapedType::isDynamic(have.getValidShape()[1])) {
    value.setType(as); // the extent is known to the ops that define it
    return value;
  }
  return make("set_validshape", as, {value, pick(0), pick(1)});
}

Type TensorToTile::convert(Type type) {
  if (isa<TensorType, TileType>(type))
    return flatTileType(type);
  return type;
}

LogicalResult TensorToTile::lowerOp(Operation *op) {
  loc = op->getLoc();
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
    return lowerControlFlow(op);
  if (auto slice = dyn_cast<SliceOp>(op))
    return lowerSlice(slice);
  if (auto assemble = dyn_cast<AssembleOp>(op))
    return lowerAssemble(assemble);
  if (auto o = dyn_cast<LoadOp>(op))
    return lowerLoad(o);
  if (auto o = dyn_cast<StoreOp>(op))
    return lowerStore(o);
  if (isa<ReadOp, WriteOp>(op))
    return lowerElement(op);
  if (auto dim = dyn_cast<DimOp>(op)) {
    int64_t extent = shapeOf(dim.getT().getType())[dim.getAxis()];
    map.map(dim.getResult(),
            ShapedType::isDynamic(extent) ? b.clone(*op, map)->getResult(0) : index(extent));
    return success();
  }
  if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op)) { // another valid extent in the type
    map.map(cast.getResult(0), isa<TensorType, TileType>(cast.getType(0))
                                   ? coerce(tile(cast.getOperand(0)), convert(cast.getType(0)))
                                   : map.lookup(cast.getOperand(0)));
    return success();
  }
  const OpRow *row = findOp(op->getName().getStringRef());
  if (!row) {
    b.clone(*op, map); // arith, func.return
    return success();
  }
  if (isa<SplitAivOp>(op))
    return lowerSplit(cast<SplitAivOp>(op));
  return lowerValueOp(op, row);
}

LogicalResult lowerTensorToTile(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    if (isKernel(func) && !func.isExternal())
      if (failed(TensorToTile(func).run()))
        return failure();
  return success();
}

} // namespace pypto
