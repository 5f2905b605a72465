//===- Kernel.h - a kernel as torch sees it -------------------------------===//
//
// A Kernel is one pypto kernel with the programs that were compiled for it so far. Looking one up
// and running it needs no Python; compiling a missing one takes the GIL. Kernels and their programs
// live until the process ends, because work that is queued on a device refers to them.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_BINDINGS_TORCH_KERNEL_H
#define PYPTO_BINDINGS_TORCH_KERNEL_H

#include "core/CoreApi.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include <atomic>
#include <cstring>
#include <mutex>

namespace pypto::torch_ops {

using core::Slot;
/// Arguments in the order of a kernel's parameters: Tensor, int, double, bool.
using Values = c10::ArrayRef<c10::IValue>;

/// What is known of a parameter before anything is compiled.
struct Param {
  std::string name;
  bool tensor = true;
  Slot::Direction direction = Slot::In;
  at::ScalarType dtype = at::ScalarType::Undefined; ///< Undefined: the argument decides
  std::vector<int64_t> shape;                       ///< -1: any extent
  bool anyShape = false;
  const pto::DType *scalar = nullptr; ///< of a number, null: any

  bool written() const { return tensor && direction != Slot::In; }
};

/// A compiled program, with its parameters in terms of torch.
struct Specialisation {
  struct Arg {
    Slot::Kind kind;
    Slot::Direction direction;
    at::ScalarType dtype;
    const pto::DType *type;
    std::vector<int64_t> shape; // -1: any
    std::vector<int> dynamic;   // number of the dimension's name, -1: none
    int onlyKind;               // core::Argument::Kind of a scalar, -1: any that converts
    c10::IValue baked;          // None: a value that torch cannot pass
  };

  std::string name;
  SimplerOrchFn entry = nullptr;
  std::string arch;
  mutable std::atomic<SimplerWorker *> worker{nullptr}; // of this process, see Frame::run()
  std::vector<Arg> args;
  std::vector<std::string> dynamicNames;
  std::vector<int> returns;
  PyObject *executable = nullptr; // kept
  size_t tensors = 0, scalars = 0;

  bool matches(Values values) const noexcept;
};

/// A call that is ready to run: addresses and numbers, no references.
class Frame {
public:
  Frame(const Specialisation &program, Values values);
  Frame(Frame &&other) noexcept
      : program_(other.program_), manyTensors_(std::move(other.manyTensors_)),
        manyScalars_(std::move(other.manyScalars_)) {
    if (!manyTensors_)
      std::memcpy(fewTensors_, other.fewTensors_, program_->tensors * sizeof(ChipTensor));
    std::memcpy(fewScalars_, other.fewScalars_, sizeof(fewScalars_));
  }
  ~Frame() = default;

  const std::string &name() const { return program_->name; }
  /// Runs to the end on the calling thread. Throws std::runtime_error with the kernel's name.
  void run() const;

private:
  static constexpr size_t Few = 8;
  const ChipTensor *tensors() const {
    return manyTensors_ ? manyTensors_.get() : reinterpret_cast<const ChipTensor *>(fewTensors_);
  }
  const uint64_t *scalars() const { return manyScalars_ ? manyScalars_.get() : fewScalars_; }

  const Specialisation *program_;
  alignas(ChipTensor) std::byte fewTensors_[Few * sizeof(ChipTensor)];
  uint64_t fewScalars_[Few];
  std::unique_ptr<ChipTensor[]> manyTensors_;
  std::unique_ptr<uint64_t[]> manyScalars_;
};

class Kernel {
public:
  Kernel(std::string name, std::vector<Param> params, PyObject *function, PyObject *compile)
      : name(std::move(name)), params(std::move(params)), function_(function), compile_(compile) {}

  const std::string name;
  const std::vector<Param> params;

  /// The program for these arguments, null if none is compiled. Any thread.
  const Specialisation *find(Values values) const noexcept;
  /// As find(), compiles if need be. `capturing`: throws instead. Any thread, with or without GIL.
  const Specialisation &require(Values values, bool capturing);
  /// As find(), with the GIL: a program whose names have changed since it was compiled is dropped.
  const Specialisation *findCurrent(Values values);
  /// Takes a compiled program; needs the GIL. Throws for an object that is no Executable.
  void add(PyObject *executable);

private:
  using List = std::vector<const Specialisation *>;
  PyObject *function_; // owned; the JITFunction, or None
  PyObject *compile_;  // owned; called with the arguments, calls add()
  std::atomic<const List *> programs_{nullptr};
  std::mutex mutex_;
};

/// Throws where a call's tensors do not suit any program: another device, a view that kernels
/// cannot read, memory that is partly shared with a written parameter. An input that is exactly the
/// memory of a written parameter is replaced by a copy, because programs are compiled for separate
/// memory.
void checkTensors(const Kernel &kernel, std::span<c10::IValue> values);

/// torch's own threads for kernels, see simpler_worker_lend_team(): its operators and ours then do
/// not compete for the cores, and torch.set_num_threads() holds for both. Null without OpenMP.
SimplerTeam torchTeam();

/// The functions of pypto._core; throws if the module is not loaded. Needs the GIL the first time.
const core::CoreApi &coreApi();

/// torch's type for an element type of kernels; Undefined without one.
at::ScalarType scalarTypeOf(const pto::DType &type);

} // namespace pypto::torch_ops
#endif // PYPTO_BINDINGS_TORCH_KERNEL_H
