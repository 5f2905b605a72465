//===- Log.cpp - messages to stderr ---------------------------------------===//
#include "Log.h"

#include <atomic>
#include <cstdio>

namespace simpler {

static std::atomic<int32_t> threshold{25};

void setLogThreshold(int32_t level) { threshold.store(level); }

void logMessage(int32_t level, const char *text) {
  if (level < threshold.load(std::memory_order_relaxed))
    return;
  const char *name = level >= 40   ? "ERROR"
                     : level >= 30 ? "WARN"
                     : level >= 25 ? "TIMING"
                     : level >= 20 ? "INFO"
                                   : "DEBUG";
  std::fprintf(stderr, "[simpler %s] %s\n", name, text);
}

} // namespace simpler

extern "C" SIMPLER_API void simpler_set_log_threshold(int32_t level) {
  simpler::setLogThreshold(level);
}
