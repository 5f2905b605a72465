//===- SyncOracle.cpp - what instructions may overlap in, trace by trace --===//
//
// Numbers are followed along a trace as sums of unknown ones, so that what a load or a
// store touches is a box of a tensor with corners that can be compared.
//
//===----------------------------------------------------------------------===//
#include "SyncOracle.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "llvm/ADT/BitVector.h"
#include <functional>
#include <map>
#include <random>

using namespace mlir;
using namespace mlir::pto;

namespace {
// A number: a constant and multiples of unknown numbers, by which came up when.
struct Number {
  int64_t constant = 0;
  std::map<unsigned, int64_t> unknowns;
  int64_t bound = -1; // at most that, if not negative

  std::optional<int64_t> value() const {
    return unknowns.empty() ? std::optional(constant) : std::nullopt;
  }
  Number plus(const Number &other, int64_t times) const {
    Number sum{constant + other.constant * times, unknowns};
    for (auto [unknown, count] : other.unknowns)
      if ((sum.unknowns[unknown] += count * times) == 0)
        sum.unknowns.erase(unknown);
    return sum;
  }
  bool operator==(const Number &other) const {
    return constant == other.constant && unknowns == other.unknowns;
  }
};

// A part of a tensor.
struct Box {
  Value pointer;
  std::vector<Number> shape, strides, from, sizes;
};

// Whether all coordinates inside of the shape name elements of their own.
bool hasOwnElements(const Box &box) {
  std::vector<unsigned> dims;
  for (unsigned i = 0; i < box.shape.size(); ++i)
    if (box.shape[i].value() != 1)
      dims.push_back(i);
  auto strideOf = [&](unsigned dim) { return box.strides[dim].value(); };
  // From small strides to large ones, each dimension lies inside of one step of the next.
  auto fits = [&](unsigned inner, unsigned outer) {
    std::optional<int64_t> stride = strideOf(inner);
    if (!stride || *stride <= 0)
      return false;
    Number reach = Number{}.plus(box.shape[inner], *stride), step = box.strides[outer];
    return reach == step ||
           (reach.value() && step.value() && *step.value() >= *reach.value() && *reach.value() > 0);
  };
  if (dims.size() == 1)
    return strideOf(dims[0]).value_or(0) > 0;
  do {
    bool allFit = true;
    for (unsigned i = 1; i < dims.size(); ++i)
      allFit &= fits(dims[i - 1], dims[i]);
    if (allFit)
      return true;
  } while (std::next_permutation(dims.begin(), dims.end()));
  return false;
}

bool areApart(const Box &a, const Box &b) {
  if (a.pointer != b.pointer || a.shape != b.shape || a.strides != b.strides || !hasOwnElements(a))
    return false;
  auto extent = [](const Number &size) { return size.value() ? *size.value() : size.bound; };
  for (unsigned i = 0; i < a.from.size(); ++i) {
    std::optional<int64_t> distance = b.from[i].plus(a.from[i], -1).value();
    int64_t sizeOfA = extent(a.sizes[i]), sizeOfB = extent(b.sizes[i]);
    if (distance &&
        ((sizeOfA >= 0 && *distance >= sizeOfA) || (sizeOfB >= 0 && -*distance >= sizeOfB)))
      return true;
  }
  return false;
}

// Bytes of a memory. Global memory is told apart by the pointer that a view starts from, tiles
// without an address by their allocation.
struct Bytes {
  enum Kind { Global, Addressed, Named } kind;
  unsigned space;
  const void *name; // null for global memory: anywhere
  int64_t from, to;
  bool write;
  std::shared_ptr<Box> box = nullptr; // of global memory: the part that is touched
};

bool meet(const Bytes &a, const Bytes &b) {
  if (!a.write && !b.write)
    return false;
  if ((a.kind == Bytes::Global) != (b.kind == Bytes::Global))
    return false;
  if (a.kind == Bytes::Global)
    return (!a.name || !b.name || a.name == b.name) &&
           !(a.box && b.box && areApart(*a.box, *b.box));
  if (a.space != b.space)
    return false;
  auto isAnywhere = [](const Bytes &bytes) {
    return bytes.kind == Bytes::Addressed && bytes.to == INT64_MAX;
  };
  if (isAnywhere(a) || isAnywhere(b))
    return true;
  if (a.kind == Bytes::Addressed && b.kind == Bytes::Addressed)
    return std::max(a.from, b.from) < std::min(a.to, b.to);
  return a.kind == Bytes::Named && b.kind == Bytes::Named && a.name == b.name;
}

struct Event {
  enum What { Work, Set, Wait, Barrier } what;
  Operation *op;
  PIPE queue;   // of a flag: the one that sets
  PIPE other{}; // of a flag: the one that waits
  unsigned id = 0;
  std::vector<Bytes> bytes;
};

// Where tiles come from. A tile that control flow carries may be any of several.
void storageOf(Value value, std::vector<Value> &allocations, unsigned depth = 0) {
  if (depth > 64)
    return;
  if (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    StringRef name = op->getName().getStringRef();
    if (name == "pto.subview" || name == "pto.subset" || name == "pto.treshape" ||
        name == "pto.bitcast" || name == "pto.multi_tile_get")
      return storageOf(op->getOperand(0), allocations, depth + 1);
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (Block *block : {branch.thenBlock(), branch.elseBlock()})
        if (block)
          storageOf(block->getTerminator()->getOperand(result.getResultNumber()), allocations,
                    depth + 1);
      return;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      storageOf(loop.getInitArgs()[result.getResultNumber()], allocations, depth + 1);
      storageOf(loop.getYieldedValues()[result.getResultNumber()], allocations, depth + 1);
      return;
    }
    allocations.push_back(value);
    return;
  }
  auto argument = cast<BlockArgument>(value);
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (loop && argument.getArgNumber() > 0)
    return storageOf(loop.getInitArgs()[argument.getArgNumber() - 1], allocations, depth + 1);
  allocations.push_back(value);
}

