//===- GraphImpl.cpp - torch.accelerator.Graph ----------------------------===//
#include "npu_runtime/Device.h"
#include "npu_runtime/Graph.h"

#include <fstream>

#if __has_include(<ATen/core/GraphImplInterface.h>)
#include <ATen/core/GraphImplInterface.h>

namespace npu {
namespace {

/// The key of the registry is the device's name after its renaming, in upper case.
struct GraphImpl final : at::GraphImplInterface {
  explicit GraphImpl(at::GraphImplArgs) {}
  void capture_begin(c10::MempoolId_t pool, at::GraphCaptureMode mode) override {
    CaptureMode own = mode == at::GraphCaptureMode::Relaxed       ? CaptureMode::Relaxed
                      : mode == at::GraphCaptureMode::ThreadLocal ? CaptureMode::ThreadLocal
                                                                  : CaptureMode::Global;
    graph_.begin(currentStream(currentDevice()), std::max(pool.first, pool.second), own);
  }
  void capture_end() override { graph_.end(currentStream(currentDevice())); }
  void instantiate() override {}
  void replay() override { graph_.replay(currentStream(currentDevice())); }
  void reset() override { graph_.reset(); }
  c10::MempoolId_t pool() const override { return {graph_.pool(), 0}; }
  void enable_debug_mode() override {}
  void debug_dump(const std::string &path) override {
    std::ofstream file(path);
    for (const std::string &name : graph_.nodeNames())
      file << name << '\n';
    TORCH_CHECK(file.good(), "cannot write the graph to ", path);
  }

private:
  Graph graph_;
};

const bool registered = [] {
  at::GraphImplRegistry()->Register(
      "NPU", [](at::GraphImplArgs args) -> std::unique_ptr<at::GraphImplInterface> {
        return std::make_unique<GraphImpl>(args);
      });
  return true;
}();

} // namespace
} // namespace npu
#endif
