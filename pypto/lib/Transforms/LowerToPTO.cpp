//===- LowerToPTO.cpp - kernels in the pto dialect ------------------------===//
//
// Values become buffers: each tile gets a handle, carried tiles one handle in front of
// the loop (TileStorage decides who shares), valid extents travel with the handle's type or, where
// they are run-time values, with the operands of alloc_tile and subview. Parameters follow
// spec compiler 12.1, with strides that are not constant last.
//
//===----------------------------------------------------------------------===//
#include "BlockedLayout.h"
#include "PtoEmitter.h"
#include "TensorRoots.h"

using namespace mlir;

namespace pypto {

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

void PtoEmitter::buildSignature() {
  SmallVector<Type> types;
  auto tensorAt = [&](unsigned i) {
    return cast<TensorType>(old.getArgument(params.tensors[i]).getType());
  };
  for (auto [number, arg] : llvm::enumerate(old.getArguments()))
    (isa<TensorType>(arg.getType()) ? params.tensors : params.scalars).push_back(number);
  for (unsigned i = 0; i < params.tensors.size(); ++i)
    types.push_back(pto::PtrType::get(ptoElement(tensorAt(i).getElementType())));
  for (unsigned number : params.scalars)
    types.push_back(signless(old.getArgument(number).getType()));
  // One extent per name, in the order of first appearance; unnamed ones are their own.
  llvm::StringMap<unsigned> named;
  SmallVector<SmallVector<int>> dimParameter(params.tensors.size());
  auto addHidden = [&](KernelSignature::Hidden hidden, Type type) {
    params.hidden.push_back(hidden);
    types.push_back(type);
    return types.size() - 1;
  };
  for (unsigned i = 0; i < params.tensors.size(); ++i) {
    auto names = old.getArgAttrOfType<ArrayAttr>(params.tensors[i], "pypto.dyn");
    for (auto [axis, extent] : llvm::enumerate(tensorAt(i).getShape())) {
      int position = -1;
      if (ShapedType::isDynamic(extent)) {
        StringRef name =
            names && axis < names.size() ? cast<StringAttr>(names[axis]).getValue() : "";
        auto it = name.empty() ? named.end() : named.find(name);
        if (it != named.end()) {
          position = it->second;
        } else {
          position = addHidden({KernelSignature::Hidden::Dim, i, unsigned(axis)}, b.getIndexType());
          if (!name.empty())
            named[name] = position;
        }
      }
      dimParameter[i].push_back(position);
    }
  }
  bool usesIdx = false, usesNum = false, usesSub = false;
  old.walk([&](Operation *op) {
    usesIdx |= isa<GetBlockIdxOp>(op);
    usesNum |= isa<GetBlockNumOp>(op);
    usesSub |= isa<GetSubblockIdxOp>(op);
  });
  SmallVector<std::pair<int, unsigned>> special;
  if (usesIdx || usesNum) {
    special.push_back({KernelSignature::Hidden::BlockIdx,
                       addHidden({KernelSignature::Hidden::BlockIdx}, b.getI32Type())});
    special.push_back({KernelSignature::Hidden::BlockNum,
                       addHidden({KernelSignature::Hidden::BlockNum}, b.getI32Type())});
  }
  if (usesSub)
    special.push_back({KernelSignature::Hidden::SubblockIdx,
                       addHidden({KernelSignature::Hidden::SubblockIdx}, b.getI32Type())});
  SmallVector<SmallVector<int>> strideParameter(params.tensors.size());
  for (unsigned i = 0; i < params.tensors.size(); ++i)
    for (auto [axis, stride] : llvm::enumerate(tensorAt(i).getStrides()))
      strideParameter[i].push_back(
          ShapedType::isDynamic(stride)
              ? int(addHidden({KernelSignature::Hidden::Stride, i, unsigned(axis)},
                              b.getIndexType()))
              : -1);

  b.setInsertionPoint(old);
  made = func::FuncOp::create(b, old.getLoc(), old.getName(), b.getFunctionType(types, {}));
  made->setAttr("pypto.func_type", old->getAttr("pypto.func_type"));
  entry = made.addEntryBlock();
  b.setInsertionPointToStart(entry);
  // A marker that is removed at the end: constants before it, shared buffers behind it.
  headEnd = arith::ConstantIndexOp::create(b, loc, 0);
  for (auto [kind, number] : special)
    specials[kind] = entry->getArgument(number);
  for (auto [i, number] : llvm::enumerate(params.scalars))
    scalars.map(old.getArgument(number), entry->getArgument(params.tensors.size() + i));
  b.setInsertionPoint(headEnd);
  for (unsigned i = 0; i < params.tensors.size(); ++i) {
    TensorType type = tensorAt(i);
    Memory memory;
    memory.pointer = entry->getArgument(i);
    for (auto [axis, extent] : llvm::enumerate(type.getShape()))
      memory.dims.push_back(dimParameter[i][axis] >= 0
                                ? Value(entry->getArgument(dimParameter[i][axis]))
                                : index(extent));
    unsigned rank = type.getRank();
    memory.strides.resize(rank);
    for (int axis = int(rank) - 1; axis >= 0; --axis) {
      if (!type.getStrides().empty()) {
        int64_t stride = type.getStrides()[axis];
        memory.strides[axis] = ShapedType::isDynamic(stride)
                                   ? Value(entry->getArgument(strideParameter[i][axis]))
                                   : index(stride);
        continue;
      }
      if (axis == int(rank) - 1) {
        memory.strides[axis] = index(1);
        continue;
      }
      auto inner = constantOf(memory.strides[axis + 1]), extent = constantOf(memory.dims[axis + 1]);
      if (inner && extent)
        memory.strides[axis] = index(*inner * *extent);
      else if (inner && *inner == 1)
        memory.strides[axis] = memory.dims[axis + 1];
      else
        memory.strides[axis] =
            arith::MulIOp::create(b, loc, memory.strides[axis + 1], memory.dims[axis + 1]);
    }
    memory.blocked = isBlocked(type);
    if (rank >= 2 && type.getShape().back() == 1 && type.getStrides().empty()) {
      memory.columnMajor = true;
      memory.strides.back() = memory.dims[rank - 2];
    }
    memories[params.tensors[i]] = memory;
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Type PtoEmitter::ptoElement(Type element) {
  return isa<Float8E8M0FNUType>(element) ? Type(pto::F8E8M0Type::get(element.getContext()))
                                         : element;
}

Value PtoEmitter::index(int64_t value) {
  Value &constant = constants[value];
  if (!constant) {
    OpBuilder head = OpBuilder::atBlockBegin(entry);
    constant = arith::ConstantIndexOp::create(head, old.getLoc(), value);
  }
  return constant;
}

pto::TileBufType PtoEmitter::bufferType(TileType type, int64_t rows, int64_t cols) {
  using namespace mlir::pto;
  int64_t r = type.getShape()[0], c = type.getShape()[1];
  Type element = ptoElement(type.getElementType());
  auto make = [&](AddressSpace space, BLayout outer, SLayout inner, int64_t fractal) {
    return TileBufType::get(space, r, c, element, rows, cols, outer, inner, fractal);
  };
  switch (type.getMemorySpace()) {
  case MemorySpace::Mat:
    if (isa<pto::F8E8M0Type>(element)) // boxes of scales; those of rhs are marked as transposed
      return type.getTransposed()
                 ? make(AddressSpace::Mat, BLayout::ColMajor, SLayout::ColMajor, 32)
                 : make(AddressSpace::Mat, BLayout::RowMajor, SLayout::RowMajor, 32);
    if (type.getTransposed())
      return make(AddressSpace::Mat, BLayout::RowMajor, SLayout::ColMajor, 512);
    if (r == 1)
      return make(AddressSpace::Mat, BLayout::RowMajor, SLayout::NoneBox, 512);
    return make(AddressSpace::Mat, BLayout::ColMajor, SLayout::RowMajor, 512);
  case MemorySpace::Left:
    return make(AddressSpace::Left, BLayout::ColMajor, SLayout::RowMajor, 512);
  case MemorySpace::Right:
    return make(AddressSpace::Right, BLayout::RowMajor, SLayout::ColMajor, 512);
  case MemorySpace::Acc:
    return make(AddressSpace::Acc, BLayout::ColMajor, SLayout::RowMajor, 1024);
  case MemorySpace::Bias:
    return make(AddressSpace::Bias, BLayout::RowMajor, SLayout::NoneBox, 512);
  case MemorySpace::LeftScale:
    return make(AddressSpace::Scaling, BLayout::RowMajor, SLayout::RowMajor, 32);
  case MemorySpace::RightScale:
    return make(AddressSpace::Scaling, BLayout::ColMajor, SLayout::ColMajor, 32);
  default:
    return make(AddressSpace::Vec, c == 1 && r > 1 ? BLayout::ColMajor : BLayout::RowMajor,
                SLayout::NoneBox, 512);
  }
}

static int64_t elementBytes(Type element) {
  return element.isIndex() ? 8 : std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

/// Reshapes and gathers count the elements of a tile through. Tiles of one width that are
/// converted into each other stay of one width.
void PtoEmitter::findTileForms() {
  old.walk([&](Operation *op) {
    if (isa<ReshapeOp, ReinterpretViewOp, GatherOp, ScatterOp>(op) &&
        isa<TileType>(op->getOperand(0).getType()))
      flatBuffers.insert(storage.bufferOf(op->getOperand(0)));
    if (auto move = dyn_cast<MoveOp>(op)) // a bias is a row, not a matrix of boxes
      if (cast<TileType>(move.getType()).getMemorySpace() == MemorySpace::Bias)
        flatBuffers.insert(storage.bufferOf(move.getTile()));
    if (auto move = dyn_cast<MoveOp>(op)) { // what goes to mat fills boxes before
      auto from = cast<TileType>(move.getTile().getType());
      if (cast<TileType>(move.getType()).getMemorySpace() == MemorySpace::Mat &&
          from.getMemorySpace() == MemorySpace::Vec) {
        int64_t box = std::max<int64_t>(32 / elementBytes(from.getElementType()), 16);
        int64_t &rows = boxRows.try_emplace(from.getShape()[0], box).first->second;
        rows = std::max(rows, box);
        int64_t &least = leastBytes.try_emplace(from.getShape()[1], 32 / box).first->second;
        least = std::min(least, 32 / box);
      }
    }
    for (Value result : op->getResults())
      if (auto type = dyn_cast<TileType>(result.getType())) {
        int64_t bytes = elementBytes(type.getElementType());
        int64_t &least = leastBytes.try_emplace(type.getShape()[1], bytes).first->second;
        least = std::min(least, bytes);
      }
  });
  if (!options.a5)
    return;
  // Its compare instruction has a mask of the operands' shape, of which it fills the bits: rows of
  // bytes, so that the operands' are as wide as those.
  old.walk([&](CmpOp op) { leastBytes[cast<TileType>(op.getLhs().getType()).getShape()[1]] = 1; });
  old.walk([&](CmpOp op) {
    if (auto mask = dyn_cast<TileType>(op.getType()))
      maskColumns[storage.bufferOf(op.getResult())] =
          formOf(cast<TileType>(op.getLhs().getType()), storage.bufferOf(op.getLhs()))
              .getShape()[1];
  });
}

TileType PtoEmitter::physical(TileType type, bool flat) const {
  if (!options.textForm)
    return type;
  int64_t r = type.getShape()[0], c = type.getShape()[1];
  int64_t lane = 32 / elementBytes(type.getElementType());
  auto whole = [&](int64_t rows, int64_t cols) {
    return TileType::get({int64_t(llvm::alignTo(r, rows)), int64_t(llvm::alignTo(c, cols))},
                         type.getElementType(), type.getMemorySpace(), {}, type.getTransposed());
  };
  // An operand of a product has one shape in mat and in left or right, whatever its axes are there.
  int64_t box = std::max<int64_t>(lane, 16);
  switch (type.getMemorySpace()) {
  case MemorySpace::Mat:
    if (isa<Float8E8M0FNUType>(type.getElementType()))
      return type;
    return flat && r == 1 && !type.getTransposed() ? type : whole(box, box);
  case MemorySpace::Left:
  case MemorySpace::Right:
    return whole(box, box);
  case MemorySpace::Acc:
    return whole(16, 16);
  case MemorySpace::None:
  case MemorySpace::Vec: // rows and columns of 32 bytes
    if (c == 1 && r > 1)
      return whole(lane, 1);
    if (flat)
      return r > 1 ? type : whole(1, lane);
    return whole(boxRows.lookup_or(r, 1),
                 32 / leastBytes.lookup_or(c, elementBytes(type.getElementType())));
  default:
    return type;
  }
}

TileType PtoEmitter::formOf(TileType type, unsigned buffer) const {
  type = physical(type, flatBuffers.contains(buffer));
  auto mask = maskColumns.find(buffer);
  return mask == maskColumns.end() ? type
                                   : TileType::get({type.getShape()[0], mask->second},
                                                   type.getElementType(), type.getMemorySpace());
}

Value PtoEmitter::allocate(TileType type, Value rows, Value cols) {
  auto r = constantOf(rows), c = constantOf(cols);
  auto buffer =
      bufferType(type, r.value_or(ShapedType::kDynamic), c.value_or(ShapedType::kDynamic));
  return pto::AllocTileOp::create(b, loc, buffer, Value(), r ? Value() : rows, c ? Value() : cols);
}

Value PtoEmitter::sharedHandle(unsigned number) {
  Value &handle = shared[number];
  if (!handle) {
    OpBuilder::InsertionGuard guard(b);
    // The planner lets a buffer live from where it is made: as late as its members allow.
    if (!options.reuseOperands || !storage.homeOf(number))
      b.setInsertionPointAfter(headEnd);
    const TileStorage::Buffer &buffer = storage.buffers()[number];
    // The valid extents that all members have, if they are constants.
    ArrayRef<int64_t> valid = validShapeOf(buffer.values.front().getType());
    bool same = !ShapedType::isDynamic(valid[0]) && !ShapedType::isDynamic(valid[1]);
    for (Value value : buffer.values)
      same &= validShapeOf(value.getType()) == valid;
    if (!same)
      valid = buffer.type.getShape();
    handle = allocate(formOf(cast<TileType>(buffer.values.front().getType()), number),
                      index(valid[0]), index(valid[1]));
  }
  return handle;
}

Value PtoEmitter::narrowed(Value handle, Value rows, Value cols) {
  auto type = cast<pto::TileBufType>(handle.getType());
  auto r = constantOf(rows), c = constantOf(cols);
  if (r && c && type.getValidRow() == *r && type.getValidCol() == *c)
    return handle;
  auto narrow = type.withValid(r.value_or(ShapedType::kDynamic), c.value_or(ShapedType::kDynamic));
  return pto::SubviewOp::create(b, loc, narrow, handle, ValueRange{index(0), index(0)},
                                b.getDenseI64ArrayAttr({type.getRows(), type.getCols()}),
                                ValueRange{rows, cols});
}

PtoEmitter::Tile &PtoEmitter::define(Value result, Value rows, Value cols) {
  unsigned number = storage.bufferOf(result);
  auto type = cast<TileType>(result.getType());
  Value handle;
  if (storage.buffers()[number].values.size() > 1)
    handle = narrowed(sharedHandle(number), rows, cols);
  else
    handle = allocate(formOf(type, number), rows, cols);
  return tiles[result] = {handle, rows, cols};
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

static bool hasOpenValid(Type type) {
  return llvm::is_contained(validShapeOf(type), ShapedType::kDynamic);
}

void PtoEmitter::addCarried(Value value, Type as, SmallVectorImpl<Value> &out) {
  if (isa<TileType>(as)) {
    if (hasOpenValid(as)) {
      out.push_back(tile(value).rows);
      out.push_back(tile(value).cols);
    }
    return;
  }
  if (!isBuffer(as))
    out.push_back(castScalar(mapped(value), value.getType(), as));
}

void PtoEmitter::carriedTypes(Type type, SmallVectorImpl<Type> &out) {
  if (isa<TileType>(type)) {
    if (hasOpenValid(type))
      out.append(2, b.getIndexType());
  } else if (!isBuffer(type)) {
    out.push_back(signless(type));
  }
}

void PtoEmitter::bindCarried(Value value, ValueRange values, unsigned &next, Value arraySource) {
  Type type = value.getType();
  if (auto tileType = dyn_cast<TileType>(type)) {
    Value rows, cols;
    if (hasOpenValid(type)) {
      rows = values[next++];
      cols = values[next++];
    } else {
      rows = index(tileType.getValidShape()[0]);
      cols = index(tileType.getValidShape()[1]);
    }
    Value handle;
    unsigned number = storage.bufferOf(value);
    if (storage.buffers()[number].values.size() > 1) {
      handle = narrowed(sharedHandle(number), rows, cols);
    } else {
      // A carried tile that nothing else shares still has one handle in front.
      handle = narrowed(sharedHandle(number), rows, cols);
    }
    tiles[value] = {handle, rows, cols};
    return;
  }
  if (isa<ArrayType>(type)) {
    arrays[value] = arrays.lookup(arraySource);
    return;
  }
  scalars.map(value, values[next++]);
}

void PtoEmitter::transfer(ValueRange sources, ValueRange targets) {
  struct Move {
    Tile from;
    unsigned source, target;
    Value to;
  };
  SmallVector<Move> moves;
  for (auto [source, target] : llvm::zip(sources, targets)) {
    if (!isa<TileType>(target.getType()))
      continue;
    unsigned from = storage.bufferOf(source), to = storage.bufferOf(target);
    bool view = viewBase(source) != source &&
                shapeOf(source.getType()) != shapeOf(viewBase(source).getType());
    if (from == to && !view)
      continue;
    moves.push_back({tile(source), from, to, sharedHandle(to)});
  }
  // Nothing is overwritten before it is read; a cycle is broken by a copy.
  while (!moves.empty()) {
    bool progress = false;
    for (unsigned i = 0; i < moves.size(); ++i) {
      bool stillRead = llvm::any_of(llvm::enumerate(moves), [&](auto other) {
        return other.index() != i && other.value().source == moves[i].target;
      });
      if (stillRead)
        continue;
      copy(moves[i].from, moves[i].to);
      moves.erase(moves.begin() + i);
      progress = true;
      break;
    }
    if (progress)
      continue;
    Move &first = moves.front();
    auto type = cast<pto::TileBufType>(first.from.handle.getType());
    auto r = constantOf(first.from.rows), c = constantOf(first.from.cols);
    Value spare = pto::AllocTileOp::create(
        b, loc, type.withValid(r.value_or(ShapedType::kDynamic), c.value_or(ShapedType::kDynamic)),
        Value(), r ? Value() : first.from.rows, c ? Value() : first.from.cols);
    copy(first.from, spare);
    first.from.handle = spare;
    first.source = ~0u;
  }
}

LogicalResult PtoEmitter::emitFor(scf::ForOp op) {
  transfer(op.getInitArgs(), op.getRegionIterArgs());
  SmallVector<Value> inits;
  for (auto [init, arg] : llvm::zip(op.getInitArgs(), op.getRegionIterArgs()))
    addCarried(init, arg.getType(), inits);
  Type counter = op.getInductionVar().getType();
  auto bound = [&](Value v) { return castScalar(mapped(v), v.getType(), counter); };
  auto loop = scf::ForOp::create(b, loc, bound(op.getLowerBound()), bound(op.getUpperBound()),
                                 bound(op.getStep()), inits);
  for (NamedAttribute attribute : op->getDiscardableAttrDictionary())
    loop->setDiscardableAttr(attribute.getName(), attribute.getValue());
  scalars.map(op.getInductionVar(), loop.getInductionVar());
  {
    OpBuilder::InsertionGuard guard(b);
    // With no carried values the builder has made the terminator already.
    if (!loop.getBody()->empty() && loop.getBody()->back().hasTrait<OpTrait::IsTerminator>())
      loop.getBody()->back().erase();
    b.setInsertionPointToStart(loop.getBody());
    unsigned next = 0;
    for (auto [arg, init] : llvm::zip(op.getRegionIterArgs(), op.getInitArgs()))
      bindCarried(arg, loop.getRegionIterArgs(), next, init);
    if (failed(emitBlock(*op.getBody())))
      return failure();
    auto yield = cast<scf::YieldOp>(op.getBody()->getTerminator());
    loc = yield.getLoc();
    transfer(yield.getOperands(), op.getRegionIterArgs());
    SmallVector<Value> handed;
    for (auto [value, arg] : llvm::zip(yield.getOperands(), op.getRegionIterArgs()))
      addCarried(value, arg.getType(), handed);
    scf::YieldOp::create(b, loc, handed);
  }
  unsigned next = 0;
  for (auto [result, init, arg] :
       llvm::zip(op.getResults(), op.getInitArgs(), op.getRegionIterArgs())) {
    bindCarried(result, loop.getResults(), next, init);
    if (isa<TileType>(result.getType()))
      tiles[result].handle =
          narrowed(sharedHandle(storage.bufferOf(arg)), tiles[result].rows, tiles[result].cols);
  }
  return success();
}

LogicalResult PtoEmitter::emitIf(scf::IfOp op) {
  SmallVector<Type> types;
  for (Value result : op.getResults())
    carriedTypes(result.getType(), types);
  for (Value result : op.getResults())
    if (isa<TileType>(result.getType()))
      sharedHandle(storage.bufferOf(result)); // in front of both branches
  bool withElse = !op.getElseRegion().empty() && (!types.empty() || op.getNumResults() > 0 ||
                                                  op.elseBlock()->getOperations().size() > 1);
  auto branch = scf::IfOp::create(b, loc, types, mapped(op.getCondition()), true, withElse);
  auto fill = [&](Block *from, Block *to) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    if (!to->empty())
      to->back().erase();
    b.setInsertionPointToStart(to);
    if (failed(emitBlock(*from)))
      return failure();
    auto yield = cast<scf::YieldOp>(from->getTerminator());
    loc = yield.getLoc();
    transfer(yield.getOperands(), op.getResults());
    SmallVector<Value> values;
    for (auto [value, result] : llvm::zip(yield.getOperands(), op.getResults())) {
      addCarried(value, result.getType(), values);
      if (isa<ArrayType>(result.getType()))
        arrays[result] = arrays.lookup(value);
    }
    scf::YieldOp::create(b, loc, values);
    return success();
  };
  if (failed(fill(op.thenBlock(), branch.thenBlock())))
    return failure();
  if (withElse && failed(fill(op.elseBlock(), branch.elseBlock())))
    return failure();
  unsigned next = 0;
  for (Value result : op.getResults())
    bindCarried(result, branch.getResults(), next, result);
  return success();
}

LogicalResult PtoEmitter::emitWhile(scf::WhileOp op) {
  transfer(op.getInits(), op.getBeforeArguments());
  SmallVector<Value> inits;
  SmallVector<Type> beforeTypes, afterTypes;
  for (auto [init, arg] : llvm::zip(op.getInits(), op.getBeforeArguments())) {
    addCarried(init, arg.getType(), inits);
    carriedTypes(arg.getType(), beforeTypes);
  }
  for (Value arg : op.getAfterArguments())
    carriedTypes(arg.getType(), afterTypes);
  for (Value arg : op.getAfterArguments())
    if (isa<TileType>(arg.getType()))
      sharedHandle(storage.bufferOf(arg));
  auto loop = scf::WhileOp::create(b, loc, afterTypes, inits);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, beforeTypes,
                                SmallVector<Location>(beforeTypes.size(), loc));
  unsigned next = 0;
  for (auto [arg, init] : llvm::zip(op.getBeforeArguments(), op.getInits()))
    bindCarried(arg, before->getArguments(), next, init);
  if (failed(emitBlock(*op.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  transfer(condition.getArgs(), op.getAfterArguments());
  SmallVector<Value> passed;
  for (auto [value, arg] : llvm::zip(condition.getArgs(), op.getAfterArguments()))
    addCarried(value, arg.getType(), passed);
  scf::ConditionOp::create(b, loc, mapped(condition.getCondition()), passed);
  Block *after = b.createBlock(&loop.getAfter(), {}, afterTypes,
                               SmallVector<Location>(afterTypes.size(), loc));
  next = 0;
  for (auto [arg, value] : llvm::zip(op.getAfterArguments(), condition.getArgs()))
    bindCarried(arg, after->getArguments(), next, value);
  if (failed(emitBlock(*op.getAfterBody())))
    return failure();
  auto yield = op.getYieldOp();
  transfer(yield.getOperands(), op.getBeforeArguments());
  SmallVector<Value> handed;
  for (auto [value, arg] : llvm::zip(yield.getOperands(), op.getBeforeArguments()))
    addCarried(value, arg.getType(), handed);
  scf::YieldOp::create(b, loc, handed);
  b.setInsertionPointAfter(loop);
  next = 0;
  for (auto [result, value] : llvm::zip(op.getResults(), condition.getArgs()))
    bindCarried(result, loop.getResults(), next, value);
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult PtoEmitter::emit(Operation *op) {
  loc = op->getLoc();
  if (emitScalar(op))
    return success();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (auto load = dyn_cast<LoadOp>(op))
    return emitLoad(load);
  if (auto store = dyn_cast<StoreOp>(op))
    return emitStore(store);
  if (isa<ReadOp, WriteOp>(op))
    return emitElement(op);
  if (auto dim = dyn_cast<DimOp>(op)) {
    // A window's open extent is an operand of its slice.
    Value tensor = sameTensor(dim.getT());
    if (auto slice = tensor.getDefiningOp<SliceOp>()) {
      unsigned kept = 0;
      for (auto [axis, extent] : llvm::enumerate(slice.getShape()))
        if (!llvm::is_contained(slice.getDropDims(), int64_t(axis)) && kept++ == dim.getAxis())
          scalars.map(dim.getResult(), mapped(extent));
      return success();
    }
    scalars.map(dim.getResult(),
                memoryOf(cast<BlockArgument>(tensor).getArgNumber()).dims[dim.getAxis()]);
    return success();
  }
  if (auto slice = dyn_cast<SliceOp>(op); slice && isa<TensorType>(slice.getType()))
    return success(); // resolved where it is read
  if (isa<func::ReturnOp>(op)) {
    func::ReturnOp::create(b, loc);
    return success();
  }
  const OpRow *row = findOp(op->getName().getStringRef());
  if (!row)
    return op->emitError() << "'" << op->getName() << "' has no place in a kernel";
  return emitTileOp(op, row);
}

LogicalResult PtoEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    if (isa<scf::YieldOp, scf::ConditionOp>(op))
      break;
    if (failed(emit(&op)))
      return failure();
  }
  return success();
}

func::FuncOp PtoEmitter::run() {
  buildSignature();
  if (options.textForm)
    findTileForms();
  b.setInsertionPointToEnd(entry);
  bool ok = succeeded(emitBlock(old.getBody().front())) && succeeded(complete);
  if (ok && options.textForm)
    setKernelKind();
  headEnd->erase();
  if (!ok) {
    made.erase();
    return {};
  }
  return made;
}

/// Names the core in the text form, if the body keeps to one.
void PtoEmitter::setKernelKind() {
  bool cube = false, vector = false;
  made.walk([&](pto::TileOpInterface op) {
    pto::PIPE pipe = cast<pto::PipeOpInterface>(op.getOperation()).getPipe();
    cube |= pipe == pto::PIPE::PIPE_M;
    vector |= pipe == pto::PIPE::PIPE_V;
  });
  if (cube && vector)
    return;
  made->setAttr("pto.kernel_kind",
                pto::KernelKindAttr::get(b.getContext(),
                                         cube ? pto::KernelKind::Cube : pto::KernelKind::Vector));
}

/// What the launch gives goes by name in the text (spec compiler 12.1).
static void nameLaunchArguments(func::FuncOp kernel, const KernelSignature &signature) {
  unsigned first = signature.tensors.size() + signature.scalars.size();
  for (auto [i, hidden] : llvm::enumerate(signature.hidden)) {
    StringRef name = hidden.kind == KernelSignature::Hidden::BlockIdx      ? "block_idx"
                     : hidden.kind == KernelSignature::Hidden::BlockNum    ? "block_num"
                     : hidden.kind == KernelSignature::Hidden::SubblockIdx ? "subblock_idx"
                                                                           : "";
    if (!name.empty())
      kernel.setArgAttr(first + i, "pypto.name",
                        StringAttr::get(kernel.getContext(), "__pypto_spmd_" + name));
  }
}

LogicalResult lowerToPTO(ModuleOp module, const PtoOptions &options) {
  SmallVector<func::FuncOp> kernels;
  for (auto func : module.getOps<func::FuncOp>())
    if (isKernel(func) && !func.isExternal())
      kernels.push_back(func);
  for (func::FuncOp kernel : kernels) {
    PtoEmitter emitter(kernel, options);
    func::FuncOp made = emitter.run();
    if (!made)
      return failure();
    kernel.erase();
    if (options.textForm) {
      made->setAttr("pypto.cpp_entry",
                    StringAttr::get(made.getContext(), kernelWrapper(made, emitter.signature())));
      nameLaunchArguments(made, emitter.signature());
    } else {
      emitKernelEntry(made, emitter.signature(), made);
    }
  }
  return success();
}

} // namespace pypto
