//===- ScaleTiles.h - which side's scales a tile holds --------------------===//
#ifndef PTOAS_LIB_TARGET_CPP_SCALETILES_H
#define PTOAS_LIB_TARGET_CPP_SCALETILES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace ptoas::cpp {

/// The dialect has one space for scales, the instructions have two for those of a scaled matrix
/// product ("ScaleLeft", "ScaleRight") beside that of the fixed pipe ("Scaling"). Tiles that a
/// product uses, other handles of the same tiles, and arguments that they are passed to.
llvm::DenseMap<mlir::Value, llvm::StringRef> findScaleTiles(mlir::ModuleOp module);

} // namespace ptoas::cpp

#endif // PTOAS_LIB_TARGET_CPP_SCALETILES_H
