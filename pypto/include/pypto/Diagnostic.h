//===- Diagnostic.h - what a compile reports ------------------------------===//
// Plain C++ (no MLIR), shared by the compiler and its bindings.
//===----------------------------------------------------------------------===//
#ifndef PYPTO_DIAGNOSTIC_H
#define PYPTO_DIAGNOSTIC_H

#include <string>
#include <vector>

namespace pypto {

/// 1-based line and column (characters); line 0 = unknown.
struct Span {
  std::string file;
  int line = 0, column = 0, endLine = 0, endColumn = 0;
};

/// One Python exception class each (spec/dsl.md 3.2); Resource and Internal are the other two
/// classes of docs/architecture.md 5.
enum class ErrorKind {
  Syntax,           // ParserSyntaxError
  Type,             // ParserTypeError
  Undefined,        // UndefinedVariableError
  SSAViolation,     // SSAViolationError
  Unsupported,      // UnsupportedFeatureError
  InvalidOperation, // InvalidOperationError
  ScopeIsolation,   // ScopeIsolationError
  Value,            // ValueError
  Resource,
  Internal,
  Warning,
};

struct Note {
  std::string text;
  Span span;
};

struct Diagnostic {
  ErrorKind kind = ErrorKind::Internal;
  std::string message; // what is wrong, user words
  Span span;
  std::string help; // what would be right
  std::vector<Note> notes;
};

} // namespace pypto
#endif // PYPTO_DIAGNOSTIC_H
