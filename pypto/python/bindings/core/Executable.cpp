//===- Executable.cpp - a loaded program and its parameters ---------------===//
#include "Executable.h"
#include "Errors.h"
#include "Fault.h"
#include "Interrupt.h"
#include "Scalar.h"
#include "support/PythonThreads.h"
#include "support/Trace.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <pthread.h>
#include <utility>

namespace pypto::core {

Program::~Program() {
  for (Slot &slot : slots)
    Py_XDECREF(slot.baked);
}

bool Program::fits(const Slot &slot, const Argument &argument) const {
  if (slot.kind == Slot::Tensor) {
    if (argument.kind != Argument::Tensor || argument.dtype != slot.dtype ||
        argument.rank != static_cast<int>(slot.shape.size()))
      return false;
    for (int d = 0; d < argument.rank; ++d)
      if (slot.shape[d] >= 0 && slot.shape[d] != argument.shape[d])
        return false;
    if (slot.strides.empty())
      return argument.contiguous;
    for (int d = 0; d < argument.rank; ++d)
      if (argument.shape[d] > 1 && slot.strides[d] != argument.strides[d])
        return false;
    return true;
  }
  if (slot.kind == Slot::Scalar)
    return slot.onlyKind < 0 ? convertible(argument, *slot.dtype)
                             : static_cast<int>(argument.kind) == slot.onlyKind;
  // Baked: 1, 1.0 and True are different programs.
  if (argument.object == slot.baked)
    return true;
  if (Py_TYPE(argument.object) != Py_TYPE(slot.baked))
    return false;
  int equal = PyObject_RichCompareBool(argument.object, slot.baked, Py_EQ);
  if (equal < 0)
    PyErr_Clear();
  return equal == 1;
}

bool Program::matches(std::span<const Argument> arguments) const {
  if (arguments.size() != slots.size())
    return false;
  for (size_t i = 0; i < slots.size(); ++i)
    if (!fits(slots[i], arguments[i]))
      return false;
  return true;
}

bool Program::dynamicAgree(std::span<const Argument> arguments, std::string *why) const {
  if (dynamicNames.empty())
    return true;
  struct Seen {
    int64_t extent = -1;
    int slot = 0, axis = 0;
  };
  std::array<Seen, 16> few;
  std::vector<Seen> many;
  Seen *seen = few.data();
  if (dynamicNames.size() > few.size()) {
    many.resize(dynamicNames.size());
    seen = many.data();
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot &slot = slots[i];
    for (size_t d = 0; d < slot.dynamic.size(); ++d) {
      if (slot.dynamic[d] < 0)
        continue;
      Seen &first = seen[slot.dynamic[d]];
      int64_t extent = arguments[i].shape[d];
      if (first.extent < 0) {
        first = {extent, static_cast<int>(i), static_cast<int>(d)};
      } else if (first.extent != extent) {
        *why = "dimension " + dynamicNames[slot.dynamic[d]] + " is " +
               std::to_string(first.extent) + " in " + slots[first.slot].name + " (axis " +
               std::to_string(first.axis) + ") and " + std::to_string(extent) + " in " + slot.name +
               " (axis " + std::to_string(d) + ")";
        return false;
      }
    }
  }
  return true;
}

namespace {

struct Extent {
  uintptr_t begin, end; // bytes
};

Extent extentOf(const Argument &argument) {
  int64_t last = 0;
  for (int d = 0; d < argument.rank; ++d) {
    if (argument.shape[d] == 0)
      return {0, 0};
    last += (argument.shape[d] - 1) * argument.strides[d];
  }
  auto begin = reinterpret_cast<uintptr_t>(argument.data);
  return {begin, begin + static_cast<uintptr_t>(last + 1) * argument.dtype->bytes()};
}

/// Two windows of one row-major parent (equal strides, none smaller than what lies below it) share
/// an element only where they meet in every axis. True when that shows that they do not.
bool differentWindows(const Argument &a, const Argument &b) {
  if (a.rank != b.rank || a.dtype->bytes() != b.dtype->bytes())
    return false;
  for (int d = 0; d < a.rank; ++d)
    if (a.strides[d] != b.strides[d] || (d && a.strides[d - 1] < a.strides[d]))
      return false;
  auto first = reinterpret_cast<intptr_t>(a.data), second = reinterpret_cast<intptr_t>(b.data);
  int64_t gap = (second - first) / a.dtype->bytes();
  const Argument &low = gap >= 0 ? a : b, &high = gap >= 0 ? b : a;
  gap = gap >= 0 ? gap : -gap;
  // Origin of `high` in the coordinates of `low`, and the axes must not run into each other.
  for (int d = 0; d < low.rank; ++d) {
    int64_t offset = gap / low.strides[d];
    gap %= low.strides[d];
    int64_t above = d ? low.strides[d - 1] / low.strides[d] : INT64_MAX;
    if (offset + high.shape[d] > above || low.shape[d] > above)
      return false;
    if (offset >= low.shape[d])
      return true;
  }
  return false;
}

} // namespace

bool Program::disjoint(std::span<const Argument> arguments) const {
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot &written = slots[i];
    if (written.kind != Slot::Tensor || written.direction == Slot::In)
      continue;
    if (arguments[i].readOnly) {
      setValueError(written.name + ": is written, but the array is read-only",
                    "pass a writable copy");
      return false;
    }
    Extent own = extentOf(arguments[i]);
    for (size_t j = 0; j < slots.size(); ++j) {
      // Two written parameters are compared once.
      if (i == j || slots[j].kind != Slot::Tensor || (slots[j].direction != Slot::In && j < i))
        continue;
      Extent other = extentOf(arguments[j]);
      if (own.begin >= other.end || other.begin >= own.end ||
          differentWindows(arguments[i], arguments[j]))
        continue;
      setValueError(written.name + ": is written and shares memory with " + slots[j].name,
                    "pass separate tensors, or declare one pl.InOut parameter");
      return false;
    }
  }
  return true;
}

