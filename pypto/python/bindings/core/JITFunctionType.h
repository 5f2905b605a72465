//===- JITFunctionType.h - the Python type JITFunction --------------------===//
#ifndef PYPTO_BINDINGS_JITFUNCTIONTYPE_H
#define PYPTO_BINDINGS_JITFUNCTIONTYPE_H

#include <Python.h>

namespace pypto::core {

/// New type object; null with a Python error set on failure. Called once, when the module is made.
PyTypeObject *makeJITFunctionType();

} // namespace pypto::core
#endif // PYPTO_BINDINGS_JITFUNCTIONTYPE_H
