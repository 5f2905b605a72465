//===- TileStorage.cpp - which tiles share a buffer -----------------------===//
#include "TileStorage.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pypto/Dialect/PyPTO/IR/OpTable.h"

using namespace mlir;

namespace pypto {

Value viewBase(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ReshapeOp, SliceOp, SetValidShapeOp, TransposeViewOp, ReinterpretViewOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

int64_t TileStorage::Buffer::bytes() const {
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  uint64_t elements = llvm::SaturatingMultiply<uint64_t>(type.getShape()[0], type.getShape()[1]);
  uint64_t bytes = bits % 8 ? llvm::divideCeil(elements, 8) * bits
                            : llvm::SaturatingMultiply<uint64_t>(elements, bits / 8);
  return llvm::alignTo(std::min(bytes, uint64_t(INT64_MAX) - 31), 32);
}

/// The instruction may write the buffer of an operand of the result's type.
static bool mayWriteOperand(Operation *op) {
  const OpRow *row = findOp(op->getName().getStringRef());
  if (!row)
    return true; // region ops: their results are the carried buffers
  StringRef f = row->family;
  return llvm::is_contained({"unary", "binary", "ternary", "row_expand", "col_expand", "matmul_acc",
                             "matmul_mx", "assemble", "write", "expands", "fillpad", "create",
                             "load", "full", "move"},
                            f) ||
         (f == "cast" &&
          elementTypeOf(op->getOperand(0).getType()) == elementTypeOf(op->getResult(0).getType()));
}

/// Operands whose buffer the result of an instruction may take over.
static OperandRange reusable(Operation *op) {
  const OpRow *row = findOp(op->getName().getStringRef());
  StringRef family = row ? row->family : "", name = row ? row->pto : "";
  auto none = op->getOperands().take_front(0);
  if (llvm::is_contained({"trecip", "trsqrt", "tfmod", "trem", "tand", "tor", "txor"}, name))
    return none;
  if (family == "row_expand" || family == "col_expand") // never the broadcast vector
    return op->getOperands().take_front(1);
  return family == "unary" || family == "binary" ? op->getOperands() : none;
}

TileStorage::TileStorage(func::FuncOp kernel, bool reuseOperands) {
  number(kernel.getBody());
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != kernel.getOperation())
      collect(op);
  });
  coalesce(kernel);
  if (reuseOperands)
    takeOver(kernel);
}

Block *TileStorage::homeOf(unsigned buffer) const {
  Block *home = nullptr;
  for (Value value : all[buffer].values) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumRegions() || (home && home != op->getBlock()))
      return nullptr;
    home = op->getBlock();
  }
  return home;
}

void TileStorage::takeOver(func::FuncOp kernel) {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value operand : reusable(op)) {
      if (!isa<TileType>(operand.getType()) || viewBase(operand) != operand)
        continue;
      // A buffer of several blocks lives in front of them: one of this block stays in it.
      Block *home = homeOf(bufferOf(operand));
      if ((!home || home == op->getBlock()) && merge(operand, op->getResult(0)))
        return;
    }
  });
}

void TileStorage::number(Region &region) {
  for (Block &block : region)
    for (Operation &op : block) {
      begin[&op] = next++;
      for (Region &nested : op.getRegions())
        number(nested);
      end[&op] = op.getNumRegions() ? next++ : begin[&op];
    }
}

void TileStorage::collect(Operation *op) {
  int at = 2 * begin[op];
  for (Value operand : op->getOperands())
    use(operand, op, at);
  for (Region &region : op->getRegions())
    for (Value arg : region.front().getArguments())
      define(arg, at);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    for (Value arg : loop.getAfterArguments())
      define(arg, 2 * begin[loop.getConditionOp()]);
  for (Value result : op->getResults())
    define(result, 2 * end[op] - (mayWriteOperand(op) ? 0 : 1));
}

void TileStorage::live(Value value, int from, int to) {
  all[owner.lookup(value)].lives.push_back({from, to});
}

void TileStorage::define(Value value, int at) {
  auto type = dyn_cast<TileType>(value.getType());
  if (!type)
    return;
  definedAt[value] = at;
  if (viewBase(value) != value)
    return;
  auto [it, fresh] = owner.try_emplace(value, all.size());
  if (fresh)
    all.push_back({type, {value}, {{at, at}}});
  else
    all[it->second].lives = {{at, at}};
}

