//===- bind_compile.cpp - pypto._compiler ---------------------------------===//
//
// The compiler as a Python module; imported when a program has to be compiled. What it
// takes and gives are plain Python values; pypto/bridge.py turns them into errors,
// programs and files.
//
//===----------------------------------------------------------------------===//
#include "PyRef.h"
#include "bind_ast.h"
#include "pypto/Driver/Compiler.h"

#include <string>
#include <vector>

using namespace pypto;
using bindings::Ref;
using bindings::toString;

// bind_run.cpp
PyObject *openPto(PyObject *, PyObject *arguments);
PyObject *runPto(PyObject *, PyObject *arguments);
PyObject *ptoScalar(PyObject *, PyObject *arguments);

namespace {

PyObject *text(const std::string &value) {
  return PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), "replace");
}

/// Sets `dict[key]` and takes `value` over; false with an error set.
bool put(PyObject *dict, const char *key, PyObject *value) {
  Ref owned(value);
  return value && PyDict_SetItemString(dict, key, value) == 0;
}

template <typename Range, typename Make> PyObject *listOf(const Range &range, Make make) {
  Ref list(PyList_New(0));
  for (const auto &item : range) {
    Ref made(list ? make(item) : nullptr);
    if (!made || PyList_Append(list.get(), made.get()) != 0)
      return nullptr;
  }
  return list.release();
}

PyObject *number(int64_t value) { return PyLong_FromLongLong(value); }

PyObject *spanTuple(const Span &span) {
  return Py_BuildValue("(Niiii)", text(span.file), span.line, span.column, span.endLine,
                       span.endColumn);
}

const char *kindName(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Syntax:
    return "Syntax";
  case ErrorKind::Type:
    return "Type";
  case ErrorKind::Undefined:
    return "Undefined";
  case ErrorKind::SSAViolation:
    return "SSAViolation";
  case ErrorKind::Unsupported:
    return "Unsupported";
  case ErrorKind::InvalidOperation:
    return "InvalidOperation";
  case ErrorKind::ScopeIsolation:
    return "ScopeIsolation";
  case ErrorKind::Value:
    return "Value";
  case ErrorKind::Resource:
    return "Resource";
  case ErrorKind::Internal:
    return "Internal";
  case ErrorKind::Warning:
    return "Warning";
  }
  return "Internal";
}

PyObject *diagnosticTuple(const Diagnostic &diagnostic) {
  return Py_BuildValue("(sNNNN)", kindName(diagnostic.kind), text(diagnostic.message),
                       spanTuple(diagnostic.span), text(diagnostic.help),
                       listOf(diagnostic.notes, [](const Note &note) {
                         return Py_BuildValue("(NN)", text(note.text), spanTuple(note.span));
                       }));
}

const char *const directions[] = {"in", "out", "inout"};

PyObject *kernelDict(const KernelDescription &kernel) {
  return Py_BuildValue("{sNsNsN}", "name", text(kernel.name), "core_type", text(kernel.coreType),
                       "signature", listOf(kernel.tensors, [](ParamInfo::Direction direction) {
                         return PyUnicode_FromString(directions[direction]);
                       }));
}

PyObject *paramDict(const ParamInfo &param) {
  Ref dict(PyDict_New());
  bool good = dict && put(dict.get(), "name", text(param.name)) &&
              put(dict.get(), "direction", PyUnicode_FromString(directions[param.direction])) &&
              put(dict.get(), "tensor", PyBool_FromLong(param.isTensor)) &&
              put(dict.get(), "dtype", text(param.dtype)) &&
              put(dict.get(), "shape", listOf(param.shape, number)) &&
              put(dict.get(), "dynamic", listOf(param.dynamicNames, text)) &&
              put(dict.get(), "strides", listOf(param.strides, number)) &&
              put(dict.get(), "layout", text(param.layout));
  return good ? dict.release() : nullptr;
}

PyObject *pairTuple(const std::string &name, PyObject *value) {
  return Py_BuildValue("(NN)", text(name), value);
}

