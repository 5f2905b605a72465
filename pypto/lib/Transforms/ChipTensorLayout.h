//===- ChipTensorLayout.h - offsets that generated code relies on ---------===//
//
// Bytes of ChipTensor and SimplerLaunch (simpler/tensor.h, simpler/c_api.h; spec simpler 2.2), and
// the form of scalar words.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_LIB_TRANSFORMS_CHIPTENSORLAYOUT_H
#define PYPTO_LIB_TRANSFORMS_CHIPTENSORLAYOUT_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace pypto {

namespace ChipTensorLayout {
constexpr int64_t bytes = 128, addr = 0, startOffset = 24, shapes = 44, strides = 72;
} // namespace ChipTensorLayout

namespace LaunchLayout {
constexpr int64_t bytes = 64, blockNum = 0, syncStart = 4, earlyResolve = 5, predicateOp = 6,
                  numDeps = 8, deps = 16, predicateTensor = 24, predicateIndex = 32,
                  predicateTarget = 56;
} // namespace LaunchLayout

/// A scalar argument from its 64-bit word: integers in the low bits, FP32 as its bits, FP16 and
/// BF16 as FP32.
mlir::Value scalarFromWord(mlir::OpBuilder &b, mlir::Location loc, mlir::Value word,
                           mlir::Type type);
mlir::Value wordFromScalar(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar,
                           bool isUnsigned);

} // namespace pypto

#endif // PYPTO_LIB_TRANSFORMS_CHIPTENSORLAYOUT_H
