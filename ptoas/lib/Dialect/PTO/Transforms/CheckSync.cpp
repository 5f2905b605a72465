//===- CheckSync.cpp - report instructions that race ----------------------===//
#include "SyncModel.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"

namespace mlir::pto {
#define GEN_PASS_DEF_CHECKSYNC
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

#define DEBUG_TYPE "pto-check-sync"

using namespace mlir;
using namespace mlir::pto;

namespace {
struct Reporter : SyncModel::Listener {
  llvm::DenseSet<std::pair<Operation *, Operation *>> reported;
  Operation *unknownEvent = nullptr; // that what is reported now may be due to
  bool clean = true;

  bool isNew(Operation *a, Operation *b) { return reported.insert({a, b}).second; }

  void unordered(Operation *earlier, Operation *later, PIPE from, PIPE to,
                 const mlir::pto::TouchedBytes &region) override {
    clean &= unknownEvent != nullptr;
    if (!isNew(earlier, later))
      return;
    InFlightDiagnostic diag = unknownEvent ? later->emitWarning("'") : later->emitOpError();
    if (unknownEvent)
      diag << later->getName() << "' op is not proven to wait until an earlier '"
           << earlier->getName() << "' is done, since only the program knows the event of '"
           << unknownEvent->getName() << "': both touch ";
    else
      diag << "may run before an earlier '" << earlier->getName() << "' is done: both touch ";
    if (region.isGlobal)
      diag << "the same global memory";
    else if (region.begin >= 0)
      diag << stringifyAddressSpace(region.space) << " bytes " << region.begin << " to "
           << region.end;
    else
      diag << "the same tile in " << stringifyAddressSpace(region.space);
    if (unknownEvent)
      diag.attachNote(unknownEvent->getLoc()) << "the event that is not known here";
    else if (from == to)
      diag << "; missing: barrier <" << stringifyPIPE(to) << ">";
    else
      diag << "; missing: set_flag and wait_flag[<" << stringifyPIPE(from) << ">, <"
           << stringifyPIPE(to) << ">, …]";
    diag.attachNote(earlier->getLoc()) << "the earlier instruction, on " << stringifyPIPE(from);
  }

  // What a flag op names.
  static std::string nameOfEvent(Operation *op) {
    auto name = [](StringRef event, PIPE from, PIPE to) {
      return (event + " from " + stringifyPIPE(from) + " to " + stringifyPIPE(to)).str();
    };
    if (auto flag = dyn_cast<SetFlagOp>(op))
      return name(stringifyEVENT(flag.getEventId()), flag.getSrcPipe(), flag.getDstPipe());
    if (auto flag = dyn_cast<WaitFlagOp>(op))
      return name(stringifyEVENT(flag.getEventId()), flag.getSrcPipe(), flag.getDstPipe());
    if (auto event = dyn_cast<RecordEventOp>(op))
      return name(stringifyEVENT(event.getEventId()), getPipeOfEvent(event.getSrcOp()),
                  getPipeOfEvent(event.getDstOp()));
    if (auto event = dyn_cast<WaitEventOp>(op))
      return name(stringifyEVENT(event.getEventId()), getPipeOfEvent(event.getSrcOp()),
                  getPipeOfEvent(event.getDstOp()));
    if (auto flag = dyn_cast<SetFlagDynOp>(op))
      return name("the event of its value", flag.getSrcPipe(), flag.getDstPipe());
    auto flag = cast<WaitFlagDynOp>(op);
    return name("the event of its value", flag.getSrcPipe(), flag.getDstPipe());
  }

  void flagInUse(Operation *set, Operation *lastSet) override {
    bool isProven = lastSet || !unknownEvent;
    clean &= !isProven;
    if (!isNew(set, nullptr))
      return;
    if (!isProven) {
      InFlightDiagnostic diag = set->emitWarning()
                                << "'" << set->getName() << "' op is not proven to set "
                                << nameOfEvent(set)
                                << " after the wait for its last set, since only the program knows "
                                   "the event of '"
                                << unknownEvent->getName() << "'";
      diag.attachNote(unknownEvent->getLoc()) << "the event that is not known here";
      return;
    }
    InFlightDiagnostic diag = set->emitOpError() << "sets " << nameOfEvent(set) << " again before ";
    if (!lastSet) {
      diag << "the wait for its last set is known to have run";
      return;
    }
    diag << "anything waits for its last set";
    diag.attachNote(lastSet->getLoc()) << "set here";
  }

  void neverSet(Operation *wait, bool onAllWays) override {
    clean = false;
    if (isNew(wait, nullptr))
      wait->emitOpError() << "waits for " << nameOfEvent(wait)
                          << (onAllWays ? ", which nothing has set"
                                        : ", which is not set on every way here");
  }

  void leftSet(Operation *set) override {
    clean = false;
    if (isNew(set, set))
      set->emitOpError() << "sets " << nameOfEvent(set)
                         << ", and nothing waits for it until the function ends";
  }
};

// What buffer tokens order is beyond the model.
static Operation *findToken(FunctionOpInterface function) {
  Operation *found = nullptr;
  function->walk([&](Operation *op) {
    if (!found && isa<GetBufOp, RlsBufOp, GetBufDynOp, RlsBufDynOp>(op))
      found = op;
  });
  return found;
}

struct CheckSync : mlir::pto::impl::CheckSyncBase<CheckSync> {
  void runOnOperation() override {
    Reporter reporter;
    getOperation().walk([&](FunctionOpInterface function) {
      if (function.isExternal())
        return;
      if (Operation *op = findToken(function)) {
        op->emitWarning() << "order of instructions not checked: '" << op->getName()
                          << "' is beyond the check";
        return;
      }
      // What is wrong whatever the events are, and then what may be.
      Operation *unknown = SyncModel::findUnknownEvent(function);
      using Unknown = SyncModel::UnknownEvents;
      SyncModel().walk(function, reporter, Unknown::TellMuch);
      reporter.unknownEvent = unknown;
      if (unknown)
        SyncModel().walk(function, reporter, Unknown::TellLittle);
      reporter.unknownEvent = nullptr;
    });
    if (!reporter.clean)
      signalPassFailure();
  }
};
} // namespace
