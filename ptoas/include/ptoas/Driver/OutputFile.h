//===- OutputFile.h - files that appear complete or not at all -------------===//
#ifndef PTOAS_DRIVER_OUTPUTFILE_H
#define PTOAS_DRIVER_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace ptoas {

/// Writes what `print` prints to the file `path` (`-`: standard output), beside its place first,
/// where it is moved when it is complete, with the permissions of the file that it replaces.
/// Devices and pipes are written as they are. Gives what went wrong in one line, nothing when all
/// is written.
std::string writeOutput(llvm::StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> print);

} // namespace ptoas

#endif // PTOAS_DRIVER_OUTPUTFILE_H
