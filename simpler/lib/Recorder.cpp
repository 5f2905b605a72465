//===- Recorder.cpp - collecting rows while the run goes on ---------------===//
#include "Recorder.h"
#include "Callable.h"

namespace simpler {

Recorder::Recorder(const SimplerCallOptions &options, const SimplerCallable *callable, uint64_t tag)
    : options_(options), prefix_(options.output_prefix ? options.output_prefix : "."),
      callable_(callable), tag_(tag) {}

void Recorder::task(Task *task, const uint8_t *tags, bool manual) {
  std::lock_guard lock(mutex_);
  TaskRow row{task->id, manual, task->blocks, {-1, -1, -1}, {}, {}, {}, nextDump_};
  for (int32_t lane = 0; lane < task->lanes; ++lane)
    row.kernels[task->laneId[lane]] = callable_ ? callable_->kernelId(task->kernel[lane]) : 0;
  row.tensors.assign(task->tensors(), task->tensors() + task->numTensors);
  row.scalars.assign(task->scalars(), task->scalars() + task->numScalars);
  row.tags.assign(tags, tags + task->numTensors);
  nextDump_ = 0;
  rowOf_[static_cast<uint32_t>(task->id)] = tasks_.size();
  tasks_.push_back(std::move(row));
}

void Recorder::edge(uint64_t predecessor, uint64_t successor, int32_t argument, Source source,
                    bool covered) {
  std::lock_guard lock(mutex_);
  const TaskRow *from = row(predecessor); // complete allocations have no row
  edges_.push_back({from ? from->id : tag_ | predecessor, successor, argument, source, covered});
}

const Recorder::TaskRow *Recorder::row(uint64_t id) const {
  auto found = rowOf_.find(static_cast<uint32_t>(id));
  return found == rowOf_.end() ? nullptr : &tasks_[found->second];
}

/// Inputs are kept as they are before the task, outputs as they are after it. Level 1 keeps what
/// the program marked, 2 everything, 3 everything's shape and the contents of what is marked.
void Recorder::dump(Task *task, bool before) {
  std::lock_guard lock(mutex_);
  const TaskRow *row = this->row(task->id);
  if (!row)
    return;
  for (uint32_t i = 0; i < row->tensors.size(); ++i) {
    uint8_t tag = row->tags[i];
    bool wanted = before ? tag != SIMPLER_ARG_OUTPUT_EXISTING : tag != SIMPLER_ARG_INPUT;
    bool marked = row->dump >> (i & 63) & 1;
    if (!wanted || (options_.dump_args == 1 && !marked))
      continue;
    const ChipTensor &t = row->tensors[i];
    bool payload = options_.dump_args != 3 || marked;
    DumpRow entry{task->id, static_cast<int32_t>(i), before, false, payload, payload_.size(), 0};
    if (payload) { // logical order of elements, whatever the strides
      uint64_t size = get_element_size(t.dtype), count = t.numel();
      auto *base = reinterpret_cast<const char *>(static_cast<uintptr_t>(t.buffer.addr));
      for (uint64_t k = 0; k < count; ++k) {
        uint64_t rest = k, at = t.start_offset;
        for (uint32_t d = t.ndims; d-- > 0; rest /= t.shapes[d])
          at += rest % t.shapes[d] * t.strides[d];
        payload_.insert(payload_.end(), base + at * size, base + (at + 1) * size);
      }
      entry.size = count * size;
    }
    dumps_.push_back(entry);
  }
  for (uint32_t i = 0; before && i < row->scalars.size() && options_.dump_args != 1; ++i) {
    dumps_.push_back({task->id, static_cast<int32_t>(row->tensors.size() + i), true, true, true,
                      payload_.size(), 8});
    auto *bytes = reinterpret_cast<const char *>(&row->scalars[i]);
    payload_.insert(payload_.end(), bytes, bytes + 8);
  }
}

void Recorder::scope(const char *site, bool begin, uint32_t depth, const uint64_t (&c)[7]) {
  char text[512];
  std::snprintf(text, sizeof(text),
                "{\"site\": \"%s\", \"phase\": \"%s\", \"depth\": %u, \"ring\": %u, "
                "\"task_window_start\": %llu, \"task_window_end\": %llu, \"heap_start\": %llu, "
                "\"heap_end\": %llu, \"dep_pool_start\": %llu, \"dep_pool_end\": %llu, "
                "\"tensormap\": %llu}",
                site ? site : "", begin ? "begin" : "end", depth, depth < 3 ? depth : 3,
                (unsigned long long)c[0], (unsigned long long)c[1], (unsigned long long)c[2],
                (unsigned long long)c[3], (unsigned long long)c[4], (unsigned long long)c[5],
                (unsigned long long)c[6]);
  std::lock_guard lock(mutex_);
  scopes_.push_back(text);
}

} // namespace simpler
