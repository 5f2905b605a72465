//===- Submit.cpp - a task enters the graph -------------------------------===//
#include "KernelCall.h"
#include "Run.h"

#include <algorithm>

using namespace simpler;

uint64_t SimplerRun::nextTaskId() const {
  uint64_t ring = std::min<uint64_t>(scopes_.size() - 1, 3);
  return tag_ | ring << 32 | static_cast<uint32_t>(sequence_ + 1 - firstSequence_);
}

/// How messages name the task that is being submitted.
const char *SimplerRun::describe(const Submission &submission, char *text, size_t size) const {
  const SimplerKernel *kernel = nullptr;
  for (const SimplerKernel *lane : submission.kernels)
    kernel = kernel ? kernel : lane;
  std::snprintf(text, size, "task %s", taskName(nextTaskId(), kernel).text);
  return text;
}

static const char *directionName(uint8_t tag) {
  switch (tag) {
  case SIMPLER_ARG_INPUT:
    return "input";
  case SIMPLER_ARG_INOUT:
    return "inout";
  case SIMPLER_ARG_OUTPUT_EXISTING:
    return "output";
  default:
    return "no_dep";
  }
}

bool SimplerRun::checkTensor(const ChipTensor *tensor, int32_t index, const Submission &submission,
                             Region &region, bool &empty) {
  char name[200];
  auto reject = [&](const char *what) {
    fail(SIMPLER_INVALID_ARGS, "%s: tensor argument %d (%s) %s", describe(submission, name, 200),
         index, directionName(submission.tags[index]), what);
    return false;
  };
  if (!tensor)
    return reject("is a null descriptor");
  if (submission.tags[index] == 1 || submission.tags[index] > SIMPLER_ARG_NO_DEP)
    return reject("has a tag that is none of INPUT, INOUT, OUTPUT_EXISTING, NO_DEP");
  if (tensor->ndims < 1 || tensor->ndims > MAX_TENSOR_DIMS)
    return reject("has a rank outside 1..5");
  if (get_element_size(tensor->dtype) == 0)
    return reject("has an unknown element type");
  empty = !makeRegion(*tensor, region);
  if (empty)
    return true;
  if (region.lo < tensor->buffer.addr || region.hi > tensor->buffer.addr + tensor->buffer.size) {
    char text[160];
    std::snprintf(text, sizeof(text), "reaches byte %llu of an allocation of %llu bytes",
                  static_cast<unsigned long long>(region.hi - tensor->buffer.addr),
                  static_cast<unsigned long long>(tensor->buffer.size));
    return reject(text);
  }
  if (tensor->buffer.addr == 0)
    return reject("has elements but no address");
  return true;
}

bool SimplerRun::checkLaunch(const Submission &submission, int32_t lanes) {
  const SimplerLaunch *launch = submission.launch;
  char name[200];
  if (!launch)
    return true;
  if (launch->block_num < 0) {
    fail(SIMPLER_INVALID_ARGS, "%s: block_num is %d; it must not be negative",
         describe(submission, name, 200), launch->block_num);
    return false;
  }
  if (launch->sync_start && lanes > 0) {
    bool vectorOnly = !submission.kernels[0];
    int32_t width = device_.geometry().clusters;
    int32_t perBlock = 1;
    if (vectorOnly) { // one lane: any vector core; two lanes: both of one cluster
      perBlock = lanes;
      width = device_.geometry().vectorCores();
    }
    if (launch->block_num * static_cast<int64_t>(perBlock) > width) {
      fail(SIMPLER_REQUIRE_SYNC_START_INVALID,
           "%s: sync_start with %d blocks, but %s has %d %s that could start together",
           describe(submission, name, 200), launch->block_num, device_.geometry().arch,
           width / perBlock, vectorOnly ? (lanes == 1 ? "vector cores" : "clusters") : "clusters");
      return false;
    }
  }
  if (launch->num_deps < 0 || (launch->num_deps > 0 && !launch->deps)) {
    fail(SIMPLER_INVALID_ARGS, "%s: %d explicit dependencies without a list",
         describe(submission, name, 200), launch->num_deps);
    return false;
  }
  if (launch->predicate_op > SIMPLER_PRED_LE) {
    fail(SIMPLER_INVALID_ARGS, "%s: unknown predicate operator %d", describe(submission, name, 200),
         launch->predicate_op);
    return false;
  }
  return true;
}

