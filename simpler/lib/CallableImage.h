//===- CallableImage.h - memory image of callables (spec 9.4) -------------===//
#ifndef SIMPLER_CALLABLE_IMAGE_H
#define SIMPLER_CALLABLE_IMAGE_H

#include <cstdint>

namespace simpler {

/// A kernel: this header, then the object at the next multiple of 64.
struct CoreImage {
  int32_t signature[32]; // ArgDirection
  int32_t signatureCount;
  uint32_t binarySize;
  uint64_t resolvedAddress;
};

/// An orchestration with kernels: this header, then the orchestration object, then the kernels,
/// each aligned to 64.
struct CallableImage {
  static constexpr uint32_t kMaxSignature = 256, kMaxChildren = 1024, kNameBytes = 64;
  int32_t signature[kMaxSignature];
  int32_t signatureCount;
  uint32_t binarySize;
  char entry[kNameBytes];
  uint32_t entryLength;
  int32_t childIds[kMaxChildren];
  uint32_t childOffsets[kMaxChildren]; // from the end of this header
  uint32_t childCount;
  char config[kNameBytes];
  uint32_t configLength;
};

constexpr uint64_t alignImage(uint64_t offset) { return (offset + 63) / 64 * 64; }

} // namespace simpler

#endif // SIMPLER_CALLABLE_IMAGE_H
