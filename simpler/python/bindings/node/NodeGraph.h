//===- NodeGraph.h - which task of a node waits for which -----------------===//
//
// Tasks are few and long here: live accesses are a list that each new task is compared with,
// by the same regions that tasks on a device are. Order: RAW, WAR and WAW by bytes. No locks:
// the node's mutex guards it.
//
//===----------------------------------------------------------------------===//
#ifndef SIMPLER_BINDINGS_NODE_GRAPH_H
#define SIMPLER_BINDINGS_NODE_GRAPH_H

#include "../../../lib/Region.h"
#include "../CallConfig.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace simpler::py {

class NodeRun;

/// One call of a task: a device task and a Python task have one, groups several.
struct NodeMember {
  std::string name;
  uint64_t callable = 0;
  std::vector<ChipTensor> tensors; // the parent's addresses
  std::vector<int32_t> tags;       // TensorArgType
  std::vector<uint64_t> scalars;
  CallConfig config;
  int32_t device = -1; // -1: any sub-worker
  bool started = false;
};

struct NodeTask {
  uint64_t id = 0; // from 1
  std::shared_ptr<NodeRun> run;
  std::vector<NodeMember> members;
  size_t open = 0;     // members that have not ended
  size_t waitsFor = 0; // predecessors that have not ended
  std::vector<NodeTask *> successors;

  bool onDevices() const { return members[0].device >= 0; }
  bool started() const { return members[0].started; }
};

class NodeGraph {
public:
  /// Empty when the arguments are sound, else what is wrong: two of them write a common byte.
  static std::string problem(const NodeTask &task);

  /// Adds the task behind all earlier ones that touch its bytes.
  NodeTask *add(std::unique_ptr<NodeTask> task);
  /// The task has ended: its successors may become ready. Frees it.
  void remove(NodeTask *task);
  /// True when no live task touches a byte of [lo, hi).
  bool isQuiet(uint64_t lo, uint64_t hi) const;

  size_t size() const { return tasks_.size(); }
  /// Tasks without open predecessors, the earliest first. Whoever starts one takes it out.
  std::deque<NodeTask *> ready;

private:
  struct Access {
    Region region;
    bool writes;
    NodeTask *task;
  };
  std::vector<std::unique_ptr<NodeTask>> tasks_;
  std::vector<Access> accesses_;
  uint64_t lastId_ = 0;
};

} // namespace simpler::py

#endif // SIMPLER_BINDINGS_NODE_GRAPH_H