uint64_t SimplerRun::submit(const Submission &submission) {
  if (stopped()) [[unlikely]] {
    if (fatal() == 0)
      fail(SIMPLER_INTERRUPTED, "the run was interrupted while the orchestration submitted tasks");
    return SIMPLER_NO_TASK;
  }
  char name[200];
  if (submission.numTensors < 0 || submission.numTensors > SIMPLER_MAX_TENSORS ||
      submission.numScalars < 0 || submission.numScalars > SIMPLER_MAX_SCALARS) [[unlikely]] {
    fail(SIMPLER_INVALID_ARGS, "%s has %d tensors and %d scalars; at most %d and %d are possible",
         describe(submission, name, 200), submission.numTensors, submission.numScalars,
         SIMPLER_MAX_TENSORS, SIMPLER_MAX_SCALARS);
    return SIMPLER_NO_TASK;
  }
  int32_t lanes = 0;
  for (const SimplerKernel *kernel : submission.kernels)
    lanes += kernel != nullptr;
  if (submission.launch && !checkLaunch(submission, lanes)) [[unlikely]]
    return SIMPLER_NO_TASK;
  if (evaluating_) [[unlikely]]
    return evaluate(submission);

  drainReturned();
  if (liveTaskBytes_ > kLiveTaskBytes || options_.budgets.limited) [[unlikely]]
    if (!throttle(submission))
      return SIMPLER_NO_TASK;

  Task *task = pool_.allocate(submission.numTensors * (sizeof(ChipTensor) + sizeof(Buffer *)) +
                              submission.numScalars * sizeof(uint64_t));
  if (!task) [[unlikely]] {
    fail(SIMPLER_HEAP_RING_DEADLOCK,
         "%s: the system has no memory for another task (%llu are live)",
         describe(submission, name, 200), static_cast<unsigned long long>(outstanding()));
    return SIMPLER_NO_TASK;
  }
  const SimplerLaunch *launch = submission.launch;
  task->id = nextTaskId();
  task->sequence = sequence_ + 1;
  task->edgeMark = 0;
  task->run = this;
  task->reset(submission.kernels, launch ? launch->block_num : 1, launch && launch->sync_start,
              submission.numTensors, submission.numScalars);
  task->fanIn.store(Task::kUnsubmitted, std::memory_order_relaxed);
  if (submission.numScalars)
    std::memcpy(task->scalars(), submission.scalars, submission.numScalars * sizeof(uint64_t));

  ++submitted_;
  ++scopes_.back().tasks;
  edgesOfTask_ = 0;
  liveTaskBytes_ += TaskPool::bytesOf(task->sizeClass);
  uint64_t id = task->id;
  bool added = false;
  try {
    added = addDependencies(task, submission);
    if (holding_)
      makeRoom(held_);
  } catch (const std::bad_alloc &) {
    fail(SIMPLER_HEAP_RING_DEADLOCK, "task %s: the system has no memory for its dependencies",
         taskName(task).text);
  }
  ++sequence_;
  if (!added || !remember(task)) [[unlikely]] {
    // Predecessors may already hold edges to it: it stays in the graph, as a task without a kernel.
    task->kind = TaskKind::Dummy;
    task->flags = 0; // what they need may be missing
    publish(task);
    return SIMPLER_NO_TASK;
  }
  if (recorder) [[unlikely]] {
    recorder->task(task, submission.tags,
                   submission.manual < 0 ? manualScope() : submission.manual != 0);
    if (recorder->wantsDump() && task->kind == TaskKind::Kernel)
      task->flags |= Task::kDumped;
  }
  publish(task);
  return id;
}

