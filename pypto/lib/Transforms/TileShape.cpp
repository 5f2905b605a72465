//===- TileShape.cpp - N-D shapes as rows and columns ---------------------===//
#include "TileShape.h"

using namespace mlir;

namespace pypto {

TileType flatTileType(ArrayRef<int64_t> shape, Type elementType, ArrayRef<int64_t> valid,
                      MemorySpace space, bool transposed) {
  int64_t rows = rowsOf(shape), cols = colsOf(shape);
  SmallVector<int64_t> flatValid;
  if (!valid.empty()) {
    int axis = rowAxis(shape);
    int64_t validRows = axis >= 0 ? valid[axis] : rows;
    int64_t validCols = valid.back();
    if (validRows != rows || validCols != cols)
      flatValid = {validRows, validCols};
  }
  return TileType::get({rows, cols}, elementType, space, flatValid, transposed);
}

TileType flatTileType(Type type, MemorySpace space) {
  if (auto tile = dyn_cast<TileType>(type))
    return flatTileType(tile.getShape(), tile.getElementType(), tile.getValid(),
                        tile.getMemorySpace() == MemorySpace::None ? space : tile.getMemorySpace(),
                        tile.getTransposed());
  auto tensor = cast<TensorType>(type);
  return flatTileType(tensor.getShape(), tensor.getElementType(), tensor.getValid(), space);
}

} // namespace pypto
