//===- Passes.h - passes over the `pto` dialect ---------------------------===//
#ifndef PTOAS_DIALECT_PTO_TRANSFORMS_PASSES_H
#define PTOAS_DIALECT_PTO_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"

namespace mlir::pto {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"

} // namespace mlir::pto

#endif // PTOAS_DIALECT_PTO_TRANSFORMS_PASSES_H
