//===- NodeWire.h - what a node and its children say to each other --------===//
//
// A child has a socket for short notes and a mailbox in the shared heap for their contents:
// one task at a time, its answer, and the number of a task that is to stop.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_BINDINGS_NODE_WIRE_H
#define SIMPLER_BINDINGS_NODE_WIRE_H

#include "../CallConfig.h"

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

namespace simpler::py {

enum class NoteKind : uint32_t {
  Hello,  // child: ready (status 0) or why not
  Task,   // parent: the task at `address`
  Done,   // child: status and length of the text in the mailbox
  Define, // parent: callable `id`, its contents at `address`; no answer
  Forget, // parent: callable `id` is not used any more; no answer
  Unmap,  // parent: segment `id` was released; no answer
  Stop
};

struct Note {
  NoteKind kind;
  int32_t status;
  uint64_t id;
  uint64_t address;
  uint64_t bytes;
};

/// At the start of each child's mailbox.
struct Mailbox {
  static constexpr uint64_t kReplyBytes = 64 << 10;
  static constexpr uint64_t kTaskBytes = 192 << 10;
  std::atomic<uint64_t> interrupt{0}; // the task that is to stop
  std::atomic<uint64_t> current{0};   // the task that runs
  char reply[kReplyBytes];
  char task[kTaskBytes];
};

/// Shared memory that was made after the children: they attach it by name.
struct Segment {
  uint64_t id = 0; // never used again
  std::string name;
  uint64_t base = 0, bytes = 0; // where it is in the parent
};

/// One member of a task as it crosses the border. Tensors in segments keep the parent's addresses.
struct WireTask {
  uint64_t id = 0;
  uint64_t callable = 0;
  std::vector<ChipTensor> tensors;
  std::vector<int32_t> tags;
  std::vector<int32_t> segmentOf; // by tensor; -1: the address is good everywhere
  std::vector<uint64_t> scalars;
  std::vector<Segment> segments;
  CallConfig config;

  std::string encode() const;
  /// False when the text is damaged.
  bool decode(std::string_view text);
};

/// Copies the elements of a view between two places with the same layout: `base` is the address of
/// the first element there.
void copyElements(const ChipTensor &view, char *to, const char *from);

/// Sends one note; false when the other side is gone. Repeats after signals.
bool sendNote(int socket, const Note &note);
/// 1: a note, 0: the other side is gone, -1: nothing there (sockets that do not block).
int receiveNote(int socket, Note &note);

} // namespace simpler::py

#endif // SIMPLER_BINDINGS_NODE_WIRE_H