bool Program::check(std::span<const Argument> arguments) const {
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot &slot = slots[i];
    const Argument &argument = arguments[i];
    if (fits(slot, argument))
      continue;
    if (slot.kind == Slot::Tensor) {
      if (argument.kind != Argument::Tensor) {
        setTypeError(slot.name + ": takes a tensor, got " + Py_TYPE(argument.object)->tp_name);
        return false;
      }
      std::string wanted = "[";
      for (size_t d = 0; d < slot.shape.size(); ++d) {
        bool named = d < slot.dynamic.size() && slot.dynamic[d] >= 0;
        wanted += d ? ", " : "";
        wanted += named               ? dynamicNames[slot.dynamic[d]]
                  : slot.shape[d] < 0 ? "?"
                                      : std::to_string(slot.shape[d]);
      }
      wanted += "] " + std::string(slot.dtype->name);
      bool sameType =
          argument.dtype == slot.dtype && argument.rank == static_cast<int>(slot.shape.size());
      bool fitsShape = sameType;
      for (int d = 0; fitsShape && d < argument.rank; ++d)
        fitsShape = slot.shape[d] < 0 || slot.shape[d] == argument.shape[d];
      if (fitsShape) {
        std::string strides = "[";
        for (int d = 0; d < argument.rank; ++d)
          strides += (d ? ", " : "") + std::to_string(argument.strides[d]);
        setValueError(slot.name + ": its strides " + strides +
                          "] are not those that the program is compiled for",
                      "pass tensor.contiguous()");
        return false;
      }
      std::string got = describe(argument);
      setTypeError(slot.name + ": takes " + wanted + ", got " + got);
      return false;
    }
    if (slot.kind == Slot::Scalar) {
      scalarError(slot.name, argument, *slot.dtype);
      return false;
    }
    setTypeError(slot.name + ": differs from the value the program was compiled for");
    return false;
  }
  return true;
}

