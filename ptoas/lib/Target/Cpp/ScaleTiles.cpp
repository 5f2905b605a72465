//===- ScaleTiles.cpp - which side's scales a tile holds ------------------===//
#include "ScaleTiles.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"

using namespace mlir;

namespace ptoas::cpp {

static bool isOtherHandle(Operation *op) {
  return isa_and_nonnull<pto::SubviewOp, pto::SubsetOp, pto::TReshapeOp, pto::BitcastOp,
                         pto::TAssignOp>(op);
}

llvm::DenseMap<Value, StringRef> findScaleTiles(ModuleOp module) {
  llvm::DenseMap<Value, StringRef> found;
  SmallVector<Value> work;
  auto add = [&](Value value, StringRef space) {
    if (found.try_emplace(value, space).second)
      work.push_back(value);
  };
  module.walk([&](pto::TileOpInterface op) {
    const pto::TileOpInfo &info = op.getTileOpInfo();
    for (unsigned i = 0; i < info.operands.size(); ++i)
      if (StringRef name = info.operands[i].name; name == "lhsScale" || name == "rhsScale")
        for (Value value : op.getSpecOperands(i))
          add(value, name == "lhsScale" ? "ScaleLeft" : "ScaleRight");
  });
  if (work.empty())
    return found;
  SymbolTable symbols(module);
  llvm::DenseMap<Operation *, SmallVector<func::CallOp>> calls;
  module.walk([&](func::CallOp call) {
    if (Operation *callee = symbols.lookup(call.getCallee()))
      calls[callee].push_back(call);
  });
  while (!work.empty()) {
    Value value = work.pop_back_val();
    StringRef space = found.lookup(value);
    if (isOtherHandle(value.getDefiningOp()))
      add(value.getDefiningOp()->getOperand(0), space);
    if (auto argument = dyn_cast<BlockArgument>(value))
      for (func::CallOp call : calls.lookup(argument.getOwner()->getParentOp()))
        add(call.getOperand(argument.getArgNumber()), space);
    for (OpOperand &use : value.getUses()) {
      if (isOtherHandle(use.getOwner()) && use.getOperandNumber() == 0)
        add(use.getOwner()->getResult(0), space);
      if (auto call = dyn_cast<func::CallOp>(use.getOwner()))
        if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
            callee && !callee.isExternal())
          add(callee.getArgument(use.getOperandNumber()), space);
    }
  }
  return found;
}

} // namespace ptoas::cpp