PyObject *unitDict(const CompiledUnit &unit) {
  Ref dict(PyDict_New());
  bool good =
      dict && put(dict.get(), "name", text(unit.name)) &&
      put(dict.get(), "code",
          PyBytes_FromStringAndSize(unit.sharedObject.data(),
                                    static_cast<Py_ssize_t>(unit.sharedObject.size()))) &&
      put(dict.get(), "entry", text(unit.entrySymbol)) &&
      put(dict.get(), "params", listOf(unit.params, paramDict)) &&
      put(dict.get(), "lowered_params", listOf(unit.loweredParams, paramDict)) &&
      put(dict.get(), "lowered", text(unit.lowered)) &&
      put(dict.get(), "kernel_descriptions", listOf(unit.kernelDescriptions, kernelDict)) &&
      put(dict.get(), "returns", listOf(unit.returns, number)) &&
      put(dict.get(), "kernels", listOf(unit.kernels, text)) &&
      put(dict.get(), "pto",
          listOf(unit.pto, [](const auto &p) { return pairTuple(p.first, text(p.second)); })) &&
      put(dict.get(), "cpp",
          listOf(unit.cpp, [](const auto &p) { return pairTuple(p.first, text(p.second)); })) &&
      put(dict.get(), "cpp_problems",
          listOf(unit.cppProblems,
                 [](const auto &p) { return pairTuple(p.first, text(p.second)); })) &&
      put(dict.get(), "dumps",
          listOf(unit.dumps, [](const auto &p) { return pairTuple(p.first, text(p.second)); })) &&
      put(dict.get(), "stage_ms", listOf(unit.stageMilliseconds, [](const auto &p) {
            return pairTuple(p.first, PyFloat_FromDouble(p.second));
          }));
  return good ? dict.release() : nullptr;
}

bool readInts(PyObject *sequence, std::vector<int64_t> &out) {
  Ref fast(PySequence_Fast(sequence, "expected integers"));
  if (!fast)
    return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i)
    out.push_back(PyLong_AsLongLong(PySequence_Fast_GET_ITEM(fast.get(), i)));
  return !PyErr_Occurred();
}

/// ("absent",), ("tensor", dtype, shape, strides), ("scalar", dtype, value) or ("runtime", dtype).
bool readArg(PyObject *tuple, ArgSpec &spec) {
  if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) < 1) {
    PyErr_SetString(PyExc_TypeError, "an argument specification is a tuple");
    return false;
  }
  std::string kind = toString(PyTuple_GET_ITEM(tuple, 0));
  if (kind == "absent")
    return true;
  PyObject *word, *dtype, *first = nullptr, *second = nullptr;
  if (!PyArg_ParseTuple(tuple, "OO|OO", &word, &dtype, &first, &second))
    return false;
  spec.dtype = toString(dtype);
  if (kind == "tensor") {
    spec.kind = ArgSpec::Tensor;
    return first && second && readInts(first, spec.shape) && readInts(second, spec.strides);
  }
  if (kind == "scalar") {
    spec.kind = ArgSpec::Scalar;
    spec.value = bindings::valueFromPython(first ? first : Py_None);
    return true;
  }
  spec.kind = ArgSpec::RuntimeScalar;
  return true;
}

bool flag(PyObject *options, const char *name, bool otherwise) {
  PyObject *value = PyDict_GetItemString(options, name);
  return value ? PyObject_IsTrue(value) == 1 : otherwise;
}

PyObject *resultDict(const CompileResult &result) {
  Ref dict(PyDict_New());
  bool good = dict && put(dict.get(), "ok", PyBool_FromLong(result.ok)) &&
              put(dict.get(), "unit", unitDict(result.unit)) &&
              put(dict.get(), "others", listOf(result.others, unitDict)) &&
              put(dict.get(), "diagnostics", listOf(result.diagnostics, diagnosticTuple)) &&
              put(dict.get(), "bake", listOf(result.bakeScalars, number)) &&
              put(dict.get(), "reproducer", text(result.reproducer));
  return good ? dict.release() : nullptr;
}

