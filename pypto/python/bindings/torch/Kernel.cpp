//===- Kernel.cpp - a kernel as torch sees it -----------------------------===//
#include "Pch.h"

#include "Kernel.h"
#include "simpler/error_codes.h"
#include "support/Trace.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace pypto::torch_ops {
namespace {

using core::Argument;

bool fitsScalar(const Specialisation::Arg &arg, const c10::IValue &value) {
  const pto::DType &type = *arg.type;
  if (arg.onlyKind >= 0) {
    int kind = value.isBool()     ? Argument::Bool
               : value.isInt()    ? Argument::Int
               : value.isDouble() ? Argument::Float
                                  : Argument::Other;
    return kind == arg.onlyKind;
  }
  if (type.name == "BOOL")
    return value.isBool();
  if (value.isInt())
    return type.isFloat() || type.isSignedInt() || type.isUnsignedInt();
  return value.isDouble() && type.isFloat();
}

bool sameValue(const c10::IValue &a, const c10::IValue &b) {
  if (a.isInt())
    return b.isInt() && a.toInt() == b.toInt();
  if (a.isDouble())
    return b.isDouble() &&
           std::bit_cast<uint64_t>(a.toDouble()) == std::bit_cast<uint64_t>(b.toDouble());
  return a.isBool() && b.isBool() && a.toBool() == b.toBool();
}

/// A number as a kernel's argument word: its bytes in the low end (FP16 and BF16 travel as FP32).
uint64_t wordOf(const std::string &kernel, const Specialisation::Arg &arg,
                const c10::IValue &value) {
  const pto::DType &type = *arg.type;
  if (type.name == "BOOL")
    return value.toBool();
  auto refuse = [&](auto shown) {
    TORCH_CHECK_VALUE(false, kernel, ": ", shown, " does not fit ", type.name);
  };
  if (type.isFloat()) {
    double wide = value.isInt() ? double(value.toInt()) : value.toDouble();
    float narrow = float(wide);
    if (std::isinf(narrow) && !std::isinf(wide))
      refuse(wide);
    return std::bit_cast<uint32_t>(narrow);
  }
  int64_t number = value.toInt();
  if (type.bits < 64) {
    bool isSigned = type.isSignedInt();
    int64_t low = isSigned ? -(int64_t(1) << (type.bits - 1)) : 0;
    int64_t high = (int64_t(1) << (isSigned ? type.bits - 1 : type.bits)) - 1;
    if (number < low || number > high)
      refuse(number);
    return uint64_t(number) & ((uint64_t(1) << type.bits) - 1);
  }
  if (!type.isSignedInt() && number < 0)
    refuse(number);
  return uint64_t(number);
}

/// Dimensions with one name have one extent.
void checkDynamic(const Specialisation &program, Values values) {
  if (program.dynamicNames.size() == 0)
    return;
  struct Seen {
    int64_t extent = -1;
    size_t arg = 0, axis = 0;
  };
  c10::SmallVector<Seen, 8> seen(program.dynamicNames.size());
  for (size_t i = 0; i < program.args.size(); ++i) {
    const auto &arg = program.args[i];
    for (size_t d = 0; arg.kind == Slot::Tensor && d < arg.dynamic.size(); ++d) {
      if (arg.dynamic[d] < 0)
        continue;
      Seen &first = seen[size_t(arg.dynamic[d])];
      int64_t extent = values[i].toTensor().size(int64_t(d));
      if (first.extent < 0)
        first = {extent, i, d};
      TORCH_CHECK_VALUE(first.extent == extent, program.name, ": dimension ",
                        program.dynamicNames[size_t(arg.dynamic[d])], " is ", first.extent,
                        " in argument ", first.arg, " (axis ", first.axis, ") and ", extent,
                        " in argument ", i, " (axis ", d, ")");
    }
  }
}

} // namespace

