//===- Recursion.h - functions that call themselves ------------------------===//
#ifndef PTOAS_DIALECT_PTO_TRANSFORMS_RECURSION_H
#define PTOAS_DIALECT_PTO_TRANSFORMS_RECURSION_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::pto {

/// Fails, with an error at the call, when a function calls itself, directly or through others: the
/// cores have no stack of calls.
LogicalResult checkRecursion(ModuleOp module);

} // namespace mlir::pto

#endif // PTOAS_DIALECT_PTO_TRANSFORMS_RECURSION_H
