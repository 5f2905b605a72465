//===- ResolveDirections.cpp - what a kernel does with its parameters -----===//
//
// The runtime orders tasks by these directions, so they follow the code: a
// parameter that is written is Out or InOut whatever it was declared, one that is only read is
// In. A declared InOut stays one.
//
//===----------------------------------------------------------------------===//
#include "TensorRoots.h"
#include "pypto/Transforms/Passes.h"

using namespace mlir;

namespace pypto {

static void resolve(func::FuncOp kernel) {
  unsigned count = kernel.getNumArguments();
  SmallVector<bool> reads(count), writes(count);
  auto note = [&](Value value, SmallVector<bool> &set) {
    if (auto arg = dyn_cast<BlockArgument>(rootOf(value)))
      if (arg.getOwner() == &kernel.getBody().front())
        set[arg.getArgNumber()] = true;
  };
  kernel.walk([&](Operation *op) {
    Value written;
    bool both = false;
    if (auto o = dyn_cast<AssembleOp>(op)) {
      written = o.getTarget();
      both = o.getAtomic() != "none";
    } else if (auto o = dyn_cast<StoreOp>(op)) {
      written = o.getOutputTensor();
      both = o.getAtomic() != "none";
    } else if (auto o = dyn_cast<WriteOp>(op)) {
      written = o.getDst();
    } else if (auto o = dyn_cast<MscatterOp>(op)) {
      written = o.getOut();
    } else if (auto o = dyn_cast<SyncAllOp>(op)) {
      written = o.getGmWorkspace();
      both = true;
    }
    if (isa<SliceOp, ReshapeOp, TransposeOp, ViewOp, SetValidShapeOp, DimOp, scf::YieldOp,
            scf::ForOp>(op) &&
        llvm::all_of(op->getResults(),
                     [](Value v) { return v.use_empty() || isa<TensorType>(v.getType()); })) {
      // Another name; what it is used for counts. A slice read as a value counts below.
      if (!isa<SliceOp>(op))
        return;
    }
    if (isa<DimOp>(op))
      return;
    for (Value operand : op->getOperands()) {
      if (!isa<TensorType>(operand.getType()))
        continue;
      if (operand == written) {
        note(operand, writes);
        if (both)
          note(operand, reads);
      } else {
        note(operand, reads);
      }
    }
  });
  OpBuilder b(kernel.getContext());
  for (unsigned i = 0; i < count; ++i) {
    if (!isa<TensorType>(kernel.getArgument(i).getType()))
      continue;
    auto declared = kernel.getArgAttrOfType<StringAttr>(i, "pypto.direction");
    StringRef direction = "in";
    if (writes[i])
      direction = reads[i] || (declared && declared == "inout") ? "inout" : "out";
    else if (declared && declared == "inout")
      direction = "inout";
    kernel.setArgAttr(i, "pypto.direction", b.getStringAttr(direction));
  }
}

LogicalResult resolveDirections(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    if (isKernel(func) && !func.isExternal())
      resolve(func);
  return success();
}

} // namespace pypto
