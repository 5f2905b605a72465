//===- InferMemorySpaces.cpp - where tiles live ---------------------------===//
//
// Products are accumulated in acc, vector instructions work in vec, matrix operands
// come from left and right. What only products read is loaded to mat, what vector instructions read
// too is loaded twice: A2/A3 has no way from vec to mat. Tiles that are carried through loops or
// merged by branches live where all their values do; a move is inserted wherever a value is needed
// in another memory.
//
//===----------------------------------------------------------------------===//
#include "TensorRoots.h"
#include "TileStorage.h"
#include "mlir/IR/IRMapping.h"
#include "pypto/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace pypto {
namespace {

class SpaceInference {
public:
  explicit SpaceInference(func::FuncOp kernel) : kernel(kernel) {}

  LogicalResult run() {
    collectGroups();
    loadForProducts();
    decideGroups();
    assignFlexible();
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { annotate(op); });
    SmallVector<Operation *> ops;
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      fixOperands(op);
    return success();
  }

private:
  static TileType tileOf(Value value) { return dyn_cast<TileType>(value.getType()); }
  static StringRef familyOf(Operation *op) {
    const OpRow *row = op ? findOp(op->getName().getStringRef()) : nullptr;
    return row ? StringRef(row->family) : StringRef();
  }
  static bool isView(Operation *op) {
    return isa<ReshapeOp, SliceOp, SetValidShapeOp, TransposeViewOp, ReinterpretViewOp>(op);
  }

