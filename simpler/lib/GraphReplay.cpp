//===- GraphReplay.cpp - rt_submit_graph: record, launch, run the nodes ---===//
#include "KernelCall.h"
#include "Log.h"
#include "Run.h"

#include <algorithm>
#include <cstring>

using namespace simpler;

//===-- On the orchestrator -----------------------------------------------===//

/// A body that runs: what it submits is collected until it ends or does something no recording can
/// hold. Then everything so far is submitted, and the rest goes the plain way.
uint64_t SimplerRun::evaluate(const Submission &submission) {
  if (evaluating_->nodes.size() >= GraphRecording::kMaxNodes) {
    leaveEvaluation("it submits more than 65536 tasks");
    return submit(submission);
  }
  for (int32_t i = 0; i < submission.numTensors; ++i)
    if (!submission.tensors[i]) {
      leaveEvaluation("a task has a null descriptor");
      return submit(submission);
    }
  uint64_t id = nextTaskId();
  evaluating_->add(submission, ++sequence_, manualScope());
  if (graphDepth_ > 0) // copied from an inner graph's boundary, not from ours
    std::fill_n(evaluating_->sources.end() - submission.numScalars, submission.numScalars, -1);
  return id;
}

void SimplerRun::recordAllocation(const ChipTensor &made, uint64_t bytes, uint64_t count,
                                  uint64_t size, const uint64_t *init, bool byNextTask) {
  evaluating_->internals.push_back({made.owner_task_id.raw, byNextTask ? sequence_ + 1 : sequence_,
                                    made.buffer.addr, bytes, count, init ? *init : 0,
                                    static_cast<uint32_t>(size), init != nullptr, byNextTask});
}

/// Submits what was collected, under the numbers the body already knows.
void SimplerRun::leaveEvaluation(const char *why) {
  GraphRecording *recording = evaluating_;
  if (!recording)
    return;
  evaluating_ = nullptr;
  evaluationLeft_ = why;
  uint64_t last = sequence_;
  for (const GraphRecording::Node &node : recording->nodes) {
    const ChipTensor *tensors[SIMPLER_MAX_TENSORS];
    for (uint32_t i = 0; i < node.numTensors; ++i)
      tensors[i] = &recording->tensors[node.firstTensor + i];
    SimplerLaunch launch{};
    launch.block_num = node.blocks;
    launch.sync_start = node.syncStart;
    launch.num_deps = static_cast<int32_t>(node.numDeps);
    launch.deps = recording->deps.data() + node.firstDep;
    if (node.predicateTensor != GraphRecording::kNone) {
      launch.predicate_op = node.predicateOp;
      launch.predicate_target = node.predicateTarget;
      launch.predicate_tensor = &recording->tensors[node.predicateTensor];
      std::copy_n(node.predicateIndex, MAX_TENSOR_DIMS, launch.predicate_index);
    }
    Submission s;
    std::copy_n(node.kernels, 3, s.kernels);
    s.tensors = tensors;
    s.tags = recording->tags.data() + node.firstTensor;
    s.numTensors = node.numTensors;
    s.scalars = recording->scalars.data() + node.firstScalar;
    s.numScalars = node.numScalars;
    s.launch = &launch;
    s.manual = node.manual;
    sequence_ = node.sequence - 1;
    if (submit(s) == SIMPLER_NO_TASK)
      break;
  }
  sequence_ = last;
}

/// The body as it stands: a scope of its own, then a task that stands for all of them.
uint64_t SimplerRun::runBody(const GraphCall &call, bool record) {
  struct Leave { // also when the body throws
    SimplerRun &run;
    ~Leave() { run.evaluating_ = nullptr; }
  } leave{*this};
  uint64_t first = nextTaskId();
  if (record) {
    evaluating_ = &graphs_.scratch;
    evaluating_->clear(sequence_ + 1, static_cast<uint32_t>(first));
    evaluationLeft_ = nullptr;
  }
  scopeBegin(0);
  call.body(call.context);
  uint64_t id = SIMPLER_NO_TASK;
  if (record && !stopped()) {
    std::string why;
    if (evaluating_) {
      if (GraphDefinition *definition = graphs_.define(call, *evaluating_, tag_, why)) {
        evaluating_ = nullptr;
        scopeEnd(); // the recording's own tensors go: an instance has others
        if (launchGraph(*definition, call, id))
          return id;
        return SIMPLER_NO_TASK;
      }
      leaveEvaluation("");
    } else if (evaluationLeft_) {
      why = evaluationLeft_;
    }
    if (!stopped()) {
      graphs_.markPlain(call);
      char text[400];
      std::snprintf(text, sizeof(text),
                    "rt_submit_graph: the body runs on each call, its tasks cannot be replayed: %s",
                    why.c_str());
      logMessage(30, text);
    }
  }
  id = submitBarrierAfter(first);
  scopeEnd();
  return id;
}

