// Complete only when the counter has reached the value; scalar 1: how many conditions to register.
#include <pto/pto-inst.hpp>

#include "cell.h"
#include "pto_async_kernel_api.h"
extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
  AsyncCtx ctx = get_async_ctx(args);
  for (int32_t i = 0; i < scalar<int32_t>(args, 3); ++i)
    save_expected_notification_counter(ctx,
                                       scalar<int32_t>(args, 4) ? nullptr : data<int32_t>(args, 1),
                                       scalar<uint32_t>(args, 2));
}
