//===- Graph.h - recorded bodies of rt_submit_graph (spec 3.6) ------------===//
//
// A body is a function that submits tasks. The first call collects what it submits
// (GraphRecording) without starting anything; that becomes a GraphDefinition: nodes, edges, and for
// each tensor argument where it comes from, relative to the arguments of the call. A later call
// takes a GraphInstance, ready-made tasks, moves its arguments to the new addresses and launches
// it as one task of the surrounding graph. The body does not run.
//
// What may differ between calls without running the body: addresses and origins of the boundary
// tensors (as long as those that overlap keep their distances), and scalars that tasks get by
// copy_scalars_from. Shapes, strides, types, config values and scalars the body has looked at are
// part of the key. When they differ, the body is run again: equal structure only renews the scalar
// words, another structure is another definition, and what cannot be recorded is submitted plainly.
//
// Threads: all of this belongs to the orchestrator, except the tasks of an active instance and its
// `remaining`.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_GRAPH_H
#define SIMPLER_GRAPH_H

#include "BufferPool.h"
#include "Region.h"
#include "Task.h"

#include <memory>
#include <string>
#include <vector>

namespace simpler {

struct Submission;

/// One call of rt_submit_graph.
struct GraphCall {
  uint64_t owner = 0;    // of the code: two objects may be loaded at one address, one after another
  uint64_t id = 0;       // GRAPH_KEY, or 0
  uint64_t function = 0; // address of the body
  const uint64_t *config = nullptr;
  int32_t numConfig = 0;
  void (*body)(void *) = nullptr;
  void *context = nullptr;
  const ChipTensor *const *tensors = nullptr;
  const uint8_t *tags = nullptr;
  int32_t numTensors = 0;
  const uint64_t *scalars = nullptr;
  int32_t numScalars = 0;
  /// Bit i is set while the body runs when it looks at scalar i; null: it looks at all.
  const uint64_t *scalarsRead = nullptr;
  bool plain = false; // someone wants to see the single tasks: the body runs
  /// Called before a task may write a boundary tensor.
  void (*beforeWrite)(void *, const ChipTensor &) = nullptr;
  void *beforeWriteContext = nullptr;
};

/// What a body has submitted, in its own order.
struct GraphRecording {
  static constexpr uint32_t kMaxNodes = 1 << 16;
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Node {
    const SimplerKernel *kernels[3];
    uint64_t sequence;
    int64_t predicateTarget;
    uint32_t firstTensor, firstScalar, firstDep, numDeps;
    uint32_t predicateTensor; // index in tensors, or kNone
    uint32_t predicateIndex[MAX_TENSOR_DIMS];
    int32_t blocks;
    uint8_t numTensors, numScalars, predicateOp;
    bool syncStart, manual;
  };
  struct Internal {
    uint64_t creator; // id
    uint64_t sequence;
    uint64_t address, bytes, count, pattern;
    uint32_t size; // of an element
    bool filled, byTask;
  };

  uint64_t firstSequence = 0;
  uint32_t firstLocal = 0; // the same as ids count
  std::vector<Node> nodes;
  std::vector<ChipTensor> tensors;
  std::vector<uint8_t> tags;
  std::vector<uint64_t> scalars;
  std::vector<int8_t> sources; // per scalar: boundary scalar it was copied from, or -1
  std::vector<uint64_t> deps;  // ids
  std::vector<Internal> internals;

  void clear(uint64_t first, uint32_t local);
  void add(const Submission &submission, uint64_t sequence, bool manual);
};

/// Where a tensor of a task comes from.
struct GraphPlace {
  enum Kind : uint8_t { Boundary, Internal, Nothing } kind;
  uint16_t index;
  int64_t delta; // elements from the origin of the boundary tensor
};

struct GraphDefinition;

struct GraphInstance {
  GraphDefinition *definition;
  GraphInstance *nextFree;
  Task *graphTask; // stands for all of them in the surrounding graph
  Task **nodes;
  Task **ready; // room for those that start together
  Buffer **buffers;
  uint64_t firstId;
  uint64_t version;          // of the scalar words it holds
  ChipTensor *boundary;      // as it was patched last
  Atomic<int32_t> remaining; // nodes that are not complete
};

struct GraphDefinition {
  enum Access : uint8_t { Untouched, Creator, Read, Write };
  struct Patch {
    uint32_t node, tensor; // tensor argument of the node
    int64_t delta;
  };
  struct ScalarPatch {
    uint32_t node;
    uint8_t scalar, source;
  };

