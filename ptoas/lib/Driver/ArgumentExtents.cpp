//===- ArgumentExtents.cpp - how much of its arrays a kernel covers -------===//
//
// A view states how large the tensor behind its pointer is, wherever it stands.
// Windows and scalar accesses count only where they run in every call.
//
//===----------------------------------------------------------------------===//
#include "ArgumentExtents.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

using namespace mlir;

namespace {
using Number = std::optional<int64_t>;

// Distances in bytes from the start of an argument: the first byte and the one behind the last.
struct Reach {
  unsigned argument;
  int64_t first, end;
};

class Extents {
public:
  Extents(func::FuncOp kernel, ArrayRef<ptoas::ArgumentValue> values)
      : kernel(kernel), values(values) {}

  LogicalResult check() {
    bool failedAny = false;
    kernel.walk([&](Operation *op) {
      std::optional<Reach> reach = reachOf(op);
      if (!reach)
        return;
      int64_t bytes = values[reach->argument].bytes;
      if (reach->first >= 0 && reach->end <= bytes)
        return;
      failedAny = true;
      op->emitOpError() << "covers bytes " << reach->first << " to " << reach->end
                        << " of argument " << reach->argument << ", but the array given for it has "
                        << bytes << " bytes";
    });
    return failure(failedAny);
  }

private:
  // Chains of operands are followed this far: longer ones count as unknown.
  static constexpr unsigned kMaxSteps = 32;

