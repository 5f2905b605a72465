//===- NodeGraph.cpp ------------------------------------------------------===//
#include "NodeGraph.h"

#include <algorithm>

namespace simpler::py {

static bool isWrite(int32_t tag) {
  return tag == static_cast<int32_t>(TensorArgType::OUTPUT) ||
         tag == static_cast<int32_t>(TensorArgType::INOUT) ||
         tag == static_cast<int32_t>(TensorArgType::OUTPUT_EXISTING);
}

static bool isTracked(int32_t tag) { return tag != static_cast<int32_t>(TensorArgType::NO_DEP); }

static bool touch(const Region &a, const Region &b) {
  return a.lo < b.hi && b.lo < a.hi && overlaps(a, b);
}

std::string NodeGraph::problem(const NodeTask &task) {
  struct Written {
    Region region;
    size_t member, argument;
  };
  std::vector<Written> written;
  for (size_t m = 0; m < task.members.size(); ++m) {
    const NodeMember &member = task.members[m];
    for (size_t i = 0; i < member.tensors.size(); ++i) {
      Region region;
      if (!isWrite(member.tags[i]) || !makeRegion(member.tensors[i], region))
        continue;
      for (const Written &other : written)
        if (touch(other.region, region)) {
          auto place = [&](size_t which, size_t argument) {
            std::string text = "argument " + std::to_string(argument);
            return task.members.size() > 1 ? text + " of member " + std::to_string(which) : text;
          };
          return place(other.member, other.argument) + " and " + place(m, i) +
                 " both write some of the same bytes";
        }
      written.push_back({region, m, i});
    }
  }
  return "";
}

NodeTask *NodeGraph::add(std::unique_ptr<NodeTask> owned) {
  NodeTask *task = owned.get();
  task->id = ++lastId_;
  task->open = task->members.size();
  size_t earlier = accesses_.size();
  std::vector<NodeTask *> found;
  for (const NodeMember &member : task->members)
    for (size_t i = 0; i < member.tensors.size(); ++i) {
      Access access{{}, isWrite(member.tags[i]), task};
      if (!isTracked(member.tags[i]) || !makeRegion(member.tensors[i], access.region))
        continue;
      for (size_t a = 0; a < earlier; ++a)
        if ((access.writes || accesses_[a].writes) && touch(accesses_[a].region, access.region))
          found.push_back(accesses_[a].task);
      accesses_.push_back(access);
    }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (NodeTask *predecessor : found)
    predecessor->successors.push_back(task);
  task->waitsFor = found.size();
  if (found.empty())
    ready.push_back(task);
  tasks_.push_back(std::move(owned));
  return task;
}

void NodeGraph::remove(NodeTask *task) {
  for (NodeTask *successor : task->successors)
    if (--successor->waitsFor == 0)
      ready.push_back(successor);
  std::erase_if(accesses_, [=](const Access &a) { return a.task == task; });
  std::erase_if(tasks_, [=](const std::unique_ptr<NodeTask> &t) { return t.get() == task; });
}

bool NodeGraph::isQuiet(uint64_t lo, uint64_t hi) const {
  return std::none_of(accesses_.begin(), accesses_.end(),
                      [=](const Access &a) { return a.region.lo < hi && lo < a.region.hi; });
}

} // namespace simpler::py
