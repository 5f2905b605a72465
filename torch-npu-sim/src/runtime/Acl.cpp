//===- Acl.cpp - the C functions of the device ----------------------------===//
#include "acl/acl.h"

#include "npu_runtime/Allocator.h"
#include "npu_runtime/Device.h"
#include "npu_runtime/Graph.h"

#include <cstdlib>
#include <cstring>

namespace npu {
namespace {

thread_local std::string lastError;
std::atomic<bool> ready{false};

aclError fail(aclError code, std::string why) {
  lastError = std::move(why);
  return code;
}

/// Runs `body` and turns exceptions into codes.
template <class F> aclError guarded(F body) {
  try {
    body();
    return ACL_SUCCESS;
  } catch (const OutOfMemory &e) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, e.what());
  } catch (const std::bad_alloc &) {
    return fail(ACL_ERROR_BAD_ALLOC, "the host has no memory");
  } catch (const std::exception &e) {
    return fail(ACL_ERROR_RT_INTERNAL_ERROR, e.what());
  }
}

aclError null(const char *what) {
  return fail(ACL_ERROR_INVALID_PARAM, std::string(what) + " is null");
}

/// A null handle is the current device's current stream.
Stream &streamOf(aclrtStream handle) {
  return handle ? *static_cast<Stream *>(handle) : currentStream(currentDevice());
}

struct Allocations {
  std::mutex mutex;
  std::unordered_map<void *, Block *> blocks;
};
Allocations &allocations() {
  static auto *all = new Allocations; // device memory outlives static objects
  return *all;
}

aclError checkCopy(const void *to, size_t capacity, const void *from, size_t bytes) {
  if (bytes && (!to || !from))
    return null("an address");
  if (bytes > capacity)
    return fail(ACL_ERROR_RT_PARAM_INVALID, std::to_string(bytes) +
                                                " bytes do not fit a destination of " +
                                                std::to_string(capacity));
  return ACL_SUCCESS;
}

} // namespace
} // namespace npu

using namespace npu;

aclError aclInit(const char *) {
  if (ready.exchange(true))
    return fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit was called before");
  return guarded([] { initialize(); });
}

aclError aclFinalize() {
  if (!ready.exchange(false))
    return fail(ACL_ERROR_UNINITIALIZE, "aclFinalize without aclInit");
  // The runtime belongs to the process: torch may still use it.
  return guarded([] {
    for (int i = 0; initialized() && i < deviceCount(); ++i)
      device(i).synchronize();
  });
}

const char *aclGetRecentErrMsg() { return lastError.c_str(); }

aclError aclrtGetDeviceCount(uint32_t *count) {
  if (!count)
    return null("count");
  *count = uint32_t(deviceCount());
  return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t index) {
  return guarded([&] {
    device(index);
    setCurrentDevice(index);
  });
}

aclError aclrtGetDevice(int32_t *index) {
  if (!index)
    return null("device");
  *index = currentDevice();
  return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t index) {
  return guarded([&] { device(index).synchronize(); });
}

aclError aclrtSynchronizeDevice() {
  return guarded([] { device(currentDevice()).synchronize(); });
}

const char *aclrtGetSocName() {
  static const std::string name = config().soc.name;
  return name.c_str();
}

// A context is a device: there is one for each.
aclError aclrtGetCurrentContext(aclrtContext *context) {
  if (!context)
    return null("context");
  return guarded([&] { *context = &device(currentDevice()); });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  if (!context)
    return fail(ACL_ERROR_RT_CONTEXT_NULL, "the context is null");
  return guarded([&] { setCurrentDevice(static_cast<Device *>(context)->index()); });
}

