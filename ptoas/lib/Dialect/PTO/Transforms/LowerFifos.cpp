//===- LowerFifos.cpp - cube-vector FIFOs through slots of memory ---------===//
//
// A push stores its tile to the next slot of the FIFO, a pop loads its tile (or,
// with a split, this lane's half) from it. Slots and waiting belong to a run-time
// library, which the functions call:
//
//   ptr  pto_place()
//   ptr  pto_fifo_produce(ptr place, i32 fifo, i64 slotBytes, i64 slots,
//                         i32 producers, i32 consumers, ptr where)
//   void pto_fifo_publish(ptr place, i32 fifo)
//   ptr  pto_fifo_consume(… as pto_fifo_produce)
//   void pto_fifo_release(ptr place, i32 fifo)
//   i64  pto_fifo_lane_offset(ptr place, i32 fifo, i64 extent)
//
// `where` is what a deadlock says of who waits.
//
// A function asks for its place and its lane at its start: while it waits it may move to
// another thread.
//
// An odd extent splits unevenly: lane 0 takes what it asks for, and lane 1 starts behind
// that; the library tells it where (pto_fifo_lane_offset, called between consume and release).
//
// A popped tile is a copy, so its slot is released at once and `tfree` has nothing left to
// do. Slots in place are tensors: talloc waits for the next slot and names it, a push of that
// tensor sends it, a pop of a tensor names a slot until tfree. A function that pops tensors
// from a FIFO releases all of its slots at tfree, so that they come back in their order.
//
//===----------------------------------------------------------------------===//
#include "FifoEnds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "ptoas/Dialect/PTO/IR/PlaceText.h"
#include "ptoas/Dialect/PTO/Transforms/LoweredFifos.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"
#include <map>
#include <set>

namespace mlir::pto {
#define GEN_PASS_DEF_LOWERFIFOS
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

#define DEBUG_TYPE "pto-lower-fifos"

using namespace mlir;
using namespace mlir::pto;

static bool isZero(Value value) { return matchPattern(value, m_Zero()); }

namespace {
// What both ends must agree on: the matrix that one slot holds.
struct Slot {
  Operation *push = nullptr;
  Type element;
  bool eitherSign = false; // bytes whose sign the receiving end says
  bool rowMajor = true;
  int64_t rows = 0, cols = 0;
  FifoSplit split = FifoSplit::None;
  int64_t slots = 8;
};

struct LowerFifos : mlir::pto::impl::LowerFifosBase<LowerFifos> {
  std::map<int64_t, Slot> fifos;
  std::set<std::pair<Operation *, int64_t>> held; // function and FIFO: slots go back at tfree
  DenseMap<Operation *, Value> places, lanes;     // of functions
  std::map<std::string, LLVM::GlobalOp> texts;

  // What the producer sends gives the slot its shape; vector lanes with a split fill half each.
  LogicalResult collect(const FifoEnd &end) {
    FailureOr<FifoMatrix> matrix = matrixOf(end.entry);
    if (failed(matrix))
      return end.op->emitOpError() << "works on a slot of the type " << end.entry.getType()
                                   << ", whose extents must be numbers";
    Slot slot{end.op,       matrix->element, false,     true,
              matrix->rows, matrix->cols,    end.split, end.init ? slotCountOf(end.init) : 8};
    if (end.onVector() && slot.split != FifoSplit::None)
      (slot.split == FifoSplit::Rows ? slot.rows : slot.cols) *= 2;
    if (end.kind == FifoEnd::Push && end.carriesTile()) {
      FailureOr<PushEpilogue> epilogue = epilogueOf(end);
      if (failed(epilogue))
        return failure();
      if (epilogue->element)
        slot.element = epilogue->element;
      slot.eitherSign = epilogue->bytes;
      slot.rowMajor = epilogue->rowMajor;
    }
    Slot &known = fifos[end.fifo];
    if (!known.push) {
      known = slot;
      return success();
    }
    if (known.element != slot.element || known.split != slot.split)
      return end.op->emitOpError()
             << "sends other tiles than an earlier push through the same pipe";
    // Tiles of several shapes share the larger slot; the row stride must be one.
    if (known.cols != slot.cols)
      return end.op->emitOpError()
             << "sends tiles of " << slot.cols << " columns, an earlier push through the same pipe "
             << known.cols;
    known.rows = std::max(known.rows, slot.rows);
    return success();
  }

