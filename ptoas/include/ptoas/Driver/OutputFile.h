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

/// Removes the file `path` that an earlier run left behind: after a run that failed it would look
/// like the result. The file that was read, and devices and pipes, stay.
void dropOutput(llvm::StringRef path, llvm::StringRef input);

} // namespace ptoas

#endif // PTOAS_DRIVER_OUTPUTFILE_H