at::ScalarType scalarTypeOf(const pto::DType &type) {
  static constexpr std::pair<std::string_view, at::ScalarType> table[] = {
      {"FP32", at::kFloat},
      {"FP16", at::kHalf},
      {"BF16", at::kBFloat16},
      {"FP64", at::kDouble},
      {"INT8", at::kChar},
      {"INT16", at::kShort},
      {"INT32", at::kInt},
      {"INT64", at::kLong},
      {"INDEX", at::kLong},
      {"UINT8", at::kByte},
      {"UINT16", at::kUInt16},
      {"UINT32", at::kUInt32},
      {"UINT64", at::kUInt64},
      {"BOOL", at::kBool},
      {"FP8E4M3FN", at::kFloat8_e4m3fn},
      {"FP8E5M2", at::kFloat8_e5m2},
      {"FP8E8M0", at::kFloat8_e8m0fnu},
  };
  for (const auto &[name, torch] : table)
    if (name == type.name)
      return torch;
  return at::ScalarType::Undefined;
}

const core::CoreApi &coreApi() {
  static const core::CoreApi *api = [] {
    auto *found = static_cast<const core::CoreApi *>(
        PyCapsule_Import(core::CoreApi::capsule, /*no_block=*/0));
    if (!found)
      throw python_error();
    return found;
  }();
  return *api;
}

bool Specialisation::matches(Values values) const noexcept {
  for (size_t i = 0; i < args.size(); ++i) {
    const Arg &arg = args[i];
    const c10::IValue &value = values[i];
    if (arg.kind == Slot::Tensor) {
      if (!value.isTensor())
        return false;
      const at::TensorImpl *tensor = value.unsafeToTensorImpl();
      if (tensor->dtype() != c10::scalarTypeToTypeMeta(arg.dtype))
        return false;
      c10::IntArrayRef sizes = tensor->sizes();
      if (sizes.size() != arg.shape.size()) {
        // A tensor of rank 0 is handed over as one element.
        if (sizes.size() == 0 && arg.shape.size() == 1 && (arg.shape[0] == 1 || arg.shape[0] < 0))
          continue;
        return false;
      }
      for (size_t d = 0; d < sizes.size(); ++d)
        if (arg.shape[d] >= 0 && arg.shape[d] != sizes[d])
          return false;
    } else if (arg.kind == Slot::Scalar) {
      if (!fitsScalar(arg, value))
        return false;
    } else if (!sameValue(arg.baked, value)) {
      return false;
    }
  }
  return true;
}

Frame::Frame(const Specialisation &program, Values values) : program_(&program) {
  checkDynamic(program, values);
  auto *tensors = reinterpret_cast<ChipTensor *>(fewTensors_);
  uint64_t *scalars = fewScalars_;
  if (program.tensors > Few) {
    manyTensors_ = std::make_unique<ChipTensor[]>(program.tensors);
    tensors = manyTensors_.get();
  }
  if (program.scalars > Few) {
    manyScalars_ = std::make_unique<uint64_t[]>(program.scalars);
    scalars = manyScalars_.get();
  }
  for (size_t i = 0; i < program.args.size(); ++i) {
    const Specialisation::Arg &arg = program.args[i];
    if (arg.kind == Slot::Scalar) {
      *scalars++ = wordOf(program.name, arg, values[i]);
    } else if (arg.kind == Slot::Tensor) {
      const at::TensorImpl *tensor = values[i].unsafeToTensorImpl();
      auto &out = *new (tensors++) ChipTensor;
      c10::IntArrayRef sizes = tensor->sizes();
      out.buffer.addr = reinterpret_cast<uintptr_t>(tensor->data());
      out.ndims = sizes.empty() ? 1 : uint32_t(sizes.size());
      out.dtype = static_cast<DataType>(arg.type->runtime);
      out.is_contiguous = true;
      out.shapes[0] = out.strides[0] = 1;
      int64_t stride = 1;
      for (size_t d = sizes.size(); d-- > 0;) {
        TORCH_CHECK_VALUE(sizes[d] <= UINT32_MAX && stride <= UINT32_MAX, program.name, ": axis ",
                          d, " of argument ", i, " has extent ", sizes[d], " and stride ", stride,
                          "; kernels take up to 2^32 - 1");
        out.shapes[d] = uint32_t(sizes[d]);
        out.strides[d] = uint32_t(stride);
        stride *= std::max<int64_t>(sizes[d], 1);
      }
      out.extent_elem_cache = uint64_t(tensor->numel());
      out.buffer.size = out.extent_elem_cache * uint64_t(arg.type->bytes());
    }
  }
}

