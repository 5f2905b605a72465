//===- KernelCall.h - a task's kernel is called with its argument words ---===//
#ifndef SIMPLER_KERNEL_CALL_H
#define SIMPLER_KERNEL_CALL_H

#include "Task.h"
#include "simpler/kernel_context.h"

namespace simpler {

/// Calls the kernel of one lane for one block. Returns what it registered for deferred completion,
/// in `list`, or null. The list belongs to the call: kernels may run other kernels, and change
/// threads. An exception fails the run.
const CompletionList *callKernel(Task *task, int32_t block, int32_t lane, CompletionList *list);

/// Reads the operand, sign-extends it and compares (spec 3.2).
bool predicateHolds(const Predicate &predicate);

struct TaskName {
  char text[160];
};
/// "t12 'kernel' (file.cpp:30)"
TaskName taskName(const Task *task);
TaskName taskName(uint64_t id, const SimplerKernel *kernel);

} // namespace simpler

#endif // SIMPLER_KERNEL_CALL_H
