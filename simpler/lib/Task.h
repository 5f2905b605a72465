//===- Task.h - one submitted task ----------------------------------------===//
//
// A task is a block of a size class from its run's pool: this header, then the
// tensor descriptors, the scalars and the buffers it keeps alive.
//
// Who writes what. The orchestrator (the thread that runs the orchestration) fills
// everything before the task becomes ready and is the only one to recycle it.
// Workers touch the atomics, and the rest only while they execute the task.
// Memory of tasks is never given back while the run's context lives, so a stale
// pointer is safe to look at: `sequence` tells whether it is still the same task.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_TASK_H
#define SIMPLER_TASK_H

#include "Atomic.h"
#include "simpler/c_api.h"

#include <memory>
#include <vector>

struct SimplerRun;

namespace simpler {

struct Task;
struct Buffer;
class Gang;
struct GraphInstance;

/// One entry of a predecessor's successor list. It lives in the successor.
struct Edge {
  Edge *next;
  Task *successor;
};

/// More edges of one task than its inline ones.
struct EdgeBlock {
  static constexpr uint32_t kEdges = 31;
  EdgeBlock *next;
  uint32_t used;
  Edge edges[kEdges];
};

struct Predicate {
  uint64_t address; // of the element
  int64_t target;
  uint8_t op; // SIMPLER_PRED_*
  uint8_t bytes;
};

/// What only some tasks need; null otherwise.
struct TaskExtra {
  Predicate predicate;
  Gang *gang;    // contexts of a co-running launch, made by the first executor of the task
  bool admitted; // the gang has waited for room, and has it now
  std::vector<Buffer *> retained; // no arguments: of producers it depends on, of its predicate
};

enum class TaskKind : uint8_t { Kernel, Dummy, Signal, Graph };

struct alignas(64) Task {
  static constexpr int32_t kUnsubmitted = 1 << 30;
  static constexpr uint32_t kInlineEdges = 8;

  // Predecessor side: list of edges, or closed() once the task is complete.
  Atomic<Edge *> successors;
  // Unfinished predecessors; biased by kUnsubmitted while edges are being added.
  Atomic<int32_t> fanIn;
  TaskKind kind;
  uint8_t lanes; // kernels per block: 1..3
  uint8_t numTensors;
  uint8_t numScalars;
  uint64_t sequence; // never repeats within a run context
  uint64_t edgeMark; // sequence of the last successor that got an edge from here
  SimplerRun *run;
  const SimplerKernel *kernel[3]; // cube, vector 0, vector 1 packed from the front

  Atomic<int32_t> nextBlock; // next unclaimed block of an SPMD launch
  Atomic<int32_t> tickets;   // deque entries and executors that refer to the task
  int32_t blocks;
  uint16_t numBuffers;
  uint8_t sizeClass;
  uint8_t numEdges;  // inline ones in use
  uint8_t laneId[3]; // position of each lane in {cube, vector 0, vector 1}
  uint8_t flags;
  EdgeBlock *edgeBlocks;
  TaskExtra *extra;
  Task *freeNext; // list of completed tasks on the way back to the pool
  uint64_t id;
  /// Of a node (kNode): the graph it belongs to; of a Graph task: what it launches.
  GraphInstance *instance;
  /// A node's edges are fixed: nobody adds any while it is live.
  struct Node {
    Task **successors;
    uint32_t numSuccessors;
    int32_t fanIn; // to begin with
    uint32_t index;
  };
  union {
    Edge edges[kInlineEdges];
    Node node;
  };

  ChipTensor *tensors() { return reinterpret_cast<ChipTensor *>(this + 1); }
  uint64_t *scalars() { return reinterpret_cast<uint64_t *>(tensors() + numTensors); }
  Buffer **buffers() { return reinterpret_cast<Buffer **>(scalars() + numScalars); }

  /// Sub-block and core of a lane: laneId is the position in {cube, vector 0, vector 1}.
  uint32_t subBlock(int32_t lane) const { return laneId[lane] == 2; }
  bool onCube(int32_t lane) const { return laneId[lane] == 0; }

  /// A task of these kernels that nobody knows yet: without number, edges and successors.
  void reset(const SimplerKernel *const (&kernels)[3], int32_t numBlocks, bool syncStart,
             int32_t tensorCount, int32_t scalarCount) {
    lanes = 0;
    kernel[0] = nullptr;
    for (uint8_t lane = 0; lane < 3; ++lane)
      if (kernels[lane]) {
        laneId[lanes] = lane;
        kernel[lanes++] = kernels[lane];
      }
    blocks = numBlocks;
    kind = lanes == 0 || blocks == 0 ? TaskKind::Dummy : TaskKind::Kernel;
    flags = syncStart && blocks > 1 ? kCoRun | kTogether : lanes > 1 ? kCoRun : 0;
    numTensors = static_cast<uint8_t>(tensorCount);
    numScalars = static_cast<uint8_t>(scalarCount);
    numBuffers = 0;
    numEdges = 0;
    edgeBlocks = nullptr;
    extra = nullptr;
    nextBlock.store(0, std::memory_order_relaxed);
    tickets.store(1, std::memory_order_relaxed);
    successors.store(nullptr, std::memory_order_relaxed);
  }

  /// kCoRun: lanes of a block run at the same time; kTogether: all blocks do.
  enum Flags : uint8_t { kPredicated = 1, kCoRun = 2, kDumped = 4, kNode = 8, kTogether = 16 };
  bool has(Flags flag) const { return flags & flag; }

  static Edge *closed() { return reinterpret_cast<Edge *>(uintptr_t{1}); }
  bool complete() const { return successors.load(std::memory_order_acquire) == closed(); }
};
static_assert(sizeof(Task) == 256);

} // namespace simpler

#endif // SIMPLER_TASK_H