/// Adds the edges that regions, creators and the launch ask for, and copies the descriptors.
bool SimplerRun::addDependencies(Task *task, const Submission &submission) {
  bool manual = submission.manual < 0 ? manualScope() : submission.manual != 0;
  uint32_t numTensors = task->numTensors;
  Region region;
  for (uint32_t i = 0; i < numTensors; ++i) {
    const ChipTensor *tensor = submission.tensors[i];
    bool empty;
    if (!checkTensor(tensor, static_cast<int32_t>(i), submission, region, empty)) [[unlikely]] {
      task->numTensors = static_cast<uint8_t>(i); // what follows was not copied
      task->numScalars = 0;
      return false;
    }
    task->tensors()[i] = *tensor;
    bool created = tensor->owner_task_id.is_valid();
    if (created) {
      bool stale = false;
      if (Buffer *buffer = bufferOf(*tensor, stale)) {
        ++buffer->references;
        task->buffers()[task->numBuffers++] = buffer;
      } else if (stale) [[unlikely]] {
        char name[200];
        fail(SIMPLER_INVALID_ARGS,
             "%s: tensor argument %u was allocated in a scope that has ended; its memory is gone",
             describe(submission, name, 200), i);
        return false;
      }
    }
    if (empty || manual)
      continue;
    uint8_t tag = submission.tags[i];
    if (tag == SIMPLER_ARG_NO_DEP || tensor->manual_dep) {
      bool known;
      if (created)
        if (Task *creator = findTask(tensor->owner_task_id.raw, known); creator && creator != task)
          addEdge(creator, task);
      continue;
    }
    TensorMap::Record &record = map_.find(region);
    auto edge = [&](const TensorMap::Access &access, TensorMap::Record &other) {
      addEdge(access, task, static_cast<int32_t>(i), &other == &record, tensor->owner_task_id.raw);
    };
    if (tag == SIMPLER_ARG_INPUT) {
      map_.beforeRead(record, edge);
      map_.read(record, task);
    } else {
      map_.beforeWrite(record, edge);
      map_.write(record, task);
    }
  }
  const SimplerLaunch *launch = submission.launch;
  if (!launch) [[likely]]
    return true;
  for (int32_t i = 0; i < launch->num_deps; ++i)
    if (!addExplicit(task, launch->deps[i], i, submission))
      return false;
  if (!submission.retains)
    for (int32_t i = 0; i < launch->num_deps; ++i)
      retainBuffersOf(task, launch->deps[i]);
  for (int32_t i = 0; i < submission.numRetains; ++i)
    retainBuffersOf(task, submission.retains[i]);
  if (launch->predicate_op != SIMPLER_PRED_NONE && task->kind == TaskKind::Kernel) {
    uint64_t address;
    int64_t indices[MAX_TENSOR_DIMS];
    std::copy_n(launch->predicate_index, MAX_TENSOR_DIMS, indices);
    if (!launch->predicate_tensor) {
      fail(SIMPLER_INVALID_ARGS, "%s: the predicate has no operand tensor", taskName(task).text);
      return false;
    }
    if (!elementAddress(*launch->predicate_tensor, indices, launch->predicate_tensor->ndims,
                        "predicate", address))
      return false;
    bool stale = false;
    if (Buffer *buffer = bufferOf(*launch->predicate_tensor, stale)) {
      retain(task, buffer);
    } else if (stale) {
      fail(SIMPLER_INVALID_ARGS,
           "%s: the operand of the predicate was allocated in a scope that has ended; its memory "
           "is gone",
           taskName(task).text);
      return false;
    }
    TaskExtra *extra = newExtra(task);
    extra->predicate = {address, launch->predicate_target, launch->predicate_op,
                        static_cast<uint8_t>(get_element_size(launch->predicate_tensor->dtype))};
    task->flags |= Task::kPredicated;
    // The operand is read when the task starts: its writers come first, unless edges are manual.
    if (!manual && !launch->predicate_tensor->manual_dep &&
        makeRegion(*launch->predicate_tensor, region)) {
      TensorMap::Record &record = map_.find(region);
      if (record.writer.task != task)
        map_.beforeRead(record, [&](const TensorMap::Access &access, TensorMap::Record &) {
          addEdge(access, task);
        });
      map_.read(record, task);
    }
  }
  if (task->has(Task::kCoRun))
    newExtra(task);
  return fatal() == 0;
}

TaskExtra *SimplerRun::newExtra(Task *task) {
  if (task->extra)
    return task->extra;
  if (spareExtras_.empty()) {
    if (spareExtras_.capacity() == extras_) // all fit when they come back
      spareExtras_.reserve(2 * extras_ + 8);
    task->extra = new TaskExtra();
    ++extras_;
  } else {
    task->extra = spareExtras_.back();
    spareExtras_.pop_back();
  }
  task->extra->gang = nullptr;
  task->extra->admitted = false;
  task->extra->retained.clear();
  return task->extra;
}

Buffer *SimplerRun::bufferOf(const ChipTensor &tensor, bool &stale) {
  if ((tensor.owner_task_id.raw ^ tag_) >> 40 || tensor.buffer.addr == 0)
    return nullptr; // made by another run: external memory for this one
  Buffer *buffer = Buffer::of(tensor.buffer.addr);
  if (buffer->magic != Buffer::kMagic || buffer->pool != &buffers_)
    return nullptr;
  stale = buffer->references == 0 || buffer->creator != tensor.owner_task_id.raw;
  return stale ? nullptr : buffer;
}

