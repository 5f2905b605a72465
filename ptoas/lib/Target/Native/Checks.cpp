//===- Checks.cpp - numbers of the running program that would do harm -----===//
//
// Extents, offsets, slots and addresses that are known only when the code runs are
// looked at before their first use: outside their limits they would reach other tiles'
// bytes. With Options::check, each instruction that touches global memory also looks at
// its windows. What is wrong is reported with the place in the program, and the function
// returns at once; the host finds the report (Cluster.h).
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "ptoas/Dialect/PTO/Transforms/MemoryPlan.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;
using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;
namespace pto = mlir::pto;
namespace ptoas::native {

/// Ends the function, after `report`, where `wrong` holds.
void FunctionEmitter::leaveIf(Value *wrong, function_ref<void()> report) {
  LLVMContext &context = b.getContext();
  auto *bad = BasicBlock::Create(context, "fault", function);
  auto *good = BasicBlock::Create(context, "good", function);
  b.CreateCondBr(wrong, bad, good, MDBuilder(context).createUnlikelyBranchWeights());
  if (!faultExit) {
    faultExit = BasicBlock::Create(context, "fault.exit", function);
    b.SetInsertPoint(faultExit);
    Type *result = function->getReturnType();
    returns.push_back(result->isVoidTy() ? b.CreateRetVoid()
                                         : b.CreateRet(Constant::getNullValue(result)));
  }
  b.SetInsertPoint(bad);
  report();
  b.CreateBr(faultExit);
  b.SetInsertPoint(good);
}

/// `number` must be between 0 and `high` (null: not negative) from here on.
LogicalResult FunctionEmitter::requireWithin(mlir::Operation &op, Value *number, Value *high,
                                             const Twine &subject) {
  Value *wrong = b.CreateICmpSLT(number, index(0));
  if (auto *limit = dyn_cast_or_null<ConstantInt>(high); limit && !limit->isNegative())
    wrong = b.CreateICmpUGT(number, high); // both at once
  else if (high)
    wrong = b.CreateOr(wrong, b.CreateICmpSGT(number, high));
  if (auto *known = dyn_cast<ConstantInt>(wrong)) {
    if (known->isZero())
      return success();
    mlir::InFlightDiagnostic diag = op.emitOpError(subject)
                                    << " is " << cast<ConstantInt>(number)->getSExtValue();
    if (high)
      diag << ", which must be between 0 and " << cast<ConstantInt>(high)->getSExtValue();
    else
      diag << ", which must not be negative";
    return diag;
  }
  std::string what = placeOf(op.getLoc()) + ": error: '" + op.getName().getStringRef().str() +
                     "' op " + subject.str();
  leaveIf(wrong, [&] {
    callRuntime("pto_range_failed",
                {place(), b.CreateGlobalString(what), number, high ? high : index(INT64_MAX)});
  });
  return success();
}

/// Whether an earlier op of this block or of one around it has found so.
bool FunctionEmitter::isWithin(Value *number, int64_t high) {
  if (auto *known = dyn_cast<ConstantInt>(number))
    return !known->isNegative() && known->getSExtValue() <= high;
  if (auto *smaller = dyn_cast<IntrinsicInst>(number);
      smaller && smaller->getIntrinsicID() == Intrinsic::smin)
    return isWithin(smaller->getArgOperand(0), high) || isWithin(smaller->getArgOperand(1), high);
  for (mlir::Block *block = current->getBlock();; block = block->getParentOp()->getBlock()) {
    if (auto limit = limits.find({number, block}); limit != limits.end() && limit->second <= high)
      return true;
    if (isa<mlir::func::FuncOp>(block->getParentOp()))
      return false;
  }
}

LogicalResult FunctionEmitter::requireWithin(mlir::Operation &op, mlir::Value number, int64_t high,
                                             const Twine &subject) {
  Value *value = asIndex(number);
  if (isWithin(value, high))
    return success();
  auto [limit, isNew] = limits.try_emplace({value, op.getBlock()}, high);
  limit->second = std::min(limit->second, high);
  return requireWithin(op, value, high == INT64_MAX ? nullptr : index(high), subject);
}

/// The tiles of a nest hold all the rows and columns that it goes over: their extents need not be
/// the same values, and capacities may differ.
void FunctionEmitter::checkExtents(NestOp &op) {
  auto check = [&](const Access &access, bool reads) {
    if (!access.tile || (reads && op.usesPosition))
      return; // such a nest masks what it reads
    auto require = [&](Value *number, int64_t high, const char *what) {
      if (!isWithin(number, high))
        isRefused |= failed(requireWithin(
            *op.source, number, index(high),
            Twine("the number of ") + what + (reads ? " read from a tile" : " written to a tile")));
    };
    bool rows = access.spread == Spread::Full || access.spread == Spread::PerRow;
    bool cols = access.spread == Spread::Full || access.spread == Spread::PerCol;
    if (rows && !access.rowLimit && (reads || op.kind != NestKind::ColReduce))
      require(op.rows, access.tile->rows, "rows");
    if (cols)
      require(op.cols, access.mask ? access.tile->rowBytes() * 8 : access.tile->cols, "columns");
  };
  for (const Access &in : op.in)
    check(in, true);
  check(op.out, false);
}

/// The run-time numbers that the instruction's tiles and windows come from.
LogicalResult FunctionEmitter::checkRanges(mlir::Operation &op) {
  for (mlir::Value operand : op.getOperands())
    if (failed(model.isTile(operand) ? checkTileRanges(op, operand) : checkViewRanges(op, operand)))
      return failure();
  bool extracts = isa<pto::TExtractOp, pto::TExtractFpOp>(op);
  if (!extracts && !isa<pto::TInsertOp, pto::TInsertFpOp>(op))
    return success();
  // The smaller tile lies inside the larger one.
  auto move = cast<pto::TileOpInterface>(op);
  const TileInfo &large = model.info(move.getNamedOperand(extracts ? "src" : "dst"));
  const TileInfo &small = model.info(move.getNamedOperand(extracts ? "dst" : "src"));
  Value *row = asIndex(move.getNamedOperand("row")), *col = asIndex(move.getNamedOperand("col"));
  if (failed(requireWithin(op, row, b.CreateSub(index(large.rows), validRows(small)), "row")))
    return failure();
  return requireWithin(op, col, b.CreateSub(index(large.cols), validCols(small)), "col");
}

LogicalResult FunctionEmitter::checkTileRanges(mlir::Operation &op, mlir::Value handle) {
  const TileInfo &tile = model.info(handle);
  auto require = [&](mlir::Value number, int64_t high, const Twine &subject) {
    return !number || constantOf(number) ? success() : requireWithin(op, number, high, subject);
  };
  if (failed(require(tile.validRows.value, tile.rows, validRowsText)) ||
      failed(require(tile.validCols.value, tile.cols, validColsText)))
    return failure();
  // Where it lies: each step that is known only now.
  for (mlir::Operation *def = handle.getDefiningOp(); def;
       def = def->getOperand(0).getDefiningOp()) {
    const TileInfo &part = model.info(def->getResult(0));
    if (part.exact)
      return success();
    if (isa<pto::SubviewOp, pto::SubsetOp>(def)) {
      const TileInfo &whole = model.info(def->getOperand(0));
      if (failed(require(def->getOperand(1), whole.rows - part.rows,
                         "the row offset of a part of a tile")) ||
          failed(require(def->getOperand(2), whole.cols - part.cols,
                         "the column offset of a part of a tile")))
        return failure();
    } else if (auto get = dyn_cast<pto::MultiTileGetOp>(def)) {
      int64_t count = cast<pto::MultiTileBufType>(get.getSource().getType()).getCount();
      if (failed(require(get.getSlot(), count - 1, "the slot of a tile")))
        return failure();
    } else if (!isa<pto::TReshapeOp, pto::BitcastOp>(def)) {
      mlir::Value addr = isa<pto::TAssignOp>(def) ? def->getOperand(1) : def->getOperand(0);
      int64_t bytes = part.type.getSizeInBytes();
      if (auto slots = dyn_cast<pto::MultiTileBufType>(def->getResult(0).getType()))
        bytes *= slots.getCount();
      return require(addr, largestMemory - bytes, "the address of a tile");
    }
  }
  return success();
}

LogicalResult FunctionEmitter::checkViewRanges(mlir::Operation &op, mlir::Value view) {
  auto require = [&](mlir::ValueRange sizes, const Twine &what) {
    for (auto [axis, size] : enumerate(sizes))
      if (!constantOf(size) &&
          failed(requireWithin(op, size, INT64_MAX,
                               "the size of " + what + " in dimension " + Twine(axis))))
        return failure();
    return success();
  };
  if (auto make = view.getDefiningOp<pto::MakeTensorViewOp>())
    return require(make.getShape(), "a tensor");
  auto part = view.getDefiningOp<pto::PartitionViewOp>();
  return part ? require(part.getSizes(), "a window") : success();
}

/// What the program calls the memory behind a view.
std::string FunctionEmitter::nameOfTensor(mlir::Value view, mlir::func::FuncOp function) {
  while (mlir::Operation *op = view.getDefiningOp()) {
    if (op->getNumOperands() == 0)
      return "a tensor";
    view = op->getOperand(0);
  }
  auto argument = cast<mlir::BlockArgument>(view);
  if (argument.getOwner() != &function.getBody().front())
    return "a tensor";
  std::string text = "argument " + std::to_string(argument.getArgNumber());
  if (auto name =
          function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "pypto.name"))
    text += " '" + name.str() + "'";
  return text;
}