void Frame::run() const {
  static std::string (*const takeFault)() =
      coreApi().takeFault; // add() has found it: no GIL needed
  uint64_t begin = pto::trace::enabled() ? pto::trace::now() : 0;
  auto call = [&] {
    return simpler_run(program_->worker.load(std::memory_order_relaxed), program_->entry, tensors(),
                       int32_t(program_->tensors), scalars(), int32_t(program_->scalars));
  };
  int32_t code = call();
  if (C10_UNLIKELY(code == SIMPLER_FORKED)) { // found before fork(): this process has its own
    {
      pybind11::gil_scoped_acquire gil;
      if (SimplerWorker *own = coreApi().worker(program_->arch))
        program_->worker = own;
    }
    code = call();
  }
  if (begin)
    pto::trace::add("call", program_->name, begin, pto::trace::now());
  if (code)
    throw std::runtime_error(program_->name + ": " + simpler_last_error());
  if (std::string found = takeFault(); C10_UNLIKELY(!found.empty()))
    throw std::runtime_error(program_->name + ": " + found);
}

const Specialisation *Kernel::find(Values values) const noexcept {
  if (const List *list = programs_.load(std::memory_order_acquire))
    for (const Specialisation *program : *list)
      if (program->matches(values))
        return program;
  return nullptr;
}

const Specialisation *Kernel::findCurrent(Values values) {
  const Specialisation *program = find(values);
  if (!program || coreApi().current(function_, program->executable))
    return program;
  std::lock_guard lock(mutex_);
  auto *list = new List(*programs_.load());
  std::erase(*list, program);
  programs_.store(list, std::memory_order_release); // the old list may still be read: it stays
  return nullptr;
}

const Specialisation &Kernel::require(Values values, bool capturing) {
  if (const Specialisation *program = find(values))
    return *program;
  TORCH_CHECK(!capturing,
              "Kernel capture requires warmup outside capture for this specialization: ", "kernel ",
              name,
              " has no program for these arguments yet. Call "
              "pypto.torch.prepare(kernel, *arguments) before the capture");
  pybind11::gil_scoped_acquire gil;
  pybind11::tuple arguments(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const c10::IValue &value = values[i];
    PyObject *object = value.isTensor()   ? THPVariable_Wrap(value.toTensor())
                       : value.isBool()   ? PyBool_FromLong(value.toBool())
                       : value.isInt()    ? PyLong_FromLongLong(value.toInt())
                       : value.isDouble() ? PyFloat_FromDouble(value.toDouble())
                                          : Py_NewRef(Py_None);
    if (!object)
      throw python_error();
    PyTuple_SET_ITEM(arguments.ptr(), Py_ssize_t(i), object);
  }
  PyObject *done = PyObject_CallObject(compile_, arguments.ptr());
  if (!done) {
    python_error error;
    error.persist();
    throw error;
  }
  Py_DECREF(done);
  const Specialisation *program = find(values);
  TORCH_CHECK(program, "kernel ", name,
              ": the program that was compiled does not take the arguments "
              "that it was compiled for");
  return *program;
}

void Kernel::add(PyObject *executable) {
  const core::Program *source = coreApi().program(executable);
  TORCH_CHECK_TYPE(source, "kernel ", name, ": compiling gave no executable program");
  auto made = std::make_unique<Specialisation>();
  made->name = source->name;
  made->entry = source->entry;
  made->arch = source->arch;
  made->worker = coreApi().worker(source->arch);
  TORCH_CHECK(made->worker,
              "cannot start the worker threads of a simulated device: ", simpler_last_error());
  simpler_worker_lend_team(made->worker, torchTeam());
  made->dynamicNames = source->dynamicNames;
  made->returns = source->returns;
  TORCH_CHECK(source->slots.size() == params.size(), "kernel ", name, " has ", params.size(),
              " parameters, its program ", source->slots.size());
  for (const Slot &slot : source->slots) {
    c10::IValue baked;
    if (slot.baked) {
      if (PyBool_Check(slot.baked))
        baked = slot.baked == Py_True;
      else if (PyLong_Check(slot.baked))
        baked = int64_t(PyLong_AsLongLong(slot.baked));
      else if (PyFloat_Check(slot.baked))
        baked = PyFloat_AS_DOUBLE(slot.baked);
      PyErr_Clear();
    }
    auto dtype = slot.kind == Slot::Tensor ? scalarTypeOf(*slot.dtype) : at::ScalarType::Undefined;
    TORCH_CHECK_TYPE(slot.kind != Slot::Tensor || dtype != at::ScalarType::Undefined, "Parameter '",
                     slot.name, "' has the element type ", slot.dtype->name,
                     ", which torch does not have");
    TORCH_CHECK_VALUE(slot.strides.empty(), "Parameter '", slot.name,
                      "' is compiled for a strided view; torch calls pass contiguous tensors");
    made->tensors += slot.kind == Slot::Tensor;
    made->scalars += slot.kind == Slot::Scalar;
    made->args.push_back({slot.kind, slot.direction, dtype, slot.dtype, slot.shape, slot.dynamic,
                          slot.onlyKind, std::move(baked)});
  }
  made->executable = Py_NewRef(executable);
  std::lock_guard lock(mutex_);
  const List *old = programs_.load();
  auto *list = old ? new List(*old) : new List;
  list->insert(list->begin(), made.release());
  programs_.store(list, std::memory_order_release); // the old list may still be read: it stays
}

