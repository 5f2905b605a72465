//===- TileChecks.h - helpers of the rules that need code -----------------===//
#ifndef PTOAS_LIB_DIALECT_PTO_IR_TILECHECKS_H
#define PTOAS_LIB_DIALECT_PTO_IR_TILECHECKS_H

#include "OpSupport.h"

namespace mlir::pto {

/// The type of a named tile operand; null when it is absent or no tile.
inline TileBufType tileOf(Operation *op, StringRef name) {
  Value value = cast<TileOpInterface>(op).getNamedOperand(name);
  return value ? dyn_cast<TileBufType>(value.getType()) : TileBufType();
}

inline Value operandOf(Operation *op, StringRef name) {
  return cast<TileOpInterface>(op).getNamedOperand(name);
}

/// Whether two extents may be equal: `?` fits anything.
inline bool mayEqual(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}
inline bool mayBeAtMost(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a <= b;
}
inline std::string extentText(int64_t value) {
  return ShapedType::isDynamic(value) ? "?" : std::to_string(value);
}
inline std::string validText(TileBufType type) {
  return extentText(type.getValidRow()) + "x" + extentText(type.getValidCol());
}
inline std::string shapeText(TileBufType type) {
  return std::to_string(type.getRows()) + "x" + std::to_string(type.getCols());
}
inline bool hasElem(TileBufType type, unsigned set) {
  return elem::classify(type.getElementType()) & set;
}
/// Boxes of 16 x 32 bytes in column order, the layout of L1 (NZ).
inline bool isNZ(TileBufType type) {
  return type.isColMajor() && type.getSlayout() == SLayout::RowMajor && type.getFractal() == 512;
}
/// Accumulators come column-major with row-major boxes.
inline bool isColRow(TileBufType type) {
  return type.isColMajor() && type.getSlayout() == SLayout::RowMajor;
}

/// A function that is neither a cube nor a vector kernel holds code of both cores; the
/// way between them is then the implementation's, on every architecture.
bool isMixedBody(Operation *op);

} // namespace mlir::pto

#endif // PTOAS_LIB_DIALECT_PTO_IR_TILECHECKS_H
