//===- GraphStore.cpp - which definition serves a call; instances ---------===//
#include "Gang.h"
#include "Run.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace simpler {

//===-- Recording ---------------------------------------------------------===//

void GraphRecording::clear(uint64_t first, uint32_t local) {
  firstSequence = first;
  firstLocal = local;
  nodes.clear();
  tensors.clear();
  tags.clear();
  scalars.clear();
  sources.clear();
  deps.clear();
  internals.clear();
}

void GraphRecording::add(const Submission &s, uint64_t sequence, bool manual) {
  Node node{};
  std::copy_n(s.kernels, 3, node.kernels);
  node.sequence = sequence;
  node.firstTensor = static_cast<uint32_t>(tensors.size());
  node.firstScalar = static_cast<uint32_t>(scalars.size());
  node.firstDep = static_cast<uint32_t>(deps.size());
  node.numTensors = static_cast<uint8_t>(s.numTensors);
  node.numScalars = static_cast<uint8_t>(s.numScalars);
  node.blocks = 1;
  node.manual = manual;
  node.predicateTensor = kNone;
  for (int32_t i = 0; i < s.numTensors; ++i)
    tensors.push_back(*s.tensors[i]);
  tags.insert(tags.end(), s.tags, s.tags + s.numTensors);
  scalars.insert(scalars.end(), s.scalars, s.scalars + s.numScalars);
  if (s.scalarSources)
    sources.insert(sources.end(), s.scalarSources, s.scalarSources + s.numScalars);
  else
    sources.insert(sources.end(), s.numScalars, -1);
  if (const SimplerLaunch *launch = s.launch) {
    node.blocks = launch->block_num;
    node.syncStart = launch->sync_start;
    deps.insert(deps.end(), launch->deps, launch->deps + launch->num_deps);
    node.numDeps = static_cast<uint32_t>(launch->num_deps);
    if (launch->predicate_op != SIMPLER_PRED_NONE && launch->predicate_tensor) {
      node.predicateOp = launch->predicate_op;
      node.predicateTarget = launch->predicate_target;
      std::copy_n(launch->predicate_index, MAX_TENSOR_DIMS, node.predicateIndex);
      node.predicateTensor = static_cast<uint32_t>(tensors.size());
      tensors.push_back(*launch->predicate_tensor);
      tags.push_back(SIMPLER_ARG_INPUT);
    }
  }
  nodes.push_back(node);
}

//===-- Finding -----------------------------------------------------------===//

/// From `version` on: what calls must agree in. Address, owner and origin lie before.
static constexpr size_t kShapeAt = offsetof(ChipTensor, version);
static bool sameShape(const ChipTensor &a, const ChipTensor &b) {
  return std::memcmp(reinterpret_cast<const char *>(&a) + kShapeAt,
                     reinterpret_cast<const char *>(&b) + kShapeAt,
                     sizeof(ChipTensor) - kShapeAt) == 0;
}
static bool samePlace(const ChipTensor &a, const ChipTensor &b) {
  return a.buffer.addr == b.buffer.addr && a.buffer.size == b.buffer.size &&
         a.start_offset == b.start_offset;
}

static uint64_t hashOf(const GraphCall &call) {
  uint64_t hash = 1469598103934665603ull;
  auto mix = [&](uint64_t word) { hash = (hash ^ word) * 0x9e3779b97f4a7c15ull; };
  mix(call.owner);
  mix(call.id);
  mix(call.function);
  for (int32_t i = 0; i < call.numConfig; ++i)
    mix(call.config[i]);
  return hash ^ hash >> 29;
}

static bool sameKey(const GraphDefinition &d, const GraphCall &call, uint64_t hash) {
  return d.hash == hash && d.owner == call.owner && d.id == call.id &&
         d.function == call.function &&
         std::equal(d.config.begin(), d.config.end(), call.config, call.config + call.numConfig);
}

static bool sameSignature(const GraphDefinition &d, const GraphCall &call) {
  if (d.boundary.size() != static_cast<size_t>(call.numTensors) ||
      d.scalars.size() != static_cast<size_t>(call.numScalars))
    return false;
  for (int32_t i = 0; i < call.numTensors; ++i)
    if (d.tags[i] != call.tags[i] || !sameShape(d.boundary[i], *call.tensors[i]))
      return false;
  return true;
}

