//===- TensorRoots.cpp - which buffer a tensor value names ----------------===//
#include "TensorRoots.h"

using namespace mlir;

namespace pypto {

bool isKernel(Operation *func) {
  auto type = func->getAttrOfType<StringAttr>("pypto.func_type");
  return type &&
         (type == "InCore" || type == "AIC" || type == "AIV" || type == "Group" || type == "Spmd");
}

std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

/// Destination of a write whose result is the destination, or null.
static Value writtenTensor(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([](AssembleOp o) { return o.getTarget(); })
      .Case([](StoreOp o) { return o.getOutputTensor(); })
      .Case([](WriteOp o) { return o.getDst(); })
      .Case([](MscatterOp o) { return o.getOut(); })
      .Default([](Operation *) { return Value(); });
}

Value sameTensor(Value value) {
  llvm::SmallPtrSet<void *, 8> seen;
  while (seen.insert(value.getAsOpaquePointer()).second) {
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast_or_null<scf::ForOp>(arg.getOwner()->getParentOp());
      if (!loop || arg.getArgNumber() == 0)
        return value;
      Value next = loop.getBody()->getTerminator()->getOperand(arg.getArgNumber() - 1);
      // One step only: a carried tensor that is passed on or written in place.
      while (Operation *op = next.getDefiningOp()) {
        Value target = writtenTensor(op);
        if (!target)
          break;
        next = target;
      }
      if (next != value)
        return value;
      value = loop.getInitArgs()[arg.getArgNumber() - 1];
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      Value arg = loop.getRegionIterArg(cast<OpResult>(value).getResultNumber());
      Value same = sameTensor(arg);
      if (same == arg)
        return value;
      value = same;
      continue;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      unsigned index = cast<OpResult>(value).getResultNumber();
      Value then = sameTensor(branch.thenYield().getOperand(index));
      if (then != sameTensor(branch.elseYield().getOperand(index)))
        return value;
      value = then;
      continue;
    }
    Value target = writtenTensor(op);
    if (!target)
      return value;
    value = target;
  }
  return value;
}

/// Source of a view of the same memory, or null.
static Value viewedTensor(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([](SliceOp o) { return o.getInput(); })
      .Case([](ReshapeOp o) { return o.getX(); })
      .Case([](TransposeOp o) { return o.getX(); })
      .Case([](TransposeViewOp o) { return o.getX(); })
      .Case([](ViewOp o) { return o.getX(); })
      .Case([](SetValidShapeOp o) { return o.getX(); })
      .Case([](ReinterpretViewOp o) { return o.getX(); })
      .Default([](Operation *) { return Value(); });
}

Value rootOf(Value value) {
  while (true) {
    value = sameTensor(value);
    Operation *op = value.getDefiningOp();
    Value source = op ? viewedTensor(op) : Value();
    if (!source)
      return value;
    value = source;
  }
}

bool isGlobalMemory(Value value) {
  if (!isa<TensorType>(value.getType()))
    return false;
  auto arg = dyn_cast<BlockArgument>(sameTensor(value));
  return arg && isa<func::FuncOp>(arg.getOwner()->getParentOp());
}

SmallVector<int64_t> packedStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int i = int(shape.size()) - 2; i >= 0; --i) {
    bool known = !ShapedType::isDynamic(shape[i + 1]) && !ShapedType::isDynamic(strides[i + 1]);
    strides[i] = known ? shape[i + 1] * strides[i + 1] : ShapedType::kDynamic;
  }
  return strides;
}

SmallVector<int64_t> stridesOf(Value value) {
  value = sameTensor(value);
  auto type = cast<TensorType>(value.getType());
  if (!type.getStrides().empty())
    return SmallVector<int64_t>(type.getStrides());
  Operation *op = value.getDefiningOp();
  if (auto slice = dyn_cast_or_null<SliceOp>(op)) {
    SmallVector<int64_t> strides = stridesOf(slice.getInput());
    ArrayRef<int64_t> dropped = slice.getDropDims();
    SmallVector<int64_t> kept;
    for (auto [axis, stride] : llvm::enumerate(strides))
      if (!llvm::is_contained(dropped, int64_t(axis)))
        kept.push_back(stride);
    return kept;
  }
  if (auto valid = dyn_cast_or_null<SetValidShapeOp>(op))
    return stridesOf(valid.getX());
  if (auto transpose = dyn_cast_or_null<TransposeOp>(op)) {
    SmallVector<int64_t> strides = stridesOf(transpose.getX());
    std::swap(strides[transpose.getAxis1()], strides[transpose.getAxis2()]);
    return strides;
  }
  return packedStrides(type.getShape());
}

} // namespace pypto
