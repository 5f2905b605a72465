//===- Extents.h - sizes that a program may ask for -----------------------===//
//
// Descriptors hold an extent in 32 bits, instructions as a signed number, and the
// compiler multiplies extents in 64 bits. Sizes are checked against these limits
// where a tensor, tile, loop or launch comes to be; later steps rely on it.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_LIB_IMPORTER_EXTENTS_H
#define PYPTO_LIB_IMPORTER_EXTENTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"
#include <cstdint>
#include <optional>
#include <string>

namespace pypto::importer {

/// Of an axis, and of the step of a loop. Also the most blocks of a launch.
inline constexpr int64_t maxExtent = INT32_MAX;
/// Elements of a tensor or tile, so that bytes and bits fit into 64 bits with room.
inline constexpr int64_t maxElements = (int64_t(1) << 58) - 1;
/// Elements of a pl.array, which lies on the stack.
inline constexpr int64_t maxArrayExtent = 65536;
/// Absolute value of a constant loop bound: distances and the last step fit into 64 bits.
inline constexpr int64_t maxLoopBound = (int64_t(1) << 62) - 1;

struct SizeFault {
  std::optional<size_t> axis; // none: all axes together
  std::string message;
};

/// What is too large in a shape; extents that are unknown until run time are none.
inline std::optional<SizeFault> sizeFault(llvm::ArrayRef<std::optional<int64_t>> extents) {
  uint64_t elements = 1;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (!extents[axis])
      continue;
    if (*extents[axis] > maxExtent)
      return SizeFault{axis, "extent " + std::to_string(*extents[axis]) + " of axis " +
                                 std::to_string(axis) + " is larger than " +
                                 std::to_string(maxExtent)};
    // An empty axis does not make the strides of the others smaller.
    if (*extents[axis] > 1)
      elements = llvm::SaturatingMultiply<uint64_t>(elements, *extents[axis]);
  }
  if (elements <= static_cast<uint64_t>(maxElements))
    return std::nullopt;
  std::string text;
  for (const std::optional<int64_t> &extent : extents)
    text += (text.empty() ? "" : ", ") + (extent ? std::to_string(*extent) : std::string("?"));
  return SizeFault{std::nullopt, "shape [" + text + "] has more than 2^58 elements"};
}

} // namespace pypto::importer
#endif // PYPTO_LIB_IMPORTER_EXTENTS_H
