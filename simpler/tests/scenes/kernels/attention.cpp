// One query row block over one key/value page: running maximum, sum and weighted values (online
// softmax).
#include <cmath>

#include "cell.h"
extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
  const ChipTensor &q = desc(args, 0), &k = desc(args, 1), &state = desc(args, 3);
  uint32_t depth = q.shapes[1], valid = scalar<uint32_t>(args, 4);
  float *qd = data<float>(args, 0), *kd = data<float>(args, 1), *vd = data<float>(args, 2);
  for (uint32_t r = 0; r < q.shapes[0]; ++r) {
    float *s = data<float>(args, 3) + r * state.strides[0]; // max, sum, values[depth]
    for (uint32_t c = 0; c < valid; ++c) {
      float score = 0;
      for (uint32_t d = 0; d < depth; ++d)
        score += qd[r * q.strides[0] + d] * kd[c * k.strides[0] + d];
      float top = s[1] == 0 ? score : std::fmax(s[0], score);
      float keep = s[1] == 0 ? 0 : std::exp(s[0] - top), weight = std::exp(score - top);
      s[0] = top;
      s[1] = s[1] * keep + weight;
      for (uint32_t d = 0; d < depth; ++d)
        s[2 + d] = s[2 + d] * keep + weight * vd[c * k.strides[0] + d];
    }
  }
}