static bool samePlaces(const GraphDefinition &d, const GraphCall &call) {
  for (int32_t i = 0; i < call.numTensors; ++i)
    if (!samePlace(d.boundary[i], *call.tensors[i]))
      return false;
  return true;
}

static bool sameClusters(const GraphDefinition &d, const GraphCall &call) {
  if (call.numTensors == 1)
    return true;
  std::vector<uint16_t> cluster;
  std::vector<int64_t> offset;
  uint16_t few[16];
  int64_t fewOffsets[16];
  uint16_t *clusters = few;
  int64_t *offsets = fewOffsets;
  if (call.numTensors > 16) {
    cluster.resize(call.numTensors);
    offset.resize(call.numTensors);
    clusters = cluster.data();
    offsets = offset.data();
  }
  clusterBoundary(call, clusters, offsets);
  return std::equal(d.cluster.begin(), d.cluster.end(), clusters) &&
         std::equal(d.clusterOffset.begin(), d.clusterOffset.end(), offsets);
}

void clusterBoundary(const GraphCall &call, uint16_t *cluster, int64_t *offset) {
  struct Range {
    uint64_t lo, hi;
    uint16_t index;
  };
  Range ranges[128];
  int32_t count = 0;
  for (int32_t i = 0; i < call.numTensors; ++i) {
    const ChipTensor &t = *call.tensors[i];
    cluster[i] = static_cast<uint16_t>(i);
    offset[i] = 0;
    if (t.extent_elem_cache == 0)
      continue;
    uint64_t size = get_element_size(t.dtype), lo = t.buffer.addr + t.start_offset * size;
    Range range{lo, lo + t.extent_elem_cache * size, static_cast<uint16_t>(i)};
    int32_t at = count++;
    for (; at > 0 && ranges[at - 1].lo > lo; --at)
      ranges[at] = ranges[at - 1];
    ranges[at] = range;
  }
  for (int32_t i = 0, first = 0; i < count; ++i) {
    if (i == 0 || ranges[i].lo >= ranges[first].hi) {
      first = i;
      continue;
    }
    cluster[ranges[i].index] = ranges[first].index;
    offset[ranges[i].index] = static_cast<int64_t>(ranges[i].lo - ranges[first].lo);
    ranges[first].hi = std::max(ranges[first].hi, ranges[i].hi);
  }
}

GraphDefinition *GraphStore::find(const GraphCall &call, bool &plain) {
  uint64_t hash = hashOf(call);
  for (auto &definition : definitions_) {
    GraphDefinition &d = *definition;
    if (d.hash != hash || !sameKey(d, call, hash))
      continue;
    if (d.plain) {
      plain = true;
      continue;
    }
    if (!sameSignature(d, call))
      continue;
    bool same = true;
    for (int32_t i = 0; i < call.numScalars; ++i)
      same &= !(d.scalarsRead >> i & 1) || d.scalars[i] == call.scalars[i];
    if (!same)
      continue;
    if (!samePlaces(d, call) && (!d.relocatable || d.retyped || !sameClusters(d, call)))
      continue;
    d.lastUse = ++clock_;
    return &d;
  }
  return nullptr;
}

