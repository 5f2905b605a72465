//===- TileShape.h - N-D shapes as rows and columns -----------------------===//
//
// A tile has rows and columns: every axis but the last counts as rows (spec dsl 17);
// a value of rank 1 is one row.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_LIB_TRANSFORMS_TILESHAPE_H
#define PYPTO_LIB_TRANSFORMS_TILESHAPE_H

#include "pypto/Dialect/PyPTO/IR/PyPTO.h"

namespace pypto {

inline int64_t rowsOf(llvm::ArrayRef<int64_t> shape) {
  int64_t rows = 1;
  for (int64_t extent : shape.drop_back(shape.empty() ? 0 : 1))
    rows *= extent;
  return rows;
}
inline int64_t colsOf(llvm::ArrayRef<int64_t> shape) { return shape.empty() ? 1 : shape.back(); }

/// The axis that a valid row count of the flattened tile narrows: the only leading axis with extent
/// > 1, or the last leading axis if there is none. -1 if several leading axes have extent > 1 (rows
/// are then all valid).
inline int rowAxis(llvm::ArrayRef<int64_t> shape) {
  int axis = -1;
  for (int i = 0; i + 1 < int(shape.size()); ++i)
    if (shape[i] != 1) {
      if (axis >= 0)
        return -1;
      axis = i;
    }
  return axis >= 0 ? axis : int(shape.size()) - 2;
}

/// The 2-D tile type of a tensor value or N-D tile.
TileType flatTileType(mlir::Type type, MemorySpace space = MemorySpace::None);
TileType flatTileType(llvm::ArrayRef<int64_t> shape, mlir::Type elementType,
                      llvm::ArrayRef<int64_t> valid, MemorySpace space = MemorySpace::None,
                      bool transposed = false);

} // namespace pypto

#endif // PYPTO_LIB_TRANSFORMS_TILESHAPE_H
