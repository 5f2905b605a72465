//===- ObjectFile.h - LLVM IR to a relocatable object ---------------------===//
#ifndef PTOAS_LIB_TARGET_NATIVE_OBJECTFILE_H
#define PTOAS_LIB_TARGET_NATIVE_OBJECTFILE_H

#include "ptoas/Target/Native/Native.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
}

namespace ptoas::native {

/// Sets triple and data layout of `module` for `target`. Call before emitting code into it.
llvm::Error prepareModule(llvm::Module &module, const HostTarget &target);

/// Runs the short pipeline and the code generator; `object` receives ELF bytes. With `dumpDir`
/// the optimised IR and the assembly are written there. Any thread; one machine per thread.
llvm::Error emitObject(llvm::Module &module, const HostTarget &target,
                       llvm::SmallVectorImpl<char> &object, llvm::StringRef dumpDir = "");

} // namespace ptoas::native
#endif
