//===- Link.h - objects to a shared object, in memory ---------------------===//
#ifndef PTOAS_LIB_TARGET_NATIVE_LINK_H
#define PTOAS_LIB_TARGET_NATIVE_LINK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace ptoas::native {

/// Links one relocatable ELF object to the bytes of a shared object with the in-process linker.
/// Undefined symbols stay undefined: dlopen resolves them. Calls from several threads take turns
/// (the linker keeps global state).
llvm::Expected<std::vector<char>> linkSharedObject(llvm::ArrayRef<char> object);

} // namespace ptoas::native
#endif
