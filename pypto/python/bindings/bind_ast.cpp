//===- bind_ast.cpp - Python functions as plain C++ -----------------------===//
#include "bind_ast.h"
#include "PyRef.h"

#include <array>
#include <cstring>

namespace pypto::bindings {
namespace {

struct Gil {
  PyGILState_STATE state = PyGILState_Ensure();
  ~Gil() { PyGILState_Release(state); }
};

/// Drops the exception of a look-up that found nothing. An interrupt (Ctrl-C) that arrived during
/// the look-up must not pass for that: it is armed again and comes when Python code runs next,
/// after the compile at the latest.
void forgetError() {
  bool interrupted = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
  PyErr_Clear();
  if (interrupted)
    PyErr_SetInterrupt();
}

Ref attribute(PyObject *object, const char *name) {
  Ref value(PyObject_GetAttrString(object, name));
  if (!value)
    forgetError();
  return value;
}

std::string textAttribute(PyObject *object, const char *name) {
  Ref value = attribute(object, name);
  return toString(value.get());
}

int intAttribute(PyObject *object, const char *name, int otherwise) {
  Ref value = attribute(object, name);
  if (!value || !PyLong_Check(value.get()))
    return otherwise;
  return static_cast<int>(PyLong_AsLong(value.get()));
}

std::string typeName(PyObject *object) {
  std::string name = Py_TYPE(object)->tp_name;
  return name.substr(name.rfind('.') + 1);
}

// Limits of compile-time values: longer or deeper ones are refused before time or stack runs out.
constexpr Py_ssize_t maxItems = 1 << 16;
constexpr int maxDepth = 32;

class AstCopier {
public:
  AstCopier(const std::string &file, int lineOffset, int columnOffset)
      : file(file), lineOffset(lineOffset), columnOffset(columnOffset) {}

  std::unique_ptr<ast::Node> copy(PyObject *object, const Span &outer) {
    auto node = std::make_unique<ast::Node>();
    node->kind = typeName(object);
    node->span = spanOf(object, outer);
    Ref fields = attribute(object, "_fields");
    if (!fields || !PyTuple_Check(fields.get())) {
      PyErr_SetString(PyExc_TypeError, "expected a node of Python's ast module");
      return nullptr;
    }
    for (Py_ssize_t i = 0, n = PyTuple_GET_SIZE(fields.get()); i < n; ++i) {
      std::string name = toString(PyTuple_GET_ITEM(fields.get(), i));
      Ref value = attribute(object, name.c_str());
      if (!value || value.get() == Py_None) {
        if (node->kind == "Constant" && name == "value" && value)
          node->constantType = "NoneType";
        continue;
      }
      if (!copyField(*node, name, value.get()))
        return nullptr;
    }
    return node;
  }

private:
  Span spanOf(PyObject *object, const Span &outer) {
    Span span = outer;
    int line = intAttribute(object, "lineno", 0);
    if (line == 0)
      return span;
    span.line = line + lineOffset;
    span.column = intAttribute(object, "col_offset", 0) + 1 + columnOffset;
    span.endLine = intAttribute(object, "end_lineno", line) + lineOffset;
    span.endColumn = intAttribute(object, "end_col_offset", 0) + 1 + columnOffset;
    return span;
  }

  bool copyField(ast::Node &node, const std::string &name, PyObject *value) {
    if (node.kind == "Constant" && name == "value") {
      copyConstant(node, value);
      return true;
    }
    if (PyUnicode_Check(value)) {
      node.text[name] = toString(value);
      return true;
    }
    if (PyLong_Check(value)) {
      node.text[name] = std::to_string(PyLong_AsLong(value));
      return true;
    }
    if (PyList_Check(value)) {
      auto &list = node.children[name];
      for (Py_ssize_t i = 0, n = PyList_GET_SIZE(value); i < n; ++i) {
        PyObject *item = PyList_GET_ITEM(value, i);
        if (PyUnicode_Check(item) || item == Py_None) { // names of `global`, keys of `{**x}`
          list.push_back(nullptr);
          continue;
        }
        list.push_back(copy(item, node.span));
        if (!list.back())
          return false;
      }
      return true;
    }
    auto child = copy(value, node.span);
    if (!child)
      return false;
    node.child[name] = std::move(child);
    return true;
  }

