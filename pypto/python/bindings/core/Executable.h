//===- Executable.h - a loaded program and its parameters -----------------===//
//
// Holds machine code and the signature it was compiled for; tells whether arguments
// fit, builds the descriptors and runs it. All functions need the GIL; `run` gives it
// up while the program runs.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_BINDINGS_EXECUTABLE_H
#define PYPTO_BINDINGS_EXECUTABLE_H

#include "Argument.h"
#include "simpler/c_api.h"
#include "support/SharedObject.h"
#include <span>
#include <vector>

namespace pypto::core {

/// One argument position of the call.
struct Slot {
  enum Kind { Tensor, Scalar, Baked } kind = Tensor;
  enum Direction { In, Out, InOut } direction = In;
  std::string name;
  const pto::DType *dtype = nullptr;
  std::vector<int64_t> shape;   // -1: any extent
  std::vector<int> dynamic;     // index of the dimension's name, -1: none
  std::vector<int64_t> strides; // elements; empty: row-major
  int onlyKind = -1;         // Scalar: Argument::Kind it was specialised for, -1: any that converts
  PyObject *baked = nullptr; // owned; value that the code was compiled for
};

class Program {
public:
  ~Program();

  std::string name;
  std::string arch; // "a2a3" or "a5"
  std::vector<Slot> slots;
  std::vector<std::string> dynamicNames;
  std::vector<int> returns; // slots that the results are
  bool returnsTuple = false;

  pto::SharedObject code;
  SimplerOrchFn entry = nullptr;

  /// True when the arguments have the types, shapes and strides of this program.
  bool matches(std::span<const Argument> arguments) const;
  /// Sets a Python error that says which argument does not fit and why; true when all fit.
  bool check(std::span<const Argument> arguments) const;
  /// Runs with arguments that match. False with a Python error set.
  bool run(std::span<const Argument> arguments) const;
  /// The results: arguments themselves, None without any. New reference.
  PyObject *results(std::span<const Argument> arguments) const;

private:
  bool fits(const Slot &slot, const Argument &argument) const;
  bool dynamicAgree(std::span<const Argument> arguments, std::string *why) const;
  bool disjoint(std::span<const Argument> arguments) const;
};

/// Type object `Executable`; null with an error set on failure.
PyTypeObject *executableType();
/// The program of an Executable object, null for another type.
Program *programOf(PyObject *object);

} // namespace pypto::core
#endif // PYPTO_BINDINGS_EXECUTABLE_H
