// Timing slots and scopes, for the tools that read what runs leave (spec 11.4); a run that waits to
// be let go.
#include "kernels.h"

ENTRY(two_slots) {
  for (int32_t i = 0; i < 6; ++i) {
    PTO2_SCOPE() {
      CoreTaskArgs task;
      task.add_inout(in.tensor(0).ref());
      task.add_scalar(1, 1);
      if (i < 4)
        task.set_task_timing_slot(i < 3 ? 2 : 15);
      rt_submit_aiv_task(AFFINE, task);
    }
  }
}
ENTRY(held) {
  CoreTaskArgs task;
  task.add_inout(in.tensor(0).ref());
  rt_submit_aiv_task(WAIT, task);
}
// Counts in the second cell, waits for the first, counts again.
ENTRY(held_then_counted) {
  const ChipTensor &x = in.tensor(0).ref();
  affine(cell(x, 1), 1, 1);
  CoreTaskArgs task;
  task.add_inout(x);
  rt_submit_aiv_task(WAIT, task);
  affine(cell(x, 1), 1, 1);
}
