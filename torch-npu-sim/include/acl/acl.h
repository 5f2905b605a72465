/*===- acl.h - the C functions of the device that hosts of operators use ---===//
//
// Names, constants and calling rules of the Ascend Computing Language runtime, on the simulated
// device. A stream handle is the same as torch_npu's `NPUStream.stream()`. Functions return
// ACL_SUCCESS or a code below; aclGetRecentErrMsg tells why. Any thread; a thread that has set no
// device uses 0.
//
//===-----------------------------------------------------------------------===*/
#ifndef ACL_ACL_H
#define ACL_ACL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))

typedef int aclError;
typedef void *aclrtStream;
typedef void *aclrtEvent;
typedef void *aclrtContext;

enum {
  ACL_SUCCESS = 0,
  ACL_ERROR_INVALID_PARAM = 100000,
  ACL_ERROR_UNINITIALIZE = 100001,
  ACL_ERROR_REPEAT_INITIALIZE = 100002,
  ACL_ERROR_BAD_ALLOC = 200000,
  ACL_ERROR_RT_PARAM_INVALID = 107000,
  ACL_ERROR_RT_CONTEXT_NULL = 107002,
  ACL_ERROR_RT_MEMORY_ALLOCATION = 207001,
  ACL_ERROR_RT_INTERNAL_ERROR = 507000
};

typedef enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST,
  ACL_MEMCPY_HOST_TO_DEVICE,
  ACL_MEMCPY_DEVICE_TO_HOST,
  ACL_MEMCPY_DEVICE_TO_DEVICE
} aclrtMemcpyKind;

typedef enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST,
  ACL_MEM_MALLOC_HUGE_ONLY,
  ACL_MEM_MALLOC_NORMAL_ONLY
} aclrtMemMallocPolicy;

typedef enum aclrtEventRecordedStatus {
  ACL_EVENT_RECORDED_STATUS_NOT_READY,
  ACL_EVENT_RECORDED_STATUS_COMPLETE
} aclrtEventRecordedStatus;

typedef enum aclmdlRICaptureStatus {
  ACL_MODEL_RI_CAPTURE_STATUS_NONE,
  ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE,
  ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
} aclmdlRICaptureStatus;
typedef void *aclmdlRI;

ACL_FUNC_VISIBILITY aclError aclInit(const char *configPath);
ACL_FUNC_VISIBILITY aclError aclFinalize(void);
/* Text of the calling thread's last error, "" without one. */
ACL_FUNC_VISIBILITY const char *aclGetRecentErrMsg(void);

ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCount(uint32_t *count);
ACL_FUNC_VISIBILITY aclError aclrtSetDevice(int32_t device);
ACL_FUNC_VISIBILITY aclError aclrtGetDevice(int32_t *device);
ACL_FUNC_VISIBILITY aclError aclrtResetDevice(int32_t device);
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDevice(void);
ACL_FUNC_VISIBILITY const char *aclrtGetSocName(void);
ACL_FUNC_VISIBILITY aclError aclrtGetCurrentContext(aclrtContext *context);
ACL_FUNC_VISIBILITY aclError aclrtSetCurrentContext(aclrtContext context);

ACL_FUNC_VISIBILITY aclError aclrtCreateStream(aclrtStream *stream);
ACL_FUNC_VISIBILITY aclError aclrtDestroyStream(aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStream(aclrtStream stream);

ACL_FUNC_VISIBILITY aclError aclrtCreateEvent(aclrtEvent *event);
ACL_FUNC_VISIBILITY aclError aclrtDestroyEvent(aclrtEvent event);
ACL_FUNC_VISIBILITY aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
ACL_FUNC_VISIBILITY aclError aclrtQueryEventStatus(aclrtEvent event,
                                                   aclrtEventRecordedStatus *status);
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEvent(aclrtEvent event);
ACL_FUNC_VISIBILITY aclError aclrtEventElapsedTime(float *milliseconds, aclrtEvent start,
                                                   aclrtEvent end);

/* Device memory; aclrtFree waits for the device first, as its memory may still be in use. */
ACL_FUNC_VISIBILITY aclError aclrtMalloc(void **pointer, size_t bytes, aclrtMemMallocPolicy policy);
ACL_FUNC_VISIBILITY aclError aclrtFree(void *pointer);
ACL_FUNC_VISIBILITY aclError aclrtMallocHost(void **pointer, size_t bytes);
ACL_FUNC_VISIBILITY aclError aclrtFreeHost(void *pointer);
/* Blocks; `bytes` above `capacity` is ACL_ERROR_RT_PARAM_INVALID. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy(void *to, size_t capacity, const void *from, size_t bytes,
                                         aclrtMemcpyKind kind);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsync(void *to, size_t capacity, const void *from,
                                              size_t bytes, aclrtMemcpyKind kind,
                                              aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtMemset(void *to, size_t capacity, int32_t value, size_t bytes);
ACL_FUNC_VISIBILITY aclError aclrtMemsetAsync(void *to, size_t capacity, int32_t value,
                                              size_t bytes, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtGetMemInfo(int attribute, size_t *available, size_t *total);

ACL_FUNC_VISIBILITY aclError aclmdlRICaptureGetInfo(aclrtStream stream,
                                                    aclmdlRICaptureStatus *status, aclmdlRI *graph);

#ifdef __cplusplus
}
#endif
#endif
