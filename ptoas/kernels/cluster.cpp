//===- cluster.cpp - functions that run side by side, and their FIFOs -----===//
#include "ptoas/Target/Native/Cluster.h"
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

using ptoas::Cluster;
using ptoas::Place;

static thread_local Place *currentPlace = nullptr;

// A fault leaves the function by a jump, over code that keeps nothing on its stack that must be
// cleaned up: compiled kernels, and members of this file that have let go of their lock.
__attribute__((noinline)) static bool call(Place *place, void (*body)(void *), void *argument) {
  if (__builtin_setjmp(place->exit))
    return false;
  body(argument);
  return true;
}

bool Cluster::run(int64_t block, int64_t lane, void (*body)(void *), void *argument, Yield yield) {
  std::unique_ptr<OrderCheck> order;
  if (checksOrder_)
    order = std::make_unique<OrderCheck>();
  Place place{this, block, lane, {}, order.get()};
  Place *before = currentPlace;
  currentPlace = &place;
  if (yield) {
    std::lock_guard<std::mutex> lock(mutex_);
    yield_ = yield;
  }
  bool ended = call(&place, body, argument);
  currentPlace = before;
  std::lock_guard<std::mutex> lock(mutex_);
  if (order && ended && fault_.empty())
    order->finish(findings_);
  --running_;
  checkProgress();
  return ended;
}

std::string Cluster::fault() {
  std::lock_guard<std::mutex> lock(mutex_);
  return fault_;
}

__attribute__((noinline)) static void leave(Place *place) { __builtin_longjmp(place->exit, 1); }

static std::atomic<void (*)(const char *)> faultSink{nullptr};

void Cluster::setFaultSink(void (*sink)(const char *)) { faultSink = sink; }

void Cluster::report(Place *place, const std::string &message) {
  if (place) {
    Cluster &cluster = *place->cluster;
    std::lock_guard<std::mutex> lock(cluster.mutex_);
    if (cluster.fault_.empty())
      cluster.fault_ = message;
    cluster.wakeAll();
  } else if (auto sink = faultSink.load()) {
    sink(message.c_str());
  } else {
    std::fprintf(stderr, "%s\n", message.c_str());
  }
}

void Cluster::fail(Place *place, const std::string &message) {
  if (!place) {
    std::fprintf(stderr, "Error: %s\n", message.c_str());
    std::fflush(nullptr);
    std::abort();
  }
  report(place, message);
  leave(place);
  __builtin_unreachable();
}

Cluster::Fifo &Cluster::open(Place *place, int fifo, const Shape &shape) {
  std::unique_ptr<Fifo> &slot = fifos_[{place->block, fifo}];
  if (!slot) {
    slot = std::make_unique<Fifo>();
    slot->shape = shape;
    slot->bytes.resize(shape.slotBytes * shape.slots);
  }
  return *slot;
}

// The lane counts where an end has two members.
static int endOf(Place *place, int members) {
  return members == 2 ? static_cast<int>(place->lane & 1) : 0;
}

static std::string number(int64_t count) { return std::to_string(count); }

static int64_t slowest(const int64_t (&counts)[2], int members) {
  return members == 2 ? std::min(counts[0], counts[1]) : counts[0];
}

void Cluster::checkProgress() {
  if (running_ <= 0 || waiting_ < running_)
    return;
  if (fault_.empty())
    fault_ = deadlock();
  wakeAll();
}

std::string Cluster::deadlock() const {
  std::string text =
      "deadlock: every function of the cluster waits for a FIFO that nobody fills or frees, "
      "a signal that nobody sets, or a meeting that others do not come to";
  // In the order of the cores, not in that of their coming.
  std::vector<const Waiter *> waiters = waiters_;
  std::sort(waiters.begin(), waiters.end(), [](const Waiter *a, const Waiter *b) {
    auto key = [](const Waiter *w) {
      return std::tuple(w->place->block, std::string(w->where ? w->where : ""), w->place->lane);
    };
    return key(a) < key(b);
  });
  constexpr size_t most = 16;
  for (size_t i = 0; i < std::min(waiters.size(), most); ++i) {
    const Waiter &waiter = *waiters[i];
    if (!waiter.where)
      continue;
    text += std::string("\n  ") + waiter.where + " (block " + std::to_string(waiter.place->block) +
            ", lane " + std::to_string(waiter.place->lane) + ")" + waiter.state();
  }
  if (waiters.size() > most)
    text += "\n  and " + std::to_string(waiters.size() - most) + " more";
  return text;
}

template <typename Ready>
bool Cluster::waitUntil(std::unique_lock<std::mutex> &lock, Waiter waiter, Ready ready) {
  if (ready())
    return true;
  waiters_.push_back(&waiter);
  bool isReady = sleepUntil(lock, ready);
  std::erase(waiters_, &waiter);
  return isReady;
}

