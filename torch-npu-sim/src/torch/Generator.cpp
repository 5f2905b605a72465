//===- Generator.cpp - random numbers of a device -------------------------===//
//
// A device generator holds a CPU generator, which the CPU kernels draw from. Reading or setting its
// state waits for the device, because queued work draws in stream order.
//
//===----------------------------------------------------------------------===//
#include "Generator.h"

#include "npu_runtime/Device.h"

#include <ATen/CPUGeneratorImpl.h>

namespace npu {
namespace {

class GeneratorImpl final : public c10::GeneratorImpl {
public:
  explicit GeneratorImpl(int device, at::Generator cpu)
      : c10::GeneratorImpl({c10::kPrivateUse1, c10::DeviceIndex(device)},
                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        cpu_(std::move(cpu)) {}

  void set_current_seed(uint64_t seed) override { settled().set_current_seed(seed); }
  void set_offset(uint64_t offset) override { settled().set_offset(offset); }
  uint64_t get_offset() const override { return settled().get_offset(); }
  uint64_t current_seed() const override { return settled().current_seed(); }
  uint64_t seed() override { return settled().seed(); }
  void set_state(const c10::TensorImpl &state) override {
    settled().unsafeGetGeneratorImpl()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return settled().unsafeGetGeneratorImpl()->get_state();
  }
  const at::Generator &cpu() const { return cpu_; }

private:
  GeneratorImpl *clone_impl() const override {
    return new GeneratorImpl(device().index(), settled().clone());
  }
  at::Generator &settled() const {
    if (initialized())
      npu::device(device().index()).waitFinished();
    return cpu_;
  }
  mutable at::Generator cpu_;
};

} // namespace

const at::Generator &defaultGenerator(int device) {
  static auto *generators = new std::vector<at::Generator>([] {
    std::vector<at::Generator> list;
    for (int i = 0; i < deviceCount(); ++i)
      list.push_back(makeGenerator(i));
    return list;
  }());
  if (device < 0)
    device = currentDevice();
  TORCH_CHECK(device < int(generators->size()), "NPU generator: device index ", device,
              " is out of range, there are ", generators->size(), " device(s)");
  return (*generators)[size_t(device)];
}

at::Generator makeGenerator(int device) {
  if (device < 0)
    device = currentDevice();
  return at::Generator(
      c10::make_intrusive<GeneratorImpl>(device, at::detail::createCPUGenerator()));
}

at::Generator cpuGeneratorOf(const at::Generator &generator, int device) {
  const at::Generator &own = generator.defined() ? generator : defaultGenerator(device);
  auto *impl = dynamic_cast<GeneratorImpl *>(own.unsafeGetGeneratorImpl());
  TORCH_CHECK(impl, "Expected a 'npu' device type for generator but found '", own.device().type(),
              "'");
  return impl->cpu();
}

c10::IValue cpuGeneratorFor(const c10::IValue &value, int device) {
  return cpuGeneratorOf(value.isGenerator() ? value.toGenerator() : at::Generator(), device);
}

} // namespace npu
