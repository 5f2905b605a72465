//===- StructureControlFlow.cpp - branches become loops and conditions ----===//
//
// Everything behind this pass knows three forms of control flow: scf.for, scf.if
// and scf.while. Blocks with branches are lifted to them, a switch becomes a chain
// of conditions, a region that runs once is opened. Without that the planner would
// not see that a backward branch makes a tile live again, nor the sync passes that
// the instructions behind it run before those in front.
//
//===----------------------------------------------------------------------===//
#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"

namespace mlir::pto {
#define GEN_PASS_DEF_STRUCTURECONTROLFLOW
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

#define DEBUG_TYPE "pto-structure-control-flow"

using namespace mlir;

namespace {
// A path that does not define a value carries zero for it: nothing reads that.
struct Lifting : ControlFlowToSCFTransformation {
  Value getUndefValue(Location loc, OpBuilder &builder, Type type) override {
    if (type.isIntOrIndexOrFloat())
      return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    if (succeeded(carried))
      emitError(loc) << "a value of type " << type
                     << " is defined on one way through branches between blocks and used behind "
                        "them; only numbers can be carried, define it in front of the branches";
    carried = failure();
    return UnrealizedConversionCastOp::create(builder, loc, type, ValueRange()).getResult(0);
  }
  LogicalResult carried = success();
};
} // namespace

// Blocks and cases become conditions in conditions, and whoever walks them calls itself once per
// level.
constexpr size_t kMaxLevels = 1000;

static bool nestsTooDeep(Operation *op) {
  size_t levels = 0;
  for (; op && levels <= kMaxLevels; op = op->getParentOp()) {
    if (auto choice = dyn_cast<scf::IndexSwitchOp>(op))
      levels += choice.getCases().size();
    for (Region &region : op->getRegions())
      if (!region.empty())
        levels += region.getBlocks().size() - 1;
  }
  return levels > kMaxLevels;
}

static LogicalResult lift(Region &region, Operation *around) {
  if (region.empty() || region.hasOneBlock())
    return success();
  // Blocks that no branch reaches belong to no loop.
  IRRewriter rewriter(around->getContext());
  (void)eraseUnreachableBlocks(rewriter, region);
  if (region.hasOneBlock())
    return success();
  Lifting lifting;
  DominanceInfo dominance(around);
  FailureOr<bool> changed = transformCFGToSCF(region, lifting, dominance);
  if (failed(lifting.carried))
    return failure();
  if (failed(changed) || !region.hasOneBlock())
    return around->emitError() << "branches between these blocks do not form loops and conditions";
  return success();
}

// The cases from `next` on; each is a condition whose other way leads to the rest.
static scf::IfOp asConditions(OpBuilder &builder, scf::IndexSwitchOp choice, unsigned next) {
  Location loc = choice.getLoc();
  Value number = arith::ConstantIndexOp::create(builder, loc, choice.getCases()[next]);
  Value isCase =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, choice.getArg(), number);
  auto branch = scf::IfOp::create(builder, loc, choice.getResultTypes(), isCase,
                                  /*addThenBlock=*/false, /*addElseBlock=*/false);
  branch.getThenRegion().takeBody(choice.getCaseRegions()[next]);
  if (next + 1 == choice.getCases().size()) {
    branch.getElseRegion().takeBody(choice.getDefaultRegion());
    return branch;
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&branch.getElseRegion());
  scf::IfOp rest = asConditions(builder, choice, next + 1);
  scf::YieldOp::create(builder, loc, rest.getResults());
  return branch;
}

static void open(Operation *op, Block &body) {
  auto yield = cast<scf::YieldOp>(body.getTerminator());
  op->replaceAllUsesWith(yield.getOperands());
  yield.erase();
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
  op->erase();
}

namespace {
struct StructureControlFlow : mlir::pto::impl::StructureControlFlowBase<StructureControlFlow> {
  void runOnOperation() override {
    bool failedAny = false;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa<scf::ExecuteRegionOp, scf::IndexSwitchOp, FunctionOpInterface>(op) ||
          !nestsTooDeep(op))
        return WalkResult::advance();
      op->emitError() << "the blocks and cases here would become more than " << kMaxLevels
                      << " conditions inside each other; divide them over several functions";
      failedAny = true;
      return WalkResult::skip();
    });
    if (failedAny)
      return signalPassFailure();
    getOperation().walk([&](Operation *op) {
      if (isa<scf::ExecuteRegionOp>(op) || isa<FunctionOpInterface>(op))
        for (Region &region : op->getRegions())
          failedAny |= failed(lift(region, op));
    });
    if (failedAny)
      return signalPassFailure();
    getOperation().walk([&](Operation *op) {
      if (auto once = dyn_cast<scf::ExecuteRegionOp>(op)) {
        open(op, once.getRegion().front());
      } else if (auto choice = dyn_cast<scf::IndexSwitchOp>(op)) {
        if (choice.getCases().empty())
          return open(op, choice.getDefaultRegion().front());
        OpBuilder builder(op);
        choice.replaceAllUsesWith(asConditions(builder, choice, 0).getResults());
        choice.erase();
      }
    });
  }
};
} // namespace
