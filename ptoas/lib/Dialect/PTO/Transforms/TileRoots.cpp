//===- TileRoots.cpp - which allocation a tile value names ----------------===//
#include "TileRoots.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::pto;

static void collect(Value value, SmallPtrSetImpl<Operation *> &roots,
                    SmallPtrSetImpl<void *> &seen) {
  if (!seen.insert(value.getAsOpaquePointer()).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    if (!loop)
      return;
    if (OpOperand *init = loop.getTiedLoopInit(argument))
      collect(init->get(), roots, seen);
    if (OpOperand *yielded = loop.getTiedLoopYieldedValue(argument))
      collect(yielded->get(), roots, seen);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isa<AllocTileOp, AllocMultiTileOp, DeclareTileOp, TPopFromAicOp, TPopFromAivOp>(op)) {
    roots.insert(op);
    return;
  }
  if (isa<SubviewOp, SubsetOp, TReshapeOp, BitcastOp, MultiTileGetOp>(op)) {
    collect(op->getOperand(0), roots, seen);
    return;
  }
  // A result of structured control flow is one of the values that its regions yield.
  unsigned number = cast<OpResult>(value).getResultNumber();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (Operation *end = block.mightHaveTerminator() ? block.getTerminator() : nullptr)
        if (number < end->getNumOperands() && end->getOperand(number).getType() == value.getType())
          collect(end->getOperand(number), roots, seen);
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    for (OpOperand &init : loop.getInitsMutable())
      if (init.get().getType() == value.getType())
        collect(init.get(), roots, seen);
}

void mlir::pto::collectRoots(Value value, SmallPtrSetImpl<Operation *> &roots) {
  SmallPtrSet<void *, 8> seen;
  collect(value, roots, seen);
}

void mlir::pto::collectTouchedRoots(Operation *op, SmallPtrSetImpl<Operation *> &roots) {
  auto holdsTile = [](Value value) { return isa<TileBufType, MultiTileBufType>(value.getType()); };
  for (Value operand : op->getOperands())
    if (holdsTile(operand))
      collectRoots(operand, roots);
}
