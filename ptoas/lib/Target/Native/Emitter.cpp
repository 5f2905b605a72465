//===- Emitter.cpp - functions, storage, groups ---------------------------===//
#include "Emitter.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;
namespace pto = mlir::pto;
namespace ptoas::native {

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

Type *ModuleEmitter::typeOf(mlir::Type type) {
  LLVMContext &context = module.getContext();
  if (isa<mlir::IndexType>(type))
    return Type::getInt64Ty(context);
  if (auto integer = dyn_cast<mlir::IntegerType>(type))
    return Type::getIntNTy(context, integer.getWidth());
  if (type.isF32())
    return Type::getFloatTy(context);
  if (type.isF64())
    return Type::getDoubleTy(context);
  if (type.isF16())
    return Type::getHalfTy(context);
  if (type.isBF16())
    return Type::getBFloatTy(context);
  if (isa<pto::PtrType, mlir::LLVM::LLVMPointerType>(type))
    return PointerType::get(context, 0);
  if (auto array = dyn_cast<mlir::LLVM::LLVMArrayType>(type)) {
    Type *element = typeOf(array.getElementType());
    return element ? ArrayType::get(element, array.getNumElements()) : nullptr;
  }
  if (auto object = dyn_cast<pto::StructType>(type)) {
    SmallVector<Type *, 8> members;
    for (mlir::Type member : object.getMembers()) {
      Type *m = typeOf(member);
      if (!m)
        return nullptr;
      members.push_back(m);
    }
    return StructType::get(context, members);
  }
  if (auto object = dyn_cast<mlir::LLVM::LLVMStructType>(type)) {
    SmallVector<Type *, 8> members;
    for (mlir::Type member : object.getBody()) {
      Type *m = typeOf(member);
      if (!m)
        return nullptr;
      members.push_back(m);
    }
    return StructType::get(context, members, object.isPacked());
  }
  return nullptr;
}

FunctionCallee ModuleEmitter::runtime(StringRef name, Type *result, ArrayRef<Type *> params) {
  return module.getOrInsertFunction(name, FunctionType::get(result, params, false));
}

Function *ModuleEmitter::declare(mlir::func::FuncOp func) {
  if (Function *known = module.getFunction(func.getName()))
    return known;
  SmallVector<Type *, 16> params;
  for (mlir::Type type : func.getArgumentTypes()) {
    Type *p = typeOf(type);
    if (!p) {
      func.emitError("native target: an argument of type ") << type << " has no C type";
      return nullptr;
    }
    params.push_back(p);
  }
  SmallVector<Type *, 4> results;
  for (mlir::Type type : func.getResultTypes()) {
    Type *r = typeOf(type);
    if (!r) {
      func.emitError("native target: a result of type ") << type << " has no C type";
      return nullptr;
    }
    results.push_back(r);
  }
  LLVMContext &context = module.getContext();
  Type *result = results.empty()       ? Type::getVoidTy(context)
                 : results.size() == 1 ? results.front()
                                       : StructType::get(context, results);
  auto *function = Function::Create(FunctionType::get(result, params, false),
                                    Function::ExternalLinkage, func.getName(), module);
  if (!func.isDeclaration()) {
    // Without these LLVM splits 512-bit vectors.
    const char *width = avx512() ? "512" : "256";
    function->addFnAttr("prefer-vector-width", width);
    function->addFnAttr("min-legal-vector-width", width);
    function->addFnAttr(Attribute::NoUnwind);
    function->addFnAttr("frame-pointer", "non-leaf");
  }
  return function;
}

LogicalResult ModuleEmitter::emit(mlir::ModuleOp source) {
  SmallVector<mlir::func::FuncOp, 8> functions;
  source.walk([&](mlir::func::FuncOp func) { functions.push_back(func); });
  for (mlir::func::FuncOp func : functions)
    if (!declare(func))
      return failure();
  if (failed(emitGlobals(source)))
    return failure();
  bool ok = true;
  for (mlir::func::FuncOp func : functions)
    if (!func.isDeclaration())
      ok &= succeeded(FunctionEmitter(*this, func, module.getFunction(func.getName())).emit());
  return success(ok);
}

//===----------------------------------------------------------------------===//
// Function
//===----------------------------------------------------------------------===//

FunctionEmitter::FunctionEmitter(ModuleEmitter &owner, mlir::func::FuncOp source,
                                 Function *function)
    : owner(owner), source(source), function(function), b(function->getContext()), group(model) {}

LogicalResult FunctionEmitter::emit() {
  auto built = TileModel::build(source);
  if (failed(built))
    return failure();
  model = std::move(*built);
  numberOps();

  entry = BasicBlock::Create(b.getContext(), "entry", function);
  auto *body = BasicBlock::Create(b.getContext(), "body", function);
  b.SetInsertPoint(entry);
  frame = b.CreateAlloca(b.getInt8Ty(), nullptr, "frame");
  b.CreateBr(body);
  b.SetInsertPoint(body);
  ++owner.orderFunctions;
  for (auto [argument, value] : zip(source.getArguments(), function->args())) {
    values[argument] = &value;
    if (auto name =
            source.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "pypto.name"))
      value.setName(name.getValue());
  }
  if (!hasSingleElement(source.getBody()))
    return source.emitError("native target: functions with branches between blocks; use scf");
  if (failed(emitBlock(source.getBody().front(), false)))
    return failure();
  layOutFrame();
  return success();
}

