//===- Convolution.cpp - torch's hooks for a device's convolution ---------===//
//
// torch calls the *_overrideable operators for devices that it does not know. They are executed as
// the plain operators, which choose the CPU's implementation.
//
//===----------------------------------------------------------------------===//
#include "Execute.h"

namespace npu {
namespace {

const c10::OperatorHandle &plain(const char *name) {
  return *new c10::OperatorHandle(c10::Dispatcher::singleton().findSchemaOrThrow(name, ""));
}

void convolution(const c10::OperatorHandle &, torch::jit::Stack *stack) {
  static const auto &op = plain("aten::convolution");
  executeBoxed(op, stack);
}

/// (grad, input, weight, stride, padding, dilation, transposed, output_padding, groups, mask); the
/// plain operator wants the sizes of the bias after the weight.
void convolutionBackward(const c10::OperatorHandle &, torch::jit::Stack *stack) {
  static const auto &op = plain("aten::convolution_backward");
  auto first = stack->end() - 10;
  at::Tensor weight = first[2].toTensor();
  bool transposed = first[6].toBool();
  int64_t groups = first[8].toInt();
  int64_t channels = transposed ? weight.size(1) * groups : weight.size(0);
  stack->insert(first + 3, c10::IValue(std::vector<int64_t>{channels}));
  executeBoxed(op, stack);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&convolution>());
  m.impl("convolution_backward_overrideable",
         torch::CppFunction::makeFromBoxedFunction<&convolutionBackward>());
}

} // namespace
} // namespace npu
