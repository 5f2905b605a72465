//===- SyncModel.cpp - which instructions are ordered before which --------===//
#include "SyncModel.h"
#include "TileRoots.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

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

bool mlir::pto::covers(const TouchedBytes &outer, const TouchedBytes &inner) {
  if (outer.isGlobal || !outer.root || !inner.root)
    return false;
  if (outer.begin >= 0 && inner.begin >= 0)
    return outer.begin <= inner.begin && inner.end <= outer.end;
  return outer.root == inner.root;
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
      !matchPattern(forLoop.getStep(), m_ConstantInt(&step)) || !step.isStrictlyPositive() ||
      low.getBitWidth() > 64)
    return std::nullopt;
  if (forLoop.getUnsignedCmp() ? low.uge(high) : low.sge(high))
    return 0;
  uint64_t distance = (high - low).getZExtValue();
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

// The innermost op that is or has both; null if there is none, or if one of them is not known.
static Operation *aroundBoth(Operation *a, Operation *b) {
  if (!a || !b)
    return nullptr;
  auto depth = [](Operation *op) {
    unsigned depth = 0;
    while ((op = op->getParentOp()))
      ++depth;
    return depth;
  };
  unsigned depthOfA = depth(a), depthOfB = depth(b);
  for (; a != b; a = a->getParentOp(), --depthOfA) {
    if (depthOfA < depthOfB) {
      std::swap(a, b);
      std::swap(depthOfA, depthOfB);
    }
  }
  return a;
}

