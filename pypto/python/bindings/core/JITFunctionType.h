//===- JITFunctionType.h - the Python type JITFunction --------------------===//
#ifndef PYPTO_BINDINGS_JITFUNCTIONTYPE_H
#define PYPTO_BINDINGS_JITFUNCTIONTYPE_H

#include <Python.h>

namespace pypto::core {

/// New type object; null with a Python error set on failure. Called once, when the module is made.
PyTypeObject *makeJITFunctionType();
/// Whether the names that one of the function's executables was compiled with still have their
/// values; true for an executable that the function does not hold. Leaves no error set.
bool executableIsCurrent(PyObject *function, PyObject *executable);

} // namespace pypto::core
#endif // PYPTO_BINDINGS_JITFUNCTIONTYPE_H
