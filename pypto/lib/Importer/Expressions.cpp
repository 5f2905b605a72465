//===- Expressions.cpp - names, constants, operators on tensors -----------===//
#include "Walker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

std::optional<PyValue> Walker::evaluatePython(const Node &node, std::string *why) {
  std::string error;
  PyValue value = frame->function->env->evaluate(node, error);
  if (value.kind == PyValue::Missing) {
    if (why)
      *why = error;
    return std::nullopt;
  }
  return value;
}

/// True if all leaves are constants or Python values that no name of the function shadows.
bool Walker::isCompileTime(const Node &node) {
  if (node.kind == "Constant")
    return true;
  if (node.kind == "Name") {
    const std::string &id = node.str("id");
    if (frame->vars.count(id) || frame->locals.count(id))
      return false;
    switch (frame->function->env->lookup(id).kind) {
    case PyValue::Missing:
    case PyValue::DynVar:
    case PyValue::Func:
    case PyValue::Module:
      return false;
    default:
      return true;
    }
  }
  if (node.kind == "Attribute") {
    std::string path = dottedName(node);
    if (path.rfind("pl.", 0) == 0 || path.rfind("pld.", 0) == 0)
      return !frame->vars.count("pl");
    return isCompileTime(*node.get("value"));
  }
  if (node.kind == "Call") {
    const Node &callee = *node.get("func");
    if (callee.kind == "Attribute" && callee.str("attr") == "get_byte")
      return isCompileTime(*callee.get("value"));
    if (callee.kind != "Name" || frame->locals.count(callee.str("id")) || !isCompileTime(callee))
      return false;
    for (const auto &arg : node.list("args"))
      if (!isCompileTime(*arg))
        return false;
    return node.list("keywords").empty();
  }
  static const std::set<std::string> pure = {"BinOp", "UnaryOp",   "BoolOp", "Compare",
                                             "IfExp", "Subscript", "Tuple",  "List"};
  if (!pure.count(node.kind))
    return false;
  for (const auto &[field, child] : node.child)
    if (field != "op" && field != "ctx" && !isCompileTime(*child))
      return false;
  for (const auto &[field, list] : node.children)
    if (field != "ops")
      for (const auto &item : list)
        if (!item || !isCompileTime(*item))
          return false;
  return true;
}

Val Walker::name(const Node &node) {
  const std::string &id = node.str("id");
  auto it = frame->vars.find(id);
  if (it != frame->vars.end())
    return it->second;
  if (frame->locals.count(id))
    return error(ErrorKind::Undefined, node, "'" + id + "' is used before it has a value",
                 "give it a value before this line on every path that leads here");
  PyValue value = frame->function->env->lookup(id);
  if (value.kind == PyValue::DynVar) {
    for (Frame *f = frame; f; f = f->outer) {
      auto dim = f->dynamicDims.find(value.text);
      if (dim == f->dynamicDims.end())
        continue;
      auto tensor = f->vars.find(dim->second.first);
      if (tensor != f->vars.end() && tensor->second.isShaped() &&
          tensor->second.rank() > size_t(dim->second.second))
        return dimension(tensor->second, dim->second.second, locationOf(node));
    }
    return error(ErrorKind::Undefined, node,
                 "no parameter has the dynamic extent '" + value.text + "'",
                 "use it in the annotation of a tensor parameter, or take pl.tensor.dim(x, axis)");
  }
  if (value.kind == PyValue::Missing)
    return error(ErrorKind::Undefined, node, "name '" + id + "' is not defined");
  return fromPython(value);
}

Val Walker::attribute(const Node &node) {
  const Node &base = *node.get("value");
  const std::string &attr = node.str("attr");
  if (base.kind == "Name" && frame->vars.count(base.str("id"))) {
    Val value = name(base);
    if (value.isUnknown())
      return value;
    if (attr == "shape" && value.isShaped()) {
      std::vector<Val> dims;
      for (size_t i = 0; i < value.rank(); ++i)
        dims.push_back(dimension(value, i, locationOf(node)));
      return tuple(std::move(dims));
    }
    if (attr == "dtype" && (value.isShaped() || value.isScalar() || value.kind == Val::Array)) {
      PyValue type;
      type.kind = PyValue::DType;
      type.text = nameOf(value.dtype);
      return fromPython(type);
    }
    return unsupported(node, describe(value) + " has no attribute '" + attr + "'",
                       "tensors and tiles have .shape and .dtype");
  }
  std::string path = dottedName(node);
  std::string why;
  if (auto value = evaluatePython(node, &why)) {
    if (value->kind != PyValue::Opaque && value->kind != PyValue::Module)
      return fromPython(*value);
    if (path.rfind("pl.", 0) != 0)
      return unsupported(node, "'" + path + "' is a Python value of type " + value->text +
                                   ", which a kernel cannot use");
  }
  if (path.rfind("pl.", 0) == 0)
    return invalid(node, "'" + path + "' does not exist or has no value here");
  return unsupported(node, "an attribute has no meaning here" +
                               llvm::Twine(why.empty() ? "" : ": ") + why);
}

