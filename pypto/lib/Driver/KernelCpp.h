//===- KernelCpp.h - a kernel as a C++ file -------------------------------===//
#ifndef PYPTO_LIB_DRIVER_KERNELCPP_H
#define PYPTO_LIB_DRIVER_KERNELCPP_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace pypto {

/// The C++ file of a module that holds one kernel in the text form: what the assembler makes of it,
/// and `wrapper`, its entry. "" where the assembler has no C++ for it; `problem` then says why. The
/// module is changed.
std::string kernelCpp(mlir::ModuleOp module, llvm::StringRef kernel, llvm::StringRef wrapper,
                      std::string &problem);

} // namespace pypto

#endif // PYPTO_LIB_DRIVER_KERNELCPP_H