  Value constant(OpBuilder &builder, Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  func::FuncOp declare(StringRef name, TypeRange inputs, TypeRange results) {
    ModuleOp module = getOperation();
    if (auto known = module.lookupSymbol<func::FuncOp>(name))
      return known;
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto function = func::FuncOp::create(builder, module.getLoc(), name,
                                         builder.getFunctionType(inputs, results));
    function.setPrivate();
    return function;
  }

  // Who the function around `op` is to the library.
  Value memberOf(Operation *op) {
    auto function = op->getParentOfType<func::FuncOp>();
    Value &place = places[function];
    if (!place) {
      auto pointer = LLVM::LLVMPointerType::get(&getContext());
      func::FuncOp callee = declare("pto_place", {}, {pointer});
      OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
      place = func::CallOp::create(builder, function.getLoc(), callee, ValueRange()).getResult(0);
    }
    return place;
  }

  Value laneOf(Operation *op) {
    auto function = op->getParentOfType<func::FuncOp>();
    Value &lane = lanes[function];
    if (!lane) {
      OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
      Location loc = function.getLoc();
      lane =
          arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                     GetSubblockIdxOp::create(builder, loc, builder.getI64Type()));
    }
    return lane;
  }

  // Who waits at this end, and for whom.
  Value whereOf(OpBuilder &builder, const FifoEnd &end) {
    std::string text = placeOf(end.op->getLoc()) + ": '" + end.op->getName().getStringRef().str() +
                       "' of the " + (end.onVector() ? "vector" : "cube") +
                       " core waits for pipe " + pipeName(end) +
                       (end.toVector ? " (cube to vector)" : " (vector to cube)");
    Location loc = end.op->getLoc();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    LLVM::GlobalOp &global = texts[text];
    if (!global) {
      std::string bytes = text + std::string(1, '\0');
      OpBuilder top = OpBuilder::atBlockBegin(getOperation().getBody());
      auto type = LLVM::LLVMArrayType::get(top.getI8Type(), bytes.size());
      global = LLVM::GlobalOp::create(top, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                      "pto.where." + std::to_string(texts.size()),
                                      top.getStringAttr(bytes));
    }
    return LLVM::AddressOfOp::create(builder, loc, pointer, global.getSymName());
  }

  // Pointer to the slot that an end works on.
  Value openSlot(OpBuilder &builder, const FifoEnd &end, const Slot &slot, StringRef function) {
    Location loc = end.op->getLoc();
    Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    func::FuncOp callee = declare(function, {pointer, i32, i64, i64, i32, i32, pointer}, {pointer});
    auto number = [&](int64_t value, unsigned width) -> Value {
      return arith::ConstantIntOp::create(builder, loc, value, width);
    };
    int64_t lanes = slot.split == FifoSplit::None ? 1 : 2;
    Value address =
        func::CallOp::create(
            builder, loc, callee,
            ValueRange{memberOf(end.op), number(end.fifo, 32),
                       number(slot.rows * slot.cols * getElementBytes(slot.element), 64),
                       number(slot.slots, 64), number(end.toVector ? 1 : lanes, 32),
                       number(end.toVector ? lanes : 1, 32), whereOf(builder, end)})
            .getResult(0);
    return UnrealizedConversionCastOp::create(builder, loc, TypeRange{PtrType::get(slot.element)},
                                              address)
        .getResult(0);
  }

