//===- AffineApply.h - index arithmetic in the words of affine maps --------===//
#ifndef PTOAS_LIB_DRIVER_AFFINEAPPLY_H
#define PTOAS_LIB_DRIVER_AFFINEAPPLY_H

#include "mlir/IR/BuiltinOps.h"

namespace ptoas {

/// Replaces each `affine.apply` by the arith operations that compute it; other operations of its
/// dialect are errors. What comes behind knows neither.
mlir::LogicalResult expandAffineApply(mlir::ModuleOp module);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_AFFINEAPPLY_H
