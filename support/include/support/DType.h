//===- DType.h - element types and their codes ----------------------------===//
//
// One row per element type of the language (spec/dsl.md 6.1), with the code that
// the runtime's tensor descriptor uses (spec/simpler.md 2.1) and the pair that
// DLPack uses.
//
//===----------------------------------------------------------------------===//
#ifndef SUPPORT_DTYPE_H
#define SUPPORT_DTYPE_H

#include <cstdint>
#include <string_view>

namespace pto {

/// DLPack's (code, bits); code < 0: DLPack has no such type.
struct DLPackType {
  int code;
  int bits;
};

struct DType {
  std::string_view name;    // "FP32"
  std::string_view printed; // "fp32"
  int bits;
  uint8_t code; // language code (0x33)
  int runtime;  // DataType of the tensor descriptor, -1: none
  DLPackType dlpack;

  /// Bytes of one element, ceil(bits / 8).
  int bytes() const { return (bits + 7) / 8; }
  bool isFloat() const;
  bool isSignedInt() const;
  bool isUnsignedInt() const;
};

/// Null when there is no such type.
const DType *dtypeByName(std::string_view name);
const DType *dtypeByCode(uint8_t code);
/// The type that data with this DLPack pair has; 64-bit signed gives INT64, never INDEX.
const DType *dtypeByDLPack(int code, int bits);

/// All rows, in order of code.
struct DTypeRange {
  const DType *first, *last;
  const DType *begin() const { return first; }
  const DType *end() const { return last; }
};
DTypeRange dtypes();

} // namespace pto
#endif // SUPPORT_DTYPE_H
