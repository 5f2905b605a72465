//===- Comm.cpp - copies and signals between devices and cores ------------===//
//
// All devices of a launch share this machine's memory, so a copy to another device is
// a copy, and an asynchronous one is done when it starts. Signals between the cores of
// a cluster are counters of the Cluster.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "ptoas/Target/Native/Cluster.h"

using namespace llvm;
using mlir::FailureOr;
namespace pto = mlir::pto;
namespace ptoas::native {

/// Whom a set reaches: modes of FFTS on A2/A3; on A5 there are flags between cube and vector only.
static Cluster::Signal signalOf(mlir::Operation &op) {
  if (isa<pto::SetIntraBlockOp>(op))
    return Cluster::Signal::OneLane;
  if (isa<pto::SetCrossBlockOp>(op))
    return Cluster::Signal::AllBlocks;
  auto set = cast<pto::SyncSetOp>(op);
  if (pto::getTargetArch(set) == pto::Arch::A5)
    return Cluster::Signal::OtherKind;
  return static_cast<Cluster::Signal>(set.getFftsMode().value_or(2));
}

bool waitsForOtherBlocks(mlir::Operation *function) {
  return function
      ->walk([](mlir::Operation *op) {
        bool sets = isa<pto::SyncSetOp, pto::SetCrossBlockOp>(op) &&
                    signalOf(*op) == Cluster::Signal::AllBlocks;
        return sets || isa<pto::SyncAllOp>(op) ? mlir::WalkResult::interrupt()
                                               : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// A view in memory for pto_view_copy: address, element type, rank, sizes, strides.
Value *FunctionEmitter::describeAnyView(mlir::Value handle) {
  const GmView &view = views.find(handle)->second;
  SmallVector<Value *, 13> fields{b.CreatePtrToInt(view.base, b.getInt64Ty()),
                                  index(int64_t(view.elem)), index(view.sizes.size())};
  fields.append(view.sizes.begin(), view.sizes.end());
  fields.append(view.strides.begin(), view.strides.end());
  AllocaInst *slot = stackSlot(ArrayType::get(b.getInt64Ty(), fields.size()), "view");
  for (auto [i, field] : enumerate(fields))
    b.CreateStore(field, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), slot, i));
  return slot;
}

FailureOr<bool> FunctionEmitter::emitComm(mlir::Operation &op) {
  enum Mode { Assign, Add, Max, Min };
  auto copy = [&](mlir::Value dst, Value *dstStart, mlir::Value src, Value *srcStart,
                  unsigned mode) {
    // Gives the number of elements of the part.
    return callRuntime(
        "pto_view_copy",
        {describeAnyView(dst), dstStart, describeAnyView(src), srcStart, b.getInt32(mode)},
        b.getInt64Ty());
  };
  StringRef name = op.getName().getStringRef();
  if (!name.starts_with("pto."))
    return false;
  if (auto put = dyn_cast<pto::CommTPutOp>(op)) {
    flush();
    copy(put.getDst(), index(0), put.getSrc(), index(0),
         put.getAtomicType() == pto::AtomicType::AtomicAdd ? Add : Assign);
    return true;
  }
  if (auto get = dyn_cast<pto::CommTGetOp>(op)) {
    flush();
    copy(get.getDst(), index(0), get.getSrc(), index(0),
         get.getAtomicType() == pto::AtomicType::AtomicAdd ? Add : Assign);
    return true;
  }
  if (auto all = dyn_cast<pto::CommTBroadcastOp>(op)) {
    flush();
    for (mlir::Value one : all.getGroup())
      copy(one, index(0), all.getSrc(), index(0), Assign);
    return true;
  }
  if (auto gather = dyn_cast<pto::CommTGatherOp>(op)) {
    flush();
    Value *at = index(0);
    for (mlir::Value one : gather.getGroup())
      at = b.CreateAdd(at, copy(gather.getDst(), at, one, index(0), Assign));
    return true;
  }
  if (auto scatter = dyn_cast<pto::CommTScatterOp>(op)) {
    flush();
    Value *at = index(0);
    for (mlir::Value one : scatter.getGroup())
      at = b.CreateAdd(at, copy(one, index(0), scatter.getSrc(), at, Assign));
    return true;
  }
  if (auto reduce = dyn_cast<pto::CommTReduceOp>(op)) {
    flush();
    unsigned mode = reduce.getReduceOp() == pto::ReduceOp::Sum   ? Add
                    : reduce.getReduceOp() == pto::ReduceOp::Max ? Max
                                                                 : Min;
    for (auto [i, one] : enumerate(reduce.getGroup()))
      copy(reduce.getDst(), index(0), one, index(0), i == 0 ? unsigned(Assign) : mode);
    return true;
  }
  auto word = [&](mlir::Value v) { return b.CreateSExtOrTrunc(value(v), b.getInt32Ty()); };
  auto signal = [&](mlir::Value v) { return views.find(v)->second.base; };
  if (auto notify = dyn_cast<pto::CommTNotifyOp>(op)) {
    flush();
    callRuntime("pto_signal_notify",
                {signal(notify.getSignal()), word(notify.getValue()),
                 b.getInt32(notify.getNotifyOp() == pto::NotifyOp::AtomicAdd)});
    return true;
  }
  if (auto wait = dyn_cast<pto::CommTWaitOp>(op)) {
    flush();
    callRuntime("pto_signal_wait", {signal(wait.getSignal()), word(wait.getValue()),
                                    b.getInt32(unsigned(wait.getCmp()))});
    return true;
  }
  if (auto test = dyn_cast<pto::CommTTestOp>(op)) {
    flush();
    Value *holds = callRuntime(
        "pto_signal_test",
        {signal(test.getSignal()), word(test.getValue()), b.getInt32(unsigned(test.getCmp()))},
        b.getInt32Ty());
    values[test.getResult()] = b.CreateICmpNE(holds, b.getInt32(0));
    return true;
  }
  if (isa<pto::CommTPutAsyncOp, pto::CommTGetAsyncOp>(op)) {
    flush();
    copy(op.getOperand(0), index(0), op.getOperand(1), index(0), Assign);
    values[op.getResult(0)] = index(0);
    return true;
  }
  if (isa<pto::CommWaitAsyncEventOp, pto::CommTestAsyncEventOp>(op)) {
    values[op.getResult(0)] = b.getTrue();
    return true;
  }
  if (isa<pto::CommBuildAsyncSessionOp, pto::MakePrefetchAsyncContextOp,
          pto::GetPrefetchAsyncSessionOp, pto::TPrefetchAsyncOp>(op)) {
    values[op.getResult(0)] = index(0); // a handle of nothing: copies are done at once
    return true;
  }
  bool sets = isa<pto::SyncSetOp, pto::SetCrossBlockOp, pto::SetIntraBlockOp>(op);
  if (sets || isa<pto::SyncWaitOp, pto::WaitCrossBlockOp, pto::WaitIntraBlockOp>(op)) {
    flush();
    auto number = op.getAttrOfType<mlir::IntegerAttr>("event_id");
    Value *id = number                    ? index(number.getInt())
                : op.getNumOperands() > 0 ? asIndex(op.getOperand(op.getNumOperands() - 1))
                                          : nullptr;
    if (!id)
      return op.emitError("native target: '") << op.getName() << "' has no event id";
    auto kind = source->getAttrOfType<pto::KernelKindAttr>("pto.kernel_kind");
    if (!kind)
      return op.emitError("native target: '")
             << op.getName()
             << "' needs a function with a pto.kernel_kind: it signals the other core";
    Value *isVector = b.getInt32(kind.getValue() == pto::KernelKind::Vector);
    if (sets)
      callRuntime("pto_cross_signal", {place(), id, isVector, b.getInt32(int32_t(signalOf(op)))});
    else
      callRuntime("pto_cross_wait",
                  {place(), id, isVector,
                   b.CreateGlobalString(
                       placeOf(op.getLoc()) + ": '" + op.getName().getStringRef().str() +
                       "' of the " + stringifyKernelKind(kind.getValue()).str() + " core waits")});
    return true;
  }
  if (auto region = dyn_cast<pto::FusionRegionOp>(op)) {
    mlir::Block &body = region.getBody().front();
    if (failed(emitBlock(body, true)))
      return mlir::failure();
    for (auto [result, yielded] : zip(region.getResults(), body.getTerminator()->getOperands()))
      values[result] = value(yielded);
    return true;
  }
  return false;
}

} // namespace ptoas::native
