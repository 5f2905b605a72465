//===- Deque.h - work-stealing deque of ready tasks -----------------------===//
//
// Chase and Lev's deque with the orderings of Lê, Pop, Cohen and Zappa Nardelli
// ("Correct and efficient work-stealing for weak memory models", PPoPP 2013); their
// fences are written as sequentially consistent accesses, which thread sanitizers
// understand. The owner pushes and pops at the bottom; thieves take from the top.
//
// The array grows; old arrays are kept until the deque dies, because a thief may
// still read one. Together they are smaller than the newest.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_DEQUE_H
#define SIMPLER_DEQUE_H

#include "Atomic.h"

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace simpler {

template <typename T> class Deque {
public:
  explicit Deque(int64_t capacity = 1024) { install(std::make_unique<Array>(capacity)); }

  /// Owner only. False when the array is full and the system has no memory for a bigger one.
  bool push(T *item) {
    int64_t bottom = bottom_.load(std::memory_order_relaxed);
    int64_t top = top_.load(std::memory_order_acquire);
    Array *array = array_.load(std::memory_order_relaxed);
    if (bottom - top > array->mask) [[unlikely]]
      if (!(array = grow(array, top, bottom)))
        return false;
    array->put(bottom, item);
    bottom_.store(bottom + 1, std::memory_order_release);
    return true;
  }

  /// Owner only: the newest item, or null.
  T *pop() {
    int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    if (bottom < top_.load(std::memory_order_relaxed))
      return nullptr; // tops only grow: empty for certain, and no store is needed
    Array *array = array_.load(std::memory_order_relaxed);
    bottom_.store(bottom, std::memory_order_seq_cst);
    int64_t top = top_.load(std::memory_order_seq_cst);
    if (top > bottom) {
      bottom_.store(bottom + 1, std::memory_order_release);
      return nullptr;
    }
    T *item = array->get(bottom);
    if (top == bottom) { // the last one: race with thieves for it
      if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                        std::memory_order_relaxed))
        item = nullptr;
      bottom_.store(bottom + 1, std::memory_order_release);
    }
    return item;
  }

  /// Any thread: the oldest item; null when empty or when another thief was faster.
  T *steal() {
    int64_t top = top_.load(std::memory_order_seq_cst);
    int64_t bottom = bottom_.load(std::memory_order_seq_cst);
    if (top >= bottom)
      return nullptr;
    T *item = array_.load(std::memory_order_acquire)->get(top);
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                      std::memory_order_relaxed))
      return nullptr;
    return item;
  }

  /// Any thread; a snapshot.
  int64_t size() const {
    int64_t count = bottom_.load(std::memory_order_relaxed) - top_.load(std::memory_order_relaxed);
    return count > 0 ? count : 0;
  }

private:
  struct Array {
    explicit Array(int64_t capacity)
        : mask(capacity - 1), slots(std::make_unique<Atomic<T *>[]>(capacity)) {}
    T *get(int64_t i) const { return slots[i & mask].load(std::memory_order_acquire); }
    void put(int64_t i, T *item) { slots[i & mask].store(item, std::memory_order_release); }
    int64_t mask;
    std::unique_ptr<Atomic<T *>[]> slots;
  };

  void install(std::unique_ptr<Array> array) {
    array_.store(array.get(), std::memory_order_release);
    arrays_.push_back(std::move(array));
  }
  Array *grow(Array *old, int64_t top, int64_t bottom) try {
    auto bigger = std::make_unique<Array>((old->mask + 1) * 2);
    for (int64_t i = top; i < bottom; ++i)
      bigger->put(i, old->get(i));
    Array *result = bigger.get();
    arrays_.reserve(arrays_.size() + 1);
    install(std::move(bigger));
    return result;
  } catch (const std::bad_alloc &) {
    return nullptr;
  }

  alignas(64) Atomic<int64_t> top_{0};
  alignas(64) Atomic<int64_t> bottom_{0};
  Atomic<Array *> array_{nullptr};
  std::vector<std::unique_ptr<Array>> arrays_;
};

} // namespace simpler

#endif // SIMPLER_DEQUE_H
