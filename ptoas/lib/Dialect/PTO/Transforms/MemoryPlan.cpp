//===- MemoryPlan.cpp - addresses of the tiles of a function --------------===//
//
// A buffer lives from the first to the last op that touches it, and over the
// whole of each loop that it is touched in but not allocated in. Buffers are
// placed largest first at the lowest address that no buffer living at the same
// time covers; if that overflows, in the order of their lives. Nothing is
// reused in place: the source and the target of one op never share bytes.
//
//===----------------------------------------------------------------------===//
#include "ptoas/Dialect/PTO/Transforms/MemoryPlan.h"
#include "TileRoots.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::pto;

int64_t mlir::pto::getCapacity(AddressSpace space, Arch arch) {
  bool a5 = arch == Arch::A5;
  switch (space) {
  case AddressSpace::Vec:
  case AddressSpace::Scaling:
    return a5 ? 248 << 10 : 192 << 10;
  case AddressSpace::Mat:
    return 512 << 10;
  case AddressSpace::Left:
  case AddressSpace::Right:
  case AddressSpace::Bias:
    return 64 << 10;
  case AddressSpace::Acc:
    return a5 ? 256 << 10 : 128 << 10;
  default:
    return 0;
  }
}

int64_t mlir::pto::getAlignment(AddressSpace space) {
  bool wide =
      space == AddressSpace::Left || space == AddressSpace::Right || space == AddressSpace::Acc;
  return wide ? 512 : 32;
}

static int64_t alignTo(int64_t value, int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

static int64_t alignmentOf(const PlannedBuffer &buffer) {
  return isa<ReserveBufferOp>(buffer.alloc) ? 256 : getAlignment(buffer.space);
}

static std::optional<PlannedBuffer> describe(Operation *op) {
  if (auto alloc = dyn_cast<AllocTileOp>(op); alloc && !alloc.getAddr()) {
    TileBufType type = alloc.getResult().getType();
    return PlannedBuffer{op, type.getSpace(), type.getSizeInBytes(), 0, 0};
  }
  if (auto alloc = dyn_cast<AllocMultiTileOp>(op); alloc && !alloc.getAddr()) {
    TileBufType type = alloc.getResult().getType().getSlotType();
    int64_t slot = alignTo(type.getSizeInBytes(), getAlignment(type.getSpace()));
    return PlannedBuffer{op, type.getSpace(), slot * alloc.getResult().getType().getCount(), 0, 0};
  }
  // The peer core fills it at any time, so it lives as long as the function.
  if (auto reserve = dyn_cast<ReserveBufferOp>(op); reserve && reserve.getAuto_())
    return PlannedBuffer{op, reserve.getLocation(), reserve.getSize(), 0, UINT32_MAX};
  return std::nullopt;
}

// Positions of ops in text order; a region op spans all of its body.
static void computeLives(FunctionOpInterface function, MemoryPlan &plan) {
  DenseMap<Operation *, std::pair<unsigned, unsigned>> span;
  unsigned next = 0;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) { span[op].first = ++next; });
  function->walk<WalkOrder::PostOrder>([&](Operation *op) {
    unsigned last = span[op].first;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        last = std::max(last, span[&inner].second);
    span[op].second = last;
  });
  for (auto &[op, buffer] : plan.buffers)
    if (!isa<ReserveBufferOp>(op))
      buffer.begin = buffer.end = span[op].first;
  DenseSet<Operation *> touchedOnce;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    SmallPtrSet<Operation *, 4> roots;
    collectTouchedRoots(op, roots);
    for (Operation *root : roots) {
      auto *found = plan.buffers.find(root);
      if (found == plan.buffers.end() || isa<ReserveBufferOp>(root))
        continue;
      auto [begin, end] = span[op];
      for (Operation *parent = op->getParentOp();
           parent && !parent->isProperAncestor(root) && parent != function;
           parent = parent->getParentOp())
        if (isa<LoopLikeOpInterface>(parent)) {
          begin = std::min(begin, span[parent].first);
          end = std::max(end, span[parent].second);
        }
      PlannedBuffer &buffer = found->second;
      // The bytes hold nothing before the first touch.
      buffer.begin = touchedOnce.insert(root).second ? begin : std::min(buffer.begin, begin);
      buffer.end = std::max(buffer.end, end);
    }
  });
}