namespace {

/// Whether this process has chosen to run programs; pypto.runtime._execution_mode decides.
std::atomic<bool> programMode{false};

bool claimProgramMode() {
  PyObject *gate = PyImport_ImportModule("pypto.runtime._execution_mode");
  PyObject *claimed = gate ? PyObject_CallMethod(gate, "claim_program", nullptr) : nullptr;
  Py_XDECREF(gate);
  if (!claimed)
    return false;
  Py_DECREF(claimed);
  // A forked child chooses anew.
  static int atFork = pthread_atfork(nullptr, nullptr, [] { programMode = false; });
  programMode = atFork == 0;
  return true;
}

} // namespace

bool Program::run(std::span<const Argument> arguments) const {
  std::string why;
  if (!dynamicAgree(arguments, &why)) {
    setValueError(why);
    return false;
  }
  if (!disjoint(arguments))
    return false;
  if (!programMode.load(std::memory_order_relaxed) && !claimProgramMode())
    return false;

  constexpr size_t few = 16;
  ChipTensor tensorStorage[few];
  uint64_t scalarStorage[few];
  std::unique_ptr<ChipTensor[]> manyTensors;
  std::unique_ptr<uint64_t[]> manyScalars;
  ChipTensor *tensors = tensorStorage;
  uint64_t *scalars = scalarStorage;
  if (slots.size() > few) {
    manyTensors = std::make_unique<ChipTensor[]>(slots.size());
    manyScalars = std::make_unique<uint64_t[]>(slots.size());
    tensors = manyTensors.get();
    scalars = manyScalars.get();
  }
  int32_t tensorCount = 0, scalarCount = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot &slot = slots[i];
    const Argument &argument = arguments[i];
    if (slot.kind == Slot::Scalar) {
      if (!scalarWord(slot.name, argument, *slot.dtype, scalars[scalarCount++]))
        return false;
    } else if (slot.kind == Slot::Tensor) {
      ChipTensor &tensor = tensors[tensorCount++];
      Extent extent = extentOf(argument);
      tensor.buffer.addr = reinterpret_cast<uintptr_t>(argument.data);
      tensor.buffer.size = extent.end - extent.begin;
      tensor.ndims = static_cast<uint32_t>(argument.rank);
      tensor.dtype = static_cast<DataType>(slot.dtype->runtime);
      tensor.is_contiguous = argument.contiguous;
      tensor.extent_elem_cache = tensor.buffer.size / slot.dtype->bytes();
      for (int d = 0; d < argument.rank; ++d) {
        tensor.shapes[d] = static_cast<uint32_t>(argument.shape[d]);
        tensor.strides[d] = static_cast<uint32_t>(argument.strides[d]);
      }
    }
  }

  SimplerWorker *worker = workerOf(arch);
  if (!worker) {
    setResourceError("cannot start the worker threads of a simulated device: " +
                     std::string(simpler_last_error()));
    return false;
  }
  uint64_t begin = pto::trace::enabled() ? pto::trace::now() : 0;
  int32_t code;
  {
    Interruptible interruptible(worker);
    if (PyErr_CheckSignals() != 0) // Ctrl-C before: the run would not see it
      return false;
    pto::python::GilRelease release;
    code = simpler_run_since(worker, interruptible.before(), entry, tensors, tensorCount, scalars,
                             scalarCount);
  }
  if (begin)
    pto::trace::add("call", name, begin, pto::trace::now());
  if (std::string found = takeFault(); code == 0 && !found.empty()) {
    setRunError(found, -1);
    return false;
  }
  if (code == 0)
    return PyErr_CheckSignals() == 0;
  if (PyErr_CheckSignals() != 0)
    return false;
  setRunError(name + ": " + simpler_last_error(), code);
  return false;
}

PyObject *Program::results(std::span<const Argument> arguments) const {
  if (returns.empty())
    Py_RETURN_NONE;
  if (!returnsTuple)
    return Py_NewRef(arguments[returns[0]].object);
  PyObject *tuple = PyTuple_New(static_cast<Py_ssize_t>(returns.size()));
  if (!tuple)
    return nullptr;
  for (size_t i = 0; i < returns.size(); ++i)
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), Py_NewRef(arguments[returns[i]].object));
  return tuple;
}

} // namespace pypto::core
