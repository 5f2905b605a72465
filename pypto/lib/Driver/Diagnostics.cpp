//===- Diagnostics.cpp - MLIR's diagnostics as the user's -----------------===//
#include "Diagnostics.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace pypto {

Span spanOf(Location loc) {
  Span span;
  if (auto at = loc->findInstanceOf<FileLineColRange>()) {
    span.file = at.getFilename().str();
    span.line = at.getStartLine();
    span.column = at.getStartColumn();
    span.endLine = at.getEndLine();
    span.endColumn = at.getEndColumn();
  }
  return span;
}

Diagnostic convert(mlir::Diagnostic &diagnostic, ErrorKind kind) {
  Diagnostic result;
  result.kind = diagnostic.getSeverity() == DiagnosticSeverity::Warning ? ErrorKind::Warning : kind;
  result.message = diagnostic.str();
  result.span = spanOf(diagnostic.getLocation());
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    result.notes.push_back({note.str(), spanOf(note.getLocation())});
  return result;
}

} // namespace pypto