  void closeSlot(OpBuilder &builder, const FifoEnd &end, StringRef function) {
    Value place = memberOf(end.op);
    func::FuncOp callee = declare(function, {place.getType(), builder.getI32Type()}, {});
    Value fifo = arith::ConstantIntOp::create(builder, end.op->getLoc(), end.fifo, 32);
    func::CallOp::create(builder, end.op->getLoc(), callee, ValueRange{place, fifo});
  }

  // Where this end's part of the slot begins: this lane's half where the FIFO splits.
  std::pair<Value, Value> startInSlot(OpBuilder &builder, const FifoEnd &end, const Slot &slot,
                                      int64_t rows, int64_t cols, Value validRow, Value validCol) {
    Location loc = end.op->getLoc();
    Value zero = constant(builder, loc, 0), row = zero, col = zero;
    if (slot.split == FifoSplit::None || !end.onVector())
      return {row, col};
    bool byRows = slot.split == FifoSplit::Rows;
    if (end.odd) {
      Type i64 = builder.getI64Type();
      Value place = memberOf(end.op);
      func::FuncOp callee =
          declare("pto_fifo_lane_offset", {place.getType(), builder.getI32Type(), i64}, {i64});
      Value fifo = arith::ConstantIntOp::create(builder, loc, end.fifo, 32);
      Value extent = arith::IndexCastOp::create(builder, loc, i64, byRows ? validRow : validCol);
      Value offset =
          func::CallOp::create(builder, loc, callee, ValueRange{place, fifo, extent}).getResult(0);
      (byRows ? row : col) =
          arith::IndexCastOp::create(builder, loc, builder.getIndexType(), offset);
    } else {
      Value step = constant(builder, loc, byRows ? rows : cols);
      (byRows ? row : col) = arith::MulIOp::create(builder, loc, laneOf(end.op), step);
    }
    return {row, col};
  }

  // The part of the slot that belongs to a tile of this end, as a window of the whole matrix.
  Value window(OpBuilder &builder, const FifoEnd &end, const Slot &slot, Value base,
               TileBufType tile, Value validRow, Value validCol) {
    Location loc = end.op->getLoc();
    Value rows = constant(builder, loc, slot.rows), cols = constant(builder, loc, slot.cols);
    Value view = MakeTensorViewOp::create(
        builder, loc, TensorViewType::get({slot.rows, slot.cols}, slot.element), base,
        ValueRange{rows, cols}, ValueRange{cols, constant(builder, loc, 1)},
        LayoutAttr::get(&getContext(), Layout::Nd));
    auto [row, col] =
        startInSlot(builder, end, slot, tile.getRows(), tile.getCols(), validRow, validCol);
    auto type =
        PartitionTensorViewType::get({tile.getValidRow(), tile.getValidCol()}, slot.element);
    return PartitionViewOp::create(builder, loc, type, view, ValueRange{row, col},
                                   ValueRange{validRow, validCol});
  }

  // The valid extents of a tile, and those of them that a handle of its own must be given.
  std::pair<Value, Value> extentsOf(OpBuilder &builder, Location loc, Value tile) {
    auto type = cast<TileBufType>(tile.getType());
    if (type.hasStaticValid())
      return {constant(builder, loc, type.getValidRow()),
              constant(builder, loc, type.getValidCol())};
    auto valid =
        GetValidShapeOp::create(builder, loc, builder.getIndexType(), builder.getIndexType(), tile);
    return {valid.getValidRow(), valid.getValidCol()};
  }

  //===--------------------------------------------------------------------===//
  // Tiles
  //===--------------------------------------------------------------------===//