/// The buffer lives until the task is complete. Arguments are counted already.
void SimplerRun::retain(Task *task, Buffer *buffer) {
  Buffer **own = task->buffers();
  if (std::find(own, own + task->numBuffers, buffer) != own + task->numBuffers)
    return;
  newExtra(task)->retained.push_back(buffer);
  ++buffer->references;
}

/// A program may hand on what the producer made without naming it: by address, or in a descriptor
/// of its own.
void SimplerRun::retainBuffersOf(Task *task, uint64_t producer) {
  bool known;
  Task *live = producer == SIMPLER_NO_TASK ? nullptr : findTask(producer, known);
  if (producer == SIMPLER_NO_TASK || !known)
    return;
  auto local = [](uint64_t id) { return static_cast<uint32_t>(id); };
  // Of open scopes, in the order of their creators.
  auto at = std::lower_bound(
      scopeBuffers_.begin(), scopeBuffers_.end(), local(producer),
      [&](const Buffer *buffer, uint32_t id) { return local(buffer->creator) < id; });
  for (; at != scopeBuffers_.end() && local((*at)->creator) == local(producer); ++at)
    retain(task, *at);
  if (live) // of scopes that have ended meanwhile
    for (uint32_t i = 0; i < live->numBuffers; ++i)
      if (local(live->buffers()[i]->creator) == local(producer))
        retain(task, live->buffers()[i]);
}

//===-- Edges -------------------------------------------------------------===//

Edge *SimplerRun::newEdge(Task *task) {
  if (task->numEdges < Task::kInlineEdges)
    return &task->edges[task->numEdges++];
  EdgeBlock *block = task->edgeBlocks;
  if (!block || block->used == EdgeBlock::kEdges) {
    EdgeBlock *fresh = pool_.allocateEdges();
    if (!fresh) {
      fail(SIMPLER_DEP_POOL_OVERFLOW, "task %s: the system has no memory for another dependency",
           taskName(task).text);
      return nullptr;
    }
    fresh->next = block;
    fresh->used = 0;
    task->edgeBlocks = block = fresh;
  }
  return &block->edges[block->used++];
}

void SimplerRun::addEdge(const TensorMap::Access &access, Task *task, int32_t argument,
                         bool covered, uint64_t creator) {
  // One of an earlier run is complete. The memory of a complete task may be that of this one now:
  // only the sequence tells.
  if (access.sequence < firstSequence_ || access.sequence == task->sequence)
    return;
  if (recorder && task != &signal_) [[unlikely]] {
    // Also edges that need no waiting any more: the file shows why, not when.
    uint64_t local = access.sequence - firstSequence_;
    bool made = creator != SIMPLER_NO_TASK && static_cast<uint32_t>(creator) == local;
    recorder->edge(local, task->id, argument,
                   made ? Recorder::Source::Creator : Recorder::Source::TensorMap, covered);
  }
  if (access.task->sequence != access.sequence)
    return;
  addEdge(access.task, task);
}

void SimplerRun::addEdge(Task *predecessor, Task *task) {
  if (predecessor->edgeMark == task->sequence)
    return;
  Edge *head = predecessor->successors.load(std::memory_order_acquire);
  if (head == Task::closed())
    return;
  Edge *edge = newEdge(task);
  if (!edge)
    return;
  predecessor->edgeMark = task->sequence;
  edge->successor = task;
  do {
    if (head == Task::closed()) { // it completed just now
      dropEdge(task);
      return;
    }
    edge->next = head;
  } while (!predecessor->successors.compare_exchange_weak(head, edge, std::memory_order_release,
                                                          std::memory_order_acquire));
  ++edgesOfTask_;
  ++edgesTotal_;
}

/// A task without kernel that follows all live tasks from `first` on.
uint64_t SimplerRun::submitBarrierAfter(uint64_t first) {
  std::vector<uint64_t> ids;
  for (uint64_t id = static_cast<uint32_t>(first), end = static_cast<uint32_t>(nextTaskId());
       id < end; ++id) {
    bool known; // what is only collected has not run
    if (evaluating_ || findTask(tag_ | id, known))
      ids.push_back(tag_ | id);
  }
  SimplerLaunch launch{};
  launch.block_num = 1;
  launch.num_deps = static_cast<int32_t>(ids.size());
  launch.deps = ids.data();
  Submission submission;
  submission.launch = &launch;
  return submit(submission);
}

/// Takes back what newEdge handed out last.
void SimplerRun::dropEdge(Task *task) {
  if (task->edgeBlocks && task->edgeBlocks->used > 0)
    --task->edgeBlocks->used;
  else
    --task->numEdges;
}

