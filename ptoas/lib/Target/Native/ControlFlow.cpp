//===- ControlFlow.cpp - scf and func ops ---------------------------------===//
#include "Emitter.h"

using namespace llvm;
using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;
namespace ptoas::native {

static LogicalResult scalarsOnly(mlir::Operation *op, FunctionEmitter &fn) {
  for (mlir::Type type : op->getResultTypes())
    if (!fn.typeOf(type))
      return op->emitError("native target: '") << op->getName() << "' carries a value of type "
                                               << type << "; only scalars and pointers are carried";
  return success();
}

LogicalResult FunctionEmitter::emitFor(mlir::scf::ForOp op) {
  flush();
  if (failed(scalarsOnly(op, *this)))
    return failure();
  resetKnownExtents(op.getRegion());
  Value *from = value(op.getLowerBound()), *to = value(op.getUpperBound());
  Value *step = value(op.getStep());
  auto *head = BasicBlock::Create(b.getContext(), "for", function);
  auto *after = BasicBlock::Create(b.getContext(), "for.end", function);
  bool isUnsigned = op.getUnsignedCmp();
  auto less = [&](Value *x, Value *y) {
    return isUnsigned ? b.CreateICmpULT(x, y) : b.CreateICmpSLT(x, y);
  };
  BasicBlock *before = b.GetInsertBlock();
  b.CreateCondBr(less(from, to), head, after);
  b.SetInsertPoint(head);
  PHINode *counter = b.CreatePHI(from->getType(), 2, "i");
  counter->addIncoming(from, before);
  values[op.getInductionVar()] = counter;
  SmallVector<PHINode *, 4> carried;
  for (auto [argument, init] : zip(op.getRegionIterArgs(), op.getInitArgs())) {
    PHINode *phi = b.CreatePHI(typeOf(argument.getType()), 2);
    phi->addIncoming(value(init), before);
    values[argument] = phi;
    carried.push_back(phi);
  }
  auto saved = extents; // what is known inside does not hold outside
  if (failed(emitBlock(*op.getBody(), true)))
    return failure();
  extents = saved;
  auto yield = cast<mlir::scf::YieldOp>(op.getBody()->getTerminator());
  Value *next = b.CreateAdd(counter, step);
  BasicBlock *latch = b.GetInsertBlock();
  counter->addIncoming(next, latch);
  SmallVector<Value *, 4> yielded;
  for (auto [phi, operand] : zip(carried, yield.getOperands())) {
    yielded.push_back(value(operand));
    phi->addIncoming(yielded.back(), latch);
  }
  // A step that overflows would start over: the loop ends there.
  Value *more = b.CreateAnd(less(next, to), less(counter, next));
  b.CreateCondBr(more, head, after);
  b.SetInsertPoint(after);
  for (auto [result, init, last] : zip(op.getResults(), op.getInitArgs(), yielded)) {
    PHINode *phi = b.CreatePHI(last->getType(), 2);
    phi->addIncoming(value(init), before);
    phi->addIncoming(last, latch);
    values[result] = phi;
  }
  resetKnownExtents(op.getRegion());
  return success();
}

LogicalResult FunctionEmitter::emitIf(mlir::scf::IfOp op) {
  flush();
  if (failed(scalarsOnly(op, *this)))
    return failure();
  auto *then = BasicBlock::Create(b.getContext(), "then", function);
  auto *after = BasicBlock::Create(b.getContext(), "if.end", function);
  bool hasElse = !op.getElseRegion().empty();
  auto *otherwise = hasElse ? BasicBlock::Create(b.getContext(), "else", function) : after;
  b.CreateCondBr(value(op.getCondition()), then, otherwise);
  SmallVector<SmallVector<Value *, 4>, 2> results(2);
  BasicBlock *ends[2] = {};
  auto saved = extents;
  unsigned i = 0;
  for (mlir::Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    extents = saved;
    b.SetInsertPoint(i == 0 ? then : otherwise);
    if (failed(emitBlock(region.front(), true)))
      return failure();
    if (auto yield = dyn_cast<mlir::scf::YieldOp>(region.front().getTerminator()))
      for (mlir::Value v : yield.getOperands())
        results[i].push_back(value(v));
    ends[i] = b.GetInsertBlock();
    b.CreateBr(after);
    ++i;
  }
  extents = saved;
  b.SetInsertPoint(after);
  for (auto [k, result] : enumerate(op.getResults())) {
    PHINode *phi = b.CreatePHI(typeOf(result.getType()), 2);
    phi->addIncoming(results[0][k], ends[0]);
    phi->addIncoming(results[1][k], ends[1]);
    values[result] = phi;
  }
  for (mlir::Region &region : op->getRegions())
    resetKnownExtents(region);
  return success();
}

LogicalResult FunctionEmitter::emitWhile(mlir::scf::WhileOp op) {
  flush();
  if (failed(scalarsOnly(op, *this)))
    return failure();
  for (mlir::Region &region : op->getRegions())
    resetKnownExtents(region);
  auto *head = BasicBlock::Create(b.getContext(), "while", function);
  auto *body = BasicBlock::Create(b.getContext(), "do", function);
  auto *after = BasicBlock::Create(b.getContext(), "while.end", function);
  BasicBlock *before = b.GetInsertBlock();
  b.CreateBr(head);
  b.SetInsertPoint(head);
  SmallVector<PHINode *, 4> carried;
  for (auto [argument, init] : zip(op.getBeforeArguments(), op.getInits())) {
    PHINode *phi = b.CreatePHI(typeOf(argument.getType()), 2);
    phi->addIncoming(value(init), before);
    values[argument] = phi;
    carried.push_back(phi);
  }
  auto saved = extents;
  if (failed(emitBlock(*op.getBeforeBody(), true)))
    return failure();
  auto condition = op.getConditionOp();
  b.CreateCondBr(value(condition.getCondition()), body, after);
  for (auto [argument, result, operand] :
       zip(op.getAfterArguments(), op.getResults(), condition.getArgs()))
    values[argument] = values[result] = value(operand);
  b.SetInsertPoint(body);
  if (failed(emitBlock(*op.getAfterBody(), true)))
    return failure();
  extents = saved;
  for (auto [phi, operand] : zip(carried, op.getYieldOp().getOperands()))
    phi->addIncoming(value(operand), b.GetInsertBlock());
  b.CreateBr(head);
  b.SetInsertPoint(after);
  for (mlir::Region &region : op->getRegions())
    resetKnownExtents(region);
  return success();
}

LogicalResult FunctionEmitter::emitCall(mlir::func::CallOp op) {
  flush();
  Function *callee = owner.module.getFunction(op.getCallee());
  if (!callee)
    return op.emitError("native target: unknown function @") << op.getCallee();
  SmallVector<Value *, 16> args;
  for (mlir::Value operand : op.getOperands()) {
    if (!value(operand))
      return op.emitError("native target: an operand of type ")
             << operand.getType() << " cannot be passed";
    args.push_back(value(operand));
  }
  CallInst *call = b.CreateCall(callee, args);
  if (op.getNumResults() == 1)
    values[op.getResult(0)] = call;
  else
    for (auto [i, result] : enumerate(op.getResults()))
      values[result] = b.CreateExtractValue(call, i);
  return success();
}

LogicalResult FunctionEmitter::emitReturn(mlir::func::ReturnOp op) {
  flush();
  if (op.getNumOperands() == 0) {
    returns.push_back(b.CreateRetVoid());
  } else if (op.getNumOperands() == 1) {
    returns.push_back(b.CreateRet(value(op.getOperand(0))));
  } else {
    Value *all = PoisonValue::get(function->getReturnType());
    for (auto [i, operand] : enumerate(op.getOperands()))
      all = b.CreateInsertValue(all, value(operand), i);
    returns.push_back(b.CreateRet(all));
  }
  return success();
}

} // namespace ptoas::native
