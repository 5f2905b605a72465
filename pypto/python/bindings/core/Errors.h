//===- Errors.h - raising the package's errors ----------------------------===//
//
// Sets Python errors of the classes in pypto/errors.py. All need the GIL.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_BINDINGS_ERRORS_H
#define PYPTO_BINDINGS_ERRORS_H

#include <Python.h>
#include <string>

namespace pypto::core {

void setTypeError(const std::string &message, const std::string &hint = {});  // ArgumentTypeError
void setValueError(const std::string &message, const std::string &hint = {}); // ArgumentValueError
void setResourceError(const std::string &message);
void setRunError(const std::string &message, int code);

/// Puts "<name>: " in front of the message of the error that is set, if it is one of the package's.
void prefixError(const std::string &name);

} // namespace pypto::core
#endif // PYPTO_BINDINGS_ERRORS_H
