// Read-after-write, write-after-read, write-after-write, through views and aliases (spec 6).
#include "kernels.h"

ENTRY(raw_chain) {
  for (int32_t i = 0; i < 40; ++i)
    affine(in.tensor(0).ref(), i % 3, i);
}
ENTRY(war) { // the reader is slow to start, the writer must wait
  for (uint32_t i = 0; i < 12; ++i) {
    ChipTensor row = cell(in.tensor(1).ref(), 8 * i, 8);
    copy(in.tensor(0).ref(), row);
    fill(in.tensor(0).ref(), static_cast<int32_t>(i));
  }
}
ENTRY(waw) {
  for (int32_t i = 0; i < 12; ++i)
    fill(in.tensor(0).ref(), i);
}
ENTRY(waw_partial) { // a later small write stays on top of an earlier large one
  fill(in.tensor(0).ref(), 1);
  fill(cell(in.tensor(0).ref(), 3, 2), 2);
  fill(cell(in.tensor(0).ref(), 4, 4), 3);
}
ENTRY(other_base) { // the same memory through a descriptor of its own
  const ChipTensor &x = in.tensor(0).ref();
  uint32_t shape[1] = {4};
  ChipTensor tail = make_tensor_external(x.data_as<int32_t>() + 4, shape, 1, DataType::INT32);
  fill(x, 5);
  affine(tail, 2, 1);
  copy(cell(x, 4, 4), in.tensor(1).ref());
}
ENTRY(column_tiles) { // disjoint columns, then a reader of all
  const ChipTensor &x = in.tensor(0).ref();
  for (uint32_t c = 0; c < 6; ++c) {
    uint32_t shape[2] = {x.shapes[0], 1}, at[2] = {0, c};
    fill(x.view(shape, at), static_cast<int32_t>(c));
  }
  copy(x, in.tensor(1).ref(), 10);
}
ENTRY(transposed_reader) {
  const ChipTensor &x = in.tensor(0).ref();
  fill(x, 3);
  uint32_t shape[2] = {2, x.shapes[1]}, at[2] = {1, 0};
  affine(x.view(shape, at), 1, 4);
  copy(x.transpose(0, 1), in.tensor(1).ref());
}
ENTRY(permuted_and_sliced) {
  const ChipTensor &x = in.tensor(0).ref();
  affine(x, 2, 0);
  uint32_t order[2] = {1, 0};
  copy(x.permute(order).slice(0, 1, 6, 2), in.tensor(1).ref(), 1);
}
ENTRY(stepped_slices) { // even and odd elements do not meet, the whole meets both
  const ChipTensor &x = in.tensor(0).ref();
  affine(x.slice(0, 0, 16, 2), 1, 100);
  affine(x.slice(0, 1, 16, 2), 1, 200);
  affine(x, 2, 0);
}
ENTRY(element_types_alias) { // bytes written through another element type
  const ChipTensor &x = in.tensor(0).ref();
  uint32_t shape[1] = {x.shapes[0] * 4};
  ChipTensor bytes = make_tensor_external(x.data_as<void *>(), shape, 1, DataType::UINT8);
  fill(x, 9);
  CoreTaskArgs reader;
  reader.add_input(bytes);
  reader.add_output(in.tensor(1).ref());
  rt_submit_dummy_task(reader);
  copy(x, in.tensor(1).ref());
}
ENTRY(same_tensor_twice) {
  CoreTaskArgs task;
  task.add_input(in.tensor(0).ref(), in.tensor(0).ref());
  task.add_output(in.tensor(0).ref());
  for (int i = 0; i < 5; ++i)
    rt_submit_aiv_task(ADD, task);
}
ENTRY(diamond) {
  const ChipTensor &x = in.tensor(0).ref();
  TensorCreateInfo like(x.shapes, x.ndims, DataType::INT32);
  CoreTaskArgs left, right, join;
  left.add_input(x, x);
  left.add_output(like);
  TaskOutputTensors l = rt_submit_aiv_task(ADD, left);
  right.add_input(x);
  right.add_output(like);
  right.add_scalar(int32_t{7});
  TaskOutputTensors r = rt_submit_aiv_task(COPY, right);
  join.add_input(l.get_ref(0), r.get_ref(0));
  join.add_output(in.tensor(1).ref());
  rt_submit_aiv_task(ADD, join);
}
ENTRY(wavefront) {
  const ChipTensor &g = in.tensor(0).ref();
  uint32_t one[2] = {1, 1};
  for (uint32_t i = 1; i < g.shapes[0]; ++i)
    for (uint32_t j = 1; j < g.shapes[1]; ++j) {
      uint32_t up[2] = {i - 1, j}, left[2] = {i, j - 1}, self[2] = {i, j};
      ChipTensor a = g.view(one, up), b = g.view(one, left), c = g.view(one, self);
      CoreTaskArgs task;
      task.add_input(a, b);
      task.add_output(c);
      rt_submit_aiv_task(ADD, task);
    }
}
