//===- NodeChild.h - the side of the children -----------------------------===//
//
// A child is forked from the thread that initialises the node. It answers one task after
// another until it is told to stop, its socket closes, or its parent is gone; the last two
// end the process at once, whatever it is doing.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_BINDINGS_NODE_CHILD_H
#define SIMPLER_BINDINGS_NODE_CHILD_H

#include "../RunLane.h"
#include "NodeWire.h"

#include <map>
#include <sys/types.h>

namespace simpler::py {

class NodeChild {
public:
  NodeChild(int socket, Mailbox *mailbox, pid_t parent);

  /// A device: tasks run on `lane`; `callables` are those that were registered before the fork.
  void serveDevice(RunLane &lane, std::map<uint64_t, std::shared_ptr<Loaded>> callables);
  /// A sub-worker: call(callable, TaskArgs) returns None or the text of an error;
  /// define(callable, bytes or None) adds and removes functions.
  void servePython(nb::object call, nb::object define);
  /// Tells the parent that this child cannot work.
  void refuse(const std::string &why);
  /// True while a task runs that is to stop; for signal handlers.
  bool shouldStop() const;

private:
  void hello();
  template <typename Perform, typename Define> void serve(Perform perform, Define define);
  bool receiveTask(const Note &note, WireTask &task, std::string &problem);
  bool attach(WireTask &task, std::string &problem);
  void detach(uint64_t segment);
  void answer(const Note &note, int32_t status, const std::string &text);

  int socket_;
  Mailbox *mailbox_;
  struct Mapping {
    char *base;
    uint64_t bytes;
  };
  std::map<uint64_t, Mapping> segments_;
};

} // namespace simpler::py

#endif // SIMPLER_BINDINGS_NODE_CHILD_H
