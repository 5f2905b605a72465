//===- PlanMemory.cpp - give every tile its address -----------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "ptoas/Dialect/PTO/Transforms/MemoryPlan.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"

namespace mlir::pto {
#define GEN_PASS_DEF_PLANMEMORY
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

#define DEBUG_TYPE "pto-plan-memory"

using namespace mlir;
using namespace mlir::pto;

namespace {
struct PlanMemory : mlir::pto::impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;

  // Turns the module into its level3 form.
  void assign(const MemoryPlan &plan) {
    for (const auto &[op, buffer] : plan.buffers) {
      if (auto reserve = dyn_cast<ReserveBufferOp>(op)) {
        OpBuilder builder(op);
        reserve.setAuto_(false);
        reserve.setBaseAttr(builder.getI64IntegerAttr(buffer.address));
        continue;
      }
      OpBuilder builder(op);
      Value address = arith::ConstantIntOp::create(builder, op->getLoc(), buffer.address, 64);
      if (auto alloc = dyn_cast<AllocTileOp>(op))
        alloc.getAddrMutable().assign(address);
      else
        cast<AllocMultiTileOp>(op).getAddrMutable().assign(address);
    }
  }

  void runOnOperation() override {
    bool failedAny = false;
    getOperation().walk([&](FunctionOpInterface function) {
      if (function.isExternal())
        return;
      FailureOr<MemoryPlan> plan = planMemory(function);
      if (failed(plan) || failed(verifyPlan(function, *plan)))
        failedAny = true;
      else if (!checkOnly)
        assign(*plan);
    });
    if (failedAny)
      signalPassFailure();
  }
};
} // namespace