/// Whether the recording has the definition's structure: everything but scalar words.
bool GraphStore::matches(const GraphDefinition &d, const GraphCall &call,
                         const GraphRecording &r) const {
  const GraphRecording &old = d.recording;
  if (old.nodes.size() != r.nodes.size() || old.tensors.size() != r.tensors.size() ||
      old.scalars.size() != r.scalars.size() || old.internals.size() != r.internals.size() ||
      old.deps.size() != r.deps.size() || old.tags != r.tags || old.sources != r.sources)
    return false;
  for (size_t i = 0; i < r.internals.size(); ++i) {
    const auto &a = old.internals[i], &b = r.internals[i];
    if (a.bytes != b.bytes || a.count != b.count || a.size != b.size || a.filled != b.filled ||
        a.pattern != b.pattern || a.byTask != b.byTask ||
        a.sequence - old.firstSequence != b.sequence - r.firstSequence)
      return false;
  }
  for (size_t i = 0; i < r.nodes.size(); ++i) {
    const auto &a = old.nodes[i], &b = r.nodes[i];
    if (!std::equal(a.kernels, a.kernels + 3, b.kernels) || a.blocks != b.blocks ||
        a.numTensors != b.numTensors || a.numScalars != b.numScalars || a.numDeps != b.numDeps ||
        a.syncStart != b.syncStart || a.manual != b.manual || a.predicateOp != b.predicateOp ||
        a.predicateTarget != b.predicateTarget || a.predicateTensor != b.predicateTensor ||
        !std::equal(a.predicateIndex, a.predicateIndex + MAX_TENSOR_DIMS, b.predicateIndex) ||
        a.sequence - old.firstSequence != b.sequence - r.firstSequence)
      return false;
  }
  for (size_t i = 0; i < r.deps.size(); ++i) {
    // Ids of the body's own tasks move with it; others were refused when the definition was made.
    auto local = [](uint64_t id, const GraphRecording &of) {
      return id == SIMPLER_NO_TASK ? UINT32_MAX : static_cast<uint32_t>(id) - of.firstLocal;
    };
    if (local(old.deps[i], old) != local(r.deps[i], r))
      return false;
  }
  for (size_t i = 0; i < r.tensors.size(); ++i) {
    const ChipTensor &a = old.tensors[i], &b = r.tensors[i];
    const GraphPlace &place = d.places[i];
    if (!sameShape(a, b))
      return false;
    if (place.kind == GraphPlace::Boundary) {
      const ChipTensor &base = *call.tensors[place.index];
      if (b.buffer.addr != base.buffer.addr || b.buffer.size != base.buffer.size ||
          static_cast<int64_t>(b.start_offset - base.start_offset) != place.delta)
        return false;
    } else if (place.kind == GraphPlace::Internal) {
      const GraphRecording::Internal &made = r.internals[place.index];
      if (b.buffer.addr != made.address || b.owner_task_id.raw != made.creator ||
          b.buffer.size != a.buffer.size || b.start_offset != a.start_offset)
        return false;
    } else if (!samePlace(a, b)) {
      return false;
    }
  }
  return true;
}

static size_t instanceBytes(const GraphDefinition &d);

GraphDefinition *GraphStore::define(const GraphCall &call, const GraphRecording &r, uint64_t tag,
                                    std::string &why) {
  uint64_t hash = hashOf(call);
  uint64_t read = call.scalarsRead ? *call.scalarsRead : UINT64_MAX;
  size_t variants = 0;
  for (auto &definition : definitions_) {
    GraphDefinition &d = *definition;
    if (!sameKey(d, call, hash) || d.plain)
      continue;
    ++variants;
    if (!sameSignature(d, call))
      continue;
    bool moved = !samePlaces(d, call);
    if ((moved && (d.retyped || !sameClusters(d, call))) || !matches(d, call, r))
      continue;
    d.relocatable |= moved;
    d.scalarsRead |= read;
    d.scalars.assign(call.scalars, call.scalars + call.numScalars);
    if (d.recording.scalars != r.scalars) {
      d.recording.scalars = r.scalars;
      ++d.version;
    }
    d.lastUse = ++clock_;
    return &d;
  }
  if (variants >= kMaxVariants) {
    why = "it has submitted " + std::to_string(variants) + " different graphs";
    return nullptr;
  }
  auto fresh = std::make_unique<GraphDefinition>();
  fresh->hash = hash;
  fresh->owner = call.owner;
  fresh->id = call.id;
  fresh->function = call.function;
  fresh->config.assign(call.config, call.config + call.numConfig);
  fresh->boundary.reserve(call.numTensors);
  for (int32_t i = 0; i < call.numTensors; ++i)
    fresh->boundary.push_back(*call.tensors[i]);
  fresh->tags.assign(call.tags, call.tags + call.numTensors);
  fresh->cluster.resize(call.numTensors);
  fresh->clusterOffset.resize(call.numTensors);
  clusterBoundary(call, fresh->cluster.data(), fresh->clusterOffset.data());
  fresh->scalars.assign(call.scalars, call.scalars + call.numScalars);
  fresh->scalarsRead = read;
  fresh->recording = r;
  if (!buildGraph(*fresh, call, tag, why))
    return nullptr;
  fresh->weight = instanceBytes(*fresh);
  for (const auto &internal : r.internals)
    fresh->internalBytes += BufferPool::capacityFor(internal.bytes);
  if (definitions_.size() >= kMaxDefinitions)
    evict();
  fresh->lastUse = ++clock_;
  definitions_.push_back(std::move(fresh));
  return definitions_.back().get();
}

