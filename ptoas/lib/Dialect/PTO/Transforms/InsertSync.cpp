//===- InsertSync.cpp - flags and barriers where instructions race --------===//
//
// Walks a function in program order and keeps, for each queue, which instructions of
// every queue are known to be done. Where an instruction touches bytes that an earlier
// one may still be working on, it gets an order: the fewest set_flag and wait_flag pairs
// (a barrier within one queue) that cover all it waits for. The wait stands directly in
// front of it (of the outermost loop around it, when everything to wait for lies before
// that loop), the set as early in the same block as it covers what is waited for, so that
// the setting queue's next instructions are not waited for as well; with an event id whose
// last wait is known there to have run. When no id is free anywhere, the order is a barrier
// of all queues.
//
// A loop is walked twice, which finds the orders between iterations, and again until
// nothing changes. An order that its instruction does not need in any of the last walks
// is taken out if nothing behind it needs it either.
//
// An order from one iteration to the next is a flag carried around the loop: set in front
// of it, in each iteration waited for directly in front of what waits and set again
// directly behind what is waited for, and waited for once more behind the loop. It is
// carried around the outermost loop around which it orders all that it is for, with an
// event that nothing else uses in there. Where no event is left, or where the set behind
// its instruction would wait for as much, it is set and waited for at the start of the
// body.
//
// Functions with flags of their own are left alone: their author has taken the job (see
// pto-check-sync).
//
//===----------------------------------------------------------------------===//
#include "SyncOrders.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include <bit>

namespace mlir::pto {
#define GEN_PASS_DEF_INSERTSYNC
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

#define DEBUG_TYPE "pto-insert-sync"

using namespace mlir;
using namespace mlir::pto;

namespace {
constexpr unsigned kEvents = 8, kMaxLoops = 6;
// How far, in ops of a block, a flag is set in front of its wait.
constexpr unsigned kMaxAhead = 256;
// Orders in front of loops: whether one is needed costs a walk of its own.
constexpr unsigned kMaxHoisted = 16;

constexpr unsigned kNoOrder = ~0u;

class Inserter {
public:
  explicit Inserter(FunctionOpInterface function) : function(function) {}

  void run() {
    // What changes only adds orders, or moves an event id on: the walks come to an end.
    do
      walkAll();
    while (changed);
    SmallVector<unsigned> superfluous;
    for (unsigned i = 0; i < orders.size(); ++i)
      if (!orders[i].isNeeded && orders[i].first)
        superfluous.push_back(i);
    eraseUnneeded(superfluous);
  }

private:
  // Takes out those of the orders that nothing needs when those before them are gone: all of them
  // after one walk if that finds no hazard, else the halves.
  void eraseUnneeded(ArrayRef<unsigned> superfluous) {
    if (superfluous.empty())
      return;
    for (unsigned i : superfluous)
      orders[i].isDisabled = true;
    checkOnly = true;
    sawHazard = false;
    walkAll();
    checkOnly = false;
    for (unsigned i : superfluous) {
      orders[i].isDisabled = false;
      if (!sawHazard)
        erase(orders[i]);
    }
    if (!sawHazard || superfluous.size() == 1)
      return;
    eraseUnneeded(superfluous.take_front(superfluous.size() / 2));
    eraseUnneeded(superfluous.drop_front(superfluous.size() / 2));
  }

  void walkAll() {
    counts = {};
    changed = false;
    if (!checkOnly)
      for (Order &order : orders)
        order.isNeeded = false;
    lastWalk.clear();
    TouchedMemory state;
    for (Block &block : function.getFunctionBody())
      walk(block, state);
    for (Operation *op : replaced) {
      byOp.erase(op);
      op->erase();
    }
    replaced.clear();
  }