void FunctionEmitter::numberOps() {
  unsigned next = 0;
  std::function<void(mlir::Operation *)> number = [&](mlir::Operation *op) {
    unsigned first = next++;
    for (mlir::Region &region : op->getRegions())
      for (mlir::Operation &inner : region.getOps())
        number(&inner);
    opNumbers[op] = {first, next};
  };
  number(source);
  rootStorage.resize(model.roots().size());
  for (unsigned i = 0; i < rootStorage.size(); ++i)
    rootStorage[i].bytes = model.roots()[i].bytes;
  source.walk([&](mlir::Operation *op) {
    auto use = [&](mlir::Value v) {
      if (!model.isTile(v))
        return;
      RootStorage &root = rootStorage[model.info(v).root];
      if (!root.home)
        root.home =
            model.roots()[model.info(v).root].arena ? &source.getBody().front() : op->getBlock();
      extendLife(root, model.roots()[model.info(v).root].arena ? source.getOperation() : op);
    };
    for (mlir::Value result : op->getResults())
      use(result);
    for (mlir::Value operand : op->getOperands())
      use(operand);
  });
}

void FunctionEmitter::extendLife(RootStorage &root, mlir::Operation *op) {
  // A handle made inside a loop does not outlive an iteration; one made outside lives through it.
  mlir::Operation *around = root.home ? root.home->findAncestorOpInBlock(*op) : op;
  auto [first, last] = opNumbers.lookup(around ? around : op);
  root.first = std::min(root.first, first);
  root.last = std::max(root.last, last);
}

LogicalResult FunctionEmitter::emitBlock(mlir::Block &block, bool skipTerminator) {
  unsigned outer = madeViews.size();
  for (mlir::Operation &op : block) {
    if (skipTerminator && &op == &block.back() && op.hasTrait<mlir::OpTrait::IsTerminator>())
      break;
    current = &op;
    if (failed(emitOp(op)))
      return failure();
  }
  flush();
  // What is read behind the block is in the tiles themselves.
  while (madeViews.size() > outer)
    tileViews.erase(madeViews.pop_back_val());
  return success();
}

static const StringMap<Handler> &handlers() {
  static const StringMap<Handler> table = [] {
    constexpr std::pair<Handler, const char *> lines[] = {
#define PTO_NATIVE(HANDLER, OPS) {Handler::HANDLER, OPS},
#include "NativeOps.def"
    };
    StringMap<Handler> made;
    for (auto [handler, ops] : lines)
      for (StringRef op : split(ops, ' '))
        made[op] = handler;
    return made;
  }();
  return table;
}

std::vector<std::string> nativeOps() {
  std::vector<std::string> names;
  for (StringRef name : handlers().keys())
    names.push_back(name.str());
  llvm::sort(names);
  return names;
}

