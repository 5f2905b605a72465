//===- CoreApi.h - what _core offers to the package's other modules -------===//
//
// A capsule `_core._api` with the functions that the extension for torch needs. All but takeFault
// are called with the GIL, all objects are borrowed.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_BINDINGS_COREAPI_H
#define PYPTO_BINDINGS_COREAPI_H

#include "Executable.h"

namespace pypto::core {

struct CoreApi {
  static constexpr const char *capsule = "pypto._core._api";

  /// The program of an Executable, null for another type. Lives as long as the object.
  const Program *(*program)(PyObject *executable);
  /// Whether the names that `executable` was compiled with still have their values; true for an
  /// executable that `function` does not hold. `function` is a JITFunction.
  bool (*current)(PyObject *function, PyObject *executable);
  /// See Interrupt.h.
  SimplerWorker *(*worker)(const std::string &arch);
  /// See Fault.h.
  std::string (*takeFault)();
};

} // namespace pypto::core
#endif // PYPTO_BINDINGS_COREAPI_H
