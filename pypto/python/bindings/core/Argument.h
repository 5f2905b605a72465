//===- Argument.h - what a Python argument is -----------------------------===//
//
// Reads tensors of torch (DLPack's C exchange), NumPy and others (buffer protocol,
// array interface, DLPack capsules) without copying. Needs the GIL.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_BINDINGS_ARGUMENT_H
#define PYPTO_BINDINGS_ARGUMENT_H

#include "support/DType.h"
#include <Python.h>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>

namespace pypto::core {

constexpr int maxRank = 5; // of a tensor descriptor (spec/simpler.md 2.2)

/// One argument of a call. Keeps what makes `data` valid until it is destroyed or reset.
struct Argument {
  enum Kind { Tensor, Bool, Int, Float, Other } kind = Other;

  PyObject *object = nullptr; // borrowed
  void *data = nullptr;
  const pto::DType *dtype = nullptr;
  int rank = 0;
  bool readOnly = false;
  bool contiguous = false; // row-major; axes of extent 1 have any stride
  std::array<int64_t, maxRank> shape;
  std::array<int64_t, maxRank> strides; // elements; row-major ones for axes of extent 1

  Argument() = default;
  Argument(const Argument &) = delete;
  Argument &operator=(const Argument &) = delete;
  ~Argument() { reset(); }

  /// Fills this from `object`. False with a Python error set (without the parameter's name) for a
  /// tensor that no kernel can take: wrong device, element type, rank or strides.
  bool read(PyObject *object);
  void reset();

private:
  bool readTensor(const struct Source &source);
  bool readExchange(PyObject *object, const void *api);
  bool readBuffer(PyObject *object);
  bool readArrayInterface(PyObject *object);
  bool readCapsule(PyObject *object);

  Py_buffer buffer_; // valid while hasBuffer_
  bool hasBuffer_ = false;
  PyObject *keep_ = nullptr; // owned; capsule or interface dict
};

/// "[16, 32] FP32", for messages.
std::string describe(const Argument &argument);

/// Arguments of one call, on the stack for the usual number.
class Arguments {
public:
  explicit Arguments(size_t count) : count_(count) {
    if (count > few)
      many_.reset(new Argument[count]);
    else
      for (size_t i = 0; i < count; ++i)
        new (storage_ + i * sizeof(Argument)) Argument;
  }
  ~Arguments() {
    if (!many_)
      for (Argument &argument : view())
        argument.~Argument();
  }
  Arguments(const Arguments &) = delete;
  Arguments &operator=(const Arguments &) = delete;

  std::span<Argument> view() {
    return {many_ ? many_.get() : std::launder(reinterpret_cast<Argument *>(storage_)), count_};
  }

private:
  static constexpr size_t few = 12;
  size_t count_;
  std::unique_ptr<Argument[]> many_;
  alignas(Argument) std::byte storage_[few * sizeof(Argument)];
};

} // namespace pypto::core
#endif // PYPTO_BINDINGS_ARGUMENT_H
