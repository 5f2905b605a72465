/* Stand-ins for compiled programs: what the call path hands over, seen from the other side. */
#include <stdint.h>
#include <string.h>
#include <time.h>

struct Tensor { /* 128 bytes, spec/simpler.md 2.2 */
  uint64_t addr, size, owner, offset;
  int32_t version;
  uint32_t rank;
  uint8_t dtype, manual, contiguous, space;
  uint32_t shape[5];
  uint64_t extent;
  uint32_t stride[5];
  uint8_t pad[36];
} __attribute__((aligned(64)));

static float *at(const struct Tensor *t, uint32_t i, uint32_t j) {
  return (float *)t->addr + t->offset + (uint64_t)i * t->stride[0] + (uint64_t)j * t->stride[1];
}

/* y = x + 1, rank 2, FP32 */
void add_one(void *run, const struct Tensor *t, const uint64_t *scalars) {
  for (uint32_t i = 0; i < t[0].shape[0]; ++i)
    for (uint32_t j = 0; j < t[0].shape[1]; ++j)
      *at(&t[1], i, j) = *at(&t[0], i, j) + 1;
}

/* Copies the descriptor of the first tensor, 16 words, into the second (INT64, 16 elements). */
void descriptor(void *run, const struct Tensor *t, const uint64_t *scalars) {
  memcpy((void *)t[1].addr, &t[0], 128);
}

/* Copies 4 scalar words into an INT64 tensor. */
void words(void *run, const struct Tensor *t, const uint64_t *scalars) {
  memcpy((void *)t[0].addr, scalars, 32);
}

/* Writes the addresses of the tensors behind the first, scalars[0] of them, into it (INT64). */
void addresses(void *run, const struct Tensor *t, const uint64_t *scalars) {
  for (uint64_t i = 0; i < scalars[0]; ++i)
    ((uint64_t *)t[0].addr)[i] = t[i + 1].addr;
}

void nothing(void *run, const struct Tensor *t, const uint64_t *scalars) {}

extern void simpler_fail(void *run, int32_t code, const char *message);
void fails(void *run, const struct Tensor *t, const uint64_t *scalars) {
  simpler_fail(run, 9, "asked to stop");
}

/* Submits barriers until the run is interrupted; the tensor's first element tells that it has
 * begun. */
extern uint64_t simpler_submit(void *run, const void *kernel, const void *const *tensors,
                               const uint8_t *tags, int32_t tensor_count, const uint64_t *scalars,
                               int32_t scalar_count, const void *launch);
void endless(void *run, const struct Tensor *t, const uint64_t *scalars) {
  struct timespec pause = {0, 1000000};
  *(volatile float *)at(&t[0], 0, 0) = 1;
  while (simpler_submit(run, 0, 0, 0, 0, 0, 0, 0) != UINT64_MAX)
    nanosleep(&pause, 0);
}
