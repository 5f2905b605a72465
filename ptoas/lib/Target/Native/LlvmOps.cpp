//===- LlvmOps.cpp - the subset of the llvm dialect -----------------------===//
//
// What orchestrations and kernel wrappers use: globals with string, number or
// initialiser-region contents, addressof, constants, memory and pointer ops,
// aggregates. Symbols may name functions of the func dialect.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/IR/ConstantFold.h"

using namespace llvm;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::success;
namespace mllvm = mlir::LLVM;
namespace ptoas::native {

static Constant *constantFor(mlir::Attribute attr, Type *type) {
  if (auto text = dyn_cast<mlir::StringAttr>(attr))
    return ConstantDataArray::getString(type->getContext(), text.getValue(), /*AddNull=*/false);
  if (auto integer = dyn_cast<mlir::IntegerAttr>(attr))
    return type->isIntegerTy()
               ? ConstantInt::get(type, integer.getValue().sextOrTrunc(type->getIntegerBitWidth()))
               : nullptr;
  if (auto number = dyn_cast<mlir::FloatAttr>(attr))
    return type->isFloatingPointTy() ? ConstantFP::get(type->getContext(), number.getValue())
                                     : nullptr;
  auto dense = dyn_cast<mlir::DenseElementsAttr>(attr);
  auto *array = dyn_cast<ArrayType>(type);
  if (dense && array) {
    SmallVector<Constant *, 16> elements;
    for (mlir::Attribute element : dense.getValues<mlir::Attribute>()) {
      Constant *c = constantFor(element, array->getElementType());
      if (!c)
        return nullptr;
      elements.push_back(c);
    }
    if (elements.size() == array->getNumElements())
      return ConstantArray::get(array, elements);
  }
  return nullptr;
}

/// The constant a global's initialiser region computes.
static Constant *evaluate(ModuleEmitter &owner, mllvm::GlobalOp global) {
  DenseMap<mlir::Value, Constant *> known;
  for (mlir::Operation &op : global.getInitializerBlock()->getOperations()) {
    if (auto ret = dyn_cast<mllvm::ReturnOp>(op))
      return ret.getNumOperands() == 1 ? known.lookup(ret.getOperand(0)) : nullptr;
    Type *type = op.getNumResults() == 1 ? owner.typeOf(op.getResult(0).getType()) : nullptr;
    if (!type)
      return nullptr;
    Constant *c = nullptr;
    if (isa<mllvm::ZeroOp>(op))
      c = Constant::getNullValue(type);
    else if (isa<mllvm::UndefOp, mllvm::PoisonOp>(op))
      c = Constant::getNullValue(type); // defined contents, the same in every build
    else if (auto constant = dyn_cast<mllvm::ConstantOp>(op))
      c = constantFor(constant.getValue(), type);
    else if (auto address = dyn_cast<mllvm::AddressOfOp>(op))
      c = owner.module.getNamedValue(address.getGlobalName());
    else if (auto insert = dyn_cast<mllvm::InsertValueOp>(op)) {
      Constant *into = known.lookup(insert.getContainer()), *v = known.lookup(insert.getValue());
      if (into && v) {
        SmallVector<unsigned, 2> path(insert.getPosition().begin(), insert.getPosition().end());
        c = ConstantFoldInsertValueInstruction(into, v, path);
      }
    }
    if (!c)
      return nullptr;
    known[op.getResult(0)] = c;
  }
  return nullptr;
}

LogicalResult ModuleEmitter::emitGlobals(mlir::ModuleOp source) {
  SmallVector<std::pair<mllvm::GlobalOp, GlobalVariable *>, 16> made;
  for (auto global : source.getOps<mllvm::GlobalOp>()) {
    Type *type = typeOf(global.getGlobalType());
    if (!type)
      return global.emitError("native target: a global of type ") << global.getGlobalType();
    bool external = global.getLinkage() == mllvm::Linkage::External;
    auto *variable =
        new GlobalVariable(module, type, global.getConstant(),
                           external ? GlobalValue::ExternalLinkage : GlobalValue::InternalLinkage,
                           nullptr, global.getSymName());
    made.push_back({global, variable});
  }
  for (auto [global, variable] : made) {
    Constant *init = nullptr;
    if (global.getInitializerBlock())
      init = evaluate(*this, global);
    else if (std::optional<mlir::Attribute> attr = global.getValue())
      init = constantFor(*attr, variable->getValueType());
    else if (variable->hasExternalLinkage())
      continue; // defined elsewhere
    else
      init = Constant::getNullValue(variable->getValueType());
    if (!init)
      return global.emitError("native target: cannot evaluate the initialiser of @")
             << global.getSymName();
    variable->setInitializer(init);
  }
  return success();
}

FailureOr<bool> FunctionEmitter::emitLlvm(mlir::Operation &op) {
  if (op.getName().getDialectNamespace() != "llvm")
    return false;
  Type *type = op.getNumResults() == 1 ? typeOf(op.getResult(0).getType()) : nullptr;
  auto set = [&](Value *v) -> FailureOr<bool> {
    if (!v || v->getType() != type)
      return op.emitError("native target: '") << op.getName() << "' with this type";
    values[op.getResult(0)] = v;
    return true;
  };
  if (auto constant = dyn_cast<mllvm::ConstantOp>(op))
    return set(type ? constantFor(constant.getValue(), type) : nullptr);
  if (isa<mllvm::ZeroOp, mllvm::UndefOp, mllvm::PoisonOp>(op))
    return set(type ? Constant::getNullValue(type) : nullptr);
  if (auto address = dyn_cast<mllvm::AddressOfOp>(op)) {
    GlobalValue *target = owner.module.getNamedValue(address.getGlobalName());
    if (!target)
      return op.emitError("native target: unknown symbol @") << address.getGlobalName();
    return set(target);
  }
  if (auto alloca = dyn_cast<mllvm::AllocaOp>(op)) {
    Type *element = typeOf(alloca.getElemType());
    if (!element)
      return op.emitError("native target: alloca of ") << alloca.getElemType();
    auto *count = dyn_cast<ConstantInt>(value(alloca.getArraySize()));
    AllocaInst *slot;
    if (count && op.getBlock() == &source.getBody().front()) {
      slot = stackSlot(ArrayType::get(element, count->getZExtValue()));
    } else {
      slot = b.CreateAlloca(element, value(alloca.getArraySize()));
    }
    if (std::optional<uint64_t> align = alloca.getAlignment(); align && *align)
      slot->setAlignment(Align(*align));
    return set(slot);
  }
  if (auto gep = dyn_cast<mllvm::GEPOp>(op)) {
    Type *element = typeOf(gep.getElemType());
    if (!element)
      return op.emitError("native target: getelementptr over ") << gep.getElemType();
    SmallVector<Value *, 4> indices;
    bool first = true;
    for (auto i : gep.getIndices()) {
      // Struct members are i32 constants in LLVM, everything else is 64 bits wide.
      if (auto attr = dyn_cast<mlir::IntegerAttr>(i))
        indices.push_back(first ? static_cast<Value *>(b.getInt64(attr.getInt()))
                                : b.getInt32(attr.getInt()));
      else
        indices.push_back(asIndex(cast<mlir::Value>(i)));
      first = false;
    }
    return set(b.CreateGEP(element, value(gep.getBase()), indices));
  }
  if (auto load = dyn_cast<mllvm::LoadOp>(op)) {
    flush();
    if (!type)
      return op.emitError("native target: load of ") << op.getResult(0).getType();
    LoadInst *l = b.CreateLoad(type, value(load.getAddr()));
    if (std::optional<uint64_t> align = load.getAlignment(); align && *align)
      l->setAlignment(Align(*align));
    return set(l);
  }
  if (auto store = dyn_cast<mllvm::StoreOp>(op)) {
    flush();
    StoreInst *s = b.CreateStore(value(store.getValue()), value(store.getAddr()));
    if (std::optional<uint64_t> align = store.getAlignment(); align && *align)
      s->setAlignment(Align(*align));
    return true;
  }
  if (isa<mllvm::PtrToIntOp>(op))
    return set(b.CreatePtrToInt(value(op.getOperand(0)), type));
  if (isa<mllvm::IntToPtrOp>(op))
    return set(b.CreateIntToPtr(value(op.getOperand(0)), type));
  if (isa<mllvm::BitcastOp>(op))
    return set(b.CreateBitCast(value(op.getOperand(0)), type));
  if (auto insert = dyn_cast<mllvm::InsertValueOp>(op)) {
    SmallVector<unsigned, 2> path(insert.getPosition().begin(), insert.getPosition().end());
    return set(b.CreateInsertValue(value(insert.getContainer()), value(insert.getValue()), path));
  }
  if (auto extract = dyn_cast<mllvm::ExtractValueOp>(op)) {
    SmallVector<unsigned, 2> path(extract.getPosition().begin(), extract.getPosition().end());
    return set(b.CreateExtractValue(value(extract.getContainer()), path));
  }
  if (auto call = dyn_cast<mllvm::CallOp>(op)) {
    flush();
    SmallVector<Value *, 8> args;
    SmallVector<Type *, 8> types;
    for (mlir::Value operand : call.getArgOperands()) {
      args.push_back(value(operand));
      types.push_back(args.back()->getType());
    }
    if (!call.getCallee())
      return op.emitError("native target: calls through pointers");
    Type *result = op.getNumResults() ? type : b.getVoidTy();
    CallInst *made = b.CreateCall(owner.runtime(*call.getCallee(), result, types), args);
    if (op.getNumResults())
      return set(made);
    return true;
  }
  return false;
}

} // namespace ptoas::native
