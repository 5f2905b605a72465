// Lanes of one block write side by side: cell [block][core], 0 cube, 1 and 2 vector.
#include "cell.h"
extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
#ifdef __DAV_CUBE__
  int32_t core = 0;
#else
  int32_t core = 1 + get_sub_block_id(args);
#endif
  data<int32_t>(args, 0)[3 * get_block_idx(args) + core] += scalar<int32_t>(args, 1) + core;
}