void TileStorage::use(Value value, Operation *user, int at) {
  if (!isa<TileType>(value.getType()))
    return;
  Value base = viewBase(value);
  // A loop between definition and use keeps the value to its end; a use in an else branch does not
  // keep it through the other branch.
  Region *home = base.getParentRegion();
  SmallVector<std::pair<int, int>> inBranches;
  for (Operation *op = user; op->getParentRegion() != home; op = op->getParentOp()) {
    Operation *parent = op->getParentOp();
    if (isa<scf::ForOp, scf::WhileOp>(parent)) {
      inBranches.clear();
      at = 2 * end[parent];
    } else if (auto branch = dyn_cast<scf::IfOp>(parent);
               branch && op->getParentRegion() == &branch.getElseRegion()) {
      inBranches.push_back({2 * begin[&branch.elseBlock()->front()] - 1, at});
      at = 2 * begin[parent];
    }
  }
  for (auto [from, to] : inBranches)
    live(base, from, to);
  live(base, definedAt[base], at);
}

bool TileStorage::merge(Value a, Value b) {
  if (!isa<TileType>(a.getType()) || !isa<TileType>(b.getType()))
    return false;
  unsigned i = bufferOf(a), j = bufferOf(b);
  if (i == j)
    return true;
  // A view can be taken over only as a whole.
  auto whole = [&](Value v) {
    auto type = cast<TileType>(v.getType());
    const TileType &base = all[bufferOf(v)].type;
    return type.getShape() == base.getShape() && type.getElementType() == base.getElementType();
  };
  Buffer &x = all[i], &y = all[j];
  if (!whole(a) || !whole(b) || x.type.getShape() != y.type.getShape() ||
      x.type.getElementType() != y.type.getElementType() ||
      x.type.getMemorySpace() != y.type.getMemorySpace() ||
      x.type.getTransposed() != y.type.getTransposed())
    return false;
  for (auto [from, to] : x.lives)
    for (auto [first, last] : y.lives)
      if (std::max(from, first) < std::min(to, last) ||
          (from == to && first < from && from < last) ||
          (first == last && from < first && first < to))
        return false;
  x.values.append(y.values);
  x.lives.append(y.lives);
  for (Value value : y.values)
    owner[value] = i;
  y.values.clear();
  y.lives.clear();
  return true;
}

void TileStorage::coalesce(func::FuncOp kernel) {
  // Carried values: argument, result and every value they start with or are handed.
  kernel.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [arg, result] : llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
        if (isa<TileType>(arg.getType())) {
          // The buffer is written at the end of each iteration, and is the result.
          live(arg, 2 * begin[op], 2 * begin[op]);
          live(arg, 2 * begin[loop.getBody()->getTerminator()], 2 * end[op]);
          merge(arg, result);
        }
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (Value arg : loop.getBeforeArguments())
        if (isa<TileType>(arg.getType())) {
          live(arg, 2 * begin[loop.getYieldOp()], 2 * end[op]);
        }
      for (auto [after, result] : llvm::zip(loop.getAfterArguments(), loop.getResults()))
        if (isa<TileType>(after.getType()))
          merge(after, result);
    }
  });
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [arg, yielded, init] :
           llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues(), loop.getInitArgs())) {
        merge(arg, yielded);
        merge(arg, init);
      }
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (auto [arg, yielded, init] :
           llvm::zip(loop.getBeforeArguments(), loop.getYieldOp().getOperands(), loop.getInits())) {
        merge(arg, yielded);
        merge(arg, init);
      }
      for (auto [after, passed] :
           llvm::zip(loop.getAfterArguments(), loop.getConditionOp().getArgs()))
        merge(after, passed);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (auto [index, result] : llvm::enumerate(branch.getResults())) {
        merge(result, branch.thenYield().getOperand(index));
        merge(result, branch.elseYield().getOperand(index));
      }
    } else if (isa<MatmulAccOp, GemvAccOp, AssembleOp, WriteOp>(op)) {
      if (op->getNumResults() == 1)
        merge(op->getOperand(0), op->getResult(0));
    } else if (auto scaled = dyn_cast<MatmulMxOp>(op)) {
      if (scaled.getAcc())
        merge(scaled.getAcc(), scaled.getResult());
    } else if (auto scatter = dyn_cast<ScatterOp>(op)) {
      merge(scatter.getInput(), scatter.getResult());
    } else if (auto scatter = dyn_cast<ScatterMaskOp>(op)) {
      merge(scatter.getDst(), scatter.getResult());
    }
  });
}

} // namespace pypto
