//===- ScalarOps.cpp - arith and the scalar unit's pto ops ----------------===//
//
// Scalar division never traps: a zero divisor counts as one in the divisor and
// gives zero, and the most negative number divided by -1 is itself.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
using mlir::success;
namespace arith = mlir::arith;
namespace pto = mlir::pto;
namespace ptoas::native {

Constant *FunctionEmitter::constantOfAttr(mlir::Attribute attr, mlir::Type type) {
  Type *llvmType = typeOf(type);
  if (!llvmType)
    return nullptr;
  if (auto integer = dyn_cast<mlir::IntegerAttr>(attr))
    return ConstantInt::get(llvmType,
                            integer.getValue().sextOrTrunc(llvmType->getIntegerBitWidth()));
  if (auto number = dyn_cast<mlir::FloatAttr>(attr))
    return ConstantFP::get(b.getContext(), number.getValue());
  return nullptr;
}

Value *FunctionEmitter::divide(Value *x, Value *y, bool sign, bool remainder) {
  auto plain = [&](Value *d) {
    return remainder ? (sign ? b.CreateSRem(x, d) : b.CreateURem(x, d))
                     : (sign ? b.CreateSDiv(x, d) : b.CreateUDiv(x, d));
  };
  if (auto *c = dyn_cast<ConstantInt>(y); c && !c->isZero() && !c->isMinusOne())
    return plain(y);
  Type *type = x->getType();
  Value *zero = ConstantInt::get(type, 0), *one = ConstantInt::get(type, 1);
  Value *isZero = b.CreateICmpEQ(y, zero);
  Value *divisor = b.CreateSelect(isZero, one, y);
  Value *result;
  if (sign) {
    Value *minusOne = b.CreateICmpEQ(divisor, ConstantInt::getAllOnesValue(type));
    divisor = b.CreateSelect(minusOne, one, divisor);
    result = b.CreateSelect(minusOne, remainder ? zero : b.CreateNeg(x), plain(divisor));
  } else {
    result = plain(divisor);
  }
  return b.CreateSelect(isZero, zero, result);
}

Value *FunctionEmitter::floorDivide(Value *x, Value *y) {
  Value *q = divide(x, y, true, false), *r = divide(x, y, true, true);
  Value *zero = ConstantInt::get(x->getType(), 0);
  Value *down = b.CreateAnd(b.CreateICmpNE(r, zero), b.CreateICmpSLT(b.CreateXor(r, y), zero));
  return b.CreateSub(q, b.CreateZExt(down, x->getType()));
}

/// Not minus the floor of minus x: the smallest integer has no opposite.
Value *FunctionEmitter::ceilDivide(Value *x, Value *y) {
  Value *q = divide(x, y, true, false), *r = divide(x, y, true, true);
  Value *zero = ConstantInt::get(x->getType(), 0);
  Value *up = b.CreateAnd(b.CreateICmpNE(r, zero), b.CreateICmpSGE(b.CreateXor(r, y), zero));
  return b.CreateAdd(q, b.CreateZExt(up, x->getType()));
}

FailureOr<bool> FunctionEmitter::emitArith(mlir::Operation &op) {
  if (auto add = dyn_cast<mlir::arith::AddUIExtendedOp>(op)) {
    Value *sum = b.CreateAdd(value(add.getLhs()), value(add.getRhs()));
    values[add.getSum()] = sum;
    values[add.getOverflow()] = b.CreateICmpULT(sum, value(add.getLhs()));
    return true;
  }
  bool isSignedProduct = isa<mlir::arith::MulSIExtendedOp>(op);
  if (isSignedProduct || isa<mlir::arith::MulUIExtendedOp>(op)) {
    Value *x = value(op.getOperand(0)), *y = value(op.getOperand(1));
    unsigned width = x->getType()->getIntegerBitWidth();
    Type *wide = b.getIntNTy(2 * width);
    auto extend = [&](Value *v) {
      return isSignedProduct ? b.CreateSExt(v, wide) : b.CreateZExt(v, wide);
    };
    Value *product = b.CreateMul(extend(x), extend(y));
    values[op.getResult(0)] = b.CreateTrunc(product, x->getType());
    values[op.getResult(1)] = b.CreateTrunc(b.CreateLShr(product, width), x->getType());
    return true;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    // The counts that a merge of lists leaves behind: nothing on this machine reads them.
    if (isa<mlir::VectorType>(constant.getType()) &&
        llvm::all_of(op.getUsers(), llvm::IsaPred<pto::TMrgSortOp>))
      return true;
    Constant *c = constantOfAttr(constant.getValue(), constant.getType());
    if (!c)
      return op.emitError("native target: a constant of type ") << constant.getType();
    values[constant] = c;
    return true;
  }
  if (op.getName().getDialectNamespace() != "arith" || op.getNumResults() == 0)
    return false;
  SmallVector<Value *, 3> in;
  for (mlir::Value operand : op.getOperands()) {
    in.push_back(value(operand));
    if (!in.back() || in.back()->getType()->isVectorTy())
      return op.emitError("native target: '") << op.getName() << "' on values that are not scalars";
  }
  Type *type = typeOf(op.getResult(0).getType());
  if (!type)
    return op.emitError("native target: '") << op.getName() << "' with a result that is no scalar";
  auto set = [&](Value *v) {
    values[op.getResult(0)] = v;
    return true;
  };
  // bf16 scalars are computed in single precision; the conversions round to nearest even.
  bool brain = in[0]->getType()->isBFloatTy() && !isa<arith::BitcastOp>(op);
  if (brain)
    for (Value *&v : in)
      if (v->getType()->isBFloatTy())
        v = VecBuilder(b, 1, false).fromScalar(v, Elem::BF16);
  auto toBrain = [&](Value *v) -> Value * {
    VecBuilder one(b, 1, false);
    Value *bits = one.toMemory(one.roundTo(Elem::BF16, v), Elem::BF16);
    return b.CreateBitCast(bits, b.getBFloatTy());
  };
  auto setFloat = [&](Value *v) {
    return set(type->isBFloatTy() && v->getType()->isFloatTy() ? toBrain(v) : v);
  };
  if (auto cmp = dyn_cast<arith::CmpIOp>(op)) {
    constexpr CmpInst::Predicate table[] = {CmpInst::ICMP_EQ,  CmpInst::ICMP_NE,  CmpInst::ICMP_SLT,
                                            CmpInst::ICMP_SLE, CmpInst::ICMP_SGT, CmpInst::ICMP_SGE,
                                            CmpInst::ICMP_ULT, CmpInst::ICMP_ULE, CmpInst::ICMP_UGT,
                                            CmpInst::ICMP_UGE};
    return set(b.CreateICmp(table[static_cast<unsigned>(cmp.getPredicate())], in[0], in[1]));
  }
  if (auto cmp = dyn_cast<arith::CmpFOp>(op)) {
    // The numbering of both enums is that of IEEE relations: false, ordered…, unordered…, true.
    constexpr CmpInst::Predicate table[] = {
        CmpInst::FCMP_FALSE, CmpInst::FCMP_OEQ, CmpInst::FCMP_OGT, CmpInst::FCMP_OGE,
        CmpInst::FCMP_OLT,   CmpInst::FCMP_OLE, CmpInst::FCMP_ONE, CmpInst::FCMP_ORD,
        CmpInst::FCMP_UEQ,   CmpInst::FCMP_UGT, CmpInst::FCMP_UGE, CmpInst::FCMP_ULT,
        CmpInst::FCMP_ULE,   CmpInst::FCMP_UNE, CmpInst::FCMP_UNO, CmpInst::FCMP_TRUE};
    return set(b.CreateFCmp(table[static_cast<unsigned>(cmp.getPredicate())], in[0], in[1]));
  }
  auto inRange = [&](Value *shift) {
    return b.CreateICmpULT(shift, ConstantInt::get(type, type->getIntegerBitWidth()));
  };
  auto shift = [&](auto make, Value *far) {
    if (isa<ConstantInt>(in[1]))
      return make(in[1]);
    Value *amount = b.CreateSelect(inRange(in[1]), in[1], ConstantInt::get(type, 0));
    return b.CreateSelect(inRange(in[1]), make(amount), far);
  };
  auto toInt = [&](bool sign) {
    // Saturating, NaN to zero: the C conversion is undefined out of range.
    return b.CreateIntrinsic(sign ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat,
                             {type, in[0]->getType()}, {in[0]});
  };
  auto binaryIntrinsic = [&](Intrinsic::ID id) {
    return b.CreateBinaryIntrinsic(id, in[0], in[1]);
  };
  StringRef name = op.getName().stripDialect();
  enum Kind {
    Addi,
    Subi,
    Muli,
    Divsi,
    Divui,
    Remsi,
    Remui,
    Floordiv,
    Ceildivsi,
    Ceildivui,
    And,
    Or,
    Xor,
    Shl,
    Shrs,
    Shru,
    Maxs,
    Maxu,
    Mins,
    Minu,
    Addf,
    Subf,
    Mulf,
    Divf,
    Remf,
    Negf,
    Maximum,
    Minimum,
    Maxnum,
    Minnum,
    Select,
    Exts,
    Extu,
    Trunci,
    Sitofp,
    Uitofp,
    Fptosi,
    Fptoui,
    Extf,
    Truncf,
    Bitcast,
    IndexCast,
    IndexCastU,
    None
  };
  Kind kind = StringSwitch<Kind>(name)
                  .Case("addi", Addi)
                  .Case("subi", Subi)
                  .Case("muli", Muli)
                  .Case("divsi", Divsi)
                  .Case("divui", Divui)
                  .Case("remsi", Remsi)
                  .Case("remui", Remui)
                  .Case("floordivsi", Floordiv)
                  .Case("ceildivsi", Ceildivsi)
                  .Case("ceildivui", Ceildivui)
                  .Case("andi", And)
                  .Case("ori", Or)
                  .Case("xori", Xor)
                  .Case("shli", Shl)
                  .Case("shrsi", Shrs)
                  .Case("shrui", Shru)
                  .Case("maxsi", Maxs)
                  .Case("maxui", Maxu)
                  .Case("minsi", Mins)
                  .Case("minui", Minu)
                  .Case("addf", Addf)
                  .Case("subf", Subf)
                  .Case("mulf", Mulf)
                  .Case("divf", Divf)
                  .Case("remf", Remf)
                  .Case("negf", Negf)
                  .Case("maximumf", Maximum)
                  .Case("minimumf", Minimum)
                  .Case("maxnumf", Maxnum)
                  .Case("minnumf", Minnum)
                  .Case("select", Select)
                  .Case("extsi", Exts)
                  .Case("extui", Extu)
                  .Case("trunci", Trunci)
                  .Case("sitofp", Sitofp)
                  .Case("uitofp", Uitofp)
                  .Case("fptosi", Fptosi)
                  .Case("fptoui", Fptoui)
                  .Case("extf", Extf)
                  .Case("truncf", Truncf)
                  .Case("bitcast", Bitcast)
                  .Case("index_cast", IndexCast)
                  .Case("index_castui", IndexCastU)
                  .Default(None);
  switch (kind) {
  case Addi:
    return set(b.CreateAdd(in[0], in[1]));
  case Subi:
    return set(b.CreateSub(in[0], in[1]));
  case Muli:
    return set(b.CreateMul(in[0], in[1]));
  case Divsi:
    return set(divide(in[0], in[1], true, false));
  case Divui:
    return set(divide(in[0], in[1], false, false));
  case Remsi:
    return set(divide(in[0], in[1], true, true));
  case Remui:
    return set(divide(in[0], in[1], false, true));
  case Floordiv:
    return set(floorDivide(in[0], in[1]));
  case Ceildivsi:
    return set(ceilDivide(in[0], in[1]));
  case Ceildivui: {
    Value *q = divide(in[0], in[1], false, false), *r = divide(in[0], in[1], false, true);
    return set(b.CreateAdd(q, b.CreateZExt(b.CreateICmpNE(r, ConstantInt::get(type, 0)), type)));
  }
  case And:
    return set(b.CreateAnd(in[0], in[1]));
  case Or:
    return set(b.CreateOr(in[0], in[1]));
  case Xor:
    return set(b.CreateXor(in[0], in[1]));
  case Shl:
    return set(shift([&](Value *n) { return b.CreateShl(in[0], n); }, ConstantInt::get(type, 0)));
  case Shru:
    return set(shift([&](Value *n) { return b.CreateLShr(in[0], n); }, ConstantInt::get(type, 0)));
  case Shrs: {
    Value *sign = b.CreateAShr(in[0], ConstantInt::get(type, type->getIntegerBitWidth() - 1));
    return set(shift([&](Value *n) { return b.CreateAShr(in[0], n); }, sign));
  }
  case Maxs:
    return set(binaryIntrinsic(Intrinsic::smax));
  case Maxu:
    return set(binaryIntrinsic(Intrinsic::umax));
  case Mins:
    return set(binaryIntrinsic(Intrinsic::smin));
  case Minu:
    return set(binaryIntrinsic(Intrinsic::umin));
  case Addf:
    return setFloat(b.CreateFAdd(in[0], in[1]));
  case Subf:
    return setFloat(b.CreateFSub(in[0], in[1]));
  case Mulf:
    return setFloat(b.CreateFMul(in[0], in[1]));
  case Divf:
    return setFloat(b.CreateFDiv(in[0], in[1]));
  case Remf:
    return setFloat(b.CreateFRem(in[0], in[1]));
  case Negf:
    return setFloat(b.CreateFNeg(in[0]));
  case Maximum:
    return setFloat(binaryIntrinsic(Intrinsic::maximum));
  case Minimum:
    return setFloat(binaryIntrinsic(Intrinsic::minimum));
  case Maxnum:
    return setFloat(binaryIntrinsic(Intrinsic::maxnum));
  case Minnum:
    return setFloat(binaryIntrinsic(Intrinsic::minnum));
  case Select:
    return setFloat(b.CreateSelect(in[0], in[1], in[2]));
  case Exts:
    return set(b.CreateSExt(in[0], type));
  case Extu:
    return set(b.CreateZExt(in[0], type));
  case Trunci:
    return set(b.CreateTrunc(in[0], type));
  case Sitofp:
    return setFloat(b.CreateSIToFP(in[0], type->isBFloatTy() ? b.getFloatTy() : type));
  case Uitofp:
    return setFloat(b.CreateUIToFP(in[0], type->isBFloatTy() ? b.getFloatTy() : type));
  case Fptosi:
    return set(toInt(true));
  case Fptoui:
    return set(toInt(false));
  case Extf:
    return set(b.CreateFPExt(in[0], type));
  case Truncf:
    if (type->isBFloatTy())
      return setFloat(b.CreateFPTrunc(in[0], b.getFloatTy()));
    // Half from double would be a library call; through single precision it is two instructions.
    if (type->isHalfTy() && in[0]->getType()->isDoubleTy())
      in[0] = b.CreateFPTrunc(in[0], b.getFloatTy());
    return set(b.CreateFPTrunc(in[0], type));
  case Bitcast:
    return set(b.CreateBitCast(in[0], type));
  case IndexCast:
    return set(b.CreateSExtOrTrunc(in[0], type));
  case IndexCastU:
    return set(b.CreateZExtOrTrunc(in[0], type));
  case None:
    return false;
  }
  llvm_unreachable("covered switch");
}

Value *FunctionEmitter::arrayElement(mlir::Operation &op, mlir::Value array,
                                     mlir::ValueRange indices) {
  Type *element = b.getInt64Ty(); // event ids
  SmallVector<int64_t, 4> shape;
  if (auto type = dyn_cast<pto::LocalArrayType>(array.getType())) {
    element = typeOf(type.getElementType());
    shape.assign(type.getShape().begin(), type.getShape().end());
  } else {
    shape.push_back(cast<pto::EventIdArrayType>(array.getType()).getSize());
  }
  // Indices outside would write over the stack.
  Value *at = index(0);
  for (auto [d, extent] : enumerate(shape)) {
    isRefused |= failed(requireWithin(op, indices[d], extent - 1, "index " + Twine(d)));
    at = b.CreateAdd(b.CreateMul(at, index(extent)), asIndex(indices[d]));
  }
  return b.CreateGEP(element, value(array), at);
}

/// Block and sub-block ids that the caller announced for its thread (pto_set_block). They are read
/// at the start of the function: a function that waits may go on in another thread.
Value *FunctionEmitter::announced(int which) {
  if (!announcedIds[which]) {
    IRBuilder<>::InsertPointGuard guard(b);
    b.SetInsertPoint(entry->getTerminator());
    announcedIds[which] = callRuntime("pto_get_block", {b.getInt32(which)}, b.getInt64Ty());
  }
  return announcedIds[which];
}

/// Where the function runs (Cluster.h), asked for at its start for the same reason.
Value *FunctionEmitter::place() {
  if (!placeOfFunction) {
    IRBuilder<>::InsertPointGuard guard(b);
    b.SetInsertPoint(entry->getTerminator());
    placeOfFunction = callRuntime("pto_place", {}, b.getPtrTy());
  }
  return placeOfFunction;
}

/// The threads of the SIMT unit, one after the other: no instruction of the dialect tells them
/// apart. A thread runs scalar code; instructions on tiles and between queues are the core's.
FailureOr<bool> FunctionEmitter::emitThreads(pto::SectionSimtOp section) {
  mlir::WalkResult foreign = section.getBody().walk([](mlir::Operation *op) {
    bool ofThread =
        isa<pto::LoadScalarOp, pto::StoreScalarOp, pto::AddPtrOp, pto::CastPtrOp, pto::PtrToIntOp,
            pto::IntToPtrOp, pto::DeclareLocalArrayOp, pto::LocalArrayGetOp, pto::LocalArraySetOp,
            pto::DeclareStructOp, pto::StructGetOp, pto::StructSetOp, pto::GetBlockIdxOp,
            pto::GetBlockNumOp, pto::GetSubblockIdxOp, pto::GetSubblockNumOp, pto::PrintOp,
            pto::TrapOp>(op);
    if (ofThread || !(isa<pto::PTODialect>(op->getDialect()) || isa<mlir::func::CallOp>(op)))
      return mlir::WalkResult::advance();
    op->emitError("native target: '") << op->getName()
                                      << "' is no instruction of a thread: a section.simt holds "
                                         "scalar code";
    return mlir::WalkResult::interrupt();
  });
  if (foreign.wasInterrupted())
    return failure();
  flush();
  Value *count = index(1);
  unsigned open = 0;
  for (auto [i, dim] : enumerate(section.getStaticDims())) {
    bool isOpen = mlir::ShapedType::isDynamic(dim);
    if (isOpen && failed(requireWithin(*section, section.getDims()[open], 2048,
                                       "number of threads " + Twine(i))))
      return failure();
    count = b.CreateMul(count, isOpen ? asIndex(section.getDims()[open++]) : index(dim));
  }
  auto *head = BasicBlock::Create(b.getContext(), "thread", function);
  auto *after = BasicBlock::Create(b.getContext(), "threads.end", function);
  BasicBlock *before = b.GetInsertBlock();
  b.CreateCondBr(b.CreateICmpSGT(count, index(0)), head, after);
  b.SetInsertPoint(head);
  PHINode *thread = b.CreatePHI(b.getInt64Ty(), 2, "thread");
  thread->addIncoming(index(0), before);
  if (failed(emitBlock(section.getBody().front(), true)))
    return failure();
  Value *next = b.CreateAdd(thread, index(1));
  thread->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, count), head, after);
  b.SetInsertPoint(after);
  return true;
}

