//===- KernelCall.cpp - argument words, predicates, exceptions ------------===//
#include "KernelCall.h"
#include "Gang.h"
#include "PipeState.h"
#include "Run.h"

#include <exception>
#include <sched.h>

namespace simpler {

/// A kernel that is no context of a gang may run on a context's fiber all the same, in a run which
/// that context has started: such a run stays on its thread.
static void yieldBlock() {
  if (!callPlace().states || !Fiber::yield())
    sched_yield();
}

const CompletionList *callKernel(Task *task, int32_t block, int32_t lane, CompletionList *list) {
  list->count = list->invalid = 0;
  LocalContext local{block, task->blocks, {list, task->id}};
  GlobalContext global{static_cast<int32_t>(task->subBlock(lane)), {}, yieldBlock};

  int64_t args[50];
  uint32_t word = 0;
  for (ChipTensor *tensor = task->tensors(); word < task->numTensors; ++word)
    args[word] = static_cast<int64_t>(reinterpret_cast<uintptr_t>(tensor + word));
  std::memcpy(args + word, task->scalars(), task->numScalars * sizeof(uint64_t));
  args[kLocalContextWord] = static_cast<int64_t>(reinterpret_cast<uintptr_t>(&local));
  args[kGlobalContextWord] = static_cast<int64_t>(reinterpret_cast<uintptr_t>(&global));

  setCallPlace(
      {task->has(Task::kCoRun) ? &task->extra->gang->pipes : nullptr, block, task->subBlock(lane)});
  SimplerRun *run = task->run;
  try {
    task->kernel[lane]->fn(args);
  } catch (const std::exception &error) {
    run->fail(SIMPLER_KERNEL_FAILED, "task %s threw an exception: %s", taskName(task).text,
              error.what());
  } catch (...) {
    run->fail(SIMPLER_KERNEL_FAILED, "task %s threw something that is no std::exception",
              taskName(task).text);
  }
  if (list->count == 0 && list->invalid == 0) [[likely]]
    return nullptr;
  if (list->invalid)
    run->fail(SIMPLER_ASYNC_COMPLETION_INVALID,
              "task %s registered a completion condition without a counter address, or with one "
              "that is not aligned to 4 bytes",
              taskName(task).text);
  else if (list->count > kMaxCompletionConditions)
    run->fail(SIMPLER_ASYNC_WAIT_OVERFLOW,
              "task %s registered %u completion conditions; at most %u are possible",
              taskName(task).text, list->count, kMaxCompletionConditions);
  return run->fatal() ? nullptr : list;
}

bool predicateHolds(const Predicate &predicate) {
  int64_t value = 0;
  const void *at = reinterpret_cast<const void *>(static_cast<uintptr_t>(predicate.address));
  auto read = [&]<typename T>(T) {
    T narrow;
    std::memcpy(&narrow, at, sizeof(T));
    value = narrow;
  };
  switch (predicate.bytes) {
  case 1:
    read(int8_t());
    break;
  case 2:
    read(int16_t());
    break;
  case 4:
    read(int32_t());
    break;
  default:
    read(int64_t());
    break;
  }
  switch (predicate.op) {
  case SIMPLER_PRED_EQ:
    return value == predicate.target;
  case SIMPLER_PRED_NE:
    return value != predicate.target;
  case SIMPLER_PRED_GT:
    return value > predicate.target;
  case SIMPLER_PRED_LT:
    return value < predicate.target;
  case SIMPLER_PRED_GE:
    return value >= predicate.target;
  case SIMPLER_PRED_LE:
    return value <= predicate.target;
  default:
    return true;
  }
}

TaskName taskName(uint64_t raw, const SimplerKernel *kernel) {
  TaskName result;
  PTO2TaskId id{raw};
  char number[40];
  if (id.ring())
    std::snprintf(number, sizeof(number), "r%ut%u", id.ring(), id.local());
  else
    std::snprintf(number, sizeof(number), "t%u", id.local());
  const char *name = kernel && kernel->name ? kernel->name : kernel ? "?" : "dummy";
  if (kernel && kernel->file)
    std::snprintf(result.text, sizeof(result.text), "%s '%s' (%s:%d)", number, name, kernel->file,
                  kernel->line);
  else
    std::snprintf(result.text, sizeof(result.text), "%s '%s'", number, name);
  return result;
}

TaskName taskName(const Task *task) { return taskName(task->id, task->kernel[0]); }

} // namespace simpler
