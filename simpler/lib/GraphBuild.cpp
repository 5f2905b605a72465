//===- GraphBuild.cpp - from what a body submitted to nodes and edges -----===//
//
// Edges come from a tensor map of their own in which no task ever completes: the map of the run
// forgets readers that are done, a recording must not.
//
//===----------------------------------------------------------------------===//
#include "KernelCall.h"
#include "Run.h"

#include <algorithm>

namespace simpler {

namespace {

class Builder {
public:
  Builder(GraphDefinition &definition, const GraphCall &call, uint64_t tag, std::string &why)
      : d_(definition), r_(definition.recording), call_(call), tag_(tag), why_(why) {}

  bool build() {
    for (int32_t i = 0; i < call_.numTensors; ++i) {
      Region region;
      bool full = makeRegion(*call_.tensors[i], region);
      regions_.push_back(region);
      empty_.push_back(!full);
    }
    d_.access.assign(call_.numTensors, GraphDefinition::Untouched);
    d_.hull.assign(call_.numTensors, false);
    return number() && locate() && scalars() && edges() && patches();
  }

private:
  bool refuse(std::string text) {
    why_ = std::move(text);
    return false;
  }
  std::string nodeName(size_t k) const {
    const SimplerKernel *kernel = nullptr;
    for (const SimplerKernel *lane : r_.nodes[k].kernels)
      kernel = kernel ? kernel : lane;
    return taskName(tag_ | (r_.firstLocal + r_.nodes[k].sequence - r_.firstSequence), kernel).text;
  }

  /// Node by sequence: allocations take numbers, too.
  bool number() {
    uint64_t count = 0;
    for (const auto &node : r_.nodes)
      count = std::max(count, node.sequence - r_.firstSequence + 1);
    nodeOf_.assign(count, -1);
    for (size_t k = 0; k < r_.nodes.size(); ++k)
      nodeOf_[r_.nodes[k].sequence - r_.firstSequence] = static_cast<int32_t>(k);
    // Internal tensors get addresses of their own here: memory that was used twice while recording
    // would order tasks that have nothing in common.
    uint64_t at = 1ull << 62;
    for (const auto &internal : r_.internals) {
      fakeAddress_.push_back(at);
      at += (internal.bytes / 4096 + 2) * 4096;
    }
    return true;
  }

  const GraphRecording::Internal *internalOf(const ChipTensor &t, uint16_t &index) const {
    for (size_t i = r_.internals.size(); i-- > 0;) {
      const auto &internal = r_.internals[i];
      if (internal.creator == t.owner_task_id.raw && internal.address == t.buffer.addr) {
        index = static_cast<uint16_t>(i);
        return &internal;
      }
    }
    return nullptr;
  }

  bool locate() {
    if (r_.internals.size() > UINT16_MAX)
      return refuse("it allocates more than 65535 tensors");
    d_.places.resize(r_.tensors.size());
    for (size_t k = 0; k < r_.nodes.size(); ++k) {
      const auto &node = r_.nodes[k];
      uint32_t end = node.firstTensor + node.numTensors + (node.predicateTensor != r_.kNone);
      for (uint32_t i = node.firstTensor; i < end; ++i)
        if (!place(k, i))
          return false;
    }
    return true;
  }

  bool place(size_t k, uint32_t at) {
    const ChipTensor &t = r_.tensors[at];
    GraphPlace &place = d_.places[at];
    Region region;
    uint64_t size = get_element_size(t.dtype);
    if (t.ndims < 1 || t.ndims > MAX_TENSOR_DIMS || size == 0)
      return refuse(nodeName(k) + " has a tensor argument without a shape");
    bool full = makeRegion(t, region);
    if (full && (region.lo < t.buffer.addr || region.hi > t.buffer.addr + t.buffer.size))
      return refuse(nodeName(k) + " reaches past the end of an allocation");
    uint16_t index;
    if (internalOf(t, index)) {
      place = {GraphPlace::Internal, index, 0};
      return true;
    }
    int32_t found = -1;
    bool hull = false;
    for (int32_t i = 0; i < call_.numTensors; ++i) {
      const ChipTensor &b = *call_.tensors[i];
      if (b.buffer.addr != t.buffer.addr)
        continue;
      if (!full) {
        found = i;
        break;
      }
      if (empty_[i] || region.lo < regions_[i].lo || region.hi > regions_[i].hi)
        continue;
      bool inside = covers(regions_[i], region);
      if (found < 0 || (inside && hull)) {
        found = i;
        hull = !inside;
      }
      if (inside)
        break;
    }
    if (found < 0) {
      if (!full && t.buffer.addr == 0) {
        place = {GraphPlace::Nothing, 0, 0};
        return true;
      }
      return refuse(nodeName(k) +
                    " uses a tensor that is neither an argument of the graph nor made in it");
    }
    const ChipTensor &b = *call_.tensors[found];
    place = {GraphPlace::Boundary, static_cast<uint16_t>(found),
             static_cast<int64_t>(t.start_offset - b.start_offset)};
    if (get_element_size(b.dtype) != size)
      d_.retyped = true; // origins count other units: only the same address is served
    if (hull)
      d_.hull[found] = true;
    return true;
  }

