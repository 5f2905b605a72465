// out = values / sum of the attention state.
#include "cell.h"
extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
  const ChipTensor &state = desc(args, 0), &out = desc(args, 1);
  for (uint32_t r = 0; r < out.shapes[0]; ++r)
    for (uint32_t d = 0; d < out.shapes[1]; ++d)
      data<float>(args, 1)[r * out.strides[0] + d] =
          data<float>(args, 0)[r * state.strides[0] + 2 + d] /
          data<float>(args, 0)[r * state.strides[0] + 1];
}
