//===- KernelCpp.h - a kernel as a C++ file -------------------------------===//
#ifndef PYPTO_LIB_DRIVER_KERNELCPP_H
#define PYPTO_LIB_DRIVER_KERNELCPP_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace pypto {

/// Gives the tiles of a module in the text form (level2) their scratch tiles and addresses, as the
/// assembler does: it is of level3 then. False where the assembler refuses it; `problem` says why,
/// and the module is of no use any more.
bool placeTiles(mlir::ModuleOp module, std::string &problem);

/// The C++ file of a placed module that holds one kernel: what the assembler makes of it, and
/// `wrapper`, its entry. "" where the assembler has no C++ for it; `problem` then says why. The
/// module is changed.
std::string kernelCpp(mlir::ModuleOp module, llvm::StringRef kernel, llvm::StringRef wrapper,
                      std::string &problem);

} // namespace pypto

#endif // PYPTO_LIB_DRIVER_KERNELCPP_H
