//===- Atomic.h - std::atomic with a seam for the schedule explorer -------===//
//
// The scheduler's shared words are simpler::Atomic, its locks simpler::Mutex. In the product these
// are std::atomic and std::mutex; in the explorer's build (SIMPLER_EXPLORE) every access is a point
// where the test's scheduler may switch to another simulated thread.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_ATOMIC_H
#define SIMPLER_ATOMIC_H

#include <atomic>
#include <mutex>

#ifdef SIMPLER_EXPLORE
namespace simpler {
void exploreYield(); // defined by the explorer

template <typename T> class Atomic {
public:
  Atomic(T value = T()) : value_(value) {}
  T load(std::memory_order o = std::memory_order_seq_cst) const {
    exploreYield();
    return value_.load(o);
  }
  void store(T v, std::memory_order o = std::memory_order_seq_cst) {
    exploreYield();
    value_.store(v, o);
  }
  T exchange(T v, std::memory_order o = std::memory_order_seq_cst) {
    exploreYield();
    return value_.exchange(v, o);
  }
  bool compare_exchange_strong(T &e, T v, std::memory_order o = std::memory_order_seq_cst,
                               std::memory_order f = std::memory_order_seq_cst) {
    exploreYield();
    return value_.compare_exchange_strong(e, v, o, f);
  }
  bool compare_exchange_weak(T &e, T v, std::memory_order o = std::memory_order_seq_cst,
                             std::memory_order f = std::memory_order_seq_cst) {
    return compare_exchange_strong(e, v, o, f);
  }
  T fetch_add(T v, std::memory_order o = std::memory_order_seq_cst) {
    exploreYield();
    return value_.fetch_add(v, o);
  }
  T fetch_sub(T v, std::memory_order o = std::memory_order_seq_cst) {
    exploreYield();
    return value_.fetch_sub(v, o);
  }
  T fetch_or(T v, std::memory_order o = std::memory_order_seq_cst) {
    exploreYield();
    return value_.fetch_or(v, o);
  }
  T fetch_and(T v, std::memory_order o = std::memory_order_seq_cst) {
    exploreYield();
    return value_.fetch_and(v, o);
  }

private:
  std::atomic<T> value_;
};

class Mutex {
public:
  void lock() {
    while (!try_lock())
      ;
  }
  bool try_lock() { return !held_.exchange(true); }
  void unlock() { held_.store(false); }

private:
  Atomic<bool> held_{false};
};
} // namespace simpler
#else
namespace simpler {
template <typename T> using Atomic = std::atomic<T>;
using Mutex = std::mutex;
} // namespace simpler
#endif

#endif // SIMPLER_ATOMIC_H
