//===- Elem.h - element types as the native target sees them --------------===//
#ifndef PTOAS_LIB_TARGET_NATIVE_ELEM_H
#define PTOAS_LIB_TARGET_NATIVE_ELEM_H

#include "mlir/IR/BuiltinTypes.h"
#include "ptoas/Dialect/PTO/IR/PTOTypes.h"
#include <optional>

namespace ptoas::native {

/// Small floats are carried as bits; only conversions and products look into them. Four-bit
/// elements are packed, two to a byte, and have ops of their own (SmallFloats.cpp).
enum class Elem : uint8_t {
  F16,
  BF16,
  F32,
  F64,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F8E4M3,
  F8E5M2,
  HiF8,
  F4E2M1,
  F4E1M2
};

inline bool isFloat(Elem e) { return e <= Elem::F64; }
/// Floats that are computed in single precision and rounded after each operation.
inline bool isSigned(Elem e) { return e <= Elem::I64; }
inline bool isInteger(Elem e) { return e >= Elem::I8; }
inline bool isSmallFloat(Elem e) { return e >= Elem::F8E4M3; }
inline bool isPacked(Elem e) { return e >= Elem::F4E2M1; }
inline unsigned bitsOf(Elem e) {
  constexpr uint8_t bits[] = {16, 16, 32, 64, 8, 16, 32, 64, 8, 16, 32, 64, 8, 8, 8, 4, 4};
  return bits[static_cast<unsigned>(e)];
}
/// Of one element; of packed ones the byte that it shares.
inline unsigned bytesOf(Elem e) { return isPacked(e) ? 1 : bitsOf(e) / 8; }

/// Signless integers are signed (spec/ptoas.md 3). Nothing for types that tiles hold but no native
/// code computes on (pairs of HiFloats).
inline std::optional<Elem> elemOf(mlir::Type type) {
  if (type.isF16())
    return Elem::F16;
  if (type.isBF16())
    return Elem::BF16;
  if (type.isF32())
    return Elem::F32;
  if (type.isF64())
    return Elem::F64;
  if (llvm::isa<mlir::Float8E4M3FNType>(type))
    return Elem::F8E4M3;
  if (llvm::isa<mlir::Float8E5M2Type>(type))
    return Elem::F8E5M2;
  if (llvm::isa<mlir::pto::HiF8Type>(type))
    return Elem::HiF8;
  if (llvm::isa<mlir::pto::F4E2M1x2Type>(type))
    return Elem::F4E2M1;
  if (llvm::isa<mlir::pto::F4E1M2x2Type>(type))
    return Elem::F4E1M2;
  // Scales: the exponent as it is, 127 for one.
  if (llvm::isa<mlir::Float8E8M0FNUType, mlir::pto::F8E8M0Type>(type))
    return Elem::U8;
  if (type.isIndex())
    return Elem::I64;
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 8:
      return isUnsigned ? Elem::U8 : Elem::I8;
    case 16:
      return isUnsigned ? Elem::U16 : Elem::I16;
    case 32:
      return isUnsigned ? Elem::U32 : Elem::I32;
    case 64:
      return isUnsigned ? Elem::U64 : Elem::I64;
    default:
      return std::nullopt;
    }
  }
  return std::nullopt;
}

} // namespace ptoas::native
#endif