namespace {
/// Buffers that are placed, to be asked for those that live at the same time as another. Lives are
/// kept in the nodes of a tree over the points where lives begin, so that a question costs what it
/// finds and not what there is.
class PlacedBuffers {
public:
  explicit PlacedBuffers(ArrayRef<PlannedBuffer *> all) {
    for (PlannedBuffer *buffer : all)
      begins.push_back(buffer->begin);
    llvm::sort(begins);
    begins.erase(llvm::unique(begins), begins.end());
    covering.resize(2 * begins.size());
    starting.resize(begins.size());
  }

  void insert(PlannedBuffer *buffer) {
    size_t from = indexOf(buffer->begin), to = behind(buffer->end);
    starting[from].push_back(buffer);
    // The few nodes whose points are all inside the life.
    for (from += begins.size(), to += begins.size(); from < to; from /= 2, to /= 2) {
      if (from & 1)
        covering[from++].push_back(buffer);
      if (to & 1)
        covering[--to].push_back(buffer);
    }
  }

  template <typename Visit> void liveTogether(const PlannedBuffer &buffer, Visit visit) const {
    // Those that live where it begins, and those that begin later in its life.
    for (size_t node = indexOf(buffer.begin) + begins.size(); node; node /= 2)
      for (PlannedBuffer *other : covering[node])
        visit(*other);
    for (size_t i = indexOf(buffer.begin) + 1; i < behind(buffer.end); ++i)
      for (PlannedBuffer *other : starting[i])
        visit(*other);
  }

private:
  size_t indexOf(unsigned begin) const { return llvm::lower_bound(begins, begin) - begins.begin(); }
  size_t behind(unsigned end) const { return llvm::upper_bound(begins, end) - begins.begin(); }

  SmallVector<unsigned> begins;
  std::vector<SmallVector<PlannedBuffer *, 2>> covering, starting;
};
} // namespace

// Lowest address for each buffer of one space in the given order. Returns the highest byte used.
static int64_t place(ArrayRef<PlannedBuffer *> order) {
  int64_t highest = 0;
  PlacedBuffers placed(order);
  for (PlannedBuffer *buffer : order) {
    SmallVector<std::pair<int64_t, int64_t>> taken;
    placed.liveTogether(*buffer, [&](const PlannedBuffer &other) {
      taken.push_back({other.address, other.address + other.bytes});
    });
    llvm::sort(taken);
    int64_t alignment = alignmentOf(*buffer), at = 0;
    for (auto [start, end] : taken) {
      if (at + buffer->bytes <= start)
        break;
      at = std::max(at, alignTo(end, alignment));
    }
    buffer->address = at;
    highest = std::max(highest, at + buffer->bytes);
    placed.insert(buffer);
  }
  return highest;
}

// Says what fills the space where most of it is live.
static LogicalResult reportOverflow(AddressSpace space, ArrayRef<PlannedBuffer *> buffers,
                                    int64_t needed, int64_t capacity) {
  unsigned fullest = 0;
  int64_t most = -1;
  for (PlannedBuffer *at : buffers) {
    int64_t sum = 0;
    for (PlannedBuffer *other : buffers)
      if (other->begin <= at->begin && at->begin <= other->end)
        sum += other->bytes;
    if (sum > most) {
      most = sum;
      fullest = at->begin;
    }
  }
  PlannedBuffer *last = buffers.front();
  for (PlannedBuffer *buffer : buffers)
    if (buffer->begin == fullest)
      last = buffer;
  InFlightDiagnostic diag = last->alloc->emitError()
                            << stringifyAddressSpace(space) << " overflow: the tiles need "
                            << needed << " bytes at once, the capacity is " << capacity << " bytes";
  for (PlannedBuffer *buffer : buffers)
    if (buffer->begin <= fullest && fullest <= buffer->end)
      diag.attachNote(buffer->alloc->getLoc()) << buffer->bytes << " bytes are live from here";
  return diag;
}