  /// A word that is an address in a tensor would be wrong after the tensor has moved.
  bool scalars() {
    for (size_t k = 0; k < r_.nodes.size(); ++k) {
      const auto &node = r_.nodes[k];
      for (uint32_t i = 0; i < node.numScalars; ++i) {
        int8_t source = r_.sources[node.firstScalar + i];
        uint64_t word = r_.scalars[node.firstScalar + i];
        if (source >= 0) {
          if (source >= call_.numScalars || call_.scalars[source] != word)
            return refuse(nodeName(k) + " says that scalar " + std::to_string(i) +
                          " is a boundary scalar, but it has another value");
          d_.scalarPatches.push_back(
              {static_cast<uint32_t>(k), static_cast<uint8_t>(i), static_cast<uint8_t>(source)});
          continue;
        }
        auto inside = [&](uint64_t address, uint64_t bytes) {
          return address && word >= address && word - address < bytes;
        };
        bool pointer = false;
        for (int32_t b = 0; b < call_.numTensors; ++b)
          pointer |= inside(call_.tensors[b]->buffer.addr, call_.tensors[b]->buffer.size);
        for (const auto &internal : r_.internals)
          pointer |= inside(internal.address, internal.bytes);
        if (pointer)
          return refuse(nodeName(k) + " gets the address of a tensor as scalar " +
                        std::to_string(i));
      }
    }
    return true;
  }

  bool edges() {
    size_t n = r_.nodes.size();
    std::unique_ptr<Task[]> tasks(new Task[n]);
    std::vector<std::vector<uint32_t>> from(n); // predecessors
    std::vector<uint32_t> mark(n, GraphRecording::kNone);
    for (size_t k = 0; k < n; ++k) {
      tasks[k].sequence = k + 1;
      tasks[k].successors.store(nullptr, std::memory_order_relaxed);
    }
    TensorMap map;
    for (uint32_t k = 0; k < n; ++k) {
      const auto &node = r_.nodes[k];
      auto after = [&](uint32_t j) {
        if (j == k || mark[j] == k)
          return;
        mark[j] = k;
        from[k].push_back(j);
      };
      auto edge = [&](const TensorMap::Access &access, TensorMap::Record &) {
        if (access.task)
          after(static_cast<uint32_t>(access.sequence - 1));
      };
      bool predicate = node.predicateTensor != GraphRecording::kNone;
      for (uint32_t i = node.firstTensor, end = i + node.numTensors + predicate; i < end; ++i) {
        ChipTensor t = r_.tensors[i];
        const GraphPlace &place = d_.places[i];
        uint8_t tag = r_.tags[i];
        bool creatorOnly = tag == SIMPLER_ARG_NO_DEP || t.manual_dep;
        if (place.kind == GraphPlace::Internal)
          t.buffer.addr = fakeAddress_[place.index];
        if (place.kind == GraphPlace::Boundary) {
          auto access = creatorOnly                ? GraphDefinition::Creator
                        : tag == SIMPLER_ARG_INPUT ? GraphDefinition::Read
                                                   : GraphDefinition::Write;
          d_.access[place.index] = std::max<uint8_t>(d_.access[place.index], access);
        }
        Region region;
        if (!makeRegion(t, region) || node.manual)
          continue;
        if (creatorOnly) {
          if (place.kind == GraphPlace::Internal && r_.internals[place.index].byTask &&
              i != node.predicateTensor)
            if (int32_t maker = nodeAt(r_.internals[place.index].sequence); maker >= 0)
              after(static_cast<uint32_t>(maker));
          continue;
        }
        TensorMap::Record &record = map.find(region);
        if (tag == SIMPLER_ARG_INPUT) {
          map.beforeRead(record, edge);
          map.read(record, &tasks[k]);
        } else {
          map.beforeWrite(record, edge);
          map.write(record, &tasks[k]);
        }
      }
      for (uint32_t i = node.firstDep; i < node.firstDep + node.numDeps; ++i)
        if (!explicitEdge(k, r_.deps[i], after))
          return false;
    }
    d_.fanIn.resize(n);
    d_.successorBegin.assign(n + 1, 0);
    for (uint32_t k = 0; k < n; ++k) {
      d_.fanIn[k] = static_cast<int32_t>(from[k].size());
      if (from[k].empty())
        d_.starters.push_back(k);
      for (uint32_t j : from[k])
        ++d_.successorBegin[j + 1];
    }
    for (uint32_t k = 0; k < n; ++k)
      d_.successorBegin[k + 1] += d_.successorBegin[k];
    d_.successors.resize(d_.successorBegin[n]);
    std::vector<uint32_t> at(d_.successorBegin.begin(), d_.successorBegin.end() - 1);
    for (uint32_t k = 0; k < n; ++k)
      for (uint32_t j : from[k])
        d_.successors[at[j]++] = k;
    return true;
  }

