//===- NodeDispatch.cpp - who gets which task, and with what memory -------===//
//
// Ready tasks are looked through in order. A device takes its ready tasks one after another; the
// first group that waits reserves its devices, so that it cannot starve. Memory that the children
// cannot see is copied to where they can, and what a task may have written is copied back.
//
//===----------------------------------------------------------------------===//
#include "NodeLane.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace simpler::py {

//===-- Choosing ----------------------------------------------------------===//

/// True: the task is on its way and leaves the list of ready ones.
bool NodeLane::assign(NodeTask *task, std::set<int32_t> &reserved, bool &groupWaits,
                      std::vector<Order> &orders) {
  auto give = [&](Child &child, size_t member) {
    child.task = task;
    child.member = member;
    child.running = task->id;
    child.sending = true;
    task->members[member].started = true;
    ++task->run->started;
    orders.push_back({&child, task, member, ""});
  };
  if (task->onDevices()) {
    for (const NodeMember &member : task->members)
      if (const Child &child = children_[static_cast<size_t>(member.device)]; child.dead) {
        fail(*task->run, SIMPLER_WORKER_LOST,
             "task t" + std::to_string(task->id) + " '" + member.name + "' is for " + child.name +
                 ", which " + child.death + "; close the worker");
        return false;
      }
    bool free = std::all_of(task->members.begin(), task->members.end(), [&](const NodeMember &m) {
      return children_[static_cast<size_t>(m.device)].idle() && !reserved.count(m.device);
    });
    if (free) {
      for (size_t i = 0; i < task->members.size(); ++i)
        give(children_[static_cast<size_t>(task->members[i].device)], i);
      return true;
    }
    if (task->members.size() == 1) {
      reserved.insert(task->members[0].device); // later ones do not overtake
    } else if (!groupWaits) {
      groupWaits = true;
      for (const NodeMember &member : task->members)
        reserved.insert(member.device);
    }
    return false;
  }
  size_t waiting = 0;
  bool anyAlive = false;
  auto candidate = children_.begin() + devices_;
  for (size_t i = 0; i < task->members.size(); ++i) {
    if (task->members[i].started)
      continue;
    while (candidate != children_.end() && !candidate->idle()) {
      anyAlive |= !candidate->dead;
      ++candidate;
    }
    if (candidate == children_.end()) {
      ++waiting;
      continue;
    }
    anyAlive = true;
    give(*candidate++, i);
  }
  if (waiting && !anyAlive)
    fail(*task->run, SIMPLER_WORKER_LOST,
         "task t" + std::to_string(task->id) + " '" + task->members[0].name +
             "' is for a sub-worker, and all of them are gone; the last one " +
             children_.back().death + "; close the worker");
  return waiting == 0;
}