  Number evaluate(Value value, unsigned steps = 0) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getSignificantBits() <= 64 ? Number(constant.getSExtValue()) : std::nullopt;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return ofArgument(argument);
    Operation *op = value.getDefiningOp();
    if (!op || steps == kMaxSteps)
      return std::nullopt;
    if (isa<arith::IndexCastOp>(op)) {
      Number from = evaluate(op->getOperand(0), steps + 1);
      // Only casts to and from 64 bits are sure to keep the value.
      Type type = op->getResult(0).getType();
      return type.isIndex() || type.isInteger(64) ? from : std::nullopt;
    }
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || !value.getType().isIndex())
      return std::nullopt;
    Number left = evaluate(op->getOperand(0), steps + 1);
    Number right = evaluate(op->getOperand(1), steps + 1);
    int64_t result = 0;
    if (!left || !right)
      return std::nullopt;
    bool overflows = isa<arith::AddIOp>(op)   ? llvm::AddOverflow(*left, *right, result)
                     : isa<arith::SubIOp>(op) ? llvm::SubOverflow(*left, *right, result)
                                              : llvm::MulOverflow(*left, *right, result);
    return overflows ? std::nullopt : Number(result);
  }

  Number ofArgument(BlockArgument argument) {
    if (argument.getOwner() != &kernel.getBody().front())
      return std::nullopt;
    if (!values[argument.getArgNumber()].isKnown)
      return std::nullopt;
    int64_t word = static_cast<int64_t>(values[argument.getArgNumber()].word);
    Type type = argument.getType();
    if (type.isIndex() || type.isSignlessInteger(64))
      return word;
    if (type.isSignlessInteger(32))
      return static_cast<int32_t>(word);
    return std::nullopt;
  }

  // Where a pointer points, as a reach without bytes.
  std::optional<Reach> originOf(Value pointer) {
    int64_t offset = 0;
    for (unsigned steps = 0; steps < kMaxSteps; ++steps) {
      if (auto argument = dyn_cast<BlockArgument>(pointer)) {
        if (argument.getOwner() != &kernel.getBody().front() ||
            !isa<pto::PtrType>(argument.getType()))
          return std::nullopt;
        return Reach{argument.getArgNumber(), offset, offset};
      }
      if (auto cast = pointer.getDefiningOp<pto::CastPtrOp>()) {
        pointer = cast.getPtr();
        continue;
      }
      auto add = pointer.getDefiningOp<pto::AddPtrOp>();
      if (!add)
        return std::nullopt;
      Number elements = evaluate(add.getOffset());
      int64_t bytes = 0;
      if (!elements || llvm::MulOverflow(*elements, elementBytes(add.getPtr()), bytes) ||
          llvm::AddOverflow(offset, bytes, offset))
        return std::nullopt;
      pointer = add.getPtr();
    }
    return std::nullopt;
  }

  static int64_t elementBytes(Value pointer) {
    return pto::getElementBytes(cast<pto::PtrType>(pointer.getType()).getElementType());
  }

  // `sizes` elements from `offsets` on, `strides` elements apart, behind `pointer`.
  std::optional<Reach> reachOf(Value pointer, ValueRange offsets, ValueRange sizes,
                               ValueRange strides) {
    std::optional<Reach> reach = originOf(pointer);
    if (!reach || sizes.size() != strides.size() ||
        (!offsets.empty() && offsets.size() != sizes.size()))
      return std::nullopt;
    int64_t first = 0, last = 0; // in elements
    for (unsigned i = 0; i < sizes.size(); ++i) {
      Number size = evaluate(sizes[i]), stride = evaluate(strides[i]);
      Number offset = offsets.empty() ? Number(0) : evaluate(offsets[i]);
      if (!size || !stride || !offset || *size <= 0)
        return std::nullopt;
      int64_t start = 0, span = 0;
      if (llvm::MulOverflow(*offset, *stride, start) || llvm::AddOverflow(first, start, first) ||
          llvm::AddOverflow(last, start, last) || llvm::MulOverflow(*size - 1, *stride, span) ||
          (span < 0 ? llvm::AddOverflow(first, span, first) : llvm::AddOverflow(last, span, last)))
        return beyondAll(*reach);
    }
    return extend(*reach, first, last, elementBytes(pointer));
  }

  static std::optional<Reach> extend(Reach reach, int64_t first, int64_t last, int64_t bytes) {
    int64_t from = 0, to = 0;
    if (llvm::MulOverflow(first, bytes, from) ||
        llvm::AddOverflow(reach.first, from, reach.first) ||
        llvm::AddOverflow(last, int64_t(1), to) || llvm::MulOverflow(to, bytes, to) ||
        llvm::AddOverflow(reach.end, to, reach.end))
      return beyondAll(reach);
    return reach;
  }

  static Reach beyondAll(Reach reach) { return {reach.argument, 0, INT64_MAX}; }

  std::optional<Reach> reachOf(Operation *op) {
    if (auto view = dyn_cast<pto::MakeTensorViewOp>(op))
      return reachOf(view.getPtr(), {}, view.getShape(), view.getStrides());
    if (op->getBlock() != &kernel.getBody().front())
      return std::nullopt;
    if (auto window = dyn_cast<pto::PartitionViewOp>(op)) {
      auto view = window.getSource().getDefiningOp<pto::MakeTensorViewOp>();
      if (!view)
        return std::nullopt;
      return reachOf(view.getPtr(), window.getOffsets(), window.getSizes(), view.getStrides());
    }
    Value pointer, offset;
    if (auto load = dyn_cast<pto::LoadScalarOp>(op)) {
      pointer = load.getPtr();
      offset = load.getOffset();
    } else if (auto store = dyn_cast<pto::StoreScalarOp>(op)) {
      pointer = store.getPtr();
      offset = store.getOffset();
    } else {
      return std::nullopt;
    }
    std::optional<Reach> reach = originOf(pointer);
    Number at = evaluate(offset);
    if (!reach || !at)
      return std::nullopt;
    return extend(*reach, *at, *at, elementBytes(pointer));
  }

  func::FuncOp kernel;
  ArrayRef<ptoas::ArgumentValue> values;
};
} // namespace

LogicalResult ptoas::checkArgumentExtents(func::FuncOp kernel, ArrayRef<ArgumentValue> values) {
  return Extents(kernel, values).check();
}