  void walk(Block &block, TouchedMemory &state) {
    frames.push_back({&block, {{nullptr, state, counts, state.spans}}});
    // Orders inserted in front of an instruction do not disturb the walk: it goes on behind it.
    for (Operation *op = block.empty() ? nullptr : &block.front(); op; op = op->getNextNode()) {
      walk(op, state);
      if (checkOnly) {
        if (sawHazard)
          break;
        continue; // nothing is inserted
      }
      std::vector<Place> &places = frames.back().places;
      if (places.size() == 2 * kMaxAhead)
        places.erase(places.begin(), places.begin() + kMaxAhead);
      places.push_back({op, state, counts, state.spans});
    }
    if (loopDepth && !checkOnly)
      lastWalk[&block] = std::move(frames.back().places);
    frames.pop_back();
    pending.clear();
  }

  void walk(Operation *op, TouchedMemory &state) {
    if (auto known = byOp.find(op); known != byOp.end()) {
      const Order &order = orders[known->second];
      bool isReplaced = !llvm::is_contained(order.ops(), op);
      if (!order.isDisabled && !isReplaced)
        passOrder(op, known->second, state);
      return;
    }
    const Instruction &instruction = describe(op);
    if (instruction.queue) {
      passInstruction(op, instruction, state);
      return;
    }
    if (auto barrier = dyn_cast<BarrierOp>(op)) {
      apply(barrier.getPipe(), state);
      return;
    }
    if (auto barrier = dyn_cast<BarrierSyncOp>(op)) {
      apply(getPipeOfEvent(barrier.getOpType()), state);
      return;
    }
    if (op->getNumRegions() == 0)
      return;
    if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
      TouchedMemory before = state;
      bool isFirst = true;
      for (Region &region : op->getRegions()) {
        TouchedMemory other = before;
        if (!region.empty())
          walk(region.front(), other);
        if (std::exchange(isFirst, false))
          state = std::move(other);
        else
          state.merge(other, counts);
      }
      return;
    }
    if (!isa<LoopLikeOpInterface>(op)) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          walk(block, state);
      return;
    }
    walkLoop(op, state);
  }

  void walkLoop(Operation *loop, TouchedMemory &state) {
    std::optional<int64_t> trips = getTripCount(loop);
    if (trips == 0)
      return;
    bool isDeep = loopDepth >= kMaxLoops;
    if (isDeep && !checkOnly)
      startWithBarriers(loop);
    ++loopDepth;
    frames.back().loop = loop;
    frames.back().atLoop = counts;
    auto once = [&](Region &region) {
      for (Block &block : region)
        walk(block, state);
    };
    // The condition of a while loop is run once more than its body.
    auto whileLoop = dyn_cast<scf::WhileOp>(loop);
    if (whileLoop)
      once(whileLoop.getBefore());
    TouchedMemory skipped = state;
    for (unsigned round = 0; round < (isDeep || trips == 1 ? 1u : 2u); ++round) {
      state.age(loop);
      if (whileLoop) {
        once(whileLoop.getAfter());
        once(whileLoop.getBefore());
        continue;
      }
      for (Region &region : loop->getRegions())
        once(region);
    }
    --loopDepth;
    frames.back().loop = nullptr;
    // Behind the loop the waits that drain it tell all.
    auto isOver = [&](const SpanWaits::Wait &wait) {
      return !orders[wait.span].loop || orders[wait.span].loop == loop;
    };
    llvm::erase_if(state.spans.waits, isOver);
    for (auto &[key, flag] : state.flags)
      llvm::erase_if(flag.spans.waits, isOver);
    if (!trips)
      state.merge(skipped, counts);
  }

  // Walking twice is twice the work per level. Loops this deep wait for everything in each
  // iteration, so that one walk shows all.
  void startWithBarriers(Operation *loop) {
    for (Region &region : loop->getRegions())
      for (Block &block : region) {
        if (block.empty() || byOp.contains(&block.front()))
          continue;
        OpBuilder builder = OpBuilder::atBlockBegin(&block);
        Operation *barrier = BarrierOp::create(builder, loop->getLoc(), PIPE::PIPE_ALL);
        byOp[barrier] = orders.size();
        orders.push_back({barrier, nullptr, 0});
        changed = true;
      }
  }

