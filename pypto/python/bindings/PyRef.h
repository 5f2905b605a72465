//===- PyRef.h - owned references to Python objects -----------------------===//
#ifndef PYPTO_BINDINGS_PYREF_H
#define PYPTO_BINDINGS_PYREF_H

#include <Python.h>
#include <string>
#include <utility>

namespace pypto::bindings {

/// An owned reference.
class Ref {
public:
  Ref() = default;
  explicit Ref(PyObject *owned) : object(owned) {}
  Ref(Ref &&other) noexcept : object(other.object) { other.object = nullptr; }
  Ref &operator=(Ref &&other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  Ref(const Ref &) = delete;
  Ref &operator=(const Ref &) = delete;
  ~Ref() { Py_XDECREF(object); }
  static Ref borrow(PyObject *o) {
    Py_XINCREF(o);
    return Ref(o);
  }
  PyObject *release() { return std::exchange(object, nullptr); }
  PyObject *get() const { return object; }
  explicit operator bool() const { return object != nullptr; }

private:
  PyObject *object = nullptr;
};

/// The text of a str in UTF-8; empty for anything else. Sets no error.
inline std::string toString(PyObject *object) {
  if (!object || !PyUnicode_Check(object))
    return {};
  Py_ssize_t size = 0;
  const char *text = PyUnicode_AsUTF8AndSize(object, &size);
  if (!text) {
    PyErr_Clear(); // lone surrogates
    return {};
  }
  return std::string(text, size);
}

} // namespace pypto::bindings
#endif // PYPTO_BINDINGS_PYREF_H
