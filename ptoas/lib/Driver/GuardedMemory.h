//===- GuardedMemory.h - arrays whose bounds the hardware watches ---------===//
#ifndef PTOAS_LIB_DRIVER_GUARDEDMEMORY_H
#define PTOAS_LIB_DRIVER_GUARDEDMEMORY_H

#include "llvm/ADT/ArrayRef.h"
#include <cstddef>
#include <string>

namespace ptoas {

/// A copy of an array between pages that cannot be touched, 256 MiB on either side. Code that reads
/// or writes there ends the process with exit status 1 and a message that has `name` in it. The
/// data starts on a 64-byte boundary, so up to 63 bytes behind them are not watched. Not movable;
/// made and destroyed while no such code runs.
class GuardedMemory {
public:
  GuardedMemory(std::string name, llvm::ArrayRef<char> contents);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  /// Null when the system has no room for it.
  char *data() const { return start; }
  size_t size() const { return bytes; }

private:
  friend struct GuardReport;
  std::string name;
  char *mapping = nullptr, *start = nullptr;
  size_t bytes, mappedBytes = 0;
  GuardedMemory *next; // all that exist, for the signal handler
};

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_GUARDEDMEMORY_H
