//===- DType.h - element types of the language ----------------------------===//
#ifndef PYPTO_LIB_IMPORTER_DTYPE_H
#define PYPTO_LIB_IMPORTER_DTYPE_H

#include "mlir/IR/BuiltinTypes.h"
#include <optional>
#include <string>

namespace pypto::importer {

/// spec/dsl.md 6.1. INDEX is 64 bits and signed; it has its own MLIR type.
enum class DType {
  Bool,
  Int4,
  Int8,
  Int16,
  Int32,
  Int64,
  Index,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  FP4,
  FP8E4M3FN,
  FP8E5M2,
  FP8E8M0,
  FP16,
  BF16,
  FP32,
  TaskId,
};

/// "FP32" -> DType::FP32; none for names that this compiler does not know.
std::optional<DType> dtypeByName(llvm::StringRef name);
llvm::StringRef nameOf(DType type);
bool isFloat(DType type);
/// Integers without BOOL.
bool isInteger(DType type);
bool isSigned(DType type);
unsigned bitsOf(DType type);
/// Null for TASK_ID, which is a type of the dialect.
mlir::Type builtinType(mlir::MLIRContext *context, DType type);
std::optional<DType> dtypeOf(mlir::Type type);

/// INDEX and INT64 mix freely; other types are compatible only with themselves.
inline bool compatible(DType a, DType b) {
  auto wide = [](DType t) { return t == DType::Index || t == DType::Int64; };
  return a == b || (wide(a) && wide(b));
}

} // namespace pypto::importer
#endif // PYPTO_LIB_IMPORTER_DTYPE_H
