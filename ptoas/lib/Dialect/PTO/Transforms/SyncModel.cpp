//===- SyncModel.cpp - which instructions are ordered before which --------===//
#include "SyncModel.h"
#include "TileRoots.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::pto;

//===----------------------------------------------------------------------===//
// What an instruction touches
//===----------------------------------------------------------------------===//

bool mlir::pto::mayOverlap(const TouchedBytes &a, const TouchedBytes &b) {
  if (a.isGlobal != b.isGlobal)
    return false;
  if (a.isGlobal)
    return !a.root || !b.root || a.root == b.root;
  if (a.root == b.root)
    return true;
  if (a.space != b.space)
    return false;
  if (a.begin >= 0 && b.begin >= 0)
    return a.begin < b.end && b.begin < a.end;
  // Without addresses, different allocations are apart; an address not known could be anywhere.
  return a.root == nullptr || b.root == nullptr;
}

std::optional<PIPE> mlir::pto::getInstructionPipe(Operation *op) {
  if (auto instruction = dyn_cast<PipeOpInterface>(op))
    return instruction.getPipe();
  return std::nullopt;
}

bool mlir::pto::runsInOrder(Operation *op, PIPE pipe) {
  return pipe == PIPE::PIPE_S || (pipe == PIPE::PIPE_V && getTargetArch(op) == Arch::A5);
}

// The pointer that a view or a pointer starts from; null when it cannot be named.
static const void *baseOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<AddPtrOp, CastPtrOp, MakeTensorViewOp, PartitionViewOp>(op))
      return nullptr;
    value = op->getOperand(0);
  }
  return value.getAsOpaquePointer();
}

static TouchedBytes regionOf(Operation *root, bool isWrite) {
  TouchedBytes region{false, root, AddressSpace::Vec, -1, -1, isWrite};
  Value addr;
  int64_t bytes = 0;
  auto describe = [&](TileBufType type, int64_t count) {
    region.space = type.getSpace();
    bytes = type.getSizeInBytes() * count;
  };
  if (auto alloc = dyn_cast<AllocTileOp>(root)) {
    describe(alloc.getResult().getType(), 1);
    addr = alloc.getAddr();
  } else if (auto alloc = dyn_cast<AllocMultiTileOp>(root)) {
    describe(alloc.getResult().getType().getSlotType(), alloc.getResult().getType().getCount());
    addr = alloc.getAddr();
  } else if (auto tile = dyn_cast<TileBufType>(root->getResult(0).getType())) {
    describe(tile, 1);
  }
  APInt constant;
  if (addr && matchPattern(addr, m_ConstantInt(&constant))) {
    region.begin = constant.getSExtValue();
    region.end = region.begin + bytes;
  } else if (addr) {
    region.root = nullptr;
  }
  return region;
}

// A tile that the function was given: apart from all others.
static TouchedBytes regionOfArgument(Value value, bool isWrite) {
  while (Operation *op = value.getDefiningOp()) {
    if (op->getNumOperands() == 0)
      break;
    value = op->getOperand(0);
  }
  AddressSpace space = AddressSpace::Vec;
  if (auto tile = dyn_cast<TileBufType>(value.getType()))
    space = tile.getSpace();
  else if (auto tiles = dyn_cast<MultiTileBufType>(value.getType()))
    space = tiles.getSlotType().getSpace();
  return {false, value.getAsOpaquePointer(), space, -1, -1, isWrite};
}

