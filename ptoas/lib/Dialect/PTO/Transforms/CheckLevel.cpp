//===- CheckLevel.cpp - rules of the assembly level -----------------------===//
//
// Below level3 the assembler places tiles: an address in the text is an error.
// At level3 the producer has placed everything, so an address is required, and
// so is the scratch tile of the instructions that need one: nobody would find
// room for it. Addresses that are constants keep their tiles inside the memory.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "ptoas/Dialect/PTO/Transforms/MemoryPlan.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"
#include "ptoas/Dialect/PTO/Transforms/Recursion.h"

namespace mlir::pto {
#define GEN_PASS_DEF_CHECKLEVEL
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

#define DEBUG_TYPE "pto-check-level"

using namespace mlir;
using namespace mlir::pto;

// Hardware moves whole blocks of 32 bytes. A producer that placed its tiles itself (level3) gets a
// warning for a single row or column, whose pitch nothing depends on.
static LogicalResult checkLayout(Operation *op, TileBufType type, bool placed) {
  auto report = [&](const Twine &text) -> LogicalResult {
    if (!placed)
      return op->emitOpError() << text;
    op->emitWarning() << "'" << op->getName() << "' op " << text;
    return success();
  };
  int64_t bytes = type.getElementBytes();
  if (!type.isBoxed()) {
    int64_t block = elem::classify(type.getElementType()) == elem::FP4 ? 16 : 32;
    int64_t run = (type.isRowMajor() ? type.getCols() : type.getRows()) * bytes;
    placed &= (type.isRowMajor() ? type.getRows() : type.getCols()) == 1;
    if (run % block != 0)
      return report(Twine("a ") + (type.isRowMajor() ? "row" : "column") +
                    " of an unboxed tile must be a multiple of " + Twine(block) +
                    " bytes (32-byte alignment), got " + Twine(run) + " bytes");
    return success();
  }
  auto [boxRows, boxCols] = type.getBoxShape();
  if (type.getCols() % boxCols != 0)
    return report("columns of a boxed tile must be a multiple of the box width " + Twine(boxCols) +
                  ", got " + Twine(type.getCols()));
  bool rowsFree =
      type.getSpace() == AddressSpace::Vec || type.getFractal() == 32 || type.getRows() == 1;
  if (!rowsFree && type.getRows() % boxRows != 0)
    return report("rows of a boxed tile must be a multiple of the box height " + Twine(boxRows) +
                  ", got " + Twine(type.getRows()));
  return success();
}

// A tile whose address is a constant must end inside the memory of its core.
static LogicalResult checkEnd(Operation *op, TileBufType type, Value addr, int64_t count = 1) {
  APInt start;
  int64_t capacity = getCapacity(type.getSpace(), getTargetArch(op));
  if (!addr || !capacity || !matchPattern(addr, m_ConstantInt(&start)))
    return success();
  int64_t bytes = type.getSizeInBytes() * count;
  if (bytes <= capacity && start.getSExtValue() <= capacity - bytes)
    return success();
  return op->emitOpError() << "a tile of " << bytes << " bytes at address " << start.getSExtValue()
                           << " ends beyond the capacity of "
                           << stringifyAddressSpace(type.getSpace()) << ", " << capacity
                           << " bytes";
}

// A5 refuses products of tiles in other orders; on A2/A3 they are legal text (spec/ptoas.md 6.3)
// and wrong numbers on hardware (spec/pto_isa.md 6.9).
static void warnOfBoxOrder(Operation *op, TileBufType type) {
  bool rowBoxes = type.getSlayout() == SLayout::RowMajor;
  bool right = type.isRowMajor() && type.getSlayout() == SLayout::ColMajor;
  StringRef wanted;
  if (type.getSpace() == AddressSpace::Left && !rowBoxes)
    wanted = "slayout row_major";
  else if (type.getSpace() == AddressSpace::Right && !right)
    wanted = "blayout row_major and slayout col_major";
  else if (type.getSpace() == AddressSpace::Acc && !(type.isColMajor() && rowBoxes))
    wanted = "blayout col_major and slayout row_major";
  if (!wanted.empty() && getTargetArch(op) == Arch::A3)
    op->emitWarning() << "'" << op->getName() << "' op the matrix unit reads a tile in loc "
                      << stringifyAddressSpace(type.getSpace()) << " as " << wanted;
}

// Local memory that a transfer of global memory reads or writes.
static std::optional<AddressSpace> localEnd(Operation *op) {
  if (auto load = dyn_cast<TLoadOp>(op))
    return load.getDst().getType().getSpace();
  if (auto store = dyn_cast<TStoreOp>(op))
    return store.getSrc().getType().getSpace();
  return std::nullopt;
}

// A function with a kernel kind is compiled for one core, which has not the queues of the other and
// does not reach its memory.
static void warnOfOtherCore(Operation *op) {
  auto runs = dyn_cast<PipeOpInterface>(op);
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto kind =
      function ? function->getAttrOfType<KernelKindAttr>("pto.kernel_kind") : KernelKindAttr();
  if (!runs || !kind)
    return;
  PIPE pipe = runs.getPipe();
  bool cube = kind.getValue() == KernelKind::Cube;
  if (cube ? pipe == PIPE::PIPE_V : pipe == PIPE::PIPE_M || pipe == PIPE::PIPE_MTE1)
    op->emitWarning() << "'" << op->getName() << "' op runs on a " << (cube ? "vector" : "cube")
                      << " core, but this function is compiled for a " << (cube ? "cube" : "vector")
                      << " core (pto.kernel_kind)";
  else if (auto space = localEnd(op); space && (*space == AddressSpace::Vec) == cube)
    op->emitWarning() << "'" << op->getName() << "' op moves a tile in loc "
                      << stringifyAddressSpace(*space) << ", but this function is compiled for a "
                      << (cube ? "cube" : "vector") << " core, which does not reach it";
}

// Blocks of local memory begin at multiples of 32 bytes (spec/ptoas.md 9.2).
static void warnOfAddress(Operation *op, Value addr) {
  APInt start;
  if (addr && matchPattern(addr, m_ConstantInt(&start)) && start.getSExtValue() % 32 != 0)
    op->emitWarning() << "'" << op->getName() << "' op address " << start.getSExtValue()
                      << " is no multiple of 32 bytes, where the blocks of local memory begin";
}

// Instructions whose scratch tile must be named when nobody plans memory.
static bool needsScratch(TileOpInterface op) {
  if (getTargetArch(op) == Arch::A5)
    return false;
  if (auto sum = dyn_cast<TColSumOp>(op.getOperation()))
    return sum.getIsBinary().value_or(false);
  return isa<TRowSumOp, TRowMaxOp, TRowMinOp, TRowProdOp, TRowArgMaxOp, TRowArgMinOp, TColArgMaxOp,
             TColArgMinOp, TXorOp, TXorSOp, TPReluOp, TRemOp, TRemSOp, TSelOp, TSelSOp, TTransOp>(
      op.getOperation());
}

namespace {
struct CheckLevel : mlir::pto::impl::CheckLevelBase<CheckLevel> {
  using CheckLevelBase::CheckLevelBase;

