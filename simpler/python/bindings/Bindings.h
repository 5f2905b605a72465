//===- Bindings.h - what the binding files share --------------------------===//
#ifndef SIMPLER_BINDINGS_H
#define SIMPLER_BINDINGS_H

#include "CallConfig.h"
#include "simpler/callable_api.h"
#include "simpler/error_codes.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace simpler::py {

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
