//===- LowerOrchestration.cpp - orchestrations as native code -------------===//
//
// An orchestration becomes a SimplerOrchFn: tensors are pointers to descriptors on its
// stack, task ids 64-bit words, arrays stack memory, kernel calls simpler_submit (spec simpler 3,
// compiler 14). The stack is taken once at the entry; descriptors that a loop carries are copied.
//
//===----------------------------------------------------------------------===//
#include "ChipTensorLayout.h"
#include "DataTypeCode.h"
#include "PtoEmitter.h"
#include "TensorRoots.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "pypto/Transforms/EntryContract.h"

using namespace mlir;

namespace pypto {
namespace {

class OrchestrationEmitter {
public:
  OrchestrationEmitter(func::FuncOp old, SymbolTable &symbols)
      : old(old), module(old->getParentOfType<ModuleOp>()), symbols(symbols), b(old.getContext()),
        loc(old.getLoc()), pointer(LLVM::LLVMPointerType::get(old.getContext())) {}

  LogicalResult run() {
    b.setInsertionPoint(old);
    made = func::FuncOp::create(b, loc, old.getName(),
                                b.getFunctionType({pointer, pointer, pointer}, {}));
    for (NamedAttribute attribute : old->getDiscardableAttrs())
      made->setAttr(attribute.getName(), attribute.getValue());
    entry = made.addEntryBlock();
    b.setInsertionPointToStart(entry);
    run_ = entry->getArgument(0);
    unsigned tensors = 0, words = 0;
    for (BlockArgument arg : old.getArguments()) {
      if (isa<TensorType>(arg.getType())) {
        map.map(arg, at(entry->getArgument(1), ChipTensorLayout::bytes * tensors++));
        continue;
      }
      Value word =
          LLVM::LoadOp::create(b, loc, b.getI64Type(), at(entry->getArgument(2), 8 * words++));
      map.map(arg, scalarFromWord(b, loc, word, signless(arg.getType())));
    }
    if (failed(emitBlock(old.getBody().front())))
      return failure();
    return success();
  }

private:
  //===--- memory ---------------------------------------------------------===//
  Value i64(int64_t value) { return arith::ConstantIntOp::create(b, loc, b.getI64Type(), value); }
  Value i32(int64_t value) { return arith::ConstantIntOp::create(b, loc, b.getI32Type(), value); }
  Value i8(int64_t value) { return arith::ConstantIntOp::create(b, loc, b.getI8Type(), value); }
  Value at(Value base, int64_t bytes) {
    if (bytes == 0)
      return base;
    return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
  }
  void put(Value value, Value base, int64_t bytes) {
    LLVM::StoreOp::create(b, loc, value, at(base, bytes));
  }
  /// `bytes` of stack, taken at the entry.
  Value stack(int64_t bytes) {
    OpBuilder head = OpBuilder::atBlockBegin(entry);
    Value count = arith::ConstantIntOp::create(head, loc, head.getI64Type(), bytes);
    return LLVM::AllocaOp::create(head, loc, pointer, head.getI8Type(), count, 64);
  }
  Value scratch(Value &slot, int64_t bytes) {
    if (!slot)
      slot = stack(bytes);
    return slot;
  }
  Value toWord(Value v) {
    return v.getType().isInteger(64) ? v
                                     : Value(arith::IndexCastOp::create(b, loc, b.getI64Type(), v));
  }
  Value call(StringRef name, ArrayRef<Value> args, TypeRange results = {}) {
    auto function = symbols.lookup<func::FuncOp>(name);
    if (!function) {
      SmallVector<Type> types;
      for (Value v : args)
        types.push_back(v.getType());
      function = func::FuncOp::create(loc, name, FunctionType::get(b.getContext(), types, results));
      function.setPrivate();
      symbols.insert(function);
    }
    auto made = func::CallOp::create(b, loc, function, args);
    return made.getNumResults() ? made.getResult(0) : Value();
  }
  /// `value` in 32 bits. One that 32 bits do not hold (`isSize`: also a negative one) ends the run
  /// with an error.
  Value narrowed(Value value, bool isSize, StringRef what) {
    APInt known;
    if (matchPattern(value, m_ConstantInt(&known)) && known.isSignedIntN(32) &&
        !(isSize && known.isNegative()))
      return i32(known.getSExtValue());
    Value word = toWord(value), cut = arith::TruncIOp::create(b, loc, b.getI32Type(), word);
    Value wrong =
        isSize ? arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, word, i64(INT32_MAX))
               : arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, word,
                                       arith::ExtSIOp::create(b, loc, b.getI64Type(), cut));
    std::string message =
        (what + (isSize ? " is outside 0..2^31-1" : " does not fit into 32 bits")).str();
    if (auto at = loc->findInstanceOf<FileLineColLoc>())
      message = (at.getFilename().getValue() + ":" + Twine(at.getLine()) + ": " + message).str();
    auto test = scf::IfOp::create(b, loc, wrong, false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(test.thenBlock());
      call("simpler_fail", {run_, i32(invalidArguments), string(message)});
    }
    return arith::SelectOp::create(b, loc, wrong, i32(0), cut);
  }
  static constexpr int32_t invalidArguments = 5; // SIMPLER_INVALID_ARGS
  /// An array of 64-bit words from index values.
  Value words(Value &slot, ValueRange values) {
    Value memory = scratch(slot, 8 * 8);
    for (auto [i, v] : llvm::enumerate(values))
      put(toWord(map.lookup(v)), memory, 8 * i);
    return memory;
  }
  Value string(StringRef text) {
    std::string name = "str_" + std::to_string(llvm::hash_value(text) & 0xffffffff);
    if (!symbols.lookup(name)) {
      OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
      std::string terminated = text.str() + '\0';
      auto type = LLVM::LLVMArrayType::get(b.getI8Type(), terminated.size());
      symbols.insert(LLVM::GlobalOp::create(top, module.getLoc(), type, true,
                                            LLVM::Linkage::Internal, name,
                                            b.getStringAttr(terminated)));
    }
    return LLVM::AddressOfOp::create(b, loc, pointer, name);
  }

