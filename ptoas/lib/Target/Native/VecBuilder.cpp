//===- VecBuilder.cpp - element arithmetic on vectors of lanes ------------===//
#include "VecBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace llvm;
namespace ptoas::native {

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

Type *VecBuilder::vec(Type *scalar) const {
  return n == 1 ? scalar : FixedVectorType::get(scalar, n);
}

Type *VecBuilder::memType(Elem e) const {
  switch (e) {
  case Elem::F16:
    return vec(b.getHalfTy());
  case Elem::F32:
    return vec(b.getFloatTy());
  case Elem::F64:
    return vec(b.getDoubleTy());
  default:
    return iN(bitsOf(e)); // BF16 is moved as bits
  }
}

Type *VecBuilder::regType(Elem e) const { return e == Elem::BF16 ? f32() : memType(e); }

Value *VecBuilder::splat(Value *scalar) const {
  return n == 1 ? scalar : b.CreateVectorSplat(n, scalar);
}

Constant *VecBuilder::fp(double value) const { return ConstantFP::get(f32(), value); }

Constant *VecBuilder::ints(unsigned bits, uint64_t value) const {
  return Constant::getIntegerValue(iN(bits), APInt(64, value).trunc(bits));
}

Constant *VecBuilder::constant(Elem e, double value) const {
  if (isFloat(e))
    return ConstantFP::get(regType(e), value);
  return ints(bitsOf(e), static_cast<uint64_t>(static_cast<int64_t>(value)));
}

Value *VecBuilder::iota(unsigned bits) const {
  if (n == 1)
    return ints(bits, 0);
  SmallVector<Constant *, 64> lanes;
  for (unsigned i = 0; i < n; ++i)
    lanes.push_back(ConstantInt::get(b.getIntNTy(bits), i));
  return ConstantVector::get(lanes);
}

Value *VecBuilder::bitcastTo(Value *x, Type *scalarType) const {
  return b.CreateBitCast(x, vec(scalarType));
}

Value *VecBuilder::fromMemory(Value *v, Elem e) const {
  if (e != Elem::BF16)
    return v;
  return bitcastTo(b.CreateShl(b.CreateZExt(v, iN(32)), 16), b.getFloatTy());
}

Value *VecBuilder::toMemory(Value *v, Elem e) const {
  if (e != Elem::BF16)
    return v;
  return b.CreateTrunc(b.CreateLShr(bitcastTo(v, b.getInt32Ty()), 16), iN(16));
}

Value *VecBuilder::fromScalar(Value *v, Elem e) const {
  // Not by its bits: outside the block of its definition the code generator holds it in single
  // precision, and would call a function to get at them.
  if (e == Elem::BF16 && v->getType()->isBFloatTy())
    v = b.CreateFPExt(v, b.getFloatTy());
  return splat(v);
}

Value *VecBuilder::widen(Elem e, Value *x) const {
  return e == Elem::F16 ? b.CreateFPExt(x, f32()) : x;
}

Value *VecBuilder::roundTo(Elem e, Value *x) const {
  if (e == Elem::BF16)
    return narrowToBF16(x, Round::Rint);
  if (e == Elem::F16 && x->getType() != regType(e))
    return b.CreateFPTrunc(x, regType(e));
  return x;
}

Value *VecBuilder::unaryIntrinsic(Intrinsic::ID id, Value *x) const {
  return b.CreateUnaryIntrinsic(id, x);
}

Value *VecBuilder::fma(Value *x, Value *y, Value *z) const {
  return b.CreateIntrinsic(Intrinsic::fma, {x->getType()}, {x, y, z});
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value *VecBuilder::binary(Binary op, Elem e, Value *x, Value *y) const {
  if (isFloat(e)) {
    switch (op) {
    case Binary::Add:
      return roundTo(e, b.CreateFAdd(x, y));
    case Binary::Sub:
      return roundTo(e, b.CreateFSub(x, y));
    case Binary::Mul:
      return roundTo(e, b.CreateFMul(x, y));
    case Binary::Div:
      return roundTo(e, b.CreateFDiv(x, y));
    case Binary::Max:
      return b.CreateSelect(b.CreateFCmpOGT(x, y), x, y);
    case Binary::Min:
      return b.CreateSelect(b.CreateFCmpOLT(x, y), x, y);
    case Binary::Rem: {
      // x - floor(x / y) * y, each step rounded as the hardware's single-precision unit does.
      Value *wx = widen(e, x), *wy = widen(e, y);
      Value *q = unaryIntrinsic(Intrinsic::floor, b.CreateFDiv(wx, wy));
      return roundTo(e, b.CreateFSub(wx, b.CreateFMul(q, wy)));
    }
    case Binary::FMod:
      return roundTo(e, b.CreateFRem(widen(e, x), widen(e, y)));
    case Binary::PRelu:
      return b.CreateSelect(b.CreateFCmpOGT(x, ConstantFP::get(x->getType(), 0.0)), x,
                            roundTo(e, b.CreateFMul(x, y)));
    default:
      llvm_unreachable("bitwise operation on floats is rejected before emission");
    }
  }
  switch (op) {
  case Binary::Add:
    return b.CreateAdd(x, y);
  case Binary::Sub:
    return b.CreateSub(x, y);
  case Binary::Mul:
    return b.CreateMul(x, y);
  case Binary::Div:
    return integerDivide(e, x, y, /*remainder=*/false);
  case Binary::Max:
    return b.CreateSelect(isSigned(e) ? b.CreateICmpSGT(x, y) : b.CreateICmpUGT(x, y), x, y);
  case Binary::Min:
    return b.CreateSelect(isSigned(e) ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y), x, y);
  case Binary::Rem: {
    // The sign of the divisor: correct the truncated remainder.
    Value *r = integerDivide(e, x, y, /*remainder=*/true);
    if (!isSigned(e))
      return r;
    Value *zero = ints(bitsOf(e), 0);
    Value *wrong = b.CreateAnd(b.CreateICmpNE(r, zero), b.CreateICmpSLT(b.CreateXor(r, y), zero));
    return b.CreateSelect(wrong, b.CreateAdd(r, y), r);
  }
  case Binary::FMod:
    return integerDivide(e, x, y, /*remainder=*/true);
  case Binary::And:
    return b.CreateAnd(x, y);
  case Binary::Or:
    return b.CreateOr(x, y);
  case Binary::Xor:
    return b.CreateXor(x, y);
  case Binary::Shl:
  case Binary::Shr: {
    unsigned bits = bitsOf(e);
    Value *inRange = b.CreateICmpULT(y, ints(bits, bits));
    if (op == Binary::Shr && isSigned(e))
      return b.CreateAShr(x, b.CreateSelect(inRange, y, ints(bits, bits - 1)));
    Value *amount = b.CreateAnd(y, ints(bits, bits - 1));
    Value *shifted = op == Binary::Shl ? b.CreateShl(x, amount) : b.CreateLShr(x, amount);
    return b.CreateSelect(inRange, shifted, ints(bits, 0));
  }
  case Binary::PRelu:
    return b.CreateSelect(b.CreateICmpSGT(x, ints(bitsOf(e), 0)), x, b.CreateMul(x, y));
  }
  llvm_unreachable("covered switch");
}

/// Quotient or remainder, truncating; 0 where the divisor is 0. x86 has no vector integer division
/// and its scalar one traps, so up to 32 bits go through FP64, where quotients of 32-bit integers
/// truncate exactly: a quotient that is not an integer differs from one by at least 2^-32 of its
/// size, far above the rounding of a 53-bit significand.
Value *VecBuilder::integerDivide(Elem e, Value *x, Value *y, bool remainder) const {
  unsigned bits = bitsOf(e);
  if (bits == 64)
    return wideDivide(e, x, y, remainder);
  Value *zero = ints(bits, 0);
  Value *isZero = b.CreateICmpEQ(y, zero);
  Value *divisor = b.CreateSelect(isZero, ints(bits, 1), y);
  // FP32 holds 16-bit operands and their quotients exactly enough.
  Type *fp = vec(bits < 32 ? b.getFloatTy() : b.getDoubleTy());
  Type *wide = iN(bits < 32 ? 32 : 64);
  bool sign = isSigned(e);
  auto toFloat = [&](Value *v) {
    Value *w = sign ? b.CreateSExt(v, wide) : b.CreateZExt(v, wide);
    if (bits == 32 && sign)
      return b.CreateSIToFP(v, fp);
    return b.CreateSIToFP(w, fp);
  };
  Value *quotient = b.CreateFPToSI(b.CreateFDiv(toFloat(x), toFloat(divisor)), wide);
  quotient = b.CreateTrunc(quotient, iN(bits));
  if (remainder)
    return b.CreateSelect(isZero, zero, b.CreateSub(x, b.CreateMul(quotient, divisor)));
  return b.CreateSelect(isZero, zero, quotient);
}

Value *VecBuilder::wideDivide(Elem e, Value *x, Value *y, bool remainder) const {
  Value *zero = ints(64, 0), *isZero = b.CreateICmpEQ(y, zero);
  Value *divisor = b.CreateSelect(isZero, ints(64, 1), y);
  Value *result;
  if (isSigned(e)) {
    // INT64_MIN / -1 traps as well: negate instead.
    Value *minusOne = b.CreateICmpEQ(divisor, ints(64, ~0ull));
    divisor = b.CreateSelect(minusOne, ints(64, 1), divisor);
    Value *q = remainder ? b.CreateSRem(x, divisor) : b.CreateSDiv(x, divisor);
    result = b.CreateSelect(minusOne, remainder ? zero : b.CreateNeg(x), q);
  } else {
    result = remainder ? b.CreateURem(x, divisor) : b.CreateUDiv(x, divisor);
  }
  return b.CreateSelect(isZero, zero, result);
}

Value *VecBuilder::unary(Unary op, Elem e, Value *x) const {
  if (isInteger(e)) {
    Value *zero = ints(bitsOf(e), 0);
    switch (op) {
    case Unary::Abs:
      return isSigned(e) ? b.CreateSelect(b.CreateICmpSLT(x, zero), b.CreateNeg(x), x) : x;
    case Unary::Neg:
      return b.CreateNeg(x);
    case Unary::Not:
      return b.CreateNot(x);
    case Unary::Relu:
      return isSigned(e) ? b.CreateSelect(b.CreateICmpSGT(x, zero), x, zero) : x;
    case Unary::Recip:
      return integerDivide(e, ints(bitsOf(e), 1), x, false);
    default:
      llvm_unreachable("transcendental on integers is rejected before emission");
    }
  }
  switch (op) {
  case Unary::Abs:
    return unaryIntrinsic(Intrinsic::fabs, x);
  case Unary::Neg:
    return b.CreateFNeg(x);
  case Unary::Relu: {
    Value *zero = ConstantFP::get(x->getType(), 0.0);
    return b.CreateSelect(b.CreateFCmpOLT(x, zero), zero, x); // NaN stays
  }
  case Unary::Exp:
    return roundTo(e, exp(widen(e, x)));
  case Unary::Log:
    return roundTo(e, log(widen(e, x)));
  case Unary::Sqrt:
    return roundTo(e, unaryIntrinsic(Intrinsic::sqrt, widen(e, x)));
  case Unary::Rsqrt: {
    Value *root = unaryIntrinsic(Intrinsic::sqrt, widen(e, x));
    return roundTo(e, b.CreateFDiv(ConstantFP::get(root->getType(), 1.0), root));
  }
  case Unary::Recip: {
    Value *w = widen(e, x);
    return roundTo(e, b.CreateFDiv(ConstantFP::get(w->getType(), 1.0), w));
  }
  case Unary::Not:
    break;
  }
  llvm_unreachable("bitwise operation on floats is rejected before emission");
}

Value *VecBuilder::compare(Compare mode, Elem e, Value *x, Value *y) const {
  if (isFloat(e)) {
    constexpr CmpInst::Predicate table[] = {CmpInst::FCMP_OEQ, CmpInst::FCMP_UNE,
                                            CmpInst::FCMP_OLT, CmpInst::FCMP_OLE,
                                            CmpInst::FCMP_OGT, CmpInst::FCMP_OGE};
    return b.CreateFCmp(table[static_cast<unsigned>(mode)], x, y);
  }
  constexpr CmpInst::Predicate signedTable[] = {CmpInst::ICMP_EQ,  CmpInst::ICMP_NE,
                                                CmpInst::ICMP_SLT, CmpInst::ICMP_SLE,
                                                CmpInst::ICMP_SGT, CmpInst::ICMP_SGE};
  constexpr CmpInst::Predicate unsignedTable[] = {CmpInst::ICMP_EQ,  CmpInst::ICMP_NE,
                                                  CmpInst::ICMP_ULT, CmpInst::ICMP_ULE,
                                                  CmpInst::ICMP_UGT, CmpInst::ICMP_UGE};
  auto index = static_cast<unsigned>(mode);
  return b.CreateICmp(isSigned(e) ? signedTable[index] : unsignedTable[index], x, y);
}

//===----------------------------------------------------------------------===//
// exp and log
//===----------------------------------------------------------------------===//

/// x * 2^exponent for integral `exponent` in FP32 lanes, |exponent| < 256, rounded once.
Value *VecBuilder::scaleByPowerOfTwo(Value *x, Value *exponent) const {
  if (avx512 && n >= 16 && n % 16 == 0) {
    Value *result = PoisonValue::get(x->getType());
    for (unsigned at = 0; at < n; at += 16) {
      auto *part = FixedVectorType::get(b.getFloatTy(), 16);
      Value *px = n == 16 ? x : b.CreateExtractVector(part, x, at);
      Value *pe = n == 16 ? exponent : b.CreateExtractVector(part, exponent, at);
      Value *scaled = b.CreateIntrinsic(
          Intrinsic::x86_avx512_mask_scalef_ps_512, {},
          {px, pe, px, ConstantInt::getAllOnesValue(b.getInt16Ty()), b.getInt32(4)});
      result = n == 16 ? scaled : b.CreateInsertVector(x->getType(), result, scaled, at);
    }
    return result;
  }
  // In two steps, so that neither factor leaves the range of normal numbers. The first product is
  // exact, the second one rounds.
  Value *whole = b.CreateFPToSI(exponent, iN(32));
  Value *half = b.CreateAShr(whole, 1), *rest = b.CreateSub(whole, half);
  auto power = [&](Value *k) {
    Value *biased = b.CreateAnd(b.CreateAdd(k, ints(32, 127)), ints(32, 255));
    return bitcastTo(b.CreateShl(biased, 23), b.getFloatTy());
  };
  return b.CreateFMul(b.CreateFMul(x, power(half)), power(rest));
}

/// e^x; error below 1.01 ulp (tests/native/test_math.py), subnormal results included.
/// x = k ln 2 + r, |r| <= ln 2 / 2; e^r = 1 + r + r^2 q(r) with a minimax q of degree 4.
Value *VecBuilder::exp(Value *x) const {
  // Beyond these the result is infinity or zero; NaN passes.
  x = b.CreateSelect(b.CreateFCmpOGT(x, fp(89.0)), fp(89.0), x);
  x = b.CreateSelect(b.CreateFCmpOLT(x, fp(-104.0)), fp(-104.0), x);
  Value *k = unaryIntrinsic(Intrinsic::roundeven, b.CreateFMul(x, fp(0x1.715476p+0)));
  if (!avx512 || n % 16) // the integer path must not see NaN
    k = b.CreateSelect(b.CreateFCmpORD(x, x), k, fp(0.0));
  Value *r = fma(k, fp(-0x1.62e4p-1), x);
  r = fma(k, fp(-0x1.7f7d1cp-20), r);
  Value *q = fp(0x1.6db426p-10);
  q = fma(q, r, fp(0x1.123b56p-7));
  q = fma(q, r, fp(0x1.55545ep-5));
  q = fma(q, r, fp(0x1.55548ep-3));
  q = fma(q, r, fp(0.5));
  Value *p = fma(b.CreateFMul(r, r), q, r);
  return scaleByPowerOfTwo(b.CreateFAdd(p, fp(1.0)), k);
}

/// ln x; error below 1.5 ulp (same test). x = 2^k m, m in [sqrt 1/2, sqrt 2), f = m - 1;
/// ln m = f - f^2/2 + f^3 p(f) with a minimax p of degree 7.
Value *VecBuilder::log(Value *x) const {
  Type *i32 = iN(32);
  Value *subnormal = b.CreateFCmpOLT(x, fp(0x1p-126));
  Value *scaled = b.CreateSelect(subnormal, b.CreateFMul(x, fp(0x1p23)), x);
  Value *bits = b.CreateSub(b.CreateBitCast(scaled, i32), ints(32, 0x3f3504f3));
  Value *k = b.CreateSIToFP(b.CreateAShr(bits, 23), f32());
  k = b.CreateFAdd(k, b.CreateSelect(subnormal, fp(-23.0), fp(0.0)));
  Value *mantissa = b.CreateAdd(b.CreateAnd(bits, ints(32, 0x7fffff)), ints(32, 0x3f3504f3));
  Value *f = b.CreateFSub(bitcastTo(mantissa, b.getFloatTy()), fp(1.0));
  constexpr float p[] = {0.3333333f,  -0.25000823f, 0.20001227f, -0.16623357f,
                         0.14201762f, -0.13160194f, 0.1276155f,  -0.0763443f};
  Value *poly = fp(p[7]);
  for (int i = 6; i >= 0; --i)
    poly = fma(poly, f, fp(p[i]));
  Value *f2 = b.CreateFMul(f, f);
  // ln 2 in two parts; k times the upper part is exact.
  Value *low = fma(k, fp(0x1.7f7d1cp-20), b.CreateFMul(b.CreateFMul(f2, f), poly));
  low = fma(f2, fp(-0.5), low);
  Value *result = b.CreateFAdd(fma(k, fp(0x1.62e4p-1), f), low);
  Value *infinity = fp(std::numeric_limits<double>::infinity());
  result = b.CreateSelect(b.CreateFCmpOEQ(x, infinity), infinity, result);
  result = b.CreateSelect(b.CreateFCmpOEQ(x, fp(0.0)), b.CreateFNeg(infinity), result);
  Value *bad = b.CreateFCmpULT(x, fp(0.0)); // negative or NaN
  return b.CreateSelect(bad, fp(std::numeric_limits<double>::quiet_NaN()), result);
}

} // namespace ptoas::native