void GraphStore::markPlain(const GraphCall &call) {
  auto mark = std::make_unique<GraphDefinition>();
  mark->hash = hashOf(call);
  mark->owner = call.owner;
  mark->id = call.id;
  mark->function = call.function;
  mark->config.assign(call.config, call.config + call.numConfig);
  mark->plain = true;
  mark->lastUse = ++clock_;
  if (definitions_.size() >= kMaxDefinitions)
    evict();
  definitions_.push_back(std::move(mark));
}

/// Drops the definition that was not used for longest and has nothing running.
void GraphStore::evict() {
  size_t oldest = definitions_.size();
  for (size_t i = 0; i < definitions_.size(); ++i)
    if (definitions_[i]->active == 0 &&
        (oldest == definitions_.size() || definitions_[i]->lastUse < definitions_[oldest]->lastUse))
      oldest = i;
  if (oldest == definitions_.size())
    return; // all are running: one more is kept for now
  while (GraphInstance *instance = definitions_[oldest]->free)
    destroy(instance);
  definitions_.erase(definitions_.begin() + static_cast<ptrdiff_t>(oldest));
}

//===-- Instances ---------------------------------------------------------===//

namespace {
/// Hands out pieces of one block; without memory it only counts.
struct Layout {
  char *base = nullptr;
  size_t used = 0;
  template <typename T> T *take(size_t count) {
    used = (used + alignof(T) - 1) / alignof(T) * alignof(T);
    char *at = base ? base + used : nullptr;
    used += count * sizeof(T);
    return reinterpret_cast<T *>(at);
  }
};
struct Pieces {
  GraphInstance *instance;
  Task **nodes, **ready, **successors;
  Buffer **buffers;
  ChipTensor *boundary;
  TaskExtra *extras;
};
} // namespace

static Pieces layOut(const GraphDefinition &d, Layout &layout) {
  Pieces p;
  size_t n = d.recording.nodes.size();
  p.instance = layout.take<GraphInstance>(1);
  p.nodes = layout.take<Task *>(n);
  p.ready = layout.take<Task *>(n);
  p.successors = layout.take<Task *>(d.successors.size());
  p.buffers = layout.take<Buffer *>(d.recording.internals.size());
  p.boundary = layout.take<ChipTensor>(d.boundary.size());
  p.extras = layout.take<TaskExtra>(d.special.size());
  return p;
}

static size_t taskBytes(const GraphRecording::Node &node) {
  size_t bytes =
      sizeof(Task) + node.numTensors * sizeof(ChipTensor) + node.numScalars * sizeof(uint64_t);
  return (bytes + 63) / 64 * 64;
}

static size_t instanceBytes(const GraphDefinition &d) {
  Layout measure;
  layOut(d, measure);
  size_t bytes = (measure.used + 63) / 64 * 64;
  for (const auto &node : d.recording.nodes)
    bytes += taskBytes(node);
  return bytes;
}

/// Everything of a node that no launch changes.
static void initNode(Task *task, const GraphRecording::Node &node, SimplerRun *run) {
  new (task) Task;
  task->sequence = 0;
  task->run = run;
  task->id = 0;
  task->reset(node.kernels, node.blocks, node.syncStart, node.numTensors, node.numScalars);
  task->flags |= Task::kNode;
  if (node.predicateTensor != GraphRecording::kNone && task->kind == TaskKind::Kernel)
    task->flags |= Task::kPredicated;
}

