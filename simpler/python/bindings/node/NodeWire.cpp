//===- NodeWire.cpp - encoding of tasks, notes over a socket --------------===//
#include "NodeWire.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace simpler::py {

namespace {

struct Writer {
  std::string text;
  template <typename T> void put(const T &value) {
    text.append(reinterpret_cast<const char *>(&value), sizeof(T));
  }
  template <typename T> void putAll(const std::vector<T> &values) {
    put(static_cast<uint32_t>(values.size()));
    text.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
  }
  void putText(const std::string &value) {
    put(static_cast<uint32_t>(value.size()));
    text += value;
  }
};

struct Reader {
  std::string_view text;
  bool good = true;
  bool take(void *to, size_t bytes) {
    good = good && bytes <= text.size();
    if (!good)
      return false;
    std::memcpy(to, text.data(), bytes);
    text.remove_prefix(bytes);
    return true;
  }
  template <typename T> void get(T &value) { take(&value, sizeof(T)); }
  template <typename T> void getAll(std::vector<T> &values) {
    uint32_t count = 0;
    get(count);
    if (good && count * sizeof(T) <= text.size()) {
      values.resize(count);
      take(values.data(), count * sizeof(T));
    } else {
      good = false;
    }
  }
  void getText(std::string &value) {
    uint32_t count = 0;
    get(count);
    if (good && count <= text.size()) {
      value.assign(text.data(), count);
      text.remove_prefix(count);
    } else {
      good = false;
    }
  }
};

} // namespace

std::string WireTask::encode() const {
  Writer w;
  w.put(id);
  w.put(callable);
  w.putAll(tensors);
  w.putAll(tags);
  w.putAll(segmentOf);
  w.putAll(scalars);
  w.put(static_cast<uint32_t>(segments.size()));
  for (const Segment &s : segments) {
    w.put(s.id);
    w.putText(s.name);
    w.put(s.base);
    w.put(s.bytes);
  }
  w.put(config.aicpuThreads);
  w.put(config.swimlane);
  w.put(config.dumpArgs);
  w.put(config.pmu);
  w.put(config.depGen);
  w.put(config.scopeStats);
  w.put(config.env);
  w.putText(config.outputPrefix);
  return std::move(w.text);
}

bool WireTask::decode(std::string_view text) {
  Reader r{text};
  r.get(id);
  r.get(callable);
  r.getAll(tensors);
  r.getAll(tags);
  r.getAll(segmentOf);
  r.getAll(scalars);
  uint32_t count = 0;
  r.get(count);
  segments.clear();
  for (uint32_t i = 0; i < count && r.good; ++i) {
    Segment &s = segments.emplace_back();
    r.get(s.id);
    r.getText(s.name);
    r.get(s.base);
    r.get(s.bytes);
  }
  r.get(config.aicpuThreads);
  r.get(config.swimlane);
  r.get(config.dumpArgs);
  r.get(config.pmu);
  r.get(config.depGen);
  r.get(config.scopeStats);
  r.get(config.env);
  r.getText(config.outputPrefix);
  return r.good && tags.size() == tensors.size() && segmentOf.size() == tensors.size();
}

void copyElements(const ChipTensor &view, char *to, const char *from) {
  uint64_t size = get_element_size(view.dtype);
  // The innermost axes that are packed are one piece.
  uint64_t piece = 1;
  uint32_t outer = view.ndims;
  while (outer > 0 && (view.strides[outer - 1] == piece || view.shapes[outer - 1] == 1))
    piece *= view.shapes[--outer];
  for (uint32_t d = 0; d < outer; ++d)
    if (view.shapes[d] == 0)
      return;
  uint32_t at[MAX_TENSOR_DIMS] = {};
  for (;;) {
    uint64_t offset = 0;
    for (uint32_t d = 0; d < outer; ++d)
      offset += static_cast<uint64_t>(at[d]) * view.strides[d];
    std::memcpy(to + offset * size, from + offset * size, piece * size);
    uint32_t d = outer;
    while (d > 0 && ++at[d - 1] == view.shapes[d - 1])
      at[--d] = 0;
    if (d == 0)
      return;
  }
}

bool sendNote(int socket, const Note &note) {
  for (;;) {
    if (send(socket, &note, sizeof(note), MSG_NOSIGNAL) == sizeof(note))
      return true;
    if (errno != EINTR)
      return false;
  }
}

int receiveNote(int socket, Note &note) {
  for (;;) {
    ssize_t got = recv(socket, &note, sizeof(note), 0);
    if (got == sizeof(note))
      return 1;
    if (got < 0 && errno == EINTR)
      continue;
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? -1 : 0;
  }
}

} // namespace simpler::py