  static void copyConstant(ast::Node &node, PyObject *value) {
    node.constantType = typeName(value);
    if (PyBool_Check(value)) {
      node.constant = value == Py_True;
    } else if (PyLong_Check(value)) {
      int overflow = 0;
      long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
      if (overflow)
        node.constantType = "int wider than 64 bits";
      else
        node.constant = static_cast<int64_t>(number);
    } else if (PyFloat_Check(value)) {
      node.constant = PyFloat_AS_DOUBLE(value);
    } else if (PyUnicode_Check(value)) {
      node.constant = toString(value);
    }
  }

  std::string file;
  int lineOffset, columnOffset;
};

/// Evaluates expressions of Python values: operators, subscripts, attributes and a short list of
/// builtins. No function of the user is called by name, but objects of the user run what they
/// define for these: properties, __getitem__, operators. What Python itself would compute without
/// end (powers, shifts, repeated or summed sequences) is limited.
class Evaluator {
public:
  Evaluator(PyObject *globals, PyObject *locals) : globals(globals), locals(locals) {}

  Ref lookup(const std::string &name) const {
    Ref key(PyUnicode_FromStringAndSize(name.data(), name.size()));
    for (PyObject *scope : {locals, globals}) {
      if (!scope || scope == Py_None)
        continue;
      Ref value(PyObject_GetItem(scope, key.get()));
      if (value)
        return value;
      forgetError();
    }
    static constexpr std::array<const char *, 12> allowed = {"min",   "max",   "len",  "abs",
                                                             "int",   "float", "bool", "sum",
                                                             "round", "tuple", "list", "range"};
    for (const char *builtin : allowed)
      if (name == builtin)
        return Ref::borrow(PyDict_GetItemString(PyEval_GetBuiltins(), builtin));
    return Ref();
  }

  /// Null with `error` set when the expression has no value at compile time.
  Ref evaluate(const ast::Node &node, std::string &error) const {
    const std::string &kind = node.kind;
    if (kind == "Constant")
      return constant(node);
    if (kind == "Name") {
      Ref value = lookup(node.str("id"));
      if (!value)
        error = "name '" + node.str("id") + "' is not defined";
      return value;
    }
    if (kind == "BinOp")
      return binary(node, error);
    if (kind == "UnaryOp")
      return unary(node, error);
    if (kind == "BoolOp")
      return boolean(node, error);
    if (kind == "Compare")
      return compare(node, error);
    if (kind == "IfExp") {
      Ref test = evaluate(*node.get("test"), error);
      if (!test)
        return Ref();
      int truth = PyObject_IsTrue(test.get());
      if (truth < 0)
        return failed(error);
      return evaluate(*node.get(truth ? "body" : "orelse"), error);
    }
    if (kind == "Tuple" || kind == "List")
      return sequence(node, error);
    if (kind == "Attribute") {
      Ref value = evaluate(*node.get("value"), error);
      return value ? checked(PyObject_GetAttrString(value.get(), node.str("attr").c_str()), error)
                   : Ref();
    }
    if (kind == "Subscript") {
      Ref value = evaluate(*node.get("value"), error);
      Ref index = value ? evaluate(*node.get("slice"), error) : Ref();
      return index ? checked(PyObject_GetItem(value.get(), index.get()), error) : Ref();
    }
    if (kind == "Call")
      return call(node, error);
    error = "this kind of expression (" + kind + ") has no value at compile time";
    return Ref();
  }

private:
  static Ref failed(std::string &error) {
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
      forgetError();
      error = "interrupted";
      return Ref();
    }
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    Ref ownedType(type), exception(value), ownedTrace(trace);
    Ref text(exception ? PyObject_Str(exception.get()) : nullptr);
    error = toString(text.get());
    forgetError();
    return Ref();
  }
  static Ref checked(PyObject *owned, std::string &error) {
    return owned ? Ref(owned) : failed(error);
  }

  static Ref constant(const ast::Node &node) {
    if (auto *flag = std::get_if<bool>(&node.constant))
      return Ref::borrow(*flag ? Py_True : Py_False);
    if (auto *number = std::get_if<int64_t>(&node.constant))
      return Ref(PyLong_FromLongLong(*number));
    if (auto *real = std::get_if<double>(&node.constant))
      return Ref(PyFloat_FromDouble(*real));
    if (auto *text = std::get_if<std::string>(&node.constant))
      return Ref(PyUnicode_FromStringAndSize(text->data(), text->size()));
    return Ref::borrow(Py_None);
  }

