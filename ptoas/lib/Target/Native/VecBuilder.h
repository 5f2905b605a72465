//===- VecBuilder.h - element arithmetic on vectors of lanes --------------===//
//
// Emits the arithmetic of the instruction set for a given number of lanes; one
// lane means scalars. A value in a register has the type regType(elem): BF16 is
// carried as a FP32 whose low 16 bits are zero, everything else as itself.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_LIB_TARGET_NATIVE_VECBUILDER_H
#define PTOAS_LIB_TARGET_NATIVE_VECBUILDER_H

#include "Elem.h"
#include "llvm/IR/IRBuilder.h"

namespace ptoas::native {

enum class Binary { Add, Sub, Mul, Div, Max, Min, Rem, FMod, And, Or, Xor, Shl, Shr, PRelu };
enum class Unary { Abs, Neg, Not, Relu, Exp, Log, Sqrt, Rsqrt, Recip };
enum class Compare { Eq, Ne, Lt, Le, Gt, Ge }; // values of pto's CmpMode
/// Values of pto's RoundMode.
enum class Round { None, Rint, Round, Floor, Ceil, Trunc, Odd, CastRint };

class VecBuilder {
public:
  VecBuilder(llvm::IRBuilder<> &b, unsigned lanes, bool avx512) : b(b), n(lanes), avx512(avx512) {}

  unsigned lanes() const { return n; }

  llvm::Type *vec(llvm::Type *scalar) const;
  llvm::Type *f32() const { return vec(b.getFloatTy()); }
  llvm::Type *iN(unsigned bits) const { return vec(b.getIntNTy(bits)); }
  llvm::Type *memType(Elem e) const;
  llvm::Type *regType(Elem e) const;
  llvm::Value *splat(llvm::Value *scalar) const;
  llvm::Constant *fp(double value) const;                    // FP32 lanes
  llvm::Constant *ints(unsigned bits, uint64_t value) const; // integer lanes
  llvm::Constant *constant(Elem e, double value) const;      // register form
  llvm::Value *iota(unsigned bits) const;

  /// Between memory form (BF16 as i16) and register form.
  llvm::Value *fromMemory(llvm::Value *v, Elem e) const;
  llvm::Value *toMemory(llvm::Value *v, Elem e) const;
  /// A scalar of the C type (bfloat for BF16) to the register form, broadcast.
  llvm::Value *fromScalar(llvm::Value *v, Elem e) const;

  /// Result in register form, rounded to `e`. Integers wrap; division and remainder by zero give 0;
  /// shifts by the width or more give 0 or the sign.
  llvm::Value *binary(Binary op, Elem e, llvm::Value *x, llvm::Value *y) const;
  llvm::Value *unary(Unary op, Elem e, llvm::Value *x) const;
  llvm::Value *compare(Compare mode, Elem e, llvm::Value *x, llvm::Value *y) const;
  llvm::Value *select(llvm::Value *mask, llvm::Value *x, llvm::Value *y) const {
    return b.CreateSelect(mask, x, y);
  }
  /// Conversion with rounding and saturation (pto-isa 6.5); VecConvert.cpp.
  llvm::Value *convert(llvm::Value *x, Elem from, Elem to, Round mode, bool saturate) const;
  /// FP32 (or the element type itself) to `e`'s register form, nearest even.
  llvm::Value *roundTo(Elem e, llvm::Value *x) const;
  /// Register form of a float element to FP32 lanes (FP64 stays).
  llvm::Value *widen(Elem e, llvm::Value *x) const;

  llvm::Value *exp(llvm::Value *x) const;
  llvm::Value *log(llvm::Value *x) const;
  llvm::Value *fma(llvm::Value *x, llvm::Value *y, llvm::Value *z) const;
  llvm::Value *roundFloat(llvm::Value *x, Round mode) const;
  llvm::Value *bitcastTo(llvm::Value *x, llvm::Type *scalarType) const;

  llvm::IRBuilder<> &b;

private:
  llvm::Value *integerDivide(Elem e, llvm::Value *x, llvm::Value *y, bool remainder) const;
  llvm::Value *wideDivide(Elem e, llvm::Value *x, llvm::Value *y, bool remainder) const;
  llvm::Value *floatToInt(llvm::Value *x, Elem to, Round mode, bool saturate) const;
  llvm::Value *intToF32(llvm::Value *x, Elem from, Round mode) const;
  llvm::Value *narrowToF16(llvm::Value *x, Round mode) const;
  llvm::Value *narrowToBF16(llvm::Value *x, Round mode) const;
  llvm::Value *scaleByPowerOfTwo(llvm::Value *x, llvm::Value *exponent) const;
  llvm::Value *unaryIntrinsic(llvm::Intrinsic::ID id, llvm::Value *x) const;

  unsigned n;
  bool avx512;
};

} // namespace ptoas::native
#endif
