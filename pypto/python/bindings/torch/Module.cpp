//===- Module.cpp - pypto._torch_ops --------------------------------------===//
//
// Kernels in torch: `launch`, and what pypto.torch.operators registers operators with. Needs torch,
// not torch_npu.
//
//===----------------------------------------------------------------------===//
#include "Pch.h"

#include "Ops.h"
#include "support/PythonThreads.h"

#include <cstring>

namespace pypto::torch_ops {
namespace {

//===----------------------------------------------------------------------===//
// The type Kernel
//===----------------------------------------------------------------------===//

struct KernelObject {
  PyObject ob_base;
  Kernel *kernel; // lives until the process ends
};

PyTypeObject *kernelType;
PyObject *kernelName; // "__pypto_torch__", where an object keeps its Kernel

Slot::Direction directionOf(const char *text) {
  return !std::strcmp(text, "out")     ? Slot::Out
         : !std::strcmp(text, "inout") ? Slot::InOut
                                       : Slot::In;
}

std::vector<int64_t> integers(PyObject *sequence) {
  auto items = pybind11::reinterpret_steal<pybind11::object>(
      PySequence_Fast(sequence, "expected a sequence of integers"));
  if (!items)
    throw python_error();
  std::vector<int64_t> out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i)
    out.push_back(PyLong_AsLongLong(PySequence_Fast_GET_ITEM(items.ptr(), i)));
  if (PyErr_Occurred())
    throw python_error();
  return out;
}

at::ScalarType dtypeOf(const char *name) {
  if (!*name)
    return at::ScalarType::Undefined;
  const pto::DType *type = pto::dtypeByName(name);
  auto found = type ? scalarTypeOf(*type) : at::ScalarType::Undefined;
  TORCH_CHECK_TYPE(found != at::ScalarType::Undefined, "torch has no element type ", name);
  return found;
}

/// Kernel(name, params, function, compile); a param is (name, "tensor" | "scalar", direction,
/// dtype, shape or None).
PyObject *makeKernel(PyTypeObject *type, PyObject *args, PyObject *) {
  HANDLE_TH_ERRORS
  const char *name;
  PyObject *list, *function, *compile;
  if (!PyArg_ParseTuple(args, "sO!OO", &name, &PyList_Type, &list, &function, &compile))
    return nullptr;
  std::vector<Param> params;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    const char *paramName, *kind, *direction, *dtype;
    PyObject *shape;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "ssssO", &paramName, &kind, &direction, &dtype,
                          &shape))
      return nullptr;
    Param &param = params.emplace_back();
    param.name = paramName;
    param.tensor = !std::strcmp(kind, "tensor");
    param.direction = directionOf(direction);
    if (param.tensor)
      param.dtype = dtypeOf(dtype);
    else if (*dtype)
      param.scalar = pto::dtypeByName(dtype);
    param.anyShape = shape == Py_None;
    if (!param.anyShape)
      param.shape = integers(shape);
  }
  auto *self = reinterpret_cast<KernelObject *>(type->tp_alloc(type, 0));
  if (!self)
    return nullptr;
  self->kernel = new Kernel(name, std::move(params), Py_NewRef(function), Py_NewRef(compile));
  return reinterpret_cast<PyObject *>(self);
  END_HANDLE_TH_ERRORS
}

