// What a recorded graph may and may not replay (spec 3.6). Each scene calls graphs several times;
// scenes run twice on one worker, so that the second run replays from its first call on.
#include "kernels.h"

static GraphSubmitResult call(GraphFunction body, const ChipTensor &x, const ChipTensor &y,
                              int32_t word = 0) {
  GraphTaskArgs args;
  args.add_inout(x, y);
  args.add_scalar(word);
  return rt_submit_graph(body, args);
}

static int32_t copiedBodies = 0;
static void passesOn(const GraphTaskArgs &in) {
  ++copiedBodies;
  CoreTaskArgs task;
  task.add_inout(in.tensor(0).ref());
  task.copy_scalars_from(in, 0, 1);
  task.add_scalar(int32_t{1});
  rt_submit_aiv_task(AFFINE, task);
}
ENTRY(copied_scalars) { // other values of a copied scalar need no run of the body
  for (int32_t i = 1; i <= 5; ++i)
    call(&passesOn, in.tensor(0).ref(), in.tensor(1).ref(), i);
  fill(in.tensor(1).ref(), copiedBodies <= 2); // once, and once when the arrays lie elsewhere
}
static void derives(const GraphTaskArgs &in) {
  int32_t n = static_cast<int32_t>(in.scalar(0));
  for (int32_t i = 0; i < n % 3; ++i)
    affine(in.tensor(0).ref(), 2, n + i);
}
ENTRY(derived_scalars) { // values and the number of tasks depend on the scalar
  for (int32_t n : {1, 2, 4, 2, 3, 5, 1, 8})
    call(&derives, in.tensor(0).ref(), in.tensor(1).ref(), n);
}
static void crosswise(const GraphTaskArgs &in) {
  copy(in.tensor(0).ref(), in.tensor(1).ref(), 1);
  copy(in.tensor(1).ref(), in.tensor(0).ref(), 1);
  affine(in.tensor(1).ref(), 2, 0);
}
ENTRY(aliasing_changes) { // distances between the two arguments: 8, 8, 2, 0, -2, 8
  const uint32_t places[6][2] = {{0, 8}, {4, 12}, {4, 6}, {4, 4}, {8, 6}, {0, 8}};
  for (auto &at : places)
    call(&crosswise, cell(in.tensor(0).ref(), at[0], 4), cell(in.tensor(0).ref(), at[1], 4));
}
ENTRY(shapes_change) {
  for (uint32_t n : {4, 4, 2, 4, 1, 2})
    call(&crosswise, cell(in.tensor(0).ref(), 0, n), cell(in.tensor(0).ref(), 8, n));
}
static void temporaries(const GraphTaskArgs &in) {
  const ChipTensor &x = in.tensor(0).ref();
  TensorCreateInfo like(x.shapes, x.ndims, DataType::INT32);
  like.set_initial_value(int32_t{3});
  TaskOutputTensors three = alloc_tensors(like);
  PTO2_SCOPE() {
    TensorCreateInfo plain(x.shapes, x.ndims, DataType::INT32);
    CoreTaskArgs first;
    first.add_input(three.get_ref(0));
    first.add_output(plain);
    first.add_scalar(int32_t{4});
    TaskOutputTensors seven = rt_submit_aiv_task(COPY, first);
    affine(three.get_ref(0), 0, 0); // what it was filled with must be back in the next call
    CoreTaskArgs second;
    second.add_input(seven.get_ref(0), x);
    second.add_output(x);
    rt_submit_aiv_task(ADD, second);
  }
}
ENTRY(internal_tensors) {
  for (uint32_t i = 0; i < 8; ++i)
    call(&temporaries, cell(in.tensor(0).ref(), 4 * (i % 4), 4), in.tensor(1).ref());
}
static void manual(const GraphTaskArgs &in) {
  PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
    PTO2TaskId before = PTO2TaskId::invalid();
    for (int32_t i = 0; i < 4; ++i) {
      CoreTaskArgs task;
      task.add_inout(in.tensor(0).ref());
      task.add_scalar(int32_t{2}, i);
      task.set_dependencies(&before, 1);
      before = rt_submit_aiv_task(AFFINE, task).task_id();
    }
    PTO2_SCOPE() { affine(in.tensor(1).ref(), 3, 1); }
  }
  affine(in.tensor(1).ref(), 2, 0);
}
ENTRY(manual_scope) {
  for (int i = 0; i < 3; ++i)
    call(&manual, in.tensor(0).ref(), in.tensor(1).ref());
}
static void launches(const GraphTaskArgs &in) {
  const ChipTensor &x = in.tensor(0).ref(), &y = in.tensor(1).ref();
  CoreTaskArgs wide;
  wide.add_inout(x);
  wide.launch_spec.set_block_num(20);
  rt_submit_aiv_task(INDEX, wide);
  ChipTensor arrived = cell(y, 0), sum = cell(y, 1), triple = cell(y, 3, 3);
  CoreTaskArgs gang;
  gang.add_inout(arrived, sum);
  gang.copy_scalars_from(in, 0, 1);
  gang.add_scalar(int32_t{1});
  gang.launch_spec.set_block_num(8);
  gang.launch_spec.set_require_sync_start(true);
  rt_submit_aiv_task(MEET, gang);
  CoreTaskArgs lane;
  lane.add_inout(triple);
  lane.add_scalar(int32_t{10});
  rt_submit_task({LANE_AIC, LANE_AIV, LANE_AIV}, lane);
}
ENTRY(spmd_and_cohorts) {
  for (int32_t i = 1; i <= 4; ++i)
    call(&launches, in.tensor(0).ref(), in.tensor(1).ref(), 8 * i);
}
static void whenOne(const GraphTaskArgs &in) {
  CoreTaskArgs task;
  task.add_inout(in.tensor(0).ref());
  task.add_scalar(int32_t{1}, int32_t{5});
  CoreTaskPredicate when;
  when.operand.tensor = &in.tensor(1).ref();
  when.operand.ndims = 1;
  when.op = PredicateOp::EQ;
  when.target = 1;
  task.set_predicate(when);
  rt_submit_aiv_task(AFFINE, task);
}
ENTRY(predicate_moves) {
  for (uint32_t i = 0; i < 6; ++i)
    call(&whenOne, cell(in.tensor(0).ref(), i), cell(in.tensor(1).ref(), i));
}
static void looks(const GraphTaskArgs &in) {
  uint32_t at[1] = {0};
  affine(in.tensor(0).ref(), 1, get_tensor_data<int32_t>(in.tensor(1).ref(), 1, at));
}
ENTRY(reads_data) { // cannot be replayed: runs each time
  for (int32_t i = 0; i < 3; ++i) {
    call(&looks, in.tensor(0).ref(), in.tensor(1).ref());
    if (i == 1) {
      uint32_t at[1] = {0};
      set_tensor_data(in.tensor(1).ref(), 1, at, int32_t{100});
    }
  }
}
static void countsToFour(const GraphTaskArgs &in) {
  affine(in.tensor(1).ref(), 1, 1);
  CoreTaskArgs task;
  task.add_inout(in.tensor(0).ref());
  CoreTaskPredicate when;
  when.operand.tensor = &in.tensor(1).ref();
  when.operand.ndims = 1;
  when.op = PredicateOp::EQ;
  when.target = 4;
  task.set_predicate(when);
  rt_submit_aiv_task(THROW, task);
}
ENTRY(error_in_replay) { // the third call throws
  for (int i = 0; i < 5; ++i)
    call(&countsToFour, in.tensor(0).ref(), in.tensor(1).ref());
}
ENTRY(boundary_creates) {
  GraphTaskArgs args;
  TensorCreateInfo info(in.tensor(0).ref().shapes, 1, DataType::INT32);
  args.add_output(info);
  rt_submit_graph(&passesOn, args);
}
ENTRY(boundary_depends) {
  PTO2TaskId id = affine(in.tensor(0).ref(), 1, 0);
  GraphTaskArgs args;
  args.add_inout(in.tensor(0).ref());
  args.set_dependencies(&id, 1);
  rt_submit_graph(&passesOn, args);
}
ENTRY(boundary_too_wide) {
  GraphTaskArgs args;
  for (int i = 0; i < 129; ++i)
    args.add_input(in.tensor(0).ref());
  rt_submit_graph(&passesOn, args);
}
static void many(const GraphTaskArgs &in) {
  for (int32_t i = 0; i < in.tensor_count(); ++i)
    affine(in.tensor(i).ref(), 2, i);
}
ENTRY(boundary_of_128) {
  ChipTensor parts[128];
  for (uint32_t shift : {0u, 128u, 256u}) {
    GraphTaskArgs args;
    for (uint32_t i = 0; i < 128; ++i) {
      parts[i] = cell(in.tensor(0).ref(), shift + i);
      args.add_inout(parts[i]);
    }
    rt_submit_graph(GRAPH_KEY("many"), &many, args);
  }
}
