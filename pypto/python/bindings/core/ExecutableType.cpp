//===- ExecutableType.cpp - the Python type Executable --------------------===//
//
// Executable(code, *, name, arch, entry, slots, returns, returns_tuple)
//   code     bytes of a shared object, or a path to one
//   slots    one tuple per argument position, in call order:
//            ("tensor", name, direction, dtype, shape, dynamic names, strides)
//            ("scalar", name, dtype, only)   only: "", "int", "float", "bool"
//            ("baked", name, value)
// Called with positional arguments it checks them, runs, and returns its results.
//
//===----------------------------------------------------------------------===//
#include "Errors.h"
#include "Executable.h"

#include <cstring>
#include <memory>
#include <structmember.h>

namespace pypto::core {
namespace {

struct ExecutableObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  Program *program;
};

bool badSlot(const char *why) {
  PyErr_Format(PyExc_ValueError, "Executable: %s", why);
  return false;
}

bool readInts(PyObject *list, std::vector<int64_t> &out) {
  PyObject *fast = PySequence_Fast(list, "Executable: expected a sequence of integers");
  if (!fast)
    return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); ++i)
    out.push_back(PyLong_AsLongLong(PySequence_Fast_GET_ITEM(fast, i)));
  Py_DECREF(fast);
  return !PyErr_Occurred();
}

bool readTensorSlot(Program &program, Slot &slot, PyObject *tuple) {
  const char *kind, *name, *direction, *dtype;
  PyObject *shape, *names, *strides;
  if (!PyArg_ParseTuple(tuple, "ssssOOO", &kind, &name, &direction, &dtype, &shape, &names,
                        &strides))
    return false;
  slot.kind = Slot::Tensor;
  slot.name = name;
  slot.direction = !std::strcmp(direction, "out")     ? Slot::Out
                   : !std::strcmp(direction, "inout") ? Slot::InOut
                                                      : Slot::In;
  slot.dtype = pto::dtypeByName(dtype);
  if (!slot.dtype || slot.dtype->runtime < 0)
    return badSlot("no tensor can have this element type");
  if (!readInts(shape, slot.shape) || !readInts(strides, slot.strides))
    return false;
  if (slot.shape.empty() || slot.shape.size() > maxRank ||
      (!slot.strides.empty() && slot.strides.size() != slot.shape.size()))
    return badSlot("rank of a tensor slot");
  slot.dynamic.assign(slot.shape.size(), -1);
  PyObject *fast = PySequence_Fast(names, "Executable: dynamic names");
  if (!fast)
    return false;
  Py_ssize_t count = PySequence_Fast_GET_SIZE(fast);
  for (Py_ssize_t d = 0; d < count && d < static_cast<Py_ssize_t>(slot.shape.size()); ++d) {
    const char *text = PyUnicode_AsUTF8(PySequence_Fast_GET_ITEM(fast, d));
    if (!text || !*text)
      continue;
    auto &all = program.dynamicNames;
    size_t at = 0;
    while (at < all.size() && all[at] != text)
      ++at;
    if (at == all.size())
      all.emplace_back(text);
    slot.dynamic[d] = static_cast<int>(at);
  }
  Py_DECREF(fast);
  return !PyErr_Occurred();
}

bool readSlot(Program &program, PyObject *tuple) {
  if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) < 3)
    return badSlot("a slot is a tuple");
  const char *kind = PyUnicode_AsUTF8(PyTuple_GET_ITEM(tuple, 0));
  if (!kind)
    return false;
  Slot &slot = program.slots.emplace_back();
  if (!std::strcmp(kind, "tensor"))
    return readTensorSlot(program, slot, tuple);
  const char *name;
  if (!std::strcmp(kind, "scalar")) {
    const char *dtype, *only;
    if (!PyArg_ParseTuple(tuple, "ssss", &kind, &name, &dtype, &only))
      return false;
    slot.kind = Slot::Scalar;
    slot.name = name;
    slot.dtype = pto::dtypeByName(dtype);
    slot.onlyKind = !std::strcmp(only, "int")     ? Argument::Int
                    : !std::strcmp(only, "float") ? Argument::Float
                    : !std::strcmp(only, "bool")  ? Argument::Bool
                                                  : -1;
    return slot.dtype || badSlot("unknown scalar type");
  }
  PyObject *value;
  if (!PyArg_ParseTuple(tuple, "ssO", &kind, &name, &value))
    return false;
  slot.kind = Slot::Baked;
  slot.name = name;
  slot.baked = Py_NewRef(value);
  return true;
}