  Ref binary(const ast::Node &node, std::string &error) const {
    Ref left = evaluate(*node.get("left"), error);
    Ref right = left ? evaluate(*node.get("right"), error) : Ref();
    if (!right)
      return Ref();
    const std::string &op = node.get("op")->kind;
    PyObject *l = left.get(), *r = right.get();
    PyObject *result = nullptr;
    if (op == "Add")
      result = PyNumber_Add(l, r);
    else if (op == "Sub")
      result = PyNumber_Subtract(l, r);
    else if (op == "Mult")
      result = repeats(l, r) || repeats(r, l) ? nullptr : PyNumber_Multiply(l, r);
    else if (op == "Div")
      result = PyNumber_TrueDivide(l, r);
    else if (op == "FloorDiv")
      result = PyNumber_FloorDivide(l, r);
    else if (op == "Mod")
      result = PyNumber_Remainder(l, r);
    else if (op == "Pow")
      result = power(l, r);
    else if (op == "LShift")
      result = shift(l, r);
    else if (op == "RShift")
      result = PyNumber_Rshift(l, r);
    else if (op == "BitAnd")
      result = PyNumber_And(l, r);
    else if (op == "BitOr")
      result = PyNumber_Or(l, r);
    else if (op == "BitXor")
      result = PyNumber_Xor(l, r);
    else
      PyErr_Format(PyExc_TypeError, "operator %s is not supported", op.c_str());
    return checked(result, error);
  }

  /// Whether `sequence * count` would be too long; the error is set then.
  static bool repeats(PyObject *sequence, PyObject *count) {
    if (!PyLong_Check(count) || PyLong_Check(sequence) || !PySequence_Check(sequence))
      return false;
    int overflow = 0;
    long long times = PyLong_AsLongLongAndOverflow(count, &overflow);
    Py_ssize_t size = PyObject_Size(sequence);
    if (size < 0) { // not for the product to fail on
      PyErr_Clear();
      return false;
    }
    int64_t total = 0;
    if (size == 0 || overflow < 0 || times < 0 ||
        (!overflow && !__builtin_mul_overflow(int64_t(size), int64_t(times), &total) &&
         total <= maxItems))
      return false;
    setTooLong();
    return true;
  }

  /// Whether a builtin may go through `argument`; an error is set otherwise.
  static bool isShort(PyObject *argument) {
    if (!PyRange_Check(argument) && !PyList_Check(argument) && !PyTuple_Check(argument))
      return true;
    Py_ssize_t size = PyObject_Size(argument);
    if (size >= 0 && size <= maxItems)
      return true;
    PyErr_Clear(); // a range may be longer than a Py_ssize_t says
    setTooLong();
    return false;
  }

  static void setTooLong() {
    PyErr_Format(PyExc_ValueError, "a sequence at compile time has at most %zd items", maxItems);
  }

  // Without a limit `9 ** 9 ** 9` would hang the compiler.
  static PyObject *power(PyObject *base, PyObject *exponent) {
    if (PyLong_Check(exponent) && PyLong_Check(base)) {
      int overflow = 0;
      PyLong_AsLongLongAndOverflow(base, &overflow);
      if (overflow) {
        PyErr_SetString(PyExc_ValueError, "the base of a power is wider than 64 bits");
        return nullptr;
      }
      long long e = PyLong_AsLongLongAndOverflow(exponent, &overflow);
      if (overflow || e > 1024) {
        PyErr_SetString(PyExc_ValueError, "exponent is larger than 1024");
        return nullptr;
      }
    }
    return PyNumber_Power(base, exponent, Py_None);
  }
  static PyObject *shift(PyObject *value, PyObject *count) {
    int overflow = 0;
    if (PyLong_Check(count) &&
        (PyLong_AsLongLongAndOverflow(count, &overflow) > 1024 || overflow)) {
      PyErr_SetString(PyExc_ValueError, "shift count is larger than 1024");
      return nullptr;
    }
    return PyNumber_Lshift(value, count);
  }

  Ref unary(const ast::Node &node, std::string &error) const {
    Ref value = evaluate(*node.get("operand"), error);
    if (!value)
      return Ref();
    const std::string &op = node.get("op")->kind;
    if (op == "USub")
      return checked(PyNumber_Negative(value.get()), error);
    if (op == "UAdd")
      return checked(PyNumber_Positive(value.get()), error);
    if (op == "Invert")
      return checked(PyNumber_Invert(value.get()), error);
    int truth = PyObject_IsTrue(value.get());
    return truth < 0 ? failed(error) : Ref::borrow(truth ? Py_False : Py_True);
  }

