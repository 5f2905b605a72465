//===- FifoRuntime.cpp - FIFOs between the functions of one cluster -------===//
#include "FifoRuntime.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>

using ptoas::FifoCluster;

static thread_local FifoCluster *currentCluster = nullptr;
static thread_local int64_t currentLane = 0;

void FifoCluster::enter(FifoCluster *cluster, int64_t lane) {
  currentCluster = cluster;
  currentLane = lane;
}

FifoCluster &FifoCluster::current() {
  if (!currentCluster) {
    std::fputs("Error: a kernel uses a FIFO outside a cluster\n", stderr);
    std::abort();
  }
  return *currentCluster;
}

FifoCluster::Fifo &FifoCluster::open(int fifo, const Shape &shape) {
  std::unique_ptr<Fifo> &slot = fifos_[fifo];
  if (!slot) {
    slot = std::make_unique<Fifo>();
    slot->shape = shape;
    slot->bytes.resize(shape.slotBytes * shape.slots);
  }
  return *slot;
}

// The lane counts where an end has two threads.
static int endOf(int threads) { return threads == 2 ? static_cast<int>(currentLane) : 0; }

static int64_t slowest(const int64_t (&counts)[2], int threads) {
  return threads == 2 ? std::min(counts[0], counts[1]) : counts[0];
}

void FifoCluster::checkProgress() {
  if (running_ == 0 || waiting_ < running_)
    return;
  std::fputs("Error: deadlock: every function of the cluster waits for a FIFO that nobody fills or "
             "frees\n",
             stderr);
  std::fflush(nullptr);
  std::_Exit(1);
}

template <typename Ready>
void FifoCluster::waitUntil(std::unique_lock<std::mutex> &lock, Ready ready) {
  while (!ready()) {
    ++waiting_;
    checkProgress();
    uint64_t seen = changes_;
    changed_.wait(lock, [&] { return changes_ != seen; });
  }
}

void FifoCluster::wakeAll() {
  waiting_ = 0;
  ++changes_;
  changed_.notify_all();
}

void FifoCluster::leave() {
  std::lock_guard<std::mutex> lock(mutex_);
  --running_;
  checkProgress();
}

void *FifoCluster::produce(int fifo, const Shape &shape) {
  std::unique_lock<std::mutex> lock(mutex_);
  Fifo &queue = open(fifo, shape);
  int64_t number = queue.published[endOf(shape.producers)];
  waitUntil(lock, [&] { return number - slowest(queue.released, shape.consumers) < shape.slots; });
  return queue.bytes.data() + number % shape.slots * shape.slotBytes;
}

void FifoCluster::publish(int fifo) {
  std::lock_guard<std::mutex> lock(mutex_);
  Fifo &queue = *fifos_.at(fifo);
  ++queue.published[endOf(queue.shape.producers)];
  wakeAll();
}

void *FifoCluster::consume(int fifo, const Shape &shape) {
  std::unique_lock<std::mutex> lock(mutex_);
  Fifo &queue = open(fifo, shape);
  int64_t number = queue.released[endOf(shape.consumers)];
  waitUntil(lock, [&] { return slowest(queue.published, shape.producers) > number; });
  return queue.bytes.data() + number % shape.slots * shape.slotBytes;
}

void FifoCluster::release(int fifo) {
  std::lock_guard<std::mutex> lock(mutex_);
  Fifo &queue = *fifos_.at(fifo);
  ++queue.released[endOf(queue.shape.consumers)];
  wakeAll();
}

int64_t FifoCluster::laneOffset(int fifo, int64_t extent) {
  std::unique_lock<std::mutex> lock(mutex_);
  Fifo &queue = *fifos_.at(fifo);
  int64_t number = queue.released[endOf(queue.shape.consumers)];
  if (currentLane == 0) {
    queue.lane0[number] = extent;
    wakeAll();
    return 0;
  }
  waitUntil(lock, [&] { return queue.lane0.count(number) != 0; });
  int64_t offset = queue.lane0[number];
  queue.lane0.erase(number);
  return offset;
}

//===----------------------------------------------------------------------===//
// What compiled kernels call (see LowerFifos.cpp)
//===----------------------------------------------------------------------===//

#define PTO_FIFO_API extern "C" __attribute__((visibility("default"), used))

PTO_FIFO_API void *pto_fifo_produce(int32_t fifo, int64_t slotBytes, int64_t slots,
                                    int32_t producers, int32_t consumers) {
  return FifoCluster::current().produce(fifo, {slotBytes, slots, producers, consumers});
}
PTO_FIFO_API void pto_fifo_publish(int32_t fifo) { FifoCluster::current().publish(fifo); }
PTO_FIFO_API void *pto_fifo_consume(int32_t fifo, int64_t slotBytes, int64_t slots,
                                    int32_t producers, int32_t consumers) {
  return FifoCluster::current().consume(fifo, {slotBytes, slots, producers, consumers});
}
PTO_FIFO_API void pto_fifo_release(int32_t fifo) { FifoCluster::current().release(fifo); }
PTO_FIFO_API int64_t pto_fifo_lane_offset(int32_t fifo, int64_t extent) {
  return FifoCluster::current().laneOffset(fifo, extent);
}