PyObject *addProgram(PyObject *self, PyObject *executable) {
  HANDLE_TH_ERRORS
  reinterpret_cast<KernelObject *>(self)->kernel->add(executable);
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

void freeKernel(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject *nameOf(PyObject *self, void *) {
  return PyUnicode_FromString(reinterpret_cast<KernelObject *>(self)->kernel->name.c_str());
}

PyObject *representation(PyObject *self) {
  return PyUnicode_FromFormat("<kernel %s in torch>",
                              reinterpret_cast<KernelObject *>(self)->kernel->name.c_str());
}

PyObject *hasProgram(PyObject *self, PyObject *const *args, Py_ssize_t count);

PyMethodDef kernelMethods[] = {
    {"add", addProgram, METH_O, "Takes an Executable."},
    {"has", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(hasProgram)), METH_FASTCALL,
     "Whether a program for these arguments is compiled."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef kernelGetters[] = {{"name", nameOf, nullptr, nullptr, nullptr},
                               {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot kernelSlots[] = {{Py_tp_new, reinterpret_cast<void *>(makeKernel)},
                             {Py_tp_dealloc, reinterpret_cast<void *>(freeKernel)},
                             {Py_tp_repr, reinterpret_cast<void *>(representation)},
                             {Py_tp_methods, kernelMethods},
                             {Py_tp_getset, kernelGetters},
                             {Py_tp_doc, const_cast<char *>("A kernel as torch sees it.")},
                             {0, nullptr}};
PyType_Spec kernelSpec = {"pypto._torch_ops.Kernel", sizeof(KernelObject), 0, Py_TPFLAGS_DEFAULT,
                          kernelSlots};

/// New reference to a result of pypto.torch.launching.<function>(arguments…).
pybind11::object callHelper(const char *function, PyObject *first, PyObject *second = nullptr,
                            PyObject *third = nullptr) {
  auto module =
      pybind11::reinterpret_steal<pybind11::object>(PyImport_ImportModule("pypto.torch.launching"));
  if (!module)
    throw python_error();
  auto name = pybind11::reinterpret_steal<pybind11::object>(PyUnicode_FromString(function));
  auto result = pybind11::reinterpret_steal<pybind11::object>(
      PyObject_CallMethodObjArgs(module.ptr(), name.ptr(), first, second, third, nullptr));
  if (!result)
    throw python_error();
  return result;
}

/// `example`: arguments that tell what the parameters are, null: annotations have to.
Kernel &kernelOf(PyObject *object, PyObject *example = nullptr) {
  if (Py_TYPE(object) == kernelType)
    return *reinterpret_cast<KernelObject *>(object)->kernel;
  auto found = pybind11::reinterpret_steal<pybind11::object>(PyObject_GetAttr(object, kernelName));
  if (!found) {
    PyErr_Clear();
    found = callHelper("kernel_of", object, example);
  }
  TORCH_CHECK_TYPE(Py_TYPE(found.ptr()) == kernelType, Py_TYPE(object)->tp_name,
                   " is no kernel that torch can launch");
  return *reinterpret_cast<KernelObject *>(found.ptr())->kernel;
}

pybind11::tuple tupleOf(PyObject *const *items, size_t count) {
  pybind11::tuple tuple(count);
  for (size_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(tuple.ptr(), Py_ssize_t(i), Py_NewRef(items[i]));
  return tuple;
}

/// The argument as a value, None if it is not plainly one that the parameter takes.
c10::IValue numberOf(PyObject *object) {
  if (PyBool_Check(object))
    return object == Py_True;
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (!overflow)
      return int64_t(number);
  } else if (PyFloat_CheckExact(object)) {
    return PyFloat_AS_DOUBLE(object);
  }
  return {};
}

PyObject *hasProgram(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  Kernel &kernel = *reinterpret_cast<KernelObject *>(self)->kernel;
  if (size_t(count) != kernel.params.size())
    Py_RETURN_FALSE;
  c10::SmallVector<c10::IValue, 8> values;
  for (Py_ssize_t i = 0; i < count; ++i)
    if (THPVariable_Check(args[i]))
      values.emplace_back(THPVariable_Unpack(args[i]));
    else
      values.push_back(numberOf(args[i]));
  return PyBool_FromLong(kernel.findCurrent(values) != nullptr);
  END_HANDLE_TH_ERRORS
}

//===----------------------------------------------------------------------===//
// launch
//===----------------------------------------------------------------------===//

/// Whether the tensor is surely one that a launch may borrow. Where it is not,
/// CallSignature.describe_call says why; it is the one place that words those errors.
bool fits(const Param &param, const at::Tensor &tensor) {
  if (!tensor.defined() || tensor.key_set().has(c10::DispatchKey::Python) ||
      !tensor.is_privateuseone() || tensor.layout() != c10::kStrided || !tensor.is_contiguous() ||
      tensor.is_conj() || tensor.is_neg() ||
      (param.dtype != at::ScalarType::Undefined && tensor.scalar_type() != param.dtype) ||
      (tensor.requires_grad() && at::GradMode::is_enabled()))
    return false;
  if (param.anyShape)
    return true;
  if (size_t(tensor.dim()) != param.shape.size())
    return false;
  for (size_t d = 0; d < param.shape.size(); ++d)
    if (param.shape[d] >= 0 && param.shape[d] != tensor.size(int64_t(d)))
      return false;
  return true;
}

/// False where something does not fit plainly.
bool readArguments(const Kernel &kernel, PyObject *const *args, size_t count,
                   c10::SmallVector<c10::IValue, 8> &values) {
  if (count != kernel.params.size())
    return false;
  c10::Device device(c10::kCPU);
  for (size_t i = 0; i < count; ++i) {
    const Param &param = kernel.params[i];
    if (!param.tensor) {
      values.push_back(numberOf(args[i]));
      const c10::IValue &number = values.back();
      if (number.isNone() || (param.scalar && number.isBool() != (param.scalar->name == "BOOL")) ||
          (param.scalar && number.isDouble() && !param.scalar->isFloat()))
        return false;
      continue;
    }
    if (!THPVariable_Check(args[i]) || !fits(param, THPVariable_Unpack(args[i])))
      return false;
    const at::Tensor &tensor = THPVariable_Unpack(args[i]);
    if (device.is_cpu())
      device = tensor.device();
    else if (tensor.device() != device)
      return false;
    values.emplace_back(tensor);
  }
  return !device.is_cpu() && device.index() == npuHooks().current();
}

PyObject *launchArguments(PyObject *object, Kernel &kernel, PyObject *const *args, size_t count) {
  c10::SmallVector<c10::IValue, 8> values;
  pybind11::object described;
  if (C10_UNLIKELY(!readArguments(kernel, args, count, values))) {
    described = callHelper("describe", object, tupleOf(args, count).ptr());
    values.clear();
    for (size_t i = 0; i < count; ++i) {
      PyObject *item = PyTuple_GET_ITEM(described.ptr(), Py_ssize_t(i));
      if (THPVariable_Check(item))
        values.emplace_back(THPVariable_Unpack(item));
      else
        values.push_back(numberOf(item));
    }
  }
  c10::Device device(c10::kCPU);
  for (const c10::IValue &value : values)
    if (value.isTensor())
      device = value.toTensor().device();
  const Specialisation *known = kernel.findCurrent(values);
  const Specialisation *program;
  {
    pto::python::GilRelease released;
    program = &launch(kernel, values, device, known);
  }
  if (program->returns.empty())
    Py_RETURN_NONE;
  if (program->returns.size() == 1)
    return Py_NewRef(args[program->returns[0]]);
  PyObject *tuple = PyTuple_New(Py_ssize_t(program->returns.size()));
  for (size_t i = 0; tuple && i < program->returns.size(); ++i)
    PyTuple_SET_ITEM(tuple, Py_ssize_t(i), Py_NewRef(args[program->returns[i]]));
  return tuple;
}

PyObject *launchKernel(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *kwnames) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(count >= 1, "launch(kernel, *tensors): the kernel is missing");
  PyObject *object = args[0];
  auto positional = size_t(count - 1);
  if (C10_LIKELY(!kwnames)) {
    pybind11::object known = pybind11::reinterpret_steal<pybind11::object>(
        Py_TYPE(object) == kernelType ? Py_NewRef(object) : PyObject_GetAttr(object, kernelName));
    if (C10_LIKELY(known && Py_TYPE(known.ptr()) == kernelType)) {
      Kernel &kernel = *reinterpret_cast<KernelObject *>(known.ptr())->kernel;
      if (C10_LIKELY(positional == kernel.params.size()))
        return launchArguments(object, kernel, args + 1, positional);
    }
    PyErr_Clear();
  }
  // First launch, or by name: put into order by the kernel's own rules.
  pybind11::dict named;
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); ++i)
    PyDict_SetItem(named.ptr(), PyTuple_GET_ITEM(kwnames, i), args[count + i]);
  auto ordered = callHelper("order", object, tupleOf(args + 1, positional).ptr(), named.ptr());
  Kernel &kernel = kernelOf(object, ordered.ptr());
  return launchArguments(object, kernel, &PyTuple_GET_ITEM(ordered.ptr(), 0),
                         size_t(PyTuple_GET_SIZE(ordered.ptr())));
  END_HANDLE_TH_ERRORS
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// A dict's value as a borrowed reference; throws if it is missing.
PyObject *item(PyObject *dict, const char *key) {
  PyObject *found = PyDict_GetItemString(dict, key);
  TORCH_CHECK_TYPE(found, "install: '", key, "' is missing");
  return found;
}

template <class F> void forEach(PyObject *list, F f) {
  TORCH_CHECK_TYPE(PyList_Check(list), "install: expected a list");
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i)
    f(PyList_GET_ITEM(list, i));
}

BackwardRule backwardOf(PyObject *dict) {
  BackwardRule rule;
  forEach(item(dict, "sources"), [&](PyObject *source) {
    const char *kind;
    int index;
    if (!PyArg_ParseTuple(source, "si", &kind, &index))
      throw python_error();
    rule.sources.push_back({!std::strcmp(kind, "gradient")   ? BackwardRule::Source::Gradient
                            : !std::strcmp(kind, "argument") ? BackwardRule::Source::Argument
                                                             : BackwardRule::Source::Result,
                            index});
  });
  for (int64_t target : integers(item(dict, "targets")))
    rule.targets.push_back(int(target));
  PyObject *function = item(dict, "function");
  if (PyUnicode_Check(function)) {
    const char *name = PyUnicode_AsUTF8(function);
    rule.handle = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
  } else {
    rule.function = Py_NewRef(function);
  }
  return rule;
}

/// install({name, overload, kernel, arguments, outputs, backward}) -> handle.
PyObject *installOp(PyObject *, PyObject *dict) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(PyDict_Check(dict), "install: expected a dict");
  auto op = std::make_unique<Op>();
  op->name = PyUnicode_AsUTF8(item(dict, "name"));
  op->overload = PyUnicode_AsUTF8(item(dict, "overload"));
  op->kernel = &kernelOf(item(dict, "kernel"));
  for (int64_t index : integers(item(dict, "arguments")))
    op->arguments.push_back(int(index));
  forEach(item(dict, "outputs"), [&](PyObject *output) {
    int param, copy, like;
    const char *dtype;
    PyObject *dims;
    if (!PyArg_ParseTuple(output, "ipsiO", &param, &copy, &dtype, &like, &dims))
      throw python_error();
    OutputRule rule{param, copy != 0, dtypeOf(dtype), like, {}};
    forEach(dims, [&](PyObject *dim) {
      long long constant;
      int from, axis;
      if (!PyArg_ParseTuple(dim, "Lii", &constant, &from, &axis))
        throw python_error();
      rule.dims.push_back({constant, from, axis});
    });
    op->outputs.push_back(std::move(rule));
  });
  if (PyObject *backward = item(dict, "backward"); backward != Py_None)
    op->backward = backwardOf(backward);
  return PyLong_FromLongLong(install(std::move(op)));
  END_HANDLE_TH_ERRORS
}

PyObject *removeOp(PyObject *, PyObject *handle) {
  HANDLE_TH_ERRORS
  remove(PyLong_AsLongLong(handle));
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

PyObject *admission(PyObject *, PyObject *reason) {
  HANDLE_TH_ERRORS
  setAdmission(reason == Py_None ? "" : PyUnicode_AsUTF8(reason));
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

PyMethodDef functions[] = {
    {"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(launchKernel)),
     METH_FASTCALL | METH_KEYWORDS,
     "launch(kernel, *arguments)\n--\n\n"
     "Runs a kernel on the current stream of the arguments' NPU and returns at once.\n\n"
     "All parameters are passed, outputs included. Gives what the kernel returns: the caller's "
     "own\n"
     "tensors. Failures of the kernel are errors of the device, raised by a later launch or wait."},
    {"install", installOp, METH_O, "Installs the kernels of an operator; gives a handle."},
    {"remove", removeOp, METH_O, "Takes an operator's kernels away."},
    {"set_admission", admission, METH_O,
     "set_admission(reason | None): launches on the NPU raise the reason, until it is None."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "pypto._torch_ops",
                          "Kernels in torch.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

} // namespace
} // namespace pypto::torch_ops

PyMODINIT_FUNC PyInit__torch_ops() {
  using namespace pypto::torch_ops;
  kernelName = PyUnicode_InternFromString("__pypto_torch__");
  kernelType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&kernelSpec));
  PyObject *module = PyModule_Create(&definition);
  PyObject *device = PyCapsule_New(&hooks(), DeviceHooks::capsule, nullptr);
  if (!module || !kernelName || !kernelType || !device ||
      PyModule_AddType(module, kernelType) != 0 ||
      PyModule_AddObjectRef(module, "_device", device) != 0)
    Py_CLEAR(module);
  Py_XDECREF(device);
  return module;
}
