//===- AffineApply.cpp - index arithmetic in the words of affine maps ------===//
#include "AffineApply.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"

using namespace mlir;

LogicalResult ptoas::expandAffineApply(ModuleOp module) {
  bool failedAny = false;
  module->walk([&](Operation *op) {
    auto apply = dyn_cast<affine::AffineApplyOp>(op);
    if (!apply) {
      if (isa_and_nonnull<affine::AffineDialect>(op->getDialect())) {
        op->emitOpError() << "cannot be assembled: of its dialect only affine.apply can";
        failedAny = true;
      }
      return;
    }
    OpBuilder builder(apply);
    std::optional<SmallVector<Value, 8>> values = affine::expandAffineMap(
        builder, apply.getLoc(), apply.getAffineMap(), apply.getMapOperands());
    if (!values) {
      apply.emitOpError() << "cannot be computed: divisors must be positive constants";
      failedAny = true;
      return;
    }
    apply.replaceAllUsesWith(values->front());
    apply.erase();
  });
  return failure(failedAny);
}