void describe(Value value, bool write, std::vector<Bytes> &found) {
  if (isa<PtrType, TensorViewType, PartitionTensorViewType>(value.getType())) {
    Value base = value;
    while (Operation *op = base.getDefiningOp()) {
      if (!isa<MakeTensorViewOp, PartitionViewOp, AddPtrOp, CastPtrOp>(op)) {
        base = Value();
        break;
      }
      base = op->getOperand(0);
    }
    found.push_back({Bytes::Global, 0, base ? base.getAsOpaquePointer() : nullptr, 0, 0, write});
    return;
  }
  if (!isa<TileBufType, MultiTileBufType>(value.getType()))
    return;
  std::vector<Value> allocations;
  storageOf(value, allocations);
  for (Value allocation : allocations) {
    int64_t bytes = 0;
    unsigned space = 0;
    if (auto tile = dyn_cast<TileBufType>(allocation.getType())) {
      bytes = tile.getSizeInBytes();
      space = static_cast<unsigned>(tile.getSpace());
    } else if (auto tiles = dyn_cast<MultiTileBufType>(allocation.getType())) {
      bytes = tiles.getSlotType().getSizeInBytes() * tiles.getCount();
      space = static_cast<unsigned>(tiles.getSlotType().getSpace());
    }
    Value address;
    if (auto alloc = allocation.getDefiningOp<AllocTileOp>())
      address = alloc.getAddr();
    else if (auto alloc = allocation.getDefiningOp<AllocMultiTileOp>())
      address = alloc.getAddr();
    APInt at;
    if (!address)
      found.push_back({Bytes::Named, space, allocation.getAsOpaquePointer(), 0, 0, write});
    else if (matchPattern(address, m_ConstantInt(&at)))
      found.push_back(
          {Bytes::Addressed, space, nullptr, at.getSExtValue(), at.getSExtValue() + bytes, write});
    else // anywhere in its space
      found.push_back({Bytes::Addressed, space, nullptr, 0, INT64_MAX, write});
  }
}