  const Instruction &describe(Operation *op) {
    auto [at, isNew] = instructions.try_emplace(op);
    if (isNew && op->getNumRegions() == 0)
      if (std::optional<PIPE> pipe = getInstructionPipe(op)) {
        at->second.queue = queueOf(*pipe);
        at->second.inOrder = runsInOrder(op, *pipe);
        at->second.bytes = getRegions(op);
      }
    return at->second;
  }

  static unsigned spaceOf(const TouchedBytes &bytes) {
    return bytes.isGlobal ? 0 : static_cast<unsigned>(bytes.space);
  }

  // The last instruction of each queue that must be done before one that touches `bytes`.
  // `without`: as if this order were not there.
  Clock wanted(const Instruction &instruction, const TouchedMemory &state,
               unsigned without = kNoOrder) {
    Clock need{};
    auto take = [&](const Accesses &accesses, bool isWrite) {
      if (state.spans.waits.empty() || accesses.hasMore) {
        join(need, isWrite ? accesses.written : accesses.read);
        return;
      }
      for (const Accesses::Site &site : accesses.sites)
        if (site.isWrite == isWrite && site.number > need[site.queue] &&
            !isKnown(site, *instruction.queue, state.spans, without))
          need[site.queue] = site.number;
    };
    for (const TouchedBytes &bytes : instruction.bytes)
      for (const Accesses &accesses : state.memory[spaceOf(bytes)]) {
        bool tellsMore = !isCovered(accesses.written, need) ||
                         (bytes.isWrite && !isCovered(accesses.read, need));
        if (!tellsMore || !mayOverlap(accesses.bytes, bytes))
          continue;
        take(accesses, true);
        if (bytes.isWrite)
          take(accesses, false);
      }
    if (instruction.inOrder)
      need[*instruction.queue] = 0;
    return need;
  }

  // Whether a flag that is carried around a loop has told a queue that an access is done.
  bool isKnown(const Accesses::Site &site, unsigned queue, const SpanWaits &spans,
               unsigned without = kNoOrder) const {
    return llvm::any_of(spans.waits, [&](const SpanWaits::Wait &wait) {
      const Order &order = orders[wait.span];
      return wait.queue == queue && wait.span != without && order.loop && !order.isDisabled &&
             site.number <= wait.counts[site.queue] && (order.span.queues >> site.queue & 1) &&
             order.span.contains(site.op);
    });
  }

  void passInstruction(Operation *op, const Instruction &instruction, TouchedMemory &state) {
    unsigned queue = *instruction.queue, scalar = queueOf(PIPE::PIPE_S);
    Clock &known = state.known[queue];
    // Issued behind everything that the scalar queue has done or waited for.
    auto issue = [&](Clock &clock) {
      join(clock, state.known[scalar]);
      clock[scalar] = counts[scalar];
    };
    issue(known);
    Clock need = wanted(instruction, state);
    if (!isCovered(need, known)) {
      sawHazard = true;
      if (!checkOnly)
        insert(op, queue, need, state);
    }
    for (unsigned i = 0; i < pending.size(); ++i) {
      Clock without = pending.front().before;
      issue(without);
      for (unsigned j = 0; j < pending.size(); ++j)
        if (i != j)
          join(without, pending[j].clock);
      // An order in front of a loop may meet an instruction that it is not for.
      if (checkOnly || pending[i].queue != queue)
        continue;
      Order &order = orders[pending[i].order];
      if (!isCovered(order.loop ? wanted(instruction, state, pending[i].order) : need, without))
        order.isNeeded = true;
    }
    pending.clear();
    unsigned number = state.issued[queue] = ++counts[queue];
    if (queue == scalar)
      known[scalar] = number;
    for (const TouchedBytes &bytes : instruction.bytes) {
      unsigned space = spaceOf(bytes);
      if (bytes.isWrite)
        llvm::erase_if(state.memory[space],
                       [&](const Accesses &a) { return covers(bytes, a.bytes); });
    }
    for (const TouchedBytes &bytes : instruction.bytes)
      state.find(spaceOf(bytes), bytes).add({op, queue, number, bytes.isWrite});
  }

