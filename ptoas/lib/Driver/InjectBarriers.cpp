//===- InjectBarriers.cpp - order by barriers alone -----------------------===//
#include "ptoas/Driver/InjectBarriers.h"
#include "mlir/IR/Builders.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"

using namespace mlir;

void ptoas::injectBarriers(ModuleOp module) {
  SmallVector<Operation *> instructions;
  module.walk([&](Operation *op) {
    if (isa<pto::PipeOpInterface>(op))
      instructions.push_back(op);
  });
  for (Operation *op : instructions) {
    OpBuilder builder(op);
    pto::BarrierOp::create(builder, op->getLoc(), pto::PIPE::PIPE_ALL);
  }
}
