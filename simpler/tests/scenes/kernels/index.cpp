// Each block adds its place to its cell: 1000 * block count + 10 * block + sub-block.
#include "cell.h"
extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
  int32_t b = get_block_idx(args);
  data<int32_t>(args, 0)[b] += 1000 * get_block_num(args) + 10 * b + get_sub_block_id(args);
}