  // A group is a carried or merged tile: a block argument and the result that continues it.
  Value leader(Value value) {
    while (group.count(value) && group[value] != value)
      value = group[value];
    return value;
  }
  void join(Value a, Value b) {
    if (!tileOf(a))
      return;
    group.try_emplace(a, a);
    group.try_emplace(b, b);
    group[leader(b)] = leader(a);
  }
  void collectGroups() {
    kernel.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        for (auto [arg, result, init, yielded] :
             llvm::zip(loop.getRegionIterArgs(), loop.getResults(), loop.getInitArgs(),
                       loop.getYieldedValues())) {
          join(arg, result);
          incoming(arg, init);
          incoming(arg, yielded);
        }
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        for (auto [index, result] : llvm::enumerate(branch.getResults())) {
          join(result, result);
          incoming(result, branch.thenYield().getOperand(index));
          incoming(result, branch.elseYield().getOperand(index));
        }
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        for (auto [before, init, yielded] : llvm::zip(loop.getBeforeArguments(), loop.getInits(),
                                                      loop.getYieldOp().getOperands())) {
          join(before, before);
          incoming(before, init);
          incoming(before, yielded);
        }
        for (auto [after, result, passed] : llvm::zip(loop.getAfterArguments(), loop.getResults(),
                                                      loop.getConditionOp().getArgs())) {
          join(after, result);
          incoming(after, passed);
        }
      }
    });
  }
  void incoming(Value to, Value from) {
    if (tileOf(to))
      sources.push_back({to, from});
  }

  /// Space of a value as far as it is known: None = a created tile that fits anywhere, or an
  /// undecided group.
  MemorySpace spaceOf(Value value) {
    if (group.count(value)) {
      auto it = decided.find(leader(value));
      return it == decided.end() ? MemorySpace::None : it->second;
    }
    Operation *op = value.getDefiningOp();
    if (!op) // an argument that nothing carries
      return MemorySpace::Vec;
    StringRef family = familyOf(op);
    if (family == "matmul" || family == "matmul_acc" || family == "matmul_bias" ||
        family == "matmul_mx")
      return MemorySpace::Acc;
    if (isa<LoadOp, MoveOp, ExtractOp, PopOp>(op))
      return tileOf(value).getMemorySpace() == MemorySpace::None ? MemorySpace::Vec
                                                                 : tileOf(value).getMemorySpace();
    if (isa<TransposeViewOp>(op))
      return MemorySpace::Mat;
    if (isView(op) || isa<AssembleOp>(op))
      return spaceOf(op->getOperand(0));
    if (isa<CreateTileOp>(op)) {
      if (tileOf(value).getMemorySpace() != MemorySpace::None)
        return tileOf(value).getMemorySpace();
      auto it = decided.find(value);
      return it == decided.end() ? MemorySpace::None : it->second;
    }
    return MemorySpace::Vec;
  }

  static bool usedAsAccumulator(Value value) {
    return llvm::any_of(value.getUses(), [](OpOperand &use) {
      if (auto scaled = dyn_cast<MatmulMxOp>(use.getOwner()))
        return scaled.getAcc() == use.get();
      return familyOf(use.getOwner()) == "matmul_acc" && use.getOperandNumber() == 0;
    });
  }

  /// Operand of a product that comes from mat.
  static bool isProductOperand(OpOperand &use) {
    if (auto scaled = dyn_cast<MatmulMxOp>(use.getOwner()))
      return scaled.getAcc() != use.get();
    StringRef family = familyOf(use.getOwner());
    return family == "matmul" || family == "matmul_bias" ||
           (family == "matmul_acc" && use.getOperandNumber() > 0);
  }
  static bool isLoadToVec(Operation *op) {
    auto load = dyn_cast_or_null<LoadOp>(op);
    return load && tileOf(load.getResult()).getMemorySpace() == MemorySpace::Vec;
  }
  static void loadToMat(LoadOp load) {
    Value result = load.getResult();
    result.setType(tileOf(result).withSpace(MemorySpace::Mat));
    load->setAttr("target_memory", StringAttr::get(load.getContext(), "mat"));
  }

  /// Loads to vec that only products read, through views and carried values, become loads to mat.
  void loadForProducts() {
    // A5 moves what it carries from vec to mat; mat to mat, for values that overlap, it cannot.
    auto arch = kernel->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>("pto.target_arch");
    bool carry = arch && arch.getValue() != "a5";
    // Everything that may be one at first, less what something else reads or comes from elsewhere.
    llvm::SetVector<Value> wanted;
    kernel.walk([&](Operation *op) {
      if (isLoadToVec(op) || isa<SliceOp, SetValidShapeOp>(op))
        for (Value result : op->getResults())
          if (tileOf(result))
            wanted.insert(result);
    });
    if (carry)
      for (auto &[value, _] : group)
        wanted.insert(value);
    auto readByProducts = [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (isProductOperand(use) || isa<TransposeViewOp>(user))
        return true;
      if (isa<SliceOp, SetValidShapeOp>(user))
        return wanted.contains(user->getResult(0));
      if (auto move = dyn_cast<MoveOp>(user))
        return tileOf(move.getResult()).getMemorySpace() != MemorySpace::Vec &&
               tileOf(move.getResult()).getMemorySpace() != MemorySpace::None;
      return isa<scf::ForOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp>(user) &&
             llvm::all_of(sources, [&](auto pair) {
               return pair.second != use.get() || wanted.contains(pair.first);
             });
    };
    auto fits = [&](Value value) {
      if (!llvm::all_of(value.getUses(), readByProducts))
        return false;
      Operation *op = value.getDefiningOp();
      if (op && isView(op))
        return wanted.contains(op->getOperand(0)) ||
               tileOf(op->getOperand(0)).getMemorySpace() == MemorySpace::Mat;
      if (!group.count(value))
        return true;
      for (auto [to, from] : sources)
        if (leader(to) == leader(value) && !wanted.contains(from))
          return false;
      for (auto &[member, _] : group)
        if (leader(member) == leader(value) && !wanted.contains(member))
          return false;
      return true;
    };
    for (bool changed = true; changed;)
      changed = wanted.remove_if([&](Value value) { return !fits(value); });
    for (Value value : wanted)
      if (isLoadToVec(value.getDefiningOp()) && !value.use_empty())
        loadToMat(value.getDefiningOp<LoadOp>());
    // A move to mat of what is there already says nothing.
    kernel.walk([&](MoveOp move) {
      Value from = move.getTile();
      if (tileOf(move.getResult()).getMemorySpace() == MemorySpace::Mat && wanted.contains(from) &&
          tileOf(viewBase(from)).getMemorySpace() == MemorySpace::Mat) {
        move.getResult().replaceAllUsesWith(from);
        move.erase();
      }
    });
  }

  /// A window of global memory that is in vec, loaded to mat as well, with its views; null where
  /// `value` is something else.
  Value loadedAgain(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !isa<LoadOp, SliceOp, SetValidShapeOp>(op))
      return {};
    Value &copy = moves[{value, unsigned(MemorySpace::Mat)}];
    if (copy)
      return copy;
    IRMapping map;
    if (!isa<LoadOp>(op)) {
      Value base = loadedAgain(op->getOperand(0));
      if (!base)
        return {};
      map.map(op->getOperand(0), base);
    }
    OpBuilder b(kernel.getContext());
    b.setInsertionPointAfter(op);
    Operation *again = b.clone(*op, map);
    Value made = again->getResult(0);
    if (auto load = dyn_cast<LoadOp>(again))
      loadToMat(load);
    else
      made.setType(tileOf(made).withSpace(MemorySpace::Mat));
    moves[{value, unsigned(MemorySpace::Mat)}] = made; // `copy` may dangle after the recursion
    return made;
  }

  void decideGroups() {
    // Accumulators first, then groups whose known sources agree, until nothing changes.
    for (auto &[value, _] : group)
      if (usedAsAccumulator(value))
        decided[leader(value)] = MemorySpace::Acc;
    for (bool changed = true; changed;) {
      changed = false;
      llvm::MapVector<Value, std::optional<MemorySpace>> agreed;
      llvm::DenseSet<Value> disagree;
      for (auto [to, from] : sources) {
        Value lead = leader(to);
        if (decided.count(lead))
          continue;
        MemorySpace space = spaceOf(from);
        if (space == MemorySpace::None)
          continue;
        auto &known = agreed[lead];
        if (known && *known != space)
          disagree.insert(lead);
        known = space;
      }
      for (auto &[lead, space] : agreed) {
        bool inPlace = *space == MemorySpace::Acc || *space == MemorySpace::Mat;
        decided[lead] = disagree.count(lead) || !inPlace ? MemorySpace::Vec : *space;
        changed = true;
      }
    }
    for (auto &[value, _] : group)
      decided.try_emplace(leader(value), MemorySpace::Vec);
  }

  /// A created tile goes where it flows to.
  void assignFlexible() {
    kernel.walk([&](CreateTileOp op) {
      Value value = op.getResult();
      if (spaceOf(value) != MemorySpace::None)
        return;
      MemorySpace space = usedAsAccumulator(value) ? MemorySpace::Acc : MemorySpace::Vec;
      for (auto [to, from] : sources)
        if (from == value)
          space = decided[leader(to)];
      if (llvm::any_of(value.getUsers(),
                       [](Operation *user) { return isa<AssembleOp, WriteOp>(user); }))
        space = MemorySpace::Vec;
      decided[value] = space;
    });
  }

  void annotate(Operation *op) {
    auto set = [&](Value value) {
      if (TileType type = tileOf(value))
        value.setType(type.withSpace(spaceOf(value)));
    };
    for (Value result : op->getResults())
      set(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value arg : block.getArguments())
          if (!isa<func::FuncOp>(op))
            set(arg);
  }

  /// `value` in `space`, moved behind its definition (once for all users).
  Value moved(Value value, MemorySpace space) {
    TileType type = tileOf(value);
    MemorySpace from = type.getMemorySpace();
    if (from == space || (space == MemorySpace::None))
      return value;
    Value &copy = moves[{value, unsigned(space)}];
    if (copy)
      return copy;
    if (space == MemorySpace::Mat && from == MemorySpace::Vec)
      if (Value again = loadedAgain(value))
        return again;
    Value source = value;
    bool toCube =
        space == MemorySpace::Left || space == MemorySpace::Right || space == MemorySpace::Bias;
    if (toCube && from != MemorySpace::Mat)
      source = moved(value, MemorySpace::Mat);
    OpBuilder b(kernel.getContext());
    if (Operation *op = source.getDefiningOp())
      b.setInsertionPointAfter(op);
    else
      b.setInsertionPointToStart(cast<BlockArgument>(source).getOwner());
    TileType sourceType = tileOf(source);
    Type to = TileType::get(sourceType.getShape(), sourceType.getElementType(), space,
                            sourceType.getValid());
    OperationState state(
        value.getLoc(), MoveOp::getOperationName(), {source}, {to},
        {b.getNamedAttr("target_memory", b.getStringAttr(stringifyMemorySpace(space)))});
    Value made = b.create(state)->getResult(0);
    moves[{value, unsigned(space)}] = made; // `copy` may dangle after the recursion
    return made;
  }

  /// Scales go where the hardware looks for those of a data tile, so they are moved when that one
  /// is in its place: right in front of the product.
  void moveScale(MatmulMxOp product, unsigned index, MemorySpace space) {
    Value scale = product->getOperand(index);
    auto given = scale.getDefiningOp<MoveOp>();
    if (given && tileOf(scale).getMemorySpace() == space)
      scale = given.getTile();
    OpBuilder b(product);
    TileType type = tileOf(scale);
    OperationState state(
        product.getLoc(), MoveOp::getOperationName(), {scale},
        {TileType::get(type.getShape(), type.getElementType(), space, type.getValid())},
        {b.getNamedAttr("target_memory", b.getStringAttr(stringifyMemorySpace(space)))});
    product->setOperand(index, b.create(state)->getResult(0));
    if (given && given->use_empty())
      given->erase();
  }

  void fixOperands(Operation *op) {
    StringRef family = familyOf(op);
    auto need = [&](unsigned index, MemorySpace space) {
      Value value = op->getOperand(index);
      if (tileOf(value) && tileOf(value).getMemorySpace() != space)
        op->setOperand(index, moved(value, space));
    };
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [index, arg] : llvm::enumerate(loop.getRegionIterArgs()))
        if (TileType type = tileOf(arg))
          need(3 + index, type.getMemorySpace());
      return;
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (auto [index, arg] : llvm::enumerate(loop.getBeforeArguments()))
        if (TileType type = tileOf(arg))
          need(index, type.getMemorySpace());
      return;
    }
    if (isa<scf::YieldOp, scf::ConditionOp>(op)) {
      Operation *parent = op->getParentOp();
      unsigned skip = isa<scf::ConditionOp>(op) ? 1 : 0;
      auto loop = dyn_cast<scf::WhileOp>(parent);
      for (unsigned i = skip; i < op->getNumOperands(); ++i) {
        Value to =
            loop && !skip ? Value(loop.getBeforeArguments()[i]) : parent->getResult(i - skip);
        if (TileType type = tileOf(to))
          need(i, type.getMemorySpace());
      }
      return;
    }
    if (family.empty() || isa<MoveOp>(op) || isa<PushOp, FreeOp>(op))
      return;
    if (family == "matmul" || family == "matmul_bias") {
      need(0, MemorySpace::Left);
      need(1, MemorySpace::Right);
      if (family == "matmul_bias")
        need(2, MemorySpace::Bias);
      return;
    }
    if (family == "matmul_acc") {
      need(0, MemorySpace::Acc);
      need(1, MemorySpace::Left);
      need(2, MemorySpace::Right);
      return;
    }
    if (auto scaled = dyn_cast<MatmulMxOp>(op)) {
      need(0, MemorySpace::Left);
      need(2, MemorySpace::Right);
      if (scaled.getAcc())
        need(4, MemorySpace::Acc);
      if (scaled.getBias())
        need(op->getNumOperands() - 1, MemorySpace::Bias);
      moveScale(scaled, 1, MemorySpace::LeftScale);
      moveScale(scaled, 3, MemorySpace::RightScale);
      return;
    }
    if (isa<TransposeViewOp, ExtractOp>(op))
      return need(0, MemorySpace::Mat);
    if (isView(op))
      return;
    if (isa<StoreOp>(op)) {
      MemorySpace space = tileOf(op->getOperand(0)).getMemorySpace();
      if (space != MemorySpace::Acc && space != MemorySpace::Vec)
        need(0, MemorySpace::Vec);
      return;
    }
    if (isa<AssembleOp>(op)) {
      MemorySpace target = tileOf(op->getOperand(0)).getMemorySpace();
      MemorySpace source = tileOf(op->getOperand(1)).getMemorySpace();
      if (target != MemorySpace::Mat || (source != MemorySpace::Acc && source != MemorySpace::Vec))
        need(1, target);
      return;
    }
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      if (tileOf(op->getOperand(i)))
        need(i, MemorySpace::Vec);
  }

  func::FuncOp kernel;
  llvm::MapVector<Value, Value> group;
  SmallVector<std::pair<Value, Value>> sources;
  llvm::DenseMap<Value, MemorySpace> decided;
  llvm::DenseMap<std::pair<Value, unsigned>, Value> moves;
};

} // namespace

LogicalResult inferMemorySpaces(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    if (isKernel(func) && !func.isExternal())
      if (failed(SpaceInference(func).run()))
        return failure();
  return success();
}

} // namespace pypto