bool toEvent(Operation *op, Event &event) {
  event.op = op;
  auto flag = [&](Event::What what, PIPE from, PIPE to, unsigned id) {
    event.what = what;
    event.queue = from;
    event.other = to;
    event.id = id;
    return true;
  };
  if (auto set = dyn_cast<SetFlagOp>(op))
    return flag(Event::Set, set.getSrcPipe(), set.getDstPipe(), unsigned(set.getEventId()));
  if (auto wait = dyn_cast<WaitFlagOp>(op))
    return flag(Event::Wait, wait.getSrcPipe(), wait.getDstPipe(), unsigned(wait.getEventId()));
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return flag(Event::Barrier, barrier.getPipe(), barrier.getPipe(), 0);
  event.what = Event::Work;
  if (auto instruction = dyn_cast<PipeOpInterface>(op)) {
    event.queue = instruction.getPipe();
  } else if (isa<TPushToAivOp, TPushToAicOp>(op)) {
    auto tile = cast<TileBufType>(op->getOperand(0).getType());
    event.queue = tile.getSpace() == AddressSpace::Acc ? PIPE::PIPE_FIX : PIPE::PIPE_MTE3;
  } else if (isa<TPopFromAicOp, TPopFromAivOp>(op)) {
    event.queue = getTargetArch(op) == Arch::A5 ? PIPE::PIPE_S : PIPE::PIPE_MTE2;
    describe(op->getResult(0), true, event.bytes);
    return true;
  } else {
    return false;
  }
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto touches = dyn_cast<MemoryEffectOpInterface>(op))
    touches.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (effect.getValue())
      describe(effect.getValue(), isa<MemoryEffects::Write>(effect.getEffect()), event.bytes);
  return true;
}

// One way through a function. `choose(n)` picks one of n ways at each branch and loop.
class Tracer {
public:
  Tracer(const oracle::Limits &limits, const llvm::DenseSet<Operation *> &without,
         std::function<unsigned(unsigned)> choose)
      : limits(limits), without(without), choose(std::move(choose)) {}

  void run(Block &block) {
    for (Operation &op : block) {
      if (without.contains(&op) || trace.size() >= limits.events)
        continue;
      Event event;
      if (op.getNumRegions() == 0) {
        if (toEvent(&op, event)) {
          if (isa<TLoadOp, TStoreOp>(op))
            for (Bytes &bytes : event.bytes)
              if (bytes.kind == Bytes::Global)
                bytes.box = boxOf(op.getOperand(isa<TLoadOp>(op) ? 0 : 1));
          trace.push_back(std::move(event));
        }
        evaluate(&op);
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        if (choose(2) == 0)
          run(*branch.thenBlock());
        else if (branch.elseBlock())
          run(*branch.elseBlock());
      } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
        Number counter = numberOf(loop.getLowerBound());
        for (unsigned left = trips(loop); left; --left) {
          for (Value carried : loop.getRegionIterArgs())
            numbers[carried] = unknown();
          numbers[loop.getInductionVar()] = counter;
          run(*loop.getBody());
          counter = counter.plus(numberOf(loop.getStep()), 1);
        }
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        unsigned left = choose(limits.iterations + 1);
        run(*loop.getBeforeBody());
        for (; left; --left) {
          run(*loop.getAfterBody());
          run(*loop.getBeforeBody());
        }
      } else {
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            run(inner);
      }
    }
  }

  std::vector<Event> trace;