  int32_t nodeAt(uint64_t sequence) const {
    uint64_t local = sequence - r_.firstSequence;
    return local < nodeOf_.size() ? nodeOf_[local] : -1;
  }

  template <typename After> bool explicitEdge(uint32_t k, uint64_t id, After &&after) {
    if (id == SIMPLER_NO_TASK)
      return true;
    uint64_t tag = id >> 40 << 40;
    uint32_t local = static_cast<uint32_t>(id) - r_.firstLocal;
    if ((tag != tag_ && tag != 0) || static_cast<uint32_t>(id) < r_.firstLocal)
      return refuse(nodeName(k) + " depends on a task outside the graph");
    int32_t node = local < nodeOf_.size() ? nodeOf_[local] : -1;
    if (local >= r_.nodes[k].sequence - r_.firstSequence)
      return refuse(nodeName(k) + " depends on a task that comes later");
    if (node >= 0) // others are allocations, complete at once
      after(static_cast<uint32_t>(node));
    return true;
  }

  bool patches() {
    std::vector<std::vector<GraphDefinition::Patch>> byTensor(call_.numTensors);
    for (uint32_t k = 0; k < r_.nodes.size(); ++k) {
      const auto &node = r_.nodes[k];
      for (uint32_t i = 0; i < node.numTensors; ++i) {
        const GraphPlace &place = d_.places[node.firstTensor + i];
        if (place.kind == GraphPlace::Boundary)
          byTensor[place.index].push_back({k, i, place.delta});
      }
      bool predicated = node.predicateTensor != GraphRecording::kNone;
      int lanes = 0;
      for (const SimplerKernel *lane : node.kernels)
        lanes += lane != nullptr;
      if (predicated || node.blocks != 1 || lanes > 1)
        d_.special.push_back(k);
      if (predicated) {
        const ChipTensor &operand = r_.tensors[node.predicateTensor];
        for (uint32_t axis = 0; axis < operand.ndims; ++axis)
          if (node.predicateIndex[axis] >= operand.shapes[axis])
            return refuse(nodeName(k) + " has a predicate outside its operand");
      }
    }
    for (auto &list : byTensor) {
      d_.patchBegin.push_back(static_cast<uint32_t>(d_.patches.size()));
      d_.patches.insert(d_.patches.end(), list.begin(), list.end());
    }
    d_.patchBegin.push_back(static_cast<uint32_t>(d_.patches.size()));
    return true;
  }

  GraphDefinition &d_;
  const GraphRecording &r_;
  const GraphCall &call_;
  const uint64_t tag_;
  std::string &why_;
  std::vector<Region> regions_;
  std::vector<bool> empty_;
  std::vector<int32_t> nodeOf_;
  std::vector<uint64_t> fakeAddress_;
};

} // namespace

bool buildGraph(GraphDefinition &definition, const GraphCall &call, uint64_t tag,
                std::string &why) {
  return Builder(definition, call, tag, why).build();
}

} // namespace simpler