  void insert(Operation *op, unsigned queue, const Clock &need, TouchedMemory &state) {
    SmallVector<unsigned, 8> sources;
    for (unsigned q = 0; q < kQueues; ++q)
      if (need[q] > state.known[queue][q])
        sources.push_back(q);
    // The smallest choice of sources that covers all; the queue itself means a barrier.
    unsigned best = (1u << sources.size()) - 1;
    for (unsigned choice = 1; choice < 1u << sources.size(); ++choice) {
      if (std::popcount(choice) >= std::popcount(best))
        continue;
      Clock known = state.known[queue];
      for (unsigned i = 0; i < sources.size(); ++i)
        if (choice >> i & 1)
          learn(known, sources[i], queue, state);
      if (isCovered(need, known))
        best = choice;
    }
    // Each choice has to tell what it is itself asked for; what no choice is, any that knows it.
    SmallVector<std::pair<unsigned, Clock>, 8> chosen;
    Clock open{};
    for (unsigned i = 0; i < sources.size(); ++i)
      if (unsigned source = sources[i]; best >> i & 1)
        chosen.push_back({source, Clock{}}), chosen.back().second[source] = need[source];
      else
        open[source] = need[source];
    for (auto &[source, asked] : chosen) {
      Clock told{};
      learn(told, source, queue, state);
      for (unsigned q = 0; q < kQueues; ++q)
        if (open[q] && told[q] >= open[q])
          asked[q] = std::exchange(open[q], 0);
    }
    for (const auto &[source, asked] : chosen)
      if (!insertOne(op, source, queue, asked, state))
        return; // a barrier of all queues
  }

  void learn(Clock &known, unsigned from, unsigned to, const TouchedMemory &state) {
    if (from == to)
      known[to] = counts[to];
    else
      join(known, state.told(from, counts));
  }

  // The earliest place of a block that knows what is asked for, among those where an event is free.
  const Place *findPlace(const Frame &frame, unsigned from, unsigned to, const Clock &asked,
                         const TouchedMemory &state, unsigned &event) {
    const Place *place = nullptr;
    for (const Place &candidate : llvm::reverse(frame.places)) {
      if (!isCovered(asked, candidate.told(from)))
        break;
      if (std::optional<unsigned> found = freeEvent(from, to, carriedEvents(from, to), state,
                                                    candidate.queues.known[from], candidate.spans))
        place = &candidate, event = *found;
    }
    return place;
  }

  bool insertOne(Operation *op, unsigned from, unsigned to, const Clock &asked,
                 TouchedMemory &state) {
    changed = true;
    Location loc = op->getLoc();
    auto source = static_cast<PIPE>(from), target = static_cast<PIPE>(to);
    if (from == to) {
      OpBuilder builder(op);
      add(BarrierOp::create(builder, loc, target), nullptr, state);
      return true;
    }
    if (carryAroundLess(op, from, to, asked, state))
      return true;
    // Around the outermost loop behind all that is asked for, else in front of the instruction.
    size_t at = frames.size() - 1;
    const Place *place = nullptr;
    unsigned event = 0;
    for (size_t outer = 0; outer < frames.size() && !place; ++outer)
      if (frames[outer].loop && hoisted < kMaxHoisted && isCovered(asked, frames[outer].atLoop))
        if ((place = findPlace(frames[outer], from, to, asked, state, event)))
          at = outer;
    if (!place)
      place = findPlace(frames[at], from, to, asked, state, event);
    const Frame *frame = &frames[at];
    // Asked for by nothing in this run of the block: perhaps by the run before.
    if (isCovered(asked, frame->places.front().told(from)) &&
        insertCarried(at, op, from, to, asked, state))
      return true;
    hoisted += frame->loop != nullptr;
    OpBuilder builder(frame->loop ? frame->loop : op);
    if (!place) {
      add(BarrierOp::create(builder, loc, PIPE::PIPE_ALL), nullptr, state);
      return false;
    }
    auto id = static_cast<EVENT>(event);
    Operation *wait = WaitFlagOp::create(builder, loc, source, target, id);
    if (!place->after)
      builder.setInsertionPointToStart(frame->block);
    else if (place != &frame->places.back())
      builder.setInsertionPointAfter(place->after);
    else
      builder.setInsertionPoint(wait);
    Operation *set = SetFlagOp::create(builder, loc, source, target, id);
    add(set, wait, state, place->told(from), place->spans);
    return true;
  }

