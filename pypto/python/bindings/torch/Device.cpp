//===- Device.cpp - where kernels run -------------------------------------===//
#include "Pch.h"

#include "Device.h"

namespace pypto::torch_ops {
namespace {

std::atomic<const std::string *> refusal{nullptr};

void loadNpu() {
  pybind11::gil_scoped_acquire gil;
  PyObject *module = PyImport_ImportModule("pypto.torch.launching");
  PyObject *done = module ? PyObject_CallMethod(module, "load_npu", nullptr) : nullptr;
  Py_XDECREF(module);
  if (!done) {
    python_error error;
    error.persist();
    throw error;
  }
  Py_DECREF(done);
}

/// The storage formats that kernels read as they are: NCHW and ND.
void checkFormats(const Kernel &kernel, Values values, const DeviceHooks &device) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!kernel.params[i].tensor)
      continue;
    const at::Tensor &tensor = values[i].toTensor();
    int64_t format = device.format(tensor);
    if (C10_LIKELY(format == 2 || format == 0))
      continue;
    TORCH_CHECK_VALUE(false, "Parameter '", kernel.params[i].name, "' has NPU format ", format,
                      "; kernels take 0 (NCHW) and 2 (ND)",
                      format == 30
                          ? ": torch_npu gives every tensor of rank 5 format 30 (NCDHW), pass "
                            "it with fewer axes"
                          : ": pass torch_npu.npu_format_cast(tensor, 2)");
  }
}

} // namespace

DeviceHooks &hooks() {
  static DeviceHooks instance{.run = [](const Frame &frame) { frame.run(); }};
  return instance;
}

const DeviceHooks &npuHooks() {
  DeviceHooks &device = hooks();
  if (C10_UNLIKELY(!device.launch)) {
    loadNpu();
    TORCH_CHECK(device.launch, "torch_npu is there, but its launcher for kernels did not load");
  }
  return device;
}

void setAdmission(const std::string &reason) {
  refusal.store(reason.empty() ? nullptr : new std::string(reason)); // an old reason may be read
}

const Specialisation &launch(Kernel &kernel, std::span<c10::IValue> arguments, c10::Device device,
                             const Specialisation *known) {
  if (const std::string *reason = refusal.load(std::memory_order_relaxed))
    TORCH_CHECK(device.is_cpu(), "kernel ", kernel.name, " is not launched: ", *reason);
  checkTensors(kernel, arguments);
  const Values values(arguments.data(), arguments.size());
  const Specialisation *program = known ? known : kernel.find(values);
  if (device.is_cpu()) {
    if (!program)
      program = &kernel.require(values, /*capturing=*/false);
    Frame(*program, values).run();
    return *program;
  }
  TORCH_CHECK_TYPE(device.is_privateuseone(), "kernel ", kernel.name,
                   " runs on cpu and npu, not on ", device);
  const DeviceHooks &where = npuHooks();
  checkFormats(kernel, values, where);
  if (!program)
    program = &kernel.require(values, where.capturing(device.index()));
  where.launch(device.index(), Frame(*program, values), values);
  return *program;
}

} // namespace pypto::torch_ops
