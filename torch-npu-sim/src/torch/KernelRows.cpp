//===- KernelRows.cpp - kernels in torch's traces -------------------------===//
//
// torch.profiler with ProfilerActivity.PrivateUse1: each piece of work that a stream executes is a
// row of its device, with the stream as its line, linked to the operator that launched it.
//
//===----------------------------------------------------------------------===//
#include "npu_runtime/Device.h"

#if __has_include(<torch/csrc/profiler/standalone/privateuse1_profiler.h>)
#include <kineto/libkineto.h>
#include <kineto/output_base.h>
#include <torch/csrc/profiler/standalone/privateuse1_profiler.h>

namespace npu {
namespace {

using libkineto::ActivityType;

/// Correlation ids of the operators that the calling thread is in.
thread_local std::vector<uint64_t> correlations;

struct Row {
  std::string name;
  int device;
  int64_t stream;
  uint64_t correlation;
  int64_t begin, end; // nanoseconds
};

class Rows final : public WorkObserver {
public:
  uint64_t launching() override { return correlations.empty() ? 0 : correlations.back(); }
  void ran(Stream &stream, std::string_view name, uint64_t connection, int64_t begin,
           int64_t end) override {
    std::lock_guard lock(mutex_);
    rows_.push_back(
        {std::string(name), stream.device().index(), stream.id(), connection, begin, end});
  }
  void start() {
    std::lock_guard lock(mutex_);
    rows_.clear();
    workObserver.store(this, std::memory_order_release);
  }
  std::vector<Row> stop() {
    workObserver.store(nullptr, std::memory_order_release);
    std::lock_guard lock(mutex_);
    return std::exchange(rows_, {});
  }

private:
  std::mutex mutex_;
  std::vector<Row> rows_;
};

/// Never destroyed: work that began before a stop still reports to it.
Rows &rows() {
  static auto *instance = new Rows;
  return *instance;
}

class Session final : public libkineto::IActivityProfilerSession {
public:
  void start() override { rows().start(); }
  void stop() override {
    for (int i = 0; initialized() && i < deviceCount(); ++i)
      device(i).waitFinished();
    collected_ = rows().stop();
  }
  std::vector<std::string> errors() override { return {}; }

  void processTrace(libkineto::ActivityLogger &logger) override {
    processTrace(logger, [](int32_t) { return nullptr; }, 0, INT64_MAX);
  }
  void processTrace(libkineto::ActivityLogger &logger,
                    libkineto::getLinkedActivityCallback linkedActivity, int64_t startTime,
                    int64_t endTime) override {
    buffer_ = std::make_unique<libkineto::CpuTraceBuffer>();
    buffer_->span = libkineto::TraceSpan(startTime, endTime, "npu");
    for (const Row &row : collected_) {
      if (row.begin < startTime || row.end > endTime)
        continue;
      bool isCopy = row.name.find("copy") != std::string::npos;
      buffer_->emplace_activity(buffer_->span,
                                isCopy ? ActivityType::GPU_MEMCPY : ActivityType::CONCURRENT_KERNEL,
                                row.name);
      libkineto::GenericTraceActivity &activity = *buffer_->activities.back();
      activity.startTime = row.begin;
      activity.endTime = row.end;
      activity.device = row.device;
      activity.resource = int32_t(row.stream);
      activity.threadId = int32_t(row.stream);
      activity.id = int32_t(row.correlation);
      activity.addMetadata("stream", row.stream);
      activity.addMetadata("device", row.device);
      activity.linked = row.correlation ? linkedActivity(int32_t(row.correlation)) : nullptr;
      logger.handleActivity(activity);
    }
  }
  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override { return nullptr; }
  std::vector<libkineto::ResourceInfo> getResourceInfos() override { return {}; }
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override {
    return std::move(buffer_);
  }
  void pushCorrelationId(uint64_t id) override { correlations.push_back(id); }
  void popCorrelationId() override {
    if (!correlations.empty())
      correlations.pop_back();
  }

private:
  std::vector<Row> collected_;
  std::unique_ptr<libkineto::CpuTraceBuffer> buffer_;
};

class KernelProfiler final : public libkineto::IActivityProfiler {
public:
  const std::string &name() const override { return name_; }
  const std::set<ActivityType> &availableActivities() const override { return types_; }
  std::unique_ptr<libkineto::IActivityProfilerSession>
  configure(const std::set<ActivityType> &types, const libkineto::Config &) override {
    // Profiles of the CPU alone have no rows of devices.
    return types.count(ActivityType::CONCURRENT_KERNEL) ? std::make_unique<Session>() : nullptr;
  }
  std::unique_ptr<libkineto::IActivityProfilerSession>
  configure(int64_t, int64_t, const std::set<ActivityType> &types,
            const libkineto::Config &config) override {
    return configure(types, config);
  }

private:
  const std::string name_ = "npu";
  const std::set<ActivityType> types_ = {ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY};
};

REGISTER_PRIVATEUSE1_PROFILER(KernelProfiler);

} // namespace
} // namespace npu
#endif
