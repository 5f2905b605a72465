//===- InsertSync.cpp - flags and barriers where instructions race --------===//
//
// Asks the model of queues for the first unordered pair of instructions and puts an
// order directly in front of the later one: a barrier when both are in one queue, a
// set_flag and wait_flag pair otherwise, with an event id whose last wait is known to
// have run. Repeats until nothing is left, so what comes out is race-free by the model.
// When no id is free, the order is a barrier of all queues. Functions with flags of
// their own are left alone: their author has taken the job (see pto-check-sync).
//
//===----------------------------------------------------------------------===//
#include "SyncModel.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"

namespace mlir::pto {
#define GEN_PASS_DEF_INSERTSYNC
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

#define DEBUG_TYPE "pto-insert-sync"

using namespace mlir;
using namespace mlir::pto;

namespace {
constexpr unsigned kEvents = 8;

// Keeps what is to be done about the first instruction that races.
struct Finder : SyncModel::Listener {
  Operation *later = nullptr;
  PIPE to = PIPE::PIPE_S;
  SmallVector<PIPE> from;
  Operation *busySet = nullptr;

  void unordered(Operation *, Operation *op, PIPE source, PIPE target,
                 const mlir::pto::TouchedBytes &) override {
    if (!later && !busySet) {
      later = op;
      to = target;
    }
    if (op == later && !busySet && !llvm::is_contained(from, source))
      from.push_back(source);
  }
  void flagInUse(Operation *set) override {
    if (!later && !busySet)
      busySet = set;
  }
  void neverSet(Operation *) override {}
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

  static void orderBefore(Operation *later, PIPE from, PIPE to) {
    OpBuilder builder(later);
    Location loc = later->getLoc();
    if (from == to) {
      BarrierOp::create(builder, loc, to);
      return;
    }
    SetFlagOp::create(builder, loc, from, to, EVENT::EVENT_ID0);
    WaitFlagOp::create(builder, loc, from, to, EVENT::EVENT_ID0);
  }

  // Flags from other queues often order the own queue as well, so they come first.
  static void orderAll(const Finder &finder) {
    bool others = llvm::any_of(finder.from, [&](PIPE from) { return from != finder.to; });
    for (PIPE from : finder.from)
      if (!others || from != finder.to)
        orderBefore(finder.later, from, finder.to);
  }

  // The pair's next event id; a barrier of all queues behind the last one.
  static void useAnotherEvent(Operation *set) {
    auto first = cast<SetFlagOp>(set);
    auto second = cast<WaitFlagOp>(set->getNextNode());
    unsigned id = static_cast<unsigned>(first.getEventId()) + 1;
    if (id < kEvents) {
      first.setEventId(static_cast<EVENT>(id));
      second.setEventId(static_cast<EVENT>(id));
      return;
    }
    OpBuilder builder(set);
    BarrierOp::create(builder, set->getLoc(), PIPE::PIPE_ALL);
    second.erase();
    first.erase();
  }

  LogicalResult insert(FunctionOpInterface function) {
    // Each round adds an order or moves an event id up, both of which are bounded.
    unsigned instructions = 0;
    function->walk([&](Operation *op) { instructions += getInstructionPipe(op).has_value(); });
    for (uint64_t left = uint64_t(instructions) * 12 * (kEvents + 2) + 1; left; --left) {
      Finder finder;
      SyncModel().walk(function, finder);
      if (finder.busySet)
        useAnotherEvent(finder.busySet);
      else if (finder.later)
        orderAll(finder);
      else
        return success();
    }
    return function.emitError() << "internal error: the insertion of flags does not come to an end";
  }

  void runOnOperation() override {
    bool failedAny = false;
    getOperation().walk([&](FunctionOpInterface function) {
      if (!function.isExternal() && !hasOwnFlags(function))
        failedAny |= failed(insert(function));
    });
    if (failedAny)
      signalPassFailure();
  }
};
} // namespace
