//===- TensorRoots.h - which buffer a tensor value names ------------------===//
//
// A tensor value of global memory is another name of a buffer: a parameter, a
// create_tensor of an orchestration, or a window of one. Values computed inside a
// kernel have no buffer.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_LIB_TRANSFORMS_TENSORROOTS_H
#define PYPTO_LIB_TRANSFORMS_TENSORROOTS_H

#include "pypto/Dialect/PyPTO/IR/PyPTO.h"

namespace pypto {

/// Functions that run on a core, as opposed to orchestrations.
bool isKernel(mlir::Operation *func);

/// The value whose result is just another name of the same window: the destination of a write,
/// the initial value of a loop-carried tensor that every iteration passes on. Else `value`.
mlir::Value sameTensor(mlir::Value value);

/// The buffer behind a tensor value: a function argument, a create_tensor, or another value that
/// names memory of its own; looks through windows and writes.
mlir::Value rootOf(mlir::Value value);

/// True if `value` (a tensor value in a kernel) is global memory: its root is a parameter of the
/// function.
bool isGlobalMemory(mlir::Value value);

/// Strides of a tensor value of an orchestration in elements, kDynamic where not constant.
llvm::SmallVector<int64_t> stridesOf(mlir::Value value);
llvm::SmallVector<int64_t> packedStrides(llvm::ArrayRef<int64_t> shape);

/// Constant of an index operand, if it is one.
std::optional<int64_t> constantOf(mlir::Value value);

} // namespace pypto

#endif // PYPTO_LIB_TRANSFORMS_TENSORROOTS_H
