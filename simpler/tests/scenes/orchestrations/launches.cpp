// SPMD, lanes, cohorts, predicates, geometry, deferred completion (spec 3.3, 4.3, 7.2).
#include "kernels.h"

static void spmd(const ChipTensor &x, int32_t blocks) {
  CoreTaskArgs task;
  task.add_inout(x);
  task.launch_spec.set_block_num(blocks);
  rt_submit_aiv_task(INDEX, task);
}
ENTRY(spmd_one) { spmd(in.tensor(0).ref(), 1); }
ENTRY(spmd_many) { spmd(in.tensor(0).ref(), 200); }
ENTRY(spmd_none) { spmd(in.tensor(0).ref(), 0); }
ENTRY(spmd_chain) {
  for (int32_t n : {5, 50, 7, 100, 1})
    spmd(in.tensor(0).ref(), n);
}
ENTRY(core_num_spelling) {
  CoreTaskArgs task;
  task.add_inout(in.tensor(0).ref());
  task.launch_spec.set_core_num(4);
  rt_submit_aiv_task(INDEX, task);
}
ENTRY(geometry) {
  uint32_t at[1] = {0}, next[1] = {1};
  set_tensor_data(in.tensor(0).ref(), 1, at, rt_available_cluster_count());
  set_tensor_data(in.tensor(0).ref(), 1, next, rt_available_aiv_count());
}
static void mix(const ChipTensor &x, int32_t blocks, int32_t aic, int32_t aiv0, int32_t aiv1,
                int32_t value) {
  CoreTaskArgs task;
  task.add_inout(x);
  task.add_scalar(value);
  task.launch_spec.set_block_num(blocks);
  rt_submit_task(MixedKernels{aic, aiv0, aiv1}, task);
}
ENTRY(mix_all_lanes) { mix(in.tensor(0).ref(), 1, LANE_AIC, LANE_AIV, LANE_AIV, 10); }
ENTRY(mix_two_lanes) {
  mix(in.tensor(0).ref(), 1, LANE_AIC, LANE_AIV, -1, 10);
  mix(in.tensor(0).ref(), 1, -1, LANE_AIV, LANE_AIV, 100);
}
ENTRY(mix_spmd) { mix(in.tensor(0).ref(), 30, LANE_AIC, LANE_AIV, LANE_AIV, 1); }
static void meet(const ChipTensor &arrived, const ChipTensor &sum, int32_t blocks, int32_t lanes,
                 bool yields) {
  CoreTaskArgs task;
  task.add_inout(arrived, sum);
  task.add_scalar(blocks * lanes, static_cast<int32_t>(yields));
  task.launch_spec.set_block_num(blocks);
  task.launch_spec.set_require_sync_start(true);
  MixedKernels kernels;
  if (lanes != 2)
    kernels.aic_kernel_id = MEET_AIC;
  if (lanes >= 2)
    kernels.aiv0_kernel_id = kernels.aiv1_kernel_id = MEET;
  rt_submit_task(kernels, task);
}
ENTRY(cohort_yielding) {
  for (uint32_t i = 0; i < 8; ++i)
    meet(cell(in.tensor(0).ref(), i), cell(in.tensor(1).ref(), i), 8, 1, true);
}
ENTRY(cohort_spinning) {
  meet(cell(in.tensor(0).ref(), 0), cell(in.tensor(1).ref(), 0), 4, 1, false);
}
ENTRY(cohort_of_all_lanes) {
  meet(cell(in.tensor(0).ref(), 0), cell(in.tensor(1).ref(), 0), 8, 3, true);
}
ENTRY(cohort_vector_pairs) {
  meet(cell(in.tensor(0).ref(), 0), cell(in.tensor(1).ref(), 0), 8, 2, true);
}
ENTRY(cohort_among_plain_tasks) {
  for (uint32_t i = 0; i < 8; ++i) {
    affine(cell(in.tensor(1).ref(), i), 1, 1000);
    meet(cell(in.tensor(0).ref(), i), cell(in.tensor(1).ref(), i), 6, 1, true);
    affine(cell(in.tensor(1).ref(), i), 2, 0);
  }
}
ENTRY(cohort_too_wide) { meet(in.tensor(0).ref(), in.tensor(1).ref(), 9, 1, true); }
static void guarded(const ChipTensor &x, const ChipTensor &flag, uint32_t at, PredicateOp op,
                    int64_t target) {
  CoreTaskArgs task;
  task.add_inout(x);
  task.add_scalar(int32_t{1}, int32_t{1});
  CoreTaskPredicate when;
  when.operand.tensor = &flag;
  when.operand.ndims = 1;
  when.operand.indices[0] = at;
  when.op = op;
  when.target = target;
  task.set_predicate(when);
  rt_submit_aiv_task(AFFINE, task);
}
ENTRY(predicates) {
  PredicateOp all[] = {PredicateOp::EQ, PredicateOp::NE, PredicateOp::GT,
                       PredicateOp::LT, PredicateOp::GE, PredicateOp::LE};
  for (uint32_t op = 0; op < 6; ++op)
    for (uint32_t i = 0; i < 3; ++i)
      guarded(cell(in.tensor(1).ref(), 3 * op + i), in.tensor(0).ref(), i, all[op], 5);
}
ENTRY(predicate_after_writer) { // decided when the operand's writer is done
  for (int32_t i = 1; i <= 10; ++i) {
    fill(in.tensor(0).ref(), i);
    guarded(in.tensor(1).ref(), in.tensor(0).ref(), 0, PredicateOp::EQ, i);
  }
}
ENTRY(skipped_task_releases) { // consumers of a skipped task run
  guarded(in.tensor(1).ref(), in.tensor(0).ref(), 0, PredicateOp::EQ, 12345);
  affine(in.tensor(1).ref(), 1, 50);
}
ENTRY(predicate_out_of_range) {
  guarded(in.tensor(1).ref(), in.tensor(0).ref(), 99, PredicateOp::EQ, 0);
}
static void deferred(const ChipTaskArgs &in, int32_t conditions, int32_t malformed) {
  const ChipTensor &box = in.tensor(0).ref(), &counter = in.tensor(1).ref();
  CoreTaskArgs expect;
  expect.add_inout(box);
  expect.add_no_dep(counter);
  expect.add_scalar(uint32_t{4}, conditions, malformed);
  rt_submit_aiv_task(EXPECT, expect);
  for (int32_t i = 0; i < 4; ++i) {
    CoreTaskArgs task;
    task.add_no_dep(box, counter);
    task.add_scalar(i);
    rt_submit_aiv_task(DELIVER, task);
  }
  copy(box, in.tensor(2).ref(), 100);
}
ENTRY(deferred_one) { deferred(in, 1, 0); }
ENTRY(deferred_64) { deferred(in, 64, 0); }
ENTRY(deferred_65) { deferred(in, 65, 0); }
ENTRY(deferred_malformed) { deferred(in, 1, 1); }
