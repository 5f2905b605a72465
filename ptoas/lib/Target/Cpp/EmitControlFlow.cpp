//===- EmitControlFlow.cpp - scf, cf, func, sections ----------------------===//
//
// Structured control flow stays structured. Values that a loop or a branch carries are
// variables. A function of several blocks is labels and jumps; there every variable is
// declared at the top, because a jump must not pass an initialisation.
//
//===----------------------------------------------------------------------===//
#include "FunctionEmitter.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::formatv;

namespace ptoas::cpp {

bool isScalarOp(StringRef name);

LogicalResult FunctionEmitter::emitOp(Operation *op) {
  if (unneeded_.contains(op))
    return success();
  StringRef dialect = op->getName().getDialectNamespace();
  StringRef name = op->getName().getStringRef();
  if (name == "arith.constant")
    return emitArith(op);
  locationComment(op);
  if (dialect == "arith") {
    if (!isScalarOp(name))
      return op->emitOpError() << "has no C++ form";
    return emitArith(op);
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (auto choice = dyn_cast<scf::IndexSwitchOp>(op))
    return emitIndexSwitch(choice);
  if (auto region = dyn_cast<scf::ExecuteRegionOp>(op))
    return emitInlineRegion(region);
  if (auto call = dyn_cast<func::CallOp>(op))
    return emitCall(call);
  if (auto ret = dyn_cast<func::ReturnOp>(op))
    return emitReturn(ret);
  if (isa<cf::BranchOp, cf::CondBranchOp, cf::SwitchOp>(op))
    return emitBranch(op);
  if (isa<scf::YieldOp, scf::ConditionOp>(op) || name == "pto.yield")
    return success(); // read by the op around it
  if (isa<pto::SectionCubeOp>(op))
    return emitSection(op, "__DAV_CUBE__", false);
  if (isa<pto::SectionVectorOp>(op))
    return emitSection(op, "__DAV_VEC__", true);
  if (name == "pto.fusion_region")
    return emitInlineRegion(op);
  if (name == "pto.section.simt")
    return op->emitOpError() << "has no C++ form: the instruction headers start no threads";
  if (isa<UnrealizedConversionCastOp>(op) && op->getNumOperands() == 1 &&
      op->getNumResults() == 1) {
    std::string type = spellElement(op->getResult(0).getType());
    if (type.empty() || !op->getOperand(0).getType().isIntOrIndexOrFloat())
      return op->emitOpError() << "has no C++ form: only scalars are cast";
    return result(op->getResult(0), "(" + type + ")" + expr(op->getOperand(0)));
  }
  if (dialect != "pto")
    return op->emitOpError() << "has no C++ form: code generation knows func, scf, cf, arith and "
                                "the pto dialect";
  bool known = false;
  LogicalResult done = emitViewOp(op, known);
  if (!known)
    done = emitFifoOp(op, known);
  if (known)
    return done;
  if (auto tileOp = dyn_cast<pto::TileOpInterface>(op))
    return emitTileOp(tileOp);
  if (std::optional<LogicalResult> form = emitForm(op))
    return *form;
  return op->emitOpError() << "has no C++ form";
}

// Goes on behind an error, so that all of them are reported.
LogicalResult FunctionEmitter::emitBlock(Block &block) {
  bool failedAny = false;
  for (Operation &op : block)
    failedAny |= failed(emitOp(&op));
  return failure(failedAny);
}

LogicalResult FunctionEmitter::emitRegions(Region &region) {
  if (region.hasOneBlock())
    return emitBlock(region.front());
  for (auto [i, block] : llvm::enumerate(region)) {
    labels_[&block] = "bb" + std::to_string(i);
    if (i == 0)
      continue;
    for (BlockArgument argument : block.getArguments())
      if (failed(variable(argument, "")))
        return failure();
  }
  bool failedAny = false;
  for (Block &block : region) {
    if (!block.hasNoPredecessors())
      out_.label(labels_[&block]);
    failedAny |= failed(emitBlock(block));
  }
  return failure(failedAny);
}

LogicalResult FunctionEmitter::resultVariables(Operation *op, SmallVectorImpl<std::string> &names) {
  for (Value value : op->getResults()) {
    if (failed(variable(value, "")))
      return failure();
    names.push_back(names_[value]);
  }
  return success();
}

LogicalResult FunctionEmitter::emitFor(scf::ForOp op) {
  // A result is the variable of its iteration argument.
  SmallVector<std::string> carried;
  for (auto [value, argument, init] :
       llvm::zip(op.getResults(), op.getRegionIterArgs(), op.getInitArgs())) {
    if (failed(variable(value, expr(init))))
      return failure();
    carried.push_back(names_[value]);
    names_[argument] = carried.back();
  }
  std::string lower = expr(op.getLowerBound());
  Scope scope(*this);
  std::string counter = define(op.getInductionVar()).str();
  std::string type = spellElement(op.getInductionVar().getType());
  // The bound must not change with a carried variable that it is read from: it is a value.
  std::string compared = counter, bound = expr(op.getUpperBound());
  if (op.getUnsignedCmp()) {
    std::string cast = "(u" + type + ")";
    compared = cast + counter;
    bound = cast + bound;
  }
  std::string declared = type + " " + counter;
  if (jumps_) {
    top_.push_back(declared + ";");
    declared = counter;
  }
  std::string step = expr(op.getStep());
  std::string increment = step == "1" ? "++" + counter : counter + " += " + step;
  out_.open(formatv("for ({0} = {1}; {2} < {3}; {4})", declared, lower, compared, bound, increment)
                .str());
  if (failed(emitBlock(*op.getBody())))
    return failure();
  auto yield = cast<scf::YieldOp>(op.getBody()->getTerminator());
  if (failed(assignAll(op, carried, yield.getOperands())))
    return failure();
  out_.close();
  return success();
}

LogicalResult FunctionEmitter::emitIf(scf::IfOp op) {
  SmallVector<std::string> results;
  if (failed(resultVariables(op, results)))
    return failure();
  out_.open("if (" + expr(op.getCondition()) + ")");
  bool failedAny = false;
  {
    Scope scope(*this);
    failedAny |= failed(emitBlock(*op.thenBlock()));
    if (!results.empty())
      failedAny |= failed(assignAll(op, results, op.thenYield().getOperands()));
  }
  Block *otherwise = op.elseBlock();
  bool empty = !otherwise || (results.empty() && llvm::hasSingleElement(*otherwise));
  if (!empty) {
    out_.reopen("else");
    Scope scope(*this);
    failedAny |= failed(emitBlock(*otherwise));
    if (!results.empty())
      failedAny |= failed(assignAll(op, results, op.elseYield().getOperands()));
  }
  out_.close();
  return failure(failedAny);
}

LogicalResult FunctionEmitter::emitWhile(scf::WhileOp op) {
  SmallVector<std::string> results, carried, inside;
  if (failed(resultVariables(op, results)))
    return failure();
  for (auto [argument, init] : llvm::zip(op.getBeforeArguments(), op.getInits())) {
    if (failed(variable(argument, expr(init))))
      return failure();
    carried.push_back(names_[argument]);
  }
  out_.open("while (true)");
  Scope scope(*this);
  bool failedAny = failed(emitBlock(*op.getBeforeBody()));
  auto condition = op.getConditionOp();
  failedAny |= failed(assignAll(op, results, condition.getArgs()));
  out_.open("if (!" + expr(condition.getCondition()) + ")");
  out_.line("break;");
  out_.close();
  // What the condition passes on is what the loop gives back when it ends.
  for (auto [argument, name] : llvm::zip(op.getAfterArguments(), results))
    names_[argument] = name;
  failedAny |= failed(emitBlock(*op.getAfterBody()));
  failedAny |= failed(assignAll(op, carried, op.getYieldOp().getOperands()));
  out_.close();
  return failure(failedAny);
}

LogicalResult FunctionEmitter::emitIndexSwitch(scf::IndexSwitchOp op) {
  SmallVector<std::string> results;
  if (failed(resultVariables(op, results)))
    return failure();
  out_.open("switch (" + expr(op.getArg()) + ")");
  bool failedAny = false;
  auto emitCase = [&](const Twine &head, Block &block) {
    out_.outdent();
    out_.open(head + ":");
    Scope scope(*this);
    failedAny |= failed(emitBlock(block));
    failedAny |= failed(assignAll(op, results, block.getTerminator()->getOperands()));
    out_.line("break;");
    out_.close();
    out_.indent();
  };
  for (auto [value, region] : llvm::zip(op.getCases(), op.getCaseRegions()))
    emitCase("case " + Twine(value), region.front());
  emitCase("default", op.getDefaultBlock());
  out_.close();
  return failure(failedAny);
}

// A region that runs once, in place.
LogicalResult FunctionEmitter::emitInlineRegion(Operation *op) {
  Region &region = op->getRegion(0);
  if (!region.hasOneBlock())
    return op->emitOpError() << "has no C++ form with several blocks inside a structured op";
  // Tiles that leave the region are handles of the scope around it.
  bool tiles = llvm::any_of(op->getResults(), [](Value value) {
    return isa<pto::TileBufType, pto::TensorViewType, pto::PartitionTensorViewType>(
        value.getType());
  });
  if (tiles || op->getNumResults() == 0) {
    if (failed(emitBlock(region.front())))
      return failure();
    for (auto [value, inner] :
         llvm::zip(op->getResults(), region.front().getTerminator()->getOperands()))
      names_[value] = expr(inner);
    return success();
  }
  SmallVector<std::string> results;
  if (failed(resultVariables(op, results)))
    return failure();
  out_.line("{");
  out_.indent();
  Scope scope(*this);
  if (failed(emitBlock(region.front())) ||
      failed(assignAll(op, results, region.front().getTerminator()->getOperands())))
    return failure();
  out_.close();
  return success();
}

LogicalResult FunctionEmitter::emitSection(Operation *op, StringRef macro, bool vector) {
  out_.directive(("#if defined(" + macro + ")").str());
  if (vector && kind_ != pto::KernelKind::Vector) {
    out_.line("set_mask_norm();");
    out_.line("set_vector_mask(-1, -1);");
  }
  // Both sections of a function may use the same names: the scope ends with the guard.
  out_.line("{");
  out_.indent();
  Scope scope(*this);
  LogicalResult done = emitBlock(op->getRegion(0).front());
  out_.close();
  out_.directive("#endif");
  return done;
}

//===----------------------------------------------------------------------===//
// Calls and returns
//===----------------------------------------------------------------------===//

LogicalResult FunctionEmitter::emitCall(func::CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  if (!callee)
    return op.emitOpError() << "calls '@" << op.getCallee() << "', which is not a function";
  std::string arguments;
  for (Value operand : op.getOperands()) {
    std::string text = expr(operand);
    if (isa<pto::TensorViewType, pto::PartitionTensorViewType>(operand.getType()))
      return op.emitOpError() << "has no C++ form: it passes " << operand.getType()
                              << "; C++ functions take pointers and scalars";
    if (tileTypes_.contains(operand))
      return op.emitOpError() << "has no C++ form: it passes a window of a tile, whose C++ type "
                                 "has the pitch of its source";
    arguments += (arguments.empty() ? "" : ", ") + text;
  }
  StringRef name = module_.functionNames[callee];
  if (op.getNumResults() == 1)
    return result(op.getResult(0), name + "(" + arguments + ")");
  SmallVector<std::string> results;
  if (failed(resultVariables(op, results)))
    return failure();
  for (const std::string &variable : results)
    arguments += (arguments.empty() ? "" : ", ") + variable;
  out_.line(name + "(" + arguments + ");");
  return success();
}

// How the queues are drained where a kernel ends.
FailureOr<StringRef> tailMode(func::FuncOp func) {
  auto hint = func->getAttrOfType<StringAttr>("pto.auto_sync_tail_hint");
  if (!hint)
    return StringRef("kBarrierAll");
  std::string word = hint.getValue().lower();
  std::replace(word.begin(), word.end(), '_', '-');
  if (word == "barrier-all" || word == "default")
    return StringRef("kBarrierAll");
  if (word == "mte3-to-s-event0" || word == "setwait-mte3-to-s-event0" ||
      word == "set-wait-mte3-to-s-event0")
    return StringRef("kSetWaitMte3ToSEvent0");
  return func.emitError() << "'func.func' op pto.auto_sync_tail_hint must be \"barrier-all\", "
                             "\"default\" or \"mte3-to-s-event0\", got \""
                          << hint.getValue() << "\"";
}

LogicalResult FunctionEmitter::emitReturn(func::ReturnOp op) {
  if (module_.options.syncTail && inKernel()) {
    FailureOr<StringRef> mode = tailMode(func_);
    if (failed(mode))
      return failure();
    out_.line("ptoas_auto_sync_tail(PTOAutoSyncTailMode::" + *mode + ");");
  }
  if (op.getNumOperands() > 1)
    for (auto [target, value] : llvm::zip(resultNames_, op.getOperands()))
      out_.line(target + " = " + expr(value) + ";");
  if (op.getNumOperands() == 1)
    out_.line("return " + expr(op.getOperand(0)) + ";");
  else if (jumps_)
    out_.line("return;");
  return success();
}

//===----------------------------------------------------------------------===//
// Jumps
//===----------------------------------------------------------------------===//

LogicalResult FunctionEmitter::emitJump(Operation *op, Block *target, ValueRange values) {
  SmallVector<std::string> targets;
  for (BlockArgument argument : target->getArguments())
    targets.push_back(names_[argument]);
  if (failed(assignAll(op, targets, values)))
    return failure();
  out_.line("goto " + labels_[target] + ";");
  return success();
}

LogicalResult FunctionEmitter::emitBranch(Operation *op) {
  if (auto jump = dyn_cast<cf::BranchOp>(op))
    return emitJump(op, jump.getDest(), jump.getDestOperands());
  if (auto branch = dyn_cast<cf::CondBranchOp>(op)) {
    out_.open("if (" + expr(branch.getCondition()) + ")");
    if (failed(emitJump(op, branch.getTrueDest(), branch.getTrueDestOperands())))
      return failure();
    out_.close();
    return emitJump(op, branch.getFalseDest(), branch.getFalseDestOperands());
  }
  auto choice = cast<cf::SwitchOp>(op);
  out_.open("switch (" + expr(choice.getFlag()) + ")");
  auto emitCase = [&](const std::string &head, Block *target, ValueRange values) {
    out_.outdent();
    out_.open(head + ":");
    LogicalResult done = emitJump(op, target, values);
    out_.close();
    out_.indent();
    return done;
  };
  if (choice.getCaseValues())
    for (auto [i, value] : llvm::enumerate(choice.getCaseValues()->getValues<APInt>()))
      if (failed(emitCase("case " + std::to_string(value.getSExtValue()),
                          choice.getCaseDestinations()[i], choice.getCaseOperands(i))))
        return failure();
  if (failed(emitCase("default", choice.getDefaultDestination(), choice.getDefaultOperands())))
    return failure();
  out_.close();
  return success();
}

} // namespace ptoas::cpp
