//===- Cpp.h - the C++ target of the assembler ----------------------------===//
//
// Writes a module of the `pto` dialect (plus func, scf, cf, arith) as one C++ file on
// the tile instruction headers (`pto/pto-inst.hpp`). The text is a function of the
// module and the options alone: the same input gives the same bytes in every process.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_TARGET_CPP_CPP_H
#define PTOAS_TARGET_CPP_CPP_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace ptoas::cpp {

struct Options {
  /// `// file:line:col` in front of the code of every op that has a place in a source file.
  bool sourceLocations = false;
  /// A comment at every pointer addition.
  bool traceAddPtr = false;
  /// Drain the queues where a kernel ends. Set it together with the insertion of flags; functions
  /// with the attribute `pto.auto_sync_tail_hint` say how.
  bool syncTail = false;
};

/// The C++ file. The module is only read; tiles must have their addresses (level3, or after
/// pto-plan-memory) or they stay unassigned. On failure every op that has no C++ form has been
/// reported to the context's diagnostics.
mlir::FailureOr<std::string> emitModule(mlir::ModuleOp module, const Options &options = {});

/// True if ops of this name have a C++ form.
bool hasForm(mlir::OperationName name);

/// "float", "int16_t", … of an element or scalar type; empty when C++ has none.
std::string spellElement(mlir::Type type);

} // namespace ptoas::cpp

#endif // PTOAS_TARGET_CPP_CPP_H
