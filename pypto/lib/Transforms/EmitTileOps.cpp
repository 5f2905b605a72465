//===- EmitTileOps.cpp - tile ops as instructions -------------------------===//
#include "PtoEmitter.h"
#include "TensorRoots.h"

using namespace mlir;

namespace pypto {

Operation *PtoEmitter::instruction(StringRef mnemonic, ValueRange operands,
                                   ArrayRef<NamedAttribute> attrs, ArrayRef<int32_t> segments) {
  SmallVector<Value> used(operands);
  if (llvm::is_contained(used, Value())) { // a gap in this lowering: better an error than a crash
    if (succeeded(complete))
      complete = emitError(loc, "internal error: an operand of ") << mnemonic << " has no tile";
    return nullptr;
  }
  if (columnsAsRows)
    for (Value &operand : used) {
      // A column lies in memory as the row of the same elements.
      auto type = dyn_cast<pto::TileBufType>(operand.getType());
      if (!type || type.getCols() != 1 || type.getRows() == 1)
        continue;
      int64_t valid = type.getValidRow();
      Value atRunTime;
      if (ShapedType::isDynamic(valid)) {
        if (auto made = operand.getDefiningOp<pto::AllocTileOp>())
          atRunTime = made.getValidRow();
        if (auto view = operand.getDefiningOp<pto::SubviewOp>(); view && !view.getValid().empty())
          atRunTime = view.getValid().front();
        if (!atRunTime)
          continue;
        valid = type.getRows();
      }
      auto row = pto::TileBufType::get(type.getSpace(), 1, type.getRows(), type.getElementType(), 1,
                                       valid);
      operand = pto::TReshapeOp::create(b, loc, row, operand);
      if (atRunTime)
        operand = narrowed(operand, index(1), atRunTime);
    }
  OperationState state(loc, ("pto." + mnemonic).str(), used, {}, attrs);
  if (!segments.empty())
    state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr(segments));
  return b.create(state);
}

void PtoEmitter::copy(Tile from, Value to) {
  instruction("tmov", {from.handle, narrowed(to, from.rows, from.cols)}, {}, {1, 0, 0, 1});
}

void PtoEmitter::copyInto(Value source, Value result) {
  unsigned from = storage.bufferOf(source), to = storage.bufferOf(result);
  if (from == to)
    return;
  // The result's handle is made now, so that the copy has a place to go.
  if (storage.buffers()[to].values.size() == 1)
    shared[to] = allocate(formOf(cast<TileType>(result.getType()), to),
                          index(shapeOf(result.getType())[0]), index(shapeOf(result.getType())[1]));
  copy(tile(source), sharedHandle(to));
}

Value PtoEmitter::smaller(Value a, Value c) {
  if (a == c)
    return a;
  auto x = constantOf(a), y = constantOf(c);
  if (x && y)
    return index(std::min(*x, *y));
  return arith::MinSIOp::create(b, loc, a, c);
}

Value PtoEmitter::constantElement(Attribute value, Type element) {
  double real = 0;
  int64_t integer = 0;
  if (auto f = dyn_cast<FloatAttr>(value))
    real = f.getValueAsDouble(), integer = int64_t(real);
  else if (auto i = dyn_cast<IntegerAttr>(value))
    integer = i.getType().isInteger(1) ? i.getValue().getZExtValue() : i.getInt(),
    real = double(integer);
  Type plain = signless(element);
  if (isa<FloatType>(plain))
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(plain, real));
  if (plain.isIndex())
    return index(integer);
  return arith::ConstantOp::create(
      b, loc,
      IntegerAttr::get(plain, APInt(plain.getIntOrFloatBitWidth(), uint64_t(integer), true, true)));
}

Value PtoEmitter::scalarFor(Value value, Type element) {
  return castScalar(mapped(value), value.getType(), element);
}

Value PtoEmitter::withoutGaps(Value value) {
  Tile from = tile(value);
  Value base = value;
  bool gaps = false;
  while (Operation *def = base.getDefiningOp()) {
    if (!isa<SliceOp, SetValidShapeOp>(def))
      break;
    if (auto slice = dyn_cast<SliceOp>(def))
      gaps |= shapeOf(slice.getInput().getType())[1] != shapeOf(slice.getType())[1];
    base = def->getOperand(0);
  }
  if (!gaps)
    return from.handle;
  Value handle =
      allocate(physical(cast<TileType>(value.getType()), /*flat=*/true), from.rows, from.cols);
  copy(from, handle);
  return handle;
}