template <typename Ready>
bool Cluster::sleepUntil(std::unique_lock<std::mutex> &lock, Ready ready) {
  while (!ready()) {
    if (!fault_.empty())
      return false;
    ++waiting_;
    uint64_t seen = changes_;
    checkProgress();
    while (changes_ == seen) {
      if (yield_) {
        Yield yield = yield_;
        lock.unlock();
        yield();
        lock.lock();
      } else {
        changed_.wait(lock);
      }
    }
  }
  return true;
}

void Cluster::wakeAll() {
  waiting_ = 0;
  ++changes_;
  changed_.notify_all();
}

void *Cluster::produce(Place *place, int fifo, const Shape &shape, const char *where) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    Fifo &queue = open(place, fifo, shape);
    int64_t number = queue.filling[endOf(place, shape.producers)]++;
    auto state = [&] {
      int64_t free = slowest(queue.released, shape.consumers);
      int64_t popped = std::min(slowest(queue.taken, shape.consumers),
                                slowest(queue.published, shape.producers)) -
                       free;
      return ": all of its " + ::number(shape.slots) + " slots are in use, " +
             ::number(std::max<int64_t>(0, popped)) + " of them popped and not freed";
    };
    if (waitUntil(lock, {place, where, state},
                  [&] { return number - slowest(queue.released, shape.consumers) < shape.slots; }))
      return queue.bytes.data() + number % shape.slots * shape.slotBytes;
  }
  leave(place);
  __builtin_unreachable();
}

void Cluster::publish(Place *place, int fifo) {
  std::lock_guard<std::mutex> lock(mutex_);
  Fifo &queue = at(place, fifo);
  ++queue.published[endOf(place, queue.shape.producers)];
  wakeAll();
}

void *Cluster::consume(Place *place, int fifo, const Shape &shape, const char *where) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    Fifo &queue = open(place, fifo, shape);
    int64_t number = queue.taken[endOf(place, shape.consumers)]++;
    auto state = [&] {
      return ": none of its " + ::number(shape.slots) + " slots is full, " +
             ::number(slowest(queue.published, shape.producers)) + " have been pushed and " +
             ::number(number) + " popped";
    };
    if (waitUntil(lock, {place, where, state},
                  [&] { return slowest(queue.published, shape.producers) > number; }))
      return queue.bytes.data() + number % shape.slots * shape.slotBytes;
  }
  leave(place);
  __builtin_unreachable();
}

void Cluster::release(Place *place, int fifo) {
  std::lock_guard<std::mutex> lock(mutex_);
  Fifo &queue = at(place, fifo);
  ++queue.released[endOf(place, queue.shape.consumers)];
  wakeAll();
}

int64_t Cluster::laneOffset(Place *place, int fifo, int64_t extent) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    Fifo &queue = at(place, fifo);
    int64_t number = queue.taken[endOf(place, queue.shape.consumers)] - 1;
    if (place->lane == 0) {
      queue.lane0[number] = extent;
      wakeAll();
      return 0;
    }
    if (waitUntil(lock, {place, nullptr, {}}, [&] { return queue.lane0.count(number) != 0; })) {
      int64_t offset = queue.lane0[number];
      queue.lane0.erase(number);
      return offset;
    }
  }
  leave(place);
  __builtin_unreachable();
}

void Cluster::meet(Place *place, int kind, const char *where) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    Meeting &meeting = meetings_[kind];
    int64_t goal = (meeting.arrived++ / meeting.members + 1) * meeting.members;
    if (meeting.arrived >= goal)
      wakeAll();
    auto state = [&] {
      return ": " + number(meeting.members - (goal - meeting.arrived)) + " of " +
             number(meeting.members) + " have come";
    };
    if (waitUntil(lock, {place, where, state}, [&] { return meeting.arrived >= goal; }))
      return;
  }
  leave(place);
}

void Cluster::meetAt(Place *place, uint32_t *counter, int64_t count, const char *where) {
  uint32_t goal = comeTo(counter, count); // a fault of the memory finds the lock free
  {
    std::unique_lock<std::mutex> lock(mutex_);
    auto missing = [&] { return int32_t(goal - __atomic_load_n(counter, __ATOMIC_SEQ_CST)); };
    if (missing() <= 0)
      wakeAll();
    auto state = [&] {
      return ": " + number(count - missing()) + " of " + number(count) + " have come";
    };
    if (waitUntil(lock, {place, where, state}, [&] { return missing() <= 0; }))
      return;
  }
  leave(place);
}

