//===- Importer.h - from Python's syntax tree to the pypto dialect --------===//
#ifndef PYPTO_IMPORTER_IMPORTER_H
#define PYPTO_IMPORTER_IMPORTER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "pypto/Driver/Compiler.h"
#include "pypto/Importer/PyAst.h"

namespace pypto {

/// Dialects that importProgram builds ops of; load them into the context first.
void loadImporterDialects(mlir::MLIRContext &context);

/// Imports `program` for the arguments of its entry (`args` in parameter order; empty or Absent: as
/// annotated). The module holds one func.func per orchestration entry (unit attribute
/// `pypto.entry`) and one per kernel and combination of argument types.
///
/// Function attributes: `pypto.func_type`, `pypto.returns` (per returned value: the argument it
/// aliases, or -(k+1) for result k). Argument attributes: `pypto.name`, `pypto.direction` ("in",
/// "out", "inout"), `pypto.dyn` (names of dynamic extents, "" for static), `pypto.scalar` (dtype).
///
/// Null if there was an error; `diagnostics` has errors and warnings in source order. `bakeScalars`
/// gets the indices of run-time scalars that the program needs as constants: import again with
/// ArgSpec::Scalar for them. One thread per context.
mlir::OwningOpRef<mlir::ModuleOp> importProgram(mlir::MLIRContext &context, const Program &program,
                                                const std::vector<ArgSpec> &args,
                                                const CompileOptions &options,
                                                std::vector<Diagnostic> &diagnostics,
                                                std::vector<int> *bakeScalars = nullptr);

} // namespace pypto
#endif // PYPTO_IMPORTER_IMPORTER_H
