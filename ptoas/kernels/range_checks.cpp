//===- range_checks.cpp - faults that end a kernel ------------------------===//
#include "ptoas/Target/Native/Cluster.h"

using ptoas::Cluster;
using ptoas::Place;

/// An extent, offset, slot or address of the running program is not between 0 and `high`
/// (INT64_MAX: only not negative). `what`: place, instruction, and what the number is.
extern "C" __attribute__((visibility("default"), used)) void
pto_range_failed(Place *place, const char *what, int64_t number, int64_t high) {
  std::string message = std::string(what) + " is " + std::to_string(number);
  if (high == INT64_MAX)
    message += ", which must not be negative";
  else if (high < 0)
    message += ", but nothing fits there";
  else
    message += ", which must be between 0 and " + std::to_string(high);
  Cluster::report(place, message);
}

/// A tile starts where none may.
extern "C" __attribute__((visibility("default"), used)) void
pto_alignment_failed(Place *place, const char *what, int64_t address, int64_t alignment) {
  Cluster::report(place, std::string(what) + " at address " + std::to_string(address) +
                             ", which must be a multiple of " + std::to_string(alignment));
}

/// pto.trap: the kernel ends, and so does the function that has called it.
extern "C" __attribute__((visibility("default"), used)) void pto_trap_reached(Place *place,
                                                                              const char *where) {
  std::string message = std::string(where) + ": error: 'pto.trap' op was reached";
  if (place)
    Cluster::fail(place, message);
  Cluster::report(place, message);
}
