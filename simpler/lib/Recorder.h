//===- Recorder.h - what one run did, for the files of CallConfig ---------===//
//
// Exists only for runs with a diagnostic switched on. The orchestrator reports tasks, edges
// and scopes; executors report the contents of arguments. Written when the run has ended
// (spec 11): chip_swimlane_records.json, deps.json, pmu.csv, args_dump/, scope_stats/.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_RECORDER_H
#define SIMPLER_RECORDER_H

#include "Task.h"
#include "Trace.h"
#include "simpler/callable_api.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

struct SimplerCallable;

namespace simpler {

class Device;

class Recorder {
public:
  enum class Source : uint8_t { Explicit, Creator, TensorMap };

  Recorder(const SimplerCallOptions &options, const SimplerCallable *callable, uint64_t tag);

  bool wantsTrace() const { return options_.swimlane || options_.pmu; }
  bool wantsSubmits() const { return options_.swimlane >= 4; }
  /// The orchestrator submitted a task; ticks.
  void submitted(uint64_t id, uint64_t begin, uint64_t end) {
    std::lock_guard lock(mutex_);
    submits_.push_back({id, begin, end});
  }
  bool wantsDump() const { return options_.dump_args != 0; }
  /// Dump marks of the task that is submitted next (bit i: argument i; all ones: everything).
  void nextDump(uint64_t mask) { nextDump_ = mask; }

  // By the orchestrator.
  void task(Task *task, const uint8_t *tags, bool manual);
  /// `predecessor`: number of the task in its run.
  void edge(uint64_t predecessor, uint64_t successor, int32_t argument, Source source,
            bool covered);
  void scope(const char *site, bool begin, uint32_t depth, const uint64_t (&counters)[7]);

  // By the executor of the task.
  void dump(Task *task, bool before);

  /// False with a reason when a file cannot be written.
  bool write(Device &device, bool fatal, std::string &error);

private:
  struct TaskRow {
    uint64_t id;
    bool manual;
    int32_t blocks;
    int32_t kernels[3];
    std::vector<ChipTensor> tensors;
    std::vector<uint64_t> scalars;
    std::vector<uint8_t> tags;
    uint64_t dump;
  };
  struct EdgeRow {
    uint64_t predecessor, successor;
    int32_t argument;
    Source source;
    bool covered;
  };
  struct DumpRow {
    uint64_t id;
    int32_t argument; // scalars follow the tensors
    bool before, scalar, payload;
    uint64_t offset, size;
  };

  bool writeDeps(const std::string &path) const;
  bool writeSwimlane(const std::string &path, Device &device) const;
  bool writePmu(const std::string &path, Device &device) const;
  bool writeDump(const std::string &folder) const;
  bool writeScopes(const std::string &path, bool fatal) const;
  const TaskRow *row(uint64_t id) const;

  SimplerCallOptions options_;
  std::string prefix_;
  const SimplerCallable *callable_;
  uint64_t tag_;
  uint64_t nextDump_ = 0;
  mutable std::mutex mutex_;
  std::vector<TaskRow> tasks_;
  std::map<uint64_t, size_t> rowOf_;
  std::vector<EdgeRow> edges_;
  struct SubmitRow {
    uint64_t id, begin, end;
  };
  std::vector<SubmitRow> submits_;
  std::vector<DumpRow> dumps_;
  std::vector<char> payload_;
  std::vector<std::string> scopes_;
};

} // namespace simpler

#endif // SIMPLER_RECORDER_H
