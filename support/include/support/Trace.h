//===- Trace.h - one timeline of the process ------------------------------===//
//
// Compile stages, calls and tasks add events; `write` gives Chrome/Perfetto JSON.
// Times are CLOCK_MONOTONIC nanoseconds. Off (the default) an event costs one load.
// Thread-safe: each thread fills its own buffer.
//
//===----------------------------------------------------------------------===//
#ifndef SUPPORT_TRACE_H
#define SUPPORT_TRACE_H

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace pto::trace {

extern std::atomic<bool> recording;

inline bool enabled() { return recording.load(std::memory_order_relaxed); }
void start();
void stop();
/// Nanoseconds of the monotonic clock.
uint64_t now();

/// A finished piece of work. `category` groups events ("compile", "call", "task"); `track` is the
/// row it is shown in, empty for the calling thread.
void add(std::string_view category, std::string_view name, uint64_t beginNs, uint64_t endNs,
         std::string_view track = {});

/// Records the life of the object.
class Scope {
public:
  Scope(std::string_view category, std::string_view name)
      : category_(category), name_(name), begin_(enabled() ? now() : 0) {}
  ~Scope() {
    if (begin_)
      add(category_, name_, begin_, now());
  }
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

private:
  std::string_view category_, name_;
  uint64_t begin_;
};

/// JSON of all events so far; `clear` drops them.
std::string json();
void clear();
/// Writes json() to `path` through a temporary name; false with `error` set when that fails.
bool write(const std::string &path, std::string &error);

} // namespace pto::trace
#endif // SUPPORT_TRACE_H