FailureOr<MemoryPlan> mlir::pto::planMemory(FunctionOpInterface function) {
  MemoryPlan plan;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (std::optional<PlannedBuffer> buffer = describe(op)) {
      buffer->number = plan.buffers.size();
      plan.buffers.insert({op, *buffer});
    }
  });
  computeLives(function, plan);
  Arch arch = getTargetArch(function);
  llvm::MapVector<AddressSpace, SmallVector<PlannedBuffer *>> bySpace;
  for (auto &[op, buffer] : plan.buffers)
    bySpace[buffer.space].push_back(&buffer);
  bool failedAny = false;
  for (auto &[space, buffers] : bySpace) {
    int64_t capacity = getCapacity(space, arch);
    SmallVector<PlannedBuffer *> order(buffers);
    // Ties keep the order of the text, so that plans do not change from run to run.
    auto earlier = [](auto *a, auto *b) {
      return std::pair(a->begin, a->number) < std::pair(b->begin, b->number);
    };
    llvm::sort(order, [&](auto *a, auto *b) {
      return a->bytes != b->bytes ? a->bytes > b->bytes : earlier(a, b);
    });
    int64_t used = place(order);
    if (used > capacity) {
      llvm::sort(order, earlier);
      used = std::min(used, place(order));
    }
    plan.peak[space] = used;
    if (used > capacity)
      failedAny |= failed(reportOverflow(space, buffers, used, capacity));
  }
  if (failedAny)
    return failure();
  return plan;
}

//===----------------------------------------------------------------------===//
// The independent check
//===----------------------------------------------------------------------===//

namespace {
// A tile between two runs of its allocation: what one handle holds.
struct Instance {
  Operation *alloc;
  unsigned first, last;
};

struct Trace {
  explicit Trace(const MemoryPlan &plan) : plan(plan) {}

  const MemoryPlan &plan;
  std::vector<Instance> instances;
  DenseMap<Operation *, unsigned> current;
  unsigned time = 0, loopDepth = 0;

  void run(Block &block) {
    for (Operation &op : block)
      run(op);
  }

  void run(Operation &op) {
    ++time;
    if (plan.buffers.count(&op)) {
      current[&op] = instances.size();
      instances.push_back({&op, 0, isa<ReserveBufferOp>(op) ? UINT32_MAX : 0});
    }
    SmallPtrSet<Operation *, 4> roots;
    collectTouchedRoots(&op, roots);
    for (Operation *root : roots) {
      auto found = current.find(root);
      if (found == current.end())
        continue;
      Instance &instance = instances[found->second];
      if (!instance.first)
        instance.first = time;
      instance.last = std::max(instance.last, time);
    }
    // Running twice is twice the work per level. Deep loops run once: what was in use before one
    // and is touched in it meets everything in it, which is what a second run would show.
    bool isLoop = isa<LoopLikeOpInterface>(op), isDeep = isLoop && loopDepth >= 4;
    unsigned begin = time;
    size_t before = instances.size();
    loopDepth += isLoop;
    for (unsigned rounds = isLoop && !isDeep ? 2 : 1; rounds; --rounds)
      for (Region &region : op.getRegions())
        for (Block &block : region)
          run(block);
    loopDepth -= isLoop;
    if (isDeep)
      for (Instance &instance : MutableArrayRef(instances).take_front(before))
        if (instance.last > begin && instance.last != UINT32_MAX)
          instance.last = time;
  }
};
} // namespace

LogicalResult mlir::pto::verifyPlan(FunctionOpInterface function, const MemoryPlan &plan) {
  Trace trace(plan);
  for (Block &block : function.getFunctionBody())
    trace.run(block);
  Arch arch = getTargetArch(function);
  for (const auto &[op, buffer] : plan.buffers)
    if (buffer.address < 0 || buffer.address % getAlignment(buffer.space) != 0 ||
        buffer.address + buffer.bytes > getCapacity(buffer.space, arch))
      return op->emitError() << "memory plan: address " << buffer.address << " is not legal";
  // In the order in which they come into use; what is in use at once is compared. A tile that
  // nothing touches holds nothing.
  llvm::erase_if(trace.instances, [](const Instance &instance) { return !instance.last; });
  llvm::stable_sort(trace.instances,
                    [](const Instance &a, const Instance &b) { return a.first < b.first; });
  SmallVector<const Instance *> inUse;
  for (const Instance &a : trace.instances) {
    llvm::erase_if(inUse, [&](const Instance *b) { return b->last < a.first; });
    const PlannedBuffer &x = plan.buffers.find(a.alloc)->second;
    for (const Instance *b : inUse) {
      const PlannedBuffer &y = plan.buffers.find(b->alloc)->second;
      if (a.alloc != b->alloc && x.space == y.space && x.address < y.address + y.bytes &&
          y.address < x.address + x.bytes) {
        InFlightDiagnostic diag = a.alloc->emitError()
                                  << "memory plan: shares bytes with a tile that is still in use";
        diag.attachNote(b->alloc->getLoc()) << "the other tile";
        return diag;
      }
    }
    inUse.push_back(&a);
  }
  return success();
}
