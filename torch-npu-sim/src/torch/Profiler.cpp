//===- Profiler.cpp - device events for torch's profiler ------------------===//
#include "npu_runtime/Device.h"

#include <torch/csrc/profiler/stubs/base.h>

#include <chrono>

namespace npu {
namespace {

struct Stubs final : torch::profiler::impl::ProfilerStubs {
  void record(c10::DeviceIndex *device, torch::profiler::impl::ProfilerVoidEventStub *event,
              int64_t *hostNs) const override {
    if (device)
      *device = c10::DeviceIndex(currentDevice());
    auto mark = std::make_shared<Event>(/*timing=*/true);
    mark->record(currentStream(currentDevice()));
    *event = mark;
    if (hostNs)
      *hostNs = std::chrono::duration_cast<std::chrono::nanoseconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count();
  }
  float elapsed(const torch::profiler::impl::ProfilerVoidEventStub *start,
                const torch::profiler::impl::ProfilerVoidEventStub *end) const override {
    auto *from = static_cast<Event *>(start->get());
    auto *to = static_cast<Event *>(end->get());
    from->synchronize();
    to->synchronize();
    return float(from->elapsedTo(*to) * 1000); // microseconds
  }
  void mark(const char *) const override {}
  void rangePush(const char *) const override {}
  void rangePop() const override {}
  bool enabled() const override { return true; }
  void onEachDevice(std::function<void(int)> visit) const override {
    for (int i = 0; i < deviceCount(); ++i)
      visit(i);
  }
  void synchronize() const override {
    for (int i = 0; initialized() && i < deviceCount(); ++i)
      device(i).waitFinished();
  }
};

const bool registered = [] {
  torch::profiler::impl::registerPrivateUse1Methods(new Stubs);
  return true;
}();

} // namespace
} // namespace npu
