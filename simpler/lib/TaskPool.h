//===- TaskPool.h - memory of tasks, recycled in any order ----------------===//
//
// Slabs of size classes. Only the orchestrator allocates and recycles; workers hand
// completed tasks back through the run. Nothing returns to the system before the pool
// dies, which is what makes stale Task pointers harmless.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_TASK_POOL_H
#define SIMPLER_TASK_POOL_H

#include "MakeRoom.h"
#include "Task.h"

#include <new>
#include <vector>

namespace simpler {

class TaskPool {
public:
  TaskPool() = default;
  TaskPool(const TaskPool &) = delete;
  ~TaskPool() {
    for (void *slab : slabs_)
      ::operator delete(slab, std::align_val_t(64));
  }

  /// Uninitialised except sizeClass; null when the system has no memory.
  Task *allocate(size_t payloadBytes) {
    uint32_t sizeClass = classOf(sizeof(Task) + payloadBytes);
    Task *&head = free_[sizeClass];
    if (!head && !refill(sizeClass)) [[unlikely]]
      return nullptr;
    Task *task = head;
    head = task->freeNext;
    return task;
  }
  void recycle(Task *task) {
    Task *&head = free_[task->sizeClass];
    task->freeNext = head;
    head = task;
  }
  EdgeBlock *allocateEdges() {
    if (!freeEdges_)
      makeRoom(slabs_);
    EdgeBlock *block = freeEdges_;
    if (block)
      freeEdges_ = block->next;
    else if ((block = static_cast<EdgeBlock *>(
                  ::operator new(sizeof(EdgeBlock), std::align_val_t(64), std::nothrow))))
      slabs_.push_back(block);
    return block;
  }
  void recycle(EdgeBlock *block) {
    block->next = freeEdges_;
    freeEdges_ = block;
  }

  size_t bytes() const { return bytes_; }
  static constexpr size_t bytesOf(uint32_t sizeClass) { return (sizeClass + 1) * kStep; }
  static constexpr size_t maxPayload() { return kClasses * kStep - sizeof(Task); }

private:
  static constexpr size_t kStep = 256, kClasses = 20, kSlab = 64 * 1024;

  static uint32_t classOf(size_t bytes) { return static_cast<uint32_t>((bytes - 1) / kStep); }

  bool refill(uint32_t sizeClass) {
    makeRoom(slabs_);
    auto *slab = static_cast<char *>(::operator new(kSlab, std::align_val_t(64), std::nothrow));
    if (!slab)
      return false;
    slabs_.push_back(slab);
    bytes_ += kSlab;
    size_t step = bytesOf(sizeClass);
    for (size_t at = 0; at + step <= kSlab; at += step) {
      auto *task = new (slab + at) Task;
      task->sizeClass = static_cast<uint8_t>(sizeClass);
      task->successors.store(Task::closed(), std::memory_order_relaxed);
      task->sequence = 0;
      recycle(task);
    }
    return true;
  }

  Task *free_[kClasses] = {};
  EdgeBlock *freeEdges_ = nullptr;
  std::vector<void *> slabs_;
  size_t bytes_ = 0;
};

} // namespace simpler

#endif // SIMPLER_TASK_POOL_H