Val Walker::expr(const Node &node) {
  const std::string &kind = node.kind;
  if (kind == "Name")
    return name(node);
  if (kind == "Constant") {
    if (auto *flag = std::get_if<bool>(&node.constant))
      return constantBool(*flag);
    if (auto *number = std::get_if<int64_t>(&node.constant))
      return constantInt(*number);
    if (auto *real = std::get_if<double>(&node.constant))
      return constantFloat(*real);
    if (auto *text = std::get_if<std::string>(&node.constant)) {
      PyValue value;
      value.kind = PyValue::Str;
      value.text = *text;
      return fromPython(value);
    }
    if (node.constantType == "NoneType")
      return none();
    return typeError(node, "a constant of type " + node.constantType + " has no meaning here");
  }
  if (kind == "Attribute")
    return attribute(node);
  static const std::set<std::string> composite = {"BinOp", "UnaryOp",   "BoolOp", "Compare",
                                                  "IfExp", "Subscript", "Call"};
  if (composite.count(kind) && isCompileTime(node)) {
    std::string why;
    if (auto value = evaluatePython(node, &why))
      return fromPython(*value);
    return invalid(node, "cannot evaluate this expression: " + why);
  }
  if (kind == "BinOp") {
    Val left = expr(*node.get("left"));
    Val right = expr(*node.get("right"));
    return binary(node, node.get("op")->kind, left, right);
  }
  if (kind == "UnaryOp")
    return unary(node);
  if (kind == "Compare")
    return compare(node);
  if (kind == "BoolOp")
    return boolean(node);
  if (kind == "IfExp")
    return conditional(node);
  if (kind == "Call")
    return call(node);
  if (kind == "Subscript")
    return subscript(node);
  if (kind == "Tuple" || kind == "List") {
    std::vector<Val> items;
    bool known = true;
    for (const auto &item : node.list("elts")) {
      if (item->kind == "Starred")
        return unsupported(*item, "a starred expression is not supported");
      items.push_back(expr(*item));
      known &= !items.back().isUnknown();
    }
    return known ? tuple(std::move(items)) : Val();
  }
  static const std::map<std::string, std::pair<const char *, const char *>> refused = {
      {"ListComp", {"a comprehension", "only deps=[… for …] may be one; use pl.range, pl.unroll"}},
      {"GeneratorExp", {"a generator expression", ""}},
      {"Lambda", {"lambda", "write the expression where it is used, or a @pl.jit.inline function"}},
      {"JoinedStr", {"an f-string", "f-strings are for pl.static_print"}},
      {"Dict", {"a dict display", ""}},
      {"Set", {"a set display", ""}},
      {"NamedExpr", {"an assignment expression (:=)", "assign in a statement of its own"}},
      {"Await", {"await", ""}},
      {"Starred", {"a starred expression", ""}},
  };
  auto it = refused.find(kind);
  if (it != refused.end())
    return unsupported(node, llvm::Twine(it->second.first) + " is not supported",
                       it->second.second);
  return unsupported(node, "this kind of expression (" + kind + ") is not supported");
}

Val Walker::binary(const Node &node, llvm::StringRef op, const Val &left, const Val &right) {
  if (left.isUnknown() || right.isUnknown())
    return Val();
  if (left.isShaped() || right.isShaped()) {
    llvm::StringRef function = llvm::StringSwitch<llvm::StringRef>(op)
                                   .Case("Add", "add")
                                   .Case("Sub", "sub")
                                   .Case("Mult", "mul")
                                   .Case("Div", "div")
                                   .Default("");
    for (const Val *side : {&left, &right})
      if (!side->isShaped() && !side->isScalar())
        return typeError(node, "this operator does not take " + describe(*side));
    if (function.empty())
      return unsupported(node, "this operator is not defined on tensors and tiles",
                         op == "MatMult"
                             ? "use pl.matmul(a, b)"
                             : "defined are + - * / and unary -; use the functions of pl");
    return buildOp(function, node, {{"lhs", left}, {"rhs", right}});
  }
  for (const Val *side : {&left, &right})
    if (!side->isScalar())
      return typeError(node,
                       "this operator takes scalars, tensors and tiles, not " + describe(*side));
  return scalarBinary(node, op, left, right);
}