  LogicalResult pushTile(const FifoEnd &push, const Slot &slot) {
    OpBuilder builder(push.op);
    Location loc = push.op->getLoc();
    FailureOr<PushEpilogue> epilogue = epilogueOf(push);
    if (failed(epilogue))
      return failure();
    Value scalar, columns;
    if (epilogue->scale != PushEpilogue::None) {
      FailureOr<Operation *> set = scalesOf(push);
      if (failed(set))
        return failure();
      bool wantsScalar = epilogue->scale == PushEpilogue::Scalar;
      if (wantsScalar != isa<SetQuantScalarOp>(*set)) {
        InFlightDiagnostic diag = push.op->emitOpError()
                                  << "quantises with "
                                  << (wantsScalar ? "one scale, but set_quant_vector"
                                                  : "a scale for each column, but set_quant_scalar")
                                  << " comes before it";
        diag.attachNote((*set)->getLoc()) << "here";
        return diag;
      }
      (wantsScalar ? scalar : columns) = (*set)->getOperand(0);
      auto scales = columns ? cast<TileBufType>(columns.getType()) : TileBufType();
      if (scales && scales.getElementBytes() != 8)
        return (*set)->emitOpError() << "sets scales of " << scales.getElementType()
                                     << ", but a scale for each column is a word of 64 bits";
      // The word of a bare scale: its bits, and the sign flag of what is made
      // (spec/pto_isa.md 6.8).
      if (scalar && scalar.getType().isF32()) {
        Value bits = arith::BitcastOp::create(builder, loc, builder.getI32Type(), scalar);
        Value word = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), bits);
        int64_t flag = slot.element.isUnsignedInteger() ? 0 : int64_t(1) << 46;
        scalar = arith::OrIOp::create(builder, loc, word,
                                      arith::ConstantIntOp::create(builder, loc, flag, 64));
      }
    }
    Value base = openSlot(builder, push, slot, "pto_fifo_produce");
    auto [rows, cols] = extentsOf(builder, loc, push.entry);
    Value target =
        window(builder, push, slot, base, cast<TileBufType>(push.entry.getType()), rows, cols);
    auto store = TStoreOp::create(builder, loc, push.entry, columns, scalar, target);
    if (epilogue->relu)
      store->setAttr("reluPreMode", ReluPreModeAttr::get(&getContext(), ReluPreMode::NormalRelu));
    markQueue(store, push);
    closeSlot(builder, push, "pto_fifo_publish");
    return success();
  }

  // The queue on which the push or pop ran, for those who look at the order of queues.
  static void markQueue(Operation *op, const FifoEnd &end) {
    if (auto queued = dyn_cast<PipeOpInterface>(end.op))
      op->setAttr(kFifoQueueAttr, PIPEAttr::get(op->getContext(), queued.getPipe()));
  }

