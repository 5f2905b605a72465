//===- GlobalWindow.h - which part of a tensor an instruction touches -----===//
#ifndef PTOAS_LIB_DIALECT_PTO_TRANSFORMS_GLOBALWINDOW_H
#define PTOAS_LIB_DIALECT_PTO_TRANSFORMS_GLOBALWINDOW_H

#include "ptoas/Dialect/PTO/IR/PTOOps.h"

namespace mlir::pto {

/// A number as a program computes it: a constant plus multiples of values.
struct LinearForm {
  int64_t constant = 0;
  SmallVector<std::pair<Value, int64_t>, 2> terms; // no value twice

  bool operator==(const LinearForm &other) const;
};
LinearForm getLinearForm(Value value);

/// A window of a tensor, in the coordinates of the tensor.
struct GlobalWindow {
  Value value;
  MakeTensorViewOp tensor;
  SmallVector<LinearForm, 5> offsets;
  SmallVector<int64_t, 5> sizes; // at most; -1: not known

  /// Whether it lies elsewhere in each iteration of `loop`, or may.
  bool dependsOn(Operation *loop) const;
};

/// Null if `value` is not a window of a tensor in which each element has a place of its own.
std::shared_ptr<const GlobalWindow> getGlobalWindow(Value value);

/// Whether two windows surely have no element in common. `agedBy`: the loop in an earlier iteration
/// of which `earlier` was touched; null: where both were, all values were the same.
bool areDisjoint(const GlobalWindow &earlier, const GlobalWindow &later, Operation *agedBy);

} // namespace mlir::pto

#endif // PTOAS_LIB_DIALECT_PTO_TRANSFORMS_GLOBALWINDOW_H