// Streams are the device's pool; giving one back only waits for it.
aclError aclrtCreateStream(aclrtStream *stream) {
  if (!stream)
    return null("stream");
  return guarded([&] { *stream = &device(currentDevice()).streamFromPool(0); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return stream ? aclrtSynchronizeStream(stream) : null("stream");
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return guarded([&] { streamOf(stream).synchronize(); });
}

aclError aclrtCreateEvent(aclrtEvent *event) {
  if (!event)
    return null("event");
  return guarded([&] { *event = new Event(/*timing=*/true); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  delete static_cast<Event *>(event);
  return ACL_SUCCESS;
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  if (!event)
    return null("event");
  return guarded([&] { static_cast<Event *>(event)->record(streamOf(stream)); });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  if (!event)
    return null("event");
  return guarded([&] { static_cast<Event *>(event)->wait(streamOf(stream)); });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status) {
  if (!event || !status)
    return null("event or status");
  return guarded([&] {
    *status = static_cast<Event *>(event)->query() ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                                   : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  if (!event)
    return null("event");
  return guarded([&] { static_cast<Event *>(event)->synchronize(); });
}

aclError aclrtEventElapsedTime(float *milliseconds, aclrtEvent start, aclrtEvent end) {
  if (!milliseconds || !start || !end)
    return null("an argument");
  return guarded([&] {
    *milliseconds = float(static_cast<Event *>(start)->elapsedTo(*static_cast<Event *>(end)));
  });
}

aclError aclrtMalloc(void **pointer, size_t bytes, aclrtMemMallocPolicy) {
  if (!pointer)
    return null("pointer");
  if (!bytes)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtMalloc of 0 bytes");
  return guarded([&] {
    Device &own = device(currentDevice());
    Block *block = own.allocator().allocate(bytes, own.defaultStream());
    void *address = Allocator::data(block);
    std::lock_guard lock(allocations().mutex);
    allocations().blocks[address] = block;
    *pointer = address;
  });
}

aclError aclrtFree(void *pointer) {
  Block *block = nullptr;
  {
    std::lock_guard lock(allocations().mutex);
    auto found = allocations().blocks.find(pointer);
    if (found == allocations().blocks.end())
      return fail(ACL_ERROR_RT_PARAM_INVALID,
                  "aclrtFree of an address that aclrtMalloc did not give");
    block = found->second;
    allocations().blocks.erase(found);
  }
  return guarded([&] {
    Device &owner = device(Allocator::device(block));
    owner.waitFinished();
    owner.allocator().release(block);
  });
}

aclError aclrtMallocHost(void **pointer, size_t bytes) {
  if (!pointer || !bytes)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtMallocHost: pointer is null or bytes is 0");
  *pointer = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  return *pointer ? ACL_SUCCESS : fail(ACL_ERROR_BAD_ALLOC, "the host has no memory");
}

aclError aclrtFreeHost(void *pointer) {
  std::free(pointer);
  return ACL_SUCCESS;
}

aclError aclrtMemcpy(void *to, size_t capacity, const void *from, size_t bytes, aclrtMemcpyKind) {
  if (aclError wrong = checkCopy(to, capacity, from, bytes))
    return wrong;
  return guarded([&] {
    launchAndWait(device(currentDevice()).defaultStream(), "aclrtMemcpy",
                  [&] { std::memcpy(to, from, bytes); });
  });
}

aclError aclrtMemcpyAsync(void *to, size_t capacity, const void *from, size_t bytes,
                          aclrtMemcpyKind, aclrtStream stream) {
  if (aclError wrong = checkCopy(to, capacity, from, bytes))
    return wrong;
  return guarded(
      [&] { launch(streamOf(stream), "aclrtMemcpyAsync", [=] { std::memcpy(to, from, bytes); }); });
}

aclError aclrtMemset(void *to, size_t capacity, int32_t value, size_t bytes) {
  if (aclError wrong = checkCopy(to, capacity, to, bytes))
    return wrong;
  return guarded([&] {
    launchAndWait(device(currentDevice()).defaultStream(), "aclrtMemset",
                  [&] { std::memset(to, value, bytes); });
  });
}

aclError aclrtMemsetAsync(void *to, size_t capacity, int32_t value, size_t bytes,
                          aclrtStream stream) {
  if (aclError wrong = checkCopy(to, capacity, to, bytes))
    return wrong;
  return guarded([&] {
    launch(streamOf(stream), "aclrtMemsetAsync", [=] { std::memset(to, value, bytes); });
  });
}

aclError aclrtGetMemInfo(int, size_t *available, size_t *total) {
  if (!available || !total)
    return null("an argument");
  return guarded([&] {
    Allocator &memory = device(currentDevice()).allocator();
    *total = memory.limit();
    *available = memory.limit() - memory.reserved();
  });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status,
                                aclmdlRI *graph) {
  if (!status)
    return null("status");
  return guarded([&] {
    Graph *capture = streamOf(stream).capture();
    *status = !capture            ? ACL_MODEL_RI_CAPTURE_STATUS_NONE
              : capture->broken() ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
                                  : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    if (graph)
      *graph = capture;
  });
}