  Ref boolean(const ast::Node &node, std::string &error) const {
    bool isAnd = node.get("op")->kind == "And";
    Ref value;
    for (const auto &item : node.list("values")) {
      value = evaluate(*item, error);
      if (!value)
        return Ref();
      int truth = PyObject_IsTrue(value.get());
      if (truth < 0)
        return failed(error);
      if (bool(truth) != isAnd)
        return value;
    }
    return value;
  }

  Ref compare(const ast::Node &node, std::string &error) const {
    Ref left = evaluate(*node.get("left"), error);
    const auto &ops = node.list("ops");
    for (size_t i = 0; left && i < ops.size(); ++i) {
      Ref right = evaluate(*node.list("comparators")[i], error);
      if (!right)
        return Ref();
      int truth = -1;
      const std::string &op = ops[i]->kind;
      if (op == "Is" || op == "IsNot") {
        truth = (left.get() == right.get()) == (op == "Is");
      } else if (op == "In" || op == "NotIn") {
        truth = PySequence_Contains(right.get(), left.get());
        if (truth >= 0)
          truth = bool(truth) == (op == "In");
      } else {
        int code = op == "Eq"      ? Py_EQ
                   : op == "NotEq" ? Py_NE
                   : op == "Lt"    ? Py_LT
                   : op == "LtE"   ? Py_LE
                   : op == "Gt"    ? Py_GT
                                   : Py_GE;
        truth = PyObject_RichCompareBool(left.get(), right.get(), code);
      }
      if (truth < 0)
        return failed(error);
      if (!truth)
        return Ref::borrow(Py_False);
      left = std::move(right);
    }
    return left ? Ref::borrow(Py_True) : Ref();
  }

  Ref sequence(const ast::Node &node, std::string &error) const {
    const auto &items = node.list("elts");
    Ref result(node.kind == "Tuple" ? PyTuple_New(items.size()) : PyList_New(items.size()));
    for (size_t i = 0; i < items.size(); ++i) {
      Ref item = evaluate(*items[i], error);
      if (!item)
        return Ref();
      Py_INCREF(item.get());
      if (node.kind == "Tuple")
        PyTuple_SET_ITEM(result.get(), i, item.get());
      else
        PyList_SET_ITEM(result.get(), i, item.get());
    }
    return result;
  }

  Ref call(const ast::Node &node, std::string &error) const {
    const ast::Node *callee = node.get("func");
    bool getByte = callee->kind == "Attribute" && callee->str("attr") == "get_byte";
    Ref function = evaluate(*callee, error);
    if (!function)
      return Ref();
    if (!getByte &&
        !(callee->kind == "Name" && isAllowedBuiltin(callee->str("id"), function.get()))) {
      error = "only the builtins min, max, len, abs, int, float, bool, sum, round, tuple, list and "
              "range are "
              "called at compile time";
      return Ref();
    }
    if (!node.list("keywords").empty()) {
      error = "keywords are not supported in a call that is evaluated at compile time";
      return Ref();
    }
    Ref args(PyTuple_New(node.list("args").size()));
    for (size_t i = 0; i < node.list("args").size(); ++i) {
      Ref item = evaluate(*node.list("args")[i], error);
      if (!item)
        return Ref();
      Py_INCREF(item.get());
      PyTuple_SET_ITEM(args.get(), i, item.get());
    }
    bool walks = !getByte && callee->str("id") != "len" && callee->str("id") != "range";
    for (Py_ssize_t i = 0; walks && i < PyTuple_GET_SIZE(args.get()); ++i)
      if (!isShort(PyTuple_GET_ITEM(args.get(), i)))
        return failed(error);
    return checked(PyObject_CallObject(function.get(), args.get()), error);
  }

  bool isAllowedBuiltin(const std::string &name, PyObject *object) const {
    PyObject *builtin = PyDict_GetItemString(PyEval_GetBuiltins(), name.c_str());
    return builtin == object && lookup(name).get() == object;
  }

