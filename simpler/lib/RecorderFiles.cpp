//===- RecorderFiles.cpp - the formats of spec 11 -------------------------===//
#include "Callable.h"
#include "Clock.h"
#include "Device.h"
#include "Recorder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

namespace simpler {

namespace {

using U = unsigned long long;

/// fopen / fclose with the error kept.
struct File {
  explicit File(const std::string &path) : file(std::fopen(path.c_str(), "w")) {}
  ~File() {
    if (file)
      std::fclose(file);
  }
  explicit operator bool() const { return file; }
  operator FILE *() const { return file; }
  bool finish() {
    FILE *open = std::exchange(file, nullptr);
    bool good = !std::ferror(open);
    return std::fclose(open) == 0 && good;
  }
  FILE *file;
};

uint64_t tensorId(const ChipTensor &t) {
  uint64_t hash = 1469598103934665603ull;
  auto mix = [&](uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
      hash = (hash ^ (value >> 8 * i & 0xff)) * 1099511628211ull;
  };
  mix(t.buffer.addr, 8);
  mix(static_cast<uint32_t>(t.version), 4);
  return hash;
}

void writeExtents(FILE *file, const uint32_t *values, uint32_t count) {
  std::fputc('[', file);
  for (uint32_t d = 0; d < count; ++d)
    std::fprintf(file, "%s%u", d ? ", " : "", values[d]);
  std::fputc(']', file);
}

const char *roleName(uint8_t tag) {
  switch (tag) {
  case SIMPLER_ARG_INPUT:
    return "input";
  case SIMPLER_ARG_INOUT:
    return "inout";
  case SIMPLER_ARG_OUTPUT_EXISTING:
    return "output";
  default:
    return "no_dep";
  }
}

} // namespace

bool Recorder::writeDeps(const std::string &path) const {
  File file(path);
  if (!file)
    return false;
  std::fputs("{\"tasks\": [", file);
  std::map<uint64_t, const ChipTensor *> tensors;
  bool first = true;
  for (const TaskRow &row : tasks_) {
    std::fprintf(file,
                 "%s\n{\"task_id\": \"%llu\", \"scope\": \"%s\", \"kernel_ids\": [%d, %d, %d], "
                 "\"block_num\": %d, \"args\": [",
                 first ? "" : ",", U(row.id), row.manual ? "manual" : "auto", row.kernels[0],
                 row.kernels[1], row.kernels[2], row.blocks);
    first = false;
    for (size_t i = 0; i < row.tensors.size(); ++i) {
      const ChipTensor &t = row.tensors[i];
      tensors.emplace(tensorId(t), &t);
      std::fprintf(file,
                   "%s{\"idx\": %zu, \"type\": \"%s\", \"tensor_id\": \"%llu\", \"dtype\": \"%s\", "
                   "\"shape\": ",
                   i ? ", " : "", i, roleName(row.tags[i]), U(tensorId(t)),
                   get_dtype_name(t.dtype));
      writeExtents(file, t.shapes, t.ndims);
      std::fprintf(file, ", \"start_offset\": \"%llu\", \"strides\": ", U(t.start_offset));
      writeExtents(file, t.strides, t.ndims);
      std::fputc('}', file);
    }
    std::fputs("]}", file);
  }
  std::fputs("],\n\"tensors\": [", file);
  first = true;
  for (auto [id, t] : tensors) {
    std::fprintf(file,
                 "%s\n{\"tensor_id\": \"%llu\", \"buffer_addr\": \"%llu\", \"version\": %d, "
                 "\"dtype\": \"%s\", \"buffer_numel\": \"%llu\"}",
                 first ? "" : ",", U(id), U(t->buffer.addr), t->version, get_dtype_name(t->dtype),
                 U(t->buffer.size / get_element_size(t->dtype)));
    first = false;
  }
  std::fputs("],\n\"edges\": [", file);
  first = true;
  for (const EdgeRow &edge : edges_) {
    constexpr const char *sources[] = {"explicit", "creator", "tensormap"};
    std::fprintf(file,
                 "%s\n{\"pred\": \"%llu\", \"succ\": \"%llu\", \"arg\": %d, \"source\": \"%s\", "
                 "\"flags\": [\"wait\", \"retain\"], \"overlap\": \"%s\"",
                 first ? "" : ",", U(edge.predecessor), U(edge.successor), edge.argument,
                 sources[static_cast<int>(edge.source)], edge.covered ? "covered" : "other");
    first = false;
    const TaskRow *successor = row(edge.successor);
    if (edge.argument >= 0 && successor &&
        static_cast<size_t>(edge.argument) < successor->tensors.size())
      std::fprintf(file, ", \"tensor_id\": \"%llu\"",
                   U(tensorId(successor->tensors[edge.argument])));
    std::fputc('}', file);
  }
  std::fputs("]}\n", file);
  return file.finish();
}

/// Cores are metadata: an executor stands for one core of each kind, blocks of a launch spread.
static uint32_t coreOf(const Geometry &geometry, uint32_t executor, const TraceEvent &event) {
  auto clusters = static_cast<uint32_t>(geometry.clusters);
  uint32_t place = executor + static_cast<uint32_t>(event.block);
  if (event.coreType == SIMPLER_AIC)
    return place % clusters;
  return clusters + (2 * (place % clusters) + event.lane) % (2 * clusters);
}

bool Recorder::writeSwimlane(const std::string &path, Device &device) const {
  File file(path);
  if (!file)
    return false;
  const Geometry &geometry = device.geometry();
  uint32_t clusters = static_cast<uint32_t>(geometry.clusters), cores = 3 * clusters;
  std::fprintf(file,
               "{\"chip_swimlane_level\": %d,\n\"metadata\": {\"clock_freq_hz\": %llu, "
               "\"num_cores\": %u, \"core_types\": [",
               options_.swimlane, U(geometry.timerHz), cores);
  for (uint32_t i = 0; i < cores; ++i)
    std::fprintf(file, "%s\"%s\"", i ? ", " : "", i < clusters ? "aic" : "aiv");
  std::fputs("], \"core_to_thread\": [", file);
  for (uint32_t i = 0; i < cores; ++i)
    std::fprintf(file, "%s%u", i ? ", " : "", i % static_cast<uint32_t>(device.threads()));
  std::fputs("]},\n\"aicore_tasks\": [", file);
  double scale = static_cast<double>(geometry.timerHz) / 1e9 * device.nanosecondsPerTick();
  auto cycles = [&](uint64_t at) {
    return U(static_cast<double>(at - device.traceStartTicks()) * scale);
  };
  std::string dispatch;
  uint64_t serial = 0;
  for (uint32_t i = 0; i < device.numExecutors(); ++i)
    if (const TraceRing *ring = device.executor(i)->storedTrace())
      ring->forEach([&](const TraceEvent &event) {
        if ((event.taskId ^ tag_) >> 40)
          return;
        uint32_t core = coreOf(geometry, i, event);
        std::fprintf(file, "%s\n[%u, \"%llu\", %llu, %llu, %llu, 0]", serial ? "," : "", core,
                     U(event.taskId), U(serial), cycles(event.begin), cycles(event.end));
        dispatch += (serial ? ",\n[" : "\n[") + std::to_string(core) + ", " +
                    std::to_string(serial) + ", " + std::to_string(cycles(event.begin)) + ", " +
                    std::to_string(cycles(event.end)) + "]";
        ++serial;
      });
  std::fputs("]", file);
  if (options_.swimlane >= 2)
    std::fprintf(file, ",\n\"aicpu_tasks\": [%s]", dispatch.c_str());
  if (options_.swimlane >= 3) {
    constexpr const char *kinds[] = {"complete", "async_poll", "dispatch", "dummy_task",
                                     "predicated_skip"};
    std::fputs(",\n\"aicpu_scheduler_phases\": [", file);
    bool firstThread = true;
    for (uint32_t i = 0; i < device.numExecutors(); ++i) {
      const TraceRing *ring = device.executor(i)->storedTrace();
      if (!ring)
        continue;
      std::fprintf(file, "%s[", firstThread ? "" : ",");
      firstThread = false;
      uint64_t loop = 0;
      ring->forEachPhase([&](const PhaseEvent &phase) {
        std::fprintf(file,
                     "%s\n{\"kind\": \"%s\", \"start_cycles\": %llu, \"end_cycles\": %llu, "
                     "\"loop_iter\": %llu, \"tasks_processed\": %u, \"pop_hit\": %u, "
                     "\"pop_miss\": %u}",
                     loop ? "," : "", kinds[phase.kind], cycles(phase.begin), cycles(phase.end),
                     U(loop), phase.tasks, phase.hits, phase.misses);
        ++loop;
      });
      std::fputs("]", file);
    }
    std::fputs("]", file);
  }
  if (options_.swimlane >= 4) {
    std::fputs(",\n\"aicpu_orchestrator_phases\": [[", file);
    for (size_t i = 0; i < submits_.size(); ++i)
      std::fprintf(file,
                   "%s\n{\"submit_idx\": %zu, \"task_id\": \"%llu\", \"start_cycles\": %llu, "
                   "\"end_cycles\": %llu}",
                   i ? "," : "", i, U(submits_[i].id), cycles(submits_[i].begin),
                   cycles(submits_[i].end));
    std::fputs("]]", file);
  }
  std::fputs("}\n", file);
  return file.finish();
}

bool Recorder::writePmu(const std::string &path, Device &device) const {
  File file(path);
  if (!file)
    return false;
  // The NPU's units do not exist here: the event columns are what the host counts while the kernel
  // runs. A counter the machine does not give says so in its name.
  constexpr const char *names[PerfValues::kHardware] = {"host_cycles", "host_instructions",
                                                        "host_cache_misses", "host_branch_misses"};
  std::fputs("thread_id,core_id,task_id,func_id,core_type,pmu_total_cycles", file);
  uint32_t available = PerfCounters::available();
  for (uint32_t i = 0; i < PerfValues::kHardware; ++i)
    std::fprintf(file, ",%s%s", names[i], available >> i & 1 ? "" : "_unavailable");
  std::fputs(",host_cpu_ns,host_page_faults,event_type\n", file);
  const Geometry &geometry = device.geometry();
  double scale = static_cast<double>(geometry.timerHz) / 1e9 * device.nanosecondsPerTick();
  for (uint32_t i = 0; i < device.numExecutors(); ++i)
    if (const TraceRing *ring = device.executor(i)->storedTrace())
      ring->forEachCounted([&](const TraceEvent &event, const PerfValues &counted) {
        if ((event.taskId ^ tag_) >> 40)
          return;
        std::fprintf(file, "%u,%u,0x%llx,%d,%d,%llu", i, coreOf(geometry, i, event),
                     U(event.taskId), callable_ ? callable_->kernelId(event.kernel) : -1,
                     event.coreType == SIMPLER_AIC ? 0 : 1,
                     U(static_cast<double>(event.end - event.begin) * scale));
        for (uint64_t value : counted.hardware)
          std::fprintf(file, ",%llu", U(value));
        std::fprintf(file, ",%llu,%llu,%d\n", U(counted.cpuNanoseconds), U(counted.pageFaults),
                     options_.pmu);
      });
  return file.finish();
}

bool Recorder::writeDump(const std::string &folder) const {
  File bin(folder + "/args.bin"), file(folder + "/args_dump.json");
  if (!bin || !file)
    return false;
  std::fwrite(payload_.data(), 1, payload_.size(), bin);
  int before = 0, after = 0, inputs = 0, outputs = 0, inouts = 0;
  for (const DumpRow &d : dumps_) {
    (d.before ? before : after)++;
    const TaskRow *task = row(d.id);
    if (!d.scalar) {
      uint8_t tag = task->tags[d.argument];
      (tag == SIMPLER_ARG_INOUT ? inouts : tag == SIMPLER_ARG_OUTPUT_EXISTING ? outputs : inputs)++;
    }
  }
  std::fprintf(file,
               "{\"run_dir\": \"%s\", \"bin_format\": {\"type\": \"logical_contiguous\", "
               "\"byte_order\": \"little_endian\"}, \"dump_args_level\": %d, \"total_args\": %zu, "
               "\"before_dispatch\": %d, \"after_completion\": %d, \"input_args\": %d, "
               "\"output_args\": %d, \"inout_args\": %d, \"truncated_args\": 0, "
               "\"dropped_records\": 0, \"dropped_overwrite\": 0, \"bin_file\": \"args.bin\",\n"
               "\"args\": [",
               prefix_.c_str(), options_.dump_args, dumps_.size(), before, after, inputs, outputs,
               inouts);
  bool first = true;
  for (const DumpRow &d : dumps_) {
    const TaskRow *task = row(d.id);
    std::fprintf(file, "%s\n{\"task_id\": \"0x%llx\", \"func_id\": [%d, %d, %d], ",
                 first ? "" : ",", U(d.id), task->kernels[0], task->kernels[1], task->kernels[2]);
    first = false;
    std::fprintf(file, "\"role\": \"%s\", \"stage\": \"%s\", \"arg_index\": %d, \"kind\": \"%s\", ",
                 d.scalar ? "input" : roleName(task->tags[d.argument]),
                 d.before ? "before_dispatch" : "after_completion", d.argument,
                 d.scalar ? "scalar" : "tensor");
    if (!d.scalar) {
      const ChipTensor &t = task->tensors[d.argument];
      std::fprintf(file, "\"dtype\": \"%s\", \"shape\": ", get_dtype_name(t.dtype));
      writeExtents(file, t.shapes, t.ndims);
      std::fputs(", \"strides\": ", file);
      writeExtents(file, t.strides, t.ndims);
      std::fprintf(file, ", \"start_offset\": %llu, \"is_contiguous\": %s, ", U(t.start_offset),
                   t.is_contiguous ? "true" : "false");
    }
    std::fprintf(
        file,
        "\"truncated\": false, \"overwritten\": false, \"bin_offset\": %llu, \"bin_size\": %llu}",
        U(d.offset), U(d.size));
  }
  std::fputs("]}\n", file);
  bool good = bin.finish();
  return file.finish() && good;
}

bool Recorder::writeScopes(const std::string &path, bool fatal) const {
  File file(path);
  if (!file)
    return false;
  std::fprintf(
      file,
      "{\"version\": 6, \"fatal\": %s, \"dropped\": 0, \"total\": %zu, \"task_window_max\": "
      "[%llu, %llu, %llu, %llu], \"heap_max\": [%llu, %llu, %llu, %llu], \"dep_pool_max\": "
      "[%llu, %llu, %llu, %llu], \"tensormap_max\": 0}\n",
      fatal ? "true" : "false", scopes_.size(), U(options_.ring_task_window[0]),
      U(options_.ring_task_window[1]), U(options_.ring_task_window[2]),
      U(options_.ring_task_window[3]), U(options_.ring_heap[0]), U(options_.ring_heap[1]),
      U(options_.ring_heap[2]), U(options_.ring_heap[3]), U(options_.ring_dep_pool[0]),
      U(options_.ring_dep_pool[1]), U(options_.ring_dep_pool[2]), U(options_.ring_dep_pool[3]));
  for (const std::string &line : scopes_)
    std::fprintf(file, "%s\n", line.c_str());
  return file.finish();
}

bool Recorder::write(Device &device, bool fatal, std::string &error) {
  std::lock_guard lock(mutex_);
  namespace fs = std::filesystem;
  std::error_code failed;
  auto folder = [&](const char *name) {
    std::string path = prefix_ + name;
    if (!failed)
      fs::create_directories(path, failed);
    return path;
  };
  folder("");
  bool good = !failed;
  if (options_.dep_gen)
    good &= writeDeps(prefix_ + "/deps.json");
  if (options_.swimlane)
    good &= writeSwimlane(prefix_ + "/chip_swimlane_records.json", device);
  if (options_.pmu)
    good &= writePmu(prefix_ + "/pmu.csv", device);
  if (options_.dump_args)
    good &= writeDump(folder("/args_dump"));
  if (options_.scope_stats)
    good &= writeScopes(folder("/scope_stats") + "/scope_stats.jsonl", fatal);
  if (!good)
    error = "diagnostics cannot be written to '" + prefix_ +
            "': " + (failed ? failed.message() : std::strerror(errno));
  return good;
}

} // namespace simpler