SmallVector<TouchedBytes> mlir::pto::getRegions(Operation *op) {
  SmallVector<TouchedBytes> regions;
  auto add = [&](Value value, bool isWrite) {
    if (isa<TileBufType, MultiTileBufType>(value.getType())) {
      SmallPtrSet<Operation *, 4> roots;
      collectRoots(value, roots);
      for (Operation *root : roots)
        regions.push_back(regionOf(root, isWrite));
      if (roots.empty())
        regions.push_back(regionOfArgument(value, isWrite));
    } else if (isa<PtrType, TensorViewType, PartitionTensorViewType>(value.getType())) {
      regions.push_back({true, baseOf(value), AddressSpace::Gm, -1, -1, isWrite});
    }
  };
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
    interface.getEffects(effects);
  for (MemoryEffects::EffectInstance &effect : effects)
    if (Value value = effect.getValue(); value && !isa<MemoryEffects::Allocate>(effect.getEffect()))
      add(value, isa<MemoryEffects::Write>(effect.getEffect()));
  return regions;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

unsigned mlir::pto::queueOf(PIPE pipe) {
  return std::min(static_cast<unsigned>(pipe), kQueues - 1);
}

void mlir::pto::join(Clock &into, const Clock &other) {
  for (unsigned i = 0; i < into.size(); ++i)
    into[i] = std::max(into[i], other[i]);
}

static void meet(Clock &into, const Clock &other) {
  for (unsigned i = 0; i < into.size(); ++i)
    into[i] = std::min(into[i], other[i]);
}

// Numbers above what a queue has issued on this way stand for nothing on it: who knows all that
// was issued knows them as well.
void QueueClocks::raise(const Clock &counts) {
  auto each = [&](Clock &clock) {
    for (unsigned q = 0; q < kQueues; ++q)
      if (clock[q] >= issued[q])
        clock[q] = counts[q];
  };
  for (Clock &clock : known)
    each(clock);
  for (auto &[key, flag] : flags)
    each(flag.clock);
}

void QueueClocks::merge(QueueClocks &other, const Clock &counts) {
  raise(counts);
  other.raise(counts);
  join(issued, other.issued);
  for (unsigned q = 0; q < kQueues; ++q)
    meet(known[q], other.known[q]);
  for (const auto &[key, flag] : other.flags) {
    auto [at, isNew] = flags.insert({key, flag});
    if (isNew)
      continue;
    Flag &mine = at->second;
    mine.isSet |= flag.isSet;
    mine.lastWait = std::max(mine.lastWait, flag.lastWait);
    meet(mine.clock, flag.clock);
  }
}

void QueueClocks::barrier(PIPE pipe, const Clock &counts) {
  if (pipe == PIPE::PIPE_ALL) {
    known.fill(counts);
    return;
  }
  unsigned queue = queueOf(pipe);
  known[queue][queue] = counts[queue];
}

Clock KnownInstructions::told(unsigned from, const Clock &counts) const {
  Clock clock = known[from];
  clock[from] = counts[from];
  return clock;
}

bool QueueClocks::isFree(unsigned from, unsigned to, unsigned event, const Clock &atSet) const {
  auto flag = flags.find({from, to, event});
  return flag == flags.end() || (!flag->second.isSet && atSet[to] >= flag->second.lastWait);
}

void SyncModel::merge(State &into, State &other) {
  into.QueueClocks::merge(other, counts_);
  for (const auto &[op, instance] : other.last) {
    auto [it, isNew] = into.last.insert({op, instance});
    if (!isNew && it->second.number < instance.number)
      it->second = instance;
  }
}

// Flags and barriers. Returns false for other ops.
bool SyncModel::sync(Operation *op, State &state) {
  auto set = [&](unsigned from, unsigned to, unsigned id) {
    if (!state.isFree(from, to, id))
      listener_->flagInUse(op);
    QueueClocks::Flag &flag = state.flags[{from, to, id}];
    flag.isSet = true;
    flag.clock = state.told(from, counts_);
  };
  auto wait = [&](unsigned from, unsigned to, unsigned id) {
    QueueClocks::Flag &flag = state.flags[{from, to, id}];
    if (!flag.isSet)
      listener_->neverSet(op);
    flag.isSet = false;
    flag.lastWait = next(state, to);
    join(state.known[to], flag.clock);
  };
  if (auto flag = dyn_cast<SetFlagOp>(op))
    return set(queueOf(flag.getSrcPipe()), queueOf(flag.getDstPipe()),
               static_cast<unsigned>(flag.getEventId())),
           true;
  if (auto flag = dyn_cast<WaitFlagOp>(op))
    return wait(queueOf(flag.getSrcPipe()), queueOf(flag.getDstPipe()),
                static_cast<unsigned>(flag.getEventId())),
           true;
  if (auto event = dyn_cast<RecordEventOp>(op))
    return set(queueOf(getPipeOfEvent(event.getSrcOp())), queueOf(getPipeOfEvent(event.getDstOp())),
               static_cast<unsigned>(event.getEventId())),
           true;
  if (auto event = dyn_cast<WaitEventOp>(op))
    return wait(queueOf(getPipeOfEvent(event.getSrcOp())),
                queueOf(getPipeOfEvent(event.getDstOp())),
                static_cast<unsigned>(event.getEventId())),
           true;
  std::optional<PIPE> barrier;
  if (auto named = dyn_cast<BarrierOp>(op))
    barrier = named.getPipe();
  else if (auto named = dyn_cast<BarrierSyncOp>(op))
    barrier = getPipeOfEvent(named.getOpType());
  if (!barrier)
    return false;
  state.barrier(*barrier, counts_);
  return true;
}

void SyncModel::instruction(Operation *op, PIPE pipe, State &state) {
  unsigned queue = queueOf(pipe), scalar = queueOf(PIPE::PIPE_S);
  Clock &known = state.known[queue];
  // Issued behind everything that the scalar queue has done or waited for.
  join(known, state.known[scalar]);
  known[scalar] = counts_[scalar];
  bool inOrder = runsInOrder(op, pipe);
  SmallVector<TouchedBytes> regions = getRegions(op);
  for (const auto &[earlier, instance] : state.last) {
    if (known[instance.pipe] >= instance.number || (instance.pipe == queue && inOrder))
      continue;
    for (const TouchedBytes &a : instance.regions) {
      const TouchedBytes *hit = llvm::find_if(regions, [&](const TouchedBytes &b) {
        return (a.isWrite || b.isWrite) && mayOverlap(a, b);
      });
      if (hit == regions.end())
        continue;
      listener_->unordered(earlier, op, static_cast<PIPE>(instance.pipe), pipe, *hit);
      break;
    }
  }
  Instance &instance = state.last[op];
  instance = {queue, next(state, queue), std::move(regions)};
  if (queue == scalar)
    known[scalar] = counts_[scalar];
}

void SyncModel::run(Operation *op, State &state) {
  if (std::optional<PIPE> pipe = getInstructionPipe(op)) {
    instruction(op, *pipe, state);
    return;
  }
  if (sync(op, state) || op->getNumRegions() == 0)
    return;
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    State other = state;
    run(branch.getThenRegion().front(), state);
    if (!branch.getElseRegion().empty())
      run(branch.getElseRegion().front(), other);
    merge(state, other);
    return;
  }
  bool isLoop = isa<LoopLikeOpInterface>(op);
  State skipped = state;
  // Walking twice is twice the work per level. The second time around a deep loop, the loops in it
  // are walked once: the first time has shown the orders between their own iterations.
  bool isDeep = isLoop && loopDepth_ >= 4, innerOnce = once_;
  loopDepth_ += isLoop;
  for (unsigned round = 0; round < (isLoop && !innerOnce ? 2u : 1u); ++round) {
    once_ |= isDeep && round == 1;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        run(block, state);
  }
  once_ = innerOnce;
  loopDepth_ -= isLoop;
  if (isLoop)
    merge(state, skipped);
}

void SyncModel::run(Block &block, State &state) {
  for (Operation &op : block)
    run(&op, state);
}

void SyncModel::walk(FunctionOpInterface function, Listener &listener) {
  listener_ = &listener;
  counts_ = {};
  State state;
  for (Block &block : function.getFunctionBody())
    run(block, state);
}
