//===- ScalarArithmetic.cpp - scalars: conversions, division, their ops ---===//
#include "ChipTensorLayout.h"
#include "PtoEmitter.h"

using namespace mlir;

namespace pypto {

Type signless(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(type.getContext(), integer.getWidth());
  return type;
}

Value convertScalar(OpBuilder &b, Location loc, Value value, Type from, Type to) {
  Type have = signless(from), want = signless(to);
  bool fromUnsigned = from.isUnsignedInteger() || from.isInteger(1),
       toUnsigned = to.isUnsignedInteger();
  if (have == want)
    return value;
  if (isa<FloatType>(have) && isa<FloatType>(want)) {
    if (have.getIntOrFloatBitWidth() < want.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(b, loc, want, value);
    if (have.getIntOrFloatBitWidth() > want.getIntOrFloatBitWidth())
      return arith::TruncFOp::create(b, loc, want, value);
    return arith::TruncFOp::create(b, loc, want,
                                   arith::ExtFOp::create(b, loc, b.getF32Type(), value));
  }
  if (isa<FloatType>(have)) {
    Type integer = want.isIndex() ? Type(b.getI64Type()) : want;
    if (integer.isInteger(1)) {
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(have));
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value, zero);
    }
    value = toUnsigned ? Value(arith::FPToUIOp::create(b, loc, integer, value))
                       : Value(arith::FPToSIOp::create(b, loc, integer, value));
    return want.isIndex() ? Value(arith::IndexCastOp::create(b, loc, want, value)) : value;
  }
  if (isa<FloatType>(want)) {
    if (have.isIndex()) {
      have = b.getI64Type();
      value = arith::IndexCastOp::create(b, loc, have, value);
    }
    return fromUnsigned ? Value(arith::UIToFPOp::create(b, loc, want, value))
                        : Value(arith::SIToFPOp::create(b, loc, want, value));
  }
  if (want.isInteger(1)) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(have));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
  }
  if (have.isIndex() || want.isIndex())
    return fromUnsigned ? Value(arith::IndexCastUIOp::create(b, loc, want, value))
                        : Value(arith::IndexCastOp::create(b, loc, want, value));
  if (have.getIntOrFloatBitWidth() > want.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(b, loc, want, value);
  return fromUnsigned ? Value(arith::ExtUIOp::create(b, loc, want, value))
                      : Value(arith::ExtSIOp::create(b, loc, want, value));
}

Value floorDivide(OpBuilder &b, Location loc, Value lhs, Value rhs, bool remainder) {
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(lhs.getType()));
  Value rest = arith::RemSIOp::create(b, loc, lhs, rhs);
  Value inexact = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest, zero);
  // The signs of remainder and divisor differ exactly where truncation and floor do.
  Value mixed = arith::XOrIOp::create(b, loc, rest, rhs);
  Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, mixed, zero);
  Value adjust = arith::AndIOp::create(b, loc, inexact, negative);
  if (remainder) {
    Value moved = arith::AddIOp::create(b, loc, rest, rhs);
    return arith::SelectOp::create(b, loc, adjust, moved, rest);
  }
  Value quotient = arith::DivSIOp::create(b, loc, lhs, rhs);
  Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(lhs.getType(), 1));
  Value below = arith::SubIOp::create(b, loc, quotient, one);
  return arith::SelectOp::create(b, loc, adjust, below, quotient);
}

Value scalarFromWord(OpBuilder &b, Location loc, Value word, Type type) {
  if (type.isIndex())
    return arith::IndexCastOp::create(b, loc, type, word);
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.getWidth() == 64)
      return word;
    if (integer.getWidth() == 1) {
      Value zero = arith::ConstantIntOp::create(b, loc, b.getI64Type(), 0);
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, word, zero);
    }
    return arith::TruncIOp::create(b, loc, type, word);
  }
  if (type.isF64())
    return arith::BitcastOp::create(b, loc, type, word);
  Value bits = arith::TruncIOp::create(b, loc, b.getI32Type(), word);
  Value single = arith::BitcastOp::create(b, loc, b.getF32Type(), bits);
  return type.isF32() ? single : Value(arith::TruncFOp::create(b, loc, type, single));
}

Value wordFromScalar(OpBuilder &b, Location loc, Value scalar, bool isUnsigned) {
  Type type = scalar.getType(), word = b.getI64Type();
  if (type.isIndex())
    return arith::IndexCastOp::create(b, loc, word, scalar);
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.getWidth() == 64)
      return scalar;
    return isUnsigned || integer.getWidth() == 1
               ? Value(arith::ExtUIOp::create(b, loc, word, scalar))
               : Value(arith::ExtSIOp::create(b, loc, word, scalar));
  }
  if (type.isF64())
    return arith::BitcastOp::create(b, loc, word, scalar);
  Value single =
      type.isF32() ? scalar : Value(arith::ExtFOp::create(b, loc, b.getF32Type(), scalar));
  return arith::ExtUIOp::create(b, loc, word,
                                arith::BitcastOp::create(b, loc, b.getI32Type(), single));
}

Value PtoEmitter::castScalar(Value value, Type from, Type to) {
  return convertScalar(b, loc, value, from, to);
}

bool PtoEmitter::emitScalar(Operation *op) {
  if (auto cast = dyn_cast<ScalarCastOp>(op)) {
    scalars.map(cast.getResult(),
                castScalar(mapped(cast.getX()), cast.getX().getType(), cast.getType()));
    return true;
  }
  if (auto mod = dyn_cast<FloorModOp>(op)) {
    scalars.map(mod.getResult(),
                floorDivide(b, loc, mapped(mod.getLhs()), mapped(mod.getRhs()), true));
    return true;
  }
  if (auto div = dyn_cast<arith::FloorDivSIOp>(op)) {
    scalars.map(div.getResult(),
                floorDivide(b, loc, mapped(div.getLhs()), mapped(div.getRhs()), false));
    return true;
  }
  if (isa<UndefOp>(op)) {
    scalars.map(op->getResult(0), arith::ConstantOp::create(
                                      b, loc, b.getZeroAttr(signless(op->getResult(0).getType())))
                                      .getResult());
    return true;
  }
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op)) {
    scalars.map(constant.getResult(), index(constant.value()));
    return true;
  }
  if (!isa<arith::ArithDialect>(op->getDialect()))
    return false;
  b.clone(*op, scalars);
  return true;
}

} // namespace pypto
