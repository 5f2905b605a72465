//===- bind_ast.h - Python functions as plain C++ -------------------------===//
//
// Copies Python's `ast` into pypto::ast::Node and answers the importer's questions
// about the names a function sees. Every function here needs the GIL; the
// Environment that `environmentFor` returns takes it by itself.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_BINDINGS_BIND_AST_H
#define PYPTO_BINDINGS_BIND_AST_H

#include "pypto/Importer/PyAst.h"
#include <Python.h>
#include <memory>
#include <string>

namespace pypto::bindings {

/// Copies an `ast` object and all below it. `lineOffset` and `columnOffset` are added to the
/// positions of the object, so that they hold for `file`. Null with a Python error set on failure.
std::shared_ptr<const ast::Node> astFromPython(PyObject *node, const std::string &file,
                                               int lineOffset, int columnOffset);

/// Looks names up in `locals` (dict or None), then `globals` (dict), then constant builtins. Holds
/// references to both.
std::shared_ptr<Environment> environmentFor(PyObject *globals, PyObject *locals);

/// A decorated function (an object with `__pypto_function__`) or such a record itself. The result
/// is cached on the record as `_native`. Null with a Python error set on failure.
std::shared_ptr<const Function> functionFromPython(PyObject *decoratedOrRecord);

/// What the importer can know of a Python object; kind Opaque for anything else, and for sequences
/// of more than 65536 items (inner ones counted) or nested more than 32 deep.
PyValue valueFromPython(PyObject *object);

} // namespace pypto::bindings
#endif // PYPTO_BINDINGS_BIND_AST_H
