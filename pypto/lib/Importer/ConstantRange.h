//===- ConstantRange.h - does a number fit an element type? ---------------===//
//
// Conversions at run time keep the low bits; a constant that loses some is a mistake.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_LIB_IMPORTER_CONSTANTRANGE_H
#define PYPTO_LIB_IMPORTER_CONSTANTRANGE_H

#include "Val.h"

namespace pypto::importer {

/// True for everything but an integer constant outside the range of an integer type.
inline bool fits(const Val &constant, DType type) {
  auto number = constant.integer();
  if (!number || !isInteger(type))
    return true;
  unsigned bits = bitsOf(type);
  if (!isSigned(type))
    return *number >= 0 && (bits == 64 || *number < (int64_t(1) << bits));
  return bits == 64 ||
         (*number >= -(int64_t(1) << (bits - 1)) && *number < (int64_t(1) << (bits - 1)));
}

/// "-128 to 127"
inline std::string rangeOf(DType type) {
  unsigned bits = bitsOf(type);
  if (!isSigned(type))
    return "0 to " + std::to_string(bits == 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1);
  int64_t high = bits == 64 ? INT64_MAX : (int64_t(1) << (bits - 1)) - 1;
  return std::to_string(-high - 1) + " to " + std::to_string(high);
}

} // namespace pypto::importer
#endif // PYPTO_LIB_IMPORTER_CONSTANTRANGE_H