  PyObject *globals, *locals;
};

class PythonEnvironment final : public Environment {
public:
  PythonEnvironment(PyObject *g, PyObject *l) : globals(Ref::borrow(g)), locals(Ref::borrow(l)) {}
  ~PythonEnvironment() override {
    if (!Py_IsInitialized()) { // the interpreter is gone, and with it the objects
      new Ref(std::move(globals));
      new Ref(std::move(locals));
      return;
    }
    Gil gil;
    globals = Ref();
    locals = Ref();
  }

  PyValue lookup(const std::string &name) override {
    Gil gil;
    Ref value = Evaluator(globals.get(), locals.get()).lookup(name);
    return value ? valueFromPython(value.get()) : PyValue();
  }

  PyValue evaluate(const ast::Node &expr, std::string &error) override {
    Gil gil;
    Ref value = Evaluator(globals.get(), locals.get()).evaluate(expr, error);
    if (!value && error.empty())
      error = "it has no value at compile time";
    return value ? valueFromPython(value.get()) : PyValue();
  }

private:
  Ref globals, locals;
};

Function::Form formOf(const std::string &text, bool &known) {
  known = true;
  if (text == "jit")
    return Function::Form::Jit;
  if (text == "host" || text == "jit.host")
    return Function::Form::JitHost;
  if (text == "incore" || text == "jit.incore")
    return Function::Form::JitIncore;
  if (text == "inline" || text == "jit.inline")
    return Function::Form::JitInline;
  if (text == "opaque" || text == "jit.opaque")
    return Function::Form::JitOpaque;
  if (text == "extern" || text == "jit.extern")
    return Function::Form::JitExtern;
  if (text == "macro")
    return Function::Form::MacroInline;
  known = text == "function";
  return Function::Form::Plain;
}

PyValue convert(PyObject *object, int depth, Py_ssize_t &items);

/// A list, tuple or range with all it holds; Opaque beyond the limits. `items` counts the items of
/// the whole value, as shared lists make small objects large.
PyValue convertSequence(PyObject *object, int depth, Py_ssize_t &items) {
  PyValue value;
  value.kind = PyValue::Opaque;
  value.text = typeName(object);
  Py_ssize_t size = PyObject_Size(object);
  if (size < 0)
    PyErr_Clear(); // a range longer than a Py_ssize_t says
  if (size < 0 || size > maxItems - items) {
    value.text += " of more than " + std::to_string(maxItems) + " items";
    items = maxItems;
    return value;
  }
  if (depth == maxDepth) {
    value.text += " nested more than " + std::to_string(maxDepth) + " deep";
    items = maxItems;
    return value;
  }
  Ref held(PySequence_Fast(object, "a sequence"));
  if (!held) {
    PyErr_Clear();
    return value;
  }
  items += size;
  std::vector<PyValue> made;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(held.get()); ++i) {
    made.push_back(convert(PySequence_Fast_GET_ITEM(held.get(), i), depth + 1, items));
    bool isSequence = PyList_Check(PySequence_Fast_GET_ITEM(held.get(), i)) ||
                      PyTuple_Check(PySequence_Fast_GET_ITEM(held.get(), i)) ||
                      PyRange_Check(PySequence_Fast_GET_ITEM(held.get(), i));
    if (isSequence && made.back().kind == PyValue::Opaque)
      return made.back(); // what is beyond a limit inside makes the whole value so
  }
  value.kind = PyValue::List;
  value.items = std::move(made);
  return value;
}

void deleteFunctionCapsule(PyObject *capsule) {
  delete static_cast<std::shared_ptr<const Function> *>(
      PyCapsule_GetPointer(capsule, "pypto.Function"));
}

} // namespace

std::shared_ptr<const ast::Node> astFromPython(PyObject *node, const std::string &file,
                                               int lineOffset, int columnOffset) {
  Span outer;
  outer.file = file;
  return AstCopier(file, lineOffset, columnOffset).copy(node, outer);
}

std::shared_ptr<Environment> environmentFor(PyObject *globals, PyObject *locals) {
  return std::make_shared<PythonEnvironment>(globals, locals);
}

PyValue valueFromPython(PyObject *object) {
  Py_ssize_t items = 0;
  return convert(object, 0, items);
}