void checkTensors(const Kernel &kernel, std::span<c10::IValue> values) {
  struct Bytes {
    uintptr_t begin = 0, end = 0;
  };
  c10::SmallVector<Bytes, 8> bytes(values.size());
  size_t first = values.size();
  bool anyWritten = false;
  for (size_t i = 0; i < values.size(); ++i) {
    const Param &param = kernel.params[i];
    if (!param.tensor)
      continue;
    TORCH_CHECK_TYPE(values[i].isTensor() && values[i].toTensor().defined(), "Parameter '",
                     param.name, "' takes a tensor, got ", values[i].tagKind());
    const at::Tensor &tensor = values[i].toTensor();
    if (first == values.size())
      first = i;
    const at::Tensor &other = values[first].toTensor();
    TORCH_CHECK_VALUE(tensor.device() == other.device(),
                      "Expected all tensors to be on the same device: parameter '",
                      kernel.params[first].name, "' is on ", other.device(), ", parameter '",
                      param.name, "' is on ", tensor.device());
    TORCH_CHECK_VALUE(tensor.layout() == c10::kStrided, "Parameter '", param.name, "' has layout ",
                      tensor.layout(), "; kernels take strided tensors");
    TORCH_CHECK_VALUE(!tensor.is_conj() && !tensor.is_neg(), "Parameter '", param.name,
                      "' is an unresolved conjugate or negative view; pass tensor.resolve_conj() "
                      "or tensor.resolve_neg()");
    TORCH_CHECK_VALUE(tensor.is_contiguous(), "Parameter '", param.name,
                      "' is not contiguous: strides ", tensor.strides(), " for sizes ",
                      tensor.sizes(), "; pass tensor.contiguous()");
    auto begin = reinterpret_cast<uintptr_t>(tensor.unsafeGetTensorImpl()->data());
    bytes[i] = {begin, begin + uintptr_t(tensor.numel()) * tensor.element_size()};
    anyWritten |= param.written();
  }
  for (size_t i = 0; anyWritten && i < values.size(); ++i) {
    if (!kernel.params[i].written())
      continue;
    for (size_t j = 0; j < values.size(); ++j) {
      const Param &other = kernel.params[j];
      if (i == j || !other.tensor || (other.written() && j < i))
        continue;
      Bytes a = bytes[i], b = bytes[j];
      if (a.begin >= b.end || b.begin >= a.end)
        continue;
      if (a.begin == b.begin && a.end == b.end && !other.written()) {
        at::AutoDispatchBelowADInplaceOrView belowAutograd;
        values[j] = values[j].toTensor().clone();
        bytes[j] = {};
        continue;
      }
      uintptr_t base = std::min(a.begin, b.begin);
      TORCH_CHECK_VALUE(
          false, "Parameter '", kernel.params[i].name, "' is written and overlaps parameter '",
          other.name, "': bytes [", a.begin - base, ", ", a.end - base, ") and [", b.begin - base,
          ", ", b.end - base,
          ") of one memory; pass separate tensors, or declare one pl.InOut parameter");
    }
  }
}

} // namespace pypto::torch_ops