void FunctionEmitter::checkWindows(mlir::Operation &op) {
  if (!owner.options.check || op.getNumRegions())
    return;
  for (mlir::Value operand : op.getOperands())
    for (auto part = operand.getDefiningOp<pto::PartitionViewOp>(); part;
         part = part.getSource().getDefiningOp<pto::PartitionViewOp>())
      checkWindow(op, part);
}

/// A move takes no more of its window than the tile has valid (spec dsl 6.6: load with clamp).
/// Empty: all of the window.
SmallVector<Value *, 2> FunctionEmitter::movedExtents(mlir::Operation &op, mlir::Value view) {
  if (!isa<pto::TLoadOp, pto::TStoreOp>(op) || !llvm::is_contained(op.getOperands(), view) ||
      views.find(view)->second.sizes.size() != 2)
    return {};
  mlir::Value tile =
      cast<pto::TileOpInterface>(op).getNamedOperand(isa<pto::TLoadOp>(op) ? "dst" : "src");
  auto type = cast<pto::TileBufType>(tile.getType());
  if (type.getRows() <= 1 || type.getCols() <= 1)
    return {};
  return {validRows(model.info(tile)), validCols(model.info(tile))};
}

/// With Options::check, an address that only the run knows lies in the memory of the core and where
/// a tile may start. (Constant ones: the pass pto-check-level, and pto-run.)
void FunctionEmitter::checkAddress(mlir::Operation &op) {
  mlir::Value addr;
  pto::TileBufType type;
  int64_t count = 1;
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op)) {
    addr = alloc.getAddr();
    type = alloc.getResult().getType();
  } else if (auto alloc = dyn_cast<pto::AllocMultiTileOp>(op)) {
    addr = alloc.getAddr();
    type = alloc.getResult().getType().getSlotType();
    count = alloc.getResult().getType().getCount();
  } else if (auto assign = dyn_cast<pto::TAssignOp>(op)) {
    addr = assign.getAddr();
    type = assign.getResult().getType();
  }
  if (!owner.options.check || !addr || constantOf(addr))
    return;
  int64_t capacity = pto::getCapacity(type.getSpace(), pto::getTargetArch(&op));
  int64_t alignment = pto::getAlignment(type.getSpace());
  int64_t high = capacity - type.getSizeInBytes() * count;
  std::string space = pto::stringifyAddressSpace(type.getSpace()).str();
  Value *address = asIndex(addr);
  isRefused |=
      failed(requireWithin(op, address, index(high),
                           "the address of a tile of " + Twine(type.getSizeInBytes() * count) +
                               " bytes in " + space + " (" + Twine(capacity) + " bytes)"));
  Value *over = b.CreateAnd(address, index(alignment - 1));
  std::string what = placeOf(op.getLoc()) + ": error: '" + op.getName().getStringRef().str() +
                     "' op places a tile in " + space;
  leaveIf(b.CreateICmpNE(over, index(0)), [&] {
    callRuntime("pto_alignment_failed",
                {place(), b.CreateGlobalString(what), address, index(alignment)});
  });
}

