//===- Extension.cpp - an operator library as users write it --------------===//
//
// Uses the installed headers only. Its operators drive the task queue for the tests.
//
//===----------------------------------------------------------------------===//
#include "torch_npu/csrc/core/npu/NPUCachingAllocator.h"
#include "torch_npu/csrc/core/npu/NPUEvent.h"
#include "torch_npu/csrc/core/npu/NPUFormat.h"
#include "torch_npu/csrc/core/npu/NPUGuard.h"
#include "torch_npu/csrc/core/npu/sys_ctrl/npu_sys_ctrl.h"
#include "torch_npu/csrc/framework/OpCommand.h"
#include "torch_npu/csrc/framework/utils/OpAdapter.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include <future>
#include <thread>

namespace {

std::vector<std::promise<void>> gates;

std::function<int()> gate() {
  gates.emplace_back();
  auto opened = gates.back().get_future().share();
  return [opened] {
    opened.wait();
    return 0;
  };
}

/// Blocks the current device's task queue until open_gates().
void gateQueue() { at_npu::native::OpCommand::RunOpApiV2("gate", gate()); }

/// Blocks the current stream until open_gates().
void gateStream() {
  auto wait = gate();
  c10_npu::getCurrentNPUStream().native().push("gate", [wait] { wait(); });
}

void openGates() {
  for (auto &one : gates)
    one.set_value();
  gates.clear();
}

/// An operator that returns `code`, or throws for a negative one.
void failWith(const std::string &name, int64_t code, bool sync) {
  at_npu::native::OpCommand::RunOpApiV2(
      name,
      [code]() -> int {
        TORCH_CHECK(code >= 0, "tile of ", -code, " bytes does not fit");
        return int(code);
      },
      sync);
}

/// a + b as a kernel library does it: the closure launches on the raw stream.
at::Tensor add(const at::Tensor &a, const at::Tensor &b) {
  TORCH_CHECK(a.is_contiguous() && b.is_contiguous() && a.sizes() == b.sizes() &&
                  a.scalar_type() == at::kFloat,
              "npu_ext::add: contiguous float tensors of one shape");
  at::Tensor out = at::empty_like(a);
  c10_npu::NPUStream stream = c10_npu::getCurrentNPUStream(a.device().index());
  const float *x = a.const_data_ptr<float>(), *y = b.const_data_ptr<float>();
  float *z = out.mutable_data_ptr<float>();
  int64_t count = a.numel();
  at_npu::native::OpCommand::RunOpApiV2("ExtAdd", [=] {
    auto *raw = static_cast<npu::Stream *>(stream.stream(false));
    npu::launch(*raw, "ExtAdd", [=] {
      for (int64_t i = 0; i < count; ++i)
        z[i] = x[i] + y[i];
    });
    return 0;
  });
  return out;
}

/// Ids of the device and stream that a closure sees.
std::vector<int64_t> placeInClosure() {
  std::vector<int64_t> seen(3);
  auto caller = std::this_thread::get_id();
  at_npu::native::OpCommand::RunOpApiV2(
      "Place",
      [&seen, caller] {
        seen = {c10_npu::current_device(), c10_npu::getCurrentNPUStream().id(),
                std::this_thread::get_id() == caller};
        return 0;
      },
      /*sync=*/true);
  return seen;
}

bool alive() { return c10_npu::NpuSysCtrl::GetInstance().GetInitFlag(); }

TORCH_LIBRARY(npu_ext, m) {
  m.def("gate_queue", gateQueue);
  m.def("gate_stream", gateStream);
  m.def("open_gates", openGates);
  m.def("fail_with(str name, int code, bool sync) -> ()", failWith);
  m.def("add(Tensor a, Tensor b) -> Tensor");
  m.impl("add", c10::DispatchKey::PrivateUse1, TORCH_FN(add));
  m.def("place_in_closure() -> int[]", placeInClosure);
  m.def("alive() -> bool", alive);
  m.def("storage_sizes(Tensor t) -> int[]",
        [](const at::Tensor &t) { return at_npu::native::get_npu_storage_sizes(t); });
}

} // namespace