/// The live task with this id; null when it is complete. `known`: the id names a task of this run.
SimplerRun::Task *SimplerRun::findTask(uint64_t id, bool &known) const {
  uint64_t tag = id >> 40 << 40, sequence = firstSequence_ + static_cast<uint32_t>(id);
  known = (tag == tag_ || tag == 0) && sequence <= sequence_;
  if (!known)
    return nullptr;
  Task *task = window_[sequence & (window_.size() - 1)];
  return task && task->sequence == sequence && !task->complete() ? task : nullptr;
}

bool SimplerRun::addExplicit(Task *task, uint64_t id, int32_t position, const Submission &s) {
  if (id == SIMPLER_NO_TASK)
    return true;
  bool known;
  Task *predecessor = findTask(id, known);
  if (!known || id == task->id) {
    fail(SIMPLER_INVALID_ARGS, "task %s: explicit dependency %d %s", taskName(task).text, position,
         id == task->id ? "is the task itself" : "is no task of this run");
    return false;
  }
  if (recorder) [[unlikely]]
    recorder->edge(static_cast<uint32_t>(id), task->id, -1, Recorder::Source::Explicit, false);
  if (predecessor && predecessor != task)
    addEdge(predecessor, task);
  return true;
}

/// Enters the task in the window of live tasks, which doubles when a live one is in the way.
bool SimplerRun::remember(Task *task) try {
  uint64_t mask = window_.size() - 1;
  Task *old = window_[task->sequence & mask];
  if (old && old != task && ((old->sequence ^ task->sequence) & mask) == 0 &&
      old->sequence >= firstSequence_ && !old->complete()) [[unlikely]] {
    std::vector<Task *> bigger(window_.size() * 2);
    for (Task *entry : window_)
      if (entry && !entry->complete())
        bigger[entry->sequence & (bigger.size() - 1)] = entry;
    window_ = std::move(bigger);
    return remember(task);
  }
  window_[task->sequence & mask] = task;
  return true;
} catch (const std::bad_alloc &) {
  fail(SIMPLER_HEAP_RING_DEADLOCK, "task %s: the system has no memory for the window of live tasks",
       taskName(task).text);
  return false;
}

/// All edges are in: the task starts when its predecessors are complete, maybe now.
void SimplerRun::publish(Task *task) {
  int32_t open = Task::kUnsubmitted - edgesOfTask_;
  if (edgesOfTask_ == 0)
    task->fanIn.store(0, std::memory_order_relaxed);
  else if (task->fanIn.fetch_sub(open, std::memory_order_acq_rel) != open)
    return;
  if (holding_) {
    held_.push_back(task);
    return;
  }
  if (executor_.staysHere(task))
    executor_.runInline(task);
  else
    executor_.submit(task);
}

/// Back-pressure. False when a budget can never be met: the run has failed then.
bool SimplerRun::throttle(const Submission &submission) {
  char name[200];
  Budgets &budgets = options_.budgets;
  uint64_t ring = std::min<uint64_t>(scopes_.size() - 1, 3);
  uint64_t window = budgets.taskWindow[ring];
  const Scope &scope = scopes_.back();
  if (window && scope.tasks + 1 >= window) {
    fail(
        SIMPLER_SCOPE_DEADLOCK,
        "%s: the open scope%s%s already holds %llu tasks and the task window of ring %llu is %llu; "
        "raise runtime_env.ring_task_window or split the scope",
        describe(submission, name, 200), scope.site ? " at " : "", scope.site ? scope.site : "",
        static_cast<unsigned long long>(scope.tasks), static_cast<unsigned long long>(ring),
        static_cast<unsigned long long>(window));
    return false;
  }
  uint64_t pool = budgets.depPool[ring];
  uint64_t dependencies = submission.launch ? submission.launch->num_deps : 0;
  if (pool && dependencies > 64 + pool) {
    fail(SIMPLER_DEP_POOL_OVERFLOW,
         "%s has %llu explicit dependencies; 64 and the dependency pool of %llu entries are too "
         "few; raise runtime_env.ring_dep_pool",
         describe(submission, name, 200), static_cast<unsigned long long>(dependencies),
         static_cast<unsigned long long>(pool));
    return false;
  }
  if (holding_)
    return true;
  if (window && outstanding() + 1 >= window)
    executor_.workUntil(this, [&] {
      drainReturned();
      return outstanding() + 1 < window || stopped();
    });
  if (liveTaskBytes_ > kLiveTaskBytes)
    executor_.workUntil(this, [&] {
      drainReturned();
      return liveTaskBytes_ < kLiveTaskBytes / 2 || stopped();
    });
  return true;
}
