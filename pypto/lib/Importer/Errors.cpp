//===- Errors.cpp - messages at the smallest node -------------------------===//
#include "Walker.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

Val Walker::error(ErrorKind kind, const Node &at, const llvm::Twine &message,
                  const llvm::Twine &help) {
  Diagnostic d;
  d.kind = kind;
  d.message = message.str();
  d.span = at.span;
  d.help = help.str();
  for (Frame *f = frame; f && f->outer; f = f->outer)
    d.notes.push_back({"in " + f->function->name + "(), called here", f->callSite});
  m.diagnostics.push_back(std::move(d));
  return Val();
}

void Walker::warning(const Node &at, const llvm::Twine &message, const llvm::Twine &help) {
  error(ErrorKind::Warning, at, message, help);
}

Location Walker::locationOf(const Node &node) {
  const Span &s = node.span;
  auto file = StringAttr::get(m.context, s.file);
  if (s.endLine > 0)
    return FileLineColRange::get(file, s.line, s.column, s.endLine, s.endColumn);
  return FileLineColLoc::get(file, s.line, s.column);
}

bool Walker::askToBake(const Val &value) {
  bool any = false;
  for (int p : symbols.parametersOf(value.affine)) {
    if (!llvm::is_contained(m.bakeScalars, p))
      m.bakeScalars.push_back(p);
    any = true;
  }
  return any;
}

static std::string typeText(const Val &v) {
  return "[" + print(v.shape) + "] " + nameOf(v.dtype).str();
}

std::string print(llvm::ArrayRef<Affine> extents) {
  std::string text;
  for (const Affine &e : extents)
    text += (text.empty() ? "" : ", ") +
            (e.isConstant() ? std::to_string(e.constant) : std::string("?"));
  return text;
}

std::string describe(const Val &v) {
  switch (v.kind) {
  case Val::Unknown:
    return "an unknown value";
  case Val::None:
    return "None";
  case Val::Scalar: {
    llvm::StringRef name = nameOf(v.dtype);
    return (name.starts_with("I") || name.starts_with("U") ? "an " : "a ") + name.str() + " scalar";
  }
  case Val::Tensor:
    return "a " + typeText(v) + " tensor";
  case Val::Tile:
    return "a " + typeText(v) + " tile";
  case Val::Array:
    return "an array of " + std::to_string(v.extent) + " " + nameOf(v.dtype).str();
  case Val::TaskId:
    return "a task id";
  case Val::Tuple:
    return "a tuple of " + std::to_string(v.items.size());
  case Val::Py:
    return v.python->kind == PyValue::Str     ? "the string '" + v.python->text + "'"
           : v.python->kind == PyValue::Func  ? "the function " + v.python->text
           : v.python->kind == PyValue::DType ? "the element type " + v.python->text
                                              : "a Python value (" + v.python->text + ")";
  }
  return "";
}

} // namespace pypto::importer
