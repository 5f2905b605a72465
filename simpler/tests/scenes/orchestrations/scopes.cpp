// Scopes, explicit dependencies, dummy tasks, temporaries (spec 3.2-3.4).
#include "kernels.h"

ENTRY(manual_chain) {
  PTO2TaskId last = PTO2TaskId::invalid();
  PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
    for (int32_t i = 0; i < 10; ++i) {
      CoreTaskArgs task;
      task.add_inout(in.tensor(0).ref());
      task.add_scalar(int32_t{2}, i);
      task.set_dependencies(&last, last.is_valid());
      TaskOutputTensors made = rt_submit_aiv_task(AFFINE, task);
      last = made.task_id();
    }
  }
}
ENTRY(auto_inside_manual) { // a superset of the original: edges are found in the inner scope
  PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
    PTO2_SCOPE(PTO2ScopeMode::AUTO) {
      for (int32_t i = 0; i < 10; ++i)
        affine(in.tensor(0).ref(), 3, i);
    }
  }
}
ENTRY(nested_64) {
  for (int i = 0; i < 64; ++i)
    rt_scope_begin();
  affine(in.tensor(0).ref(), 1, 5);
  for (int i = 0; i < 64; ++i)
    rt_scope_end();
}
ENTRY(nested_65) {
  for (int i = 0; i < 65; ++i)
    rt_scope_begin();
}
ENTRY(scope_guard) {
  PTO2_SCOPE_GUARD();
  affine(in.tensor(0).ref(), 1, 5);
}
ENTRY(temporaries_reused) {
  const ChipTensor &x = in.tensor(0).ref();
  TensorCreateInfo like(x.shapes, x.ndims, DataType::INT32);
  for (int32_t i = 0; i < 100; ++i) {
    PTO2_SCOPE() {
      CoreTaskArgs one;
      one.add_input(x);
      one.add_output(like);
      one.add_scalar(i);
      TaskOutputTensors t = rt_submit_aiv_task(COPY, one);
      copy(t.get_ref(0), x);
    }
  }
}
ENTRY(alloc_forms) {
  const ChipTensor &x = in.tensor(0).ref();
  TensorCreateInfo like(x.shapes, x.ndims, DataType::INT32);
  like.set_initial_value(int32_t{40});
  TensorCreateInfo list[2] = {like, like};
  TaskOutputTensors a = alloc_tensors(like),
                    b = alloc_tensors(static_cast<const TensorCreateInfo *>(list), uint32_t{2});
  CoreTaskArgs wanted;
  wanted.add_output(like);
  TaskOutputTensors c = alloc_tensors(wanted);
  if (a.size() != 1 || b.size() != 2 || c.size() != 1 || !a.task_id().is_valid())
    rt_report_fatal(9, "sizes %u %u %u", a.size(), b.size(), c.size());
  CoreTaskArgs sum;
  sum.add_input(a.get_ref(0), b.get_ref(1));
  sum.add_output(c.get_ref(0));
  rt_submit_aiv_task(ADD, sum);
  copy(c.get_ref(0), x, 1);
}
ENTRY(dummy_fan_in) {
  const ChipTensor &x = in.tensor(0).ref();
  PTO2TaskId ids[8];
  PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
    for (uint32_t i = 0; i < 8; ++i)
      ids[i] = fill(cell(x, i), static_cast<int32_t>(i));
    CoreTaskArgs barrier;
    barrier.set_dependencies(ids, 8);
    TaskOutputTensors met = rt_submit_dummy_task(barrier);
    CoreTaskArgsWithDeps<4> after;
    after.add_input(x);
    after.add_output(in.tensor(1).ref());
    after.add_scalar(int32_t{1});
    after.add_dep(met.task_id());
    rt_submit_aiv_task(COPY, after);
  }
}
ENTRY(deps_with_gaps) { // invalid ids are ignored
  PTO2TaskId first = fill(in.tensor(0).ref(), 4);
  PTO2TaskId ids[3] = {PTO2TaskId::invalid(), first, PTO2TaskId::invalid()};
  CoreTaskArgs task;
  task.add_no_dep(in.tensor(0).ref());
  task.add_no_dep(in.tensor(1).ref());
  task.add_scalar(int32_t{0});
  task.set_dependencies(ids, 3);
  rt_submit_aiv_task(COPY, task);
}
ENTRY(fan_in_500) {
  const ChipTensor &x = in.tensor(0).ref();
  std::vector<PTO2TaskId> ids;
  PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
    for (uint32_t i = 0; i < 500; ++i) {
      ChipTensor one = cell(x, i);
      CoreTaskArgs task;
      task.add_inout(one);
      task.add_scalar(int32_t{1}, static_cast<int32_t>(i));
      TaskOutputTensors made = rt_submit_aiv_task(AFFINE, task);
      ids.push_back(made.task_id());
    }
    CoreTaskArgs task;
    task.add_input(x);
    task.add_output(in.tensor(1).ref());
    task.add_scalar(int32_t{0});
    task.set_dependencies(ids.data(), static_cast<int32_t>(ids.size()));
    rt_submit_aiv_task(COPY, task);
  }
}
ENTRY(early_resolve) { // a hint: results do not change
  for (int32_t i = 0; i < 10; ++i) {
    CoreTaskArgs task;
    task.add_inout(in.tensor(0).ref());
    task.add_scalar(int32_t{2}, i);
    task.set_allow_early_resolve();
    rt_submit_aiv_task(AFFINE, task);
  }
}
ENTRY(reset_keeps_launch_spec) {
  CoreTaskArgs task;
  task.launch_spec.set_block_num(3);
  task.add_inout(in.tensor(0).ref());
  rt_submit_aiv_task(INDEX, task);
  task.reset();
  task.add_inout(in.tensor(0).ref());
  rt_submit_aiv_task(INDEX, task);
}
// What a task may look at lives until it is complete, though the scope has ended and nobody names
// it: the memory would be that of `other` otherwise. Tensors: box, counter, result.
static PTO2TaskId held(const ChipTaskArgs &in) {
  CoreTaskArgs expect;
  expect.add_no_dep(in.tensor(0).ref(), in.tensor(1).ref());
  expect.add_scalar(uint32_t{1}, int32_t{1}, int32_t{0});
  return rt_submit_aiv_task(EXPECT, expect).task_id();
}
static void deliver(const ChipTaskArgs &in, PTO2TaskId after = PTO2TaskId::invalid()) {
  const DepFlags kind = DEP_RETAIN;
  CoreTaskArgs task;
  task.add_no_dep(in.tensor(0).ref(), in.tensor(1).ref());
  task.add_scalar(int32_t{0});
  task.set_dependencies_with_kinds(&after, &kind, 1);
  rt_submit_aiv_task(DELIVER, task);
}
static TensorCreateInfo filled(int32_t value) {
  const uint32_t four[1] = {4};
  TensorCreateInfo info(four, 1, DataType::INT32);
  info.set_initial_value(value);
  return info;
}
ENTRY(dependency_retains) {
  PTO2_SCOPE() {
    TensorCreateInfo five = filled(5);
    TaskOutputTensors made = alloc_tensors(five);
    const ChipTensor &own = made.get_ref(0);
    ChipTensor anonymous = make_tensor_external(own.data_as<int32_t>(), own.shapes, 1, own.dtype);
    CoreTaskArgsWithDeps<2> task;
    task.add_no_dep(anonymous, in.tensor(2).ref());
    task.add_scalar(int32_t{0});
    task.add_dep_wait(held(in));
    task.add_dep(made.task_id());
    rt_submit_aiv_task(COPY, task);
  }
  TensorCreateInfo other = filled(9);
  alloc_tensors(other);
  deliver(in);
}
ENTRY(predicate_retains) {
  PTO2_SCOPE() {
    TensorCreateInfo five = filled(5);
    TaskOutputTensors made = alloc_tensors(five);
    CoreTaskArgsWithDeps<1> task;
    task.add_inout(in.tensor(2).ref());
    task.add_scalar(int32_t{2}, int32_t{1});
    task.set_predicate({{&made.get_ref(0), 1, {3}}, PredicateOp::EQ, 5});
    task.add_dep(held(in));
    rt_submit_aiv_task(AFFINE, task);
  }
  TensorCreateInfo other = filled(9);
  alloc_tensors(other);
  deliver(in);
}
ENTRY(retaining_is_no_waiting) { deliver(in, held(in)); }
ENTRY(predicate_of_an_ended_scope) {
  ChipTensor gone;
  PTO2_SCOPE() {
    TensorCreateInfo five = filled(5);
    TaskOutputTensors made = alloc_tensors(five);
    gone = made.get_ref(0);
  }
  CoreTaskArgs task;
  task.add_inout(in.tensor(2).ref());
  task.add_scalar(int32_t{2}, int32_t{1});
  task.set_predicate({{&gone, 1, {3}}, PredicateOp::EQ, 5});
  rt_submit_aiv_task(AFFINE, task);
}
