//===- ValidatePipes.cpp - the two ends of a FIFO must agree --------------===//
//
// All uses of one pipe, at both of its ends, either split their tiles between
// the two vector cores or do not. On A2/A3 the FIFO lies in global memory, so
// its buffer must be given. A slot holds a whole tile of the producer: of a
// smaller one the tile would run into the next slot. The ends that belong
// together name the same reserved buffer, which lies in the memory of the core
// that receives and has room for the slots; they say the same of the FIFO.
//
//===----------------------------------------------------------------------===//
#include "FifoEnds.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::pto {
#define GEN_PASS_DEF_VALIDATEPIPES
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

#define DEBUG_TYPE "pto-validate-pipes"

using namespace mlir;
using namespace mlir::pto;

static int64_t intAttr(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getValue().getSExtValue() : 0;
}

namespace {
struct ValidatePipes : mlir::pto::impl::ValidatePipesBase<ValidatePipes> {
  struct Pipe {
    Operation *init = nullptr;
    Operation *firstUse = nullptr;
  };

  LogicalResult checkInit(Operation *init, Pipe &pipe) {
    if (pipe.init) {
      InFlightDiagnostic diag = init->emitOpError()
                                << "joins pipe " << intAttr(init, "id")
                                << " a second time; a function initializes each id once";
      diag.attachNote(pipe.init->getLoc()) << "first here";
      return diag;
    }
    pipe.init = init;
    bool hasBuffer = false;
    if (auto aic = dyn_cast<AicInitializePipeOp>(init))
      hasBuffer = aic.getGmSlotBuffer() || aic.getGmSlotTensor();
    if (auto aiv = dyn_cast<AivInitializePipeOp>(init))
      hasBuffer = aiv.getGmSlotBuffer() || aiv.getGmSlotTensor();
    if (getTargetArch(init) == Arch::A3 && !hasBuffer)
      return init->emitOpError() << "requires 'gm_slot_buffer' when lowering to a2/a3";
    return success();
  }

  // A slot holds what was sent; a vector core of two receives half of it.
  LogicalResult checkPopped(Operation *pop, Value entry, Operation *init) {
    auto tile = dyn_cast<TileBufType>(entry.getType());
    if (!tile || !init || init->hasAttr("acc_push_epilogue"))
      return success();
    int64_t slot = intAttr(init, "slot_size"), bytes = tile.getSizeInBytes();
    if (bytes <= slot)
      return success();
    InFlightDiagnostic diag = pop->emitOpError() << "receives a tile of " << bytes
                                                 << " bytes from a slot of " << slot << " bytes";
    diag.attachNote(init->getLoc()) << "the pipe is made here";
    return diag;
  }

  LogicalResult checkSlot(Operation *push, Value entry, Operation *init) {
    // Behind a conversion on the way out of the accumulator the elements are of another size.
    auto converts = [](Operation *op) { return op->hasAttr("acc_push_epilogue"); };
    auto tile = dyn_cast<TileBufType>(entry.getType());
    if (!tile || !init || converts(init) || converts(push))
      return success();
    int64_t slot = intAttr(init, "slot_size"), bytes = tile.getSizeInBytes();
    if (bytes <= slot)
      return success();
    InFlightDiagnostic diag = push->emitOpError()
                              << "pushes a tile of " << bytes << " bytes into a slot of " << slot
                              << " bytes, slot_size must be at least the whole tile";
    diag.attachNote(init->getLoc()) << "the pipe is made here";
    return diag;
  }

  LogicalResult checkUse(Operation *use, Pipe &pipe, DominanceInfo &dominance) {
    if (pipe.init && !dominance.properlyDominates(pipe.init, use))
      return use->emitOpError() << "may run before the pipe is initialized";
    if (!pipe.firstUse) {
      pipe.firstUse = use;
      return success();
    }
    bool split = intAttr(use, "split") != 0, first = intAttr(pipe.firstUse, "split") != 0;
    if (split != first) {
      InFlightDiagnostic diag = use->emitOpError()
                                << "has split = " << intAttr(use, "split") << ", but pipe "
                                << intAttr(use, "id")
                                << " is also used with split = " << intAttr(pipe.firstUse, "split");
      diag.attachNote(pipe.firstUse->getLoc()) << "used here";
      return diag;
    }
    return success();
  }

