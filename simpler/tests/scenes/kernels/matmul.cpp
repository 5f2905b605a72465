// c += a * b, plain loops; float views of any strides.
#include "cell.h"
extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
  const ChipTensor &a = desc(args, 0), &b = desc(args, 1), &c = desc(args, 2);
  for (uint32_t i = 0; i < c.shapes[0]; ++i)
    for (uint32_t j = 0; j < c.shapes[1]; ++j) {
      float sum = data<float>(args, 2)[i * c.strides[0] + j * c.strides[1]];
      for (uint32_t k = 0; k < a.shapes[1]; ++k)
        sum += data<float>(args, 0)[i * a.strides[0] + k * a.strides[1]] *
               data<float>(args, 1)[k * b.strides[0] + j * b.strides[1]];
      data<float>(args, 2)[i * c.strides[0] + j * c.strides[1]] = sum;
    }
}
