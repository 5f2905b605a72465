// All blocks (and lanes) wait for each other, then add up what all wrote before. Spins or yields.
#include "cell.h"
extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
  int32_t *arrived = data<int32_t>(args, 0), *sum = data<int32_t>(args, 1);
  int32_t expected = scalar<int32_t>(args, 2);
  __atomic_add_fetch(sum, get_block_idx(args) + 1, __ATOMIC_ACQ_REL);
  __atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < expected)
    if (scalar<int32_t>(args, 3))
      yield_block(args);
}
