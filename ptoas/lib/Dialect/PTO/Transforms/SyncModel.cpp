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

// The outer one of two loops around an op, one of them around the other.
static Operation *outerOf(Operation *a, Operation *b) {
  return !a || (b && b->isAncestor(a)) ? b : a;
}

bool TouchedBytes::age(Operation *loop) {
  if (!window || !window->dependsOn(loop))
    return false;
  agedBy = outerOf(agedBy, loop);
  return true;
}

bool mlir::pto::mayOverlap(const TouchedBytes &a, const TouchedBytes &b) {
  if (a.isGlobal != b.isGlobal)
    return false;
  if (a.isGlobal)
    return (!a.root || !b.root || a.root == b.root) &&
           !(a.window && b.window && areDisjoint(*a.window, *b.window, a.agedBy));
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

std::optional<int64_t> mlir::pto::getTripCount(Operation *loop) {
  APInt low, high, step;
  auto forLoop = dyn_cast<scf::ForOp>(loop);
  if (!forLoop || !matchPattern(forLoop.getLowerBound(), m_ConstantInt(&low)) ||
      !matchPattern(forLoop.getUpperBound(), m_ConstantInt(&high)) ||
      !matchPattern(forLoop.getStep(), m_ConstantInt(&step)) || !step.isStrictlyPositive())
    return std::nullopt;
  if (low.sge(high))
    return 0;
  // Unsigned: the distance of two numbers of 64 bits.
  uint64_t distance = high.getSExtValue() - static_cast<uint64_t>(low.getSExtValue());
  return static_cast<int64_t>((distance - 1) / step.getZExtValue()) + 1;
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
      // Of what other ops do with a window it is not said that they stay in it.
      if (isa<TLoadOp, TStoreOp>(op))
        regions.back().window = getGlobalWindow(value);
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
    Instance &mine = it->second;
    mine.number = std::max(mine.number, instance.number);
    mine.agedNumber = std::max(mine.agedNumber, instance.agedNumber);
    mine.agedBy = outerOf(mine.agedBy, instance.agedBy);
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
    bool isOpen = known[instance.pipe] < instance.number;
    bool isAgedOpen = known[instance.pipe] < instance.agedNumber;
    if (!(isOpen || isAgedOpen) || (instance.pipe == queue && inOrder))
      continue;
    for (const TouchedBytes &a : instance.regions) {
      TouchedBytes aged = a;
      aged.agedBy = instance.agedBy;
      const TouchedBytes *hit = llvm::find_if(regions, [&](const TouchedBytes &b) {
        return (a.isWrite || b.isWrite) &&
               ((isOpen && mayOverlap(a, b)) || (isAgedOpen && mayOverlap(aged, b)));
      });
      if (hit == regions.end())
        continue;
      listener_->unordered(earlier, op, static_cast<PIPE>(instance.pipe), pipe, *hit);
      break;
    }
  }
  Instance &instance = state.last[op];
  instance.pipe = queue;
  instance.number = next(state, queue);
  instance.regions = std::move(regions);
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
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    State before = state;
    bool isFirst = true;
    for (Region &region : op->getRegions()) {
      State other = before;
      if (!region.empty())
        run(region.front(), other);
      if (std::exchange(isFirst, false))
        state = std::move(other);
      else
        merge(state, other);
    }
  } else if (isa<LoopLikeOpInterface>(op)) {
    loop(op, state);
  } else {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        run(block, state);
  }
}

void SyncModel::age(Operation *loop, State &state) {
  for (auto &[op, instance] : state.last)
    if (llvm::any_of(instance.regions, [&](TouchedBytes bytes) { return bytes.age(loop); })) {
      instance.agedNumber = std::max(instance.agedNumber, std::exchange(instance.number, 0));
      instance.agedBy = outerOf(instance.agedBy, loop);
    }
}

void SyncModel::loop(Operation *op, State &state) {
  std::optional<int64_t> trips = getTripCount(op);
  if (trips == 0)
    return;
  // Walking twice is twice the work per level. The second time around a deep loop, the loops in it
  // are walked once: the first time has shown the orders between their own iterations.
  bool isDeep = loopDepth_ >= 4, innerOnce = once_;
  ++loopDepth_;
  auto once = [&](Region &region) {
    for (Block &block : region)
      run(block, state);
  };
  // The condition of a while loop is run once more than its body.
  auto whileLoop = dyn_cast<scf::WhileOp>(op);
  if (whileLoop)
    once(whileLoop.getBefore());
  State skipped = state;
  for (unsigned round = 0; round < (innerOnce || trips == 1 ? 1u : 2u); ++round) {
    once_ |= isDeep && round == 1;
    age(op, state);
    if (whileLoop) {
      once(whileLoop.getAfter());
      once(whileLoop.getBefore());
      continue;
    }
    for (Region &region : op->getRegions())
      once(region);
  }
  once_ = innerOnce;
  --loopDepth_;
  if (!trips)
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
