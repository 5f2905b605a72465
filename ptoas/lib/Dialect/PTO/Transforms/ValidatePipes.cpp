//===- ValidatePipes.cpp - the two ends of a FIFO must agree --------------===//
//
// All uses of one pipe in a function either split their tiles between the two
// vector cores or do not. On A2/A3 the FIFO lies in global memory, so its
// buffer must be given. A slot holds a whole tile of the producer: of a smaller
// one the tile would run into the next slot.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"

namespace mlir::pto {
#define GEN_PASS_DEF_VALIDATEPIPES
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

#define DEBUG_TYPE "pto-validate-pipes"

using namespace mlir;
using namespace mlir::pto;

static int64_t intAttr(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getValue().getSExtValue() : 0;
}

namespace {
struct ValidatePipes : mlir::pto::impl::ValidatePipesBase<ValidatePipes> {
  struct Pipe {
    Operation *init = nullptr;
    Operation *firstUse = nullptr;
  };

  LogicalResult checkInit(Operation *init, Pipe &pipe) {
    if (pipe.init) {
      InFlightDiagnostic diag = init->emitOpError()
                                << "joins pipe " << intAttr(init, "id")
                                << " a second time; a function initializes each id once";
      diag.attachNote(pipe.init->getLoc()) << "first here";
      return diag;
    }
    pipe.init = init;
    bool hasBuffer = false;
    if (auto aic = dyn_cast<AicInitializePipeOp>(init))
      hasBuffer = aic.getGmSlotBuffer() || aic.getGmSlotTensor();
    if (auto aiv = dyn_cast<AivInitializePipeOp>(init))
      hasBuffer = aiv.getGmSlotBuffer() || aiv.getGmSlotTensor();
    if (getTargetArch(init) == Arch::A3 && !hasBuffer)
      return init->emitOpError() << "requires 'gm_slot_buffer' when lowering to a2/a3";
    return success();
  }

  LogicalResult checkSlot(Operation *push, Value entry, Operation *init) {
    // Behind a conversion on the way out of the accumulator the elements are of another size.
    auto converts = [](Operation *op) { return op->hasAttr("acc_push_epilogue"); };
    auto tile = dyn_cast<TileBufType>(entry.getType());
    if (!tile || !init || converts(init) || converts(push))
      return success();
    int64_t slot = intAttr(init, "slot_size"), bytes = tile.getSizeInBytes();
    if (bytes <= slot)
      return success();
    InFlightDiagnostic diag = push->emitOpError()
                              << "pushes a tile of " << bytes << " bytes into a slot of " << slot
                              << " bytes, slot_size must be at least the whole tile";
    diag.attachNote(init->getLoc()) << "the pipe is made here";
    return diag;
  }

  LogicalResult checkUse(Operation *use, Pipe &pipe, DominanceInfo &dominance) {
    if (pipe.init && !dominance.properlyDominates(pipe.init, use))
      return use->emitOpError() << "may run before the pipe is initialized";
    if (!pipe.firstUse) {
      pipe.firstUse = use;
      return success();
    }
    bool split = intAttr(use, "split") != 0, first = intAttr(pipe.firstUse, "split") != 0;
    if (split != first) {
      InFlightDiagnostic diag = use->emitOpError()
                                << "has split = " << intAttr(use, "split") << ", but pipe "
                                << intAttr(use, "id")
                                << " is also used with split = " << intAttr(pipe.firstUse, "split");
      diag.attachNote(pipe.firstUse->getLoc()) << "used here";
      return diag;
    }
    return success();
  }

  void runOnOperation() override {
    bool failedAny = false;
    getOperation().walk([&](FunctionOpInterface function) {
      llvm::MapVector<int64_t, Pipe> pipes;
      DominanceInfo dominance(function);
      function->walk([&](Operation *op) {
        if (isa<AicInitializePipeOp, AivInitializePipeOp>(op))
          failedAny |= failed(checkInit(op, pipes[intAttr(op, "id")]));
      });
      function->walk([&](Operation *op) {
        if (isa<TPushToAivOp, TPushToAicOp, TPopFromAicOp, TPopFromAivOp, TFreeFromAicOp,
                TFreeFromAivOp>(op))
          failedAny |= failed(checkUse(op, pipes[intAttr(op, "id")], dominance));
        if (isa<TPushToAivOp, TPushToAicOp>(op))
          failedAny |= failed(checkSlot(op, op->getOperand(0), pipes[intAttr(op, "id")].init));
        else if (auto push = dyn_cast<TPushOp>(op))
          failedAny |= failed(checkSlot(op, op->getOperand(0), op->getOperand(1).getDefiningOp()));
      });
    });
    if (failedAny)
      signalPassFailure();
  }
};
} // namespace