/// compile(name, is_class, records, args, options) -> dict
PyObject *compileProgram(PyObject *, PyObject *arguments) {
  const char *name;
  int isClass;
  PyObject *records, *args, *given;
  if (!PyArg_ParseTuple(arguments, "spOOO!", &name, &isClass, &records, &args, &PyDict_Type,
                        &given))
    return nullptr;
  Program program;
  program.name = name;
  program.isClass = isClass != 0;
  Ref functions(PySequence_Fast(records, "records"));
  if (!functions)
    return nullptr;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(functions.get()); ++i) {
    auto function = bindings::functionFromPython(PySequence_Fast_GET_ITEM(functions.get(), i));
    if (!function)
      return nullptr;
    program.functions.push_back(std::move(function));
  }
  std::vector<ArgSpec> specs;
  if (args != Py_None) {
    Ref fast(PySequence_Fast(args, "args"));
    if (!fast)
      return nullptr;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i)
      if (!readArg(PySequence_Fast_GET_ITEM(fast.get(), i), specs.emplace_back()))
        return nullptr;
  }
  CompileOptions options;
  if (PyObject *platform = PyDict_GetItemString(given, "platform"))
    options.platform = toString(platform);
  options.autoScope = flag(given, "auto_scope", options.autoScope);
  options.emitPto = flag(given, "emit_pto", options.emitPto);
  options.bakeAddresses = flag(given, "bake_addresses", options.bakeAddresses);
  options.emitDumps = flag(given, "emit_dumps", options.emitDumps);
  options.importOnly = flag(given, "import_only", options.importOnly);
  options.lowerOnly = flag(given, "lower_only", options.lowerOnly);
  options.emitLowered = flag(given, "emit_lowered", options.emitLowered);
  options.kernelContract = flag(given, "kernel_contract", options.kernelContract);
  options.hostBuildGraph = flag(given, "host_build_graph", options.hostBuildGraph);
  options.reuseMemory = flag(given, "reuse", options.reuseMemory);
  options.fuse = flag(given, "fuse", options.fuse);
  options.check = flag(given, "check", options.check);

  CompileResult result;
  // Lookups of names take the lock again by themselves.
  Py_BEGIN_ALLOW_THREADS;
  result = compile(program, specs, options);
  Py_END_ALLOW_THREADS;
  if (PyErr_CheckSignals() != 0)
    return nullptr;

  return resultDict(result);
}

/// compile_lowered(text, options) -> dict
PyObject *compileLoweredText(PyObject *, PyObject *arguments) {
  PyObject *text, *given;
  if (!PyArg_ParseTuple(arguments, "UO!", &text, &PyDict_Type, &given))
    return nullptr;
  Py_ssize_t length;
  const char *source = PyUnicode_AsUTF8AndSize(text, &length);
  if (!source)
    return nullptr;
  CompileOptions options;
  options.reuseMemory = flag(given, "reuse", options.reuseMemory);
  options.fuse = flag(given, "fuse", options.fuse);
  options.check = flag(given, "check", options.check);
  CompileResult result;
  Py_BEGIN_ALLOW_THREADS;
  result = compileLowered(std::string_view(source, static_cast<size_t>(length)), options);
  Py_END_ALLOW_THREADS;
  if (PyErr_CheckSignals() != 0)
    return nullptr;
  return resultDict(result);
}

PyMethodDef functions[] = {
    {"compile", compileProgram, METH_VARARGS, "compile(name, is_class, records, args, options)"},
    {"compile_lowered", compileLoweredText, METH_VARARGS, "compile_lowered(text, options)"},
    {"pto_open", openPto, METH_VARARGS, "pto_open(text, name, arch, entry, check)"},
    {"pto_run", runPto, METH_VARARGS, "pto_run(kernel, values, blocks)"},
    {"pto_scalar", ptoScalar, METH_VARARGS, "pto_scalar(kernel, index, text)"},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "pypto._compiler",
                          "Compiles programs of the tile language.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

} // namespace

PyMODINIT_FUNC PyInit__compiler() { return PyModule_Create(&definition); }
