//===- Team.cpp - blocks of a launch on threads that the program lends ----===//
#include "Team.h"

#include "KernelCall.h"
#include "PipeState.h"
#include "Run.h"

namespace simpler {

bool Executor::suitsTeam(const Task *task) const {
  if (task->blocks < 2 || task->run != owned_ || !device_.team() ||
      task->kind != TaskKind::Kernel || task->has(Task::kCoRun))
    return false;
  uint64_t each = kernelCost(task->kernel[0]);
  // Rings and counters of a trace belong to executors, which members are not.
  return each != kUnknownCost && each * static_cast<uint64_t>(task->blocks) >= kTeamTicks &&
         !device_.tracing() && !task->run->recorder;
}

bool Executor::executeInTeam(Task *task) {
  SimplerTeam team = device_.team();
  // Once a block is claimed, others may hold tickets of the task.
  if (!team || task->nextBlock.load(std::memory_order_relaxed) != 0)
    return false;
  uint64_t each = kernelCost(task->kernel[0]), all = each * static_cast<uint64_t>(task->blocks);
  if (teamDebt_ > all) {
    // Alone: threads of the worker would compete for the same cores.
    teamDebt_ -= all;
    for (int32_t block = 0; block < task->blocks && !task->run->halts(task); ++block)
      invoke(task, block, 0);
    task->nextBlock.store(task->blocks, std::memory_order_relaxed);
    dropTicket(task);
    return true;
  }
  struct Launch {
    Executor &owner;
    Task *task;
    TeamBlocks blocks;
    uint64_t done = 0; // when the owner found no more blocks
  } launch{*this, task, {task->blocks, device_.threads()}};
  auto member = [](void *context, int32_t index, int32_t members) {
    auto &launch = *static_cast<Launch *>(context);
    Task *task = launch.task;
    if (index == 0) {
      launch.blocks.work(0, members, [&](int32_t block) {
        if (!task->run->halts(task))
          launch.owner.invoke(task, block, 0);
      });
      launch.done = ticks();
      return;
    }
    CallPlace place = callPlace();
    launch.blocks.work(index, members, [&](int32_t block) {
      CompletionList list;
      if (!task->run->halts(task))
        if (const CompletionList *conditions = callKernel(task, block, 0, &list)) [[unlikely]]
          launch.owner.device_.addPending(task, *conditions);
    });
    setCallPlace(place);
  };
  if (!team(member, &launch))
    return false;
  // A member that has no core holds up the others at the end, maybe for a time slice. Then as much
  // work is done alone as was lost: half of the time at most should go that way.
  uint64_t waited = ticks() - launch.done;
  teamDebt_ = waited > each + kTeamTicks ? waited - each : 0;
  task->nextBlock.store(task->blocks, std::memory_order_relaxed);
  dropTicket(task);
  return true;
}

} // namespace simpler