  // Events of flags that are carried around one of the loops that the walk is in.
  unsigned carriedEvents(unsigned from, unsigned to) const {
    unsigned events = 0;
    for (const Frame &frame : frames)
      if (frame.loop)
        if (auto found = eventsOf.find({frame.loop, from, to}); found != eventsOf.end())
          events |= found->second.carried;
    return events;
  }

  void noteEvent(const Order &order, bool isCarried) {
    auto set = cast<SetFlagOp>(order.first);
    unsigned from = queueOf(set.getSrcPipe()), to = queueOf(set.getDstPipe()),
             bit = 1u << static_cast<unsigned>(set.getEventId());
    for (Operation *op = set->getParentOp(); op && op != function; op = op->getParentOp())
      if (isa<LoopLikeOpInterface>(op))
        eventsOf[{op, from, to}].used |= bit;
    if (isCarried)
      eventsOf[{order.loop, from, to}].carried |= bit;
  }

  // An order behind what the last iteration of a loop around frame `at` did, as a flag carried
  // around it. False if there is none, or if it would be no better than one set at the start of
  // the body.
  bool insertCarried(size_t at, Operation *op, unsigned from, unsigned to, const Clock &asked,
                     TouchedMemory &state) {
    for (size_t home = at + 1; home-- > 0;) {
      Block *block = frames[home].block;
      auto last = lastWalk.find(block);
      if (last == lastWalk.end())
        continue;
      Operation *consumer = block->findAncestorOpInBlock(*op);
      const std::vector<Place> &places = last->second;
      const Place *place = findCarriedPlace(places, consumer, from, to, asked);
      if (!place)
        continue;
      Crossing crossing{consumer, from, to};
      if (auto known = carried.find(crossing); known != carried.end()) {
        changed = true;
        Order &order = orders[known->second];
        if (order.first != place->after && order.first->isBeforeInBlock(place->after)) {
          order.first->moveAfter(place->after);
          join(state.known[to], place->told(from));
          return true;
        }
        giveUpCarried(known->second, state);
      }
      SmallVector<size_t, 4> around = loopsAround(home);
      if (around.size() == 1 && isa<LoopLikeOpInterface>(block->getParentOp()) &&
          place->told(from) == places.back().told(from))
        return false;
      for (unsigned i = givenUp[crossing]; i < around.size(); ++i)
        if (addCarried(crossing, around[i], *place, op->getLoc(), state))
          return true;
      return false;
    }
    return false;
  }

  // The frames whose loops a flag of a block of frame `home` can be carried around, the outermost
  // first.
  SmallVector<size_t, 4> loopsAround(size_t home) const {
    SmallVector<size_t, 4> around;
    for (size_t at = 0; at < home; ++at)
      if (frames[at].loop)
        around.push_back(at);
    return around;
  }

