//===- BytecodeFormat.h - numbers that reader and writer share ------------===//
#ifndef PTOAS_LIB_DRIVER_BYTECODEFORMAT_H
#define PTOAS_LIB_DRIVER_BYTECODEFORMAT_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace ptoas::bytecode {

inline const llvm::StringRef kMagic("PTOBC\0", 6);
inline constexpr uint16_t kVersion = 1;
inline constexpr size_t kHeaderSize = 10; // magic, version, flags
enum Section : uint8_t { Strings = 1, Types = 2, Attrs = 3, Module = 6, DebugInfo = 7 };

// STRINGS, TYPES, ATTRS: count; for each its size and text.
// MODULE: number of values, the types of these; the module op.
// Op: name (string), attributes (1 + number, 0: none), operands (count, values), results (count,
// values), successors (count, numbers of blocks), regions (count; each: number of blocks, for each
// block its arguments (count, values) and number of ops; then the ops of all blocks).
// DEBUGINFO: the location (1 + string, 0: unknown) of each op and each block argument in that
// order.

} // namespace ptoas::bytecode

#endif // PTOAS_LIB_DRIVER_BYTECODEFORMAT_H