  LogicalResult popTile(const FifoEnd &pop, const Slot &slot) {
    auto type = cast<TileBufType>(pop.entry.getType());
    bool halves = pop.onVector();
    int64_t rows = type.getRows() * (halves && slot.split == FifoSplit::Rows ? 2 : 1);
    int64_t cols = type.getCols() * (halves && slot.split == FifoSplit::Cols ? 2 : 1);
    if (rows > slot.rows + 1 || cols > slot.cols + 1)
      return pop.op->emitOpError() << "receives a tile of " << rows << "x" << cols
                                   << ", but a slot holds " << slot.rows << "x" << slot.cols;
    OpBuilder builder(pop.op);
    Location loc = pop.op->getLoc();
    Value validRow, validCol, tile = pop.entry;
    if (pop.op->getNumResults()) {
      Value openRow, openCol;
      auto extent = [&](unsigned operand, int64_t valid, int64_t physical, Value &value,
                        Value &open) {
        if (!ShapedType::isDynamic(valid)) {
          value = constant(builder, loc, valid);
          return;
        }
        value = open = operand < pop.op->getNumOperands() ? pop.op->getOperand(operand)
                                                          : constant(builder, loc, physical);
      };
      extent(0, type.getValidRow(), type.getRows(), validRow, openRow);
      extent(1, type.getValidCol(), type.getCols(), validCol, openCol);
      auto made = AllocTileOp::create(builder, loc, type, Value(), openRow, openCol);
      if (Attribute name = pop.op->getAttr("pypto.name"))
        made->setAttr("pypto.name", name);
      tile = made;
    } else {
      std::tie(validRow, validCol) = extentsOf(builder, loc, tile);
    }
    Value base = openSlot(builder, pop, slot, "pto_fifo_consume");
    // A lane may pop only to keep step: nothing of the tile is valid then.
    if (!isZero(validRow) && !isZero(validCol)) {
      Value source = window(builder, pop, slot, base, type, validRow, validCol);
      auto load = TLoadOp::create(builder, loc, source, tile, Value(), Value(), Value(), Value(),
                                  PadModeAttr(), UnitAttr());
      markQueue(load, pop);
    }
    if (!isHeld(pop))
      closeSlot(builder, pop, "pto_fifo_release");
    if (pop.op->getNumResults())
      pop.op->getResult(0).replaceAllUsesWith(tile);
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Slots in place
  //===--------------------------------------------------------------------===//

  bool isHeld(const FifoEnd &end) {
    return held.count({end.op->getParentOfType<func::FuncOp>(), end.fifo});
  }

  // The slot as the tensor that the program asked for: this lane's half of it where the FIFO
  // splits.
  FailureOr<Value> bindSlot(const FifoEnd &end, const Slot &slot, StringRef function) {
    auto type = dyn_cast<TensorViewType>(end.entry.getType());
    FailureOr<FifoMatrix> matrix = matrixOf(end.entry);
    if (!type || failed(matrix))
      return end.op->emitOpError() << "works on a slot of the type " << end.entry.getType()
                                   << ", which must be a tensor_view whose extents are numbers";
    if (!slot.rowMajor)
      return end.op->emitOpError()
             << "works in place on slots that pushes fill in another order than rows (nz2nd)";
    bool halves = slot.split != FifoSplit::None && end.onVector();
    if (halves && type.getShape().size() != 2)
      return end.op->emitOpError() << "splits a slot, so its tensor must have two dimensions, got "
                                   << type.getShape().size();
    int64_t rows = matrix->rows * (halves && slot.split == FifoSplit::Rows ? 2 : 1);
    int64_t cols = matrix->cols * (halves && slot.split == FifoSplit::Cols ? 2 : 1);
    if (rows > slot.rows + 1 || cols > slot.cols + 1 ||
        (cols != slot.cols && type.getShape().size() != 2))
      return end.op->emitOpError() << "works on a tensor of " << rows << "x" << cols
                                   << ", but a slot holds " << slot.rows << "x" << slot.cols;
    OpBuilder builder(end.op);
    Location loc = end.op->getLoc();
    Value base = openSlot(builder, end, slot, function);
    Value stride = constant(builder, loc, slot.cols);
    if (halves) {
      auto [row, col] =
          startInSlot(builder, end, slot, matrix->rows, matrix->cols,
                      constant(builder, loc, matrix->rows), constant(builder, loc, matrix->cols));
      Value offset = arith::AddIOp::create(builder, loc,
                                           arith::MulIOp::create(builder, loc, row, stride), col);
      base = AddPtrOp::create(builder, loc, base.getType(), base, offset);
    }
    SmallVector<Value> sizes, strides(type.getShape().size());
    for (int64_t extent : type.getShape())
      sizes.push_back(constant(builder, loc, extent));
    int64_t step = slot.cols;
    for (unsigned d = strides.size(); d-- > 0;) {
      bool last = d + 1 == strides.size();
      strides[d] = constant(builder, loc, last ? 1 : step);
      step *= last ? 1 : type.getShape()[d];
    }
    return MakeTensorViewOp::create(builder, loc, type, base, sizes, strides,
                                    LayoutAttr::get(&getContext(), Layout::Nd))
        .getResult();
  }

  // A tensor that a FIFO sends is a slot that talloc has named.
  static bool isAllocated(Value entry) {
    while (auto part = entry.getDefiningOp<PartitionViewOp>())
      entry = part.getSource();
    Operation *def = entry.getDefiningOp();
    if (isa_and_nonnull<TAllocToAivOp, TAllocToAicOp>(def))
      return true;
    return isa_and_nonnull<DeclareGlobalOp>(def) &&
           llvm::any_of(entry.getUsers(), [](Operation *user) { return isa<TAllocOp>(user); });
  }

  LogicalResult bindHandle(const FifoEnd &end, Value slot, DominanceInfo &dominance) {
    Value handle = end.entry;
    if (end.op->getNumResults()) {
      handle.replaceAllUsesWith(slot);
      return success();
    }
    if (!handle.getDefiningOp<DeclareGlobalOp>())
      return end.op->emitOpError() << "binds a tensor that declare_global did not make";
    handle.replaceUsesWithIf(slot, [&](OpOperand &use) {
      return use.getOwner() != end.op && !isBinding(use.getOwner()) &&
             dominance.properlyDominates(end.op, use.getOwner());
    });
    return success();
  }

  static bool isBinding(Operation *op) {
    return isa<TAllocOp>(op) ||
           (isa<TPopOp>(op) && isa<TensorViewType>(op->getOperand(0).getType()));
  }

  // Handles are bound in their order within one block; elsewhere the way would decide.
  LogicalResult checkHandles() {
    bool failedAny = false;
    getOperation().walk([&](DeclareGlobalOp declare) {
      Operation *first = nullptr;
      for (Operation *user : declare->getUsers()) {
        if (!isBinding(user))
          continue;
        if (first && first->getBlock() != user->getBlock()) {
          InFlightDiagnostic diag = user->emitOpError()
                                    << "binds a tensor that another op binds in another block; "
                                       "declare a tensor for each";
          diag.attachNote(first->getLoc()) << "bound here";
          failedAny = true;
        }
        first = user;
      }
    });
    return failure(failedAny);
  }

  LogicalResult lower(const FifoEnd &end, DominanceInfo &dominance) {
    auto known = fifos.find(end.fifo);
    if (known == fifos.end())
      return end.op->emitOpError() << "receives from pipe " << pipeName(end)
                                   << ", but no function of the module sends through it";
    const Slot &slot = known->second;
    OpBuilder builder(end.op);
    if (end.kind == FifoEnd::Free) {
      if (isHeld(end))
        closeSlot(builder, end, "pto_fifo_release");
      return success();
    }
    if (end.split != slot.split)
      return end.op->emitOpError() << "has another split than the push that it receives from";
    if (end.kind == FifoEnd::Push) {
      if (end.carriesTile())
        return pushTile(end, slot);
      closeSlot(builder, end, "pto_fifo_publish");
      return success();
    }
    if (Type element = matrixElement(end.entry); element != slot.element)
      return end.op->emitOpError()
             << "receives " << element << ", but " << slot.element << " is sent";
    if (end.carriesTile())
      return popTile(end, slot);
    FailureOr<Value> bound =
        bindSlot(end, slot, end.kind == FifoEnd::Alloc ? "pto_fifo_produce" : "pto_fifo_consume");
    return failed(bound) ? failure() : bindHandle(end, *bound, dominance);
  }

  static Type matrixElement(Value entry) {
    if (auto tile = dyn_cast<TileBufType>(entry.getType()))
      return tile.getElementType();
    if (auto part = dyn_cast<PartitionTensorViewType>(entry.getType()))
      return part.getElementType();
    return cast<TensorViewType>(entry.getType()).getElementType();
  }

  static std::string pipeName(const FifoEnd &end) {
    return std::to_string((end.fifo < 0 ? -1 - end.fifo : end.fifo) / 2);
  }

  void runOnOperation() override {
    SmallVector<FifoEnd> ends;
    SmallVector<Operation *> others;
    bool failedAny = false;
    getOperation().walk([&](Operation *op) {
      if (makesPipe(op)) {
        failedAny |= failed(checkPipeNumber(op));
        others.push_back(op);
      } else if (isa<ReserveBufferOp, ImportReservedBufferOp, SetQuantScalarOp, SetQuantVectorOp>(
                     op)) {
        others.push_back(op);
      } else if (FailureOr<std::optional<FifoEnd>> end = fifoEndOf(op); failed(end)) {
        failedAny = true;
      } else if (*end) {
        ends.push_back(**end);
      }
    });
    for (const FifoEnd &end : ends) {
      if (end.kind == FifoEnd::Push && !end.carriesTile() && !isAllocated(end.entry)) {
        end.op->emitOpError() << "sends a tensor that is no slot of the FIFO: talloc names one";
        failedAny = true;
      }
      if (end.kind == FifoEnd::Pop && !end.carriesTile())
        held.insert({end.op->getParentOfType<func::FuncOp>(), end.fifo});
    }
    if (failedAny || failed(checkHandles()))
      return signalPassFailure();
    for (const FifoEnd &end : ends)
      if (end.kind == FifoEnd::Alloc || (end.kind == FifoEnd::Push && end.carriesTile()))
        failedAny |= failed(collect(end));
    for (Operation *op : others)
      if (makesPipe(op))
        for (bool toVector : {true, false})
          if (auto slot = fifos.find(fifoNumber(op, toVector)); slot != fifos.end())
            slot->second.slots = slotCountOf(op);
    for (const FifoEnd &end : ends)
      if (auto slot = fifos.find(end.fifo); end.kind == FifoEnd::Pop && slot != fifos.end() &&
                                            slot->second.eitherSign &&
                                            matrixElement(end.entry).isInteger(8))
        slot->second.element = matrixElement(end.entry);
    DominanceInfo dominance(getOperation());
    // The last binding of a handle first: it takes the uses behind it.
    for (const FifoEnd &end : llvm::reverse(ends))
      failedAny |= failedAny || failed(lower(end, dominance));
    if (failedAny)
      return signalPassFailure();
    for (const FifoEnd &end : llvm::reverse(ends))
      end.op->erase();
    for (Operation *op : llvm::reverse(others)) {
      OpBuilder builder(op);
      if (op->getNumResults() == 1 && op->getResult(0).getType().isInteger(32))
        op->getResult(0).replaceAllUsesWith(
            arith::ConstantIntOp::create(builder, op->getLoc(), 0, 32));
      op->erase();
    }
    failedAny = failed(dropDeclarations());
    if (failedAny)
      signalPassFailure();
  }

  // Tiles without storage get their own; tensors without a slot must not be used.
  LogicalResult dropDeclarations() {
    bool failedAny = false;
    getOperation().walk([&](Operation *op) {
      OpBuilder builder(op);
      if (auto tile = dyn_cast<DeclareTileOp>(op)) {
        TileBufType type = tile.getResult().getType();
        auto open = [&](int64_t valid, int64_t physical) {
          return ShapedType::isDynamic(valid) ? constant(builder, op->getLoc(), physical) : Value();
        };
        Value made = AllocTileOp::create(builder, op->getLoc(), type, Value(),
                                         open(type.getValidRow(), type.getRows()),
                                         open(type.getValidCol(), type.getCols()));
        tile.getResult().replaceAllUsesWith(made);
        op->erase();
      } else if (isa<DeclareGlobalOp>(op)) {
        if (op->use_empty()) {
          op->erase();
          return;
        }
        InFlightDiagnostic diag = (*op->getUsers().begin())->emitOpError()
                                  << "uses a tensor before talloc or tpop has bound it to a slot";
        diag.attachNote(op->getLoc()) << "declared here";
        failedAny = true;
      }
    });
    return failure(failedAny);
  }
};
} // namespace
