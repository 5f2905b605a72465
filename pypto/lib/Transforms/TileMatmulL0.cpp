//===- TileMatmulL0.cpp - products in steps that fit left and right -------===//
//
// A product whose operands exceed the left or right memory is cut along K: each step extracts its
// slices from the mat tiles and accumulates. For the text form; the native target reads mat tiles
// as they are.
//
//===----------------------------------------------------------------------===//
#include "TensorRoots.h"
#include "pypto/Transforms/Passes.h"

using namespace mlir;

namespace pypto {

static constexpr int64_t operandBytes = 64 * 1024;

static int64_t elementBytes(Type type) {
  return std::max<int64_t>(1, elementTypeOf(type).getIntOrFloatBitWidth() / 8);
}

static LogicalResult split(Operation *op) {
  bool accumulates = isa<MatmulAccOp>(op);
  unsigned first = accumulates ? 1 : 0;
  if (accumulates && op->getNumOperands() > 3)
    return success(); // init_cond: the first step would need a branch of its own
  auto lhs = op->getOperand(first).getDefiningOp<MoveOp>(),
       rhs = op->getOperand(first + 1).getDefiningOp<MoveOp>();
  if (!lhs || !rhs)
    return success();
  Value left = lhs.getTile(), right = rhs.getTile();
  int64_t m = shapeOf(left.getType())[0], k = shapeOf(left.getType())[1],
          n = shapeOf(right.getType())[1];
  int64_t widest = std::max(m * elementBytes(left.getType()), n * elementBytes(right.getType()));
  if (widest * k <= operandBytes)
    return success();
  // Only products whose K is valid as a whole: a step of padding would add what is not data.
  if (validShapeOf(left.getType())[1] != k || validShapeOf(right.getType())[0] != k)
    return success();
  int64_t step = operandBytes / widest / 16 * 16;
  while (step > 0 && k % step != 0)
    step -= 16;
  if (step <= 0)
    return op->emitError("matmul: ") << m << "x" << k << "x" << n
                                     << " does not fit the left and right memories (64 KiB each) "
                                        "in steps along K; use a smaller tile";
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto slice = [&](Value mat, int64_t row, int64_t col, int64_t rows, int64_t cols,
                   MemorySpace space, StringRef name) -> Value {
    auto type = TileType::get({rows, cols}, elementTypeOf(mat.getType()), space);
    Value r = arith::ConstantIndexOp::create(b, loc, row),
          c = arith::ConstantIndexOp::create(b, loc, col);
    return ExtractOp::create(b, loc, TypeRange{type}, ValueRange{mat, r, c},
                             b.getNamedAttr("target_memory", b.getStringAttr(name)))
        .getResult();
  };
  Value acc = accumulates ? op->getOperand(0) : Value();
  for (int64_t at = 0; at < k; at += step) {
    Value l = slice(left, 0, at, m, step, MemorySpace::Left, "left");
    Value r = slice(right, at, 0, step, n, MemorySpace::Right, "right");
    Type type = op->getResult(0).getType();
    acc = acc ? MatmulAccOp::create(b, loc, TypeRange{type}, ValueRange{acc, l, r}).getResult()
              : MatmulOp::create(b, loc, TypeRange{type}, ValueRange{l, r}).getResult();
  }
  op->getResult(0).replaceAllUsesWith(acc);
  op->erase();
  for (MoveOp move : {lhs, rhs})
    if (move->use_empty())
      move->erase();
  return success();
}

/// Gives each user of an operand its own copy from mat, right in front of it.
static void sinkOperands(func::FuncOp kernel) {
  SmallVector<Operation *> moves;
  kernel.walk([&](Operation *op) {
    if (!isa<MoveOp, ExtractOp>(op))
      return;
    MemorySpace space = cast<TileType>(op->getResult(0).getType()).getMemorySpace();
    if (space == MemorySpace::Left || space == MemorySpace::Right)
      moves.push_back(op);
  });
  for (Operation *move : moves) {
    for (OpOperand &use : llvm::make_early_inc_range(move->getUses())) {
      Operation *user = use.getOwner();
      OpBuilder b(user);
      // Scales are found by the place of their data.
      if (auto scaled = dyn_cast<MatmulMxOp>(user))
        for (Value scale : {scaled.getLhsScale(), scaled.getRhsScale()})
          if (Operation *found = scale.getDefiningOp();
              found->getBlock() == user->getBlock() &&
              found->isBeforeInBlock(&*b.getInsertionPoint()))
            b.setInsertionPoint(found);
      use.set(b.clone(*move)->getResult(0));
    }
    move->erase();
  }
}

LogicalResult tileMatmulL0(ModuleOp module, bool tight) {
  SmallVector<Operation *> products;
  for (auto func : module.getOps<func::FuncOp>())
    if (isKernel(func))
      func.walk([&](Operation *op) {
        if (isa<MatmulOp, MatmulAccOp>(op))
          products.push_back(op);
      });
  for (Operation *op : products)
    if (failed(split(op)))
      return failure();
  if (tight)
    for (auto func : module.getOps<func::FuncOp>())
      if (isKernel(func))
        sinkOperands(func);
  return success();
}

} // namespace pypto
