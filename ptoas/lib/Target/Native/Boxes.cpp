//===- Boxes.cpp - instructions on tiles that are kept in boxes -----------===//
//
// Around an instruction that touches such tiles (BoxOrder.cpp says which): a copy of
// each, row by row, and what was written back into the boxes.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

using namespace llvm;
namespace pto = mlir::pto;
namespace ptoas::native {

/// The tiles in boxes that `op` touches, each once, and whether it may write them.
static SmallVector<std::pair<mlir::Value, bool>, 4> boxedTiles(mlir::Operation &op,
                                                               const TileModel &model) {
  SmallVector<std::pair<mlir::Value, bool>, 4> found;
  auto add = [&](mlir::Value operand, bool writes) {
    if (!model.isTile(operand) || !model.info(operand).inBoxes)
      return;
    mlir::Value home = model.info(operand).home;
    for (auto &[known, written] : found)
      if (known == home) {
        written |= writes;
        return;
      }
    found.push_back({home, writes});
  };
  auto tileOp = dyn_cast<pto::TileOpInterface>(op);
  if (!tileOp) {
    for (mlir::Value operand : op.getOperands())
      add(operand, true);
    return found;
  }
  const pto::TileOpInfo &facts = tileOp.getTileOpInfo();
  for (unsigned i = 0; i < facts.operands.size(); ++i)
    for (mlir::Value operand : tileOp.getSpecOperands(i))
      add(operand, facts.operands[i].effect != pto::OperandEffect::Read);
  return found;
}

void FunctionEmitter::copyBoxes(const TileInfo &home, bool back) {
  BoxOrder order = TileModel::boxOrder(home.type);
  Constant *numbers[] = {b.getInt64(home.rows),        b.getInt64(home.cols),
                         b.getInt64(order.boxRows),    b.getInt64(order.boxCols),
                         b.getInt64(order.boxRowStep), b.getInt64(order.boxColStep),
                         b.getInt64(order.rowStep),    b.getInt64(order.colStep)};
  auto *type = ArrayType::get(b.getInt64Ty(), std::size(numbers));
  auto *table = new GlobalVariable(owner.module, type, /*isConstant=*/true,
                                   GlobalValue::PrivateLinkage, ConstantArray::get(type, numbers));
  extendLife(rootStorage[home.root], current);
  callRuntime("pto_copy_boxes",
              {boxCopies.lookup(home.handle), index(home.rowStride), index(home.colStride),
               addressOf(home), table, b.getInt32(bytesOf(home.elem)), b.getInt32(back)});
}

mlir::LogicalResult FunctionEmitter::emitInBoxes(mlir::Operation &op,
                                                 function_ref<mlir::LogicalResult()> emit) {
  SmallVector<std::pair<mlir::Value, bool>, 4> tiles = boxedTiles(op, model);
  // These see the bytes themselves.
  if (tiles.empty() || isa<pto::TGetScaleAddrOp, pto::TGetValOp, pto::TSetValOp>(op))
    return emit();
  flush();
  for (auto [handle, written] : tiles) {
    const TileInfo &home = model.info(handle);
    boxCopies[handle] = privateStorage(home.rows * home.cols * bytesOf(home.elem));
    copyBoxes(home, false);
  }
  if (mlir::failed(emit()))
    return mlir::failure();
  flush();
  for (auto [handle, written] : tiles)
    if (written)
      copyBoxes(model.info(handle), true);
  boxCopies.clear();
  return mlir::success();
}

/// Where a part of a tile in boxes lies in the copy, in bytes.
void FunctionEmitter::placeInCopy(mlir::Operation &op) {
  const TileInfo &part = model.info(op.getResult(0));
  Value *at = boxOffsets.lookup(op.getOperand(0));
  if (isa<pto::SubviewOp, pto::SubsetOp>(op)) {
    const TileInfo &whole = model.info(op.getOperand(0));
    Value *elements = b.CreateAdd(b.CreateMul(asIndex(op.getOperand(1)), index(whole.rowStride)),
                                  b.CreateMul(asIndex(op.getOperand(2)), index(whole.colStride)));
    Value *bytes = b.CreateMul(elements, index(bytesOf(whole.elem)));
    at = at ? b.CreateAdd(at, bytes) : bytes;
  }
  if (at)
    boxOffsets[part.handle] = at;
}

} // namespace ptoas::native