static bool wellFormed(const GraphCall &call) {
  if (call.numTensors > 128 || call.numScalars > 64)
    return false;
  for (int32_t i = 0; i < call.numTensors; ++i) {
    const ChipTensor *t = call.tensors[i];
    if (!t || t->ndims < 1 || t->ndims > MAX_TENSOR_DIMS || get_element_size(t->dtype) == 0)
      return false;
    uint64_t end = (t->start_offset + t->extent_elem_cache) * get_element_size(t->dtype);
    if (t->extent_elem_cache && (t->buffer.addr == 0 || end > t->buffer.size))
      return false;
  }
  return true;
}

uint64_t SimplerRun::submitGraph(const GraphCall &call) {
  if (stopped()) [[unlikely]]
    return submit(Submission()); // fails as every submission does
  // A graph in a graph belongs to the outer one; files and budgets count single tasks.
  const Budgets &budgets = options_.budgets;
  bool heapLimited =
      budgets.heapBytes[0] | budgets.heapBytes[1] | budgets.heapBytes[2] | budgets.heapBytes[3];
  if (call.plain || evaluating_ || recorder || budgets.limited || heapLimited ||
      !wellFormed(call)) {
    struct Depth {
      int32_t &depth;
      ~Depth() { --depth; }
    } depth{++graphDepth_};
    uint64_t first = nextTaskId();
    scopeBegin(0);
    call.body(call.context);
    uint64_t id = submitBarrierAfter(first);
    scopeEnd();
    return id;
  }
  try {
    bool plain = false;
    uint64_t id = SIMPLER_NO_TASK;
    if (GraphDefinition *definition = graphs_.find(call, plain)) {
      launchGraph(*definition, call, id);
      return id;
    }
    return runBody(call, !plain);
  } catch (const std::bad_alloc &) {
    fail(SIMPLER_HEAP_RING_DEADLOCK, "rt_submit_graph: the system has no memory for the recording");
    return SIMPLER_NO_TASK;
  }
}

/// Edges of the whole graph, and the buffers it keeps alive.
bool SimplerRun::addBoundary(Task *task, const GraphDefinition &definition, const GraphCall &call) {
  for (int32_t i = 0; i < call.numTensors; ++i) {
    const ChipTensor &tensor = *call.tensors[i];
    auto access = definition.access[i];
    if (access == GraphDefinition::Untouched)
      continue;
    bool created = tensor.owner_task_id.is_valid();
    if (created) {
      bool stale = false;
      if (Buffer *buffer = bufferOf(tensor, stale)) {
        ++buffer->references;
        task->buffers()[task->numBuffers++] = buffer;
      } else if (stale) {
        fail(SIMPLER_INVALID_ARGS,
             "rt_submit_graph: argument %d was allocated in a scope that has ended; its memory is "
             "gone",
             i);
        return false;
      }
    }
    if (access == GraphDefinition::Write && call.beforeWrite)
      call.beforeWrite(call.beforeWriteContext, tensor);
    if (access == GraphDefinition::Creator) {
      bool known;
      if (created)
        if (Task *creator = findTask(tensor.owner_task_id.raw, known))
          addEdge(creator, task);
      continue;
    }
    Region region;
    if (!makeRegion(tensor, region))
      continue;
    if (definition.hull[i]) {
      region.run = region.hi - region.lo;
      region.rank = 0;
    }
    TensorMap::Record &record = map_.find(region);
    auto edge = [&](const TensorMap::Access &before, TensorMap::Record &) {
      addEdge(before, task);
    };
    if (access == GraphDefinition::Read) {
      map_.beforeRead(record, edge);
      map_.read(record, task);
    } else {
      map_.beforeWrite(record, edge);
      map_.write(record, task);
    }
  }
  return fatal() == 0;
}

