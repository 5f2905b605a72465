//===- JITFunctionType.cpp - the Python type JITFunction ------------------===//
//
// What `@pl.jit` makes. A call reads its arguments, finds the specialisation that they
// match, and runs it; everything else (keywords, first calls, options that record or
// save) goes to `impl`, a pypto.jit.Implementation:
//   impl.bind(args, kwargs) -> (arguments in order, config)
//   impl.prepare(self, arguments, config) -> Executable, after self.add(…)
//   impl.call(self, arguments, config) -> result; for a config without a call key
// Attributes that the type does not have are impl's.
//
//===----------------------------------------------------------------------===//
#include "JITFunctionType.h"
#include "Errors.h"
#include "Executable.h"

#include <structmember.h>
#include <vector>

namespace pypto::core {
namespace {

/// A name that the program saw when it was compiled: holder[key] or holder.key was `value`.
struct Guard {
  PyObject *holder; // owned; dict, cell or any object
  PyObject *key;    // owned
  PyObject *value;  // owned
  PyObject *copy;   // owned or null: contents of a value that may change in place
};

struct Specialisation {
  PyObject *executable; // owned
  PyObject *configKey;  // owned str
  std::vector<Guard> guards;
};

struct JITFunctionObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  PyObject *impl;
  PyObject *dict;
  PyObject *weakrefs;
  std::vector<Specialisation> *cache;
};

PyObject *configName, *callKeyName, *bindName, *prepareName, *callName, *emptyKey;

JITFunctionObject *cast(PyObject *self) { return reinterpret_cast<JITFunctionObject *>(self); }

/// Whether the name still means what it meant: the same object or an equal one of the same type.
/// A name that raises means something else now; what is no Exception (Ctrl-C) stays set.
bool holds(const Guard &guard) {
  PyObject *now = nullptr; // borrowed, or owned by `owned`
  PyObject *owned = nullptr;
  if (PyDict_CheckExact(guard.holder))
    now = PyDict_GetItemWithError(guard.holder, guard.key);
  else if (PyCell_Check(guard.holder))
    now = PyCell_GET(guard.holder);
  else
    now = owned = PyObject_GetAttr(guard.holder, guard.key);
  bool same = now == guard.value;
  PyObject *wanted = guard.copy ? guard.copy : guard.value;
  if (now && (guard.copy || (!same && Py_TYPE(now) == Py_TYPE(guard.value))))
    same = PyObject_RichCompareBool(now, wanted, Py_EQ) == 1;
  Py_XDECREF(owned);
  if (PyErr_Occurred()) {
    same = false;
    if (PyErr_ExceptionMatches(PyExc_Exception))
      PyErr_Clear();
  }
  return same;
}

bool holds(const Specialisation &entry) {
  for (const Guard &guard : entry.guards)
    if (!holds(guard))
      return false;
  return true;
}

bool sameKey(PyObject *a, PyObject *b) { return a == b || PyUnicode_Compare(a, b) == 0; }

PyObject *callWithOrdered(PyObject *self, PyObject *const *args, size_t count, PyObject *config);

/// Calls impl.bind and goes on with what it gives.
PyObject *callBound(PyObject *self, PyObject *const *args, size_t count, PyObject *kwnames) {
  PyObject *positional = PyTuple_New(static_cast<Py_ssize_t>(count));
  PyObject *keywords = PyDict_New();
  if (!positional || !keywords) {
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    return nullptr;
  }
  for (size_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(positional, static_cast<Py_ssize_t>(i), Py_NewRef(args[i]));
  Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t i = 0; i < named; ++i)
    PyDict_SetItem(keywords, PyTuple_GET_ITEM(kwnames, i), args[count + static_cast<size_t>(i)]);
  PyObject *bound =
      PyObject_CallMethodObjArgs(cast(self)->impl, bindName, positional, keywords, nullptr);
  Py_DECREF(positional);
  Py_DECREF(keywords);
  if (!bound)
    return nullptr;
  PyObject *result = nullptr, *ordered, *config;
  if (PyArg_ParseTuple(bound, "O!O", &PyTuple_Type, &ordered, &config))
    result = callWithOrdered(self, &PyTuple_GET_ITEM(ordered, 0),
                             static_cast<size_t>(PyTuple_GET_SIZE(ordered)), config);
  Py_DECREF(bound);
  return result;
}

PyObject *tupleOf(PyObject *const *args, size_t count) {
  PyObject *tuple = PyTuple_New(static_cast<Py_ssize_t>(count));
  for (size_t i = 0; tuple && i < count; ++i)
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), Py_NewRef(args[i]));
  return tuple;
}

