//===- HostTrace.cpp ------------------------------------------------------===//
#include "HostTrace.h"

#include "simpler/callable_api.h"

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>

namespace simpler::py {

bool hostTraceEnabled() {
  static const bool enabled = [] {
    const char *value = std::getenv("SIMPLER_HOST_STRACE");
    return value && *value && std::strcmp(value, "0") != 0;
  }();
  return enabled;
}

static uint64_t now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
}

uint64_t hostTraceNow() { return now(CLOCK_MONOTONIC); }

namespace {

/// The lines of one run, written at once so that threads do not mix.
class Lines {
public:
  Lines(const std::string &hash, uint64_t run) {
    // "sha256:<hex>" or nothing
    size_t colon = hash.find(':');
    std::string hex = colon == std::string::npos ? hash : hash.substr(colon + 1);
    std::snprintf(head_, sizeof(head_), "[STRACE] v=1 pid=%d tid=%ld inv=%" PRIu64 " hid=%s",
                  static_cast<int>(getpid()), syscall(SYS_gettid), run,
                  hex.empty() ? "-" : hex.substr(0, 12).c_str());
  }
  void span(int depth, const char *name, uint64_t begin, uint64_t end) {
    char line[320];
    int length =
        std::snprintf(line, sizeof(line), "%s depth=%d name=%s ts=%" PRIu64 " dur=%" PRIu64 "\n",
                      head_, depth, name, begin, end > begin ? end - begin : 0);
    text_.append(line, static_cast<size_t>(length));
  }
  void write() const { std::fwrite(text_.data(), 1, text_.size(), stderr); }

private:
  char head_[160];
  std::string text_;
};

} // namespace

void writeHostTrace(const std::string &hash, uint64_t asked) {
  static std::atomic<uint64_t> runs{0};
  static std::atomic<int> anchored{0}; // the process that wrote its anchor
  uint64_t end = hostTraceNow();
  int pid = static_cast<int>(getpid());
  if (anchored.exchange(pid) != pid)
    std::fprintf(stderr, "[CLOCK_ANCHOR] v=1 pid=%d mono_ns=%" PRIu64 " wall_ns=%" PRIu64 "\n", pid,
                 hostTraceNow(), now(CLOCK_REALTIME));
  SimplerRunTimes times;
  simpler_callable_times(&times);
  uint64_t orchestrated = times.orchestrated ? times.orchestrated : times.end;
  Lines lines(hash, runs.fetch_add(1));
  lines.span(0, "chip.run", asked, end);
  lines.span(1, "chip.run.wait", asked, times.begin);
  lines.span(1, "chip.run.runner_run", times.begin, end);
  lines.span(2, "chip.run.runner_run.device_wall", times.begin, times.end);
  lines.span(3, "chip.run.runner_run.device_wall.orch", times.begin, orchestrated);
  lines.span(3, "chip.run.runner_run.device_wall.sched", orchestrated, times.end);
  for (int i = 0; i < SIMPLER_TIMING_SLOTS; ++i)
    if (const SimplerSlotTimes &slot = times.slots[i]; slot.blocks) {
      char name[64];
      std::snprintf(name, sizeof(name), "chip.run.runner_run.device_wall.slot%d", i);
      lines.span(3, name, slot.first, slot.last);
    }
  lines.write();
}

} // namespace simpler::py