/// Brings an instance's arguments to where this call has them.
static void patch(GraphInstance *instance, const GraphDefinition &d, const GraphCall &call,
                  uint64_t tag, bool fresh) {
  const GraphRecording &r = d.recording;
  Task **nodes = instance->nodes;
  for (int32_t i = 0; i < call.numTensors; ++i) {
    const ChipTensor &now = *call.tensors[i];
    ChipTensor &before = instance->boundary[i];
    if (!fresh && before.buffer.addr == now.buffer.addr && before.buffer.size == now.buffer.size &&
        before.start_offset == now.start_offset && before.owner_task_id == now.owner_task_id)
      continue;
    before = now;
    for (uint32_t p = d.patchBegin[i]; p < d.patchBegin[i + 1]; ++p) {
      const GraphDefinition::Patch &patch = d.patches[p];
      ChipTensor &t = nodes[patch.node]->tensors()[patch.tensor];
      t.buffer = now.buffer;
      t.owner_task_id = now.owner_task_id;
      t.start_offset = now.start_offset + static_cast<uint64_t>(patch.delta);
    }
  }
  if (instance->version != d.version) {
    instance->version = d.version;
    for (size_t k = 0; k < r.nodes.size(); ++k)
      std::copy_n(r.scalars.begin() + r.nodes[k].firstScalar, r.nodes[k].numScalars,
                  nodes[k]->scalars());
  }
  for (const GraphDefinition::ScalarPatch &patch : d.scalarPatches)
    nodes[patch.node]->scalars()[patch.scalar] = call.scalars[patch.source];
  for (uint32_t k : d.special) {
    Task *task = nodes[k];
    const GraphRecording::Node &node = r.nodes[k];
    task->nextBlock.store(0, std::memory_order_relaxed);
    task->tickets.store(1, std::memory_order_relaxed);
    task->extra->admitted = false;
    if (node.predicateTensor == GraphRecording::kNone || task->kind != TaskKind::Kernel)
      continue;
    task->flags |= Task::kPredicated;
    ChipTensor operand = r.tensors[node.predicateTensor];
    const GraphPlace &place = d.places[node.predicateTensor];
    if (place.kind == GraphPlace::Boundary) {
      operand.buffer = call.tensors[place.index]->buffer;
      operand.start_offset =
          call.tensors[place.index]->start_offset + static_cast<uint64_t>(place.delta);
    } else if (place.kind == GraphPlace::Internal) {
      operand.buffer.addr = instance->buffers[place.index]->address();
    }
    uint64_t size = get_element_size(operand.dtype);
    task->extra->predicate = {operand.buffer.addr +
                                  operand.compute_flat_offset(node.predicateIndex, operand.ndims) *
                                      size,
                              node.predicateTarget, node.predicateOp, static_cast<uint8_t>(size)};
  }
  if (fresh)
    for (size_t k = 0; k < r.nodes.size(); ++k)
      for (uint32_t i = 0; i < r.nodes[k].numTensors; ++i) {
        const GraphPlace &place = d.places[r.nodes[k].firstTensor + i];
        if (place.kind == GraphPlace::Internal) // any valid id of this run: the graph's own
          nodes[k]->tensors()[i].owner_task_id.raw = tag;
      }
}

/// False when the run has failed.
bool SimplerRun::launchGraph(GraphDefinition &definition, const GraphCall &call, uint64_t &id) {
  drainReturned();
  if (liveTaskBytes_ > kLiveTaskBytes) [[unlikely]]
    if (!throttle(Submission()))
      return false;
  bool fresh = !definition.free;
  GraphInstance *instance = graphs_.acquire(definition, this);
  Task *task = instance ? pool_.allocate(call.numTensors * sizeof(Buffer *)) : nullptr;
  if (!task) {
    if (instance)
      graphs_.release(instance);
    fail(SIMPLER_HEAP_RING_DEADLOCK, "rt_submit_graph: the system has no memory for %zu tasks",
         definition.recording.nodes.size());
    return false;
  }
  task->id = nextTaskId();
  task->sequence = ++sequence_;
  task->edgeMark = 0;
  task->run = this;
  task->lanes = 0;
  task->kernel[0] = nullptr;
  task->blocks = 1;
  task->kind = TaskKind::Graph;
  task->flags = 0;
  task->numTensors = task->numScalars = 0;
  task->numBuffers = 0;
  task->numEdges = 0;
  task->edgeBlocks = nullptr;
  task->extra = nullptr;
  task->instance = instance;
  task->tickets.store(1, std::memory_order_relaxed);
  task->fanIn.store(Task::kUnsubmitted, std::memory_order_relaxed);
  task->successors.store(nullptr, std::memory_order_relaxed);
  instance->graphTask = task;
  instance->firstId = task->id + 1;
  sequence_ += definition.recording.nodes.size();

  ++submitted_;
  ++scopes_.back().tasks;
  edgesOfTask_ = 0;
  liveTaskBytes_ += TaskPool::bytesOf(task->sizeClass) + definition.weight;
  bool added = false;
  try {
    added = addBoundary(task, definition, call);
    if (holding_)
      makeRoom(held_);
  } catch (const std::bad_alloc &) {
    fail(SIMPLER_HEAP_RING_DEADLOCK, "rt_submit_graph: the system has no memory for dependencies");
  }
  if (!added || !remember(task)) {
    publish(task); // stays in the graph; its kernels do not run
    return false;
  }
  patch(instance, definition, call, task->id, fresh);
  for (size_t i = 0; i < definition.recording.internals.size(); ++i)
    if (const auto &internal = definition.recording.internals[i]; internal.filled)
      fillElements(instance->buffers[i]->memory(), internal.count, internal.size, internal.pattern);
  id = task->id;
  publish(task);
  return true;
}