void Cluster::set(Place *place, int64_t id, bool fromVector, Signal signal) {
  std::lock_guard<std::mutex> lock(mutex_);
  int64_t lane = fromVector ? place->lane & 1 : 0;
  if (signal == Signal::OneLane) {
    ++signals_[fromVector ? std::pair(Core{place->block, false, 0}, (id & 15) + 16 * lane)
                          : std::pair(Core{place->block, true, id >> 4 & 1}, id & 15)];
    return wakeAll();
  }
  bool everywhere = signal == Signal::AllBlocks;
  std::map<Core, int64_t> &group = early_[{everywhere ? -1 : place->block, fromVector, id, signal}];
  ++group[{place->block, fromVector, lane}];
  // Vector members of one block: all of them, shared out over the cubes.
  int vectors = meetings_[0].members, cubes = meetings_[1].members;
  int members = everywhere   ? (fromVector ? vectors : cubes)
                : fromVector ? std::max(1, vectors / std::max(1, cubes))
                             : 1;
  if (static_cast<int>(group.size()) < members)
    return;
  if (signal == Signal::OtherKind)
    for (int64_t other = 0; other < (fromVector ? 1 : 2); ++other)
      ++signals_[{{place->block, !fromVector, other}, id}];
  for (auto sender = group.begin(); sender != group.end();) {
    if (signal != Signal::OtherKind)
      ++signals_[{sender->first, id}];
    sender = --sender->second ? std::next(sender) : group.erase(sender);
  }
  wakeAll();
}

void Cluster::await(Place *place, int64_t id, bool byVector, const char *where) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    int64_t &sets = signals_[{{place->block, byVector, byVector ? place->lane & 1 : 0}, id}];
    auto state = [&] { return ": signal " + number(id) + " has not been set"; };
    if (waitUntil(lock, {place, where, state}, [&] { return sets > 0; })) {
      --sets;
      return;
    }
  }
  leave(place);
}

//===----------------------------------------------------------------------===//
// What compiled kernels call (see LowerFifos.cpp)
//===----------------------------------------------------------------------===//

#define PTO_CLUSTER_API extern "C" __attribute__((visibility("default"), used))

/// Where the calling function runs; null when its host made no cluster.
PTO_CLUSTER_API Place *pto_place() { return currentPlace; }

static Place *inCluster(Place *place) {
  if (!place)
    Cluster::fail(place, "a kernel uses a FIFO outside a cluster");
  return place;
}

PTO_CLUSTER_API void *pto_fifo_produce(Place *place, int32_t fifo, int64_t slotBytes, int64_t slots,
                                       int32_t producers, int32_t consumers, const char *where) {
  return inCluster(place)->cluster->produce(place, fifo, {slotBytes, slots, producers, consumers},
                                            where);
}
PTO_CLUSTER_API void pto_fifo_publish(Place *place, int32_t fifo) {
  place->cluster->publish(place, fifo);
}
PTO_CLUSTER_API void *pto_fifo_consume(Place *place, int32_t fifo, int64_t slotBytes, int64_t slots,
                                       int32_t producers, int32_t consumers, const char *where) {
  return inCluster(place)->cluster->consume(place, fifo, {slotBytes, slots, producers, consumers},
                                            where);
}
PTO_CLUSTER_API void pto_fifo_release(Place *place, int32_t fifo) {
  place->cluster->release(place, fifo);
}
PTO_CLUSTER_API int64_t pto_fifo_lane_offset(Place *place, int32_t fifo, int64_t extent) {
  return place->cluster->laneOffset(place, fifo, extent);
}

/// A window leaves its tensor. `numbers`: offset, size and extent of each dimension.
PTO_CLUSTER_API void pto_check_failed(Place *place, const char *what, const char *tensor,
                                      const int64_t *numbers, int64_t dimensions) {
  std::string message = what;
  message += " op touches memory outside ";
  message += tensor;
  const char *separator = ": ";
  for (int64_t i = 0; i < dimensions; ++i) {
    int64_t offset = numbers[3 * i], size = numbers[3 * i + 1], extent = numbers[3 * i + 2];
    if (offset >= 0 && size <= extent && offset <= extent - size)
      continue;
    message += separator;
    message += "its window has " + std::to_string(size) + " elements from " +
               std::to_string(offset) + " on in dimension " + std::to_string(i) +
               ", where the tensor has " + std::to_string(extent);
    separator = "; ";
  }
  Cluster::report(place, message);
}

static Place *withOthers(Place *place) {
  if (!place)
    Cluster::fail(place, "a kernel signals another core outside a cluster");
  return place;
}
PTO_CLUSTER_API void pto_cross_signal(Place *place, int64_t id, int32_t fromVector,
                                      int32_t signal) {
  withOthers(place)->cluster->set(place, id, fromVector, static_cast<Cluster::Signal>(signal));
}
PTO_CLUSTER_API void pto_cross_wait(Place *place, int64_t id, int32_t byVector, const char *where) {
  withOthers(place)->cluster->await(place, id, byVector, where);
}
