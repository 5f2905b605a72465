//===- TileOpEffects.cpp - memory effects and queues of tile ops ----------===//
#include "OpSupport.h"

using namespace mlir;
using namespace mlir::pto;

void mlir::pto::getTileOpEffects(
    TileOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  const TileOpInfo &info = op.getTileOpInfo();
  for (unsigned i = 0; i < info.operands.size(); ++i) {
    OperandEffect effect = info.operands[i].effect;
    if (effect == OperandEffect::None)
      continue;
    OperandRange values = op.getSpecOperands(i);
    if (values.empty()) // an absent operand has no index
      continue;
    for (OpOperand &operand :
         op->getOpOperands().slice(values.getBeginOperandIndex(), values.size())) {
      if (effect == OperandEffect::Read || effect == OperandEffect::ReadWrite)
        effects.emplace_back(MemoryEffects::Read::get(), &operand);
      if (effect != OperandEffect::Read)
        effects.emplace_back(MemoryEffects::Write::get(), &operand);
    }
  }
  // An atomic store reads what it adds to.
  if (auto store = dyn_cast<TStoreOp>(op.getOperation()))
    if (store.getAtomicType() == AtomicType::AtomicAdd)
      effects.emplace_back(MemoryEffects::Read::get(), &store.getDstMutable());
}

PIPE mlir::pto::getTileOpPipe(Operation *op, const TileOpInfo &info) {
  return info.pipeFn ? info.pipeFn(op) : info.pipe;
}

static AddressSpace spaceOf(Operation *op, StringRef name) {
  Value value = cast<TileOpInterface>(op).getNamedOperand(name);
  auto tile = value ? dyn_cast<TileBufType>(value.getType()) : TileBufType();
  return tile ? tile.getSpace() : AddressSpace::Gm;
}

PIPE mlir::pto::getStorePipe(Operation *op) {
  return spaceOf(op, "src") == AddressSpace::Acc ? PIPE::PIPE_FIX : PIPE::PIPE_MTE3;
}

PIPE mlir::pto::getMovePipe(Operation *op) {
  switch (spaceOf(op, "src")) {
  case AddressSpace::Mat:
    return PIPE::PIPE_MTE1;
  case AddressSpace::Acc:
    return PIPE::PIPE_FIX;
  default:
    return spaceOf(op, "dst") == AddressSpace::Mat ? PIPE::PIPE_MTE3 : PIPE::PIPE_V;
  }
}

PIPE mlir::pto::getExtractPipe(Operation *op) {
  AddressSpace src = spaceOf(op, "src");
  if (src == AddressSpace::Mat)
    return PIPE::PIPE_MTE1;
  return src == AddressSpace::Acc || spaceOf(op, "dst") == AddressSpace::Mat ? PIPE::PIPE_FIX
                                                                             : PIPE::PIPE_V;
}

PIPE mlir::pto::getInsertPipe(Operation *op) {
  if (spaceOf(op, "src") != AddressSpace::Vec)
    return PIPE::PIPE_FIX;
  return spaceOf(op, "dst") == AddressSpace::Vec ? PIPE::PIPE_V : PIPE::PIPE_MTE3;
}

PIPE mlir::pto::getFillPadPipe(Operation *op) {
  return spaceOf(op, "dst") == AddressSpace::Mat ? PIPE::PIPE_MTE1 : PIPE::PIPE_V;
}

PIPE mlir::pto::getScatterPipe(Operation *op) {
  return getTargetArch(op) == Arch::A5 ? PIPE::PIPE_V : PIPE::PIPE_S;
}
