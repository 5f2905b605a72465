//===- CppOutput.h - from `.pto` text to C++ text -------------------------===//
//
// The whole assembler as one call on strings: parse, check, plan, order, emit. No MLIR
// type is visible here, so callers need neither its headers nor its flags.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_DRIVER_CPPOUTPUT_H
#define PTOAS_DRIVER_CPPOUTPUT_H

#include <string>
#include <string_view>

namespace ptoas {

struct CppRequest {
  /// "a2", "a3", "a5", or empty: the module says it.
  std::string arch;
  /// 1 and 2: the assembler places tiles; 3: every tile has an address.
  unsigned level = 3;
  bool insertSync = true;
  /// A comment with file, line and column in front of the code of each op.
  bool sourceLocations = false;
};

struct CppText {
  bool ok = false;
  std::string source;   // the C++ file when ok
  std::string messages; // errors and warnings, as `ptoas` prints them
};

/// Assembles one module. `name` stands for the file in messages. Threads may call this at the same
/// time; each call has its own state.
CppText assembleToCpp(std::string_view text, std::string_view name, const CppRequest &request);

} // namespace ptoas

#endif // PTOAS_DRIVER_CPPOUTPUT_H
