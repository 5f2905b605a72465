// func_ids of the scenes and short ways to submit.
#pragma once
#include "pto_arg_with_deps.h"

enum : int32_t {
  ADD,
  AFFINE,
  COPY,
  FILL,
  INDEX,
  LANE_AIC,
  LANE_AIV,
  MEET_AIC,
  MEET,
  EXPECT,
  DELIVER,
  MATMUL,
  ATTENTION,
  DIVIDE,
  THROW,
  WAIT
};
#define ENTRY(name)                                                                                \
  extern "C" __attribute__((visibility("default"))) void name(const ChipTaskArgs &in)

inline PTO2TaskId affine(const ChipTensor &x, int32_t a, int32_t b) {
  CoreTaskArgs task;
  task.add_inout(x);
  task.add_scalar(a, b);
  TaskOutputTensors made = rt_submit_aiv_task(AFFINE, task);
  return made.task_id();
}
inline PTO2TaskId copy(const ChipTensor &from, const ChipTensor &to, int32_t k = 0) {
  CoreTaskArgs task;
  task.add_input(from);
  task.add_output(to);
  task.add_scalar(k);
  TaskOutputTensors made = rt_submit_aiv_task(COPY, task);
  return made.task_id();
}
inline PTO2TaskId fill(const ChipTensor &to, int32_t value) {
  CoreTaskArgs task;
  task.add_output(to);
  task.add_scalar(value);
  TaskOutputTensors made = rt_submit_aiv_task(FILL, task);
  return made.task_id();
}
inline ChipTensor cell(const ChipTensor &t, uint32_t at, uint32_t count = 1) {
  return t.view(&count, &at);
}
