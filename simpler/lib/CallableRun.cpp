//===- CallableRun.cpp - the table behind pto_orchestration_api.h ---------===//
#include "Callable.h"
#include "Clock.h"
#include "DescriptorArena.h"
#include "Log.h"
#include "RunOrchestration.h"
#include "RunTimes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace simpler;

namespace {

/// One run of a callable, as the orchestration sees it: the table's pointer comes first.
struct CallableRun : PTO2Runtime {
  SimplerRun *run;
  SimplerCallable *callable;
  const ChipTensor *tensors;
  int32_t numTensors;
  DescriptorArena outputs;
  std::vector<DescriptorArena::Mark> marks;

  /// Contents of read-only host tensors that a task declared to write.
  struct Saved {
    const ChipTensor *tensor;
    std::vector<char> bytes;
  };
  std::vector<Saved> saved;
  Recorder *recorder = nullptr;
  RunTimes *times = nullptr; // when the times of timing slots are wanted
  bool protects = false;     // some host tensor is IN

  static CallableRun &of(PTO2Runtime *runtime) { return *static_cast<CallableRun *>(runtime); }
  void saveIfReadOnly(const ChipTensor &written);
  void restore();
};

/// In-place execution must not change what the caller passed as IN: keep a copy for the end.
void CallableRun::saveIfReadOnly(const ChipTensor &written) {
  for (int32_t i = 0; i < numTensors; ++i) {
    const ChipTensor &t = tensors[i];
    bool readOnly = i < static_cast<int32_t>(callable->signature.size()) &&
                    callable->signature[i] == static_cast<int32_t>(ArgDirection::IN);
    if (!readOnly || t.is_device_memory() || t.buffer.addr == 0 ||
        written.buffer.addr >= t.buffer.addr + t.buffer.size ||
        t.buffer.addr >= written.buffer.addr + written.buffer.size)
      continue;
    bool known = std::any_of(saved.begin(), saved.end(),
                             [&](const Saved &entry) { return entry.tensor == &t; });
    if (known)
      continue;
    auto *bytes = reinterpret_cast<const char *>(static_cast<uintptr_t>(t.buffer.addr));
    saved.push_back({&t, std::vector<char>(bytes, bytes + t.buffer.size)});
  }
}

void CallableRun::restore() {
  for (const Saved &entry : saved)
    std::memcpy(reinterpret_cast<void *>(static_cast<uintptr_t>(entry.tensor->buffer.addr)),
                entry.bytes.data(), entry.bytes.size());
}

/// PTO2_RING_*: one number for all rings or four; a value that makes no sense is ignored with a
/// warning. What a call sets comes first.
void budgetsFromEnvironment(const char *name, uint64_t (&budget)[4]) {
  const char *text = std::getenv(name);
  if (!text || !*text)
    return;
  uint64_t values[4];
  int count = 0;
  const char *at = text;
  for (; count < 4; ++count) {
    char *rest;
    values[count] = std::strtoull(at, &rest, 10);
    if (rest == at || values[count] < 4 || (*rest && *rest != ',')) {
      count = 0;
      break;
    }
    at = rest;
    if (!*at) {
      ++count;
      break;
    }
    ++at;
  }
  if (count != 1 && (count != 4 || *at)) {
    logMessage(
        30, (std::string(name) + "=" + text + " ignored: one number or four, at least 4").c_str());
    return;
  }
  for (int ring = 0; ring < 4; ++ring)
    if (budget[ring] == 0)
      budget[ring] = values[count == 1 ? 0 : ring];
}

SimplerOrchOutputs nothing() { return {PTO2TaskId::invalid(), nullptr, 0}; }

SimplerOrchOutputs submitTask(PTO2Runtime *runtime, const SimplerOrchTask *task) {
  CallableRun &self = CallableRun::of(runtime);
  SimplerRun &run = *self.run;
  if (run.fatal())
    return nothing();
  if (task->error) {
    run.fail(SIMPLER_INVALID_ARGS, "task t%u: %s", PTO2TaskId{run.nextTaskId()}.local(),
             task->error);
    return nothing();
  }
  Submission submission;
  bool any = false;
  for (int32_t lane = 0; lane < 3; ++lane) {
    int32_t id = task->kernel_ids[lane];
    if (id < 0)
      continue;
    any = true;
    submission.kernels[lane] = self.callable->kernel(id);
    if (!submission.kernels[lane]) {
      run.fail(SIMPLER_INVALID_ARGS, "task t%u: the callable '%s' has no kernel with func_id %d",
               PTO2TaskId{run.nextTaskId()}.local(), self.callable->entryName.c_str(), id);
      return nothing();
    }
  }
  if (!any && !task->dummy) {
    run.fail(
        SIMPLER_INVALID_ARGS,
        "task t%u names no kernel on any lane; use rt_submit_dummy_task for a task without one",
        PTO2TaskId{run.nextTaskId()}.local());
    return nothing();
  }
  if (submission.kernels[2] && !submission.kernels[1]) // the second vector lane alone is the first
    std::swap(submission.kernels[1], submission.kernels[2]);

  const ChipTensor *tensors[SIMPLER_MAX_TENSORS];
  uint8_t tags[SIMPLER_MAX_TENSORS];
  uint32_t made = 0;
  for (int32_t i = 0; i < task->num_args; ++i)
    made += task->args[i].create != nullptr;
  ChipTensor *outputs = made ? self.outputs.take(made) : nullptr;
  uint32_t next = 0;
  for (int32_t i = 0; i < task->num_args; ++i) {
    const SimplerOrchArg &arg = task->args[i];
    tags[i] = static_cast<uint8_t>(arg.tag);
    if (const TensorCreateInfo *info = arg.create) {
      if (!run.allocate(outputs[next], info->shapes, info->ndims, static_cast<uint8_t>(info->dtype),
                        info->manual_dep, info->has_initial_value ? &info->initial_value : nullptr,
                        true))
        return nothing();
      tensors[i] = &outputs[next++];
      tags[i] = SIMPLER_ARG_OUTPUT_EXISTING;
      continue;
    }
    tensors[i] = arg.tensor;
    if (self.protects &&
        (arg.tag == TensorArgType::INOUT || arg.tag == TensorArgType::OUTPUT_EXISTING))
      self.saveIfReadOnly(*arg.tensor);
  }
  SimplerLaunch launch{};
  launch.block_num = task->block_num;
  launch.sync_start = task->sync_start && any;
  launch.allow_early_resolve = task->early_resolve;
  launch.num_deps = task->num_deps;
  launch.deps = reinterpret_cast<const uint64_t *>(task->deps);
  std::vector<uint64_t> waits, retains;
  if (task->has_dep_kinds) {
    for (int32_t i = 0; i < task->num_deps; ++i) {
      if (task->dep_kinds[i] & SimplerOrchTask::kDepWait)
        waits.push_back(launch.deps[i]);
      if (task->dep_kinds[i] & SimplerOrchTask::kDepRetain)
        retains.push_back(launch.deps[i]);
    }
    retains.push_back(SIMPLER_NO_TASK); // never null
    launch.num_deps = static_cast<int32_t>(waits.size());
    launch.deps = waits.data();
    submission.retains = retains.data();
    submission.numRetains = static_cast<int32_t>(retains.size());
  }
  if (task->predicate && any) {
    launch.predicate_op = task->predicate->op;
    launch.predicate_tensor = task->predicate->tensor;
    launch.predicate_target = task->predicate->target;
    std::copy_n(task->predicate->indices, MAX_TENSOR_DIMS, launch.predicate_index);
  }
  submission.tensors = tensors;
  submission.tags = tags;
  submission.numTensors = task->num_args;
  submission.scalars = task->scalars;
  submission.scalarSources = task->scalar_sources;
  submission.numScalars = task->num_scalars;
  submission.launch = &launch;
  if (self.recorder) [[unlikely]]
    self.recorder->nextDump(task->dump_all ? UINT64_MAX : task->dump_mask);
  uint64_t begin = self.recorder && self.recorder->wantsSubmits() ? ticks() : 0;
  uint64_t id = run.submit(submission);
  if (begin && id != SIMPLER_NO_TASK) [[unlikely]]
    self.recorder->submitted(id, begin, ticks());
  if (id == SIMPLER_NO_TASK)
    return nothing();
  if (self.times) [[unlikely]]
    self.times->note(id, task->timing_slot);
  return {PTO2TaskId{id}, outputs, made};
}

SimplerOrchOutputs allocTensors(PTO2Runtime *runtime, const TensorCreateInfo *const *infos,
                                uint32_t count) {
  CallableRun &self = CallableRun::of(runtime);
  if (self.run->fatal())
    return nothing();
  if (count == 0)
    return nothing();
  ChipTensor *outputs = self.outputs.take(count);
  for (uint32_t i = 0; i < count; ++i)
    if (!self.run->allocate(outputs[i], infos[i]->shapes, infos[i]->ndims,
                            static_cast<uint8_t>(infos[i]->dtype), infos[i]->manual_dep,
                            infos[i]->has_initial_value ? &infos[i]->initial_value : nullptr))
      return nothing();
  return {outputs[count - 1].owner_task_id, outputs, count};
}

void scopeBegin(PTO2Runtime *runtime, PTO2ScopeMode mode, const char *site) {
  CallableRun &self = CallableRun::of(runtime);
  self.marks.push_back(self.outputs.mark());
  self.run->scopeBegin(static_cast<int32_t>(mode), site);
}

void scopeEnd(PTO2Runtime *runtime) {
  CallableRun &self = CallableRun::of(runtime);
  self.run->scopeEnd();
  if (!self.marks.empty()) {
    self.outputs.release(self.marks.back());
    self.marks.pop_back();
  }
}

uint64_t getData(PTO2Runtime *runtime, const ChipTensor *tensor, uint32_t ndims,
                 const uint32_t *indices) {
  int64_t wide[MAX_TENSOR_DIMS] = {};
  std::copy_n(indices, std::min(ndims, MAX_TENSOR_DIMS), wide);
  return CallableRun::of(runtime).run->getElement(*tensor, wide, ndims);
}

void setData(PTO2Runtime *runtime, const ChipTensor *tensor, uint32_t ndims,
             const uint32_t *indices, uint64_t bits) {
  int64_t wide[MAX_TENSOR_DIMS] = {};
  std::copy_n(indices, std::min(ndims, MAX_TENSOR_DIMS), wide);
  CallableRun &self = CallableRun::of(runtime);
  if (self.protects)
    self.saveIfReadOnly(*tensor);
  self.run->setElement(*tensor, wide, ndims, bits);
}

/// A graph is a scope of its own: its temporaries die with it.
PTO2TaskId submitGraph(PTO2Runtime *runtime, const SimplerOrchGraph *graph) {
  CallableRun &self = CallableRun::of(runtime);
  SimplerRun &run = *self.run;
  const ChipTensor *tensors[128];
  uint8_t tags[128];
  for (int32_t i = 0; i < graph->num_args; ++i) {
    tensors[i] = graph->args[i].tensor;
    tags[i] = static_cast<uint8_t>(graph->args[i].tag);
    if (graph->args[i].create) {
      run.fail(SIMPLER_INVALID_ARGS,
               "rt_submit_graph: argument %d is a TensorCreateInfo; a graph's boundary takes "
               "existing tensors only",
               i);
      return PTO2TaskId::invalid();
    }
  }
  GraphCall call;
  call.owner = self.callable->serial;
  call.id = graph->id;
  call.function = graph->function;
  call.config = graph->config;
  call.numConfig = graph->num_config;
  call.body = graph->body;
  call.context = graph->context;
  call.tensors = tensors;
  call.tags = tags;
  call.numTensors = graph->num_args;
  call.scalars = graph->scalars;
  call.numScalars = graph->num_scalars;
  call.scalarsRead = graph->scalars_read;
  call.plain = self.times != nullptr;
  if (self.protects) {
    call.beforeWrite = [](void *context, const ChipTensor &written) {
      static_cast<CallableRun *>(context)->saveIfReadOnly(written);
    };
    call.beforeWriteContext = &self;
  }
  DescriptorArena::Mark mark = self.outputs.mark();
  uint64_t id = run.submitGraph(call);
  self.outputs.release(mark);
  return PTO2TaskId{id};
}

const PTO2RuntimeOps kOps = {
    submitTask,
    scopeBegin,
    scopeEnd,
    [](PTO2Runtime *) {},
    [](PTO2Runtime *runtime) { return CallableRun::of(runtime).run->fatal() != 0; },
    [](PTO2Runtime *runtime, int32_t code, const char *text) {
      CallableRun::of(runtime).run->fail(code ? code : SIMPLER_EXPLICIT_ORCH_FATAL, "%s", text);
    },
    [](PTO2Runtime *, int32_t level, const char *text) { logMessage(level, text); },
    getData,
    setData,
    allocTensors,
    [](PTO2Runtime *runtime) { return CallableRun::of(runtime).run->device().geometry().clusters; },
    [](PTO2Runtime *runtime) {
      return CallableRun::of(runtime).run->device().geometry().vectorCores();
    },
    submitGraph,
};

} // namespace