void QueueClocks::merge(QueueClocks &other, const Clock &counts) {
  raise(counts);
  other.raise(counts);
  join(issued, other.issued);
  for (unsigned q = 0; q < kQueues; ++q)
    meet(known[q], other.known[q]);
  for (auto &[key, flag] : flags)
    if (!other.flags.contains(key))
      flag.isSure = false;
  for (const auto &[key, flag] : other.flags) {
    auto [at, isNew] = flags.insert({key, flag});
    if (isNew) {
      at->second.isSure = false;
      continue;
    }
    Flag &mine = at->second;
    mine.isSet |= flag.isSet;
    mine.isSure &= flag.isSure;
    if (!mine.setBy)
      mine.setBy = flag.setBy;
    if (mine.lastWait == 0)
      mine.waitedBy = flag.waitedBy;
    else if (flag.lastWait != 0 && mine.waitedBy != flag.waitedBy)
      mine.waitedBy = aroundBoth(mine.waitedBy, flag.waitedBy);
    mine.lastWait = std::max(mine.lastWait, flag.lastWait);
    meet(mine.clock, flag.clock);
    mine.spans.merge(flag.spans);
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

bool QueueClocks::isFree(unsigned from, unsigned to, unsigned event, const Clock &atSet,
                         llvm::function_ref<bool(const Flag &)> isKnown) const {
  auto at = flags.find({from, to, event});
  if (at == flags.end())
    return true;
  const Flag &flag = at->second;
  return !flag.isSet && (atSet[to] >= flag.lastWait || (flag.waitedBy && isKnown(flag)));
}

void SyncModel::merge(State &into, State &other) {
  into.QueueClocks::merge(other, counts_);
  into.spans.merge(other.spans);
  for (const auto &[op, instance] : other.last) {
    auto [it, isNew] = into.last.insert({op, instance});
    Instance &mine = it->second;
    mine.number = std::max(mine.number, instance.number);
    for (auto [loop, number] : instance.aged)
      mine.age(loop, number);
    mine.covered &= instance.covered;
  }
}

bool FlagSpan::contains(Operation *op) const {
  Operation *inBlock = wait->getBlock()->findAncestorOpInBlock(*op);
  return inBlock && wait->isBeforeInBlock(inBlock) && inBlock->isBeforeInBlock(set);
}

unsigned mlir::pto::knownQueues(const QueueClocks &clocks, unsigned from, const Clock &counts) {
  Clock told = clocks.told(from, counts);
  unsigned queues = 0;
  for (unsigned q = 0; q < kQueues; ++q)
    queues |= unsigned(told[q] >= clocks.issued[q]) << q;
  return queues;
}

void SpanWaits::wait(unsigned span, unsigned queue, const Clock &counts) {
  for (Wait &old : waits)
    if (old.span == span && old.queue == queue)
      return join(old.counts, counts);
  waits.push_back({span, queue, counts});
}

SpanWaits SpanWaits::of(unsigned queue) const {
  SpanWaits told;
  llvm::copy_if(waits, std::back_inserter(told.waits),
                [&](const Wait &wait) { return wait.queue == queue; });
  return told;
}

void SpanWaits::learn(unsigned queue, const SpanWaits &told) {
  for (const Wait &wait : told.waits)
    this->wait(wait.span, queue, wait.counts);
}

void SpanWaits::merge(const SpanWaits &other) {
  llvm::erase_if(waits, [&](Wait &mine) {
    const Wait *theirs = llvm::find_if(other.waits, [&](const Wait &wait) {
      return wait.span == mine.span && wait.queue == mine.queue;
    });
    if (theirs == other.waits.end())
      return true;
    meet(mine.counts, theirs->counts);
    return false;
  });
}

bool SyncModel::isKnown(const SpanWaits &spans, Operation *op, unsigned opQueue, unsigned number,
                        unsigned queue) const {
  return llvm::any_of(spans.waits, [&](const SpanWaits::Wait &wait) {
    const FlagSpan &span = spans_[wait.span];
    return wait.queue == queue && number <= wait.counts[opQueue] && (span.queues >> opQueue & 1) &&
           span.contains(op);
  });
}

// The value of an event that is not known; null if it is, or if `op` is no such op.
static Value unknownEventOf(Operation *op) {
  if (!isa<SetFlagDynOp, WaitFlagDynOp>(op) || matchPattern(op->getOperand(0), m_Constant()))
    return {};
  return op->getOperand(0);
}

Operation *SyncModel::findUnknownEvent(FunctionOpInterface function) {
  Operation *found = nullptr;
  function->walk([&](Operation *op) {
    if (!found && unknownEventOf(op))
      found = op;
  });
  return found;
}

std::optional<SyncModel::FlagUse> SyncModel::describe(Operation *op) {
  auto use = [](bool isSet, PIPE from, PIPE to, uint64_t event, Value unknown = {}) {
    return FlagUse{isSet, queueOf(from), queueOf(to), static_cast<unsigned>(event), unknown};
  };
  auto useOf = [&](auto flag, bool isSet) {
    return use(isSet, flag.getSrcPipe(), flag.getDstPipe(),
               static_cast<uint64_t>(flag.getEventId()));
  };
  auto useOfEvent = [&](auto event, bool isSet) {
    return use(isSet, getPipeOfEvent(event.getSrcOp()), getPipeOfEvent(event.getDstOp()),
               static_cast<uint64_t>(event.getEventId()));
  };
  auto useOfValue = [&](auto flag, bool isSet) {
    APInt constant;
    if (matchPattern(flag.getEventId(), m_ConstantInt(&constant)))
      return use(isSet, flag.getSrcPipe(), flag.getDstPipe(),
                 constant.getLimitedValue(kUnknown - 2));
    auto at = llvm::find(unknown_, flag.getEventId());
    if (at == unknown_.end())
      at = unknown_.insert(at, flag.getEventId());
    return use(isSet, flag.getSrcPipe(), flag.getDstPipe(), kUnknown + (at - unknown_.begin()),
               flag.getEventId());
  };
  return llvm::TypeSwitch<Operation *, std::optional<FlagUse>>(op)
      .Case([&](SetFlagOp flag) { return useOf(flag, true); })
      .Case([&](WaitFlagOp flag) { return useOf(flag, false); })
      .Case([&](RecordEventOp event) { return useOfEvent(event, true); })
      .Case([&](WaitEventOp event) { return useOfEvent(event, false); })
      .Case([&](SetFlagDynOp flag) { return useOfValue(flag, true); })
      .Case([&](WaitFlagDynOp flag) { return useOfValue(flag, false); })
      .Default([](Operation *) { return std::nullopt; });
}

void SyncModel::collectSpans(FunctionOpInterface function) {
  spans_.clear();
  spanOf_.clear();
  spansOfFlag_.clear();
  unknownPairs_.clear();
  function->walk([&](Operation *op) {
    if (std::optional<FlagUse> use = describe(op); use && use->unknown)
      unknownPairs_.insert({use->from, use->to});
  });
  // Those of blocks in which a flag is first waited for: it has been set in front of them.
  function->walk([&](Block *block) {
    if (!block->getParentOp()->getParentOfType<LoopLikeOpInterface>() &&
        !isa<LoopLikeOpInterface>(block->getParentOp()))
      return;
    std::map<std::array<unsigned, 3>, Operation *> waits; // null: not of interest any more
    for (Operation &op : *block) {
      std::optional<FlagUse> use = describe(&op);
      if (!use || unknownPairs_.contains({use->from, use->to}))
        continue;
      std::array<unsigned, 3> flag{use->from, use->to, use->event};
      auto [wait, isFirst] = waits.insert({flag, use->isSet ? nullptr : &op});
      if (isFirst)
        continue;
      if (wait->second && use->isSet) {
        spanOf_[&op] = spans_.size();
        spansOfFlag_[flag].push_back(spans_.size());
        spans_.push_back({wait->second, &op});
      }
      wait->second = nullptr;
    }
  });
}

void SyncModel::setFlag(Operation *op, const FlagUse &use, State &state) {
  QueueClocks::Flag &flag = state.flags[{use.from, use.to, use.event}];
  // An event that only the program knows may be any of those between these queues.
  bool isUnknown = unknownPairs_.contains({use.from, use.to});
  if (flag.isSet && (!isUnknown || use.unknown))
    listener_->flagInUse(op, flag.setBy);
  else if (!isUnknown && !state.isFree(use.from, use.to, use.event, state.known[use.from],
                                       [&](const QueueClocks::Flag &last) {
                                         return isKnown(state.spans, last.waitedBy, use.to,
                                                        last.lastWait, use.from);
                                       }))
    listener_->flagInUse(op, nullptr);
  flag.isSet = flag.isSure = true;
  flag.clock = state.told(use.from, counts_);
  flag.spans = state.spans.of(use.from);
  flag.setBy = op;
  if (auto span = spanOf_.find(op); span != spanOf_.end() && learnsSpans_)
    spans_[span->second].queues &= knownQueues(state, use.from, counts_) | 1u << use.from;
}

void SyncModel::waitFlag(Operation *op, const FlagUse &use, State &state) {
  QueueClocks::Flag &flag = state.flags[{use.from, use.to, use.event}];
  Clock clock = flag.clock;
  bool isExact = !unknownPairs_.contains({use.from, use.to}) || (use.unknown && flag.isSure);
  if (isExact) {
    if (!flag.isSure)
      listener_->neverSet(op, !flag.isSet);
  } else if (unknownEvents_ == UnknownEvents::TellMuch) {
    clock = counts_;
  } else {
    clock = counts_;
    bool isAnySet = false;
    for (const auto &[key, other] : state.flags)
      if (key[0] == use.from && key[1] == use.to && other.setBy) {
        meet(clock, other.clock);
        isAnySet = true;
      }
    if (!isAnySet) {
      listener_->neverSet(op, true);
      clock = {};
    }
  }
  flag.isSet = flag.isSure = false;
  flag.lastWait = next(state, use.to);
  flag.waitedBy = op;
  join(state.known[use.to], clock);
  if (isExact)
    state.spans.learn(use.to, flag.spans);
  if (auto spans = spansOfFlag_.find({use.from, use.to, use.event});
      spans != spansOfFlag_.end() && !learnsSpans_)
    for (unsigned span : spans->second)
      if (!spans_[span].contains(op))
        state.spans.wait(span, use.to, counts_);
}

// Flags and barriers. Returns false for other ops.
bool SyncModel::sync(Operation *op, State &state) {
  if (std::optional<FlagUse> use = describe(op)) {
    use->isSet ? setFlag(op, *use, state) : waitFlag(op, *use, state);
    return true;
  }
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
    auto mayRun = [&, &earlier = earlier, &instance = instance](unsigned number) {
      return known[instance.pipe] < number &&
             !isKnown(state.spans, earlier, instance.pipe, number, queue);
    };
    SmallVector<Operation *, 2> open; // where windows lay in that iteration; null: in this one
    if (mayRun(instance.number))
      open.push_back(nullptr);
    for (auto [loop, number] : instance.aged)
      if (mayRun(number))
        open.push_back(loop);
    if (open.empty() || (instance.pipe == queue && inOrder))
      continue;
    for (const auto &[i, a] : llvm::enumerate(instance.regions)) {
      if (i < 64 && instance.covered >> i & 1)
        continue;
      TouchedBytes aged = a;
      const TouchedBytes *hit = llvm::find_if(regions, [&](const TouchedBytes &b) {
        return (a.isWrite || b.isWrite) && llvm::any_of(open, [&](Operation *loop) {
                 aged.agedBy = loop;
                 return mayOverlap(aged, b);
               });
      });
      if (hit == regions.end())
        continue;
      listener_->unordered(earlier, op, static_cast<PIPE>(instance.pipe), pipe, *hit);
      break;
    }
  }
  state.last.remove_if([&](auto &entry) {
    Instance &instance = entry.second;
    bool isCovered = true;
    for (unsigned i = 0; i < instance.regions.size(); ++i) {
      if (i < 64 && llvm::any_of(
                        regions,
                        [&](const TouchedBytes &bytes) {
                          return bytes.isWrite && covers(bytes, instance.regions[i]);
                        }))
        instance.covered |= uint64_t(1) << i;
      isCovered &= i < 64 && (instance.covered >> i & 1);
    }
    return isCovered;
  });
  Instance &instance = state.last[op];
  instance.pipe = queue;
  instance.number = next(state, queue);
  instance.regions = std::move(regions);
  instance.covered = 0;
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
  // What events are called in this iteration says nothing of those of the last one: they stay as
  // one that tells what all of them do.
  for (unsigned i = 0; i < unknown_.size(); ++i) {
    if (!loop->isAncestor(unknown_[i].getParentBlock()->getParentOp()))
      continue;
    for (auto [from, to] : unknownPairs_)
      if (auto at = state.flags.find({from, to, kUnknown + i});
          at != state.flags.end() && at->second.setBy) {
        QueueClocks::Flag &all = state.flags[{from, to, kUnknown - 1}];
        if (all.setBy)
          meet(all.clock, at->second.clock);
        else
          all = at->second;
        state.flags.erase({from, to, kUnknown + i});
      }
  }
  for (auto &[op, instance] : state.last) {
    if (llvm::none_of(instance.regions, [&](TouchedBytes bytes) { return bytes.age(loop); }))
      continue;
    unsigned number = std::exchange(instance.number, 0);
    llvm::erase_if(instance.aged, [&](auto &older) {
      if (!loop->isAncestor(older.first))
        return false;
      number = std::max(number, older.second);
      return true;
    });
    instance.age(loop, number);
  }
}

void SyncModel::Instance::age(Operation *loop, unsigned number) {
  auto *older = llvm::find_if(aged, [&](auto &entry) { return entry.first == loop; });
  if (older == aged.end())
    aged.push_back({loop, number});
  else
    older->second = std::max(older->second, number);
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

void SyncModel::walk(FunctionOpInterface function, Listener &listener, UnknownEvents unknown) {
  struct : Listener {
    void unordered(Operation *, Operation *, PIPE, PIPE, const TouchedBytes &) override {}
    void flagInUse(Operation *, Operation *) override {}
    void neverSet(Operation *, bool) override {}
    void leftSet(Operation *) override {}
  } nobody;
  unknownEvents_ = unknown;
  collectSpans(function);
  for (bool learns : {true, false}) {
    if (learns && spans_.empty())
      continue;
    learnsSpans_ = learns;
    listener_ = learns ? static_cast<Listener *>(&nobody) : &listener;
    counts_ = {};
    State state;
    for (Block &block : function.getFunctionBody())
      run(block, state);
    for (auto &[key, flag] : state.flags)
      if (flag.isSet && !unknownPairs_.contains({key[0], key[1]}))
        listener_->leftSet(flag.setBy);
  }
}
