//===- Fault.cpp - what checked kernels find wrong ------------------------===//
#include "Fault.h"

#include "ptoas/Target/Native/Cluster.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace pypto::core {

static std::mutex mutex;
static std::string first;
static std::atomic<bool> any = false; // asked for after each run, which is to cost nothing

static void keep(const char *message) {
  std::lock_guard<std::mutex> lock(mutex);
  if (first.empty())
    first = message;
  any.store(true, std::memory_order_release);
}

void keepFaults() { ptoas::Cluster::setFaultSink(keep); }

std::string takeFault() {
  if (!any.load(std::memory_order_acquire)) [[likely]]
    return {};
  std::lock_guard<std::mutex> lock(mutex);
  any.store(false, std::memory_order_relaxed);
  return std::exchange(first, {});
}

} // namespace pypto::core
