//===- task_id.h - names of submitted tasks -------------------------------===//
//
// One word: bits 0..31 number of the task in its run, 32..39 ring (scope depth,
// at most 3), 40..63 a tag of the run, so that an id of another run is refused
// instead of naming some task of this one. All ones is "no task" (spec 2.3).
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_TASK_ID_H
#define SIMPLER_TASK_ID_H

#include <cstdint>

struct PTO2TaskId {
  uint64_t raw = UINT64_MAX;

  static constexpr PTO2TaskId make(uint8_t ring, uint32_t local) {
    return {(static_cast<uint64_t>(ring) << 32) | local};
  }
  static constexpr PTO2TaskId invalid() { return {UINT64_MAX}; }

  constexpr uint8_t ring() const { return static_cast<uint8_t>(raw >> 32); }
  constexpr uint32_t local() const { return static_cast<uint32_t>(raw); }
  constexpr bool is_valid() const { return raw != UINT64_MAX; }

  friend constexpr bool operator==(PTO2TaskId a, PTO2TaskId b) { return a.raw == b.raw; }
  friend constexpr bool operator!=(PTO2TaskId a, PTO2TaskId b) { return a.raw != b.raw; }
};

static_assert(sizeof(PTO2TaskId) == 8);

#endif // SIMPLER_TASK_ID_H