void SimplerRun::recycleGraph(Task *task) {
  liveTaskBytes_ -= task->instance->definition->weight;
  graphs_.release(task->instance);
}

//===-- On executors ------------------------------------------------------===//

namespace simpler {

/// All predecessors of the graph are complete. Nodes that are too cheap to hand over run here, in
/// the order of recording, which needs no counters; the first that is not cheap (or completes
/// later) ends that.
void Executor::executeGraph(Task *graph) {
  GraphInstance *instance = graph->instance;
  Task **nodes = instance->nodes;
  auto count = static_cast<uint32_t>(instance->definition->recording.nodes.size());
  uint64_t id = instance->firstId;
  uint32_t k = 0;
  for (; k < count; ++k) {
    Task *node = nodes[k];
    if (!isCheap(node))
      break;
    if (node->kind != TaskKind::Kernel || skips(node))
      continue;
    node->id = id + k;
    invoke(node, 0, 0);
    if (node->tickets.load(std::memory_order_acquire) != 1) [[unlikely]] {
      executed_.store(executed() + k, std::memory_order_relaxed);
      expandGraph(graph, k, node);
      return;
    }
  }
  executed_.store(executed() + k, std::memory_order_relaxed);
  if (k == count)
    dropTicket(graph);
  else
    expandGraph(graph, k, nullptr);
}

/// The first `done` nodes are complete; the others run as their counters fall. `open`: node `done`
/// has run and waits for conditions; this thread still holds its ticket.
void Executor::expandGraph(Task *graph, uint32_t done, Task *open) {
  GraphInstance *instance = graph->instance;
  const GraphDefinition &definition = *instance->definition;
  Task **nodes = instance->nodes;
  auto count = static_cast<uint32_t>(definition.recording.nodes.size());
  for (uint32_t k = 0; k < done; ++k) {
    Task *node = nodes[k];
    for (uint32_t s = 0; s < node->node.numSuccessors; ++s)
      if (Task *after = node->node.successors[s]; after->node.index >= done)
        after->fanIn.store(after->fanIn.load(std::memory_order_relaxed) - 1,
                           std::memory_order_relaxed);
  }
  // Who starts is settled before anyone does: a node that is released later must not be seen here.
  uint32_t starting = 0;
  for (uint32_t k = done; k < count; ++k) {
    nodes[k]->id = instance->firstId + k;
    if (nodes[k]->fanIn.load(std::memory_order_relaxed) == 0 && nodes[k] != open)
      instance->ready[starting++] = nodes[k];
  }
  instance->remaining.store(static_cast<int32_t>(count - done), std::memory_order_relaxed);
  // The deque gives the newest first. After the last makeReady the instance may be gone.
  Task **ready = instance->ready;
  uint32_t kept = starting && !next_;
  Task *first = kept ? ready[0] : nullptr;
  while (starting > kept)
    makeReady(ready[--starting]);
  if (first)
    next_ = first;
  if (open)
    dropTicket(open);
}

void Executor::completeNode(Task *task) {
  GraphInstance *instance = task->instance;
  if (doneNodes_ && doneGraph_ != instance)
    finishNodes();
  // Ready for the next launch: nobody else looks at the node any more.
  task->fanIn.store(task->node.fanIn, std::memory_order_relaxed);
  task->tickets.store(1, std::memory_order_relaxed);
  for (uint32_t s = 0; s < task->node.numSuccessors; ++s) {
    Task *successor = task->node.successors[s];
    if (successor->fanIn.load(std::memory_order_acquire) == 1 ||
        successor->fanIn.fetch_sub(1, std::memory_order_acq_rel) == 1)
      release(successor);
  }
  doneGraph_ = instance;
  ++doneNodes_;
}

/// Nodes are counted off in bulk: the graph is complete when the last is.
void Executor::finishNodes() {
  auto count = static_cast<int32_t>(doneNodes_);
  if (count == 0)
    return;
  doneNodes_ = 0;
  GraphInstance *instance = doneGraph_;
  Task *graph = instance->graphTask;
  if (instance->remaining.fetch_sub(count, std::memory_order_acq_rel) == count)
    dropTicket(graph);
}

} // namespace simpler
