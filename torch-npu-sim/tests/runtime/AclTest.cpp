//===- AclTest.cpp - the C functions as hosts of operators use them --------===//
#include "acl/acl.h"
#include "npu_runtime/Device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

namespace {

TEST(Acl, CopiesThereAndBackInStreamOrder) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  std::vector<int> host(1000), back(1000);
  std::iota(host.begin(), host.end(), 7);
  size_t bytes = host.size() * sizeof(int);
  void *memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(memory, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(memory, bytes, 0, 4, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(back.data(), bytes, memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  host[0] = 0;
  EXPECT_EQ(back, host);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST(Acl, WrongCallsHaveACodeAndAReason) {
  char small[4];
  EXPECT_EQ(aclrtMemcpy(small, 4, "too long", 8, ACL_MEMCPY_HOST_TO_HOST),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_STREQ(aclGetRecentErrMsg(), "8 bytes do not fit a destination of 4");
  EXPECT_EQ(aclrtFree(small), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_NE(std::strstr(aclGetRecentErrMsg(), "aclrtMalloc did not give"), nullptr);
  EXPECT_EQ(aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(aclrtSetDevice(99), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(nullptr), ACL_ERROR_RT_CONTEXT_NULL);
  void *memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, size_t(1) << 50, ACL_MEM_MALLOC_NORMAL_ONLY),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
}

TEST(Acl, EventsOrderStreams) {
  aclrtStream first = nullptr, second = nullptr;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateStream(&first), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&second), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  int value = 0, seen = -1;
  static_cast<npu::Stream *>(first)->push("slow", [&value] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    value = 1;
  });
  ASSERT_EQ(aclrtRecordEvent(event, first), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(second, event), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(&seen, 4, &value, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, second),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(second), ACL_SUCCESS);
  EXPECT_EQ(seen, 1);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  aclmdlRICaptureStatus capture = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
  EXPECT_EQ(aclmdlRICaptureGetInfo(first, &capture, nullptr), ACL_SUCCESS);
  EXPECT_EQ(capture, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
}

} // namespace