  // A flag that is carried around an outer loop tells less than one around an inner one, when what
  // the inner one does may be skipped. Whether one in front of `op` tells enough that way.
  bool carryAroundLess(Operation *op, unsigned from, unsigned to, const Clock &asked,
                       TouchedMemory &state) {
    for (size_t home = frames.size(); home-- > 0;) {
      auto known = carried.find({frames[home].block->findAncestorOpInBlock(*op), from, to});
      if (known == carried.end())
        continue;
      Order &order = orders[known->second];
      SmallVector<size_t, 4> around = loopsAround(home);
      for (size_t i = around.size(); i-- > 0 && frames[around[i]].loop != order.loop;)
        if (Clock told = frames[around[i]].places.back().told(from); isCovered(asked, told)) {
          changed = true;
          order.loop = frames[around[i]].loop;
          order.setInFront->moveBefore(order.loop);
          order.waitBehind->moveAfter(order.loop);
          noteEvent(order, true);
          givenUp[known->first] = i;
          join(state.known[to], told);
          return true;
        }
    }
    return false;
  }

  bool addCarried(const Crossing &crossing, size_t frame, const Place &place, Location loc,
                  TouchedMemory &state) {
    auto [consumer, from, to] = crossing;
    Operation *loop = frames[frame].loop;
    unsigned tried = carriedEvents(from, to) | eventsOf[{loop, from, to}].used;
    std::optional<unsigned> event =
        freeEvent(from, to, tried, state, frames[frame].places.back().queues.known[from],
                  frames[frame].places.back().spans);
    // One stays for orders that are set and waited for in each iteration.
    if (std::popcount(tried) + 1 >= static_cast<int>(kEvents))
      return false;
    if (!event)
      return false;
    auto source = static_cast<PIPE>(from), target = static_cast<PIPE>(to);
    auto id = static_cast<EVENT>(*event);
    Order order{};
    order.loop = loop;
    order.crossing = crossing;
    OpBuilder builder(loop);
    order.setInFront = SetFlagOp::create(builder, loc, source, target, id);
    Operation *behind = loop;
    auto isWaitBehind = [&](Operation *op) {
      auto known = op ? byOp.find(op) : byOp.end();
      return known != byOp.end() && orders[known->second].waitBehind == op;
    };
    while (isWaitBehind(behind->getNextNode()))
      behind = behind->getNextNode();
    builder.setInsertionPointAfter(behind);
    order.waitBehind = WaitFlagOp::create(builder, loc, source, target, id);
    builder.setInsertionPoint(consumer);
    order.wait = WaitFlagOp::create(builder, loc, source, target, id);
    builder.setInsertionPointAfter(place.after);
    order.first = SetFlagOp::create(builder, loc, source, target, id);
    order.span = {order.wait, order.first};
    unsigned number = orders.size();
    for (Operation *op : order.ops())
      byOp[op] = number;
    carried[crossing] = number;
    orders.push_back(order);
    noteEvent(order, true);
    setFlag(cast<SetFlagOp>(order.first), place.told(from), place.spans, state);
    passOrder(order.wait, number, state);
    return true;
  }

  // The next walk finds what it was for, and carries it around one loop less, or around none.
  void giveUpCarried(unsigned number, TouchedMemory &state) {
    changed = true;
    Order &order = orders[number];
    auto set = cast<SetFlagOp>(order.first);
    state.flags.erase({queueOf(set.getSrcPipe()), queueOf(set.getDstPipe()),
                       static_cast<unsigned>(set.getEventId())});
    for (Operation *op : order.ops())
      replaced.push_back(op);
    carried.erase(order.crossing);
    ++givenUp[order.crossing];
    order = Order{};
  }

  // `told`: by the flag, which may be set far in front.
  void add(Operation *first, Operation *wait, TouchedMemory &state, const Clock &told = {},
           const SpanWaits &spans = {}) {
    unsigned number = orders.size();
    orders.push_back({first, wait, 0});
    byOp[first] = number;
    if (!wait)
      return passOrder(first, number, state);
    byOp[wait] = number;
    noteEvent(orders.back(), false);
    setFlag(cast<SetFlagOp>(first), told, spans, state);
    passOrder(wait, number, state);
  }

