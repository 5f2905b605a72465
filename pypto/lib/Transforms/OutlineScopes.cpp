//===- OutlineScopes.cpp - scope bodies become kernels --------------------===//
//
// pl.at(CORE_GROUP), pl.spmd and pl.cluster bodies move to functions of their own.
// Captured tensors come first among the parameters, then captured scalars;
// constants are copied in. Tensors that are computed inside and used after become Out
// parameters on memory that the caller creates; the same is done for kernels that return
// tensors. After this pass only pypto.call launches kernels, and kernels return nothing.
//
//===----------------------------------------------------------------------===//
#include "TensorRoots.h"
#include "pypto/Transforms/Passes.h"

using namespace mlir;

namespace pypto {
namespace {

class Outliner {
public:
  explicit Outliner(ModuleOp module) : module(module), symbols(module) {}

  LogicalResult run() {
    SmallVector<func::FuncOp> kernels, callers;
    for (auto func : module.getOps<func::FuncOp>())
      if (!func.isExternal())
        (isKernel(func) ? kernels : callers).push_back(func);
    for (func::FuncOp kernel : kernels) {
      inlineScopes(kernel.getBody());
      if (failed(returnThroughParameters(kernel)))
        return failure();
    }
    for (func::FuncOp caller : callers)
      if (failed(outlineIn(caller)))
        return failure();
    return specialiseStrides();
  }

private:
  LogicalResult outlineIn(func::FuncOp caller) {
    SmallVector<Operation *> scopes;
    caller.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa<InCoreOp, SpmdOp, ClusterOp>(op))
        return WalkResult::advance();
      scopes.push_back(op);
      return WalkResult::skip();
    });
    for (Operation *scope : scopes) {
      for (Region &region : scope->getRegions()) {
        if (auto call = dispatchedCall(scope)) {
          if (failed(dispatch(cast<SpmdOp>(scope), call)))
            return failure();
          scope = nullptr;
          break;
        }
        inlineScopes(region);
      }
      if (scope && failed(outline(caller, scope)))
        return failure();
    }
    return success();
  }

  /// The kernel call that is the whole of an spmd body, or null.
  static CallOp dispatchedCall(Operation *scope) {
    if (!isa<SpmdOp>(scope))
      return {};
    auto calls = scope->getRegion(0).front().getOps<CallOp>();
    return calls.empty() ? CallOp() : *calls.begin();
  }

  /// Scopes inside a kernel have no meaning of their own.
  static void inlineScopes(Region &region) {
    SmallVector<Operation *> inner;
    region.walk([&](Operation *op) {
      if (isa<InCoreOp, SpmdOp, ClusterOp, RuntimeScopeOp, HierarchyOp>(op))
        inner.push_back(op);
    });
    for (Operation *scope : inner) {
      Block &body = scope->getRegion(0).front();
      OpBuilder b(scope);
      for (BlockArgument arg : body.getArguments())
        arg.replaceAllUsesWith(
            GetBlockIdxOp::create(b, scope->getLoc(), b.getIndexType(), ValueRange()).getResult());
      Operation *yield = body.getTerminator();
      for (auto [index, value] : llvm::enumerate(yield->getOperands()))
        scope->getResult(index).replaceAllUsesWith(value);
      if (!isa<RuntimeScopeOp>(scope) && !scope->use_empty())
        scope->getResults().back().replaceAllUsesWith(
            TaskInvalidOp::create(b, scope->getLoc(), TaskIdType::get(b.getContext()), ValueRange())
                .getTask());
      yield->erase();
      scope->getBlock()->getOperations().splice(scope->getIterator(), body.getOperations());
      scope->erase();
    }
  }

  LogicalResult dispatch(SpmdOp scope, CallOp call) {
    OpBuilder b(scope);
    IRMapping map;
    Operation *yield = scope.getRegion().front().getTerminator();
    CallOp moved;
    for (Operation &op : scope.getRegion().front().without_terminator()) {
      if (&op == call.getOperation()) {
        SmallVector<Value> args;
        for (Value arg : call.getArgs())
          args.push_back(map.lookupOrDefault(arg));
        moved = launch(b, scope, call.getCallee(), args, call.getNoDep(), call->getResultTypes());
        map.map(call->getResults(), moved->getResults());
        continue;
      }
      b.clone(op, map);
    }
    for (BlockArgument arg : scope.getRegion().front().getArguments())
      if (!arg.use_empty())
        return (*arg.user_begin())
            ->emitError("the block index is read inside the kernel (pl.tile.get_block_idx), not "
                        "passed to it");
    for (auto [result, value] : llvm::zip(scope.getOutputs(), yield->getOperands()))
      result.replaceAllUsesWith(map.lookupOrDefault(value));
    scope.getTask().replaceAllUsesWith(moved.getTask());
    scope->erase();
    return success();
  }

  /// A pypto.call with the launch options of a scope.
  CallOp launch(OpBuilder &b, Operation *scope, StringRef callee, ArrayRef<Value> args,
                ArrayRef<int64_t> noDep, TypeRange resultTypes) {
    OperationState state(scope->getLoc(), CallOp::getOperationName());
    SmallVector<int32_t> segments;
    auto group = [&](ValueRange values) {
      state.addOperands(values);
      segments.push_back(values.size());
    };
    group(args);
    auto spmd = dyn_cast<SpmdOp>(scope);
    auto incore = dyn_cast<InCoreOp>(scope);
    group(spmd ? ValueRange(spmd.getCoreNum()) : ValueRange());
    group(spmd ? ValueRange(spmd.getDeps()) : incore ? ValueRange(incore.getDeps()) : ValueRange());
    group(spmd && spmd.getPredicateTensor() ? ValueRange(spmd.getPredicateTensor()) : ValueRange());
    group(spmd ? ValueRange(spmd.getPredicateIndices()) : ValueRange());
    state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr(segments));
    state.addAttribute("callee", FlatSymbolRefAttr::get(b.getContext(), callee));
    state.addAttribute("no_dep", b.getDenseI64ArrayAttr(noDep));
    for (StringRef name : {"sync_start", "allow_early_resolve", "predicate_op", "predicate_target"})
      if (Attribute attr = scope->getAttr(name))
        state.addAttribute(name, attr);
    state.addTypes(resultTypes);
    return cast<CallOp>(b.create(state));
  }

  LogicalResult outline(func::FuncOp caller, Operation *scope) {
    Region &region = scope->getRegion(0);
    // What the body uses from outside; constants travel with it.
    llvm::SetVector<Value> captured;
    SmallVector<Operation *> constants;
    llvm::SmallPtrSet<Operation *, 8> seen;
    region.walk([&](Operation *op) {
      for (Value operand : op->getOperands()) {
        if (region.isAncestor(operand.getParentRegion()))
          continue;
        Operation *def = operand.getDefiningOp();
        if (def && def->hasTrait<OpTrait::ConstantLike>()) {
          if (seen.insert(def).second)
            constants.push_back(def);
        } else {
          captured.insert(isa<TensorType>(operand.getType()) ? sameTensor(operand) : operand);
        }
      }
    });
    SmallVector<Value> args;
    for (Value value : captured)
      if (isa<TensorType>(value.getType()))
        args.push_back(value);
    for (Value value : captured)
      if (!isa<TensorType>(value.getType())) {
        if (!value.getType().isIntOrIndexOrFloat())
          return scope->emitError(
              "a scope cannot use an array or task id of its orchestration; pass elements");
        args.push_back(value);
      }

    OpBuilder b(scope);
    // Tensors computed inside and used after.
    Operation *yield = region.front().getTerminator();
    SmallVector<std::pair<Value, unsigned>> computed; // inner value, parameter
    for (auto [index, value] : llvm::enumerate(yield->getOperands())) {
      Value result = scope->getResult(index);
      if (!isa<TensorType>(value.getType())) {
        if (result.use_empty())
          continue;
        return scope->emitError(
            "a scalar or tile computed in a kernel cannot leave it; write it to a tensor");
      }
      Value same = sameTensor(value);
      if (!region.isAncestor(same.getParentRegion())) {
        result.replaceAllUsesWith(same);
        continue;
      }
      if (result.use_empty())
        continue;
      Value memory = createTensor(b, scope->getLoc(), cast<TensorType>(value.getType()));
      if (!memory)
        return scope->emitError("a tensor that leaves a scope needs constant extents");
      result.replaceAllUsesWith(memory);
      unsigned position =
          llvm::count_if(args, [](Value v) { return isa<TensorType>(v.getType()); });
      args.insert(args.begin() + position, memory);
      computed.push_back({value, position});
    }

    std::string name = uniqueName(caller, scope);
    func::FuncOp kernel = makeKernel(caller, scope, name, args);
    Block &entry = kernel.getBody().front();
    // Captured names change to parameters.
    IRMapping map;
    OpBuilder inner = OpBuilder::atBlockBegin(&entry);
    for (Operation *constant : constants)
      map.map(constant->getResults(), inner.clone(*constant)->getResults());
    for (auto [value, arg] : llvm::zip(args, entry.getArguments()))
      map.map(value, arg);
    if (isa<SpmdOp>(scope))
      region.front().getArgument(0).replaceAllUsesWith(
          GetBlockIdxOp::create(inner, scope->getLoc(), inner.getIndexType(), ValueRange())
              .getResult());
    entry.getOperations().splice(entry.end(), region.front().getOperations());
    kernel.walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands()) {
        Value value = operand.get();
        if (isa<TensorType>(value.getType()) && !map.contains(value))
          value = kernel.getBody().isAncestor(value.getParentRegion()) ? value : sameTensor(value);
        operand.set(map.lookupOrDefault(value));
      }
    });
    OpBuilder end(yield);
    for (auto [value, position] : computed)
      writeWhole(end, scope->getLoc(), entry.getArgument(position), value);
    func::ReturnOp::create(end, scope->getLoc());
    yield->erase();

    SmallVector<int64_t> noDep;
    ValueRange exempt;
    if (auto incore = dyn_cast<InCoreOp>(scope))
      exempt = incore.getNoDepArgs();
    else if (auto spmd = dyn_cast<SpmdOp>(scope))
      exempt = spmd.getNoDepArgs();
    for (Value value : exempt)
      for (auto [index, arg] : llvm::enumerate(args))
        if (sameTensor(value) == sameTensor(arg))
          noDep.push_back(index);
    CallOp call = launch(b, scope, name, args, noDep, TaskIdType::get(b.getContext()));
    scope->getResults().back().replaceAllUsesWith(call.getTask());
    scope->erase();
    return success();
  }

  std::string uniqueName(func::FuncOp caller, Operation *scope) {
    StringRef hint = scope->getAttrOfType<StringAttr>("name_hint").getValue();
    std::string base = hint.empty() ? (caller.getName() + "_incore").str() : hint.str();
    std::string name = base;
    for (int i = 0; symbols.lookup(name) || name == "main"; ++i)
      name = base + "_" + std::to_string(i);
    return name;
  }

  func::FuncOp makeKernel(func::FuncOp caller, Operation *scope, StringRef name,
                          ArrayRef<Value> args) {
    OpBuilder b(module.getContext());
    SmallVector<Type> types;
    for (Value arg : args)
      types.push_back(parameterType(arg));
    auto kernel = func::FuncOp::create(scope->getLoc(), name, b.getFunctionType(types, {}));
    symbols.insert(kernel, Block::iterator(caller));
    kernel.setPrivate();
    kernel->setAttr("pypto.func_type", b.getStringAttr("InCore"));
    if (auto split = scope->getAttrOfType<StringAttr>("split"))
      kernel->setAttr("pypto.split", split);
    kernel.addEntryBlock();
    for (auto [index, arg] : llvm::enumerate(args)) {
      Value source = isa<TensorType>(arg.getType()) ? sameTensor(arg) : arg;
      if (auto outer = dyn_cast<BlockArgument>(source))
        if (auto func = dyn_cast<func::FuncOp>(outer.getOwner()->getParentOp()))
          for (StringRef key : {"pypto.name", "pypto.dyn", "pypto.scalar"})
            if (Attribute attr = func.getArgAttr(outer.getArgNumber(), key))
              kernel.setArgAttr(index, key, attr);
    }
    return kernel;
  }

  /// Type of a parameter that receives `value`: its type, with strides unless they are packed.
  static Type parameterType(Value value) {
    auto type = dyn_cast<TensorType>(value.getType());
    if (!type)
      return value.getType();
    SmallVector<int64_t> strides = stridesOf(value);
    if (strides == packedStrides(type.getShape()) && !isStridedWindow(value))
      strides.clear();
    return TensorType::get(type.getShape(), type.getElementType(), strides, type.getLayout(),
                           type.getValid());
  }

  /// Equal strides mean nothing where they are run-time values of another shape.
  static bool isStridedWindow(Value value) {
    return llvm::is_contained(stridesOf(value), ShapedType::kDynamic) &&
           sameTensor(value).getDefiningOp<SliceOp>();
  }

  static Value createTensor(OpBuilder &b, Location loc, TensorType type) {
    if (!type.hasStaticShape())
      return {};
    SmallVector<Value> shape;
    for (int64_t extent : type.getShape())
      shape.push_back(arith::ConstantIndexOp::create(b, loc, extent));
    auto full = TensorType::get(type.getShape(), type.getElementType());
    return CreateTensorOp::create(b, loc, full, shape,
                                  b.getNamedAttr("dtype", TypeAttr::get(type.getElementType())))
        .getResult();
  }

  static void writeWhole(OpBuilder &b, Location loc, Value target, Value source) {
    SmallVector<Value> operands{target, source};
    for (size_t i = 0; i < shapeOf(target.getType()).size(); ++i)
      operands.push_back(arith::ConstantIndexOp::create(b, loc, 0));
    AssembleOp::create(b, loc, target.getType(), operands);
  }

  /// Results of a kernel become Out parameters behind its tensors' and scalars' parameters.
  LogicalResult returnThroughParameters(func::FuncOp kernel) {
    if (kernel.getNumResults() == 0)
      return success();
    auto results = llvm::to_vector(kernel.getResultTypes());
    auto ret = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
    SmallVector<unsigned> position;
    for (auto [index, type] : llvm::enumerate(results)) {
      auto tensor = dyn_cast<TensorType>(type);
      if (!tensor || !tensor.hasStaticShape())
        return ret.emitError("a kernel returns tensors with constant extents only");
      unsigned at = 0;
      while (at < kernel.getNumArguments() && isa<TensorType>(kernel.getArgument(at).getType()))
        ++at;
      auto memory = TensorType::get(tensor.getShape(), tensor.getElementType());
      if (failed(kernel.insertArgument(at, memory, {}, kernel.getLoc())))
        return failure();
      OpBuilder b(ret);
      writeWhole(b, ret.getLoc(), kernel.getArgument(at), ret.getOperand(index));
      position.push_back(at);
    }
    ret->eraseOperands(0, ret.getNumOperands());
    for (int i = results.size(); i-- > 0;)
      if (failed(kernel.eraseResult(i)))
        return failure();
    auto uses = SymbolTable::getSymbolUses(kernel, module);
    for (SymbolTable::SymbolUse use : *uses) {
      auto call = dyn_cast<CallOp>(use.getUser());
      if (!call)
        continue;
      OpBuilder b(call);
      SmallVector<Value> args(call.getArgs());
      for (auto [index, at] : llvm::enumerate(position)) {
        Value memory = createTensor(b, call.getLoc(), cast<TensorType>(results[index]));
        args.insert(args.begin() + at, memory);
        call.getOutputs()[index].replaceAllUsesWith(memory);
      }
      call.getArgsMutable().assign(args);
      CallOp bare = dropOutputs(call);
      call.getTask().replaceAllUsesWith(bare.getTask());
      call->erase();
    }
    return success();
  }

  static CallOp dropOutputs(CallOp call) {
    OpBuilder b(call);
    OperationState state(call.getLoc(), CallOp::getOperationName(), call->getOperands(),
                         {TaskIdType::get(b.getContext())}, call->getAttrs());
    return cast<CallOp>(b.create(state));
  }

  /// A kernel that is called with a window of other strides than its parameter says gets a copy for
  /// them.
  LogicalResult specialiseStrides() {
    SmallVector<CallOp> calls;
    module.walk([&](CallOp call) { calls.push_back(call); });
    for (CallOp call : calls) {
      auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!kernel)
        return call.emitError("no function named ") << call.getCallee();
      if (!isKernel(kernel))
        continue;
      SmallVector<Type> types(kernel.getArgumentTypes());
      bool differs = false;
      for (auto [index, arg] : llvm::enumerate(call.getArgs())) {
        auto have = dyn_cast<TensorType>(arg.getType());
        auto want = dyn_cast<TensorType>(types[index]);
        if (!have || !want || have.getShape().size() != want.getShape().size())
          continue;
        SmallVector<int64_t> given = stridesOf(arg);
        SmallVector<int64_t> taken = want.getStrides().empty()
                                         ? packedStrides(want.getShape())
                                         : SmallVector<int64_t>(want.getStrides());
        bool window = isStridedWindow(arg) && want.getStrides().empty();
        if (!window && (given == taken || want.getLayout() != TensorLayout::ND))
          continue;
        // Packed at run time either way: extents of the parameter say the same.
        if (!window && llvm::is_contained(taken, ShapedType::kDynamic) &&
            !sameTensor(arg).getDefiningOp<SliceOp>())
          continue;
        types[index] = TensorType::get(want.getShape(), want.getElementType(), given,
                                       want.getLayout(), want.getValid());
        differs = true;
      }
      if (!differs)
        continue;
      auto copy = kernel.clone();
      std::string name = (kernel.getName() + "_strided").str();
      for (int i = 0; symbols.lookup(name); ++i)
        name = (kernel.getName() + "_strided_" + Twine(i)).str();
      copy.setName(name);
      copy.setType(FunctionType::get(module.getContext(), types, {}));
      for (auto [arg, type] : llvm::zip(copy.getArguments(), types))
        arg.setType(type);
      symbols.insert(copy, Block::iterator(kernel));
      call.setCallee(name);
    }
    return success();
  }

  ModuleOp module;
  SymbolTable symbols;
};

} // namespace

LogicalResult outlineScopes(ModuleOp module) { return Outliner(module).run(); }

} // namespace pypto
