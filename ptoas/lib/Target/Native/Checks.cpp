//===- Checks.cpp - checked execution: windows inside their tensors -------===//
//
// With Options::check, each instruction that touches global memory first looks at its
// windows. One that leaves its tensor is reported with the place in the program, and
// the function returns at once; the host finds the report (Cluster.h).
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

using namespace llvm;
namespace pto = mlir::pto;
namespace ptoas::native {

/// `file:line:col` of the innermost place in a file that the location names.
static std::string placeOf(mlir::Location loc) {
  std::string text;
  loc->walk([&](mlir::Location inner) {
    auto file = dyn_cast<mlir::FileLineColLoc>(inner);
    if (!file)
      return mlir::WalkResult::advance();
    text = file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" +
           std::to_string(file.getColumn());
    return mlir::WalkResult::interrupt();
  });
  return text.empty() ? "?" : text;
}

/// What the program calls the memory behind a view.
static std::string nameOfTensor(mlir::Value view, mlir::func::FuncOp function) {
  while (mlir::Operation *op = view.getDefiningOp()) {
    if (op->getNumOperands() == 0)
      return "a tensor";
    view = op->getOperand(0);
  }
  auto argument = cast<mlir::BlockArgument>(view);
  if (argument.getOwner() != &function.getBody().front())
    return "a tensor";
  std::string text = "argument " + std::to_string(argument.getArgNumber());
  if (auto name =
          function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "pypto.name"))
    text += " '" + name.str() + "'";
  return text;
}

void FunctionEmitter::checkWindows(mlir::Operation &op) {
  if (!owner.options.check || op.getNumRegions() ||
      isa<pto::PartitionViewOp, pto::GetTensorViewDimOp, pto::GetTensorViewStrideOp>(op))
    return;
  for (mlir::Value operand : op.getOperands())
    for (auto part = operand.getDefiningOp<pto::PartitionViewOp>(); part;
         part = part.getSource().getDefiningOp<pto::PartitionViewOp>())
      checkWindow(op, part);
}

void FunctionEmitter::checkWindow(mlir::Operation &op, pto::PartitionViewOp part) {
  const GmView &source = views.find(part.getSource())->second;
  Value *leaves = b.getFalse(), *isEmpty = b.getFalse();
  SmallVector<Value *, 15> numbers;
  // A move takes no more of its window than the tile has valid (spec dsl 6.6: load with clamp).
  SmallVector<Value *, 2> moved;
  auto move = dyn_cast<pto::TileOpInterface>(op);
  if (move && isa<pto::TLoadOp, pto::TStoreOp>(op) && part.getSizes().size() == 2) {
    mlir::Value tile = move.getNamedOperand(isa<pto::TLoadOp>(op) ? "dst" : "src");
    auto type = cast<pto::TileBufType>(tile.getType());
    bool direct = llvm::is_contained(op.getOperands(), part.getResult());
    if (direct && type.getRows() > 1 && type.getCols() > 1)
      moved = {validRows(model.info(tile)), validCols(model.info(tile))};
  }
  for (auto [axis, at, count, extent] :
       enumerate(part.getOffsets(), part.getSizes(), source.sizes)) {
    Value *offset = asIndex(at), *size = asIndex(count);
    if (!moved.empty())
      size = smaller(size, moved[axis]);
    // offset + size > extent, without overflow.
    Value *beyond = b.CreateOr(b.CreateICmpSGT(size, extent),
                               b.CreateICmpSGT(offset, b.CreateSub(extent, size)));
    leaves = b.CreateOr(leaves, b.CreateOr(b.CreateICmpSLT(offset, index(0)), beyond));
    isEmpty = b.CreateOr(isEmpty, b.CreateICmpSLE(size, index(0)));
    numbers.append({offset, size, extent});
  }
  Value *wrong = b.CreateAnd(leaves, b.CreateNot(isEmpty));
  if (auto *known = dyn_cast<ConstantInt>(wrong); known && known->isZero())
    return;
  AllocaInst *slot = stackSlot(ArrayType::get(b.getInt64Ty(), numbers.size()), "window");
  auto *report = BasicBlock::Create(b.getContext(), "outside", function);
  auto *good = BasicBlock::Create(b.getContext(), "inside", function);
  b.CreateCondBr(wrong, report, good);
  b.SetInsertPoint(report);
  for (auto [i, number] : enumerate(numbers))
    b.CreateStore(number, b.CreateConstGEP1_64(b.getInt64Ty(), slot, i));
  std::string what = placeOf(op.getLoc()) + ": error: '" + op.getName().getStringRef().str() + "'";
  callRuntime("pto_check_failed",
              {place(), b.CreateGlobalString(what),
               b.CreateGlobalString(nameOfTensor(part.getSource(), this->source)), slot,
               index(numbers.size() / 3)});
  Type *result = function->getReturnType();
  returns.push_back(result->isVoidTy() ? b.CreateRetVoid()
                                       : b.CreateRet(Constant::getNullValue(result)));
  b.SetInsertPoint(good);
}

} // namespace ptoas::native
