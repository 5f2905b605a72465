// Writes late, then notifies.
#include "cell.h"
#include "pto_async_kernel_api.h"
extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
  int32_t i = scalar<int32_t>(args, 2);
  linger(500 * (i + 1));
  data<int32_t>(args, 0)[i] = 50 + i;
  send_notification(data<int32_t>(args, 1), 1, NotifyOp::Add);
}
