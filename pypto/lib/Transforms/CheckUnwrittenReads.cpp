//===- CheckUnwrittenReads.cpp - no read of what nothing wrote ------------===//
//
// Memory of create_tensor and create_tile is undefined until something writes
// it. A program whose first access of such memory, in program order, is a read is wrong
// whatever the data: only a write of an earlier turn of a loop around the read could come
// before it. Everything less certain passes.
//
//===----------------------------------------------------------------------===//
#include "TensorRoots.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pypto/Dialect/PyPTO/IR/OpTable.h"
#include "pypto/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace pypto {
namespace {

struct Access {
  Operation *op;
  bool reads, writes;
};

bool isUninitialised(Operation *op) {
  if (auto create = dyn_cast_or_null<CreateTensorOp>(op))
    return !create.getInitValue();
  return isa_and_nonnull<CreateTileOp>(op);
}

LogicalResult refuse(Operation *read, Operation *create) {
  auto diagnostic =
      read->emitError("this reads a tensor that nothing has written: its contents are undefined");
  diagnostic.attachNote(create->getLoc())
      << "created here; write it first, or create it with pl.full";
  return diagnostic;
}

/// True if a write that stands behind `read` in the text can run before it: both lie in one loop.
bool canPrecede(Operation *write, Operation *read) {
  for (Operation *loop = read->getParentOp(); loop; loop = loop->getParentOp())
    if (isa<LoopLikeOpInterface>(loop) && loop->isAncestor(write))
      return true;
  return false;
}

/// Orchestrations: tasks access whole buffers as their parameters' directions say.
LogicalResult checkOrchestration(ModuleOp module, func::FuncOp func) {
  llvm::MapVector<Operation *, SmallVector<Access>> accesses;
  auto note = [&](Value value, Operation *op, bool reads, bool writes) {
    Operation *create = rootOf(value).getDefiningOp();
    if (isUninitialised(create))
      accesses[create].push_back({op, reads, writes});
  };
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto call = dyn_cast<CallOp>(op)) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      for (auto [index, arg] : llvm::enumerate(call.getArgs())) {
        if (!isa<TensorType>(arg.getType()))
          continue;
        auto direction =
            callee ? callee.getArgAttrOfType<StringAttr>(index, "pypto.direction") : StringAttr();
        bool readOnly = direction && direction == "in";
        note(arg, op, readOnly, !readOnly);
      }
    } else if (auto read = dyn_cast<ReadOp>(op)) {
      note(read.getSrc(), op, true, false);
    } else if (auto write = dyn_cast<WriteOp>(op)) {
      note(write.getDst(), op, false, true);
    } else if (auto assemble = dyn_cast<AssembleOp>(op)) {
      note(assemble.getTarget(), op, false, true);
    }
  });
  for (auto &[create, list] : accesses) {
    const Access &first = list.front();
    if (first.writes || !first.reads)
      continue;
    bool written = llvm::any_of(list, [&](const Access &access) {
      return access.writes && canPrecede(access.op, first.op);
    });
    if (!written)
      return refuse(first.op, create);
  }
  return success();
}

/// Kernels: values; an operand that comes straight from its creation was never written.
LogicalResult checkKernel(func::FuncOp func) {
  WalkResult result = func.walk([&](Operation *op) {
    const OpRow *row = findOp(op->getName().getStringRef());
    bool computes = row && llvm::StringSwitch<bool>(row->family)
                               .Cases({"unary", "binary", "cast", "cmp", "part", "matmul"}, true)
                               .Default(false);
    // row_expand and col_expand take the shape of their first operand, not its contents.
    StringRef name = op->getName().stripDialect();
    if (!computes || name == "row_expand" || name == "col_expand")
      return WalkResult::advance();
    for (Value operand : op->getOperands())
      if (isUninitialised(operand.getDefiningOp())) {
        (void)refuse(op, operand.getDefiningOp());
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace

LogicalResult checkUnwrittenReads(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    if (failed(isKernel(func) ? checkKernel(func) : checkOrchestration(module, func)))
      return failure();
  }
  return success();
}

} // namespace pypto
