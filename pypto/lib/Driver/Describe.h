//===- Describe.h - entries and kernels of a module, for callers ----------===//
#ifndef PYPTO_LIB_DRIVER_DESCRIBE_H
#define PYPTO_LIB_DRIVER_DESCRIBE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pypto/Driver/Compiler.h"

namespace pypto {

/// Parameters of an entry, in order. `lowered`: with the shapes that they have in memory.
std::vector<ParamInfo> describeParameters(mlir::func::FuncOp entry, bool lowered = false);

/// Kernels that an entry launches, by first use. Between outlineScopes and lowerOrchestration.
std::vector<KernelDescription> describeKernels(mlir::func::FuncOp entry);

} // namespace pypto

#endif // PYPTO_LIB_DRIVER_DESCRIBE_H
