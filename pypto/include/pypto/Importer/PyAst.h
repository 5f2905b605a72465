//===- PyAst.h - Python's ast as plain C++ --------------------------------===//
//
// The bindings copy Python's `ast` into these nodes once; the importer (compiled
// without RTTI and exceptions) sees no Python object except through Environment.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_IMPORTER_PYAST_H
#define PYPTO_IMPORTER_PYAST_H

#include "pypto/Diagnostic.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pypto::ast {

/// `kind` is the class name in Python's ast ("Name", "BinOp", "For", …). Fields are kept by name as
/// Python has them, so a node of a kind the importer does not know still has a span and a name.
struct Node {
  std::string kind;
  Span span;
  std::map<std::string, std::unique_ptr<Node>> child; // value, target, test, left, …
  std::map<std::string, std::vector<std::unique_ptr<Node>>> children; // body, args, ops, …
  std::map<std::string, std::string> text;                            // id, attr, arg, name
  // Constants: None is monostate.
  std::variant<std::monostate, bool, int64_t, double, std::string> constant;
  std::string constantType; // "NoneType", "bool", "int", "float", "str", "bytes", "ellipsis", …

  const Node *get(const char *field) const {
    auto it = child.find(field);
    return it == child.end() ? nullptr : it->second.get();
  }
  const std::vector<std::unique_ptr<Node>> &list(const char *field) const {
    static const std::vector<std::unique_ptr<Node>> none;
    auto it = children.find(field);
    return it == children.end() ? none : it->second;
  }
  const std::string &str(const char *field) const {
    static const std::string none;
    auto it = text.find(field);
    return it == text.end() ? none : it->second;
  }
};

} // namespace pypto::ast

namespace pypto {

struct Function; // below

/// A compile-time Python value that a name or constant expression stands for.
struct PyValue {
  enum Kind {
    Missing, // name not found
    None,
    Bool,
    Int,
    Float,
    Str,
    List,   // list or tuple; items
    DType,  // pl.FP32 …: text is the name ("FP32")
    Enum,   // member of a pl enum: text is "Class.member", integer its value
    DynVar, // pl.dynamic: text is its name
    Func,   // @pl.jit.* object, @pl.function or ir.Function object: function
    Module, // pl, pld: text is "pl" / "pld"
    Opaque, // anything else: text is its type name, for messages
  } kind = Missing;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<PyValue> items;
  std::shared_ptr<const Function> function;
};

/// Names of the frame that defined a function; implemented by the bindings on Python objects.
class Environment {
public:
  virtual ~Environment() = default;
  /// Looks `name` up in closure, then globals, then builtins-that-are-constants.
  virtual PyValue lookup(const std::string &name) = 0;
  /// Evaluates an expression whose leaves are all compile-time names, with restricted builtins.
  /// Kind Missing when it cannot be evaluated; `error` then says why.
  virtual PyValue evaluate(const ast::Node &expr, std::string &error) = 0;
};

/// A decorated function (or, for a class program, one method).
struct Function {
  enum class Form {
    Jit,
    JitHost,
    JitIncore,
    JitInline,
    JitOpaque,
    JitExtern,
    Plain /* @pl.function */,
    MacroInline /* @pl.inline */
  };
  std::string name;
  Form form = Form::Jit;
  bool method = false;                  // of a @pl.program class: `self` is the first parameter
  std::shared_ptr<const ast::Node> def; // FunctionDef with decorators
  std::shared_ptr<Environment> env;
  std::map<std::string, PyValue>
      options; // decorator keywords by value (type, level, auto_scope, strict_ssa, …)
};

/// A @pl.program class, or a lone entry function with what it calls found through Environment.
struct Program {
  std::string name;
  bool isClass = false;
  std::vector<std::shared_ptr<const Function>> functions; // entry first for the jit form
};

} // namespace pypto
#endif // PYPTO_IMPORTER_PYAST_H
