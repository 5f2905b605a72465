//===- comm_context.h - windows of a communication domain -----------------===//
//
// Byte-exact: the tile library knows the same structure under another name (spec 8.2).
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstddef>
#include <cstdint>

struct CommContext {
  uint64_t workSpace;
  uint64_t workSpaceSize;
  uint32_t rankId;
  uint32_t rankNum;
  uint64_t winSize;
  uint64_t windowsIn[64];
  uint64_t windowsOut[64];
};
static_assert(sizeof(CommContext) == 1056 && offsetof(CommContext, windowsIn) == 32 &&
              offsetof(CommContext, windowsOut) == 544);

/// The peer's copy of an address in this rank's window.
inline uint64_t comm_peer_address(const CommContext &context, uint32_t peer, uint64_t local) {
  return context.windowsIn[peer] + (local - context.windowsIn[context.rankId]);
}
