//===- Trace.cpp - one timeline of the process ----------------------------===//
#include "support/Trace.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <vector>

namespace pto::trace {

std::atomic<bool> recording{false};

namespace {

struct Event {
  std::string category, name, track;
  uint64_t begin, end;
};

struct Buffer {
  std::mutex mutex; // taken by its thread at each event, by json() now and then
  std::vector<Event> events;
  long thread;
};

struct Registry {
  std::mutex mutex;
  std::vector<std::shared_ptr<Buffer>> buffers;
};

Registry &registry() {
  static Registry *instance = new Registry; // outlives threads that end after main
  return *instance;
}

Buffer &ownBuffer() {
  thread_local std::shared_ptr<Buffer> buffer = [] {
    auto made = std::make_shared<Buffer>();
    made->thread = gettid();
    Registry &all = registry();
    std::lock_guard lock(all.mutex);
    all.buffers.push_back(made);
    return made;
  }();
  return *buffer;
}

void appendQuoted(std::string &out, std::string_view text) {
  out += '"';
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      out += escaped;
    } else {
      out += static_cast<char>(c);
    }
  }
  out += '"';
}

} // namespace

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

void start() { recording.store(true, std::memory_order_relaxed); }
void stop() { recording.store(false, std::memory_order_relaxed); }

void add(std::string_view category, std::string_view name, uint64_t beginNs, uint64_t endNs,
         std::string_view track) {
  if (!enabled())
    return;
  Buffer &buffer = ownBuffer();
  std::lock_guard lock(buffer.mutex);
  buffer.events.push_back({std::string(category), std::string(name), std::string(track), beginNs,
                           endNs < beginNs ? beginNs : endNs});
}

std::string json() {
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  const long process = getpid();
  std::map<std::string, long> tracks; // named rows get ids below any thread's
  bool first = true;
  auto begin = [&] {
    out += first ? "\n" : ",\n";
    first = false;
  };
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  for (const std::shared_ptr<Buffer> &buffer : all.buffers) {
    std::lock_guard own(buffer->mutex);
    for (const Event &event : buffer->events) {
      long row = buffer->thread;
      if (!event.track.empty())
        row = tracks.try_emplace(event.track, static_cast<long>(tracks.size()) + 1).first->second;
      begin();
      out += "{\"ph\":\"X\",\"cat\":";
      appendQuoted(out, event.category);
      out += ",\"name\":";
      appendQuoted(out, event.name);
      char numbers[160];
      std::snprintf(numbers, sizeof numbers, ",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%ld,\"tid\":%ld}",
                    static_cast<double>(event.begin) / 1e3,
                    static_cast<double>(event.end - event.begin) / 1e3, process, row);
      out += numbers;
    }
  }
  for (const auto &[name, row] : tracks) {
    begin();
    out += "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" + std::to_string(process) +
           ",\"tid\":" + std::to_string(row) + ",\"args\":{\"name\":";
    appendQuoted(out, name);
    out += "}}";
  }
  out += "\n]}\n";
  return out;
}

void clear() {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  for (const std::shared_ptr<Buffer> &buffer : all.buffers) {
    std::lock_guard own(buffer->mutex);
    buffer->events.clear();
  }
}

bool write(const std::string &path, std::string &error) {
  std::string text = json();
  std::string temporary = path + ".tmp" + std::to_string(getpid());
  FILE *file = std::fopen(temporary.c_str(), "w");
  bool good = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file)
    good = std::fclose(file) == 0 && good;
  good = good && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (!good) {
    error = path + ": " + std::strerror(errno);
    if (file)
      std::remove(temporary.c_str());
  }
  return good;
}

} // namespace pto::trace