  // Which calls it serves.
  uint64_t hash = 0, owner = 0, id = 0, function = 0;
  std::vector<uint64_t> config;
  std::vector<ChipTensor> boundary;
  std::vector<uint8_t> tags;
  std::vector<uint16_t> cluster; // boundary tensors that overlap share one
  std::vector<int64_t> clusterOffset;
  std::vector<uint64_t> scalars; // values the constant words below belong to
  uint64_t scalarsRead = 0;
  bool relocatable = false; // a second call at other addresses gave the same structure
  bool retyped = false;     // some task sees a boundary tensor with another element size
  bool plain = false;       // cannot be recorded: only remembers that

  // What they submit.
  GraphRecording recording;
  std::vector<GraphPlace> places; // per recorded tensor
  std::vector<uint32_t> successorBegin, successors;
  std::vector<int32_t> fanIn;
  std::vector<uint32_t> starters; // nodes without predecessors
  std::vector<uint32_t> special;  // nodes whose state a run leaves changed: SPMD, gangs, predicates
  std::vector<uint32_t> patchBegin; // per boundary tensor
  std::vector<Patch> patches;
  std::vector<ScalarPatch> scalarPatches;
  std::vector<uint8_t> access; // per boundary tensor
  std::vector<bool> hull;      // tasks leave the tensor's bytes, but not its range
  uint64_t version = 1;

  GraphInstance *free = nullptr;
  uint32_t instances = 0, active = 0;
  uint64_t lastUse = 0;
  size_t weight = 0;        // bytes of an active instance that count as live task memory
  size_t internalBytes = 0; // of one instance
};

/// Definitions of one run context.
class GraphStore {
public:
  static constexpr size_t kMaxDefinitions = 64, kMaxVariants = 16;
  static constexpr size_t kIdleBytes = 64u << 20;

  explicit GraphStore(BufferPool &buffers) : buffers_(buffers) {}
  ~GraphStore();
  GraphStore(const GraphStore &) = delete;

  /// The definition that serves the call as it is, or null. `known` is set when the key has a
  /// definition that says it cannot be recorded.
  GraphDefinition *find(const GraphCall &call, bool &plain);
  /// The definition with the structure of the recording, with its scalar words renewed; a new one
  /// when there is none and the recording is sound. Null with a reason otherwise.
  GraphDefinition *define(const GraphCall &call, const GraphRecording &recording, uint64_t tag,
                          std::string &why);
  /// Remembers that calls with this key are submitted plainly.
  void markPlain(const GraphCall &call);

  /// An instance with its own buffers, or null when the system has no memory.
  GraphInstance *acquire(GraphDefinition &definition, SimplerRun *run);
  void release(GraphInstance *instance);
  /// Gives memory of idle instances back until at most `bytes` are held.
  void trim(size_t bytes);

  GraphRecording scratch;

private:
  GraphInstance *make(GraphDefinition &definition, SimplerRun *run);
  void destroy(GraphInstance *instance);
  void evict();
  bool matches(const GraphDefinition &definition, const GraphCall &call,
               const GraphRecording &recording) const;

  BufferPool &buffers_;
  std::vector<std::unique_ptr<GraphDefinition>> definitions_;
  uint64_t clock_ = 0;
  size_t idleBytes_ = 0;
};

/// Fills in places, edges and patches. False with a reason when the recording cannot be replayed.
bool buildGraph(GraphDefinition &definition, const GraphCall &call, uint64_t tag, std::string &why);

/// Which boundary tensors overlap, and their distances in bytes.
void clusterBoundary(const GraphCall &call, uint16_t *cluster, int64_t *offset);

} // namespace simpler

#endif // SIMPLER_GRAPH_H