void FunctionEmitter::checkWindow(mlir::Operation &op, pto::PartitionViewOp part) {
  const GmView &source = views.find(part.getSource())->second;
  Value *leaves = b.getFalse(), *isEmpty = b.getFalse();
  SmallVector<Value *, 15> numbers;
  SmallVector<Value *, 2> moved = movedExtents(op, part.getResult());
  for (auto [axis, at, count, extent] :
       enumerate(part.getOffsets(), part.getSizes(), source.sizes)) {
    Value *offset = asIndex(at), *size = asIndex(count);
    if (!moved.empty())
      size = smaller(size, moved[axis]);
    // offset + size > extent, without overflow.
    Value *beyond = b.CreateOr(b.CreateICmpSGT(size, extent),
                               b.CreateICmpSGT(offset, b.CreateSub(extent, size)));
    leaves = b.CreateOr(leaves, b.CreateOr(b.CreateICmpSLT(offset, index(0)), beyond));
    isEmpty = b.CreateOr(isEmpty, b.CreateICmpSLE(size, index(0)));
    numbers.append({offset, size, extent});
  }
  Value *wrong = b.CreateAnd(leaves, b.CreateNot(isEmpty));
  if (auto *known = dyn_cast<ConstantInt>(wrong); known && known->isZero())
    return;
  AllocaInst *slot = stackSlot(ArrayType::get(b.getInt64Ty(), numbers.size()), "window");
  leaveIf(wrong, [&] {
    for (auto [i, number] : enumerate(numbers))
      b.CreateStore(number, b.CreateConstGEP1_64(b.getInt64Ty(), slot, i));
    std::string what =
        placeOf(op.getLoc()) + ": error: '" + op.getName().getStringRef().str() + "'";
    callRuntime("pto_check_failed",
                {place(), b.CreateGlobalString(what),
                 b.CreateGlobalString(nameOfTensor(part.getSource(), this->source)), slot,
                 index(numbers.size() / 3)});
  });
}

} // namespace ptoas::native