  // An event that is free for a queue that sets it where it knows `atSet`, and `spans`.
  std::optional<unsigned> freeEvent(unsigned from, unsigned to, unsigned tried,
                                    const TouchedMemory &state, const Clock &atSet,
                                    const SpanWaits &spans) const {
    for (unsigned event = 0; event < kEvents; ++event)
      if (!(tried >> event & 1) && isFree(from, to, event, state, atSet, spans))
        return event;
    return std::nullopt;
  }

  bool isFree(unsigned from, unsigned to, unsigned event, const TouchedMemory &state,
              const Clock &atSet, const SpanWaits &spans) const {
    return state.isFree(from, to, event, atSet, [&](const QueueClocks::Flag &flag) {
      return isKnown({flag.waitedBy, to, flag.lastWait, false}, from, spans);
    });
  }

  static void setFlag(SetFlagOp set, const Clock &told, const SpanWaits &spans,
                      TouchedMemory &state) {
    QueueClocks::Flag &flag = state.flags[{queueOf(set.getSrcPipe()), queueOf(set.getDstPipe()),
                                           static_cast<unsigned>(set.getEventId())}];
    flag.isSet = true;
    flag.clock = told;
    flag.spans = spans.of(queueOf(set.getSrcPipe()));
  }

  void passOrder(Operation *op, unsigned number, TouchedMemory &state) {
    if (auto barrier = dyn_cast<BarrierOp>(op)) {
      unsigned queue = queueOf(barrier.getPipe());
      if (barrier.getPipe() == PIPE::PIPE_ALL) {
        // It also gives events back; that is not weighed here.
        orders[number].isNeeded = true;
        apply(barrier.getPipe(), state);
        return;
      }
      Clock clock{};
      clock[queue] = counts[queue];
      pending.push_back({number, queue, state.known[queue], clock});
      apply(barrier.getPipe(), state);
      return;
    }
    if (auto set = dyn_cast<SetFlagOp>(op)) {
      unsigned from = queueOf(set.getSrcPipe()), to = queueOf(set.getDstPipe());
      if (!isFree(from, to, static_cast<unsigned>(set.getEventId()), state, state.known[from],
                  state.spans)) {
        sawHazard = true;
        if (!checkOnly && orders[number].loop)
          return giveUpCarried(number, state);
        if (!checkOnly && !useAnotherEvent(number, from, to, state))
          return;
      }
      setFlag(set, state.told(from, counts), state.spans, state);
      if (Order &order = orders[number]; order.loop && op == order.first)
        noteSpan(order, knownQueues(state, from, counts) | 1u << from);
      return;
    }
    auto wait = cast<WaitFlagOp>(op);
    unsigned from = queueOf(wait.getSrcPipe()), to = queueOf(wait.getDstPipe());
    QueueClocks::Flag &flag = state.flags[{from, to, static_cast<unsigned>(wait.getEventId())}];
    flag.isSet = false;
    flag.lastWait = state.issued[to] = ++counts[to];
    flag.waitedBy = wait;
    lastWaiter[{from, to, static_cast<unsigned>(wait.getEventId())}] = number;
    pending.push_back({number, to, state.known[to], flag.clock});
    join(state.known[to], flag.clock);
    state.spans.learn(to, flag.spans);
    if (orders[number].loop && op != orders[number].waitBehind)
      state.spans.wait(number, to, counts);
  }

  // What is known less of than was thought, the next walk orders anew.
  void noteSpan(Order &order, unsigned queues) {
    if ((order.span.queues & ~queues) == 0)
      return;
    sawHazard = true;
    if (checkOnly)
      return;
    order.span.queues &= queues;
    changed = true;
  }