  // The buffer that receives what goes through a pipe in one direction.
  ReserveBufferOp bufferOf(Operation *init, bool toVector) {
    Value buffer;
    if (auto aic = dyn_cast<AicInitializePipeOp>(init))
      buffer = toVector ? aic.getC2vConsumerBuf() : aic.getV2cConsumerBuf();
    else if (auto aiv = dyn_cast<AivInitializePipeOp>(init))
      buffer = toVector ? aiv.getC2vConsumerBuf() : aiv.getV2cConsumerBuf();
    Operation *source = buffer ? buffer.getDefiningOp() : nullptr;
    if (auto own = dyn_cast_or_null<ReserveBufferOp>(source))
      return own;
    auto import = dyn_cast_or_null<ImportReservedBufferOp>(source);
    Operation *peer =
        import ? SymbolTable::lookupNearestSymbolFrom(init, import.getPeerFuncAttr()) : nullptr;
    ReserveBufferOp found;
    if (peer)
      peer->walk([&](ReserveBufferOp reserve) {
        if (reserve.getName() == import.getName())
          found = reserve;
      });
    return found;
  }

  // Where a slot is received: its place and its room.
  LogicalResult checkBuffer(Operation *init, ReserveBufferOp buffer, bool toVector, bool split) {
    AddressSpace wanted = toVector ? AddressSpace::Vec : AddressSpace::Mat;
    if (buffer.getLocation() != wanted) {
      InFlightDiagnostic diag = init->emitOpError()
                                << "receives on a " << (toVector ? "vector" : "cube")
                                << " core, so its buffer must have location = "
                                << stringifyAddressSpace(wanted) << ", but \"" << buffer.getName()
                                << "\" lies in " << stringifyAddressSpace(buffer.getLocation());
      diag.attachNote(buffer.getLoc()) << "the buffer is reserved here";
      return diag;
    }
    // Slots in global memory need room here for those only that are being read.
    bool global = init->getNumOperands() && !init->getOperand(0).getType().isInteger();
    int64_t slots = init->hasAttr("local_slot_num") ? intAttr(init, "local_slot_num")
                    : global                        ? 1
                                                    : slotCountOf(init);
    int64_t slot = intAttr(init, "slot_size"), needed = 0;
    bool halves = split && toVector;
    // No assembler has looked at that, so texts with smaller buffers are about.
    if (llvm::MulOverflow(slot - (halves ? slot / 2 : 0), slots, needed) ||
        needed > int64_t(buffer.getSize())) {
      InFlightDiagnostic diag = init->emitWarning();
      diag << "'" << init->getName() << "' op receives " << slots << " slot(s) of " << slot
           << " bytes" << (halves ? " (half of each)" : "") << ", but \"" << buffer.getName()
           << "\" has only " << buffer.getSize() << " bytes";
      diag.attachNote(buffer.getLoc()) << "the buffer is reserved here";
    }
    return success();
  }

  // What both ends of a FIFO say of it (spec/dsl.md 15: both cores must agree).
  LogicalResult checkPeers(Operation *init, const Pipe &pipe, Operation *other,
                           const Pipe &otherPipe) {
    auto differ = [&](StringRef what, int64_t here, int64_t there) -> LogicalResult {
      InFlightDiagnostic diag = init->emitOpError()
                                << "says " << what << " = " << here
                                << ", but the other end of the FIFO says " << there;
      diag.attachNote(other->getLoc()) << "the other end";
      return diag;
    };
    for (StringRef what : {"dir_mask", "slot_size"})
      if (intAttr(init, what) != intAttr(other, what))
        return differ(what, intAttr(init, what), intAttr(other, what));
    if (slotCountOf(init) != slotCountOf(other))
      return differ("slot_num", slotCountOf(init), slotCountOf(other));
    auto nosplit = init->getAttrOfType<BoolAttr>("nosplit"),
         otherNosplit = other->getAttrOfType<BoolAttr>("nosplit");
    if (nosplit && otherNosplit && nosplit != otherNosplit)
      return differ("nosplit", nosplit.getValue(), otherNosplit.getValue());
    Operation *use = pipe.firstUse, *otherUse = otherPipe.firstUse;
    if (use && otherUse && (intAttr(use, "split") != 0) != (intAttr(otherUse, "split") != 0)) {
      InFlightDiagnostic diag = use->emitOpError()
                                << "has split = " << intAttr(use, "split")
                                << ", but the other end of the FIFO is used with split = "
                                << intAttr(otherUse, "split");
      diag.attachNote(otherUse->getLoc()) << "used here";
      return diag;
    }
    return success();
  }

