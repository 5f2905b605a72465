//===- GlobalWindow.cpp - which part of a tensor an instruction touches ---===//
//
// Two windows of one tensor are apart when they are apart in one dimension: there, the
// distance of their offsets is a number that all unknown values drop out of. A window
// of an earlier iteration of a loop that counts in constant steps lies at least one step
// back (or ahead, when the offset falls as the loop counts up).
//
//===----------------------------------------------------------------------===//
#include "GlobalWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pto;

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 64)
    return constant.getSExtValue();
  return std::nullopt;
}

// a + factor * b; nothing when a number does not fit.
static std::optional<LinearForm> sum(const LinearForm &a, const LinearForm &b, int64_t factor) {
  LinearForm result = a;
  auto accumulate = [&](int64_t &into, int64_t add) {
    int64_t product;
    return !llvm::MulOverflow(add, factor, product) && !llvm::AddOverflow(into, product, into);
  };
  if (!accumulate(result.constant, b.constant))
    return std::nullopt;
  for (auto [value, count] : b.terms) {
    auto *term = llvm::find_if(result.terms, [&](auto &t) { return t.first == value; });
    if (term == result.terms.end())
      term = &result.terms.emplace_back(value, 0);
    if (!accumulate(term->second, count))
      return std::nullopt;
  }
  llvm::erase_if(result.terms, [](auto &term) { return term.second == 0; });
  return result;
}

static LinearForm linearForm(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = constantOf(value))
    return {*constant, {}};
  LinearForm itself{0, {{value, 1}}};
  Operation *op = value.getDefiningOp();
  if (!op || depth == 16)
    return itself;
  if (auto cast = dyn_cast<arith::IndexCastOp>(op))
    return linearForm(cast.getIn(), depth + 1);
  // Narrower sums may wrap around.
  if (!value.getType().isIndex() && !value.getType().isInteger(64))
    return itself;
  std::optional<LinearForm> found;
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    found = sum(linearForm(op->getOperand(0), depth + 1), linearForm(op->getOperand(1), depth + 1),
                isa<arith::AddIOp>(op) ? 1 : -1);
  else if (isa<arith::MulIOp>(op))
    for (unsigned side : {0u, 1u})
      if (std::optional<int64_t> factor = constantOf(op->getOperand(side)); factor && !found)
        found = sum({}, linearForm(op->getOperand(1 - side), depth + 1), *factor);
  return found ? *found : itself;
}

LinearForm mlir::pto::getLinearForm(Value value) { return linearForm(value, 0); }

bool LinearForm::operator==(const LinearForm &other) const {
  std::optional<LinearForm> difference = sum(*this, other, -1);
  return difference && difference->constant == 0 && difference->terms.empty();
}

// A bound of a size: windows at the edge of a tensor are often cut off with a minimum.
static int64_t atMost(Value size) {
  if (std::optional<int64_t> constant = constantOf(size))
    return *constant;
  if (auto minimum = size.getDefiningOp<arith::MinSIOp>())
    for (Value operand : minimum->getOperands())
      if (std::optional<int64_t> constant = constantOf(operand))
        return *constant;
  return -1;
}

// Whether elements of different coordinates have different addresses: from the dimension with the
// largest stride on, each steps over all that those behind it reach.
static bool isInjective(MakeTensorViewOp tensor) {
  SmallVector<unsigned, 5> order;
  for (unsigned i = 0; i < tensor.getShape().size(); ++i)
    if (constantOf(tensor.getShape()[i]) != 1)
      order.push_back(i);
  auto stepsOver = [&](unsigned outer, unsigned inner) {
    std::optional<int64_t> stride = constantOf(tensor.getStrides()[inner]);
    if (!stride || *stride <= 0)
      return false;
    std::optional<LinearForm> reach = sum({}, getLinearForm(tensor.getShape()[inner]), *stride);
    LinearForm step = getLinearForm(tensor.getStrides()[outer]);
    if (!reach)
      return false;
    return *reach == step || (reach->terms.empty() && step.terms.empty() &&
                              step.constant >= reach->constant && reach->constant > 0);
  };
  auto holds = [&] {
    for (size_t i = 1; i < order.size(); ++i)
      if (!stepsOver(order[i - 1], order[i]))
        return false;
    std::optional<int64_t> last = order.empty() ? 1 : constantOf(tensor.getStrides()[order.back()]);
    return last && *last > 0;
  };
  if (holds())
    return true;
  if (llvm::all_of(order, [&](unsigned i) { return constantOf(tensor.getStrides()[i]); }))
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(*constantOf(tensor.getStrides()[b]), a) <
             std::pair(*constantOf(tensor.getStrides()[a]), b);
    });
  else
    std::reverse(order.begin(), order.end());
  return holds();
}

