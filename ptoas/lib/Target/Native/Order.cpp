//===- Order.cpp - tells of the instructions and flags of a running core --===//
//
// With Options::checkOrder each instruction, flag and barrier calls the library when the
// program comes to it (OrderCheck.h), with the bytes that the instruction touches. What is
// constant stands in tables of the module; run-time extents, offsets, addresses and windows
// are given along. The calls touch no tile, so that groups form around them as without.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "ptoas/Dialect/PTO/Transforms/LoweredFifos.h"
#include "ptoas/Target/Native/OrderCheck.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
namespace pto = mlir::pto;
namespace ptoas::native {

static bool isOrder(mlir::Operation *op) {
  return isa<pto::SetFlagOp, pto::WaitFlagOp, pto::SetFlagDynOp, pto::WaitFlagDynOp,
             pto::RecordEventOp, pto::WaitEventOp, pto::GetBufOp, pto::RlsBufOp, pto::GetBufDynOp,
             pto::RlsBufDynOp>(op);
}

/// Whether the program orders its queues itself, here or in what is called from here: then sync
/// insertion leaves it alone. Barriers alone are no such order.
static bool hasOwnFlags(mlir::func::FuncOp function, DenseSet<mlir::Operation *> &seen) {
  if (!seen.insert(function).second)
    return false;
  return function
      ->walk([&](mlir::Operation *op) {
        bool found = isOrder(op);
        if (auto call = dyn_cast<mlir::func::CallOp>(op))
          if (auto callee = mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(
                  op, call.getCalleeAttr()))
            found = hasOwnFlags(callee, seen);
        return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// What looks at this core, asked for at the function's start; null when nobody does.
Value *FunctionEmitter::orderCheck() {
  if (!orderOfFunction) {
    DenseSet<mlir::Operation *> seen;
    Value *where = place(), *own = b.getInt32(hasOwnFlags(source, seen));
    IRBuilder<>::InsertPointGuard guard(b);
    b.SetInsertPoint(entry->getTerminator());
    orderOfFunction = callRuntime("pto_order_begin", {where, own}, b.getPtrTy());
  }
  return orderOfFunction;
}

/// The allocation that a tile is, or is a part of.
static mlir::Value allocationOf(mlir::Value tile) {
  while (mlir::Operation *op = tile.getDefiningOp()) {
    if (!isa<pto::SubviewOp, pto::SubsetOp, pto::TReshapeOp, pto::BitcastOp, pto::MultiTileGetOp>(
            op))
      break;
    tile = op->getOperand(0);
  }
  return tile;
}

/// Where in its root a tile starts.
Value *FunctionEmitter::startOf(mlir::Value handle) {
  const TileInfo &tile = model.info(handle);
  if (tile.exact)
    return index(tile.low);
  mlir::Operation *op = handle.getDefiningOp();
  if (auto get = dyn_cast<pto::MultiTileGetOp>(op))
    return b.CreateAdd(startOf(get.getSource()),
                       b.CreateMul(asIndex(get.getSlot()), index(tile.type.getSizeInBytes())));
  if (isa<pto::SubviewOp, pto::SubsetOp>(op)) {
    const TileInfo &whole = model.info(op->getOperand(0));
    Value *at = b.CreateAdd(b.CreateMul(asIndex(op->getOperand(1)), index(whole.rowStride)),
                            b.CreateMul(asIndex(op->getOperand(2)), index(whole.colStride)));
    return b.CreateAdd(startOf(op->getOperand(0)), b.CreateMul(at, index(bytesOf(whole.elem))));
  }
  if (isa<pto::TReshapeOp, pto::BitcastOp>(op))
    return startOf(op->getOperand(0));
  return asIndex(isa<pto::TAssignOp>(op) ? op->getOperand(1) : op->getOperand(0));
}

/// Columns of boxes follow each other, in each the rows.
static bool isNz(const TileInfo &tile) {
  return !isPacked(tile.elem) && tile.type.isBoxed() && tile.type.isColMajor() &&
         tile.type.getSlayout() == pto::SLayout::RowMajor &&
         tile.type.getSizeInBytes() == tile.rows * tile.cols * bytesOf(tile.elem);
}

FunctionEmitter::ByteRuns FunctionEmitter::windowOfNz(mlir::Value handle, Value *row, Value *col,
                                                      Value *rows, Value *cols) {
  const TileInfo &tile = model.info(handle);
  int64_t boxCols = tile.type.getBoxShape().second, rowBytes = boxCols * bytesOf(tile.elem);
  Value *width = index(boxCols), *pitch = index(tile.rows * rowBytes);
  Value *start = b.CreateAdd(startOf(handle), b.CreateMul(b.CreateUDiv(col, width), pitch));
  Value *last = b.CreateAdd(b.CreateAdd(b.CreateURem(col, width), cols), index(boxCols - 1));
  return {b.CreateAdd(start, b.CreateMul(row, index(rowBytes))), b.CreateUDiv(last, width), pitch,
          b.CreateMul(rows, index(rowBytes))};
}

/// Of the larger tile of an extract or insert: as much as the smaller one holds.
std::optional<FunctionEmitter::ByteRuns> FunctionEmitter::windowOfMove(mlir::Operation &op,
                                                                       mlir::Value handle) {
  bool extracts = isa<pto::TExtractOp, pto::TExtractFpOp>(op);
  if (!extracts && !isa<pto::TInsertOp, pto::TInsertFpOp>(op))
    return std::nullopt;
  auto move = cast<pto::TileOpInterface>(op);
  if (handle != move.getNamedOperand(extracts ? "src" : "dst"))
    return std::nullopt;
  const TileInfo &large = model.info(handle);
  const TileInfo &small = model.info(move.getNamedOperand(extracts ? "dst" : "src"));
  Value *row = asIndex(move.getNamedOperand("row")), *col = asIndex(move.getNamedOperand("col"));
  if (isNz(large) && large.home == handle)
    return windowOfNz(handle, row, col, validRows(small), validCols(small));
  if (large.type.isBoxed() || isPacked(large.elem) || large.colStride != 1)
    return std::nullopt;
  int64_t bytes = bytesOf(large.elem), pitch = large.rowStride * bytes;
  Value *at = b.CreateAdd(b.CreateMul(row, index(pitch)), b.CreateMul(col, index(bytes)));
  return ByteRuns{b.CreateAdd(startOf(handle), at), validRows(small), index(pitch),
                  b.CreateMul(validCols(small), index(bytes))};
}

/// The bytes of a tile that an instruction touches: what is valid of it (pto-isa 2.3), or all.
FunctionEmitter::ByteRuns FunctionEmitter::bytesOfTile(mlir::Value handle, bool whole) {
  const TileInfo &tile = model.info(handle);
  int64_t bytes = bytesOf(tile.elem);
  if (isPacked(tile.elem))
    return {startOf(handle), index(1), index(0), index(tile.type.getSizeInBytes())};
  if (tile.type.isBoxed()) {
    mlir::Value home = model.isTile(tile.home) ? tile.home : handle;
    const TileInfo &all = model.info(home);
    bool isGrid = tile.elem == all.elem && tile.rowStride == all.cols && tile.colStride == 1;
    if (isNz(all) && isGrid && !whole && (home == handle || (tile.exact && all.exact))) {
      int64_t at = home == handle ? 0 : (tile.low - all.low) / bytes;
      return windowOfNz(home, index(at / all.cols), index(at % all.cols), validRows(tile),
                        validCols(tile));
    }
    return {startOf(home), index(1), index(0), index(all.type.getSizeInBytes())};
  }
  Value *rows = whole ? index(tile.rows) : validRows(tile);
  Value *cols = whole ? index(tile.cols) : validCols(tile);
  bool byRows = tile.colStride == 1;
  Value *count = byRows ? rows : cols, *length = byRows ? cols : rows;
  return {startOf(handle), count, index((byRows ? tile.rowStride : tile.colStride) * bytes),
          b.CreateMul(length, index(bytes))};
}

/// Operands whose extents do not say what is touched.
static bool touchesAll(pto::TileOpInterface op, const pto::OperandSpec &spec, mlir::Value tile) {
  if (spec.effect == pto::OperandEffect::Scratch || !tile.getDefiningOp())
    return true;
  if (isa<pto::TFillPadOp, pto::TFillPadInplaceOp, pto::TFillPadExpandOp>(op.getOperation()))
    return spec.effect != pto::OperandEffect::Read;
  if (isa<pto::TLoadOp>(op.getOperation()))
    return cast<pto::TileBufType>(tile.getType()).getPad() != pto::PadValue::Null;
  return isa<pto::TExtractOp, pto::TExtractFpOp, pto::TInsertOp, pto::TInsertFpOp, pto::TGatherOp,
             pto::TGatherBOp, pto::TScatterOp, pto::TGetValOp, pto::TSetValOp, pto::TConcatOp,
             pto::TConcatIdxOp, pto::TMrgSortOp, pto::TSort32Op>(op.getOperation());
}

static std::string nameOfTile(mlir::Value tile) {
  mlir::Operation *op = allocationOf(tile).getDefiningOp();
  if (!op)
    return "a tile";
  if (auto name = op->getAttrOfType<mlir::StringAttr>("pypto.name"))
    return "tile %" + name.str();
  return "the tile of " + pto::placeOf(op->getLoc());
}

/// Of the operands of an instruction: what is constant, and the numbers that come along.
struct FunctionEmitter::OrderOperands {
  SmallVector<Constant *, 6> accesses;
  SmallVector<Value *, 32> numbers;
};

void FunctionEmitter::addTileAccess(OrderOperands &all, mlir::Value tile, const ByteRuns &bytes,
                                    unsigned flags) {
  const TileInfo &info = model.info(tile);
  const TileModel::Root &root = model.roots()[info.root];
  auto space = info.type.getSpace();
  if (root.arena)
    flags |= OrderAccess::Placed;
  Value *parts[] = {bytes.start, bytes.count, bytes.pitch, bytes.run};
  int64_t constants[4] = {};
  bool isConstant = true;
  for (unsigned i = 0; i < 4; ++i) {
    auto *known = dyn_cast<ConstantInt>(parts[i]);
    isConstant &= known != nullptr;
    constants[i] = known ? known->getSExtValue() : 0;
  }
  if (isConstant && (constants[1] <= 0 || constants[3] <= 0))
    return; // nothing of it
  unsigned first = all.numbers.size();
  if (!isConstant) {
    flags |= OrderAccess::Measured;
    all.numbers.append(std::begin(parts), std::end(parts));
  }
  // Arenas are the core's, other tiles the function's.
  int64_t key =
      root.arena ? int64_t(space) : int64_t(1 + owner.orderFunctions) << 32 | int64_t(info.root);
  auto [at, isNew] = orderTiles.try_emplace(allocationOf(tile), owner.orderTiles);
  owner.orderTiles += isNew;
  addAccess(all, nameOfTile(tile), pto::stringifyAddressSpace(space), key, constants, flags,
            at->second, first);
}

void FunctionEmitter::addGlobalAccess(OrderOperands &all, mlir::Value handle,
                                      ArrayRef<Value *> most, unsigned flags) {
  auto found = views.find(handle);
  if (found == views.end())
    return;
  const GmView &view = found->second;
  mlir::Operation *root = view.root ? view.root.getDefiningOp() : nullptr;
  // Slots of FIFOs come back in an order of their own.
  if (isPacked(view.elem) || isa_and_nonnull<mlir::func::CallOp>(root))
    return;
  unsigned first = all.numbers.size();
  unsigned rank = view.sizes.size();
  all.numbers.push_back(b.CreatePtrToInt(view.base, b.getInt64Ty()));
  all.numbers.push_back(b.CreatePtrToInt(value(view.root), b.getInt64Ty()));
  for (auto [axis, size] : enumerate(view.sizes))
    all.numbers.push_back(most.empty() ? size : smaller(size, most[axis]));
  all.numbers.append(view.strides.begin(), view.strides.end());
  int64_t constants[4] = {0, rank, 0, bytesOf(view.elem)};
  addAccess(all, nameOfTensor(handle, source), "", 0, constants, flags | OrderAccess::Global, 0,
            first);
}

void FunctionEmitter::addAccess(OrderOperands &all, const Twine &name, StringRef space, int64_t key,
                                const int64_t (&bytes)[4], unsigned flags, unsigned tile,
                                unsigned first) {
  Constant *fields[] = {
      text(name.str()),     text(space),          b.getInt64(key),
      b.getInt64(bytes[0]), b.getInt64(bytes[1]), b.getInt64(bytes[2]),
      b.getInt64(bytes[3]), b.getInt32(flags),    b.getInt32(owner.orderAccesses++),
      b.getInt32(tile),     b.getInt32(first)};
  all.accesses.push_back(ConstantStruct::getAnon(b.getContext(), fields));
}

/// A string of the module, each text once.
Constant *FunctionEmitter::text(StringRef text) {
  Constant *&known = owner.orderTexts[text];
  if (!known)
    known = b.CreateGlobalString(text);
  return known;
}

static Constant *tableOf(Module &module, Constant *content) {
  auto *table = new GlobalVariable(module, content->getType(), true, GlobalValue::PrivateLinkage,
                                   content, "order");
  table->setAlignment(Align(8));
  return table;
}

void FunctionEmitter::tellOfInstruction(mlir::Operation &op, pto::PIPE pipe) {
  OrderOperands all;
  auto fifo = op.getAttrOfType<pto::PIPEAttr>(pto::kFifoQueueAttr);
  bool pops = fifo && isa<pto::TLoadOp>(op);
  auto tileOp = dyn_cast<pto::TileOpInterface>(op);
  if (!tileOp)
    return;
  ArrayRef<pto::OperandSpec> specs = tileOp.getTileOpInfo().operands;
  for (unsigned i = 0; i < specs.size(); ++i) {
    const pto::OperandSpec &spec = specs[i];
    if (spec.effect == pto::OperandEffect::None)
      continue;
    unsigned flags = 0;
    if (spec.effect == pto::OperandEffect::Read || spec.effect == pto::OperandEffect::ReadWrite)
      flags |= OrderAccess::Reads;
    if (spec.effect != pto::OperandEffect::Read)
      flags |= OrderAccess::Writes;
    for (mlir::Value operand : tileOp.getSpecOperands(i)) {
      if (model.isTile(operand)) {
        if (pops)
          flags |= OrderAccess::Fresh;
        std::optional<ByteRuns> window = windowOfMove(op, operand);
        addTileAccess(all, operand,
                      window ? *window : bytesOfTile(operand, touchesAll(tileOp, spec, operand)),
                      flags);
      } else if (spec.kind == pto::OperandKind::View && !fifo) {
        addGlobalAccess(all, operand, movedExtents(op, operand), flags);
      }
    }
  }
  unsigned flags = 0;
  if (pipe == pto::PIPE::PIPE_S ||
      (pipe == pto::PIPE::PIPE_V && pto::getTargetArch(&op) == pto::Arch::A5))
    flags |= OrderSite::InOrder;
  if (fifo)
    flags |= pops ? OrderSite::Receives : OrderSite::Sends;
  if (isa<pto::TSyncOp>(op))
    flags |= OrderSite::Waits;
  Constant *accesses = ConstantPointerNull::get(b.getPtrTy());
  if (!all.accesses.empty()) {
    auto *type = ArrayType::get(all.accesses.front()->getType(), all.accesses.size());
    accesses = tableOf(owner.module, ConstantArray::get(type, all.accesses));
  }
  std::string queue = pto::stringifyPIPE(pipe).str();
  Constant *fields[] = {text(pto::placeOf(op.getLoc())),
                        text(op.getName().getStringRef()),
                        text(queue),
                        b.getInt32(std::min(unsigned(pipe), 11u)),
                        b.getInt32(flags),
                        b.getInt32(owner.orderSites++),
                        b.getInt32(all.accesses.size()),
                        accesses};
  Value *numbers = ConstantPointerNull::get(b.getPtrTy());
  Value *check = orderCheck();
  if (!all.numbers.empty()) {
    numbers = stackSlot(ArrayType::get(b.getInt64Ty(), all.numbers.size()), "numbers");
    for (auto [i, number] : enumerate(all.numbers))
      b.CreateStore(number, b.CreateConstGEP1_64(b.getInt64Ty(), numbers, i));
  }
  callRuntime(
      "pto_order_instruction",
      {check, tableOf(owner.module, ConstantStruct::getAnon(b.getContext(), fields)), numbers});
}

void FunctionEmitter::tellOfOrder(mlir::Operation &op) {
  using pto::PIPE;
  auto tell = [&](OrderSync::Kind kind, PIPE from, PIPE to, Value *event) {
    std::string names[] = {pto::stringifyPIPE(from).str(), pto::stringifyPIPE(to).str()};
    Constant *fields[] = {text(pto::placeOf(op.getLoc())),
                          text(op.getName().getStringRef()),
                          text(names[0]),
                          text(names[1]),
                          b.getInt32(kind),
                          b.getInt32(std::min(unsigned(from), 11u)),
                          b.getInt32(std::min(unsigned(to), 11u)),
                          b.getInt32(0)};
    Value *check = orderCheck();
    callRuntime(
        "pto_order_sync",
        {check, tableOf(owner.module, ConstantStruct::getAnon(b.getContext(), fields)), event});
  };
  auto barrier = [&](PIPE pipe) {
    tell(pipe == PIPE::PIPE_ALL ? OrderSync::BarrierAll : OrderSync::Barrier, pipe, pipe, index(0));
  };
  auto number = [&](auto event) { return index(int64_t(event)); };
  if (auto flag = dyn_cast<pto::SetFlagOp>(op))
    return tell(OrderSync::Set, flag.getSrcPipe(), flag.getDstPipe(), number(flag.getEventId()));
  if (auto flag = dyn_cast<pto::WaitFlagOp>(op))
    return tell(OrderSync::Wait, flag.getSrcPipe(), flag.getDstPipe(), number(flag.getEventId()));
  if (auto flag = dyn_cast<pto::SetFlagDynOp>(op))
    return tell(OrderSync::Set, flag.getSrcPipe(), flag.getDstPipe(), asIndex(flag.getEventId()));
  if (auto flag = dyn_cast<pto::WaitFlagDynOp>(op))
    return tell(OrderSync::Wait, flag.getSrcPipe(), flag.getDstPipe(), asIndex(flag.getEventId()));
  if (auto event = dyn_cast<pto::RecordEventOp>(op))
    return tell(OrderSync::Set, pto::getPipeOfEvent(event.getSrcOp()),
                pto::getPipeOfEvent(event.getDstOp()), number(event.getEventId()));
  if (auto event = dyn_cast<pto::WaitEventOp>(op))
    return tell(OrderSync::Wait, pto::getPipeOfEvent(event.getSrcOp()),
                pto::getPipeOfEvent(event.getDstOp()), number(event.getEventId()));
  if (auto named = dyn_cast<pto::BarrierOp>(op))
    return barrier(named.getPipe());
  if (auto named = dyn_cast<pto::BarrierSyncOp>(op))
    return barrier(pto::getPipeOfEvent(named.getOpType()));
  // What waits for other cores, or for all transfers, leaves nothing of this core behind.
  if (isa<pto::FenceBarrierAllOp, pto::SyncAllOp>(op))
    return barrier(PIPE::PIPE_ALL);
  if (auto token = dyn_cast<pto::GetBufOp>(op))
    return tell(OrderSync::Take, token.getPipe(), token.getPipe(), number(token.getBufId()));
  if (auto token = dyn_cast<pto::RlsBufOp>(op))
    return tell(OrderSync::Give, token.getPipe(), token.getPipe(), number(token.getBufId()));
  if (auto token = dyn_cast<pto::GetBufDynOp>(op))
    return tell(OrderSync::Take, token.getPipe(), token.getPipe(), asIndex(token.getBufId()));
  if (auto token = dyn_cast<pto::RlsBufDynOp>(op))
    return tell(OrderSync::Give, token.getPipe(), token.getPipe(), asIndex(token.getBufId()));
  bool sends = isa<pto::SyncSetOp, pto::SetCrossBlockOp, pto::SetIntraBlockOp>(op);
  if (sends || isa<pto::SyncWaitOp, pto::WaitCrossBlockOp, pto::WaitIntraBlockOp>(op)) {
    PIPE pipe = op.getAttrOfType<pto::PIPEAttr>("pipe").getValue();
    tell(sends ? OrderSync::Send : OrderSync::Receive, pipe, pipe, index(0));
  }
}

void FunctionEmitter::tellOf(mlir::Operation &op) {
  if (!owner.options.checkOrder || op.getNumRegions())
    return;
  // A FIFO's store or load runs where the push or pop did.
  if (auto fifo = op.getAttrOfType<pto::PIPEAttr>(pto::kFifoQueueAttr))
    return tellOfInstruction(op, fifo.getValue());
  if (auto instruction = dyn_cast<pto::PipeOpInterface>(op))
    return tellOfInstruction(op, instruction.getPipe());
  tellOfOrder(op);
}

} // namespace ptoas::native
