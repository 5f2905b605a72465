//===- TraceWriter.cpp - Chrome/Perfetto JSON of recorded events ----------===//
#include "Clock.h"
#include "KernelCall.h"
#include "Run.h"

#include <cstdio>
#include <unistd.h>

namespace simpler {

void Device::startTrace(TraceDetail detail) {
  std::lock_guard lock(executorsMutex_);
  traceTicks_ = ticks();
  traceNanoseconds_ = nanoseconds();
  traceDetail_ = detail;
  tracing_.store(true);
  for (uint32_t i = 0; i < numExecutors(); ++i) {
    if (TraceRing *ring = executor(i)->storedTrace()) {
      ring->reset(detail);
      executor(i)->resumeTrace();
    } else {
      auto fresh = std::make_unique<TraceRing>();
      fresh->reset(detail);
      executor(i)->setTrace(std::move(fresh));
    }
  }
}

void Device::stopTrace() {
  std::lock_guard lock(executorsMutex_);
  tracing_.store(false);
  for (uint32_t i = 0; i < numExecutors(); ++i)
    executor(i)->pauseTrace();
}

double Device::nanosecondsPerTick() const {
  return static_cast<double>(nanoseconds() - traceNanoseconds_) /
         static_cast<double>(ticks() - traceTicks_);
}

static void writeEscaped(FILE *file, const char *text) {
  for (; *text; ++text) {
    auto c = static_cast<unsigned char>(*text);
    if (c == '"' || c == '\\')
      std::fprintf(file, "\\%c", c);
    else if (c < 0x20)
      std::fprintf(file, "\\u%04x", c);
    else
      std::fputc(c, file);
  }
}

int32_t Device::writeTrace(const char *path) {
  std::lock_guard lock(executorsMutex_);
  FILE *file = std::fopen(path, "w");
  if (!file)
    return -1;
  double perMicrosecond = static_cast<double>(ticks() - traceTicks_) * 1000.0 /
                          static_cast<double>(nanoseconds() - traceNanoseconds_);
  // Time stamps are those of CLOCK_MONOTONIC, so that traces of several recorders merge.
  double startMicroseconds = static_cast<double>(traceNanoseconds_) / 1000.0;
  std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file);
  int pid = static_cast<int>(getpid());
  std::fprintf(
      file, "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"simpler\"}}",
      pid);
  for (uint32_t i = 0; i < numExecutors(); ++i) {
    TraceRing *ring = executor(i)->storedTrace();
    if (!ring)
      continue;
    std::fprintf(
        file,
        ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":"
        "\"executor %u (%llu events dropped)\"}}",
        pid, i, i, static_cast<unsigned long long>(ring->dropped()));
    ring->forEach([&](const TraceEvent &event) {
      std::fprintf(file, ",\n{\"ph\":\"X\",\"pid\":%d,\"cat\":\"task\",\"name\":\"", pid);
      writeEscaped(file, event.kernel->name ? event.kernel->name : "kernel");
      double start =
          startMicroseconds + static_cast<double>(event.begin - traceTicks_) / perMicrosecond;
      double length = static_cast<double>(event.end - event.begin) / perMicrosecond;
      PTO2TaskId id{event.taskId};
      std::fprintf(
          file,
          "\",\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"task\":\"r%ut%u\",\"block\":%d,"
          "\"blocks\":%d,\"lane\":%u}}",
          i, start, length, id.ring(), id.local(), event.block, event.blocks, event.lane);
    });
  }
  std::fputs("\n]}\n", file);
  return std::fclose(file) == 0 ? 0 : -1;
}

} // namespace simpler