/// Compiles for these arguments (or finds them compiled on disk) and runs.
PyObject *callPrepared(PyObject *self, PyObject *const *args, Arguments &arguments,
                       PyObject *config) {
  PyObject *tuple = tupleOf(args, arguments.view().size());
  PyObject *executable = tuple ? PyObject_CallMethodObjArgs(cast(self)->impl, prepareName, self,
                                                            tuple, config, nullptr)
                               : nullptr;
  Py_XDECREF(tuple);
  if (!executable)
    return nullptr;
  PyObject *result = nullptr;
  if (Program *program = programOf(executable)) {
    if (program->slots.size() != arguments.view().size())
      PyErr_SetString(PyExc_SystemError, "prepare gave a program of another signature");
    else if (program->check(arguments.view()) && program->run(arguments.view()))
      result = program->results(arguments.view());
  } else {
    PyErr_SetString(PyExc_SystemError, "prepare gave no Executable");
  }
  Py_DECREF(executable);
  return result;
}

/// Name of parameter `index`; keeps the error that is set.
std::string parameterName(PyObject *self, size_t index) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *name =
      PyObject_CallMethod(cast(self)->impl, "parameter_name", "n", static_cast<Py_ssize_t>(index));
  const char *utf8 = name ? PyUnicode_AsUTF8(name) : nullptr;
  std::string result = utf8 ? utf8 : "argument " + std::to_string(index);
  Py_XDECREF(name);
  PyErr_Clear();
  PyErr_Restore(type, value, trace);
  return result;
}

PyObject *callWithOrdered(PyObject *self, PyObject *const *args, size_t count, PyObject *config) {
  PyObject *key = nullptr; // owned
  if (config && config != Py_None) {
    key = PyObject_GetAttr(config, callKeyName);
    if (!key) {
      PyErr_Clear();
      setTypeError("config: takes a RunConfig, got " + std::string(Py_TYPE(config)->tp_name));
      return nullptr;
    }
    if (!PyUnicode_Check(key)) {
      Py_DECREF(key);
      PyObject *tuple = tupleOf(args, count);
      PyObject *result = tuple ? PyObject_CallMethodObjArgs(cast(self)->impl, callName, self, tuple,
                                                            config, nullptr)
                               : nullptr;
      Py_XDECREF(tuple);
      return result;
    }
  } else {
    config = Py_None;
    key = Py_NewRef(emptyKey);
  }
  Arguments arguments(count);
  std::span<Argument> view = arguments.view();
  for (size_t i = 0; i < count; ++i)
    if (!view[i].read(args[i])) {
      Py_DECREF(key);
      prefixError(parameterName(self, i));
      return nullptr;
    }
  std::vector<Specialisation> &cache = *cast(self)->cache;
  for (size_t at = 0; at < cache.size(); ++at) {
    Specialisation &entry = cache[at];
    Program *program = programOf(entry.executable);
    if (!sameKey(entry.configKey, key) || !program->matches(view))
      continue;
    if (!holds(entry)) {
      if (!PyErr_Occurred())
        continue;
      Py_DECREF(key);
      return nullptr;
    }
    Py_DECREF(key);
    PyObject *executable = Py_NewRef(entry.executable); // `cache` may change while it runs
    if (at)
      std::swap(cache[at], cache[at - 1]);
    PyObject *result = program->run(view) ? program->results(view) : nullptr;
    Py_DECREF(executable);
    return result;
  }
  Py_DECREF(key);
  return callPrepared(self, args, arguments, config);
}

PyObject *callJIT(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  auto count = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
  Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  const std::vector<Specialisation> &cache = *cast(self)->cache;
  // Nothing compiled yet: bind names and defaults first, which also finds wrong counts.
  if (cache.empty() || programOf(cache[0].executable)->slots.size() != count)
    return callBound(self, args, count, kwnames);
  if (named == 0)
    return callWithOrdered(self, args, count, nullptr);
  if (named == 1 && sameKey(PyTuple_GET_ITEM(kwnames, 0), configName))
    return callWithOrdered(self, args, count, args[count]);
  return callBound(self, args, count, kwnames);
}

/// add(executable, config key, guards): guards are tuples (holder, key, value, copy or None).
PyObject *addSpecialisation(PyObject *self, PyObject *args) {
  PyObject *executable, *key, *guards;
  if (!PyArg_ParseTuple(args, "OUO", &executable, &key, &guards))
    return nullptr;
  if (!programOf(executable)) {
    PyErr_SetString(PyExc_TypeError, "add: expected an Executable");
    return nullptr;
  }
  PyObject *fast = PySequence_Fast(guards, "add: guards");
  if (!fast)
    return nullptr;
  Specialisation entry{nullptr, nullptr, {}};
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); ++i) {
    PyObject *holder, *name, *value, *copy;
    if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(fast, i), "OOOO", &holder, &name, &value,
                          &copy)) {
      Py_DECREF(fast);
      return nullptr;
    }
    entry.guards.push_back({holder, name, value, copy == Py_None ? nullptr : copy});
  }
  entry.executable = Py_NewRef(executable);
  entry.configKey = Py_NewRef(key);
  for (Guard &guard : entry.guards) {
    Py_INCREF(guard.holder);
    Py_INCREF(guard.key);
    Py_INCREF(guard.value);
    Py_XINCREF(guard.copy);
  }
  Py_DECREF(fast);
  std::vector<Specialisation> &cache = *cast(self)->cache;
  cache.insert(cache.begin(), std::move(entry));
  Py_RETURN_NONE;
}