extern "C" {

SimplerCallable *simpler_callable_load(const void *image, size_t bytes) {
  auto callable = std::make_unique<SimplerCallable>();
  std::string error;
  if (!callable->load(image, bytes, error)) {
    setLastError(error);
    return nullptr;
  }
  return callable.release();
}

void simpler_callable_free(SimplerCallable *callable) { delete callable; }

int32_t simpler_callable_run(SimplerWorker *worker, SimplerCallable *callable,
                             const ChipTensor *tensors, int32_t numTensors, const uint64_t *scalars,
                             int32_t numScalars, const SimplerCallOptions *options) {
  CallableRun self;
  self.ops = &kOps;
  self.pending_scope_mode = PTO2ScopeMode::AUTO;
  self.callable = callable;
  self.tensors = tensors;
  self.numTensors = numTensors;
  if (callable->direct) {
    if (std::string why = callable->mismatch(tensors, numTensors, numScalars); !why.empty()) {
      setLastError(why);
      return SIMPLER_INVALID_ARGS;
    }
  }
  for (int32_t direction : callable->signature)
    self.protects |= direction == static_cast<int32_t>(ArgDirection::IN);
  if (callable->config) {
    int32_t expected =
        callable->callConfig(callable->config, tensors, numTensors, scalars, numScalars);
    if (numTensors + numScalars < expected) {
      setLastError("'" + callable->entryName + "' expects " + std::to_string(expected) +
                   " arguments, the call gives " + std::to_string(numTensors) + " tensors and " +
                   std::to_string(numScalars) + " scalars");
      return 1;
    }
  }
  RunOptions runOptions;
  if (options) {
    Budgets &budgets = runOptions.budgets;
    for (int ring = 0; ring < 4; ++ring) {
      budgets.taskWindow[ring] = options->ring_task_window[ring];
      budgets.heapBytes[ring] = options->ring_heap[ring];
      budgets.depPool[ring] = options->ring_dep_pool[ring];
    }
    budgetsFromEnvironment("PTO2_RING_TASK_WINDOW", budgets.taskWindow);
    budgetsFromEnvironment("PTO2_RING_HEAP", budgets.heapBytes);
    budgetsFromEnvironment("PTO2_RING_DEP_POOL", budgets.depPool);
    for (int ring = 0; ring < 4; ++ring)
      budgets.limited |= budgets.taskWindow[ring] || budgets.depPool[ring];
    runOptions.recordFirst = options->host_build_graph != 0;
    if (options->interrupts)
      runOptions.interrupts = *options->interrupts;
    runOptions.cancelled = options->cancelled;
  }
  std::string error;
  Device &device = deviceOf(worker);
  std::unique_ptr<Recorder> recorder;
  bool diagnostics = options && (options->swimlane || options->dump_args || options->pmu ||
                                 options->dep_gen || options->scope_stats);
  RunTimes slots;
  bool timing = options && options->timing;
  if (timing)
    self.times = &slots;
  bool ownTrace =
      ((diagnostics && (options->swimlane || options->pmu)) || timing) && !device.tracing();
  if (ownTrace)
    device.startTrace({options->swimlane >= 3, options->pmu != 0});
  SimplerRunTimes &times = RunTimes::last();
  times = SimplerRunTimes{nanoseconds(), 0, 0, {}};
  int32_t status = runOrchestration(
      device, runOptions,
      [&](SimplerRun &run) {
        self.run = &run;
        struct Orchestrated {
          SimplerRunTimes &times;
          ~Orchestrated() { times.orchestrated = nanoseconds(); }
        } orchestrated{times};
        if (diagnostics) {
          recorder = std::make_unique<Recorder>(*options, callable, run.tag());
          run.recorder = self.recorder = recorder.get();
        }
        if (callable->direct) // generated code writes no parameter that it calls IN
          return callable->direct->fn(&run, tensors, scalars);
        callable->bind(&self);
        struct Unbind {
          SimplerCallable *callable;
          ~Unbind() { callable->bind(nullptr); }
        } unbind{callable};
        callable->call(callable->entry, tensors, numTensors, scalars, numScalars);
      },
      error);
  times.end = nanoseconds();
  self.restore();
  if (ownTrace)
    device.stopTrace();
  if (slots.any())
    slots.collect(device, times);
  std::string unwritten;
  if (recorder && !recorder->write(device, status != 0, unwritten) && status == 0) {
    status = SIMPLER_INVALID_ARGS;
    error = unwritten;
  }
  setLastError(error);
  return status;
}

} // extern "C"
