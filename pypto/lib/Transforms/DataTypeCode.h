//===- DataTypeCode.h - element types as simpler numbers them -------------===//
#ifndef PYPTO_LIB_TRANSFORMS_DATATYPECODE_H
#define PYPTO_LIB_TRANSFORMS_DATATYPECODE_H

#include "mlir/IR/BuiltinTypes.h"

namespace pypto {

/// DataType of simpler/data_type.h; -1 for types that no tensor in memory has.
inline int64_t dataTypeCode(mlir::Type type) {
  if (type.isF32())
    return 0;
  if (type.isF16())
    return 1;
  if (type.isBF16())
    return 6;
  if (type.isIndex())
    return 7;
  auto integer = llvm::dyn_cast<mlir::IntegerType>(type);
  if (!integer)
    return llvm::isa<mlir::Float8E4M3FNType>(type)    ? 12
           : llvm::isa<mlir::Float8E8M0FNUType>(type) ? 13
           : llvm::isa<mlir::Float8E5M2Type>(type)    ? 5 // no number of its own: bytes
                                                      : -1;
  bool u = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return 11;
  case 8:
    return u ? 5 : 4;
  case 16:
    return u ? 9 : 3;
  case 32:
    return u ? 10 : 2;
  case 64:
    return u ? 8 : 7;
  }
  return -1;
}

} // namespace pypto

#endif // PYPTO_LIB_TRANSFORMS_DATATYPECODE_H
