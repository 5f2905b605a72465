//===- Recurrent.cpp - cells of LSTM and GRU ------------------------------===//
//
// On every device but the CPU torch computes a cell with a fused operator. These make it of the
// device's own operators. The workspace holds what the derivative needs.
//
//===----------------------------------------------------------------------===//
#include <ATen/ATen.h>
#include <torch/library.h>

namespace npu {
namespace {

using at::Tensor;
using std::optional;

Tensor withBias(const Tensor &gates, const optional<Tensor> &bias) {
  return bias && bias->defined() ? gates + *bias : gates;
}

/// Derivative of the logistic function, by its value.
Tensor slope(const Tensor &sigmoid) { return sigmoid * (1 - sigmoid); }

std::tuple<Tensor, Tensor, Tensor> lstmCell(const Tensor &inputGates, const Tensor &hiddenGates,
                                            const Tensor &cx, const optional<Tensor> &inputBias,
                                            const optional<Tensor> &hiddenBias) {
  Tensor gates = withBias(inputGates, inputBias) + withBias(hiddenGates, hiddenBias);
  auto parts = gates.chunk(4, 1);
  Tensor in = parts[0].sigmoid(), forget = parts[1].sigmoid(), cell = parts[2].tanh(),
         out = parts[3].sigmoid();
  Tensor cy = forget * cx + in * cell;
  return {out * cy.tanh(), cy, at::cat({in, forget, cell, out}, 1)};
}

std::tuple<Tensor, Tensor, Tensor> lstmCellBackward(const optional<Tensor> &gradHy,
                                                    const optional<Tensor> &gradCy,
                                                    const Tensor &cx, const Tensor &cy,
                                                    const Tensor &workspace, bool hasBias) {
  auto parts = workspace.chunk(4, 1);
  const Tensor &in = parts[0], &forget = parts[1], &cell = parts[2], &out = parts[3];
  Tensor gh = gradHy && gradHy->defined() ? *gradHy : at::zeros_like(cx);
  Tensor t = cy.tanh();
  Tensor gc = gh * out * (1 - t * t);
  if (gradCy && gradCy->defined())
    gc = gc + *gradCy;
  Tensor grad = at::cat({gc * cell * slope(in), gc * cx * slope(forget),
                         gc * in * (1 - cell * cell), gh * t * slope(out)},
                        1);
  return {grad, gc * forget, hasBias ? grad.sum(0) : Tensor()};
}

std::tuple<Tensor, Tensor> gruCell(const Tensor &inputGates, const Tensor &hiddenGates,
                                   const Tensor &hx, const optional<Tensor> &inputBias,
                                   const optional<Tensor> &hiddenBias) {
  auto x = withBias(inputGates, inputBias).chunk(3, 1);
  auto h = withBias(hiddenGates, hiddenBias).chunk(3, 1);
  Tensor reset = (x[0] + h[0]).sigmoid(), update = (x[1] + h[1]).sigmoid();
  Tensor fresh = (x[2] + reset * h[2]).tanh();
  return {fresh + update * (hx - fresh), at::cat({reset, update, fresh, hx, h[2]}, 1)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>
gruCellBackward(const Tensor &gradHy, const Tensor &workspace, bool hasBias) {
  auto parts = workspace.chunk(5, 1);
  const Tensor &reset = parts[0], &update = parts[1], &fresh = parts[2], &hx = parts[3],
               &hidden = parts[4];
  Tensor gradUpdate = gradHy * (hx - fresh) * slope(update);
  Tensor gradFresh = gradHy * (1 - update) * (1 - fresh * fresh);
  Tensor gradReset = gradFresh * hidden * slope(reset);
  Tensor gradInput = at::cat({gradReset, gradUpdate, gradFresh}, 1);
  Tensor gradHidden = at::cat({gradReset, gradUpdate, gradFresh * reset}, 1);
  return {gradInput, gradHidden, gradHy * update, hasBias ? gradInput.sum(0) : Tensor(),
          hasBias ? gradHidden.sum(0) : Tensor()};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_thnn_fused_lstm_cell", lstmCell);
  m.impl("_thnn_fused_lstm_cell_backward_impl", lstmCellBackward);
  m.impl("_thnn_fused_gru_cell", gruCell);
  m.impl("_thnn_fused_gru_cell_backward", gruCellBackward);
}

} // namespace
} // namespace npu
