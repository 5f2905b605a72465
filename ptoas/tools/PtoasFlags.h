//===- PtoasFlags.h - flags of other assemblers ---------------------------===//
//
// Flags that scripts written for upstream's `ptoas` pass. Those that ask for what this
// assembler has under another name select it; those that only tune another back end are
// taken with a warning; those that ask for another back end's output are errors.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_TOOLS_PTOASFLAGS_H
#define PTOAS_TOOLS_PTOASFLAGS_H

#include "llvm/Support/CommandLine.h"
#include <string>

namespace ptoas {

/// The category under which `--help` lists them.
llvm::cl::OptionCategory &foreignFlags();

/// False, with a message, when a flag asks for what is not there. `insertSync` is set by the flag
/// that names another algorithm for the insertion of flags.
bool checkForeignFlags(std::string &message, bool &insertSync);

} // namespace ptoas

#endif // PTOAS_TOOLS_PTOASFLAGS_H
