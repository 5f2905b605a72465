//===- Execute.h - runs torch operators on the device ---------------------===//
#pragma once

#include "Storage.h"

#include <ATen/core/dispatch/Dispatcher.h>

namespace npu {

/// A CPU tensor over the bytes of a device tensor (base format): same sizes, strides, offset,
/// dtype.
at::Tensor aliasOnCpu(const at::Tensor &tensor);

/// A device tensor for a result of a CPU kernel that ran in a KernelScope of `stream`.
at::Tensor wrapResult(const at::Tensor &cpu, Stream &stream);

/// A new, uninitialised device tensor.
at::Tensor emptyOn(int device, at::IntArrayRef sizes, at::IntArrayRef strides,
                   at::ScalarType dtype);

/// The boxed kernel of every operator that has none of its own: executes the operator's CPU kernel
/// in stream order on the tensors' bytes. If the stream is busy, or captured, the output shapes
/// come from the operator's Meta kernel and the work is queued, or becomes a graph node; operators
/// whose result the host needs at once wait.
void executeBoxed(const c10::OperatorHandle &op, torch::jit::Stack *stack);

/// While counting is on: how often each operator ran through executeBoxed(), by name. For tests
/// that must know whether an operator had a kernel of its own.
std::vector<std::pair<std::string, int64_t>> executedOperators(bool reset);
void countExecuted(bool on);

} // namespace npu