FailureOr<bool> FunctionEmitter::emitScalarPto(mlir::Operation &op) {
  if (auto load = dyn_cast<pto::LoadScalarOp>(op)) {
    if (group.storesGm())
      flush();
    Type *type = typeOf(load.getValue().getType());
    Value *pointer = b.CreateGEP(type, value(load.getPtr()), asIndex(load.getOffset()));
    values[load.getValue()] = b.CreateLoad(type, pointer);
    return true;
  }
  if (auto store = dyn_cast<pto::StoreScalarOp>(op)) {
    flush();
    Value *v = value(store.getValue());
    b.CreateStore(v, b.CreateGEP(v->getType(), value(store.getPtr()), asIndex(store.getOffset())));
    return true;
  }
  if (auto add = dyn_cast<pto::AddPtrOp>(op)) {
    int64_t bytes = pto::getElementBytes(add.getPtr().getType().getElementType());
    values[add.getResult()] =
        b.CreatePtrAdd(value(add.getPtr()), b.CreateMul(asIndex(add.getOffset()), index(bytes)));
    return true;
  }
  if (auto cast = dyn_cast<pto::CastPtrOp>(op)) {
    values[cast.getResult()] = value(cast.getPtr());
    return true;
  }
  if (auto cast = dyn_cast<pto::PtrToIntOp>(op)) {
    values[cast.getResult()] =
        b.CreatePtrToInt(value(cast.getPtr()), typeOf(cast.getResult().getType()));
    return true;
  }
  if (auto cast = dyn_cast<pto::IntToPtrOp>(op)) {
    values[cast.getResult()] = b.CreateIntToPtr(value(cast.getValue()), b.getPtrTy());
    return true;
  }
  if (auto declare = dyn_cast<pto::DeclareLocalArrayOp>(op)) {
    auto type = declare.getResult().getType();
    Type *element = typeOf(type.getElementType());
    int64_t count = 1;
    for (int64_t extent : type.getShape())
      count *= extent;
    if (!element)
      return op.emitError("native target: a local array of ") << type.getElementType();
    values[declare.getResult()] = stackSlot(ArrayType::get(element, count), "array");
    return true;
  }
  if (auto declare = dyn_cast<pto::DeclareStructOp>(op)) {
    Type *type = typeOf(declare.getResult().getType());
    if (!type)
      return op.emitError("native target: '")
             << op.getName() << "' with members that are no scalars";
    values[declare.getResult()] = stackSlot(type, "struct");
    return true;
  }
  auto member = [&](mlir::Value object, ArrayRef<int64_t> path) {
    SmallVector<Value *, 4> indices{b.getInt32(0)};
    for (int64_t step : path)
      indices.push_back(b.getInt32(step));
    return b.CreateInBoundsGEP(typeOf(object.getType()), value(object), indices);
  };
  if (auto get = dyn_cast<pto::StructGetOp>(op)) {
    values[get.getValue()] =
        b.CreateLoad(typeOf(get.getValue().getType()), member(get.getObject(), get.getPath()));
    return true;
  }
  if (auto set = dyn_cast<pto::StructSetOp>(op)) {
    b.CreateStore(value(set.getValue()), member(set.getObject(), set.getPath()));
    return true;
  }
  if (auto get = dyn_cast<pto::LocalArrayGetOp>(op)) {
    Value *pointer = arrayElement(op, get.getArray(), get.getIndices());
    values[get.getValue()] = b.CreateLoad(typeOf(get.getValue().getType()), pointer);
    return true;
  }
  if (auto set = dyn_cast<pto::LocalArraySetOp>(op)) {
    Value *pointer = arrayElement(op, set.getArray(), set.getIndices());
    b.CreateStore(value(set.getValue()), pointer);
    return true;
  }
  if (isa<pto::GetBlockIdxOp, pto::GetBlockNumOp, pto::GetSubblockIdxOp, pto::GetSubblockNumOp>(
          op)) {
    // What the caller announced for this thread (pto_set_block in irregular_runtime.cpp).
    int which = isa<pto::GetBlockIdxOp>(op)      ? 0
                : isa<pto::GetBlockNumOp>(op)    ? 1
                : isa<pto::GetSubblockIdxOp>(op) ? 2
                                                 : 3;
    values[op.getResult(0)] = announced(which);
    return true;
  }
  if (auto array = dyn_cast<pto::DeclareEventIdArrayOp>(op)) {
    values[array->getResult(0)] =
        stackSlot(ArrayType::get(b.getInt64Ty(), array.getResult().getType().getSize()), "events");
    return true;
  }
  if (auto get = dyn_cast<pto::EventIdArrayGetOp>(op)) {
    values[get.getResult()] =
        b.CreateLoad(b.getInt64Ty(), arrayElement(op, get.getArray(), get.getIndex()));
    return true;
  }
  if (auto set = dyn_cast<pto::EventIdArraySetOp>(op)) {
    b.CreateStore(asIndex(set.getValue()), arrayElement(op, set.getArray(), set.getIndex()));
    return true;
  }
  if (auto print = dyn_cast<pto::PrintOp>(op)) {
    flush();
    Value *format = b.CreateGlobalString(print.getFormat());
    Value *v = print.getValue() ? value(print.getValue()) : b.getInt64(0);
    if (v->getType()->isFloatingPointTy()) {
      if (v->getType()->isBFloatTy())
        v = VecBuilder(b, 1, false).fromScalar(v, Elem::BF16);
      callRuntime("pto_print_float", {format, b.CreateFPExt(v, b.getDoubleTy())});
    } else {
      callRuntime("pto_print_int", {format, b.CreateSExtOrTrunc(v, b.getInt64Ty())});
    }
    return true;
  }
  if (isa<pto::TrapOp>(op)) {
    flush();
    leaveIf(b.getTrue(), [&] {
      callRuntime("pto_trap_reached", {place(), b.CreateGlobalString(placeOf(op.getLoc()))});
    });
    return true;
  }
  if (isa<pto::SectionCubeOp, pto::SectionVectorOp>(op)) {
    flush();
    return failed(emitBlock(op.getRegion(0).front(), true)) ? FailureOr<bool>(failure()) : true;
  }
  if (auto section = dyn_cast<pto::SectionSimtOp>(op))
    return emitThreads(section);
  if (isa<mlir::UnrealizedConversionCastOp>(op) && op.getNumOperands() == 1 &&
      op.getNumResults() == 1 && value(op.getOperand(0)) &&
      value(op.getOperand(0))->getType() == typeOf(op.getResult(0).getType())) {
    values[op.getResult(0)] = value(op.getOperand(0));
    return true;
  }
  // Order between the queues of one core is program order here.
  static const StringSet<> noCode = {
      "pto.set_flag",     "pto.wait_flag",  "pto.set_flag_dyn",     "pto.wait_flag_dyn",
      "pto.record_event", "pto.wait_event", "pto.barrier",          "pto.barrier_sync",
      "pto.get_buf",      "pto.rls_buf",    "pto.get_buf_dyn",      "pto.rls_buf_dyn",
      "pto.mem_bar",      "pto.set_ffts",   "pto.cmo.cacheinvalid", "pto.tsync",
      "pto.tprefetch"};
  if (noCode.contains(op.getName().getStringRef()))
    return true;
  if (auto meet = dyn_cast<pto::SyncAllOp>(op)) {
    flush();
    Value *where =
        b.CreateGlobalString(placeOf(op.getLoc()) + ": 'pto.syncall' waits for the other cores");
    if (!meet.getWorkspace()) {
      callRuntime("pto_sync_all",
                  {place(), b.getInt32(unsigned(meet.getCoreType())), announced(1), where});
      return true;
    }
    auto view = views.find(meet.getWorkspace());
    Value *workspace = view != views.end() ? view->second.base : value(meet.getWorkspace());
    Value *count = meet.getUsedCores() ? asIndex(meet.getUsedCores()) : announced(1);
    callRuntime("pto_sync_soft", {place(), workspace, count, where});
    return true;
  }
  if (isa<pto::FenceBarrierAllOp>(op)) {
    flush();
    b.CreateFence(AtomicOrdering::SequentiallyConsistent);
    return true;
  }
  return false;
}

} // namespace ptoas::native
