//===- Ops.h - kernels as torch operators ---------------------------------===//
//
// An operator has two overloads at most: one that makes its results (functional) and one whose
// caller passes all tensors (mutating). Both have a boxed kernel for "cpu" and "npu", and one for
// autograd that bumps versions, refuses what has no derivative, and records a backward rule.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_BINDINGS_TORCH_OPS_H
#define PYPTO_BINDINGS_TORCH_OPS_H

#include "Device.h"

#include <torch/library.h>

namespace pypto::torch_ops {

/// How a result of the functional overload is made.
struct OutputRule {
  int param;            ///< of the kernel
  bool copy;            ///< a copy of the argument (InOut) instead of fresh memory
  at::ScalarType dtype; ///< Undefined: that of `like`
  int like;             ///< parameter whose shape it has, -1: `dims` say
  /// Each a constant, or the extent of an axis of a parameter.
  struct Dim {
    int64_t constant;
    int param = -1, axis = 0;
  };
  std::vector<Dim> dims;
};

/// The derivative of a functional overload: called with some of the gradients, arguments and
/// results.
struct BackwardRule {
  struct Source {
    enum Kind { Gradient, Argument, Result } kind;
    int index; ///< of the result, or of the operator's argument
  };
  std::vector<Source> sources;
  /// Operator argument that each value it gives is the gradient of.
  std::vector<int> targets;
  PyObject *function = nullptr;              ///< owned; called under the GIL
  std::optional<c10::OperatorHandle> handle; ///< or an operator
};

struct Op {
  std::string name;     ///< "ns::name"
  std::string overload; ///< "" or "out"
  Kernel *kernel = nullptr;
  std::vector<int> arguments;      ///< kernel parameter of each operator argument
  std::vector<OutputRule> outputs; ///< functional overload; empty for the mutating one
  std::optional<BackwardRule> backward;

  std::string shown() const { return overload.empty() ? name : name + "." + overload; }
};

/// Installs the kernels of an operator whose schema is defined. They stay until `remove`.
int64_t install(std::unique_ptr<Op> op);
void remove(int64_t handle);

} // namespace pypto::torch_ops
#endif // PYPTO_BINDINGS_TORCH_OPS_H
