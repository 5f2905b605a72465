//===- FifoEnds.cpp - the ops that use a FIFO, in either of their spellings ===//
#include "FifoEnds.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::pto;

static int64_t intAttr(Operation *op, StringRef name, int64_t absent) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getValue().getSExtValue() : absent;
}

static bool isHandle(Operation *init) {
  return isa<InitializeL2LPipeOp, InitializeL2G2LPipeOp>(init);
}

bool mlir::pto::makesPipe(Operation *op) {
  return isa<AicInitializePipeOp, AivInitializePipeOp>(op) || isHandle(op);
}

int64_t mlir::pto::slotCountOf(Operation *init) {
  return intAttr(init, "slot_num", intAttr(init, "dir_mask", 1) == 3 ? 4 : 8);
}

static int64_t numberOf(int64_t id, bool handle, bool toVector) {
  int64_t fifo = 2 * id + (toVector ? 0 : 1);
  return handle ? -1 - fifo : fifo;
}

int64_t mlir::pto::fifoNumber(Operation *init, bool toVector) {
  bool handle = isHandle(init);
  return numberOf(intAttr(init, handle ? "flag_base" : "id", 0), handle, toVector);
}

LogicalResult mlir::pto::checkPipeNumber(Operation *op) {
  bool handle = isHandle(op);
  int64_t id = intAttr(op, handle ? "flag_base" : "id", 0);
  if (id >= 0 && id <= INT32_MAX / 2)
    return success();
  return op->emitOpError() << (handle ? "flag_base" : "pipe id") << " must be between 0 and "
                           << INT32_MAX / 2 << ", got " << id;
}

// Where an op of a handle runs: what its function is, else what its tile is.
static std::optional<bool> runsOnCube(Operation *op, Value entry) {
  for (Operation *around = op->getParentOp(); around; around = around->getParentOp()) {
    if (isa<SectionCubeOp>(around))
      return true;
    if (isa<SectionVectorOp>(around))
      return false;
    if (auto kind = around->getAttrOfType<KernelKindAttr>("pto.kernel_kind"))
      return kind.getValue() == KernelKind::Cube;
  }
  if (auto tile = entry ? dyn_cast<TileBufType>(entry.getType()) : TileBufType())
    return tile.getSpace() != AddressSpace::Vec;
  return std::nullopt;
}

FailureOr<std::optional<FifoEnd>> mlir::pto::fifoEndOf(Operation *op) {
  using MaybeEnd = std::optional<FifoEnd>;
  FifoEnd end;
  end.op = op;
  int64_t split = intAttr(op, "split", 0);
  end.split = split == 0 ? FifoSplit::None : split % 2 == 1 ? FifoSplit::Rows : FifoSplit::Cols;
  end.odd = split >= 3;
  if (isa<TPushToAivOp, TPushToAicOp, TPopFromAicOp, TPopFromAivOp, TFreeFromAicOp, TFreeFromAivOp,
          TAllocToAivOp, TAllocToAicOp>(op)) {
    if (failed(checkPipeNumber(op)))
      return failure();
    end.toVector = isa<TPushToAivOp, TPopFromAicOp, TFreeFromAicOp, TAllocToAivOp>(op);
    end.kind = isa<TPushToAivOp, TPushToAicOp>(op)     ? FifoEnd::Push
               : isa<TPopFromAicOp, TPopFromAivOp>(op) ? FifoEnd::Pop
               : isa<TAllocToAivOp, TAllocToAicOp>(op) ? FifoEnd::Alloc
                                                       : FifoEnd::Free;
    if (end.kind == FifoEnd::Push || (end.kind == FifoEnd::Free && op->getNumOperands()))
      end.entry = op->getOperand(0);
    else if (op->getNumResults())
      end.entry = op->getResult(0);
    int64_t id = intAttr(op, "id", 0);
    end.fifo = numberOf(id, false, end.toVector);
    if (auto function = op->getParentOfType<func::FuncOp>())
      function.walk([&](Operation *other) {
        if (isa<AicInitializePipeOp, AivInitializePipeOp>(other) && intAttr(other, "id", 0) == id)
          end.init = other;
      });
    return MaybeEnd(end);
  }
  if (!isa<TPushOp, TPopOp, TFreeOp, TAllocOp>(op))
    return MaybeEnd();
  end.kind = isa<TPushOp>(op)   ? FifoEnd::Push
             : isa<TPopOp>(op)  ? FifoEnd::Pop
             : isa<TFreeOp>(op) ? FifoEnd::Free
                                : FifoEnd::Alloc;
  Value pipe = op->getOperand(end.kind == FifoEnd::Free ? 0 : 1);
  if (end.kind != FifoEnd::Free)
    end.entry = op->getOperand(0);
  end.init = pipe.getDefiningOp();
  if (!end.init || !isHandle(end.init))
    return op->emitOpError() << "needs a pipe that initialize_l2l_pipe or initialize_l2g2l_pipe of "
                                "this function makes";
  if (failed(checkPipeNumber(end.init)))
    return failure();
  int64_t direction = intAttr(end.init, "dir_mask", 1);
  end.toVector = direction == 1;
  if (direction == 3) {
    std::optional<bool> cube = runsOnCube(op, end.entry);
    if (!cube)
      return op->emitOpError() << "uses a pipe of both directions (dir_mask = 3), so its function "
                                  "needs a pto.kernel_kind, which says which way is meant";
    end.toVector = *cube == (end.kind == FifoEnd::Push || end.kind == FifoEnd::Alloc);
  }
  end.fifo = fifoNumber(end.init, end.toVector);
  return MaybeEnd(end);
}

