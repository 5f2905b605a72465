//===- SourceLines.h - which source lines a message shows ------------------===//
#ifndef PTOAS_LIB_DRIVER_SOURCELINES_H
#define PTOAS_LIB_DRIVER_SOURCELINES_H

#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace ptoas {

/// Messages about `sources` go to `os`, with their line of the source only where that is text of a
/// readable length: a terminal takes signs of a binary file for commands.
void showReadableLines(llvm::SourceMgr &sources, llvm::raw_ostream &os);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_SOURCELINES_H
