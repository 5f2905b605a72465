//===- FifoRuntime.h - FIFOs between the functions of one cluster ---------===//
#ifndef PTOAS_LIB_DRIVER_FIFORUNTIME_H
#define PTOAS_LIB_DRIVER_FIFORUNTIME_H

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace ptoas {

/// The FIFOs of one run of a cluster. Each function of the cluster runs on a thread of
/// its own, which enters the cluster first. Thread-safe.
class FifoCluster {
public:
  /// `threads`: how many threads will enter. When all that have not left wait for each other, the
  /// process ends with a message instead of hanging.
  explicit FifoCluster(int threads) : running_(threads) {}

  /// The calling thread works for `cluster` as vector lane `lane` (0 for the cube).
  static void enter(FifoCluster *cluster, int64_t lane);
  static FifoCluster &current();
  /// The calling thread is done.
  void leave();

  struct Shape {
    int64_t slotBytes, slots;
    int producers, consumers; // threads at either end: 2 where a FIFO splits its tiles
  };
  /// The next slot of this thread: waits until every consumer has released it.
  void *produce(int fifo, const Shape &shape);
  void publish(int fifo);
  /// The next slot of this thread: waits until every producer has published it.
  void *consume(int fifo, const Shape &shape);
  void release(int fifo);
  /// Where this lane's part of the slot it consumes begins: behind the extent of lane 0.
  int64_t laneOffset(int fifo, int64_t extent);

private:
  struct Fifo {
    Shape shape;
    std::vector<char> bytes;
    int64_t published[2] = {0, 0};    // slots that each producer has filled
    int64_t released[2] = {0, 0};     // slots that each consumer has given back
    std::map<int64_t, int64_t> lane0; // extent that lane 0 takes of a slot, until lane 1 has asked
  };
  Fifo &open(int fifo, const Shape &shape);
  template <typename Ready> void waitUntil(std::unique_lock<std::mutex> &lock, Ready ready);
  void wakeAll();
  void checkProgress();

  std::mutex mutex_;
  std::condition_variable changed_;
  int running_;
  int waiting_ = 0; // since the last change
  uint64_t changes_ = 0;
  std::map<int, std::unique_ptr<Fifo>> fifos_;
};

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_FIFORUNTIME_H