LogicalResult FunctionEmitter::emitOp(mlir::Operation &op) {
  if (auto loop = dyn_cast<mlir::scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = dyn_cast<mlir::scf::IfOp>(op))
    return emitIf(branch);
  if (auto loop = dyn_cast<mlir::scf::WhileOp>(op))
    return emitWhile(loop);
  if (auto call = dyn_cast<mlir::func::CallOp>(op))
    return emitCall(call);
  if (auto ret = dyn_cast<mlir::func::ReturnOp>(op))
    return emitReturn(ret);
  auto noCode = [&] {
    return op.emitError("native target: no code for '") << op.getName() << "' yet";
  };
  if (!isa<pto::PTODialect>(op.getDialect())) {
    for (auto emit :
         {&FunctionEmitter::emitArith, &FunctionEmitter::emitScalarPto, &FunctionEmitter::emitLlvm})
      if (mlir::FailureOr<bool> done = (this->*emit)(op); failed(done) || *done)
        return success(succeeded(done));
    return noCode();
  }
  auto handler = handlers().find(op.getName().stripDialect());
  if (handler == handlers().end())
    return noCode();
  if (handler->second != Handler::Views) { // handles and views touch nothing by themselves
    if (failed(checkRanges(op)))
      return failure();
    checkWindows(op);
    tellOf(op);
  }
  if (handler->second == Handler::Views) {
    checkAddress(op);
    return emitByHandler(op, handler->second);
  }
  return emitInBoxes(op, [&] { return emitByHandler(op, handler->second); });
}

