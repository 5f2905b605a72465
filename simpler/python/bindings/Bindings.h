//===- Bindings.h - what the binding files share --------------------------===//
#ifndef SIMPLER_BINDINGS_H
#define SIMPLER_BINDINGS_H

#include "CallConfig.h"
#include "simpler/callable_api.h"
#include "simpler/error_codes.h"
#include "support/PythonThreads.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace simpler::py {

using pto::python::GilAcquire;
using pto::python::GilRelease;

/// Calls back into Python from any thread; an exception is reported and goes no further. GIL held.
void callBack(const nb::object &callback);

/// The lane as a Python object holds it: closed when Python lets go of it, which may happen on a
/// thread of the lane. The lane itself lives as long as its threads, which hold `self()`. (With
/// enable_shared_from_this nanobind would take that reference instead of this one.)
template <typename Lane> std::shared_ptr<Lane> ownedByPython(std::shared_ptr<Lane> lane) {
  struct Owner {
    std::shared_ptr<Lane> lane;
    ~Owner() {
      if (!Py_IsInitialized()) { // its threads have been ended, or wait for the end of the process
        new std::shared_ptr<Lane>(std::move(lane));
        return;
      }
      GilRelease release; // the lane's thread may need it before it ends
      lane->close();
      lane.reset();
    }
  };
  Lane *plain = lane.get();
  return {std::make_shared<Owner>(std::move(lane)), plain};
}

/// A view of a Buffer as Python hands it around; keeps the memory's owner alive.
struct HostTensor {
  ChipTensor chip;
  nb::object buffer; // simpler.buffer.Buffer or any owner
  uint64_t byteOffset = 0;
};

struct TaskArgs {
  std::vector<HostTensor> tensors;
  std::vector<int32_t> tags; // TensorArgType
  std::vector<uint64_t> scalars;
};

/// A callable linked into the process.
struct Loaded {
  SimplerCallable *callable = nullptr;
  std::string hash;
  ~Loaded();
};

/// Raises simpler.errors.RunError: "run failed with code -N: text".
[[noreturn]] void raiseRunError(int32_t status, const std::string &text);

/// One element's bits from a Python number and an element type.
uint64_t encodeScalar(nb::handle value, nb::handle type);

void bindTypes(nb::module_ &m);
void bindArgs(nb::module_ &m);
void bindCallables(nb::module_ &m);
void bindWorker(nb::module_ &m);
void bindNode(nb::module_ &m);

} // namespace simpler::py

#endif // SIMPLER_BINDINGS_H