  // Gives an order whose event is in use one that it has not had. When there is none, or when it is
  // in its own way, around a loop, the flag is set later; directly in front of its wait already,
  // the order becomes a barrier of all queues. False if the set is not where it was any more.
  bool useAnotherEvent(unsigned number, unsigned from, unsigned to, const TouchedMemory &state) {
    changed = true;
    Order &order = orders[number];
    auto set = cast<SetFlagOp>(order.first);
    auto event = static_cast<unsigned>(set.getEventId());
    bool isLate = set->getNextNode() == order.wait;
    order.triedEvents |= 1u << event;
    bool isOwn = lastWaiter[{from, to, event}] == number;
    if (std::optional<unsigned> other =
            isOwn && !isLate ? std::nullopt
                             : freeEvent(from, to, order.triedEvents | carriedEvents(from, to),
                                         state, state.known[from], state.spans)) {
      set.setEventId(static_cast<EVENT>(*other));
      cast<WaitFlagOp>(order.wait).setEventId(static_cast<EVENT>(*other));
      noteEvent(order, false);
      return true;
    }
    // The walk stands at the set_flag: it stays until the walk has left it.
    replaced.push_back(set);
    OpBuilder builder(order.wait);
    if (!isLate) {
      // Behind the next op from which its queue may learn that the wait has run.
      Operation *next = set->getNextNode();
      while (next != order.wait && !teaches(next, from))
        next = next->getNextNode();
      if (next != order.wait)
        builder.setInsertionPointAfter(next);
      order.first = builder.clone(*set);
      order.triedEvents = 0;
    } else {
      order.first = BarrierOp::create(builder, set->getLoc(), PIPE::PIPE_ALL);
      replaced.push_back(order.wait);
      order.wait = nullptr;
    }
    byOp[order.first] = number;
    return false;
  }

  static bool teaches(Operation *op, unsigned queue) {
    if (auto wait = dyn_cast<WaitFlagOp>(op))
      return queueOf(wait.getDstPipe()) == queue;
    return op->getNumRegions() != 0 || isa<BarrierOp, BarrierSyncOp>(op);
  }

  void apply(PIPE pipe, TouchedMemory &state) {
    state.barrier(pipe, counts);
    if (pipe == PIPE::PIPE_ALL)
      pending.clear();
  }

  void erase(Order &order) {
    for (Operation *op : order.ops())
      if (op) {
        byOp.erase(op);
        op->erase();
      }
    order = Order{};
  }

  FunctionOpInterface function;
  Clock counts{};
  std::vector<Order> orders;
  llvm::DenseMap<Operation *, unsigned> byOp;
  llvm::DenseMap<Operation *, Instruction> instructions;
  SmallVector<Pending, 4> pending;
  SmallVector<Operation *, 4> replaced;
  std::vector<Frame> frames;                            // blocks around the op that the walk is at
  llvm::DenseMap<Block *, std::vector<Place>> lastWalk; // of blocks in loops
  std::map<Crossing, unsigned> carried;                 // orders
  std::map<Crossing, unsigned> givenUp; // outer loops that it cannot be carried around
  // By loop and queues.
  std::map<std::tuple<Operation *, unsigned, unsigned>, Events> eventsOf;
  std::map<std::array<unsigned, 3>, unsigned> lastWaiter; // orders, by queues and event
  unsigned loopDepth = 0, hoisted = 0;
  bool changed = false, checkOnly = false, sawHazard = false;
};

struct InsertSync : mlir::pto::impl::InsertSyncBase<InsertSync> {
  static bool hasOwnFlags(FunctionOpInterface function) {
    return function
        ->walk([](Operation *op) {
          return isa<SetFlagOp, WaitFlagOp, SetFlagDynOp, WaitFlagDynOp, RecordEventOp, WaitEventOp,
                     GetBufOp, RlsBufOp>(op)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  void runOnOperation() override {
    getOperation().walk([&](FunctionOpInterface function) {
      if (!function.isExternal() && !hasOwnFlags(function))
        Inserter(function).run();
    });
  }
};
} // namespace
