//===- EmitLogic.cpp - bitwise ops on narrower elements -------------------===//
//
// A2/A3 has and, or and xor on 8 and 16 bits. Bits do not know of elements: in the text form
// 32-bit ones are read as pairs of 16.
//
//===----------------------------------------------------------------------===//
#include "PtoEmitter.h"
#include "TensorRoots.h"

using namespace mlir;

namespace pypto {

bool PtoEmitter::needsHalves(StringRef mnemonic, Type element) const {
  return options.textForm && !options.a5 && signless(element).isInteger(32) &&
         llvm::is_contained({"tand", "tor", "txor"}, mnemonic);
}

Value PtoEmitter::asHalves(Value handle, Value rows, Value cols) {
  auto type = cast<pto::TileBufType>(handle.getType());
  // A column lies in memory as a row.
  bool column = type.getCols() == 1 && type.getRows() > 1;
  int64_t r = column ? 1 : type.getRows(), c = column ? type.getRows() : type.getCols();
  if (column)
    std::swap(rows, cols);
  auto known = constantOf(cols);
  Value wide = known ? index(2 * *known) : Value(arith::MulIOp::create(b, loc, cols, index(2)));
  auto whole = pto::TileBufType::get(type.getSpace(), r, 2 * c, b.getI16Type(), r, 2 * c);
  return narrowed(pto::TReshapeOp::create(b, loc, whole, handle), rows, wide);
}

LogicalResult PtoEmitter::emitInHalves(Operation *op, StringRef mnemonic) {
  auto type = cast<TileType>(op->getResult(0).getType());
  Value rows, cols, scalar;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<TileType>(operand.getType())) {
      scalar = scalarFor(operand, type.getElementType());
      continue;
    }
    Tile t = tile(operand);
    operands.push_back(withoutGaps(operand));
    rows = rows ? smaller(rows, t.rows) : t.rows;
    cols = cols ? smaller(cols, t.cols) : t.cols;
  }
  if (scalar) {
    Value filled = allocate(physical(type, /*flat=*/false), rows, cols);
    instruction("texpands", {scalar, filled});
    operands.push_back(filled);
  }
  operands.push_back(define(op->getResult(0), rows, cols).handle);
  for (Value &operand : operands)
    operand = asHalves(operand, rows, cols);
  instruction(mnemonic, operands);
  return success();
}

} // namespace pypto