private:
  Number unknown() { return {0, {{nextUnknown++, 1}}}; }

  Number numberOf(Value value) {
    auto known = numbers.find(value);
    if (known != numbers.end())
      return known->second;
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return {constant.getSExtValue(), {}};
    return numbers[value] = unknown();
  }

  void evaluate(Operation *op) {
    for (Value result : op->getResults())
      numbers.erase(result);
    if (op->getNumResults() != 1 || op->hasTrait<OpTrait::ConstantLike>())
      return;
    Value result = op->getResult(0);
    auto operand = [&](unsigned i) { return numberOf(op->getOperand(i)); };
    auto isConstant = [&](unsigned i) { return matchPattern(op->getOperand(i), m_Constant()); };
    if (isa<arith::IndexCastOp>(op))
      numbers[result] = operand(0);
    else if (!result.getType().isIndex())
      return;
    else if (isa<arith::AddIOp, arith::SubIOp>(op))
      numbers[result] = operand(0).plus(operand(1), isa<arith::AddIOp>(op) ? 1 : -1);
    else if (isa<arith::MulIOp>(op) && (isConstant(0) || isConstant(1)))
      numbers[result] = Number{}.plus(operand(isConstant(0)), *operand(!isConstant(0)).value());
    else if (isa<arith::MinSIOp>(op))
      for (unsigned side : {0u, 1u})
        if (isConstant(side)) {
          numbers[result] = unknown();
          numbers[result].bound = *operand(side).value();
        }
  }

  std::shared_ptr<Box> boxOf(Value view) {
    auto window = view.getDefiningOp<PartitionViewOp>();
    if (!window)
      return nullptr;
    auto box = std::make_shared<Box>();
    for (Value size : window.getSizes())
      box->sizes.push_back(numberOf(size));
    box->from.resize(box->sizes.size());
    while (window) {
      for (unsigned i = 0; i < box->from.size(); ++i)
        box->from[i] = box->from[i].plus(numberOf(window.getOffsets()[i]), 1);
      view = window.getSource();
      window = view.getDefiningOp<PartitionViewOp>();
    }
    auto tensor = view.getDefiningOp<MakeTensorViewOp>();
    if (!tensor)
      return nullptr;
    box->pointer = tensor.getPtr();
    for (Value extent : tensor.getShape())
      box->shape.push_back(numberOf(extent));
    for (Value stride : tensor.getStrides())
      box->strides.push_back(numberOf(stride));
    return box;
  }

  // A loop with a constant number of iterations has that many, or the limit.
  unsigned trips(scf::ForOp loop) {
    APInt low, high, step;
    if (matchPattern(loop.getLowerBound(), m_ConstantInt(&low)) &&
        matchPattern(loop.getUpperBound(), m_ConstantInt(&high)) &&
        matchPattern(loop.getStep(), m_ConstantInt(&step)) && step.getSExtValue() > 0) {
      bool isUnsigned = loop.getUnsignedCmp() && low.getBitWidth() < 64;
      auto number = [&](const APInt &bound) {
        return isUnsigned ? static_cast<int64_t>(bound.getZExtValue()) : bound.getSExtValue();
      };
      int64_t count = (number(high) - number(low) + step.getSExtValue() - 1) / step.getSExtValue();
      if (count <= int64_t(limits.iterations))
        return std::max<int64_t>(count, 0);
      return limits.iterations;
    }
    return limits.iterations - choose(limits.iterations + 1);
  }

  const oracle::Limits &limits;
  const llvm::DenseSet<Operation *> &without;
  std::function<unsigned(unsigned)> choose;
  llvm::DenseMap<Value, Number> numbers;
  unsigned nextUnknown = 0;
};

std::string nameOf(Operation *op) { return op->getName().getStringRef().str(); }

// Two instructions, and whether the second was seen to start before the first was done.
struct Pair {
  Operation *earlier, *later;
  bool runBeside = false;
};

