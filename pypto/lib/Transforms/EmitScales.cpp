//===- EmitScales.cpp - products of block-scaled floats -------------------===//
//
// A scale tile has no place of its own: the hardware finds it by the address of the data that it
// belongs to.
//
//===----------------------------------------------------------------------===//
#include "PtoEmitter.h"

using namespace mlir;

namespace pypto {

void PtoEmitter::findScale(Value scale, Value handle) {
  for (Operation *user : scale.getUsers())
    if (auto product = dyn_cast<MatmulMxOp>(user)) {
      Value data = product.getLhsScale() == scale ? product.getLhs() : product.getRhs();
      instruction("tget_scale_addr", {tile(data).handle, handle});
      return;
    }
}

LogicalResult PtoEmitter::emitScaledProduct(MatmulMxOp op) {
  Value result = op.getResult();
  SmallVector<Value> operands;
  for (Value operand : {op.getLhs(), op.getLhsScale(), op.getRhs(), op.getRhsScale()})
    operands.push_back(tile(operand).handle);
  if (!op.getAcc()) {
    if (op.getBias())
      operands.push_back(tile(op.getBias()).handle);
    operands.push_back(define(result, tile(op.getLhs()).rows, tile(op.getRhs()).cols).handle);
    instruction(op.getBias() ? "tmatmul.mx.bias" : "tmatmul.mx", operands);
    return success();
  }
  Value to = accumulateInto(op.getAcc(), result).handle;
  operands.insert(operands.begin(), to);
  operands.push_back(to);
  instruction("tmatmul.mx.acc", operands);
  return success();
}

} // namespace pypto
