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
  bool clean = true;

  bool isNew(Operation *a, Operation *b) { return reported.insert({a, b}).second; }

  void unordered(Operation *earlier, Operation *later, PIPE from, PIPE to,
                 const mlir::pto::TouchedBytes &region) override {
    clean = false;
    if (!isNew(earlier, later))
      return;
    InFlightDiagnostic diag = later->emitOpError()
                              << "may run before an earlier '" << earlier->getName()
                              << "' is done: both touch ";
    if (region.isGlobal)
      diag << "the same global memory";
    else if (region.begin >= 0)
      diag << stringifyAddressSpace(region.space) << " bytes " << region.begin << " to "
           << region.end;
    else
      diag << "the same tile in " << stringifyAddressSpace(region.space);
    if (from == to)
      diag << "; missing: barrier <" << stringifyPIPE(to) << ">";
    else
      diag << "; missing: set_flag and wait_flag[<" << stringifyPIPE(from) << ">, <"
           << stringifyPIPE(to) << ">, …]";
    diag.attachNote(earlier->getLoc()) << "the earlier instruction, on " << stringifyPIPE(from);
  }

  void flagInUse(Operation *set) override {
    clean = false;
    if (isNew(set, nullptr))
      set->emitOpError()
          << "sets an event again before the wait for its last set is known to have run";
  }

  void neverSet(Operation *wait) override {
    clean = false;
    if (isNew(wait, nullptr))
      wait->emitOpError() << "waits for an event that nothing has set";
  }
};

// Orders that depend on run-time ids are beyond the model.
static Operation *findUnmodelled(FunctionOpInterface function) {
  Operation *found = nullptr;
  function->walk([&](Operation *op) {
    if (!found && isa<SetFlagDynOp, WaitFlagDynOp, GetBufOp, RlsBufOp>(op))
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
      if (Operation *op = findUnmodelled(function))
        op->emitWarning() << "order of instructions not checked: '" << op->getName()
                          << "' is beyond the check";
      else
        SyncModel().walk(function, reporter);
    });
    if (!reporter.clean)
      signalPassFailure();
  }
};
} // namespace