// What is wrong with one trace; empty: nothing.
std::string judge(const std::vector<Event> &trace, bool vectorsInOrder, unsigned limit,
                  Pair *pair = nullptr) {
  constexpr unsigned kQueues = 16, scalar = unsigned(PIPE::PIPE_S);
  const unsigned count = trace.size();
  // Done before anything that the queue starts from now on.
  std::vector<llvm::BitVector> done(kQueues, llvm::BitVector(count));
  std::vector<llvm::BitVector> issued(kQueues, llvm::BitVector(count)); // of each queue
  struct Token {
    bool isSet = false;
    llvm::BitVector done;
    int lastWait = -1; // event
  };
  std::map<std::tuple<unsigned, unsigned, unsigned>, Token> tokens;
  std::map<unsigned, std::vector<unsigned>> bySpace; // work events
  auto number = [](PIPE pipe) { return std::min(unsigned(pipe), kQueues - 1); };
  for (unsigned i = 0; i < count; ++i) {
    const Event &event = trace[i];
    unsigned queue = number(event.queue);
    switch (event.what) {
    case Event::Barrier:
      for (unsigned q = 0; q < kQueues; ++q) {
        if (event.queue != PIPE::PIPE_ALL && q != queue)
          continue;
        for (unsigned p = 0; p < kQueues; ++p)
          if (event.queue == PIPE::PIPE_ALL || p == queue)
            done[q] |= issued[p];
      }
      break;
    case Event::Set: {
      Token &token = tokens[{queue, number(event.other), event.id}];
      if (token.isSet || (token.lastWait >= 0 && !done[queue].test(token.lastWait)))
        return "event " + std::to_string(event.id) + " is set while it is in use";
      token.isSet = true;
      token.done = done[queue];
      token.done |= issued[queue];
      break;
    }
    case Event::Wait: {
      unsigned waiting = number(event.other);
      Token &token = tokens[{queue, waiting, event.id}];
      if (!token.isSet)
        return "a wait for an event that nothing has set";
      token.isSet = false;
      token.lastWait = int(i);
      done[waiting] |= token.done;
      issued[waiting].set(i);
      // A wait is over before anything behind it in its queue starts.
      break;
    }
    case Event::Work: {
      done[queue] |= done[scalar];
      done[queue] |= issued[scalar];
      bool inOrder = queue == scalar || (vectorsInOrder && event.queue == PIPE::PIPE_V);
      for (const Bytes &mine : event.bytes)
        for (unsigned earlier : bySpace[mine.kind == Bytes::Global ? 0 : mine.space]) {
          if (done[queue].test(earlier) || (inOrder && number(trace[earlier].queue) == queue))
            continue;
          for (const Bytes &theirs : trace[earlier].bytes)
            if (meet(mine, theirs))
              return nameOf(event.op) + " may start before " + nameOf(trace[earlier].op) +
                     " is done";
        }
      if (pair && event.op == pair->later)
        for (unsigned earlier = 0; earlier < i; ++earlier)
          pair->runBeside |= trace[earlier].op == pair->earlier && !done[queue].test(earlier);
      issued[queue].set(i);
      llvm::SmallDenseSet<unsigned> spaces;
      for (const Bytes &mine : event.bytes)
        if (spaces.insert(mine.kind == Bytes::Global ? 0 : mine.space).second)
          bySpace[mine.kind == Bytes::Global ? 0 : mine.space].push_back(i);
      break;
    }
    }
  }
  for (const auto &[key, token] : tokens)
    if (token.isSet && count < limit)
      return "event " + std::to_string(std::get<2>(key)) + " is left set";
  return {};
}
} // namespace

// Runs the ways through `function` until `isLast` says so of a trace.
static void forEachTrace(func::FuncOp function, const oracle::Limits &limits,
                         const llvm::DenseSet<Operation *> &without,
                         llvm::function_ref<bool(const std::vector<Event> &)> isLast) {
  // Depth first over the choices, as far as the limit goes; then at random.
  std::vector<std::pair<unsigned, unsigned>> path; // (chosen, of how many)
  std::mt19937 random(1);
  for (unsigned tried = 0; tried < limits.traces; ++tried) {
    size_t next = 0;
    bool atRandom = tried >= limits.traces / 2;
    Tracer tracer(limits, without, [&](unsigned ways) -> unsigned {
      if (atRandom)
        return random() % ways;
      if (next == path.size())
        path.push_back({0, ways});
      return path[next++].first;
    });
    tracer.run(function.getBody().front());
    if (isLast(tracer.trace))
      return;
    if (atRandom)
      continue;
    path.resize(next);
    while (!path.empty() && path.back().first + 1 == path.back().second)
      path.pop_back();
    if (path.empty())
      return; // all ways have been tried
    ++path.back().first;
  }
}

std::string oracle::findHazard(func::FuncOp function, const Limits &limits,
                               const llvm::DenseSet<Operation *> &without) {
  bool vectorsInOrder = getTargetArch(function) == Arch::A5;
  std::string problem;
  forEachTrace(function, limits, without, [&](const std::vector<Event> &trace) {
    problem = judge(trace, vectorsInOrder, limits.events);
    return !problem.empty();
  });
  return problem;
}

bool oracle::mayRunBeside(func::FuncOp function, Operation *earlier, Operation *later,
                          const Limits &limits) {
  Pair pair{earlier, later};
  forEachTrace(function, limits, {}, [&](const std::vector<Event> &trace) {
    judge(trace, getTargetArch(function) == Arch::A5, limits.events, &pair);
    return pair.runBeside;
  });
  return pair.runBeside;
}