  // Each end with the buffers that it names; ends that name the same one belong together.
  LogicalResult checkEnds() {
    llvm::MapVector<std::pair<Operation *, int64_t>, Operation *> ends;
    llvm::DenseSet<std::pair<Operation *, Operation *>> compared;
    bool failedAny = false;
    getOperation().walk([&](Operation *init) {
      if (!isa<AicInitializePipeOp, AivInitializePipeOp>(init))
        return;
      const Pipe &pipe = pipesOf[init->getParentOfType<FunctionOpInterface>()][intAttr(init, "id")];
      for (bool toVector : {true, false}) {
        if (!(intAttr(init, "dir_mask") & (toVector ? 1 : 2)))
          continue;
        ReserveBufferOp buffer = bufferOf(init, toVector);
        if (!buffer)
          continue;
        bool split = pipe.firstUse && intAttr(pipe.firstUse, "split") != 0;
        if (isa<AivInitializePipeOp>(init) == toVector)
          failedAny |= failed(checkBuffer(init, buffer, toVector, split));
        Operation *&end = ends[{buffer, 2 * intAttr(init, "id") + toVector}];
        if (!end)
          end = init;
        else if (end->getName() != init->getName() && compared.insert({end, init}).second)
          failedAny |= failed(
              checkPeers(init, pipe, end,
                         pipesOf[end->getParentOfType<FunctionOpInterface>()][intAttr(end, "id")]));
      }
    });
    return failure(failedAny);
  }

  // A slot that nobody gives back fills the FIFO; hardware may do so on its own
  // (spec/pto_isa.md 7.1).
  void warnOfKeptSlots(FunctionOpInterface function) {
    llvm::MapVector<int64_t, Operation *> popped;
    llvm::DenseSet<int64_t> freed;
    function->walk([&](Operation *op) {
      if (isa<TPopFromAicOp, TPopFromAivOp>(op))
        popped.insert({intAttr(op, "id"), op});
      else if (isa<TFreeFromAicOp, TFreeFromAivOp>(op))
        freed.insert(intAttr(op, "id"));
    });
    for (auto [id, pop] : popped)
      if (!freed.contains(id))
        pop->emitWarning() << "'" << pop->getName() << "' op takes slots of pipe " << id
                           << ", which this function never gives back (tfree_from_"
                           << (isa<TPopFromAicOp>(pop) ? "aic" : "aiv")
                           << "): the sender stops when all slots are taken";
  }

  llvm::DenseMap<Operation *, llvm::MapVector<int64_t, Pipe>> pipesOf;

  void runOnOperation() override {
    bool failedAny = false;
    pipesOf.clear();
    getOperation().walk([&](FunctionOpInterface function) {
      llvm::MapVector<int64_t, Pipe> &pipes = pipesOf[function];
      warnOfKeptSlots(function);
      DominanceInfo dominance(function);
      function->walk([&](Operation *op) {
        if (isa<AicInitializePipeOp, AivInitializePipeOp>(op))
          failedAny |= failed(checkInit(op, pipes[intAttr(op, "id")]));
      });
      function->walk([&](Operation *op) {
        if (isa<TPushToAivOp, TPushToAicOp, TPopFromAicOp, TPopFromAivOp, TFreeFromAicOp,
                TFreeFromAivOp>(op))
          failedAny |= failed(checkUse(op, pipes[intAttr(op, "id")], dominance));
        if (isa<TPushToAivOp, TPushToAicOp>(op))
          failedAny |= failed(checkSlot(op, op->getOperand(0), pipes[intAttr(op, "id")].init));
        else if (isa<TPopFromAicOp, TPopFromAivOp>(op))
          failedAny |= failed(checkPopped(op, op->getResult(0), pipes[intAttr(op, "id")].init));
        else if (auto push = dyn_cast<TPushOp>(op))
          failedAny |= failed(checkSlot(op, op->getOperand(0), op->getOperand(1).getDefiningOp()));
      });
    });
    failedAny |= failed(checkEnds());
    if (failedAny)
      signalPassFailure();
  }
};
} // namespace
