//===- Autocast.cpp - mixed precision -------------------------------------===//
//
// The policy lists are torch's own, those of its CUDA device.
//
//===----------------------------------------------------------------------===//
#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace at::autocast {
namespace {

Tensor refuseBinaryCrossEntropy(const Tensor &, const Tensor &, const std::optional<Tensor> &,
                                int64_t) {
  TORCH_CHECK(
      false,
      "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast: half "
      "precision "
      "cannot hold log(p) near 0. Use binary_cross_entropy_with_logits or BCEWithLogitsLoss.");
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
#define NPU_LOWER(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define NPU_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define NPU_SET_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define NPU_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
  AT_FORALL_LOWER_PRECISION_FP(NPU_LOWER)
  AT_FORALL_FP32(NPU_FP32)
  AT_FORALL_FP32_SET_OPT_DTYPE(NPU_SET_DTYPE)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
  AT_FORALL_PROMOTE(NPU_PROMOTE)
  m.impl(
      "stack",
      TORCH_FN(
          (&WrapFunction<CastPolicy::promote, DeviceType::PrivateUse1, Tensor(TensorList, int64_t),
                         Tensor(TensorList, int64_t), &ATEN_FN(stack)>::type::call)));
  m.impl("cat",
         TORCH_FN(
             (&WrapFunction<CastPolicy::promote, DeviceType::PrivateUse1,
                            Tensor(const ITensorListRef &, int64_t),
                            Tensor(const ITensorListRef &, int64_t), &ATEN_FN(cat)>::type::call)));
  m.impl("binary_cross_entropy", TORCH_FN(refuseBinaryCrossEntropy));
}

} // namespace
} // namespace at::autocast