PyObject *countSpecialisations(PyObject *self, void *) {
  return PyLong_FromSize_t(cast(self)->cache->size());
}

void drop(Specialisation &entry) {
  Py_XDECREF(entry.executable);
  Py_XDECREF(entry.configKey);
  for (Guard &guard : entry.guards) {
    Py_DECREF(guard.holder);
    Py_DECREF(guard.key);
    Py_DECREF(guard.value);
    Py_XDECREF(guard.copy);
  }
}

int clearJIT(PyObject *self) {
  std::vector<Specialisation> gone;
  if (cast(self)->cache)
    gone.swap(*cast(self)->cache);
  for (Specialisation &entry : gone)
    drop(entry);
  Py_CLEAR(cast(self)->impl);
  Py_CLEAR(cast(self)->dict);
  return 0;
}

PyObject *clearSpecialisations(PyObject *self, PyObject *) {
  std::vector<Specialisation> gone;
  gone.swap(*cast(self)->cache);
  for (Specialisation &entry : gone)
    drop(entry);
  Py_RETURN_NONE;
}

int traverseJIT(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(cast(self)->impl);
  Py_VISIT(cast(self)->dict);
  if (cast(self)->cache)
    for (const Specialisation &entry : *cast(self)->cache)
      for (const Guard &guard : entry.guards) {
        Py_VISIT(guard.holder);
        Py_VISIT(guard.value);
        Py_VISIT(guard.copy);
      }
  return 0;
}

void freeJIT(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (cast(self)->weakrefs)
    PyObject_ClearWeakRefs(self);
  clearJIT(self);
  delete cast(self)->cache;
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject *makeJIT(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"impl", nullptr};
  PyObject *impl;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", const_cast<char **>(keywords), &impl))
    return nullptr;
  PyObject *self = type->tp_alloc(type, 0);
  if (!self)
    return nullptr;
  cast(self)->vectorcall = callJIT;
  cast(self)->impl = Py_NewRef(impl);
  cast(self)->cache = new std::vector<Specialisation>;
  return self;
}

PyObject *attribute(PyObject *self, PyObject *name) {
  PyObject *found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return found;
  PyErr_Clear();
  return PyObject_GetAttr(cast(self)->impl, name);
}

PyObject *representation(PyObject *self) { return PyObject_Repr(cast(self)->impl); }

PyObject *implementation(PyObject *self, void *) { return Py_NewRef(cast(self)->impl); }

PyMethodDef methods[] = {
    {"add", addSpecialisation, METH_VARARGS, "add(executable, config_key, guards)"},
    {"clear", clearSpecialisations, METH_NOARGS, "Forgets every specialisation in memory."},
    {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(JITFunctionObject, vectorcall), READONLY,
     nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(JITFunctionObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(JITFunctionObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef getters[] = {
    {"impl", implementation, nullptr, nullptr, nullptr},
    {"specialisations", countSpecialisations, nullptr, "Programs in memory.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void *>(makeJIT)},
                       {Py_tp_dealloc, reinterpret_cast<void *>(freeJIT)},
                       {Py_tp_traverse, reinterpret_cast<void *>(traverseJIT)},
                       {Py_tp_clear, reinterpret_cast<void *>(clearJIT)},
                       {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                       {Py_tp_getattro, reinterpret_cast<void *>(attribute)},
                       {Py_tp_repr, reinterpret_cast<void *>(representation)},
                       {Py_tp_methods, methods},
                       {Py_tp_members, members},
                       {Py_tp_getset, getters},
                       {Py_tp_doc, const_cast<char *>("A function of the tile language.")},
                       {0, nullptr}};

PyType_Spec spec = {"pypto._core.JITFunction", sizeof(JITFunctionObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC, slots};

PyTypeObject *theType = nullptr;

} // namespace

bool executableIsCurrent(PyObject *function, PyObject *executable) {
  if (Py_TYPE(function) != theType)
    return true;
  for (const Specialisation &entry : *cast(function)->cache)
    if (entry.executable == executable) {
      bool same = holds(entry);
      PyErr_Clear();
      return same;
    }
  return true;
}

PyTypeObject *makeJITFunctionType() {
  configName = PyUnicode_InternFromString("config");
  callKeyName = PyUnicode_InternFromString("_call_key");
  bindName = PyUnicode_InternFromString("bind");
  prepareName = PyUnicode_InternFromString("prepare");
  callName = PyUnicode_InternFromString("call");
  emptyKey = PyUnicode_InternFromString("");
  theType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  return theType;
}

} // namespace pypto::core