GraphInstance *GraphStore::make(GraphDefinition &d, SimplerRun *run) {
  const GraphRecording &r = d.recording;
  size_t bytes = instanceBytes(d);
  auto *block = static_cast<char *>(::operator new(bytes, std::align_val_t(64), std::nothrow));
  if (!block)
    return nullptr;
  Layout layout{block};
  Pieces p = layOut(d, layout);
  size_t n = r.nodes.size();
  GraphInstance *instance = new (p.instance) GraphInstance;
  instance->definition = &d;
  instance->nodes = p.nodes;
  instance->ready = p.ready;
  instance->buffers = p.buffers;
  instance->boundary = p.boundary;
  instance->version = 0;
  for (size_t i = 0; i < d.boundary.size(); ++i)
    p.boundary[i] = ChipTensor(); // differs from every tensor with elements: all is patched
  for (size_t i = 0; i < r.internals.size(); ++i) {
    p.buffers[i] = buffers_.allocate(r.internals[i].bytes);
    if (!p.buffers[i]) {
      while (i-- > 0)
        buffers_.release(p.buffers[i]);
      ::operator delete(block, std::align_val_t(64));
      return nullptr;
    }
  }
  char *at = block + (layout.used + 63) / 64 * 64;
  for (size_t k = 0; k < n; ++k) {
    p.nodes[k] = reinterpret_cast<Task *>(at);
    at += taskBytes(r.nodes[k]);
  }
  size_t extra = 0;
  for (uint32_t k = 0; k < n; ++k) {
    Task *task = p.nodes[k];
    initNode(task, r.nodes[k], run);
    task->instance = instance;
    task->node.successors = p.successors + d.successorBegin[k];
    task->node.numSuccessors = d.successorBegin[k + 1] - d.successorBegin[k];
    task->node.fanIn = d.fanIn[k];
    task->node.index = k;
    task->fanIn.store(d.fanIn[k], std::memory_order_relaxed);
    std::copy_n(r.tensors.begin() + r.nodes[k].firstTensor, task->numTensors, task->tensors());
    for (uint32_t i = 0; i < task->numTensors; ++i) {
      const GraphPlace &place = d.places[r.nodes[k].firstTensor + i];
      if (place.kind == GraphPlace::Internal)
        task->tensors()[i].buffer.addr = p.buffers[place.index]->address();
    }
  }
  for (uint32_t k : d.special) {
    TaskExtra *own = new (&p.extras[extra++]) TaskExtra();
    own->gang = nullptr;
    p.nodes[k]->extra = own;
  }
  for (size_t i = 0; i < d.successors.size(); ++i)
    p.successors[i] = p.nodes[d.successors[i]];
  ++d.instances;
  return instance;
}

void GraphStore::destroy(GraphInstance *instance) {
  GraphDefinition &d = *instance->definition;
  d.free = instance->nextFree;
  --d.instances;
  idleBytes_ -= d.weight + d.internalBytes;
  for (size_t i = 0; i < d.recording.internals.size(); ++i) {
    buffers_.unpark(instance->buffers[i]);
    buffers_.release(instance->buffers[i]);
  }
  ::operator delete(static_cast<void *>(instance), std::align_val_t(64));
}

GraphInstance *GraphStore::acquire(GraphDefinition &d, SimplerRun *run) {
  GraphInstance *instance = d.free;
  if (instance) {
    d.free = instance->nextFree;
    idleBytes_ -= d.weight + d.internalBytes;
    for (size_t i = 0; i < d.recording.internals.size(); ++i)
      buffers_.unpark(instance->buffers[i]);
  } else if (!(instance = make(d, run))) {
    trim(0);
    buffers_.trim(0);
    if (!(instance = make(d, run)))
      return nullptr;
  }
  ++d.active;
  return instance;
}

void GraphStore::release(GraphInstance *instance) {
  GraphDefinition &d = *instance->definition;
  for (uint32_t k : d.special)
    if (TaskExtra *extra = instance->nodes[k]->extra; extra->gang)
      delete std::exchange(extra->gang, nullptr);
  for (size_t i = 0; i < d.recording.internals.size(); ++i)
    buffers_.park(instance->buffers[i]);
  --d.active;
  idleBytes_ += d.weight + d.internalBytes;
  instance->nextFree = d.free;
  d.free = instance;
}

void GraphStore::trim(size_t bytes) {
  while (idleBytes_ > bytes) {
    GraphDefinition *oldest = nullptr;
    for (auto &d : definitions_)
      if (d->free && (!oldest || d->lastUse < oldest->lastUse))
        oldest = d.get();
    if (!oldest)
      return;
    destroy(oldest->free);
  }
}

GraphStore::~GraphStore() { trim(0); }

} // namespace simpler
