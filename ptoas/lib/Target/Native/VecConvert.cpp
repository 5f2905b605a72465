//===- VecConvert.cpp - rounding, saturation, narrowing (pto-isa 6.5) -----===//
//
// Float to half or bf16 rounds in the mode asked for; overflow gives infinity in
// the modes that round away from zero there. Float to integer rounds, then clamps
// (saturate) or keeps the low bits of a saturated 32-bit integer; NaN gives 0.
// Integers of more bits than a FP32 mantissa round to it in the mode as well.
//
//===----------------------------------------------------------------------===//
#include "VecBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include <cmath>

using namespace llvm;
namespace ptoas::native {

/// Float lanes to integral float lanes. ODD has no integral meaning and counts as TRUNC.
Value *VecBuilder::roundFloat(Value *x, Round mode) const {
  switch (mode) {
  case Round::None:
  case Round::Rint:
  case Round::CastRint:
    return b.CreateUnaryIntrinsic(Intrinsic::roundeven, x);
  case Round::Round: {
    // Ties away from zero: add the largest number below one half, with the sign of x, and cut.
    // (llvm.round becomes a call per lane.)
    Value *half = ConstantFP::get(x->getType(), x->getType()->getScalarType()->isDoubleTy()
                                                    ? 0x1.fffffffffffffp-2
                                                    : 0x1.fffffep-2);
    half = b.CreateIntrinsic(Intrinsic::copysign, {x->getType()}, {half, x});
    return b.CreateUnaryIntrinsic(Intrinsic::trunc, b.CreateFAdd(x, half));
  }
  case Round::Floor:
    return b.CreateUnaryIntrinsic(Intrinsic::floor, x);
  case Round::Ceil:
    return b.CreateUnaryIntrinsic(Intrinsic::ceil, x);
  case Round::Trunc:
  case Round::Odd:
    return b.CreateUnaryIntrinsic(Intrinsic::trunc, x);
  }
  llvm_unreachable("covered switch");
}

Value *VecBuilder::floatToInt(Value *x, Elem to, Round mode, bool saturate) const {
  Value *r = roundFloat(x, mode == Round::None ? Round::Rint : mode);
  Type *type = r->getType();
  auto fpConst = [&](double v) { return ConstantFP::get(type, v); };
  unsigned bits = bitsOf(to);
  bool sign = isSigned(to);
  if (saturate && bits < 32) {
    // The limits are exact floats: clamp before converting; NaN becomes 0.
    double low = sign ? -std::ldexp(1.0, bits - 1) : 0.0;
    double high = sign ? std::ldexp(1.0, bits - 1) - 1 : std::ldexp(1.0, bits) - 1;
    r = b.CreateSelect(b.CreateFCmpORD(r, r), r, fpConst(0));
    r = b.CreateSelect(b.CreateFCmpOLT(r, fpConst(low)), fpConst(low), r);
    r = b.CreateSelect(b.CreateFCmpOGT(r, fpConst(high)), fpConst(high), r);
    return b.CreateTrunc(b.CreateFPToSI(r, iN(32)), iN(bits));
  }
  // Convert what fits, then put the limits where it did not.
  unsigned wide = bits <= 32 ? 32 : 64;
  if (!sign && saturate && bits == 32)
    wide = 64; // every u32 is an i64
  double limit = std::ldexp(1.0, wide - 1);
  Value *tooHigh = b.CreateFCmpOGE(r, fpConst(limit));
  Value *tooLow = b.CreateFCmpOLT(r, fpConst(-limit));
  Value *fits =
      b.CreateAnd(b.CreateFCmpOLT(r, fpConst(limit)), b.CreateFCmpOGE(r, fpConst(-limit)));
  Value *i = b.CreateFPToSI(b.CreateSelect(fits, r, fpConst(0)), iN(wide));
  auto intConst = [&](const APInt &v) { return Constant::getIntegerValue(iN(wide), v); };
  i = b.CreateSelect(tooHigh, intConst(APInt::getSignedMaxValue(wide)), i);
  i = b.CreateSelect(tooLow, intConst(APInt::getSignedMinValue(wide)), i);
  if (!sign && saturate) {
    Value *zero = ints(wide, 0);
    i = b.CreateSelect(b.CreateICmpSLT(i, zero), zero, i);
    if (bits == 32) {
      Value *top = ints(64, 0xffffffffu);
      i = b.CreateSelect(b.CreateICmpSGT(i, top), top, i);
    }
  }
  return wide == bits ? i : b.CreateTrunc(i, iN(bits));
}

/// FP32 lanes to BF16 register form: all modes are integer arithmetic on the bits, because both
/// formats have the same exponents. VCVTNEPS2BF16 is not used: it flushes subnormals.
Value *VecBuilder::narrowToBF16(Value *x, Round mode) const {
  Value *bits = b.CreateBitCast(x, iN(32));
  Constant *kept = ints(32, 0xffff0000u), *cut = ints(32, 0xffffu);
  Value *result;
  switch (mode) {
  case Round::None:
  case Round::Rint:
  case Round::CastRint: {
    Value *odd = b.CreateAnd(b.CreateLShr(bits, 16), ints(32, 1));
    result = b.CreateAnd(b.CreateAdd(b.CreateAdd(bits, ints(32, 0x7fff)), odd), kept);
    break;
  }
  case Round::Round:
    result = b.CreateAnd(b.CreateAdd(bits, ints(32, 0x8000)), kept);
    break;
  case Round::Trunc:
    result = b.CreateAnd(bits, kept);
    break;
  case Round::Floor:
  case Round::Ceil: {
    Value *negative = b.CreateICmpSLT(bits, ints(32, 0));
    Value *away = mode == Round::Floor ? negative : b.CreateNot(negative);
    Value *grown = b.CreateAdd(bits, b.CreateSelect(away, ints(32, 0xffff), ints(32, 0)));
    result = b.CreateAnd(grown, kept);
    break;
  }
  case Round::Odd: {
    Value *inexact = b.CreateICmpNE(b.CreateAnd(bits, cut), ints(32, 0));
    result = b.CreateOr(b.CreateAnd(bits, kept),
                        b.CreateSelect(inexact, ints(32, 0x10000), ints(32, 0)));
    break;
  }
  }
  // Carries must not turn NaN into infinity or zero.
  Value *quiet = b.CreateOr(b.CreateAnd(bits, kept), ints(32, 0x400000));
  result = b.CreateSelect(b.CreateFCmpUNO(x, x), quiet, result);
  return b.CreateBitCast(result, f32());
}

/// FP32 lanes to half. The hardware conversion rounds to nearest even; the other modes step from
/// there by one unit in the last place.
Value *VecBuilder::narrowToF16(Value *x, Round mode) const {
  Type *half = vec(b.getHalfTy());
  Value *nearest = b.CreateFPTrunc(x, half);
  if (mode == Round::None || mode == Round::Rint || mode == Round::CastRint)
    return nearest;
  Value *back = b.CreateFPExt(nearest, f32());
  Value *bits = b.CreateBitCast(nearest, iN(16));
  auto fabs = [&](Value *v) { return b.CreateUnaryIntrinsic(Intrinsic::fabs, v); };
  Value *one = ints(16, 1), *zero = ints(16, 0);
  // Toward zero: one step back where rounding went outward.
  Value *outward = b.CreateFCmpOGT(fabs(back), fabs(x));
  Value *cut = b.CreateSub(bits, b.CreateSelect(outward, one, zero));
  Value *cutValue = b.CreateFPExt(b.CreateBitCast(cut, half), f32());
  Value *inexact = b.CreateFCmpONE(cutValue, x);
  Value *result = cut;
  switch (mode) {
  case Round::Floor:
  case Round::Ceil: {
    Value *negative = b.CreateICmpSLT(b.CreateBitCast(x, iN(32)), ints(32, 0));
    Value *away = mode == Round::Floor ? negative : b.CreateNot(negative);
    result = b.CreateAdd(cut, b.CreateSelect(b.CreateAnd(inexact, away), one, zero));
    break;
  }
  case Round::Odd:
    result = b.CreateOr(cut, b.CreateSelect(inexact, one, zero));
    break;
  case Round::Round: {
    // Exact differences: neighbours in half are close in single precision. Above the largest half
    // the next neighbour counts as 65536.
    Value *next = b.CreateAdd(cut, one);
    Value *nextValue = fabs(b.CreateFPExt(b.CreateBitCast(next, half), f32()));
    Value *infinity = fp(std::numeric_limits<double>::infinity());
    nextValue = b.CreateSelect(b.CreateFCmpOEQ(nextValue, infinity), fp(65536.0), nextValue);
    Value *magnitude = fabs(x);
    Value *up = b.CreateFCmpOLE(b.CreateFSub(nextValue, magnitude),
                                b.CreateFSub(magnitude, fabs(cutValue)));
    Value *overflow = b.CreateFCmpOGE(magnitude, fp(65536.0));
    up = b.CreateAnd(b.CreateAnd(up, inexact), b.CreateNot(overflow));
    result = b.CreateSelect(overflow, bits, b.CreateAdd(cut, b.CreateSelect(up, one, zero)));
    break;
  }
  default:
    break;
  }
  // NaN and infinities are as the hardware conversion left them.
  Value *special = b.CreateFCmpUEQ(fabs(x), fp(std::numeric_limits<double>::infinity()));
  return b.CreateSelect(special, nearest, b.CreateBitCast(result, half));
}

/// Integer lanes to FP32. The hardware conversion rounds to nearest even; for the other modes the
/// integer becomes a FP64 first, and the 29 bits that FP32 has not are rounded in its bits.
Value *VecBuilder::intToF32(Value *x, Elem from, Round mode) const {
  bool sign = isSigned(from);
  unsigned bits = bitsOf(from);
  bool nearestEven = mode == Round::None || mode == Round::Rint || mode == Round::CastRint;
  if (nearestEven || bits < 24)
    return sign ? b.CreateSIToFP(x, f32()) : b.CreateUIToFP(x, f32());
  if (bits == 64) {
    // More than 53 bits: the last one that is kept tells whether anything follows it.
    unsigned cut = sign ? 10 : 11;
    Value *rest = b.CreateAnd(x, ints(64, (uint64_t(1) << cut) - 1));
    Value *kept = b.CreateSub(x, rest);
    Value *sticky = b.CreateSelect(b.CreateICmpNE(rest, ints(64, 0)), ints(64, uint64_t(1) << cut),
                                   ints(64, 0));
    Value *magnitude = sign ? b.CreateXor(x, b.CreateAShr(x, 63)) : x;
    x = b.CreateSelect(b.CreateICmpUGT(magnitude, ints(64, (uint64_t(1) << 53) - 1)),
                       b.CreateOr(kept, sticky), x);
  }
  Type *f64 = regType(Elem::F64);
  Value *wide = sign ? b.CreateSIToFP(x, f64) : b.CreateUIToFP(x, f64);
  Value *image = b.CreateBitCast(wide, iN(64));
  constexpr uint64_t low = (uint64_t(1) << 29) - 1;
  auto growBy = [&](Value *grow, uint64_t amount) {
    image = b.CreateAdd(image, b.CreateSelect(grow, ints(64, amount), ints(64, 0)));
  };
  Value *negative = b.CreateICmpSLT(image, ints(64, 0));
  switch (mode) {
  case Round::Round: // ties away from zero, in sign and magnitude
    image = b.CreateAdd(image, ints(64, (low + 1) / 2));
    break;
  case Round::Floor:
    growBy(negative, low);
    break;
  case Round::Ceil:
    growBy(b.CreateNot(negative), low);
    break;
  case Round::Odd: {
    Value *inexact = b.CreateICmpNE(b.CreateAnd(image, ints(64, low)), ints(64, 0));
    image = b.CreateOr(image, b.CreateSelect(inexact, ints(64, low + 1), ints(64, 0)));
    break;
  }
  default: // Trunc
    break;
  }
  image = b.CreateAnd(image, ints(64, ~low));
  return b.CreateFPTrunc(b.CreateBitCast(image, f64), f32());
}

Value *VecBuilder::convert(Value *x, Elem from, Elem to, Round mode, bool saturate) const {
  if (isFloat(from) && isFloat(to)) {
    if (from == to)
      return mode == Round::None || from != Elem::F32 ? x : roundFloat(x, mode);
    if (from == Elem::F64) {
      if (to == Elem::F32)
        return b.CreateFPTrunc(x, f32());
      x = b.CreateFPTrunc(x, f32());
      from = Elem::F32;
    }
    if (to == Elem::F64)
      return b.CreateFPExt(x, regType(Elem::F64));
    Value *wide = widen(from, x);
    if (to == Elem::BF16)
      return narrowToBF16(wide, mode);
    if (to == Elem::F16)
      return narrowToF16(wide, mode);
    return wide;
  }
  if (isFloat(from))
    return floatToInt(widen(from, x), to, mode, saturate);
  if (isFloat(to)) {
    if (to == Elem::F64)
      return isSigned(from) ? b.CreateSIToFP(x, regType(Elem::F64))
                            : b.CreateUIToFP(x, regType(Elem::F64));
    Value *value = intToF32(x, from, mode);
    if (to == Elem::BF16)
      return narrowToBF16(value, mode);
    if (to == Elem::F16)
      return narrowToF16(value, mode);
    return value;
  }
  unsigned have = bitsOf(from), want = bitsOf(to);
  if (saturate && (want < have || isSigned(from) != isSigned(to))) {
    // Clamp in the source type, as far as it reaches over the target's range.
    if (isSigned(from)) {
      int64_t high = isSigned(to) ? (want == 64 ? INT64_MAX : (1ll << (want - 1)) - 1)
                                  : (want == 64 ? INT64_MAX : (1ll << want) - 1);
      int64_t low = isSigned(to) ? (want == 64 ? INT64_MIN : -(1ll << (want - 1))) : 0;
      APInt sourceMax = APInt::getSignedMaxValue(have), sourceMin = APInt::getSignedMinValue(have);
      if (high < sourceMax.getSExtValue())
        x = b.CreateSelect(b.CreateICmpSGT(x, ints(have, high)), ints(have, high), x);
      if (low > sourceMin.getSExtValue())
        x = b.CreateSelect(b.CreateICmpSLT(x, ints(have, low)), ints(have, low), x);
    } else {
      uint64_t high = isSigned(to) ? (uint64_t(1) << (want - 1)) - 1
                                   : (want == 64 ? UINT64_MAX : (uint64_t(1) << want) - 1);
      if (high < APInt::getMaxValue(have).getZExtValue())
        x = b.CreateSelect(b.CreateICmpUGT(x, ints(have, high)), ints(have, high), x);
    }
  }
  if (want < have)
    return b.CreateTrunc(x, iN(want));
  if (want > have)
    return isSigned(from) ? b.CreateSExt(x, iN(want)) : b.CreateZExt(x, iN(want));
  return x;
}

} // namespace ptoas::native
