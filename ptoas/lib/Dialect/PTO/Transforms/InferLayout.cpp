//===- InferLayout.cpp - layouts of tensor views from their strides -------===//
//
// ND has unit stride in the last dimension, DN in the one before. NZ is a tensor
// of 16-row boxes: […, cols/C0, rows/16, 16, C0] with C0 * bytes == 32. A view
// whose last extent is 1 can be read either way; then the tile that it is loaded
// into or stored from decides. Unknown strides mean ND.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"

namespace mlir::pto {
#define GEN_PASS_DEF_INFERLAYOUT
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

#define DEBUG_TYPE "pto-infer-layout"

using namespace mlir;
using namespace mlir::pto;

namespace {
using Known = SmallVector<std::optional<int64_t>, 5>;

struct ViewFacts {
  Known shape, strides;
  int64_t bytes = 0;

  std::optional<int64_t> extent(unsigned fromEnd) const {
    return fromEnd < shape.size() ? shape[shape.size() - 1 - fromEnd] : 1;
  }
  std::optional<int64_t> stride(unsigned fromEnd) const {
    return fromEnd < strides.size() ? strides[strides.size() - 1 - fromEnd] : std::nullopt;
  }
  // Unit stride, or a dimension that is never stepped over, or unknown.
  bool mayStepByOne(unsigned fromEnd) const {
    std::optional<int64_t> step = stride(fromEnd);
    return !step || *step == 1 || extent(fromEnd) == 1;
  }
  bool isNZ() const {
    if (shape.size() < 4 || stride(0) != 1 || !extent(0) || stride(1) != extent(0))
      return false;
    bool boxes = extent(1) == 16 && *extent(0) * bytes == 32;
    // The test of older assemblers, which looks one dimension further out.
    bool older = extent(2) == 16 && extent(1) && 16 * *extent(1) * bytes == 512;
    return boxes || older;
  }
};
} // namespace

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

static ViewFacts factsOf(MakeTensorViewOp op) {
  ViewFacts facts;
  TensorViewType type = op.getResult().getType();
  facts.bytes = getElementBytes(type.getElementType());
  for (auto [i, value] : llvm::enumerate(op.getShape())) {
    std::optional<int64_t> dim = constantOf(value);
    if (!dim && !ShapedType::isDynamic(type.getDimSize(i)))
      dim = type.getDimSize(i);
    facts.shape.push_back(dim);
  }
  for (Value value : op.getStrides())
    facts.strides.push_back(constantOf(value));
  return facts;
}

// The blayout of the first tile that the view's windows are moved to or from.
static std::optional<BLayout> consumerLayout(Value view) {
  for (Operation *user : view.getUsers()) {
    if (auto window = dyn_cast<PartitionViewOp>(user)) {
      if (auto layout = consumerLayout(window.getResult()))
        return layout;
      continue;
    }
    if (auto load = dyn_cast<TLoadOp>(user))
      return load.getDst().getType().getBlayout();
    if (auto store = dyn_cast<TStoreOp>(user))
      return store.getSrc().getType().getBlayout();
  }
  return std::nullopt;
}

static Layout inferLayout(MakeTensorViewOp op, const ViewFacts &facts) {
  if (facts.isNZ())
    return Layout::Nz;
  if (facts.shape.size() < 2)
    return Layout::Nd;
  if (facts.extent(0) == 1 && facts.stride(1) == 1)
    return consumerLayout(op.getResult()) == BLayout::RowMajor ? Layout::Nd : Layout::Dn;
  if (facts.stride(0) == 1)
    return Layout::Nd;
  return facts.stride(1) == 1 ? Layout::Dn : Layout::Nd;
}

static bool contradicts(Layout layout, const ViewFacts &facts) {
  switch (layout) {
  case Layout::Nd:
    return !facts.mayStepByOne(0);
  case Layout::Dn:
    return facts.shape.size() < 2 || !facts.mayStepByOne(1);
  case Layout::Nz:
    return !facts.isNZ() && llvm::all_of(facts.shape, [](auto dim) { return dim.has_value(); }) &&
           llvm::all_of(facts.strides, [](auto step) { return step.has_value(); });
  default:
    return false;
  }
}

namespace {
struct InferLayout : mlir::pto::impl::InferLayoutBase<InferLayout> {
  void runOnOperation() override {
    bool failedAny = false;
    getOperation().walk([&](MakeTensorViewOp op) {
      ViewFacts facts = factsOf(op);
      Layout inferred = inferLayout(op, facts);
      if (auto given = op.getLayout()) {
        if (contradicts(*given, facts)) {
          InFlightDiagnostic error = op.emitOpError() << "layout mismatch: ";
          if (*given == inferred) // neither order fits
            error << "layout=nd needs a stride of 1 in the last dimension, got "
                  << *facts.stride(0);
          else
            error << "user-specified layout=" << stringifyLayout(*given)
                  << " but inferred=" << stringifyLayout(inferred);
          failedAny = true;
        }
        return;
      }
      op.setLayout(inferred);
      op->setAttr("pto.inferred_layout", BoolAttr::get(&getContext(), true));
    });
    if (failedAny)
      signalPassFailure();
  }
};
} // namespace