LogicalResult FunctionEmitter::emitByHandler(mlir::Operation &op, Handler handler) {
  mlir::FailureOr<bool> done = false;
  switch (handler) {
  case Handler::Regular:
    done = emitRegular(cast<pto::TileOpInterface>(op));
    break;
  case Handler::Matrix:
    done = emitMatrix(cast<pto::TileOpInterface>(op));
    break;
  case Handler::Irregular:
    done = emitIrregular(cast<pto::TileOpInterface>(op));
    break;
  case Handler::Views:
    done = emitViews(op);
    break;
  case Handler::Scalar:
    done = emitScalarPto(op);
    break;
  case Handler::Comm:
    done = emitComm(op);
    break;
  case Handler::Lowered:
    return op.emitError("native target: '")
           << op.getName() << "' is replaced by the pass pto-lower-fifos, which has not run";
  }
  if (failed(done) || isRefused)
    return failure();
  if (*done)
    return success();
  return op.emitError("native target: no code for this form of '") << op.getName() << "'";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value *FunctionEmitter::asIndex(mlir::Value v) {
  Value *x = value(v);
  auto type = dyn_cast<mlir::IntegerType>(v.getType());
  if (type && type.isUnsigned())
    return b.CreateZExtOrTrunc(x, b.getInt64Ty());
  return b.CreateSExtOrTrunc(x, b.getInt64Ty());
}

CallInst *FunctionEmitter::callRuntime(StringRef name, ArrayRef<Value *> args, Type *result) {
  SmallVector<Type *, 16> types;
  for (Value *arg : args)
    types.push_back(arg->getType());
  return b.CreateCall(owner.runtime(name, result ? result : b.getVoidTy(), types), args);
}

AllocaInst *FunctionEmitter::stackSlot(Type *type, const Twine &name) {
  IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(entry, entry->begin());
  return b.CreateAlloca(type, nullptr, name);
}

Value *FunctionEmitter::elementPointer(Value *base, Value *elements, unsigned bytes) {
  if (auto *c = dyn_cast<ConstantInt>(elements))
    return c->isZero() ? base : b.CreatePtrAdd(base, index(c->getSExtValue() * bytes));
  return b.CreateGEP(b.getIntNTy(bytes * 8), base, elements);
}

Value *FunctionEmitter::smaller(Value *x, Value *y) {
  if (x == y)
    return x;
  auto *cx = dyn_cast<ConstantInt>(x), *cy = dyn_cast<ConstantInt>(y);
  if (cx && cy)
    return cx->getSExtValue() < cy->getSExtValue() ? x : y;
  return b.CreateBinaryIntrinsic(Intrinsic::smin, x, y);
}

Value *FunctionEmitter::larger(Value *x, Value *y) {
  if (x == y)
    return x;
  auto *cx = dyn_cast<ConstantInt>(x), *cy = dyn_cast<ConstantInt>(y);
  if (cx && cy)
    return cx->getSExtValue() > cy->getSExtValue() ? x : y;
  return b.CreateBinaryIntrinsic(Intrinsic::smax, x, y);
}

mlir::Value FunctionEmitter::pointerRoot(mlir::Value pointer) {
  while (mlir::Operation *def = pointer.getDefiningOp()) {
    if (!isa<pto::AddPtrOp, pto::CastPtrOp, mlir::UnrealizedConversionCastOp>(def))
      break;
    pointer = def->getOperand(0);
  }
  return pointer;
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

Value *FunctionEmitter::rootPointer(unsigned root) {
  RootStorage &storage = rootStorage[root];
  if (!storage.pointer) {
    IRBuilder<>::InsertPointGuard guard(b);
    b.SetInsertPoint(entry->getTerminator());
    storage.pointer = GetElementPtrInst::Create(b.getInt8Ty(), frame, index(0), "tile",
                                                entry->getTerminator()->getIterator());
  }
  return storage.pointer;
}

Value *FunctionEmitter::privateStorage(int64_t bytes) {
  RootStorage storage;
  storage.bytes = bytes;
  storage.home = current->getBlock();
  rootStorage.push_back(storage);
  RootStorage &made = rootStorage.back();
  extendLife(made, current);
  for (GroupNode &node : group.nodes)
    extendLife(made, node.op->source);
  return rootPointer(rootStorage.size() - 1);
}

Value *FunctionEmitter::tilePointer(const TileInfo &tile) {
  if (!tile.inBoxes)
    return addressOf(tile);
  Value *copy = boxCopies.lookup(tile.home), *at = boxOffsets.lookup(tile.handle);
  return at ? b.CreatePtrAdd(copy, at) : copy;
}

Value *FunctionEmitter::addressOf(const TileInfo &tile) {
  if (tile.exact) {
    Value *&pointer = pointers[{tile.root, tile.low}];
    if (!pointer) {
      Value *root = rootPointer(tile.root);
      IRBuilder<>::InsertPointGuard guard(b);
      b.SetInsertPoint(entry->getTerminator());
      pointer = tile.low ? b.CreatePtrAdd(root, index(tile.low)) : root;
    }
    return pointer;
  }
  Value *start = dynamicStarts.lookup(tile.dynamicStart);
  return tile.dynamicDelta ? b.CreatePtrAdd(start, index(tile.dynamicDelta)) : start;
}

Value *FunctionEmitter::validExtent(const TileInfo &tile, unsigned axis) {
  auto resolve = [&](const ValidSign &sign, int64_t capacity) -> Value * {
    if (sign.constant >= 0)
      return index(std::min(sign.constant, capacity));
    if (!sign.value)
      return index(capacity);
    return asIndex(sign.value); // found to be within the tile before the first use (Checks.cpp)
  };
  if (!model.isResized(tile.validOwner))
    return axis == 0 ? resolve(tile.validRows, tile.rows) : resolve(tile.validCols, tile.cols);
  Extents &e = extents[tile.validOwner];
  if (!e.slot[0]) {
    // emitViews asks at the handle's definition, so the slots are set up before any use.
    const TileInfo &owner = model.info(tile.validOwner);
    for (unsigned a : {0u, 1u}) {
      e.slot[a] = stackSlot(b.getInt64Ty(), a ? "valid.cols" : "valid.rows");
      e.known[a] =
          a == 0 ? resolve(owner.initialRows, owner.rows) : resolve(owner.initialCols, owner.cols);
      b.CreateStore(e.known[a], e.slot[a]);
    }
  }
  if (!e.known[axis]) {
    e.known[axis] = b.CreateLoad(b.getInt64Ty(), e.slot[axis]);
    limits[{e.known[axis], current->getBlock()}] = axis ? tile.cols : tile.rows;
  }
  return e.known[axis];
}

/// Control flow enters or leaves `region`: extents that it changes are known only at run time.
void FunctionEmitter::resetKnownExtents(mlir::Region &region) {
  region.walk([&](pto::SetValidShapeOp op) {
    if (auto it = extents.find(op.getTile()); it != extents.end())
      it->second.known[0] = it->second.known[1] = nullptr;
  });
}

void FunctionEmitter::layOutFrame() {
  constexpr int64_t alignment = 64, slack = 512, onStack = 8192;
  SmallVector<unsigned, 32> used;
  for (unsigned i = 0; i < rootStorage.size(); ++i) {
    RootStorage &root = rootStorage[i];
    if (root.pointer && root.pointer->use_empty()) {
      root.pointer->eraseFromParent();
      root.pointer = nullptr;
    }
    if (root.pointer)
      used.push_back(i);
  }
  struct Placed {
    int64_t offset, bytes;
    unsigned first, last;
  };
  SmallVector<Placed, 32> placed;
  int64_t total = 0;
  llvm::sort(used, [&](unsigned x, unsigned y) {
    return std::pair(-rootStorage[x].bytes, x) < std::pair(-rootStorage[y].bytes, y);
  });
  for (unsigned i : used) {
    RootStorage &root = rootStorage[i];
    // The lanes of a last vector may lie behind the tile.
    int64_t bytes = alignTo(root.bytes, alignment), offset = 0;
    bool moved = true;
    while (moved) {
      moved = false;
      for (const Placed &p : placed) {
        bool together = !owner.options.reuse || !(p.last <= root.first || root.last <= p.first);
        if (together && offset < p.offset + p.bytes && p.offset < offset + bytes) {
          offset = p.offset + p.bytes;
          moved = true;
        }
      }
    }
    placed.push_back({offset, bytes, root.first, root.last});
    total = std::max(total, offset + bytes);
    root.pointer->setOperand(1, index(offset));
  }
  if (used.empty()) {
    frame->eraseFromParent();
    return;
  }
  total += slack;
  IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(frame);
  Value *memory;
  if (total <= onStack) {
    AllocaInst *bytes = b.CreateAlloca(ArrayType::get(b.getInt8Ty(), total), nullptr, "tiles");
    bytes->setAlignment(Align(alignment));
    memory = bytes;
  } else {
    memory = callRuntime("pto_frame_enter", {index(total)}, b.getPtrTy());
    for (ReturnInst *ret : returns) {
      b.SetInsertPoint(ret);
      callRuntime("pto_frame_leave", {memory});
    }
  }
  frame->replaceAllUsesWith(memory);
  frame->eraseFromParent();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// An op whose output lies over an input in another arrangement would read what it has written:
/// such inputs are copied first. Element by element in place is fine, and so is narrowing in place,
/// where what is written stays behind what is still to be read.
void FunctionEmitter::keepInputs(NestOp &op) {
  const TileInfo *out = op.out.tile;
  for (Access &in : op.in) {
    if (!in.tile || !out)
      continue;
    if ((in.tile->inBoxes || out->inBoxes) && in.tile->home != out->home)
      continue; // copies that nobody shares
    Overlap rel = TileModel::overlap(*in.tile, *out);
    bool crosses =
        in.spread == Spread::PerCol || in.spread == Spread::One || in.mask != op.out.mask;
    if (rel == Overlap::None || (rel == Overlap::Same && !crosses))
      continue;
    bool narrows = rel == Overlap::Unknown && in.tile->exact && out->exact && !crosses &&
                   in.spread == Spread::Full && in.tile->start() == out->start() &&
                   in.tile->colStride == 1 && out->colStride == 1 &&
                   in.tile->rowStride == out->rowStride && !in.rowLimit &&
                   bytesOf(in.elem) > bytesOf(op.out.elem);
    if (narrows)
      continue;
    flush();
    const TileInfo &tile = *in.tile;
    unsigned bytes = in.mask ? 1 : bytesOf(in.elem);
    int64_t cols = in.mask ? tile.rowBytes() : tile.cols;
    Value *copy = privateStorage(tile.rows * cols * bytes);
    callRuntime("pto_copy_2d", {copy, index(cols), index(1), in.base, in.rowStride, in.colStride,
                                index(tile.rows), index(cols), b.getInt32(bytes)});
    in.base = copy;
    in.rowStride = index(cols);
    in.colStride = index(1);
    in.tile = nullptr;
  }
}

void FunctionEmitter::addNest(std::unique_ptr<NestOp> op) {
  checkExtents(*op);
  keepInputs(*op);
  if (group.tryAdd(op)) {
    if (!owner.options.fuse)
      flush();
    return;
  }
  flush();
  group.tryAdd(op);
  if (!owner.options.fuse)
    flush();
}

void FunctionEmitter::flush() {
  if (group.empty())
    return;
  for (GroupNode &node : group.nodes) {
    auto extend = [&](const Access &access) {
      if (access.tile)
        for (GroupNode &other : group.nodes)
          extendLife(rootStorage[access.tile->root], other.op->source);
    };
    for (const Access &in : node.op->in)
      extend(in);
    extend(node.op->out);
  }
  group.place();
  emitGroup(*this, group);
  group.clear();
}

} // namespace ptoas::native
