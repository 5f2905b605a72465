//===- ValidateIntToPtrUses.cpp - what a pointer from an integer may do -----===//
//
// The address of such a pointer says nothing about which tensor it lies in, so it may
// only be used where global memory is read or written in program order, or named.
//
//===----------------------------------------------------------------------===//
#include "ptoas/Dialect/PTO/Transforms/Passes.h"

namespace mlir::pto {
#define GEN_PASS_DEF_VALIDATEINTTOPTRUSES
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

#define DEBUG_TYPE "pto-validate-inttoptr-uses"

using namespace mlir;
using namespace mlir::pto;

static LogicalResult checkUses(Value pointer, IntToPtrOp origin) {
  bool failedAny = false;
  for (OpOperand &use : pointer.getUses()) {
    Operation *user = use.getOwner();
    if (isa<AddPtrOp, CastPtrOp>(user)) {
      failedAny |= failed(checkUses(user->getResult(0), origin));
      continue;
    }
    if (isa<MakeTensorViewOp, LoadScalarOp, StoreScalarOp, PtrToIntOp, SetFftsOp, SyncAllOp,
            CacheInvalidOp, AicInitializePipeOp, AivInitializePipeOp, InitializeL2G2LPipeOp,
            CommBuildAsyncSessionOp>(user))
      continue;
    InFlightDiagnostic diag =
        user->emitError() << "'" << user->getName()
                          << "' op must not use a pointer that was made from an integer; it may "
                             "go into make_tensor_view, load_scalar, store_scalar or a pipe";
    diag.attachNote(origin.getLoc()) << "made here";
    failedAny = true;
  }
  return failure(failedAny);
}

namespace {
struct ValidateIntToPtrUses : mlir::pto::impl::ValidateIntToPtrUsesBase<ValidateIntToPtrUses> {
  void runOnOperation() override {
    bool failedAny = false;
    getOperation().walk([&](IntToPtrOp op) { failedAny |= failed(checkUses(op.getResult(), op)); });
    if (failedAny)
      signalPassFailure();
  }
};
} // namespace