Val Walker::unary(const Node &node) {
  Val value = expr(*node.get("operand"));
  if (value.isUnknown())
    return value;
  const std::string &op = node.get("op")->kind;
  Location loc = locationOf(node);
  if (value.isShaped()) {
    if (op == "USub")
      return buildOp("neg", node, {{"x", value}});
    if (op == "UAdd")
      return value;
    return unsupported(node, "this operator is not defined on tensors and tiles",
                       op == "Invert" ? "use pl.not_(x)" : "");
  }
  if (!value.isScalar())
    return typeError(node, "this operator takes a scalar, not " + describe(value));
  if (op == "UAdd")
    return value;
  if (op == "Not") {
    if (value.dtype != DType::Bool)
      return typeError(node, "`not` takes a BOOL scalar, not " + describe(value),
                       "compare it: x == 0");
    return logicalNot(value, loc);
  }
  if (value.dtype == DType::Bool)
    return typeError(node, "this operator does not take a BOOL scalar");
  if (op == "USub") {
    if (value.isConstant() && value.integer())
      return foldBinary(node, "Sub", constantInt(0, value.dtype), value);
    if (value.isConstant())
      return constantFloat(-*value.real(), value.dtype);
    if (isFloat(value.dtype))
      return scalar(arith::NegFOp::create(b, loc, value.value), value.dtype);
    return scalarBinary(node, "Sub", constantInt(0, value.dtype), value);
  }
  if (isFloat(value.dtype))
    return typeError(node, "`~` takes an integer, not " + describe(value));
  if (value.isConstant())
    return constantInt(~*value.integer(), value.dtype);
  return scalarBinary(node, "BitXor", value, constantInt(-1, value.dtype));
}

Val Walker::logicalNot(const Val &value, Location loc) {
  if (auto known = value.boolean())
    return constantBool(!*known);
  Value one = arith::ConstantIntOp::create(b, loc, 1, 1);
  return scalar(arith::XOrIOp::create(b, loc, value.value, one), DType::Bool);
}

/// Both sides are evaluated, as everywhere in the language.
Val Walker::boolean(const Node &node) {
  bool isAnd = node.get("op")->kind == "And";
  Val result;
  for (const auto &item : node.list("values")) {
    Val value = expr(*item);
    if (value.isUnknown())
      return value;
    if (!value.isScalar() || value.dtype != DType::Bool)
      return typeError(*item,
                       llvm::Twine(isAnd ? "`and`" : "`or`") + " takes BOOL scalars, not " +
                           describe(value),
                       "compare it: x != 0");
    if (result.isUnknown()) {
      result = value;
    } else if (auto known = value.boolean()) {
      if (*known != isAnd)
        result = value;
    } else if (auto before = result.boolean()) {
      if (*before == isAnd)
        result = value;
    } else {
      Location loc = locationOf(node);
      result = scalar(isAnd ? Value(arith::AndIOp::create(b, loc, result.value, value.value))
                            : Value(arith::OrIOp::create(b, loc, result.value, value.value)),
                      DType::Bool);
    }
  }
  return result;
}

Val Walker::conditional(const Node &node) {
  Val condition = expr(*node.get("test"));
  if (condition.isUnknown())
    return condition;
  if (!condition.isScalar() || condition.dtype != DType::Bool)
    return typeError(*node.get("test"),
                     "a condition must be a BOOL scalar, this is " + describe(condition),
                     "compare it: x != 0");
  if (auto known = condition.boolean())
    return expr(*node.get(*known ? "body" : "orelse"));
  // The value travels as a hidden variable, so that tensors and tiles work as scalars do.
  static const std::string hidden = "$value";
  std::optional<Val> saved;
  if (auto it = frame->vars.find(hidden); it != frame->vars.end())
    saved = it->second;
  branch(
      node, condition, {hidden}, {hidden}, [&] { frame->vars[hidden] = expr(*node.get("body")); },
      [&] { frame->vars[hidden] = expr(*node.get("orelse")); });
  Val result = frame->vars[hidden];
  frame->vars.erase(hidden);
  if (saved)
    frame->vars[hidden] = *saved;
  return result;
}

} // namespace pypto::importer
