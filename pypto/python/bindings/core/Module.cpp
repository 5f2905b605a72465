//===- Module.cpp - pypto._core -------------------------------------------===//
//
// The light extension module: calls compiled programs. It links the task runtime and
// the library of kernels, and neither MLIR nor LLVM.
//
//===----------------------------------------------------------------------===//
#include "CoreApi.h"
#include "Errors.h"
#include "Fault.h"
#include "Interrupt.h"
#include "JITFunctionType.h"
#include "ptoas/Target/Native/Kernels.h"
#include "simpler/c_api.h"
#include "support/SharedObject.h"
#include "support/Trace.h"

#include <cpuid.h>
#include <dlfcn.h>

namespace pypto::core {
namespace {

/// describe(x) -> (dtype, shape, strides or None, read-only) of a tensor, "bool", "int" or "float"
/// for a number, None for anything else.
PyObject *describeObject(PyObject *, PyObject *object) {
  Argument argument;
  if (!argument.read(object))
    return nullptr;
  switch (argument.kind) {
  case Argument::Bool:
    return PyUnicode_FromString("bool");
  case Argument::Int:
    return PyUnicode_FromString("int");
  case Argument::Float:
    return PyUnicode_FromString("float");
  case Argument::Other:
    Py_RETURN_NONE;
  case Argument::Tensor:
    break;
  }
  PyObject *shape = PyTuple_New(argument.rank);
  PyObject *strides = PyTuple_New(argument.rank);
  for (int d = 0; shape && strides && d < argument.rank; ++d) {
    PyTuple_SET_ITEM(shape, d, PyLong_FromLongLong(argument.shape[d]));
    PyTuple_SET_ITEM(strides, d, PyLong_FromLongLong(argument.strides[d]));
  }
  if (argument.contiguous) {
    Py_XDECREF(strides);
    strides = Py_NewRef(Py_None);
  }
  PyObject *dtype = PyUnicode_FromStringAndSize(
      argument.dtype->name.data(), static_cast<Py_ssize_t>(argument.dtype->name.size()));
  return Py_BuildValue("(NNNO)", dtype, shape, strides, argument.readOnly ? Py_True : Py_False);
}

/// host_id() -> text that differs between CPUs that code may not be exchanged between.
PyObject *hostId(PyObject *, PyObject *) {
  unsigned registers[3][4] = {};
  __get_cpuid(1, &registers[0][0], &registers[0][1], &registers[0][2], &registers[0][3]);
  __get_cpuid_count(7, 0, &registers[1][0], &registers[1][1], &registers[1][2], &registers[1][3]);
  __get_cpuid_count(7, 1, &registers[2][0], &registers[2][1], &registers[2][2], &registers[2][3]);
  // Leaf 1: family and model in eax, features in ecx; ebx holds the number of this core.
  unsigned enabledLow = 0, enabledHigh = 0;
  if (registers[0][2] & bit_OSXSAVE)
    __asm__("xgetbv" : "=a"(enabledLow), "=d"(enabledHigh) : "c"(0));
  return PyUnicode_FromFormat("%x-%x-%x-%x-%x-%x-%x", registers[0][0],
                              registers[0][2] & ~bit_OSXSAVE, registers[1][1], registers[1][2],
                              registers[1][3], registers[2][0], enabledLow);
}

/// library_paths() -> files whose code takes part in every call.
PyObject *libraryPaths(PyObject *, PyObject *) {
  PyObject *list = PyList_New(0);
  const void *addresses[] = {reinterpret_cast<const void *>(&hostId),
                             reinterpret_cast<const void *>(&simpler_run),
                             reinterpret_cast<const void *>(&pto_gemm_f32)};
  for (const void *address : addresses) {
    Dl_info info;
    if (!list || !dladdr(address, &info) || !info.dli_fname)
      continue;
    PyObject *path = PyUnicode_DecodeFSDefault(info.dli_fname);
    if (path)
      PyList_Append(list, path);
    Py_XDECREF(path);
  }
  return list;
}

PyObject *traceStart(PyObject *, PyObject *) {
  pto::trace::start();
  if (SimplerWorker *worker = simpler_worker_default())
    simpler_trace_start(worker);
  Py_RETURN_NONE;
}

PyObject *traceStop(PyObject *, PyObject *) {
  pto::trace::stop();
  Py_RETURN_NONE;
}

PyObject *traceAdd(PyObject *, PyObject *args) {
  const char *category, *name;
  unsigned long long begin, end;
  if (!PyArg_ParseTuple(args, "ssKK", &category, &name, &begin, &end))
    return nullptr;
  pto::trace::add(category, name, begin, end);
  Py_RETURN_NONE;
}

/// trace_take(path for the runtime's events) -> JSON of the process's events, which are dropped.
PyObject *traceTake(PyObject *, PyObject *args) {
  const char *path;
  if (!PyArg_ParseTuple(args, "s", &path))
    return nullptr;
  if (SimplerWorker *worker = simpler_worker_default())
    simpler_trace_write(worker, path);
  std::string text = pto::trace::json();
  pto::trace::clear();
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

PyMethodDef functions[] = {
    {"describe", describeObject, METH_O, "What an argument is."},
    {"host_id", hostId, METH_NOARGS, "Tells CPUs apart that cannot share code."},
    {"library_paths", libraryPaths, METH_NOARGS, "Files whose code takes part in every call."},
    {"trace_start", traceStart, METH_NOARGS, "Starts recording."},
    {"trace_stop", traceStop, METH_NOARGS, "Stops recording."},
    {"trace_add", traceAdd, METH_VARARGS, "trace_add(category, name, begin ns, end ns)"},
    {"trace_take", traceTake, METH_VARARGS, "Events so far as JSON."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "pypto._core",
                          "Calls compiled programs.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

const CoreApi api = {[](PyObject *executable) -> const Program * { return programOf(executable); },
                     executableIsCurrent, workerOf, takeFault};

} // namespace
} // namespace pypto::core

PyMODINIT_FUNC PyInit__core() {
  using namespace pypto::core;
  // Machine code calls both libraries by name; Python loaded them for this module alone.
  std::string error;
  for (const void *address : {reinterpret_cast<const void *>(&simpler_run),
                              reinterpret_cast<const void *>(&pto_gemm_f32)})
    if (!pto::SharedObject::makeGlobal(address, error)) {
      PyErr_SetString(PyExc_ImportError, error.c_str());
      return nullptr;
    }
  PyObject *module = PyModule_Create(&definition);
  PyTypeObject *executable = executableType();
  PyTypeObject *function = makeJITFunctionType();
  if (!module || !executable || !function || PyModule_AddType(module, executable) != 0 ||
      PyModule_AddType(module, function) != 0) {
    Py_XDECREF(module);
    return nullptr;
  }
  PyObject *capsule = PyCapsule_New(const_cast<CoreApi *>(&api), CoreApi::capsule, nullptr);
  if (!capsule || PyModule_AddObjectRef(module, "_api", capsule) != 0)
    Py_CLEAR(module);
  Py_XDECREF(capsule);
  return module;
}
