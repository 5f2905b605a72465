//===- NodeLane.h - a node: its children, its runs, its graph -------------===//
//
// The node's process holds the graph; devices and sub-workers are child processes. One thread,
// the reactor, hears the children; tasks are sent by whoever finds them ready. A child that
// dies fails the run whose task it had, and those that ask for it later.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_BINDINGS_NODE_LANE_H
#define SIMPLER_BINDINGS_NODE_LANE_H

#include "../Bindings.h"
#include "NodeGraph.h"
#include "NodeWire.h"
#include "SharedHeap.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <sys/types.h>
#include <thread>

namespace simpler::py {

/// One execution of a node's program. Guarded by the lane's mutex but for `done`.
class NodeRun {
public:
  ~NodeRun(); // on any thread
  std::atomic<bool> done{false};
  bool sealed = false;    // the program has ended: no more tasks
  bool stopAsked = false; // its running tasks were told to stop
  size_t open = 0, started = 0;
  int32_t status = 0;
  std::string message;
  std::chrono::steady_clock::time_point failedAt;
  std::vector<nb::object> keep, callbacks; // GIL
  std::vector<char *> blocks;              // memory of `alloc`
  std::set<uint64_t> sharedSince;          // mappings checked in this run
  size_t serial = 0;

  bool failed() const { return status != 0; }
};

class NodeLane {
public:
  template <typename... Args> static std::shared_ptr<NodeLane> create(Args... args) {
    auto lane = std::make_shared<NodeLane>(args...);
    lane->self_ = lane;
    return lane;
  }
  /// `heapBytes`: addresses to reserve for buffers, mailboxes and copies. `graceSeconds`: after a
  /// run has failed, how long its running tasks may take to notice before their child is ended (a
  /// block that waits for a peer that died would wait for ever).
  NodeLane(int32_t devices, int32_t subWorkers, uint64_t heapBytes, double graceSeconds);
  ~NodeLane();

  //===-- Start: for each child openChannel, fork, then childOf or forked --===//
  void openChannel(int32_t child);
  /// In the parent: the child has this process id.
  void forked(int32_t child, pid_t pid);
  /// In the child: its end of the channel; the node's other resources are let go.
  std::pair<int, Mailbox *> childOf(int32_t child);
  /// Waits until all children have answered; empty, or what went wrong.
  std::string start(double seconds);

  //===-- Callables --------------------------------------------------------===//
  /// Contents for children that were forked before this callable was registered.
  void define(uint64_t callable, std::string contents);
  void forget(uint64_t callable);

  //===-- Runs -------------------------------------------------------------===//
  std::shared_ptr<NodeRun> beginRun();
  /// The program has ended. `error` not empty: it raised.
  void sealRun(const std::shared_ptr<NodeRun> &run, const std::string &error);
  /// Members on distinct devices (`device` >= 0) or on sub-workers; they start together where they
  /// can. Throws std::invalid_argument. GIL held; given up while the graph is full.
  void submit(const std::shared_ptr<NodeRun> &run, std::vector<NodeMember> members);
  /// False after `seconds` without an end; negative: no limit. GIL not held.
  bool wait(NodeRun &run, double seconds);
  /// Lets go of the arguments of a run that has ended. GIL held.
  void retire(NodeRun &run);
  /// No further task of the run starts, running ones are asked to stop. True: none had started.
  bool cancel(const std::shared_ptr<NodeRun> &run);
  void cancelAll();
  void onDone(const std::shared_ptr<NodeRun> &run, nb::object callback);
  /// True when all runs have ended, or nothing touches [lo, hi), within the time. GIL not held.
  bool waitIdle(double seconds);
  bool waitQuiet(uint64_t lo, uint64_t hi, double seconds);

  //===-- Memory -----------------------------------------------------------===//
  char *allocate(uint64_t bytes, const std::shared_ptr<NodeRun> &run);
  void release(char *block);
  uint64_t heapUsed() const { return heap_->used(); }
  void share(const std::string &name, uint64_t base, uint64_t bytes);
  void unshare(uint64_t base);
  std::shared_ptr<SharedHeap> heap() const { return heap_; }

  /// Ends the children, those that do not answer by force. Runs must have ended. GIL not held.
  void close();
  std::vector<pid_t> pids() const;
  std::shared_ptr<NodeLane> self() { return self_.lock(); }

private:
  struct Child {
    std::string name; // "device 0", "sub-worker 1"
    int32_t device = -1;
    pid_t pid = -1;
    int socket = -1, remote = -1;
    Mailbox *mailbox = nullptr;
    char *stage = nullptr, *spill = nullptr;
    uint64_t stageBytes = 0;
    bool ready = false, dead = false;
    bool sending = false; // a thread prepares its task without the lock; nobody else touches it
    std::string death;
    NodeTask *task = nullptr;
    size_t member = 0;
    uint64_t running = 0; // id of the task
    std::set<uint64_t> known;
    std::vector<Note> pending;                       // before the next task
    std::vector<std::pair<uint64_t, char *>> copied; // by tensor: address, its place in `stage`
    std::vector<char *> contents;                    // of definitions on their way
    bool idle() const { return ready && !dead && !task; }
  };
  using Lock = std::unique_lock<std::mutex>;

  void react();
  void hear(Child &child);
  void bury(Child &child, Lock &lock);
  void ended(Child &child, int32_t status, const std::string &text);
  struct Order {
    Child *child;
    NodeTask *task;
    size_t member;
    std::string problem;
  };
  void dispatch(Lock &lock);
  void collect(std::vector<Order> &orders);
  bool assign(NodeTask *task, std::set<int32_t> &reserved, bool &groupWaits,
              std::vector<Order> &orders);
  std::string send(Child &child, const NodeTask &task, size_t member);
  std::string place(Child &child, const NodeMember &member, NodeRun &run, WireTask &wire);
  bool isShared(const Region &region, NodeRun &run);
  void copyBack(Child &child);
  void settle(Child &child, Lock &lock);
  void fail(NodeRun &run, int32_t status, const std::string &text);
  void askToStop(NodeRun &run);
  void complete(NodeTask *task);
  void finishIfDone(const std::shared_ptr<NodeRun> &run);
  void announce(Lock &lock);
  bool reap(Child &child, double seconds);
  int patience() const;
  void loseStuck();
  void finishClosing();

  std::weak_ptr<NodeLane> self_;
  std::shared_ptr<SharedHeap> heap_;
  const pid_t owner_;
  const std::chrono::duration<double> grace_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Child> children_;
  int32_t devices_;
  NodeGraph graph_;
  std::map<uint64_t, std::string> callables_; // contents of those that children must be told
  std::map<uint64_t, Segment> segments_;      // by base
  uint64_t lastSegment_ = 0;
  struct Mapping {
    uint64_t lo, hi, offset;
    std::string file;
  };
  std::vector<Mapping> inherited_; // shared mappings at the time of the fork
  std::set<std::shared_ptr<NodeRun>> runs_;
  std::vector<std::shared_ptr<NodeRun>> finished_; // whose callbacks are to be called
  int wake_ = -1;
  bool closing_ = false, closed_ = false;
  bool closedByReactor_ = false; // by a callback: what is left follows at the thread's end
  std::unique_ptr<std::thread> reactor_;
};

/// Shared writable mappings of this process, or the one that holds an address.
bool sharedMappings(uint64_t holding,
                    const std::function<void(uint64_t lo, uint64_t hi, uint64_t offset,
                                             const std::string &file)> &visit);

} // namespace simpler::py

#endif // SIMPLER_BINDINGS_NODE_LANE_H
