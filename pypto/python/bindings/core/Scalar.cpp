//===- Scalar.cpp - numbers as parameters ---------------------------------===//
#include "Scalar.h"
#include "Errors.h"

#include <bit>
#include <cmath>
#include <limits>

namespace pypto::core {
namespace {

std::string text(PyObject *object) {
  PyObject *repr = PyObject_Repr(object);
  const char *utf8 = repr ? PyUnicode_AsUTF8(repr) : nullptr;
  std::string result = utf8 ? utf8 : "?";
  Py_XDECREF(repr);
  PyErr_Clear();
  return result;
}

bool outOfRange(const std::string &name, PyObject *object, const pto::DType &dtype) {
  setValueError(name + ": " + text(object) + " does not fit " + std::string(dtype.name));
  return false;
}

uint64_t mask(int bits) { return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }

bool signedWord(const std::string &name, PyObject *number, const pto::DType &dtype,
                uint64_t &word) {
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (value == -1 && !overflow && PyErr_Occurred())
    return false;
  int64_t limit = static_cast<int64_t>(mask(dtype.bits - 1));
  if (overflow || value > limit || value < -limit - 1)
    return outOfRange(name, number, dtype);
  word = static_cast<uint64_t>(value) & mask(dtype.bits);
  return true;
}

bool unsignedWord(const std::string &name, PyObject *number, const pto::DType &dtype,
                  uint64_t &word) {
  unsigned long long value = PyLong_AsUnsignedLongLong(number);
  if (value == static_cast<unsigned long long>(-1) && PyErr_Occurred()) {
    PyErr_Clear();
    return outOfRange(name, number, dtype);
  }
  if (value > mask(dtype.bits))
    return outOfRange(name, number, dtype);
  word = value;
  return true;
}

} // namespace

bool convertible(const Argument &argument, const pto::DType &dtype) {
  switch (argument.kind) {
  case Argument::Bool:
    return dtype.name == "BOOL";
  case Argument::Int:
    return dtype.isFloat() || dtype.isSignedInt() || dtype.isUnsignedInt();
  case Argument::Float:
    return dtype.isFloat();
  default:
    return false;
  }
}

bool scalarWord(const std::string &name, const Argument &argument, const pto::DType &dtype,
                uint64_t &word) {
  if (dtype.name == "BOOL") {
    int truth = PyObject_IsTrue(argument.object);
    word = truth > 0;
    return truth >= 0;
  }
  if (dtype.isFloat()) {
    double value = PyFloat_AsDouble(argument.object);
    if (value == -1.0 && PyErr_Occurred())
      return false;
    float narrow = static_cast<float>(value);
    if (std::isinf(narrow) && !std::isinf(value))
      return outOfRange(name, argument.object, dtype);
    word = std::bit_cast<uint32_t>(narrow);
    return true;
  }
  PyObject *number = PyNumber_Index(argument.object);
  if (!number)
    return false;
  bool good = dtype.isSignedInt() ? signedWord(name, number, dtype, word)
                                  : unsignedWord(name, number, dtype, word);
  Py_DECREF(number);
  return good;
}

void scalarError(const std::string &name, const Argument &argument, const pto::DType &dtype) {
  std::string got = argument.kind == Argument::Tensor ? "a tensor (" + describe(argument) + ")"
                                                      : text(argument.object);
  setTypeError(name + ": takes " +
                   (dtype.isFloat()        ? "a number"
                    : dtype.name == "BOOL" ? "True or False"
                                           : "a whole number") +
                   " (" + std::string(dtype.name) + "), got " + got,
               argument.kind == Argument::Tensor ? "pass tensor.item()" : "");
}

} // namespace pypto::core
