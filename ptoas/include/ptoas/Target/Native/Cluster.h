//===- Cluster.h - the functions of one launch that run side by side ------===//
//
// Part of pto_kernels, which knows neither MLIR nor LLVM. A host that runs kernels with
// FIFOs, meetings of blocks or checks makes a Cluster for each group of functions that
// wait for each other, and calls each function through Cluster::run on a thread (or a
// fiber) of its own.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_TARGET_NATIVE_CLUSTER_H
#define PTOAS_TARGET_NATIVE_CLUSTER_H

#include "ptoas/Target/Native/OrderCheck.h"
#include <algorithm>
#include <compare>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ptoas {

class Cluster;

/// Comes to a meeting of `count` at a counter that only grows. The value at which all have come.
inline uint32_t comeTo(uint32_t *counter, int64_t count) {
  auto all = static_cast<uint32_t>(std::min<int64_t>(count, INT32_MAX));
  uint32_t before = __atomic_fetch_add(counter, 1u, __ATOMIC_SEQ_CST);
  return (before / all + 1) * all;
}

/// Where a function runs, for as long as it runs. Compiled code reads it once, at its start
/// (`pto_place`), because a fiber may go on in another thread.
struct Place {
  Cluster *cluster;
  int64_t block;
  int64_t lane;                // of the vector core; 0 for the cube
  void *exit[5];               // where a fault goes on (__builtin_setjmp)
  OrderCheck *order = nullptr; // what looks at the order of the queues of this core, if anything
};

/// Functions that exchange tiles through FIFOs, or meet. FIFOs are apart for each block.
/// Thread-safe.
class __attribute__((visibility("default"))) Cluster {
public:
  /// How many functions will run: on vector cores, on cube cores, on either. When all that have not
  /// ended wait for each other, all end with a fault instead of hanging.
  Cluster(int vectors, int cubes, int both = 0)
      : meetings_{{vectors + both}, {cubes + both}, {vectors + cubes + both}},
        running_(vectors + cubes + both) {}

  /// What a waiting member does so that others may use its thread; null: it sleeps.
  using Yield = void (*)();

  /// Calls `body(argument)` as a member. False when a fault ended it early; what it wrote until
  /// then stays written. `body` must hold no C++ object that needs its destructor.
  bool run(int64_t block, int64_t lane, void (*body)(void *), void *argument,
           Yield yield = nullptr);

  /// The first fault of any member; empty: none.
  std::string fault();

  /// Has the members from now on looked at for the order of their queues (OrderCheck.h). What is
  /// found is complete when all members have ended.
  void checkOrder() { checksOrder_ = true; }
  const OrderCheck::Findings &findings() const { return findings_; }

  /// Ends the calling member: never returns. Keeps `message` if it is the first.
  [[noreturn]] static void fail(Place *place, const std::string &message);

  /// Keeps `message` as the fault of the member's cluster if it is the first; others stop waiting.
  /// Without a cluster the message goes to the sink of faults (`setFaultSink`), or to stderr. The
  /// member goes on.
  static void report(Place *place, const std::string &message);
  /// Who hears of faults in kernels that run in no cluster. Called on the thread of the kernel.
  static void setFaultSink(void (*sink)(const char *message));

  struct Shape {
    int64_t slotBytes, slots;
    int producers, consumers; // members at either end: 2 where a FIFO splits its tiles
  };
  /// The next slot of this member: waits until every consumer has released it. Slots may be asked
  /// for ahead; they are published in their order.
  /// `where`: who waits, and for whom, as a deadlock says it; may be null.
  void *produce(Place *place, int fifo, const Shape &shape, const char *where = nullptr);
  void publish(Place *place, int fifo);
  /// The next slot of this member: waits until every producer has published it. Slots may be held;
  /// they are released in their order.
  void *consume(Place *place, int fifo, const Shape &shape, const char *where = nullptr);
  void release(Place *place, int fifo);
  /// Where this lane's part of the slot it consumes begins: behind the extent of lane 0.
  int64_t laneOffset(Place *place, int fifo, int64_t extent);

  /// Waits for all members of a kind: 0 vector cores, 1 cube cores, 2 all.
  void meet(Place *place, int kind, const char *where = nullptr);
  /// Waits until `count` functions, all of this cluster, have come to a counter in global memory.
  void meetAt(Place *place, uint32_t *counter, int64_t count, const char *where = nullptr);

  /// Signals are counters, of each core its own for each id. Who counts a set, and when (the modes
  /// of FFTS, pto-isa 4): all cores of the kind in all blocks, once all of them have set; the
  /// vector cores of the block likewise; the cores of the other kind in the block, once all of this
  /// kind have set. The intra-block flags of A5 go from the cube to one lane, 16 ids for each, and
  /// from a lane to the cube under the ids of that lane.
  enum class Signal { AllBlocks, Lanes, OtherKind, OneLane };
  void set(Place *place, int64_t id, bool fromVector, Signal signal);
  void await(Place *place, int64_t id, bool byVector, const char *where = nullptr);

private:
  struct Fifo {
    Shape shape;
    std::vector<char> bytes;
    int64_t filling[2] = {0, 0};      // slots that each producer was given
    int64_t published[2] = {0, 0};    // slots that each producer has filled
    int64_t taken[2] = {0, 0};        // slots that each consumer was given
    int64_t released[2] = {0, 0};     // slots that each consumer has given back
    std::map<int64_t, int64_t> lane0; // extent that lane 0 takes of a slot, until lane 1 has asked
  };
  struct Core {
    int64_t block;
    bool isVector;
    int64_t lane; // 0 for the cube
    auto operator<=>(const Core &) const = default;
  };
  struct Meeting {
    int members;
    int64_t arrived = 0;
  };
  Fifo &open(Place *place, int fifo, const Shape &shape);
  Fifo &at(Place *place, int fifo) { return *fifos_.at({place->block, fifo}); }
  /// A member that waits, and what for: `state` says how that stands.
  struct Waiter {
    Place *place;
    const char *where;
    std::function<std::string()> state;
  };
  /// False when a fault ends the waiting.
  template <typename Ready>
  bool waitUntil(std::unique_lock<std::mutex> &lock, Waiter waiter, Ready ready);
  template <typename Ready> bool sleepUntil(std::unique_lock<std::mutex> &lock, Ready ready);
  std::string deadlock() const;
  void wakeAll();
  void checkProgress();

  std::mutex mutex_;
  std::condition_variable changed_;
  Meeting meetings_[3];
  int running_;
  int waiting_ = 0; // since the last change
  uint64_t changes_ = 0;
  Yield yield_ = nullptr;
  std::string fault_;
  std::vector<const Waiter *> waiters_;
  bool checksOrder_ = false;
  OrderCheck::Findings findings_;
  std::map<std::pair<int64_t, int>, std::unique_ptr<Fifo>> fifos_;
  std::map<std::pair<Core, int64_t>, int64_t>
      signals_; // sets that a core has not waited for, by id
  // Sets that others of the group are behind with, by sender: groups are of a block (-1: of all)
  // and a kind, for each id and way of signalling.
  std::map<std::tuple<int64_t, bool, int64_t, Signal>, std::map<Core, int64_t>> early_;
};

} // namespace ptoas

#endif // PTOAS_TARGET_NATIVE_CLUSTER_H
