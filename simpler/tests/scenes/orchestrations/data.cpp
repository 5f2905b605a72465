// Reads and writes from the orchestration, budgets, errors, logging (spec 3.5, 7.3-7.5).
#include "kernels.h"

ENTRY(read_between_tasks) { // the loop's length depends on what tasks computed
  uint32_t at[1] = {0};
  while (get_tensor_data<int32_t>(in.tensor(0).ref(), 1, at) < 100)
    affine(in.tensor(0).ref(), 2, 1);
}
ENTRY(write_between_tasks) {
  uint32_t at[1] = {0};
  for (int32_t i = 0; i < 6; ++i) {
    copy(in.tensor(0).ref(), cell(in.tensor(1).ref(), i)); // reader of what is written next
    set_tensor_data(in.tensor(0).ref(), 1, at, i + 1);
  }
}
ENTRY(read_every_type) {
  uint32_t n[1] = {3}, at[1] = {2};
  TensorCreateInfo i8(n, 1, DataType::INT8), u16(n, 1, DataType::UINT16), f(n, 1),
      i64(n, 1, DataType::INT64);
  i8.set_initial_value(int8_t{-7});
  u16.set_initial_value(uint16_t{65000});
  f.set_initial_value(0.5f);
  i64.set_initial_value(int64_t{-5000000000});
  TaskOutputTensors t = alloc_tensors(i8, u16, f, i64);
  int64_t sum = get_tensor_data<int8_t>(t.get_ref(0), 1, at) +
                get_tensor_data<uint16_t>(t.get_ref(1), 1, at) +
                static_cast<int64_t>(2 * get_tensor_data<float>(t.get_ref(2), 1, at)) +
                get_tensor_data<int64_t>(t.get_ref(3), 1, at);
  uint32_t first[1] = {0};
  set_tensor_data(in.tensor(0).ref(), 1, first, static_cast<int32_t>(sum + 5000000000));
}
ENTRY(read_out_of_range) {
  uint32_t at[1] = {4};
  get_tensor_data<int32_t>(in.tensor(0).ref(), 1, at);
}
ENTRY(entry_scalars) {
  uint32_t at[1] = {0}, next[1] = {1};
  set_tensor_data(in.tensor(0).ref(), 1, at, static_cast<int32_t>(in.scalar(0)));
  set_tensor_data(in.tensor(0).ref(), 1, next,
                  static_cast<int32_t>(from_u64<float>(in.scalar(1)) * 4));
}
ENTRY(no_task) {}
ENTRY(stop_with_42) {
  affine(in.tensor(0).ref(), 1, 1);
  rt_report_fatal(42, "stopped at %d", 7);
  if (!rt_is_fatal())
    __builtin_trap();
  affine(in.tensor(0).ref(), 0, 0);
}
ENTRY(unknown_kernel) {
  CoreTaskArgs task;
  rt_submit_aiv_task(999, task);
}
ENTRY(no_lane) {
  CoreTaskArgs task;
  rt_submit_task(MixedKernels{}, task);
}
ENTRY(tensor_after_scalar) {
  CoreTaskArgs task;
  task.add_scalar(1);
  task.add_inout(in.tensor(0).ref());
  rt_submit_aiv_task(AFFINE, task);
}
ENTRY(seventeen_scalars) {
  CoreTaskArgs task;
  for (int i = 0; i < 17; ++i)
    task.add_scalar(i);
  rt_submit_aiv_task(AFFINE, task);
}
ENTRY(view_leaves_tensor) { affine(cell(in.tensor(0).ref(), 3, 2), 1, 1); }
ENTRY(reshape_strided) {
  uint32_t flat[1] = {2};
  affine(in.tensor(0).ref().slice(0, 0, 4, 2).reshape(flat, 1), 1, 1);
}
ENTRY(forged_id) {
  PTO2TaskId id = PTO2TaskId::make(0, 77);
  CoreTaskArgs task;
  task.add_inout(in.tensor(0).ref());
  task.add_scalar(1, 1);
  task.set_dependencies(&id, 1);
  rt_submit_aiv_task(AFFINE, task);
}
ENTRY(throwing_kernel) {
  CoreTaskArgs task;
  task.add_inout(in.tensor(0).ref());
  rt_submit_aiv_task(THROW, task);
  affine(in.tensor(0).ref(), 0, 0);
}
ENTRY(throwing_orchestration) { throw std::vector<int>::size_type{3}; }
ENTRY(dangling_output) {
  TaskOutputTensors t;
  PTO2_SCOPE() {
    TensorCreateInfo info(in.tensor(0).ref().shapes, 1, DataType::INT32);
    t = alloc_tensors(info);
  }
  copy(t.get_ref(0), in.tensor(0).ref());
}
ENTRY(heap_in_one_scope) {
  uint32_t n[1] = {256};
  TensorCreateInfo info(n, 1, DataType::INT32);
  for (int i = 0; i < 50; ++i)
    alloc_tensors(info);
}
ENTRY(heap_scope_by_scope) {
  uint32_t n[1] = {256};
  TensorCreateInfo info(n, 1, DataType::INT32);
  for (int32_t i = 0; i < 50; ++i) {
    PTO2_SCOPE() {
      TaskOutputTensors t = alloc_tensors(info);
      fill(t.get_ref(0), i);
      copy(cell(t.get_ref(0), 5, 4), in.tensor(0).ref(), 1);
    }
  }
}
ENTRY(logging) {
  LOG_INFO("info %d", 1);
  LOG_ERROR("error %s", "text");
  affine(in.tensor(0).ref(), 1, 1);
}