  LogicalResult check(Operation *op) {
    bool placed = level == 3;
    auto checkAddress = [&](Value addr) -> LogicalResult {
      if (placed && !addr)
        return op->emitOpError() << "requires 'addr' operand when --pto-level=level3";
      if (!placed && addr)
        return op->emitOpError()
               << "unexpected 'addr' operand: only supported when --pto-level=level3";
      return success();
    };
    warnOfOtherCore(op);
    if (isa<GetBufOp, RlsBufOp, GetBufDynOp, RlsBufDynOp>(op) && getTargetArch(op) == Arch::A3)
      op->emitWarning() << "'" << op->getName()
                        << "' op names a token of a buffer, which only A5 has";
    if (auto alloc = dyn_cast<AllocTileOp>(op)) {
      TileBufType type = alloc.getResult().getType();
      warnOfBoxOrder(op, type);
      if (failed(checkAddress(alloc.getAddr())) || failed(checkEnd(op, type, alloc.getAddr())) ||
          failed(checkLayout(op, type, placed)))
        return failure();
      warnOfAddress(op, alloc.getAddr());
      return success();
    }
    if (auto alloc = dyn_cast<AllocMultiTileOp>(op))
      return success(succeeded(checkAddress(alloc.getAddr())) &&
                     succeeded(checkEnd(op, alloc.getResult().getType().getSlotType(),
                                        alloc.getAddr(), alloc.getResult().getType().getCount())) &&
                     succeeded(checkLayout(op, alloc.getResult().getType().getSlotType(), placed)));
    if (auto assign = dyn_cast<TAssignOp>(op)) {
      if (!placed)
        return op->emitOpError() << "is only supported when --pto-level=level3";
      if (insertSync)
        return op->emitOpError() << "requires --enable-insert-sync to be off";
      return checkEnd(op, assign.getResult().getType(), assign.getAddr());
    }
    if (auto reserve = dyn_cast<ReserveBufferOp>(op); reserve && !reserve.getAuto_()) {
      if (!placed)
        return op->emitOpError()
               << "fixes its base, which is only possible when --pto-level=level3; use auto = true";
      int64_t capacity = getCapacity(reserve.getLocation(), getTargetArch(op));
      int64_t base = *reserve.getBase(), size = reserve.getSize();
      if (size > capacity || base > capacity - size)
        return op->emitOpError() << "a buffer of " << size << " bytes at base " << base
                                 << " ends beyond the capacity of "
                                 << stringifyAddressSpace(reserve.getLocation()) << ", " << capacity
                                 << " bytes";
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      APInt step;
      if (matchPattern(loop.getStep(), m_ConstantInt(&step)) && !step.isStrictlyPositive())
        return op->emitOpError() << "the step of a loop must be positive, got "
                                 << step.getSExtValue();
    }
    if (auto function = dyn_cast<FunctionOpInterface>(op)) {
      // The earlier name of pto.entry, whose rules are the dialect's.
      if (function->hasAttr("hacc.entry") && function.isExternal())
        return op->emitError() << "'hacc.entry' on a declaration: an entry needs a body";
      if (function->hasAttr("hacc.entry") && function.getNumResults() != 0)
        return op->emitError()
               << "a function with hacc.entry must return nothing (void), but it has "
               << function.getNumResults() << " result(s)";
      auto isSlots = [](Type type) { return isa<MultiTileBufType>(type); };
      if (llvm::any_of(function.getArgumentTypes(), isSlots) ||
          llvm::any_of(function.getResultTypes(), isSlots))
        return op->emitError()
               << "a multi_tile_buf cannot be an argument or a result of a function";
    }
    auto tileOp = dyn_cast<TileOpInterface>(op);
    if (tileOp && placed && needsScratch(tileOp) && tileOp.getScratch().empty())
      return op->emitOpError()
             << "requires explicit tmp when PlanMemory is skipped (--pto-level=level3)";
    if (auto symbol = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
        symbol && symbol.empty())
      return op->emitError() << "a function needs a name";
    if (op->getDialect() == nullptr)
      return op->emitError() << "operation '" << op->getName()
                             << "' belongs to no dialect that can be assembled";
    return success();
  }

  // A module with one function has an implicit entry.
  LogicalResult checkEntry() {
    FunctionOpInterface only;
    unsigned definitions = 0;
    getOperation().walk([&](FunctionOpInterface function) {
      if (function.isExternal())
        return;
      ++definitions;
      only = function;
    });
    if (definitions == 1 && only.isPublic() && only.getNumResults() != 0)
      return only.emitError()
             << "the only function of a module is its entry, which must return nothing (void), "
                "but it has "
             << only.getNumResults() << " result(s)";
    return success();
  }

  void runOnOperation() override {
    bool failedAny = failed(checkEntry());
    failedAny |= failed(checkRecursion(getOperation()));
    getOperation().walk([&](Operation *op) { failedAny |= failed(check(op)); });
    if (failedAny)
      signalPassFailure();
  }
};
} // namespace
