//===- Errors.cpp - raising the package's errors --------------------------===//
#include "Errors.h"

namespace pypto::core {
namespace {

/// Borrowed class of pypto.errors; null with an error set.
PyObject *errorClass(const char *name) {
  PyObject *module = PyImport_ImportModule("pypto.errors");
  if (!module)
    return nullptr;
  PyObject *found = PyObject_GetAttrString(module, name);
  Py_DECREF(module);
  Py_XDECREF(found); // the module keeps it
  return found;
}

void raise(const char *name, PyObject *arguments) {
  PyObject *type = arguments ? errorClass(name) : nullptr;
  PyObject *error = type ? PyObject_Call(type, arguments, nullptr) : nullptr;
  Py_XDECREF(arguments);
  if (!error)
    return;
  PyErr_SetObject(type, error);
  Py_DECREF(error);
}

void raiseWithHint(const char *name, const std::string &message, const std::string &hint) {
  if (hint.empty())
    raise(name, Py_BuildValue("(s)", message.c_str()));
  else
    raise(name, Py_BuildValue("(sOs)", message.c_str(), Py_None, hint.c_str()));
}

} // namespace

void setTypeError(const std::string &message, const std::string &hint) {
  raiseWithHint("ArgumentTypeError", message, hint);
}

void setValueError(const std::string &message, const std::string &hint) {
  raiseWithHint("ArgumentValueError", message, hint);
}

void setResourceError(const std::string &message) {
  raise("ResourceError", Py_BuildValue("(s)", message.c_str()));
}

void setRunError(const std::string &message, int code) {
  raise("RunError", Py_BuildValue("(si)", message.c_str(), code));
}

void prefixError(const std::string &name) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject *message = value ? PyObject_GetAttrString(value, "message") : nullptr;
  if (message) {
    PyObject *longer = PyUnicode_FromFormat("%s: %U", name.c_str(), message);
    if (longer) {
      PyObject_SetAttrString(value, "message", longer);
      Py_DECREF(longer);
    }
    Py_DECREF(message);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return;
  }
  // From the owner of the tensor (torch, NumPy): the first line says why, the rest is its stack.
  PyErr_Clear();
  PyObject *shown = value ? PyObject_Str(value) : nullptr;
  const char *utf8 = shown ? PyUnicode_AsUTF8(shown) : nullptr;
  std::string why = utf8 ? utf8 : "cannot be read";
  Py_XDECREF(shown);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  PyErr_Clear();
  setTypeError(name + ": " + why.substr(0, why.find('\n')));
}

} // namespace pypto::core
