//===- LowerFifos.cpp - cube-vector FIFOs through slots of memory ---------===//
//
// A push stores its tile to the next slot of the FIFO, a pop loads its tile (or,
// with a split, this lane's half) from it. Slots and waiting belong to a run-time
// library, which the functions call:
//
//   ptr  pto_place()
//   ptr  pto_fifo_produce(ptr place, i32 fifo, i64 slotBytes, i64 slots, i32 producers, i32
//   consumers) void pto_fifo_publish(ptr place, i32 fifo) ptr  pto_fifo_consume(ptr place, i32
//   fifo, i64 slotBytes, i64 slots, i32 producers, i32 consumers) void pto_fifo_release(ptr place,
//   i32 fifo) i64  pto_fifo_lane_offset(ptr place, i32 fifo, i64 extent)
//
// A function asks for its place and its lane at its start: while it waits it may move to
// another thread.
//
// An odd extent splits unevenly: lane 0 takes what it asks for, and lane 1 starts behind
// that; the library tells it where (pto_fifo_lane_offset, called between consume and release).
//
// fifo = 2 * pipe + direction (0: cube to vector, 1: vector to cube). A popped tile is
// a copy, so its slot is released at once and `tfree` has nothing left to do.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"
#include <map>

namespace mlir::pto {
#define GEN_PASS_DEF_LOWERFIFOS
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

#define DEBUG_TYPE "pto-lower-fifos"

using namespace mlir;
using namespace mlir::pto;

static int64_t intAttr(Operation *op, StringRef name, int64_t absent) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getValue().getSExtValue() : absent;
}

static bool isZero(Value value) { return matchPattern(value, m_Zero()); }

namespace {
enum Split { None = 0, Rows = 1, Cols = 2 };

// 3 and 4 are 1 and 2 over an odd extent.
Split splitOf(Operation *op) {
  int64_t split = intAttr(op, "split", 0);
  return split == 0 ? None : split % 2 == 1 ? Rows : Cols;
}

bool isCubeToVector(Operation *op) { return isa<TPushToAivOp, TPopFromAicOp>(op); }
int64_t fifoOf(Operation *op) { return 2 * intAttr(op, "id", 0) + (isCubeToVector(op) ? 0 : 1); }

// What both ends must agree on: the matrix that one slot holds.
struct Slot {
  Operation *push = nullptr;
  Type element;
  int64_t rows = 0, cols = 0;
  Split split = None;
  int64_t slots = 8;
};

struct LowerFifos : mlir::pto::impl::LowerFifosBase<LowerFifos> {
  std::map<int64_t, Slot> fifos;
  DenseMap<Operation *, Value> places, lanes; // of functions