FailureOr<FifoMatrix> mlir::pto::matrixOf(Value entry) {
  FifoMatrix matrix;
  if (auto tile = dyn_cast<TileBufType>(entry.getType())) {
    matrix.element = tile.getElementType();
    matrix.rows = tile.getRows();
    matrix.cols = tile.getCols();
    return matrix;
  }
  ArrayRef<int64_t> shape;
  if (auto view = dyn_cast<TensorViewType>(entry.getType())) {
    shape = view.getShape();
    matrix.element = view.getElementType();
  } else {
    auto part = cast<PartitionTensorViewType>(entry.getType());
    shape = part.getShape();
    matrix.element = part.getElementType();
  }
  if (ShapedType::isDynamicShape(shape))
    return failure();
  matrix.cols = shape.back();
  for (int64_t extent : shape.drop_back())
    matrix.rows *= extent;
  return matrix;
}

FailureOr<PushEpilogue> mlir::pto::epilogueOf(const FifoEnd &push) {
  PushEpilogue result;
  Attribute attr = push.op->getAttr("acc_push_epilogue");
  if (!attr && push.init)
    attr = push.init->getAttr("acc_push_epilogue");
  auto epilogue = dyn_cast_or_null<AccPushEpilogueAttr>(attr);
  if (!epilogue)
    return result;
  MLIRContext *context = push.op->getContext();
  auto word = [](StringAttr part, StringRef absent) {
    return part ? part.getValue().lower() : absent.str();
  };
  std::string relu = word(epilogue.getRelu(), "no_relu"),
              quant = word(epilogue.getQuant(), "noquant");
  if (relu != "no_relu" && relu != "normal_relu")
    return push.op->emitOpError() << "acc_push_epilogue: relu must be no_relu or normal_relu, got "
                                  << relu;
  result.relu = relu == "normal_relu";
  result.rowMajor = word(epilogue.getLayout(), "nz2nd") == "nz2nd";
  Type half = Float16Type::get(context), brain = BFloat16Type::get(context);
  struct Mode {
    enum Element { Tile, Half, Brain, Bytes, Unknown } element;
    PushEpilogue::Scale scale;
  };
  Mode mode = llvm::StringSwitch<Mode>(quant)
                  .Cases({"noquant", "no_quant"}, {Mode::Tile, PushEpilogue::None})
                  .Cases({"f322f16", "f32_to_f16"}, {Mode::Half, PushEpilogue::None})
                  .Cases({"f322bf16", "f32_to_bf16"}, {Mode::Brain, PushEpilogue::None})
                  .Cases({"req8", "qf322b8_pre"}, {Mode::Bytes, PushEpilogue::Scalar})
                  .Cases({"vreq8", "vqf322b8_pre"}, {Mode::Bytes, PushEpilogue::Columns})
                  .Cases({"deqf16", "qf322f16_pre"}, {Mode::Half, PushEpilogue::Scalar})
                  .Case("vdeqf16", {Mode::Half, PushEpilogue::Columns})
                  .Cases({"qf322bf16_pre", "qs322bf16_pre"}, {Mode::Brain, PushEpilogue::Scalar})
                  .Case("vqs322bf16_pre", {Mode::Brain, PushEpilogue::Columns})
                  .Default({Mode::Unknown, PushEpilogue::None});
  if (mode.element == Mode::Unknown)
    return push.op->emitOpError() << "acc_push_epilogue: quant = " << quant
                                  << " has no code on this machine"
                                  << (StringRef(quant).contains("shift")
                                          ? ": how it rounds what it shifts out is not known"
                                          : "");
  result.scale = mode.scale;
  result.bytes = mode.element == Mode::Bytes;
  result.element = mode.element == Mode::Half    ? half
                   : mode.element == Mode::Brain ? brain
                   : result.bytes                ? IntegerType::get(context, 8)
                                                 : Type();
  return result;
}

FailureOr<Operation *> mlir::pto::scalesOf(const FifoEnd &push) {
  int64_t id = intAttr(push.op, "id", 0);
  auto sets = [&](Operation *op) {
    return isa<SetQuantScalarOp, SetQuantVectorOp>(op) && intAttr(op, "id", 0) == id;
  };
  auto inside = [&](Operation *around) {
    return around
        ->walk([&](Operation *op) {
          return sets(op) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  };
  auto undecided = [&](Operation *other) -> InFlightDiagnostic {
    InFlightDiagnostic diag =
        push.op->emitOpError()
        << "uses scales that depend on the way to it; set them in front of it";
    diag.attachNote(other->getLoc()) << "scales may be set here";
    return diag;
  };
  for (Operation *at = push.op; !isa<func::FuncOp>(at); at = at->getParentOp()) {
    for (Operation *before = at->getPrevNode(); before; before = before->getPrevNode()) {
      if (sets(before))
        return before;
      if (before->getNumRegions() && inside(before))
        return undecided(before);
    }
    // The next turn of a loop sees what this one sets later.
    Operation *parent = at->getParentOp();
    if (isa<LoopLikeOpInterface>(parent) && inside(parent))
      return undecided(parent);
  }
  return push.op->emitOpError()
         << "needs scales, but no set_quant_scalar or set_quant_vector of pipe " << id
         << " comes before it";
}
