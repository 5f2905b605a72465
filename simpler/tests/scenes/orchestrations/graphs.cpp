// host_build_graph and rt_submit_graph (spec 1.3, 3.6).
#include "kernels.h"

static void twice(const GraphTaskArgs &in) {
  const ChipTensor &x = in.tensor(0).ref(), &y = in.tensor(1).ref();
  TensorCreateInfo like(x.shapes, x.ndims, DataType::INT32);
  CoreTaskArgs first;
  first.add_input(x);
  first.add_output(like);
  first.add_scalar(static_cast<int32_t>(in.scalar(0)) * 2); // derived from a boundary scalar
  TaskOutputTensors t = rt_submit_aiv_task(COPY, first);
  CoreTaskArgs second;
  second.add_input(t.get_ref(0), y);
  second.add_inout(y);
  rt_submit_aiv_task(ADD, second);
}
ENTRY(graph_calls) {
  for (int32_t call = 0; call < 9; ++call) {
    ChipTensor x = cell(in.tensor(0).ref(), 4 * (call % 3), 4);
    GraphTaskArgs args;
    args.add_input(x);
    args.add_inout(in.tensor(1).ref());
    args.add_scalar(call);
    rt_submit_graph(&twice, args);
  }
}
static void scaled(const GraphTaskArgs &in, int32_t factor) {
  affine(in.tensor(0).ref(), factor, 1);
}
ENTRY(graph_with_config) {
  for (int32_t factor : {2, 3, 2}) {
    GraphTaskArgs args;
    args.add_inout(in.tensor(0).ref());
    rt_submit_graph(GRAPH_KEY("scaled"), &scaled, args, factor);
  }
}
ENTRY(graph_task_id) { // the id stands for the whole graph
  GraphTaskArgs args;
  args.add_inout(in.tensor(0).ref());
  GraphSubmitResult graph = rt_submit_graph(&scaled, args, 5);
  CoreTaskArgs after;
  after.add_no_dep(in.tensor(0).ref(), in.tensor(1).ref());
  after.add_scalar(int32_t{0});
  after.set_dependencies(&graph.task_id, 1);
  rt_submit_aiv_task(COPY, after);
}
static void chain(const GraphTaskArgs &in) { // overlapping tasks inside the body keep their order
  for (int32_t i = 0; i < 5; ++i)
    affine(in.tensor(0).ref(), 2, i);
}
ENTRY(graph_inner_order) {
  for (int call = 0; call < 2; ++call) {
    GraphTaskArgs args;
    args.add_inout(in.tensor(0).ref());
    rt_submit_graph(&chain, args);
  }
}
ENTRY(built_first) {
  for (int32_t i = 0; i < 30; ++i)
    affine(in.tensor(0).ref(), i % 3, i);
}
ENTRY(read_host_input) {
  uint32_t at[1] = {1};
  int32_t steps = get_tensor_data<int32_t>(in.tensor(0).ref(), 1, at);
  for (int32_t i = 0; i < steps; ++i)
    affine(in.tensor(1).ref(), 2, i);
}
ENTRY(read_unborn) { // a producer is submitted but cannot run yet
  uint32_t at[1] = {0};
  fill(in.tensor(0).ref(), 3);
  get_tensor_data<int32_t>(in.tensor(0).ref(), 1, at);
}