PyObject *callExecutable(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  const Program &program = *reinterpret_cast<ExecutableObject *>(self)->program;
  auto count = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
  if (kwnames && PyTuple_GET_SIZE(kwnames)) {
    setTypeError(program.name + " takes positional arguments only");
    return nullptr;
  }
  if (count != program.slots.size()) {
    setTypeError(program.name + " takes " + std::to_string(program.slots.size()) +
                 " arguments, got " + std::to_string(count));
    return nullptr;
  }
  Arguments arguments(count);
  for (size_t i = 0; i < count; ++i)
    if (!arguments.view()[i].read(args[i])) {
      prefixError(program.slots[i].name);
      return nullptr;
    }
  if (!program.check(arguments.view()) || !program.run(arguments.view()))
    return nullptr;
  return program.results(arguments.view());
}

PyObject *makeExecutable(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"code",  "name",    "arch",          "entry",
                                   "slots", "returns", "returns_tuple", nullptr};
  PyObject *code, *slots, *returns;
  const char *name, *arch, *entry;
  int returnsTuple;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O$sssOOp", const_cast<char **>(keywords), &code,
                                   &name, &arch, &entry, &slots, &returns, &returnsTuple))
    return nullptr;
  auto program = std::make_unique<Program>();
  program->name = name;
  program->arch = arch;
  program->returnsTuple = returnsTuple != 0;
  std::string error;
  if (PyBytes_Check(code)) {
    program->code = pto::SharedObject::fromBytes(
        PyBytes_AS_STRING(code), static_cast<size_t>(PyBytes_GET_SIZE(code)), name, error);
  } else {
    const char *path = PyUnicode_AsUTF8(code);
    if (!path)
      return nullptr;
    program->code = pto::SharedObject::fromFile(path, error);
  }
  if (!program->code) {
    setResourceError(std::string(name) + ": cannot load its machine code: " + error);
    return nullptr;
  }
  program->entry = reinterpret_cast<SimplerOrchFn>(program->code.symbol(entry));
  if (!program->entry) {
    setResourceError(std::string(name) + ": its machine code has no symbol " + entry);
    return nullptr;
  }
  PyObject *fast = PySequence_Fast(slots, "Executable: slots");
  if (!fast)
    return nullptr;
  bool good = true;
  for (Py_ssize_t i = 0; good && i < PySequence_Fast_GET_SIZE(fast); ++i)
    good = readSlot(*program, PySequence_Fast_GET_ITEM(fast, i));
  Py_DECREF(fast);
  std::vector<int64_t> results;
  if (!good || !readInts(returns, results))
    return nullptr;
  for (int64_t index : results) {
    if (index < 0 || index >= static_cast<int64_t>(program->slots.size())) {
      badSlot("a result is no argument");
      return nullptr;
    }
    program->returns.push_back(static_cast<int>(index));
  }
  auto *self = reinterpret_cast<ExecutableObject *>(type->tp_alloc(type, 0));
  if (!self)
    return nullptr;
  self->vectorcall = callExecutable;
  self->program = program.release();
  return reinterpret_cast<PyObject *>(self);
}

void freeExecutable(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  delete reinterpret_cast<ExecutableObject *>(self)->program;
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject *nameOf(PyObject *self, void *) {
  return PyUnicode_FromString(reinterpret_cast<ExecutableObject *>(self)->program->name.c_str());
}

PyObject *addressOf(PyObject *self, void *) {
  return PyLong_FromVoidPtr(
      reinterpret_cast<void *>(reinterpret_cast<ExecutableObject *>(self)->program->entry));
}

PyObject *representation(PyObject *self) {
  return PyUnicode_FromFormat("<executable %s>",
                              reinterpret_cast<ExecutableObject *>(self)->program->name.c_str());
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ExecutableObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef getters[] = {{"__name__", nameOf, nullptr, nullptr, nullptr},
                         {"entry_address", addressOf, nullptr,
                          "Address of its SimplerOrchFn; valid while the object lives.", nullptr},
                         {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void *>(makeExecutable)},
                       {Py_tp_dealloc, reinterpret_cast<void *>(freeExecutable)},
                       {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                       {Py_tp_repr, reinterpret_cast<void *>(representation)},
                       {Py_tp_members, members},
                       {Py_tp_getset, getters},
                       {Py_tp_doc, const_cast<char *>("A loaded program and its parameters.")},
                       {0, nullptr}};

PyType_Spec spec = {"pypto._core.Executable", sizeof(ExecutableObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};

PyTypeObject *theType = nullptr;

} // namespace

PyTypeObject *executableType() {
  if (!theType)
    theType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  return theType;
}

Program *programOf(PyObject *object) {
  return Py_TYPE(object) == theType ? reinterpret_cast<ExecutableObject *>(object)->program
                                    : nullptr;
}

} // namespace pypto::core