  // The producer's tile gives the slot its shape; vector lanes with a split fill half of it each.
  LogicalResult collect(Operation *push) {
    auto tile = cast<TileBufType>(push->getOperand(0).getType());
    Slot slot{push, tile.getElementType(), tile.getRows(), tile.getCols(), splitOf(push)};
    if (!isCubeToVector(push) && slot.split != None)
      (slot.split == Rows ? slot.rows : slot.cols) *= 2;
    Slot &known = fifos[fifoOf(push)];
    if (!known.push) {
      known = slot;
      return success();
    }
    if (known.element != slot.element || known.split != slot.split)
      return push->emitOpError() << "sends other tiles than an earlier push through the same pipe";
    // Tiles of several shapes share the larger slot; the row stride must be one.
    if (known.cols != slot.cols)
      return push->emitOpError() << "sends tiles of " << slot.cols
                                 << " columns, an earlier push through the same pipe "
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
  Value placeOf(Operation *op) {
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

  // The slot that a push or a pop works on, as a view of the whole matrix.
  Value openSlot(OpBuilder &builder, Operation *op, const Slot &slot, StringRef function) {
    Location loc = op->getLoc();
    Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    func::FuncOp callee = declare(function, {pointer, i32, i64, i64, i32, i32}, {pointer});
    auto number = [&](int64_t value, unsigned width) -> Value {
      return arith::ConstantIntOp::create(builder, loc, value, width);
    };
    bool toVector = fifoOf(op) % 2 == 0;
    int64_t lanes = slot.split == None ? 1 : 2;
    Value address =
        func::CallOp::create(
            builder, loc, callee,
            ValueRange{placeOf(op), number(fifoOf(op), 32),
                       number(slot.rows * slot.cols * getElementBytes(slot.element), 64),
                       number(slot.slots, 64), number(toVector ? 1 : lanes, 32),
                       number(toVector ? lanes : 1, 32)})
            .getResult(0);
    Value base = UnrealizedConversionCastOp::create(builder, loc,
                                                    TypeRange{PtrType::get(slot.element)}, address)
                     .getResult(0);
    Value rows = constant(builder, loc, slot.rows), cols = constant(builder, loc, slot.cols);
    return MakeTensorViewOp::create(
        builder, loc, TensorViewType::get({slot.rows, slot.cols}, slot.element), base,
        ValueRange{rows, cols}, ValueRange{cols, constant(builder, loc, 1)},
        LayoutAttr::get(&getContext(), Layout::Nd));
  }

  void closeSlot(OpBuilder &builder, Operation *op, StringRef function) {
    Value place = placeOf(op);
    func::FuncOp callee = declare(function, {place.getType(), builder.getI32Type()}, {});
    Value fifo = arith::ConstantIntOp::create(builder, op->getLoc(), fifoOf(op), 32);
    func::CallOp::create(builder, op->getLoc(), callee, ValueRange{place, fifo});
  }

  // The part of the slot that belongs to `tile`: this lane's half where the FIFO splits.
  Value window(OpBuilder &builder, Operation *op, const Slot &slot, Value view, TileBufType tile,
               bool halves, Value validRow, Value validCol) {
    Location loc = op->getLoc();
    Value zero = constant(builder, loc, 0), row = zero, col = zero;
    if (halves && intAttr(op, "split", 0) >= 3) {
      Type i64 = builder.getI64Type();
      Value place = placeOf(op);
      func::FuncOp callee =
          declare("pto_fifo_lane_offset", {place.getType(), builder.getI32Type(), i64}, {i64});
      Value fifo = arith::ConstantIntOp::create(builder, loc, fifoOf(op), 32);
      Value extent =
          arith::IndexCastOp::create(builder, loc, i64, slot.split == Rows ? validRow : validCol);
      Value offset =
          func::CallOp::create(builder, loc, callee, ValueRange{place, fifo, extent}).getResult(0);
      (slot.split == Rows ? row : col) =
          arith::IndexCastOp::create(builder, loc, builder.getIndexType(), offset);
    } else if (halves) {
      Value lane = laneOf(op);
      Value step = constant(builder, loc, slot.split == Rows ? tile.getRows() : tile.getCols());
      (slot.split == Rows ? row : col) = arith::MulIOp::create(builder, loc, lane, step);
    }
    auto type =
        PartitionTensorViewType::get({tile.getValidRow(), tile.getValidCol()}, slot.element);
    return PartitionViewOp::create(builder, loc, type, view, ValueRange{row, col},
                                   ValueRange{validRow, validCol});
  }

  LogicalResult lowerPush(Operation *push) {
    const Slot &slot = fifos[fifoOf(push)];
    OpBuilder builder(push);
    Location loc = push->getLoc();
    Value tile = push->getOperand(0);
    auto type = cast<TileBufType>(tile.getType());
    Value view = openSlot(builder, push, slot, "pto_fifo_produce");
    Value rows, cols;
    if (type.hasStaticValid()) {
      rows = constant(builder, loc, type.getValidRow());
      cols = constant(builder, loc, type.getValidCol());
    } else {
      auto valid = GetValidShapeOp::create(builder, loc, builder.getIndexType(),
                                           builder.getIndexType(), tile);
      rows = valid.getValidRow();
      cols = valid.getValidCol();
    }
    bool halves = slot.split != None && !isCubeToVector(push);
    Value target = window(builder, push, slot, view, type, halves, rows, cols);
    TStoreOp::create(builder, loc, tile, Value(), Value(), target);
    closeSlot(builder, push, "pto_fifo_publish");
    push->erase();
    return success();
  }

  LogicalResult lowerPop(Operation *pop) {
    auto known = fifos.find(fifoOf(pop));
    if (known == fifos.end())
      return pop->emitOpError() << "receives from pipe " << intAttr(pop, "id", 0)
                                << ", but no function of the module sends through it";
    const Slot &slot = known->second;
    auto type = cast<TileBufType>(pop->getResult(0).getType());
    if (splitOf(pop) != slot.split)
      return pop->emitOpError() << "has another split than the push that it receives from";
    if (type.getElementType() != slot.element)
      return pop->emitOpError() << "receives " << type.getElementType() << ", but " << slot.element
                                << " is sent";
    bool halves = slot.split != None && isCubeToVector(pop);
    int64_t rows = type.getRows() * (halves && slot.split == Rows ? 2 : 1);
    int64_t cols = type.getCols() * (halves && slot.split == Cols ? 2 : 1);
    if (rows > slot.rows + 1 || cols > slot.cols + 1)
      return pop->emitOpError() << "receives a tile of " << rows << "x" << cols
                                << ", but a slot holds " << slot.rows << "x" << slot.cols;
    OpBuilder builder(pop);
    Location loc = pop->getLoc();
    Value validRow, validCol, openRow, openCol;
    auto extent = [&](unsigned operand, int64_t valid, int64_t physical, Value &value,
                      Value &open) {
      if (!ShapedType::isDynamic(valid)) {
        value = constant(builder, loc, valid);
        return;
      }
      value = open = operand < pop->getNumOperands() ? pop->getOperand(operand)
                                                     : constant(builder, loc, physical);
    };
    extent(0, type.getValidRow(), type.getRows(), validRow, openRow);
    extent(1, type.getValidCol(), type.getCols(), validCol, openCol);
    Value tile = AllocTileOp::create(builder, loc, type, Value(), openRow, openCol);
    Value view = openSlot(builder, pop, slot, "pto_fifo_consume");
    // A lane may pop only to keep step: nothing of the tile is valid then.
    if (!isZero(validRow) && !isZero(validCol)) {
      Value source = window(builder, pop, slot, view, type, halves, validRow, validCol);
      TLoadOp::create(builder, loc, source, tile, Value(), Value(), Value(), Value(), PadModeAttr(),
                      UnitAttr());
    }
    closeSlot(builder, pop, "pto_fifo_release");
    pop->getResult(0).replaceAllUsesWith(tile);
    pop->erase();
    return success();
  }

  void runOnOperation() override {
    SmallVector<Operation *> pushes, pops, others;
    std::map<int64_t, int64_t> slotCounts;
    bool failedAny = false;
    getOperation().walk([&](Operation *op) {
      if (isa<TPushToAivOp, TPushToAicOp, TPopFromAicOp, TPopFromAivOp, AicInitializePipeOp,
              AivInitializePipeOp>(op)) {
        // The run-time library numbers FIFOs in 32 bits.
        int64_t id = intAttr(op, "id", 0);
        if (id < 0 || id > INT32_MAX / 2) {
          op->emitOpError() << "pipe id must be between 0 and " << INT32_MAX / 2 << ", got " << id;
          failedAny = true;
          return;
        }
      }
      bool handsOutSlots =
          isa<TAllocToAivOp, TAllocToAicOp>(op) ||
          (isa<TPushToAivOp, TPushToAicOp>(op) && !isa<TileBufType>(op->getOperand(0).getType())) ||
          (isa<TPopFromAicOp, TPopFromAivOp>(op) && !isa<TileBufType>(op->getResult(0).getType()));
      if (handsOutSlots) {
        op->emitOpError()
            << "works on a FIFO slot in place, which this machine has no code for; send "
               "and receive tiles";
        failedAny = true;
      } else if (isa<TPushToAivOp, TPushToAicOp>(op))
        pushes.push_back(op);
      else if (isa<TPopFromAicOp, TPopFromAivOp>(op))
        pops.push_back(op);
      else if (isa<AicInitializePipeOp, AivInitializePipeOp>(op)) {
        int64_t count = intAttr(op, "slot_num", intAttr(op, "dir_mask", 1) == 3 ? 4 : 8);
        slotCounts[2 * intAttr(op, "id", 0)] = slotCounts[2 * intAttr(op, "id", 0) + 1] = count;
        others.push_back(op);
      } else if (isa<TFreeFromAicOp, TFreeFromAivOp, ReserveBufferOp, ImportReservedBufferOp>(op))
        others.push_back(op);
    });
    if (failedAny)
      return signalPassFailure();
    for (Operation *push : pushes)
      failedAny |= failed(collect(push));
    for (auto &[fifo, slot] : fifos)
      if (slotCounts.count(fifo))
        slot.slots = slotCounts[fifo];
    for (Operation *pop : pops)
      failedAny |= failedAny || failed(lowerPop(pop));
    for (Operation *push : pushes)
      failedAny |= failedAny || failed(lowerPush(push));
    if (failedAny)
      return signalPassFailure();
    for (Operation *op : others) {
      OpBuilder builder(op);
      if (op->getNumResults() == 1)
        op->getResult(0).replaceAllUsesWith(
            arith::ConstantIntOp::create(builder, op->getLoc(), 0, 32));
      op->erase();
    }
  }
};
} // namespace
