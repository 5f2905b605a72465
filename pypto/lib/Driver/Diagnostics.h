//===- Diagnostics.h - MLIR's diagnostics as the user's -------------------===//
#ifndef PYPTO_LIB_DRIVER_DIAGNOSTICS_H
#define PYPTO_LIB_DRIVER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "pypto/Diagnostic.h"

namespace pypto {

/// File, line and columns of a location, if it has any.
Span spanOf(mlir::Location loc);
/// `kind` is the class of errors; warnings stay warnings.
Diagnostic convert(mlir::Diagnostic &diagnostic, ErrorKind kind);

} // namespace pypto

#endif // PYPTO_LIB_DRIVER_DIAGNOSTICS_H
