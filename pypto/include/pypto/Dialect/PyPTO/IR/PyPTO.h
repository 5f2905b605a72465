//===- PyPTO.h - the pypto dialect ----------------------------------------===//
//
// Types, enumerations and ops of the dialect. The op table (Python signatures,
// families, instructions) is OpTable.h.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_DIALECT_PYPTO_IR_PYPTO_H
#define PYPTO_DIALECT_PYPTO_IR_PYPTO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "pypto/Dialect/PyPTO/IR/PyPTODialect.h.inc"
#include "pypto/Dialect/PyPTO/IR/PyPTOEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "pypto/Dialect/PyPTO/IR/PyPTOTypes.h.inc"

#define GET_OP_CLASSES
#include "pypto/Dialect/PyPTO/IR/PyPTOOps.h.inc"

namespace pypto {

/// Shape, element type and valid extents of a tensor or tile type; empty shape for others.
llvm::ArrayRef<int64_t> shapeOf(mlir::Type type);
llvm::ArrayRef<int64_t> validShapeOf(mlir::Type type);
mlir::Type elementTypeOf(mlir::Type type); // null for others

} // namespace pypto

#endif // PYPTO_DIALECT_PYPTO_IR_PYPTO_H