/// The columns of a window of a buffer: rows that are taken whole keep what they are filled up
/// with.
static int64_t windowWidth(pto::TileBufType buffer, TileType of, TileType window, Value col) {
  bool wholeRows = constantOf(col) == 0 && window.getShape()[1] == of.getShape()[1];
  return wholeRows ? buffer.getCols() : window.getShape()[1];
}

LogicalResult PtoEmitter::emitView(Operation *op) {
  Tile from = tile(op->getOperand(0));
  auto type = cast<TileType>(op->getResult(0).getType());
  auto sourceType = cast<TileType>(op->getOperand(0).getType());
  int64_t rows = type.getShape()[0], cols = type.getShape()[1];
  auto fullyValid = [&](Tile t, TileType of) {
    return constantOf(t.rows) == of.getShape()[0] && constantOf(t.cols) == of.getShape()[1];
  };
  if (auto slice = dyn_cast<SliceOp>(op)) {
    Value row = mapped(slice.getOffset()[0]), col = mapped(slice.getOffset()[1]);
    Value validRows = index(rows), validCols = index(cols);
    if (!slice.getValidShape().empty()) {
      validRows = mapped(slice.getValidShape()[0]);
      validCols = mapped(slice.getValidShape()[1]);
    } else if (!fullyValid(from, sourceType)) {
      auto left = [&](Value extent, Value offset, int64_t size) -> Value {
        auto e = constantOf(extent), o = constantOf(offset);
        if (e && o)
          return index(std::clamp<int64_t>(*e - *o, 0, size));
        Value rest =
            arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, extent, offset), index(0));
        return arith::MinSIOp::create(b, loc, rest, index(size));
      };
      validRows = left(from.rows, row, rows);
      validCols = left(from.cols, col, cols);
    }
    auto r = constantOf(validRows), c = constantOf(validCols);
    auto handle = cast<pto::TileBufType>(from.handle.getType());
    int64_t width = windowWidth(handle, sourceType, type, col);
    auto result = pto::TileBufType::get(
        b.getContext(), handle.getSpace(), rows, width, handle.getElementType(),
        r.value_or(ShapedType::kDynamic), c.value_or(ShapedType::kDynamic), handle.getBlayout(),
        handle.getSlayout(), handle.getFractal(), handle.getPad(), handle.getCompact());
    Value view = pto::SubviewOp::create(b, loc, result, from.handle, ValueRange{row, col},
                                        b.getDenseI64ArrayAttr({rows, width}),
                                        ValueRange{validRows, validCols});
    tiles[op->getResult(0)] = {view, validRows, validCols};
    return success();
  }
  if (auto valid = dyn_cast<SetValidShapeOp>(op)) {
    Value r = mapped(valid.getRows()), c = mapped(valid.getCols());
    tiles[op->getResult(0)] = {narrowed(from.handle, r, c), r, c};
    return success();
  }
  Value handle = withoutGaps(op->getOperand(0));
  Value validRows = index(rows), validCols = index(cols);
  if (isa<TransposeViewOp>(op)) {
    validRows = from.cols;
    validCols = from.rows;
  } else if (!fullyValid(from, sourceType)) {
    int64_t sourceRows = sourceType.getShape()[0], sourceCols = sourceType.getShape()[1];
    ArrayRef<int64_t> declared = type.getValid();
    if (isa<ReinterpretViewOp>(op) && rows == sourceRows) {
      validRows = from.rows;
      if (cols == sourceCols)
        validCols = from.cols;
    } else if (sourceRows == 1 && cols == 1) {
      validRows = from.cols;
    } else if (sourceCols == 1 && rows == 1) {
      validCols = from.rows;
    } else if (!declared.empty() && !ShapedType::isDynamic(declared[0]) &&
               !ShapedType::isDynamic(declared[1])) {
      validRows = index(declared[0]);
      validCols = index(declared[1]);
    } else if (constantOf(from.cols) == sourceCols && sourceCols % cols == 0) {
      validRows = arith::MulIOp::create(b, loc, from.rows, index(sourceCols / cols));
    } else if (constantOf(from.cols) == sourceCols && cols % sourceCols == 0 && rows == 1) {
      validCols = arith::MulIOp::create(b, loc, from.rows, index(sourceCols));
    } else {
      return op->emitError(
          "reshape: the valid part of the value does not stay a rectangle from the origin");
    }
  }
  pto::TileBufType full = bufferType(physical(type, /*flat=*/true), rows, cols);
  if (isa<TransposeViewOp>(op))
    full = bufferType(physical(TileType::get(type.getShape(), type.getElementType(),
                                             MemorySpace::Mat, {}, type.getTransposed()),
                               /*flat=*/false),
                      rows, cols);
  Value view = pto::TReshapeOp::create(b, loc, full, handle);
  tiles[op->getResult(0)] = {narrowed(view, validRows, validCols), validRows, validCols};
  return success();
}

