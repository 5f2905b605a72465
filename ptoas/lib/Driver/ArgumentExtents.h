//===- ArgumentExtents.h - how much of its arrays a kernel covers ---------===//
#ifndef PTOAS_LIB_DRIVER_ARGUMENTEXTENTS_H
#define PTOAS_LIB_DRIVER_ARGUMENTEXTENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cstdint>

namespace ptoas {

/// An array or a scalar that a kernel is called with.
struct ArgumentValue {
  int64_t bytes = 0; // of an array
  uint64_t word = 0; // of a scalar
  bool isKnown = true;
};

/// Fails, with a diagnostic at the op, when a view, a window or a scalar access of `kernel` that
/// starts at a pointer argument is sure to lie outside the array given for it. What depends on
/// more than constants and scalar arguments (loop variables, block numbers) is not checked.
/// `values`: one per argument.
mlir::LogicalResult checkArgumentExtents(mlir::func::FuncOp kernel,
                                         llvm::ArrayRef<ArgumentValue> values);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_ARGUMENTEXTENTS_H