std::shared_ptr<const GlobalWindow> mlir::pto::getGlobalWindow(Value value) {
  auto window = value.getDefiningOp<PartitionViewOp>();
  if (!window)
    return nullptr;
  auto found = std::make_shared<GlobalWindow>();
  found->value = value;
  for (Value size : window.getSizes())
    found->sizes.push_back(atMost(size));
  found->offsets.resize(found->sizes.size());
  while (window) {
    for (auto [sumOf, offset] : llvm::zip(found->offsets, window.getOffsets())) {
      std::optional<LinearForm> added = sum(sumOf, getLinearForm(offset), 1);
      if (!added)
        return nullptr;
      sumOf = *added;
    }
    found->tensor = window.getSource().getDefiningOp<MakeTensorViewOp>();
    window = window.getSource().getDefiningOp<PartitionViewOp>();
  }
  if (!found->tensor || !isInjective(found->tensor))
    return nullptr;
  return found;
}

static bool isInside(Value value, Operation *loop) {
  return loop->isAncestor(value.getParentBlock()->getParentOp());
}

bool GlobalWindow::dependsOn(Operation *loop) const {
  return loop->isAncestor(tensor) || llvm::any_of(offsets, [&](const LinearForm &offset) {
           return llvm::any_of(offset.terms,
                               [&](auto &term) { return isInside(term.first, loop); });
         });
}

// Whether both are windows of the same elements, with the same coordinates.
static bool isSameTensor(MakeTensorViewOp a, MakeTensorViewOp b) {
  if (a == b)
    return true;
  auto same = [](ValueRange left, ValueRange right) {
    return left.size() == right.size() && llvm::all_of(llvm::zip(left, right), [](auto pair) {
             return getLinearForm(std::get<0>(pair)) == getLinearForm(std::get<1>(pair));
           });
  };
  return a.getPtr() == b.getPtr() && same(a.getShape(), b.getShape()) &&
         same(a.getStrides(), b.getStrides());
}

static bool areApart(const LinearForm &earlier, int64_t earlierSize, const LinearForm &later,
                     int64_t laterSize, Operation *agedBy) {
  std::optional<LinearForm> distance = sum(later, earlier, -1);
  if (!distance)
    return false;
  int64_t step = 0; // of the offset, from an iteration to the next
  if (agedBy)
    for (const LinearForm *form : {&earlier, &later})
      for (auto [value, count] : form->terms) {
        if (!isInside(value, agedBy))
          continue;
        auto loop = dyn_cast<scf::ForOp>(agedBy);
        std::optional<int64_t> by = loop ? constantOf(loop.getStep()) : std::nullopt;
        if (!by || *by <= 0 || value != loop.getInductionVar() ||
            llvm::MulOverflow(count, *by, step))
          return false;
      }
  // The same multiple in both, or it would not have dropped out.
  if (!distance->terms.empty())
    return false;
  int64_t nearest;
  if (llvm::AddOverflow(distance->constant, step, nearest))
    return false;
  bool isBehind = step >= 0 && earlierSize >= 0 && nearest >= earlierSize;
  bool isInFront = step <= 0 && laterSize >= 0 && nearest <= -laterSize;
  return isBehind || isInFront;
}

bool mlir::pto::areDisjoint(const GlobalWindow &earlier, const GlobalWindow &later,
                            Operation *agedBy) {
  if (!isSameTensor(earlier.tensor, later.tensor) || earlier.offsets.size() != later.offsets.size())
    return false;
  // A tensor that is described anew in each iteration is another one.
  if (agedBy && (agedBy->isAncestor(earlier.tensor) || agedBy->isAncestor(later.tensor)))
    return false;
  for (unsigned i = 0; i < earlier.offsets.size(); ++i)
    if (areApart(earlier.offsets[i], earlier.sizes[i], later.offsets[i], later.sizes[i], agedBy))
      return true;
  return false;
}