namespace {

PyValue convert(PyObject *object, int depth, Py_ssize_t &items) {
  PyValue value;
  if (object == Py_None) {
    value.kind = PyValue::None;
    return value;
  }
  if (PyBool_Check(object)) {
    value.kind = PyValue::Bool;
    value.boolean = object == Py_True;
    value.integer = value.boolean;
    return value;
  }
  value.text = typeName(object);
  // Enumerations first: an IntEnum member is an int too.
  Ref members = attribute(reinterpret_cast<PyObject *>(Py_TYPE(object)), "__members__");
  if (members) {
    value.kind = PyValue::Enum;
    value.text += "." + textAttribute(object, "name");
    Ref number = attribute(object, "value");
    if (number && PyLong_Check(number.get()))
      value.integer = PyLong_AsLongLong(number.get());
    return value;
  }
  if (PyLong_Check(object)) {
    int overflow = 0;
    value.integer = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow)
      value.text = "int wider than 64 bits";
    value.kind = overflow ? PyValue::Opaque : PyValue::Int;
    return value;
  }
  if (PyFloat_Check(object)) {
    value.kind = PyValue::Float;
    value.real = PyFloat_AS_DOUBLE(object);
    return value;
  }
  if (PyUnicode_Check(object)) {
    value.kind = PyValue::Str;
    value.text = toString(object);
    return value;
  }
  if (PyList_Check(object) || PyTuple_Check(object) || PyRange_Check(object))
    return convertSequence(object, depth, items);
  if (PyModule_Check(object)) {
    std::string name = textAttribute(object, "__name__");
    if (name == "pypto.language" || name == "pypto.language.distributed") {
      value.kind = PyValue::Module;
      value.text = name == "pypto.language" ? "pl" : "pld";
      return value;
    }
    value.kind = PyValue::Opaque;
    return value;
  }
  if (value.text == "DataType") {
    value.kind = PyValue::DType;
    value.text = textAttribute(object, "name");
    return value;
  }
  if (value.text == "DynVar") {
    value.kind = PyValue::DynVar;
    value.text = textAttribute(object, "name");
    return value;
  }
  if (!PyType_Check(object) && PyObject_HasAttrString(object, "__pypto_function__")) {
    value.function = functionFromPython(object);
    if (value.function) {
      value.kind = PyValue::Func;
      value.text = value.function->name;
      return value;
    }
    forgetError();
  }
  value.kind = PyValue::Opaque;
  return value;
}

} // namespace

std::shared_ptr<const Function> functionFromPython(PyObject *decoratedOrRecord) {
  Ref record = attribute(decoratedOrRecord, "__pypto_function__");
  if (!record)
    record = Ref::borrow(decoratedOrRecord);
  PyObject *r = record.get();
  Ref cached = attribute(r, "_native");
  if (cached && PyCapsule_IsValid(cached.get(), "pypto.Function"))
    return *static_cast<std::shared_ptr<const Function> *>(
        PyCapsule_GetPointer(cached.get(), "pypto.Function"));

  auto function = std::make_shared<Function>();
  function->name = textAttribute(r, "name");
  bool known = false;
  std::string form = textAttribute(r, "form");
  function->form = formOf(form, known);
  if (!known) {
    PyErr_Format(PyExc_TypeError, "unknown form of function '%s'", form.c_str());
    return nullptr;
  }
  Ref method = attribute(r, "method");
  function->method = method && PyObject_IsTrue(method.get()) == 1;
  Ref node(PyObject_GetAttrString(r, "node"));
  if (!node)
    return nullptr;
  function->def =
      astFromPython(node.get(), textAttribute(r, "filename"), intAttribute(r, "line_offset", 0),
                    intAttribute(r, "col_offset", 0));
  if (!function->def)
    return nullptr;
  if (!function->def->get("args")) {
    PyErr_Format(PyExc_TypeError, "the source of function '%s' is no function definition",
                 function->name.c_str());
    return nullptr;
  }
  Ref globals = attribute(r, "globals"), locals = attribute(r, "locals");
  function->env =
      environmentFor(globals ? globals.get() : Py_None, locals ? locals.get() : Py_None);
  Ref options = attribute(r, "options");
  if (options && PyDict_Check(options.get())) {
    PyObject *key = nullptr, *item = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(options.get(), &position, &key, &item))
      function->options[toString(key)] = valueFromPython(item);
  }
  auto *holder = new std::shared_ptr<const Function>(function);
  Ref capsule(PyCapsule_New(holder, "pypto.Function", deleteFunctionCapsule));
  if (PyObject_SetAttrString(r, "_native", capsule.get()) != 0)
    forgetError(); // a record with slots: convert again next time
  return function;
}

} // namespace pypto::bindings
