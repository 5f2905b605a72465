//===- PTOTypes.h - enums, attributes and types of the `pto` dialect ------===//
#ifndef PTOAS_DIALECT_PTO_IR_PTOTYPES_H
#define PTOAS_DIALECT_PTO_IR_PTOTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "ptoas/Dialect/PTO/IR/PTODialect.h"

#include "ptoas/Dialect/PTO/IR/PTOEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ptoas/Dialect/PTO/IR/PTOAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ptoas/Dialect/PTO/IR/PTOTypes.h.inc"

namespace mlir::pto {

/// Whole bytes of an element; 0 when it has none (sub-byte or not an element type).
int64_t getElementBytes(Type type);

} // namespace mlir::pto

#endif // PTOAS_DIALECT_PTO_IR_PTOTYPES_H