  //===--- structure ------------------------------------------------------===//
  LogicalResult emitBlock(Block &block) {
    for (Operation &op : block) {
      if (isa<scf::YieldOp, scf::ConditionOp, YieldOp>(op))
        break;
      loc = op.getLoc();
      if (failed(emit(&op)))
        return failure();
    }
    return success();
  }

  LogicalResult emit(Operation *op) {
    if (isa<func::ReturnOp>(op)) {
      func::ReturnOp::create(b, loc);
      return success();
    }
    if (auto o = dyn_cast<CallOp>(op))
      return emitCall(o);
    if (auto o = dyn_cast<RuntimeScopeOp>(op)) {
      call("simpler_scope_begin", {run_, i32(o.getMode() == "manual" ? 1 : 0)});
      if (failed(inlineBody(op)))
        return failure();
      call("simpler_scope_end", {run_});
      return success();
    }
    if (isa<HierarchyOp>(op)) {
      if (failed(inlineBody(op)))
        return failure();
      map.map(op->getResults().back(), i64(-1));
      return success();
    }
    if (auto o = dyn_cast<scf::ForOp>(op))
      return emitFor(o);
    if (auto o = dyn_cast<scf::IfOp>(op))
      return emitIf(o);
    if (auto o = dyn_cast<scf::WhileOp>(op))
      return emitWhile(o);
    if (auto o = dyn_cast<CreateTensorOp>(op))
      return emitCreate(o);
    if (auto o = dyn_cast<SliceOp>(op))
      return emitSlice(o);
    if (auto o = dyn_cast<ReshapeOp>(op))
      return emitReshape(o.getX(), o.getShape(), o.getResult());
    if (auto o = dyn_cast<ViewOp>(op)) {
      if (o.getShape().empty() || (o.getLayout() && *o.getLayout() != "nd"))
        return o.emitError("view: only packed row-major shapes are supported in an orchestration");
      return emitReshape(o.getX(), o.getShape(), o.getResult());
    }
    if (auto o = dyn_cast<TransposeOp>(op)) {
      Value out = stack(ChipTensorLayout::bytes);
      int64_t rank = shapeOf(o.getX().getType()).size();
      auto axis = [&](int64_t a) { return i32(a < 0 ? a + rank : a); };
      call("simpler_transpose",
           {run_, out, map.lookup(o.getX()), axis(o.getAxis1()), axis(o.getAxis2())});
      map.map(o.getResult(), out);
      return success();
    }
    if (auto o = dyn_cast<SetValidShapeOp>(op)) {
      map.map(o.getResult(), map.lookup(o.getX()));
      return success();
    }
    if (auto o = dyn_cast<ReadOp>(op)) {
      Value indices = words(indexScratch, o.getIndices());
      Value bits =
          call("simpler_get", {run_, map.lookup(o.getSrc()), indices, i32(o.getIndices().size())},
               b.getI64Type());
      map.map(o.getResult(), fromBits(bits, signless(o.getType())));
      return success();
    }
    if (auto o = dyn_cast<WriteOp>(op)) {
      Value indices = words(indexScratch, o.getIndices());
      Type element = elementTypeOf(o.getDst().getType());
      Value value =
          convertScalar(b, loc, map.lookup(o.getValue()), o.getValue().getType(), element);
      call("simpler_set",
           {run_, map.lookup(o.getDst()), indices, i32(o.getIndices().size()), toBits(value)});
      map.map(o.getResult(), map.lookup(o.getDst()));
      return success();
    }
    if (auto o = dyn_cast<DimOp>(op)) {
      int64_t extent = shapeOf(o.getT().getType())[o.getAxis()];
      if (!ShapedType::isDynamic(extent)) {
        map.map(o.getResult(), arith::ConstantIndexOp::create(b, loc, extent).getResult());
        return success();
      }
      Value word = LLVM::LoadOp::create(
          b, loc, b.getI32Type(),
          at(map.lookup(o.getT()), ChipTensorLayout::shapes + 4 * o.getAxis()));
      Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), word);
      map.map(o.getResult(),
              arith::IndexCastOp::create(b, loc, b.getIndexType(), wide).getResult());
      return success();
    }
    if (auto o = dyn_cast<ArrayCreateOp>(op)) {
      auto type = cast<ArrayType>(o.getType());
      Value memory = stack(8 * type.getSize());
      if (isa<TaskIdType>(type.getElementType()))
        for (int64_t i = 0; i < type.getSize(); ++i)
          put(i64(-1), memory, 8 * i);
      map.map(o.getResult(), memory);
      return success();
    }
    if (auto o = dyn_cast<ArrayGetOp>(op)) {
      Value word = LLVM::LoadOp::create(b, loc, b.getI64Type(), element(o.getArr(), o.getIndex()));
      map.map(o.getResult(),
              isa<TaskIdType>(o.getType()) ? word : fromBits(word, signless(o.getType())));
      return success();
    }
    if (auto o = dyn_cast<ArrayUpdateOp>(op)) {
      Value value = map.lookup(o.getValue());
      LLVM::StoreOp::create(b, loc, isa<TaskIdType>(o.getValue().getType()) ? value : toBits(value),
                            element(o.getArr(), o.getIndex()));
      map.map(o.getResult(), map.lookup(o.getArr()));
      return success();
    }
    if (auto o = dyn_cast<TaskInvalidOp>(op)) {
      map.map(o.getTask(), i64(-1));
      return success();
    }
    if (auto o = dyn_cast<TaskDummyOp>(op)) {
      Value options = launchOptions(i32(1), o.getDeps(), op);
      Value null = LLVM::ZeroOp::create(b, loc, pointer);
      map.map(o.getTask(),
              call("simpler_submit", {run_, null, null, null, i32(0), null, i32(0), options},
                   b.getI64Type()));
      return success();
    }
    if (isa<AvailableClusterCountOp, AvailableAivCountOp>(op)) {
      Value count = call(isa<AvailableClusterCountOp>(op) ? "simpler_available_clusters"
                                                          : "simpler_available_aivs",
                         {run_}, b.getI32Type());
      map.map(op->getResult(0),
              arith::IndexCastOp::create(b, loc, b.getIndexType(), count).getResult());
      return success();
    }
    if (auto o = dyn_cast<UndefOp>(op)) {
      Type type = o.getType();
      Value value = isa<TensorType>(type)  ? stack(ChipTensorLayout::bytes)
                    : isa<ArrayType>(type) ? stack(8 * cast<ArrayType>(type).getSize())
                    : isa<TaskIdType>(type)
                        ? i64(-1)
                        : Value(arith::ConstantOp::create(b, loc, b.getZeroAttr(signless(type))));
      map.map(o.getResult(), value);
      return success();
    }
    if (auto o = dyn_cast<UnrealizedConversionCastOp>(op)) {
      map.map(o.getResult(0), map.lookup(o.getOperand(0)));
      return success();
    }
    if (auto o = dyn_cast<ScalarCastOp>(op)) {
      map.map(o.getResult(),
              convertScalar(b, loc, map.lookup(o.getX()), o.getX().getType(), o.getType()));
      return success();
    }
    if (isa<FloorModOp, arith::FloorDivSIOp>(op)) {
      map.map(op->getResult(0), floorDivide(b, loc, map.lookup(op->getOperand(0)),
                                            map.lookup(op->getOperand(1)), isa<FloorModOp>(op)));
      return success();
    }
    if (isa<arith::ArithDialect>(op->getDialect())) {
      b.clone(*op, map);
      return success();
    }
    StringRef name = op->getName().stripDialect();
    return op->emitError() << "pl." << name
                           << " computes, and an orchestration only launches kernels; put it into "
                              "`with pl.at(level=pl.Level.CORE_GROUP):`";
  }

  Value element(Value array, Value index) {
    return LLVM::GEPOp::create(b, loc, pointer, b.getI64Type(), map.lookup(array),
                               ArrayRef<LLVM::GEPArg>{toWord(map.lookup(index))});
  }
  Value fromBits(Value bits, Type type) {
    if (type.isIndex() || isa<IntegerType>(type))
      return scalarFromWord(b, loc, bits, type);
    if (type.isF64())
      return arith::BitcastOp::create(b, loc, type, bits);
    Type integer = b.getIntegerType(type.getIntOrFloatBitWidth());
    return arith::BitcastOp::create(b, loc, type, arith::TruncIOp::create(b, loc, integer, bits));
  }
  Value toBits(Value value) {
    Type type = value.getType();
    if (type.isIndex() || isa<IntegerType>(type))
      return wordFromScalar(b, loc, value, true);
    Value bits =
        arith::BitcastOp::create(b, loc, b.getIntegerType(type.getIntOrFloatBitWidth()), value);
    return bits.getType().isInteger(64)
               ? bits
               : Value(arith::ExtUIOp::create(b, loc, b.getI64Type(), bits));
  }

  LogicalResult inlineBody(Operation *op) {
    Block &body = op->getRegion(0).front();
    if (failed(emitBlock(body)))
      return failure();
    for (auto [index, value] : llvm::enumerate(body.getTerminator()->getOperands()))
      map.map(op->getResult(index), map.lookup(value));
    return success();
  }

  //===--- tensors --------------------------------------------------------===//
  LogicalResult emitCreate(CreateTensorOp op) {
    Type element = elementTypeOf(op.getType());
    int64_t code = dataTypeCode(element);
    if (code < 0)
      return op.emitError("create_tensor: this element type has no memory form");
    if (op.getShape().size() < 1 || op.getShape().size() > 5)
      return op.emitError("create_tensor: a tensor has 1 to 5 axes");
    Value shape = scratch(shapeScratch, 4 * 8);
    for (auto [i, extent] : llvm::enumerate(op.getShape()))
      put(narrowed(map.lookup(extent), true, ("create_tensor: extent " + Twine(i)).str()), shape,
          4 * i);
    Value init = LLVM::ZeroOp::create(b, loc, pointer);
    if (auto value = op.getInitValue()) {
      double real = 0;
      if (auto f = dyn_cast<FloatAttr>(*value))
        real = f.getValueAsDouble();
      else if (auto i = dyn_cast<IntegerAttr>(*value))
        real = double(i.getInt());
      Type plain = signless(element);
      TypedAttr constant;
      if (isa<FloatType>(plain))
        constant = b.getFloatAttr(plain, real);
      else
        constant = b.getIntegerAttr(plain, int64_t(real));
      init = scratch(initScratch, 8);
      put(toBits(arith::ConstantOp::create(b, loc, constant)), init, 0);
    }
    Value out = stack(ChipTensorLayout::bytes);
    call("simpler_alloc",
         {run_, out, shape, i32(op.getShape().size()), i8(code), i8(op.getManualDep()), init});
    map.map(op.getResult(), out);
    return success();
  }

  LogicalResult emitSlice(SliceOp op) {
    Value out = stack(ChipTensorLayout::bytes);
    Value shape = words(indexScratch, op.getShape()), offset = words(offsetScratch, op.getOffset());
    call("simpler_view", {run_, out, map.lookup(op.getInput()), shape, offset});
    if (!op.getDropDims().empty()) {
      // Fewer axes of the same memory: extents and strides move down.
      SmallVector<int64_t> kept;
      for (int64_t axis = 0; axis < int64_t(op.getShape().size()); ++axis)
        if (!llvm::is_contained(op.getDropDims(), axis))
          kept.push_back(axis);
      for (auto [to, from] : llvm::enumerate(kept))
        for (int64_t field : {ChipTensorLayout::shapes, ChipTensorLayout::strides})
          if (int64_t(to) != from)
            put(LLVM::LoadOp::create(b, loc, b.getI32Type(), at(out, field + 4 * from)), out,
                field + 4 * to);
      put(i32(kept.size()), out, 36);
    }
    map.map(op.getResult(), out);
    return success();
  }

  LogicalResult emitReshape(Value from, ValueRange shape, Value result) {
    Value out = stack(ChipTensorLayout::bytes);
    call("simpler_reshape",
         {run_, out, map.lookup(from), words(indexScratch, shape), i32(shape.size())});
    map.map(result, out);
    return success();
  }

  //===--- tasks ----------------------------------------------------------===//
  Value launchOptions(Value blocks, ValueRange deps, Operation *op) {
    Value options = scratch(launchScratch, LaunchLayout::bytes);
    for (int64_t word = 0; word < LaunchLayout::bytes; word += 8)
      put(i64(0), options, word);
    put(blocks, options, LaunchLayout::blockNum);
    auto flag = [&](StringRef name, int64_t offset) {
      auto attribute = op->getAttrOfType<BoolAttr>(name);
      if (attribute && attribute.getValue())
        put(i8(1), options, offset);
    };
    flag("sync_start", LaunchLayout::syncStart);
    flag("allow_early_resolve", LaunchLayout::earlyResolve);
    if (deps.empty())
      return options;
    int64_t count = 0;
    for (Value dep : deps)
      count += isa<ArrayType>(dep.getType()) ? cast<ArrayType>(dep.getType()).getSize() : 1;
    Value list = stack(8 * count);
    int64_t next = 0;
    for (Value dep : deps) {
      Value value = map.lookup(dep);
      auto array = dyn_cast<ArrayType>(dep.getType());
      if (!array) {
        put(value, list, 8 * next++);
        continue;
      }
      for (int64_t i = 0; i < array.getSize(); ++i)
        put(LLVM::LoadOp::create(b, loc, b.getI64Type(), at(value, 8 * i)), list, 8 * next++);
    }
    put(i32(count), options, LaunchLayout::numDeps);
    put(list, options, LaunchLayout::deps);
    return options;
  }

  LogicalResult emitCall(CallOp op) {
    auto kernel = symbols.lookup<func::FuncOp>(op.getCallee());
    if (!kernel || !isKernel(kernel))
      return op.emitError() << "'" << op.getCallee() << "' is not a kernel";
    SmallVector<Value> tensors, scalars;
    SmallVector<int64_t> tags;
    for (auto [index, arg] : llvm::enumerate(op.getArgs())) {
      Type want = kernel.getArgument(index).getType();
      if (isa<TensorType>(arg.getType())) {
        tensors.push_back(map.lookup(arg));
        auto direction = kernel.getArgAttrOfType<StringAttr>(index, "pypto.direction");
        StringRef d = direction ? direction.getValue() : "inout";
        int64_t tag = d == "in" ? 0 : d == "inout" ? 2 : 3;
        if (llvm::is_contained(op.getNoDep(), int64_t(index)))
          tag = 4;
        tags.push_back(tag);
        continue;
      }
      Value value = convertScalar(b, loc, map.lookup(arg), arg.getType(), want);
      scalars.push_back(wordFromScalar(b, loc, value, want.isUnsignedInteger()));
    }
    if (tensors.size() > 32)
      return op.emitError() << "kernel '" << op.getCallee() << "' takes " << tensors.size()
                            << " tensors, a task has at most 32";
    if (scalars.size() > 16)
      return op.emitError() << "kernel '" << op.getCallee() << "' takes " << scalars.size()
                            << " scalars, a task has at most 16";
    Value list = scratch(tensorScratch, 8 * 32), tagList = scratch(tagScratch, 32),
          wordList = scratch(wordScratch, 8 * 16);
    for (auto [i, tensor] : llvm::enumerate(tensors))
      put(tensor, list, 8 * i);
    for (auto [i, tag] : llvm::enumerate(tags))
      put(i8(tag), tagList, i);
    for (auto [i, word] : llvm::enumerate(scalars))
      put(word, wordList, 8 * i);
    Value blocks = op.getCoreNum()
                       ? narrowed(map.lookup(op.getCoreNum()), false, "the number of blocks")
                       : i32(1);
    Value options = launchOptions(blocks, op.getDeps(), op);
    if (op.getPredicateTensor()) {
      int64_t code = llvm::StringSwitch<int64_t>(op.getPredicateOp().value_or("eq"))
                         .Case("eq", 1)
                         .Case("ne", 2)
                         .Case("gt", 3)
                         .Case("lt", 4)
                         .Case("ge", 5)
                         .Case("le", 6)
                         .Default(0);
      put(i8(code), options, LaunchLayout::predicateOp);
      put(map.lookup(op.getPredicateTensor()), options, LaunchLayout::predicateTensor);
      for (auto [i, index] : llvm::enumerate(op.getPredicateIndices()))
        put(narrowed(map.lookup(index), true, "the index of a predicate"), options,
            LaunchLayout::predicateIndex + 4 * i);
      put(i64(op.getPredicateTarget().value_or(0)), options, LaunchLayout::predicateTarget);
    }
    Value record = kernelRecord(kernel);
    map.map(op.getTask(), call("simpler_submit",
                               {run_, record, list, tagList, i32(tensors.size()), wordList,
                                i32(scalars.size()), options},
                               b.getI64Type()));
    return success();
  }

  /// Static SimplerKernel of a kernel: entry, name, file, line, core.
  Value kernelRecord(func::FuncOp kernel) {
    std::string name = (kernel.getName() + "__record").str();
    if (!symbols.lookup(name)) {
      StringRef file;
      int64_t line = 0;
      if (auto at = kernel.getLoc()->findInstanceOf<FileLineColLoc>()) {
        file = at.getFilename().getValue();
        line = at.getLine();
      }
      StringRef core = coreTypeOf(kernel);
      OpBuilder top = OpBuilder::atBlockEnd(module.getBody());
      Value nameText = string(kernel.getName());
      Value fileText = string(file);
      auto type = LLVM::LLVMStructType::getLiteral(
          b.getContext(), {pointer, pointer, pointer, b.getI32Type(), b.getI32Type()});
      auto global = LLVM::GlobalOp::create(top, module.getLoc(), type, true,
                                           LLVM::Linkage::Internal, name, Attribute());
      symbols.insert(global);
      Block *block = top.createBlock(&global.getInitializerRegion());
      (void)block;
      Value record = LLVM::UndefOp::create(top, loc, type);
      auto insert = [&](Value value, int64_t position) {
        record = LLVM::InsertValueOp::create(top, loc, record, value, ArrayRef<int64_t>{position});
      };
      insert(LLVM::AddressOfOp::create(top, loc, pointer, (kernel.getName() + "__entry").str()), 0);
      insert(LLVM::AddressOfOp::create(top, loc, pointer,
                                       nameText.getDefiningOp<LLVM::AddressOfOp>().getGlobalName()),
             1);
      insert(LLVM::AddressOfOp::create(top, loc, pointer,
                                       fileText.getDefiningOp<LLVM::AddressOfOp>().getGlobalName()),
             2);
      insert(LLVM::ConstantOp::create(top, loc, b.getI32Type(), b.getI32IntegerAttr(line)), 3);
      insert(LLVM::ConstantOp::create(top, loc, b.getI32Type(),
                                      b.getI32IntegerAttr(core == "mix"   ? 2
                                                          : core == "aic" ? 0
                                                                          : 1)),
             4);
      LLVM::ReturnOp::create(top, loc, record);
    }
    return LLVM::AddressOfOp::create(b, loc, pointer, name);
  }

  //===--- control flow ---------------------------------------------------===//
  // Tensors and arrays that name one buffer on every path are not carried; others are copied as
  // descriptors.
  bool carriesDescriptor(Value result) {
    return isa<TensorType>(result.getType()) && sameTensor(result) == result;
  }
  static bool isMemory(Type type) { return isa<TensorType, ArrayType>(type); }
  Type scalarType(Type type) {
    return isa<TaskIdType>(type) ? Type(b.getI64Type()) : signless(type);
  }
  /// Copies descriptors as if at once.
  void copyDescriptors(ArrayRef<std::pair<Value, Value>> fromTo) {
    SmallVector<Value> loaded;
    for (auto [from, to] : fromTo)
      for (int64_t byte = 0; byte < ChipTensorLayout::bytes && from != to; byte += 8)
        loaded.push_back(LLVM::LoadOp::create(b, loc, b.getI64Type(), at(from, byte)));
    size_t next = 0;
    for (auto [from, to] : fromTo)
      for (int64_t byte = 0; byte < ChipTensorLayout::bytes && from != to; byte += 8)
        put(loaded[next++], to, byte);
  }

  struct Slots {
    SmallVector<Value> values;                   // scalars that travel
    SmallVector<std::pair<Value, Value>> copies; // descriptors
  };
  Slots pass(ValueRange sources, ValueRange targets, ArrayRef<Value> memory) {
    Slots slots;
    for (auto [index, pair] : llvm::enumerate(llvm::zip(sources, targets))) {
      auto [source, target] = pair;
      if (!isMemory(target.getType()))
        slots.values.push_back(map.lookup(source));
      else if (memory[index] && isa<TensorType>(target.getType()))
        slots.copies.push_back({map.lookup(source), memory[index]});
    }
    return slots;
  }

  LogicalResult emitFor(scf::ForOp op) {
    SmallVector<Value> memory;
    for (auto [arg, init] : llvm::zip(op.getRegionIterArgs(), op.getInitArgs())) {
      bool own = carriesDescriptor(arg);
      memory.push_back(own                       ? stack(ChipTensorLayout::bytes)
                       : isMemory(arg.getType()) ? map.lookup(init)
                                                 : Value());
    }
    Slots start = pass(op.getInitArgs(), op.getRegionIterArgs(), memory);
    copyDescriptors(start.copies);
    Value lower = map.lookup(op.getLowerBound()), upper = map.lookup(op.getUpperBound()),
          step = map.lookup(op.getStep());
    auto loop = scf::ForOp::create(b, loc, lower, upper, step, start.values);
    OpBuilder::InsertionGuard guard(b);
    if (!loop.getBody()->empty())
      loop.getBody()->back().erase();
    b.setInsertionPointToStart(loop.getBody());
    map.map(op.getInductionVar(), loop.getInductionVar());
    bind(op.getRegionIterArgs(), loop.getRegionIterArgs(), memory);
    if (failed(emitBlock(*op.getBody())))
      return failure();
    Slots next = pass(op.getBody()->getTerminator()->getOperands(), op.getRegionIterArgs(), memory);
    copyDescriptors(next.copies);
    scf::YieldOp::create(b, loc, next.values);
    bind(op.getResults(), loop.getResults(), memory);
    return success();
  }
  void bind(ValueRange old, ValueRange values, ArrayRef<Value> memory) {
    unsigned next = 0;
    for (auto [index, value] : llvm::enumerate(old))
      map.map(value, isMemory(value.getType()) ? memory[index] : values[next++]);
  }

  LogicalResult emitIf(scf::IfOp op) {
    SmallVector<Value> memory;
    SmallVector<Type> types;
    for (Value result : op.getResults()) {
      if (isa<TensorType>(result.getType()))
        memory.push_back(stack(ChipTensorLayout::bytes));
      else
        memory.push_back(isa<ArrayType>(result.getType())
                             ? map.lookupOrNull(op.thenYield().getOperand(
                                   cast<OpResult>(result).getResultNumber()))
                             : Value());
      if (!isMemory(result.getType()))
        types.push_back(scalarType(result.getType()));
    }
    bool withElse = !op.getElseRegion().empty();
    auto branch = scf::IfOp::create(b, loc, types, map.lookup(op.getCondition()), true, withElse);
    for (auto [from, to] : {std::pair{op.thenBlock(), branch.thenBlock()},
                            std::pair{op.elseBlock(), branch.elseBlock()}}) {
      if (!from || !to)
        continue;
      OpBuilder::InsertionGuard guard(b);
      if (!to->empty())
        to->back().erase();
      b.setInsertionPointToStart(to);
      if (failed(emitBlock(*from)))
        return failure();
      Slots slots = pass(from->getTerminator()->getOperands(), op.getResults(), memory);
      copyDescriptors(slots.copies);
      for (auto [index, value] : llvm::enumerate(from->getTerminator()->getOperands()))
        if (isa<ArrayType>(value.getType()))
          memory[index] = map.lookup(value);
      scf::YieldOp::create(b, loc, slots.values);
    }
    b.setInsertionPointAfter(branch);
    bind(op.getResults(), branch.getResults(), memory);
    return success();
  }

  LogicalResult emitWhile(scf::WhileOp op) {
    SmallVector<Value> before, after;
    SmallVector<Type> beforeTypes, afterTypes;
    for (auto [arg, init] : llvm::zip(op.getBeforeArguments(), op.getInits())) {
      before.push_back(isa<TensorType>(arg.getType()) ? stack(ChipTensorLayout::bytes)
                       : isMemory(arg.getType())      ? map.lookup(init)
                                                      : Value());
      if (!isMemory(arg.getType()))
        beforeTypes.push_back(scalarType(arg.getType()));
    }
    Slots start = pass(op.getInits(), op.getBeforeArguments(), before);
    copyDescriptors(start.copies);
    for (Value arg : op.getAfterArguments()) {
      after.push_back(isa<TensorType>(arg.getType()) ? stack(ChipTensorLayout::bytes) : Value());
      if (!isMemory(arg.getType()))
        afterTypes.push_back(scalarType(arg.getType()));
    }
    auto loop = scf::WhileOp::create(b, loc, afterTypes, start.values);
    OpBuilder::InsertionGuard guard(b);
    Block *first = b.createBlock(&loop.getBefore(), {}, beforeTypes,
                                 SmallVector<Location>(beforeTypes.size(), loc));
    bind(op.getBeforeArguments(), first->getArguments(), before);
    if (failed(emitBlock(*op.getBeforeBody())))
      return failure();
    scf::ConditionOp condition = op.getConditionOp();
    for (auto [index, value] : llvm::enumerate(condition.getArgs()))
      if (isa<ArrayType>(value.getType()))
        after[index] = map.lookup(value);
    Slots passed = pass(condition.getArgs(), op.getAfterArguments(), after);
    copyDescriptors(passed.copies);
    scf::ConditionOp::create(b, loc, map.lookup(condition.getCondition()), passed.values);
    Block *second = b.createBlock(&loop.getAfter(), {}, afterTypes,
                                  SmallVector<Location>(afterTypes.size(), loc));
    bind(op.getAfterArguments(), second->getArguments(), after);
    if (failed(emitBlock(*op.getAfterBody())))
      return failure();
    Slots handed = pass(op.getYieldOp().getOperands(), op.getBeforeArguments(), before);
    copyDescriptors(handed.copies);
    scf::YieldOp::create(b, loc, handed.values);
    bind(op.getResults(), loop.getResults(), after);
    return success();
  }

  func::FuncOp old, made;
  ModuleOp module;
  SymbolTable &symbols;
  OpBuilder b;
  Location loc;
  Type pointer;
  Block *entry = nullptr;
  Value run_;
  IRMapping map;
  Value indexScratch, offsetScratch, shapeScratch, initScratch, launchScratch, tensorScratch,
      tagScratch, wordScratch;
};

} // namespace

LogicalResult lowerOrchestration(ModuleOp module) {
  SmallVector<func::FuncOp> orchestrations;
  for (auto func : module.getOps<func::FuncOp>())
    if (!isKernel(func) && !func.isExternal())
      orchestrations.push_back(func);
  SymbolTable symbols(module);
  for (func::FuncOp func : orchestrations) {
    if (failed(OrchestrationEmitter(func, symbols).run()))
      return failure();
    if (isEntry(func))
      emitEntryRecord(func);
    func.erase();
  }
  return success();
}

} // namespace pypto