PtoEmitter::Tile PtoEmitter::accumulateInto(Value accumulator, Value result) {
  Tile acc = tile(accumulator);
  copyInto(accumulator, result);
  Tile to = define(result, acc.rows, acc.cols);
  unsigned buffer = storage.bufferOf(result);
  if (storage.bufferOf(accumulator) != buffer && storage.buffers()[buffer].values.size() == 1)
    to = tiles[result] = {narrowed(shared.lookup(buffer), acc.rows, acc.cols), acc.rows, acc.cols};
  return to;
}

LogicalResult PtoEmitter::emitProduct(Operation *op, const OpRow *row) {
  SmallVector<NamedAttribute> attrs;
  if (auto phase = op->getAttrOfType<StringAttr>("acc_phase"); phase && phase != "unspecified")
    attrs.push_back(
        attr("accPhase",
             pto::AccPhaseAttr::get(b.getContext(), phase == "final" ? pto::AccPhase::Final
                                                                     : pto::AccPhase::Partial)));
  StringRef name = row->pto;
  if (auto scaled = dyn_cast<MatmulMxOp>(op))
    return emitScaledProduct(scaled);
  bool accumulates = row->family == "matmul_acc";
  Value result = op->getResult(0);
  Tile lhs = tile(op->getOperand(accumulates ? 1 : 0)),
       rhs = tile(op->getOperand(accumulates ? 2 : 1));
  if (!accumulates) {
    Tile &to = define(result, lhs.rows, rhs.cols);
    SmallVector<Value> operands{lhs.handle, rhs.handle};
    if (row->family == "matmul_bias")
      operands.push_back(tile(op->getOperand(2)).handle);
    operands.push_back(to.handle);
    instruction(name, operands, attrs);
    return success();
  }
  Tile to = accumulateInto(op->getOperand(0), result);
  auto accumulate = [&] {
    instruction(name, {to.handle, lhs.handle, rhs.handle, to.handle}, attrs);
  };
  if (op->getNumOperands() <= 3) {
    accumulate();
    return success();
  }
  // init_cond: the first step overwrites.
  Value first = mapped(op->getOperand(3));
  auto branch = scf::IfOp::create(b, loc, first, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  instruction("tmatmul", {lhs.handle, rhs.handle, to.handle}, attrs);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  accumulate();
  return success();
}

LogicalResult PtoEmitter::emitAssemble(AssembleOp op) {
  Tile target = tile(op.getTarget()), source = tile(op.getSource());
  copyInto(op.getTarget(), op.getResult());
  auto type = cast<TileType>(op.getType());
  auto sourceType = cast<TileType>(op.getSource().getType());
  ArrayRef<int64_t> valid = type.getValidShape();
  Value rows = ShapedType::isDynamic(valid[0]) ? target.rows : index(valid[0]);
  Value cols = ShapedType::isDynamic(valid[1]) ? target.cols : index(valid[1]);
  unsigned number = storage.bufferOf(op.getResult());
  Value whole = shared.count(number) ? shared[number] : sharedHandle(number);
  tiles[op.getResult()] = {narrowed(whole, rows, cols), rows, cols};
  Value row = mapped(op.getOffset()[0]), col = mapped(op.getOffset()[1]);
  if (type.getMemorySpace() != sourceType.getMemorySpace()) {
    instruction("tinsert", {source.handle, row, col, whole}, {}, {1, 1, 1, 0, 0, 1});
    return success();
  }
  auto handle = cast<pto::TileBufType>(whole.getType());
  auto r = constantOf(source.rows), c = constantOf(source.cols);
  int64_t width = windowWidth(handle, type, sourceType, col);
  auto window = pto::TileBufType::get(
      b.getContext(), handle.getSpace(), sourceType.getShape()[0], width, handle.getElementType(),
      r.value_or(ShapedType::kDynamic), c.value_or(ShapedType::kDynamic), handle.getBlayout(),
      handle.getSlayout(), handle.getFractal(), handle.getPad(), handle.getCompact());
  Value view = pto::SubviewOp::create(b, loc, window, whole, ValueRange{row, col},
                                      b.getDenseI64ArrayAttr({sourceType.getShape()[0], width}),
                                      ValueRange{source.rows, source.cols});
  instruction("tmov", {source.handle, view}, {}, {1, 0, 0, 1});
  return success();
}

LogicalResult PtoEmitter::emitSystem(Operation *op) {
  MLIRContext *context = b.getContext();
  if (isa<GetBlockIdxOp, GetBlockNumOp, GetSubblockIdxOp>(op)) {
    auto kind = isa<GetBlockIdxOp>(op)   ? KernelSignature::Hidden::BlockIdx
                : isa<GetBlockNumOp>(op) ? KernelSignature::Hidden::BlockNum
                                         : KernelSignature::Hidden::SubblockIdx;
    scalars.map(
        op->getResult(0),
        arith::IndexCastOp::create(b, loc, b.getIndexType(), specials.lookup(kind)).getResult());
    return success();
  }
  if (auto sync = dyn_cast<SyncAllOp>(op)) {
    StringRef core = sync.getCoreType();
    auto mode = pto::SyncAllModeAttr::get(
        context, sync.getMode() == "soft" ? pto::SyncAllMode::Soft : pto::SyncAllMode::Hard);
    auto type =
        pto::SyncCoreTypeAttr::get(context, core == "aiv_only"   ? pto::SyncCoreType::AivOnly
                                            : core == "aic_only" ? pto::SyncCoreType::AicOnly
                                                                 : pto::SyncCoreType::Mix);
    SmallVector<Value> operands;
    int32_t workspace = 0, cores = 0;
    if (Value memory = sync.getGmWorkspace()) {
      if (!isa<TensorType>(memory.getType()))
        return op->emitError("syncall: gm_workspace is a tensor in global memory");
      operands.push_back(memoryOf(windowOf(memory).argument).pointer);
      workspace = 1;
      if (auto used = sync.getUsedCores()) {
        operands.push_back(arith::ConstantIntOp::create(b, loc, b.getI32Type(), *used));
        cores = 1;
      }
    }
    instruction("syncall", operands, {attr("mode", mode), attr("core_type", type)},
                {workspace, cores});
    return success();
  }
  if (auto barrier = dyn_cast<BarrierOp>(op)) {
    if (barrier.getKind() == "fence") {
      instruction("fence.barrier_all", {},
                  attr("scope", pto::FenceScopeAttr::get(context, pto::FenceScope::Gm)));
      return success();
    }
    auto pipe = barrier.getKind() == "v"   ? pto::PIPE::PIPE_V
                : barrier.getKind() == "m" ? pto::PIPE::PIPE_M
                                           : pto::PIPE::PIPE_ALL;
    instruction("barrier", {}, attr("pipe", pto::PIPEAttr::get(context, pipe)));
    return success();
  }
  if (isa<CacheInvalidOp>(op)) {
    instruction("fence.barrier_all", {},
                attr("scope", pto::FenceScopeAttr::get(context, pto::FenceScope::Gm)));
    return success();
  }
  return op->emitError() << "pl.system." << op->getName().stripDialect()
                         << " is not supported in kernels of this target yet";
}

static pto::RoundMode roundMode(StringRef mode) {
  return llvm::StringSwitch<pto::RoundMode>(mode)
      .Case("none", pto::RoundMode::None)
      .Case("rint", pto::RoundMode::RINT)
      .Case("floor", pto::RoundMode::FLOOR)
      .Case("ceil", pto::RoundMode::CEIL)
      .Case("trunc", pto::RoundMode::TRUNC)
      .Case("odd", pto::RoundMode::ODD)
      .Default(pto::RoundMode::ROUND);
}

static pto::CmpMode cmpMode(StringRef mode) {
  return llvm::StringSwitch<pto::CmpMode>(mode)
      .Case("ne", pto::CmpMode::Ne)
      .Case("lt", pto::CmpMode::Lt)
      .Case("le", pto::CmpMode::Le)
      .Case("gt", pto::CmpMode::Gt)
      .Case("ge", pto::CmpMode::Ge)
      .Default(pto::CmpMode::Eq);
}

static pto::MaskPattern maskPattern(StringRef name) {
  return llvm::StringSwitch<pto::MaskPattern>(name)
      .Case("p0101", pto::MaskPattern::P0101)
      .Case("p1010", pto::MaskPattern::P1010)
      .Case("p0001", pto::MaskPattern::P0001)
      .Case("p0010", pto::MaskPattern::P0010)
      .Case("p0100", pto::MaskPattern::P0100)
      .Case("p1000", pto::MaskPattern::P1000)
      .Default(pto::MaskPattern::P1111);
}

LogicalResult PtoEmitter::emitTileOp(Operation *op, const OpRow *row) {
  StringRef family = row->family, name = row->pto;
  MLIRContext *context = b.getContext();
  columnsAsRows =
      options.textForm &&
      llvm::is_contained({"unary", "binary", "ternary", "cast", "expands", "full"}, family);
  if (isa<ReshapeOp, SliceOp, SetValidShapeOp, TransposeViewOp, ReinterpretViewOp>(op))
    return emitView(op);
  if (llvm::is_contained({"matmul", "matmul_acc", "matmul_bias", "matmul_mx"}, family))
    return emitProduct(op, row);
  if (auto assemble = dyn_cast<AssembleOp>(op))
    return emitAssemble(assemble);
  if (family == "query" || family == "sync")
    return emitSystem(op);
  if (auto create = dyn_cast<ArrayCreateOp>(op)) {
    auto type = cast<ArrayType>(create.getType());
    auto local =
        pto::LocalArrayType::get(context, {type.getSize()}, signless(type.getElementType()));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(headEnd);
    arrays[create.getResult()] = pto::DeclareLocalArrayOp::create(b, loc, local);
    return success();
  }
  if (auto get = dyn_cast<ArrayGetOp>(op)) {
    scalars.map(get.getResult(),
                pto::LocalArrayGetOp::create(b, loc, signless(get.getType()),
                                             arrays.lookup(get.getArr()), mapped(get.getIndex()))
                    .getValue());
    return success();
  }
  if (auto update = dyn_cast<ArrayUpdateOp>(op)) {
    Value array = arrays.lookup(update.getArr());
    Type element = cast<ArrayType>(update.getType()).getElementType();
    pto::LocalArraySetOp::create(b, loc, array, mapped(update.getIndex()),
                                 scalarFor(update.getValue(), element));
    arrays[update.getResult()] = array;
    return success();
  }
  if (op->getNumResults() == 0)
    return op->emitError() << "'" << op->getName().stripDialect()
                           << "' is not supported in kernels of this target yet";

  Value result = op->getResult(0);
  auto type = dyn_cast<TileType>(result.getType());
  if (!type)
    return op->emitError() << "'" << op->getName().stripDialect() << "' has no place in a kernel";
  Type element = type.getElementType();
  // Results without a source say how much of them is valid.
  auto declared = [&](unsigned axis) {
    return index(ShapedType::isDynamic(type.getValidShape()[axis]) ? type.getShape()[axis]
                                                                   : type.getValidShape()[axis]);
  };
  auto operandTile = [&](unsigned i) { return tile(op->getOperand(i)); };

  if (isa<CreateTileOp>(op)) {
    define(result, declared(0), declared(1));
    return success();
  }
  if (auto full = dyn_cast<FullOp>(op)) {
    Value value = constantElement(full.getValue(), element);
    instruction(name, {value, define(result, declared(0), declared(1)).handle});
    return success();
  }
  if (family == "expands") {
    Tile like = operandTile(0);
    Value value = scalarFor(op->getOperand(1), element);
    instruction(name, {value, define(result, like.rows, like.cols).handle});
    return success();
  }
  if (auto arange = dyn_cast<ArangeOp>(op)) {
    Value start = scalarFor(arange.getStart(), element);
    instruction(name, {start, define(result, declared(0), declared(1)).handle},
                attr("descending", b.getBoolAttr(arange.getDescending())));
    return success();
  }
  if (auto tri = dyn_cast<TriOp>(op)) {
    Value diagonal = scalarFor(tri.getDiagonal(), b.getI32Type());
    bool given = !tri.getValidShape().empty();
    Value rows = given ? mapped(tri.getValidShape()[0]) : declared(0),
          cols = given ? mapped(tri.getValidShape()[1]) : declared(1);
    instruction(name, {diagonal, define(result, rows, cols).handle},
                attr("upperOrLower", b.getI64IntegerAttr(tri.getUpper())));
    return success();
  }
  if (auto random = dyn_cast<RandomOp>(op)) {
    SmallVector<Value> operands;
    for (Value seed : op->getOperands().take_front(6))
      operands.push_back(scalarFor(seed, b.getI32Type()));
    operands.push_back(define(result, declared(0), declared(1)).handle);
    instruction(name, operands, attr("rounds", b.getI64IntegerAttr(random.getRounds())));
    return success();
  }
  if (family == "binary" && needsHalves(name, element))
    return emitInHalves(op, name);
  if (family == "binary" || family == "ternary") {
    SmallVector<Value> operands;
    SmallVector<NamedAttribute> attrs;
    Value rows, cols;
    bool withScalar = false;
    for (Value operand : op->getOperands()) {
      if (!isa<TileType>(operand.getType())) {
        withScalar = true;
        operands.push_back(scalarFor(operand, element));
        continue;
      }
      Tile t = tile(operand);
      operands.push_back(t.handle);
      rows = rows ? smaller(rows, t.rows) : t.rows;
      cols = cols ? smaller(cols, t.cols) : t.cols;
    }
    if (family == "binary" && withScalar && !isa<TileType>(op->getOperand(0).getType())) {
      std::swap(operands[0], operands[1]);
      attrs.push_back(attr("scalarFirst", b.getUnitAttr()));
    }
    // Operands of one valid extent: the shorter one.
    for (Value &operand : operands)
      if (isa<pto::TileBufType>(operand.getType()))
        operand = narrowed(operand, rows, cols);
    operands.push_back(define(result, rows, cols).handle);
    instruction(withScalar && family == "binary" ? StringRef(row->ptoScalar) : name, operands,
                attrs);
    return success();
  }
  if (family == "part") {
    Tile a = operandTile(0), c = operandTile(1);
    auto larger = [&](Value x, Value y) -> Value {
      auto k = constantOf(x), l = constantOf(y);
      return k && l   ? index(std::max(*k, *l))
             : x == y ? x
                      : Value(arith::MaxSIOp::create(b, loc, x, y));
    };
    instruction(name, {a.handle, c.handle,
                       define(result, larger(a.rows, c.rows), larger(a.cols, c.cols)).handle});
    return success();
  }
  if (auto compare = dyn_cast<CmpOp>(op)) {
    Tile lhs = operandTile(0);
    auto kind = attr("cmpMode", pto::CmpModeAttr::get(context, cmpMode(compare.getCmpType())));
    bool scalar = !isa<TileType>(compare.getRhs().getType());
    Value rhs = scalar ? scalarFor(compare.getRhs(), elementTypeOf(compare.getLhs().getType()))
                       : operandTile(1).handle;
    Value to = define(result, lhs.rows, index(type.getShape()[1])).handle;
    instruction(scalar ? StringRef(row->ptoScalar) : name, {lhs.handle, rhs, to}, kind);
    return success();
  }
  if (auto select = dyn_cast<SelOp>(op)) {
    Tile mask = operandTile(0), a = operandTile(1);
    if (!isa<TileType>(select.getB().getType())) {
      Value value = scalarFor(select.getB(), element);
      instruction(row->ptoScalar,
                  {mask.handle, a.handle, value, define(result, a.rows, a.cols).handle});
      return success();
    }
    instruction(name, {mask.handle, a.handle, operandTile(2).handle,
                       define(result, a.rows, a.cols).handle});
    return success();
  }
  Tile x = isa<TileType>(op->getOperand(0).getType()) ? operandTile(0) : Tile();
  if (family == "unary") {
    instruction(name, {x.handle, define(result, x.rows, x.cols).handle});
    return success();
  }
  if (auto convert = dyn_cast<CastOp>(op)) {
    auto mode = pto::RoundModeAttr::get(context, roundMode(convert.getMode()));
    instruction(name, {x.handle, define(result, x.rows, x.cols).handle}, attr("rmode", mode));
    return success();
  }
  if (family == "row_reduce" || family == "row_arg") {
    instruction(name, {x.handle, define(result, x.rows, index(1)).handle});
    return success();
  }
  if (family == "col_reduce" || family == "col_arg") {
    instruction(name, {x.handle, define(result, index(1), x.cols).handle});
    return success();
  }
  if (name == "trowexpand" || name == "tcolexpand") {
    Tile small = operandTile(1);
    bool overRows = name == "trowexpand";
    Value rows = overRows ? small.rows : x.rows, cols = overRows ? x.cols : small.cols;
    instruction(name, {small.handle, define(result, rows, cols).handle});
    return success();
  }
  if (family == "row_expand" || family == "col_expand") {
    instruction(name, {x.handle, operandTile(1).handle, define(result, x.rows, x.cols).handle});
    return success();
  }
  if (isa<MoveOp>(op)) {
    Value to = define(result, x.rows, x.cols).handle;
    if (type.getMemorySpace() == MemorySpace::LeftScale ||
        type.getMemorySpace() == MemorySpace::RightScale)
      findScale(result, to);
    instruction(name, {x.handle, to}, {}, {1, 0, 0, 1});
    return success();
  }
  if (auto extract = dyn_cast<ExtractOp>(op)) {
    Value rowAt = mapped(extract.getRow()), colAt = mapped(extract.getCol());
    instruction(name, {x.handle, rowAt, colAt, define(result, declared(0), declared(1)).handle}, {},
                {1, 1, 1, 0, 0, 1});
    return success();
  }
  if (family == "fillpad" || family == "fillpad_expand") {
    auto pad = llvm::StringSwitch<pto::PadValue>(
                   op->getAttrOfType<StringAttr>("pad_value")
                       ? op->getAttrOfType<StringAttr>("pad_value").getValue()
                       : "zero")
                   .Case("min", pto::PadValue::Min)
                   .Case("max", pto::PadValue::Max)
                   .Default(pto::PadValue::Zero);
    Value to = define(result, index(type.getShape()[0]), index(type.getShape()[1])).handle;
    instruction(name, {x.handle, to}, attr("padValue", pto::PadValueAttr::get(context, pad)));
    return success();
  }
  if (family == "concat") {
    Tile y = operandTile(1);
    auto k = constantOf(x.cols), l = constantOf(y.cols);
    Value cols = k && l ? index(*k + *l) : Value(arith::AddIOp::create(b, loc, x.cols, y.cols));
    instruction(name, {x.handle, y.handle, define(result, x.rows, cols).handle});
    return success();
  }
  if (family == "transpose") {
    instruction(name, {x.handle, define(result, x.cols, x.rows).handle});
    return success();
  }
  if (family == "gather") {
    Tile positions = operandTile(1);
    Value to = define(result, positions.rows, positions.cols).handle;
    if (!options.textForm) {
      instruction(name, {x.handle, positions.handle, to}, {}, {1, 1, 0, 0, 1, 0});
      return success();
    }
    auto scratch = cast<TileType>(op->getOperand(1).getType());
    Value tmp = allocate(physical(scratch, /*flat=*/false), positions.rows, positions.cols);
    instruction(name, {x.handle, positions.handle, tmp, to}, {}, {1, 1, 0, 1, 1, 0});
    return success();
  }
  if (auto gather = dyn_cast<GatherMaskOp>(op)) {
    Value to = define(result, x.rows, declared(1)).handle;
    instruction(name, {x.handle, to},
                attr("maskPattern",
                     pto::MaskPatternAttr::get(context, maskPattern(gather.getMaskPattern()))),
                {1, 0, 0, 0, 1, 0});
    return success();
  }
  if (auto gather = dyn_cast<GatherCompareOp>(op)) {
    Value to = define(result, declared(0), declared(1)).handle;
    auto countType = cast<TileType>(gather.getCount().getType());
    Value count =
        define(gather.getCount(), index(countType.getShape()[0]), index(countType.getShape()[1]))
            .handle;
    bool scalar = !isa<TileType>(gather.getKvalue().getType());
    Value key = scalar ? scalarFor(gather.getKvalue(), elementTypeOf(gather.getInput().getType()))
                       : operandTile(1).handle;
    SmallVector<Value> operands{x.handle, key};
    if (options.textForm) { // bits for what is compared
      auto source = cast<TileType>(gather.getInput().getType()).getShape();
      auto bits = TileType::get({source[0], int64_t(llvm::alignTo(source[1], 32))},
                                IntegerType::get(context, 8, IntegerType::Unsigned));
      operands.push_back(allocate(bits, index(bits.getShape()[0]), index(bits.getShape()[1])));
    }
    operands.append({to, count});
    instruction(name, operands,
                {attr("cmpMode", pto::CmpModeAttr::get(context, cmpMode(gather.getCmpMode()))),
                 attr("offset", b.getI64IntegerAttr(gather.getOffset()))},
                {1, scalar ? 0 : 1, scalar ? 1 : 0, options.textForm ? 1 : 0, 1, 1});
    return success();
  }
  if (family == "gatherb") {
    instruction(name,
                {x.handle, operandTile(1).handle, define(result, declared(0), declared(1)).handle});
    return success();
  }
  if (auto scatter = dyn_cast<ScatterOp>(op)) {
    copyInto(scatter.getInput(), result);
    unsigned number = storage.bufferOf(result);
    Value whole = shared.count(number) ? shared[number] : sharedHandle(number);
    tiles[result] = {narrowed(whole, x.rows, x.cols), x.rows, x.cols};
    instruction(name, {operandTile(2).handle, operandTile(1).handle, whole});
    return success();
  }
  if (auto scatter = dyn_cast<ScatterMaskOp>(op)) {
    copyInto(scatter.getDst(), result);
    unsigned number = storage.bufferOf(result);
    Value whole = shared.count(number) ? shared[number] : sharedHandle(number);
    tiles[result] = {narrowed(whole, x.rows, x.cols), x.rows, x.cols};
    instruction(name, {operandTile(1).handle, whole},
                attr("maskPattern",
                     pto::MaskPatternAttr::get(context, maskPattern(scatter.getMaskPattern()))));
    return success();
  }
  if (family == "sort32") {
    instruction(name,
                {x.handle, operandTile(1).handle, define(result, x.rows, declared(1)).handle});
    return success();
  }
  if (auto sort = dyn_cast<MrgsortOp>(op)) {
    SmallVector<Value> operands;
    for (Value source : sort.getSrcs())
      operands.push_back(tile(source).handle);
    int32_t sources = operands.size(), length = 0;
    SmallVector<NamedAttribute> attrs;
    if (auto block = sort.getBlockLen()) {
      operands.push_back(arith::ConstantIntOp::create(b, loc, b.getI32Type(), *block));
      length = 1;
    } else {
      attrs.push_back(attr("exhausted", b.getBoolAttr(sort.getExhausted())));
    }
    // Lists are merged by way of a scratch tile, and how much of each was taken is told.
    int32_t more = options.textForm && !length ? 1 : 0;
    if (more)
      operands.push_back(allocate(physical(cast<TileType>(result.getType()), /*flat=*/false),
                                  declared(0), declared(1)));
    operands.push_back(define(result, declared(0), declared(1)).handle);
    if (more) {
      auto counts = VectorType::get({4}, b.getI16Type());
      operands.push_back(
          arith::ConstantOp::create(b, loc, counts, cast<TypedAttr>(b.getZeroAttr(counts))));
    }
    instruction(name, operands, attrs, {sources, length, more, 1, more});
    return success();
  }
  if (auto gather = dyn_cast<MgatherOp>(op)) {
    Window window = windowOf(gather.getMem());
    SmallVector<Value> sizes(memoryOf(window.argument).dims);
    Tile positions = tile(gather.getIdx());
    Value from = partition(window, sizes);
    if (!from)
      return failure();
    bool rowsOfMemory = gather.getCoalesce() == "row";
    Value to = define(result, rowsOfMemory ? declared(0) : positions.rows,
                      rowsOfMemory ? declared(1) : positions.cols)
                   .handle;
    auto oob = llvm::StringSwitch<pto::GatherOOB>(gather.getGatherOob())
                   .Case("clamp", pto::GatherOOB::Clamp)
                   .Case("wrap", pto::GatherOOB::Wrap)
                   .Case("zero", pto::GatherOOB::Zero)
                   .Default(pto::GatherOOB::Undefined);
    instruction(
        name, {from, positions.handle, to},
        {attr("coalesce", pto::CoalesceAttr::get(context, rowsOfMemory ? pto::Coalesce::Row
                                                                       : pto::Coalesce::Elem)),
         attr("gatherOob", pto::GatherOOBAttr::get(context, oob))});
    return success();
  }
  if (auto scatter = dyn_cast<MscatterOp>(op)) {
    Window window = windowOf(scatter.getOut());
    SmallVector<Value> sizes(memoryOf(window.argument).dims);
    Value to = partition(window, sizes);
    if (!to)
      return failure();
    instruction(name, {tile(scatter.getSrc()).handle, tile(scatter.getIdx()).handle, to});
    return success();
  }
  return op->emitError() << "pl." << op->getName().stripDialect()
                         << " is not supported in kernels of this target yet";
}

} // namespace pypto
