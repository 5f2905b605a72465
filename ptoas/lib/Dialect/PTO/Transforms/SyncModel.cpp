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
  if (isa<TPushToAivOp, TPushToAicOp>(op)) {
    bool acc = cast<TileBufType>(op->getOperand(0).getType()).getSpace() == AddressSpace::Acc;
    return acc ? PIPE::PIPE_FIX : PIPE::PIPE_MTE3;
  }
  if (isa<TPopFromAicOp, TPopFromAivOp>(op))
    return getTargetArch(op) == Arch::A5 ? PIPE::PIPE_S : PIPE::PIPE_MTE2;
  return std::nullopt;
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
  if (isa<TPopFromAicOp, TPopFromAivOp>(op)) {
    add(op->getResult(0), true);
    return regions;
  }
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
    interface.getEffects(effects);
  for (MemoryEffects::EffectInstance &effect : effects)
    if (Value value = effect.getValue())
      add(value, isa<MemoryEffects::Write>(effect.getEffect()));
  return regions;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

static unsigned indexOf(PIPE pipe) {
  return static_cast<unsigned>(pipe) < 11 ? static_cast<unsigned>(pipe) : 11;
}

template <typename ClockT> static void join(ClockT &into, const ClockT &other) {
  for (unsigned i = 0; i < into.size(); ++i)
    into[i] = std::max(into[i], other[i]);
}

// Numbers above what a queue has issued on the way to `state` stand for nothing on it: who knows
// all that was issued knows them as well.
void SyncModel::raise(State &state) {
  auto each = [&](Clock &clock) {
    for (unsigned q = 0; q < kPipes; ++q)
      if (clock[q] >= state.issued[q])
        clock[q] = counts_[q];
  };
  for (Clock &clock : state.known)
    each(clock);
  for (auto &[key, flag] : state.flags)
    each(flag.clock);
}

// After a branch only what both ways know is known.
void SyncModel::merge(State &into, State &other) {
  raise(into);
  raise(other);
  join(into.issued, other.issued);
  for (unsigned p = 0; p < kPipes; ++p)
    for (unsigned q = 0; q < kPipes; ++q)
      into.known[p][q] = std::min(into.known[p][q], other.known[p][q]);
  for (const auto &[op, instance] : other.last) {
    auto [it, isNew] = into.last.insert({op, instance});
    if (!isNew && it->second.number < instance.number)
      it->second = instance;
  }
  for (const auto &[key, flag] : other.flags) {
    auto [at, isNew] = into.flags.insert({key, flag});
    if (isNew)
      continue;
    Flag &mine = at->second;
    mine.isSet |= flag.isSet;
    mine.lastWait = std::max(mine.lastWait, flag.lastWait);
    for (unsigned q = 0; q < kPipes; ++q)
      mine.clock[q] = std::min(mine.clock[q], flag.clock[q]);
  }
}

// Flags and barriers. Returns false for other ops.
bool SyncModel::sync(Operation *op, State &state) {
  auto set = [&](unsigned from, unsigned to, unsigned id) {
    Flag &flag = state.flags[{from, to, id}];
    if (flag.isSet || state.known[from][to] < flag.lastWait)
      listener_->flagInUse(op);
    flag.isSet = true;
    flag.clock = state.known[from];
    flag.clock[from] = counts_[from];
  };
  auto wait = [&](unsigned from, unsigned to, unsigned id) {
    Flag &flag = state.flags[{from, to, id}];
    if (!flag.isSet)
      listener_->neverSet(op);
    flag.isSet = false;
    flag.lastWait = next(state, to);
    join(state.known[to], flag.clock);
  };
  if (auto flag = dyn_cast<SetFlagOp>(op))
    return set(indexOf(flag.getSrcPipe()), indexOf(flag.getDstPipe()),
               static_cast<unsigned>(flag.getEventId())),
           true;
  if (auto flag = dyn_cast<WaitFlagOp>(op))
    return wait(indexOf(flag.getSrcPipe()), indexOf(flag.getDstPipe()),
                static_cast<unsigned>(flag.getEventId())),
           true;
  if (auto event = dyn_cast<RecordEventOp>(op))
    return set(indexOf(getPipeOfEvent(event.getSrcOp())), indexOf(getPipeOfEvent(event.getDstOp())),
               static_cast<unsigned>(event.getEventId())),
           true;
  if (auto event = dyn_cast<WaitEventOp>(op))
    return wait(indexOf(getPipeOfEvent(event.getSrcOp())),
                indexOf(getPipeOfEvent(event.getDstOp())),
                static_cast<unsigned>(event.getEventId())),
           true;
  std::optional<PIPE> barrier;
  if (auto named = dyn_cast<BarrierOp>(op))
    barrier = named.getPipe();
  else if (auto named = dyn_cast<BarrierSyncOp>(op))
    barrier = getPipeOfEvent(named.getOpType());
  if (!barrier)
    return false;
  if (*barrier == PIPE::PIPE_ALL) {
    for (Clock &clock : state.known)
      clock = counts_;
  } else {
    unsigned pipe = indexOf(*barrier);
    state.known[pipe][pipe] = counts_[pipe];
  }
  return true;
}

void SyncModel::instruction(Operation *op, PIPE pipe, State &state) {
  unsigned queue = indexOf(pipe), scalar = indexOf(PIPE::PIPE_S);
  Clock &known = state.known[queue];
  // Issued behind everything that the scalar queue has done or waited for.
  join(known, state.known[scalar]);
  known[scalar] = counts_[scalar];
  bool inOrder = pipe == PIPE::PIPE_S || (pipe == PIPE::PIPE_V && getTargetArch(op) == Arch::A5);
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
  for (unsigned round = 0; round < (isLoop ? 2u : 1u); ++round)
    for (Region &region : op->getRegions())
      for (Block &block : region)
        run(block, state);
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
