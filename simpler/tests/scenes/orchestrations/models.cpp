// Blocked matrix product and paged attention (spec 13.2, tiers 1 and 2).
#include "kernels.h"

ENTRY(blocked_matmul) {
  const ChipTensor &a = in.tensor(0).ref(), &b = in.tensor(1).ref(), &c = in.tensor(2).ref();
  uint32_t t = static_cast<uint32_t>(in.scalar(0)), tile[2] = {t, t};
  for (uint32_t i = 0; i < c.shapes[0]; i += t)
    for (uint32_t j = 0; j < c.shapes[1]; j += t)
      for (uint32_t k = 0; k < a.shapes[1]; k += t) {
        uint32_t atA[2] = {i, k}, atB[2] = {k, j}, atC[2] = {i, j};
        ChipTensor ta = a.view(tile, atA), tb = b.view(tile, atB), tc = c.view(tile, atC);
        CoreTaskArgs task;
        task.add_input(ta, tb);
        task.add_inout(tc);
        rt_submit_aic_task(MATMUL, task);
      }
}
ENTRY(paged_attention) {
  const ChipTensor &q = in.tensor(0).ref(), &k = in.tensor(1).ref(), &v = in.tensor(2).ref(),
                   &table = in.tensor(3).ref(), &lengths = in.tensor(4).ref(),
                   &out = in.tensor(5).ref();
  uint32_t page = static_cast<uint32_t>(in.scalar(0)), depth = q.shapes[1], pages = table.shapes[1];
  for (uint32_t r = 0; r < q.shapes[0]; ++r) {
    PTO2_SCOPE() {
      uint32_t row[2] = {1, depth}, at[2] = {r, 0}, stateShape[2] = {1, depth + 2},
               lengthAt[1] = {r};
      ChipTensor query = q.view(row, at), result = out.view(row, at);
      TensorCreateInfo info(stateShape, 2);
      info.set_initial_value(0.0f);
      TaskOutputTensors state = alloc_tensors(info);
      uint32_t length = static_cast<uint32_t>(get_tensor_data<int32_t>(lengths, 1, lengthAt));
      for (uint32_t p = 0; p < pages && p * page < length; ++p) {
        uint32_t entry[2] = {r, p}, shape[2] = {page, depth};
        uint32_t from[2] = {static_cast<uint32_t>(get_tensor_data<int32_t>(table, 2, entry)) * page,
                            0};
        ChipTensor keys = k.view(shape, from), values = v.view(shape, from);
        CoreTaskArgs task;
        task.add_input(query, keys, values);
        task.add_inout(state.get_ref(0));
        task.add_scalar(length - p * page < page ? length - p * page : page);
        rt_submit_aiv_task(ATTENTION, task);
      }
      CoreTaskArgs last;
      last.add_input(state.get_ref(0));
      last.add_output(result);
      rt_submit_aiv_task(DIVIDE, last);
    }
  }
}