/// Takes from the ready tasks what can start now; those of failed runs end here.
void NodeLane::collect(std::vector<Order> &orders) {
  std::set<int32_t> reserved;
  bool groupWaits = false;
  size_t i = 0;
  while (i < graph_.ready.size()) {
    NodeTask *task = graph_.ready[i];
    bool leaves = !task->run->failed() && assign(task, reserved, groupWaits, orders);
    if (task->run->failed() && !leaves) {
      // Members that run keep the task alive until they end.
      graph_.ready.erase(graph_.ready.begin() + static_cast<ptrdiff_t>(i));
      size_t running =
          static_cast<size_t>(std::count_if(task->members.begin(), task->members.end(),
                                            [](const NodeMember &m) { return m.started; }));
      size_t never = task->members.size() - running;
      task->open -= never;
      if (task->open == 0)
        complete(task);
    } else if (leaves) {
      graph_.ready.erase(graph_.ready.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void NodeLane::dispatch(Lock &lock) {
  for (;;) {
    std::vector<Order> orders;
    if (!closing_)
      collect(orders);
    if (orders.empty())
      return;
    lock.unlock();
    for (Order &order : orders)
      order.problem = send(*order.child, *order.task, order.member);
    lock.lock();
    for (Order &order : orders) {
      order.child->sending = false;
      if (!order.problem.empty())
        ended(*order.child, SIMPLER_HEAP_RING_DEADLOCK, order.problem);
    }
    changed_.notify_all();
  }
}

//===-- Sending -----------------------------------------------------------===//

/// Prepares the mailbox and tells the child. Empty, or why the task cannot be sent. A child that is
/// gone is no problem here: the reactor hears of it.
std::string NodeLane::send(Child &child, const NodeTask &task, size_t index) {
  const NodeMember &member = task.members[index];
  WireTask wire;
  wire.id = task.id;
  wire.callable = member.callable;
  wire.scalars = member.scalars;
  wire.config = member.config;
  wire.tags = member.tags;
  std::vector<Note> notes;
  std::string problem = place(child, member, *task.run, wire);
  if (!problem.empty())
    return problem;
  {
    std::lock_guard lock(mutex_);
    notes.swap(child.pending);
    auto found = callables_.find(member.callable);
    if (found != callables_.end() && child.known.insert(member.callable).second) {
      const std::string &bytes = found->second;
      char *block = heap_->allocate(bytes.size());
      if (!block) {
        child.known.erase(member.callable);
        return "the shared heap has no room for the callable; give a larger heap_ring_size";
      }
      std::memcpy(block, bytes.data(), bytes.size());
      child.contents.push_back(block);
      notes.push_back(
          {NoteKind::Define, 0, member.callable, reinterpret_cast<uintptr_t>(block), bytes.size()});
    }
  }
  std::string text = wire.encode();
  char *at = child.mailbox->task;
  if (text.size() > Mailbox::kTaskBytes) {
    at = child.spill = heap_->allocate(text.size());
    if (!at)
      return "the shared heap has no room for the arguments; give a larger heap_ring_size";
  }
  std::memcpy(at, text.data(), text.size());
  notes.push_back({NoteKind::Task, 0, task.id, reinterpret_cast<uintptr_t>(at), text.size()});
  for (const Note &note : notes)
    if (!sendNote(child.socket, note))
      break;
  return "";
}

/// Gives each tensor an address that the child knows.
std::string NodeLane::place(Child &child, const NodeMember &member, NodeRun &run, WireTask &wire) {
  struct Range {
    uint64_t lo, hi, at;
  };
  std::vector<Range> ranges;
  std::vector<size_t> staged;
  wire.tensors = member.tensors;
  wire.segmentOf.assign(member.tensors.size(), -1);
  {
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < member.tensors.size(); ++i) {
      Region region;
      if (!makeRegion(member.tensors[i], region) || heap_->contains(region.lo, region.hi))
        continue;
      auto segment = segments_.upper_bound(region.lo);
      if (segment != segments_.begin() &&
          region.hi <= std::prev(segment)->second.base + std::prev(segment)->second.bytes) {
        const Segment &found = std::prev(segment)->second;
        auto listed = std::find_if(wire.segments.begin(), wire.segments.end(),
                                   [&](const Segment &s) { return s.base == found.base; });
        wire.segmentOf[i] = static_cast<int32_t>(listed - wire.segments.begin());
        if (listed == wire.segments.end())
          wire.segments.push_back(found);
      } else if (!isShared(region, run)) {
        ranges.push_back({region.lo, region.hi, 0});
        staged.push_back(i);
      }
    }
  }
  if (staged.empty())
    return "";
  // Views of common bytes share their copy; each range keeps its alignment.
  std::sort(ranges.begin(), ranges.end(),
            [](const Range &a, const Range &b) { return a.lo < b.lo; });
  std::vector<Range> merged;
  for (const Range &range : ranges)
    if (!merged.empty() && range.lo < merged.back().hi)
      merged.back().hi = std::max(merged.back().hi, range.hi);
    else
      merged.push_back(range);
  uint64_t total = 0;
  for (Range &range : merged) {
    range.at = (total + 63) / 64 * 64 + range.lo % 64;
    total = range.at + (range.hi - range.lo);
  }
  if (total > child.stageBytes) {
    if (child.stage)
      heap_->free(child.stage);
    child.stage = heap_->allocate(total);
    child.stageBytes = child.stage ? total : 0;
    if (!child.stage)
      return "the shared heap has no room for a copy of " + std::to_string(total) +
             " bytes of host memory; use create_buffer, or give a larger heap_ring_size";
  }
  for (size_t i : staged) {
    const ChipTensor &tensor = member.tensors[i];
    uint64_t first = tensor.buffer.addr + tensor.start_offset * get_element_size(tensor.dtype);
    auto range = std::find_if(merged.begin(), merged.end(),
                              [&](const Range &r) { return r.lo <= first && first < r.hi; });
    char *at = child.stage + range->at + (first - range->lo);
    // What is only written is copied too: a task may leave bytes as they are.
    copyElements(tensor, at, reinterpret_cast<const char *>(static_cast<uintptr_t>(first)));
    if (wire.tags[i] != static_cast<int32_t>(TensorArgType::INPUT))
      child.copied.emplace_back(i, at);
    wire.tensors[i].buffer.addr = reinterpret_cast<uintptr_t>(at);
    wire.tensors[i].buffer.size = range->hi - first;
    wire.tensors[i].start_offset = 0;
  }
  return "";
}

void NodeLane::copyBack(Child &child) {
  for (auto [i, at] : child.copied) {
    const ChipTensor &tensor = child.task->members[child.member].tensors[i];
    uint64_t first = tensor.buffer.addr + tensor.start_offset * get_element_size(tensor.dtype);
    copyElements(tensor, reinterpret_cast<char *>(static_cast<uintptr_t>(first)), at);
  }
}

//===-- Memory ------------------------------------------------------------===//

bool sharedMappings(
    uint64_t holding,
    const std::function<void(uint64_t, uint64_t, uint64_t, const std::string &)> &visit) {
  FILE *maps = std::fopen("/proc/self/maps", "re");
  if (!maps)
    return false;
  char line[1024], mode[8], device[16];
  uint64_t lo, hi, offset, inode;
  while (std::fgets(line, sizeof(line), maps))
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %15s %" SCNu64, &lo, &hi, mode,
                    &offset, device, &inode) == 6 &&
        mode[1] == 'w' && mode[3] == 's' && (holding == 0 || (lo <= holding && holding < hi)))
      visit(lo, hi, offset, std::string(device) + " " + std::to_string(inode));
  std::fclose(maps);
  return true;
}

/// Shared memory that the children have inherited and that is still the same here. Its owner is
/// kept until the run ends, so one look in a run is enough.
bool NodeLane::isShared(const Region &region, NodeRun &run) {
  for (const Mapping &mapping : inherited_) {
    if (region.lo < mapping.lo || region.hi > mapping.hi)
      continue;
    if (run.sharedSince.count(mapping.lo))
      return true;
    bool same = false;
    sharedMappings(region.lo, [&](uint64_t lo, uint64_t hi, uint64_t offset,
                                  const std::string &file) {
      same = region.hi <= hi && file == mapping.file && mapping.lo - mapping.offset == lo - offset;
    });
    if (same)
      run.sharedSince.insert(mapping.lo);
    return same;
  }
  return false;
}

char *NodeLane::allocate(uint64_t bytes, const std::shared_ptr<NodeRun> &run) {
  char *block = heap_->allocate(bytes);
  if (block && run) {
    std::lock_guard lock(mutex_);
    run->blocks.push_back(block);
  }
  return block;
}

void NodeLane::release(char *block) {
  {
    std::lock_guard lock(mutex_);
    for (const auto &run : runs_)
      std::erase(run->blocks, block);
  }
  heap_->free(block);
}

void NodeLane::share(const std::string &name, uint64_t base, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  segments_[base] = {++lastSegment_, name, base, bytes};
}

void NodeLane::unshare(uint64_t base) {
  std::lock_guard lock(mutex_);
  auto found = segments_.find(base);
  if (found == segments_.end())
    return;
  // Children are told before their next task.
  for (Child &child : children_)
    child.pending.push_back({NoteKind::Unmap, 0, found->second.id, 0, 0});
  segments_.erase(found);
}

} // namespace simpler::py
