//===- LowerTileOps.cpp - computing ops on 2-D tiles ----------------------===//
//
// Second part of LowerTensorToTile: one op of the language becomes the tile ops that the
// instruction set has.
//
//===----------------------------------------------------------------------===//
#include "TensorRoots.h"
#include "TensorToTile.h"
#include "TileShape.h"

using namespace mlir;

namespace pypto {

/// Replicates a row, a column or one element to the shape of `to`.
Value TensorToTile::replicate(Value small, TileType to) {
  auto type = cast<TileType>(small.getType());
  if (type.getShape() == to.getShape())
    return small;
  TileType result =
      TileType::get(to.getShape(), type.getElementType(), MemorySpace::None, to.getValid());
  bool oneRow = type.getShape()[0] == 1, oneCol = type.getShape()[1] == 1;
  if (oneRow && oneCol) {
    Value element = make("read", type.getElementType(), {small, index(0), index(0)});
    Value like = make("create_tile", result, {});
    return make("expands", result, {like, element});
  }
  Value like = make("create_tile", result, {});
  if (oneCol && type.getShape()[0] == to.getShape()[0])
    return make("row_expand", result, {like, small});
  if (oneRow && type.getShape()[1] == to.getShape()[1])
    return make("col_expand", result, {like, small});
  return {};
}

LogicalResult TensorToTile::lowerBinary(Operation *op, const OpRow *row) {
  Value lhs = tile(op->getOperand(0)), rhs = tile(op->getOperand(1));
  TileType type = flatTileType(op->getResult(0).getType());
  StringRef name = op->getName().stripDialect();
  auto finish = [&](StringRef opName, Value a, Value c) {
    Value result = make(opName, type, {a, c});
    map.map(op->getResult(0), result);
    return success();
  };
  bool commutes =
      llvm::is_contained({"add", "mul", "maximum", "minimum", "and", "or", "xor"}, name);
  auto lhsTile = dyn_cast<TileType>(lhs.getType());
  auto rhsTile = dyn_cast<TileType>(rhs.getType());
  if (!lhsTile && rhsTile) {
    if (commutes)
      return finish(name, rhs, lhs);
    if (name == "sub") { // s - x = (-x) + s, the rounding is the same
      Value negated = make("neg", type, rhs);
      return finish("add", negated, lhs);
    }
    if (name == "div") // scalar first is a form of the instruction
      return finish("div", lhs, rhs);
    lhs = make("expands", type, {rhs, lhs});
    return finish(name, lhs, rhs);
  }
  if (!rhsTile || (lhsTile.getShape() == type.getShape() && rhsTile.getShape() == type.getShape()))
    return finish(name, lhs, rhs);

  // NumPy broadcasting of rows and columns.
  StringRef expand = llvm::StringSwitch<StringRef>(name)
                         .Cases({"add", "sub", "mul", "div"}, name)
                         .Case("maximum", "max")
                         .Case("minimum", "min")
                         .Default("");
  auto fits = [&](TileType wide, TileType narrow) -> StringRef {
    if (wide.getShape() != type.getShape() || expand.empty() ||
        narrow.getShape()[0] * narrow.getShape()[1] == 1)
      return "";
    if (narrow.getShape()[1] == 1 && narrow.getShape()[0] == wide.getShape()[0])
      return "row_expand_";
    return narrow.getShape()[0] == 1 && narrow.getShape()[1] == wide.getShape()[1] ? "col_expand_"
                                                                                   : "";
  };
  if (StringRef form = fits(lhsTile, rhsTile); !form.empty())
    return finish((form + expand).str(), lhs, rhs);
  if (StringRef form = fits(rhsTile, lhsTile); !form.empty() && commutes)
    return finish((form + expand).str(), rhs, lhs);
  if (failed(needsKnownValid(op, op->getOperand(0).getType())) ||
      failed(needsKnownValid(op, op->getOperand(1).getType())))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0).getType());
  Value wideLhs = broadcast(lhs, shapeOf(op->getOperand(0).getType()), shape),
        wideRhs = broadcast(rhs, shapeOf(op->getOperand(1).getType()), shape);
  return finish(name, wideLhs, wideRhs);
}

Value TensorToTile::splat(TileType like, double value) {
  Type element = like.getElementType();
  Attribute constant = isa<FloatType>(element) ? Attribute(b.getF64FloatAttr(value))
                                               : Attribute(b.getI64IntegerAttr(int64_t(value)));
  return make("full", like, {}, {attr("value", constant)});
}

/// A packed mask for tiles like this, a bit per element, rows of whole 32 bytes.
TileType TensorToTile::maskOf(TileType like) {
  int64_t bytes = llvm::alignTo(llvm::divideCeil(like.getShape()[1], 8), 32);
  SmallVector<int64_t> valid;
  if (!like.getValid().empty())
    valid = {like.getValid()[0], bytes};
  return TileType::get({like.getShape()[0], bytes},
                       IntegerType::get(b.getContext(), 8, IntegerType::Unsigned),
                       MemorySpace::None, valid);
}

LogicalResult TensorToTile::lowerCompare(CmpOp op) {
  Value lhs = tile(op.getLhs()), rhs = tile(op.getRhs());
  NamedAttribute kind = attr("cmp_type", op.getCmpTypeAttr());
  TileType result = flatTileType(op.getType());
  if (op.getPacked()) {
    map.map(op.getResult(), make("cmp", result, {lhs, rhs}, kind));
    return success();
  }
  if (isa<TileType>(rhs.getType())) {
    ArrayRef<int64_t> shape = shapeOf(op.getType());
    rhs = broadcast(rhs, shapeOf(op.getRhs().getType()), shape);
    lhs = broadcast(lhs, shapeOf(op.getLhs().getType()), shape);
  }
  Value mask = make("cmp", maskOf(result), {lhs, rhs}, kind); // then 1 or 0
  auto constant = [&](double value) -> Value {
    Type element = result.getElementType();
    if (isa<FloatType>(element))
      return arith::ConstantOp::create(b, loc, b.getFloatAttr(element, value));
    auto signless = IntegerType::get(b.getContext(), element.getIntOrFloatBitWidth());
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(signless, int64_t(value)));
  };
  Value one = make("expands", result, {lhs, constant(1)});
  Value zero = constant(0);
  map.map(op.getResult(), make("sel", result, {mask, one, zero}));
  return success();
}

/// acc + lhs @ rhs on 2-D tiles; `element` is the accumulator's element type.
Value TensorToTile::product(Value lhs, Value rhs, Value acc, Value initCond, Type element,
                            bool aTrans, bool bTrans) {
  auto transposed = [&](Value v) {
    auto t = cast<TileType>(v.getType());
    // A plane of a value whose boxes it does not fill is turned before it comes to mat.
    if (v.getDefiningOp<SliceOp>() && t.getMemorySpace() != MemorySpace::Mat &&
        t.getValid().empty()) {
      SmallVector<int64_t> shape{t.getShape()[0], t.getShape()[1]};
      return swapAxes(v, shape, 0, 1);
    }
    SmallVector<int64_t> valid(llvm::reverse(t.getValid()));
    MemorySpace space = t.getMemorySpace();
    return make("transpose_view",
                TileType::get({t.getShape()[1], t.getShape()[0]}, t.getElementType(), space, valid,
                              !t.getTransposed()),
                v);
  };
  if (aTrans)
    lhs = transposed(lhs);
  if (bTrans)
    rhs = transposed(rhs);
  auto l = cast<TileType>(lhs.getType()), r = cast<TileType>(rhs.getType());
  SmallVector<int64_t> valid;
  if (!l.getValid().empty() || !r.getValid().empty())
    valid = {l.getValidShape()[0], r.getValidShape()[1]};
  SmallVector<int64_t> shape{l.getShape()[0], r.getShape()[1]};
  if (valid == shape)
    valid.clear();
  auto type = TileType::get(shape, element, MemorySpace::Acc, valid);
  if (!acc)
    return make("matmul", type, {lhs, rhs});
  type = TileType::get(shape, element, MemorySpace::Acc, cast<TileType>(acc.getType()).getValid());
  if (!initCond)
    return make("matmul_acc", type, {acc, lhs, rhs});
  return make("matmul_acc", type, {acc, lhs, rhs, initCond});
}

LogicalResult TensorToTile::lowerMatmul(Operation *op, StringRef family) {
  bool accumulates = family == "matmul_acc";
  unsigned first = accumulates ? 1 : 0;
  Value oldLhs = op->getOperand(first), oldRhs = op->getOperand(first + 1);
  Value lhs = tile(oldLhs), rhs = tile(oldRhs);
  auto flag = [&](StringRef name) {
    auto attribute = op->getAttrOfType<BoolAttr>(name);
    return attribute && attribute.getValue();
  };
  bool aTrans = flag("a_trans"), bTrans = flag("b_trans");
  Type element = elementTypeOf(lhs.getType());
  Type accElement = isa<FloatType>(element) ? Type(b.getF32Type()) : Type(b.getI32Type());
  Type resultType = op->getResult(0).getType();
  Value acc = accumulates ? tile(op->getOperand(0)) : Value();
  Value initCond =
      accumulates && op->getNumOperands() > 3 ? map.lookup(op->getOperand(3)) : Value();
  // A vector is a row on the left and a column on the right, which the product leaves out again.
  SmallVector<int64_t> ls(shapeOf(oldLhs.getType())), rs(shapeOf(oldRhs.getType())),
      os(shapeOf(resultType));
  bool column = rs.size() == 1;
  if (ls.size() == 1) {
    ls.insert(ls.begin(), 1);
    os.insert(os.end() - (column ? 0 : 1), 1);
    aTrans = false;
  }
  Value added;
  if (column) {
    rs.push_back(1);
    os.push_back(1);
    bTrans = false;
    rhs = make("reshape", TileType::get({rs[0], 1}, element), rhs);
    std::swap(acc, added); // it has the shape of the result, not of the product
  }

  Value result;
  if (family == "matmul_bias") {
    Value bias = tile(op->getOperand(2));
    auto type = cast<TileType>(flatTileType(resultType, MemorySpace::Acc));
    result = make("matmul_bias",
                  TileType::get(type.getShape(), accElement, MemorySpace::Acc, type.getValid()),
                  {lhs, rhs, bias});
  } else if (ls.size() <= 2 && rs.size() <= 2) {
    result = product(lhs, rhs, acc, initCond, accElement, aTrans, bTrans);
  } else {
    // One product per batch, joined in a vec tile.
    int64_t batches = planesOf(os);
    int64_t m = os[os.size() - 2], n = os.back();
    if (initCond)
      return op->emitError("matmul_acc: init_cond needs 2-D operands");
    auto outType = TileType::get({batches * m, n}, accElement);
    result = make("create_tile", outType, {});
    auto batchOf = [&](Value all, ArrayRef<int64_t> shape, int64_t batch) -> Value {
      if (shape.size() <= 2)
        return all;
      // Batch axes broadcast from the right.
      int64_t position = 0, scale = 1;
      for (int i = 1; i <= int(os.size()) - 2; ++i) {
        int64_t extent = os[os.size() - 2 - i];
        int64_t coordinate = batch % extent;
        batch /= extent;
        if (i > int(shape.size()) - 2)
          continue;
        int64_t own = shape[shape.size() - 2 - i];
        position += (own == 1 ? 0 : coordinate) * scale;
        scale *= own;
      }
      return planeOf(all, shape, index(position));
    };
    for (int64_t batch = 0; batch < batches; ++batch) {
      Value part = product(batchOf(lhs, ls, batch), batchOf(rhs, rs, batch), {}, {}, accElement,
                           aTrans, bTrans);
      result = make("assemble", outType, {result, part, index(batch * m), index(0)});
    }
    if (acc)
      result = make("add", outType, {acc, result});
  }
  if (column) {
    auto flat =
        TileType::get({rowsOf(shapeOf(resultType)), colsOf(shapeOf(resultType))}, accElement);
    if (cast<TileType>(result.getType()).getMemorySpace() == MemorySpace::Acc) {
      auto product = TileType::get(cast<TileType>(result.getType()).getShape(), accElement);
      result =
          make("assemble", product, {make("create_tile", product, {}), result, index(0), index(0)});
    }
    result = make("reshape", flat, result);
    if (added)
      result = make("add", flat, {added, result});
  }
  // A declared narrower result: rounded to nearest even, as the hardware's store path does.
  TileType declared = flatTileType(resultType);
  if (declared.getElementType() != accElement) {
    auto t = cast<TileType>(result.getType());
    result = make(
        "cast",
        TileType::get(t.getShape(), declared.getElementType(), MemorySpace::None, t.getValid()),
        result, attr("mode", b.getStringAttr("rint")));
  }
  map.map(op->getResult(0), result);
  return success();
}

LogicalResult TensorToTile::lowerSplit(SplitAivOp op) {
  // The lanes run one after the other; the second starts with what the first left.
  Block &body = op.getRegion().front();
  StringRef outer = splitMode;
  splitMode = op.getMode();
  SmallVector<Value> state;
  for (Value init : op.getInits())
    state.push_back(tile(init));
  for (int64_t which : {0, 1}) {
    lane = which;
    map.map(body.getArgument(0), index(which));
    for (auto [arg, value] : llvm::zip(body.getArguments().drop_front(), state))
      map.map(arg, value);
    for (Operation &inner : body.without_terminator())
      if (failed(lowerOp(&inner)))
        return failure();
    SmallVector<Value> next;
    for (Value value : body.getTerminator()->getOperands())
      next.push_back(tile(value));
    if (which == 0 && state.size() == next.size())
      state = next;
    if (which == 1)
      for (auto [result, value] : llvm::zip(op->getResults(), next))
        map.map(result, value);
  }
  lane.reset();
  splitMode = outer;
  gathered.clear();
  return success();
}

LogicalResult TensorToTile::lowerValueOp(Operation *op, const OpRow *row) {
  StringRef family = row->family, name = op->getName().stripDialect();
  if (family == "binary" && op->getNumOperands() == 2 && name != "lrelu" && name != "prelu")
    return lowerBinary(op, row);
  if (auto compare = dyn_cast<CmpOp>(op))
    return lowerCompare(compare);
  if (family == "matmul" || family == "matmul_acc" || family == "matmul_bias")
    return lowerMatmul(op, family);
  if (auto o = dyn_cast<CastOp>(op))
    return lowerCast(o);
  if (auto o = dyn_cast<GatherOp>(op))
    return lowerGather(o);
  if (auto o = dyn_cast<ScatterOp>(op))
    return lowerScatter(o);
  if (auto o = dyn_cast<ScatterMaskOp>(op))
    return lowerScatterMask(o);
  if (auto o = dyn_cast<ScatterUpdateOp>(op))
    return lowerScatterUpdate(o);
  if (auto o = dyn_cast<GatherRowOp>(op))
    return lowerGatherRow(o);
  if (isa<SinOp, CosOp>(op))
    return lowerSineCosine(op, isa<CosOp>(op));
  if (auto o = dyn_cast<PagedGatherOp>(op))
    return lowerPagedGather(o);
  if (auto o = dyn_cast<ExpandCloneOp>(op))
    return lowerExpandClone(o);
  if (family == "matmul_mx") {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(tile(operand));
    map.map(op->getResult(0),
            make("matmul_mx", flatTileType(op->getResult(0).getType(), MemorySpace::Acc), operands,
                 attr("operandSegmentSizes", op->getAttr("operandSegmentSizes"))));
    return success();
  }
  if (isa<AivShardOp>(op) || isa<AicGatherOp>(op)) {
    Value x = tile(op->getOperand(0));
    auto in = cast<TileType>(x.getType());
    TileType out = flatTileType(op->getResult(0).getType());
    if (!lane || splitMode == "none" || in.getShape() == out.getShape()) {
      map.map(op->getResult(0), x);
      return success();
    }
    bool rows = splitMode == "up_down";
    if (isa<AivShardOp>(op)) {
      Value row = index(rows ? *lane * out.getShape()[0] : 0),
            col = index(rows ? 0 : *lane * out.getShape()[1]);
      map.map(op->getResult(0),
              make("slice", out, {x, index(out.getShape()[0]), index(out.getShape()[1]), row, col},
                   attr("operandSegmentSizes", b.getDenseI32ArrayAttr({1, 2, 2, 0}))));
      return success();
    }
    Value &joined = gathered[op];
    if (!joined)
      joined = make("create_tile", out, {});
    joined = make("assemble", out,
                  {joined, x, index(rows ? *lane * in.getShape()[0] : 0),
                   index(rows ? 0 : *lane * in.getShape()[1])});
    map.map(op->getResult(0), joined);
    return success();
  }
  if (family == "reshape") {
    Value x = tile(op->getOperand(0));
    auto from = cast<TileType>(x.getType());
    TileType to = flatTileType(op->getResult(0).getType(), from.getMemorySpace());
    map.map(op->getResult(0), from.getShape() == to.getShape() ? x : make("reshape", to, x));
    return success();
  }
  if (isa<CreateTensorOp, CreateTileOp>(op)) {
    auto old = op->getResult(0).getType();
    MemorySpace space = MemorySpace::None;
    if (auto create = dyn_cast<CreateTileOp>(op))
      space = symbolizeMemorySpace(create.getTargetMemory()).value_or(MemorySpace::None);
    if (auto create = dyn_cast<CreateTensorOp>(op); create && create.getInitValue()) {
      map.map(op->getResult(0),
              make("full", flatTileType(old), {}, attr("value", *create.getInitValue())));
      return success();
    }
    if (!llvm::all_of(shapeOf(old), [](int64_t extent) { return extent > 0; }))
      return op->emitError(
          "a tensor created in a kernel is an on-chip tile and needs constant extents");
    TileType type = flatTileType(old, space == MemorySpace::Vec ? MemorySpace::None : space);
    map.map(op->getResult(0), make("create_tile", type, {}));
    return success();
  }
  if (auto undef = dyn_cast<UndefOp>(op)) {
    Type type = undef.getType();
    if (isa<TensorType, TileType>(type))
      map.map(undef.getResult(), make("create_tile", flatTileType(type), {}));
    else if (type.isIntOrIndexOrFloat() && !type.isUnsignedInteger())
      map.map(undef.getResult(), arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
    else
      map.map(undef.getResult(), b.clone(*op, map)->getResult(0));
    return success();
  }
  auto transpose = dyn_cast<TransposeOp>(op);
  bool planes = llvm::any_of(op->getResultTypes(), [](Type type) {
    return isa<TensorType, TileType>(type) && planesOf(shapeOf(type)) > 1;
  });
  if (transpose && (planes || planesOf(shapeOf(op->getOperand(0).getType())) > 1 ||
                    shapeOf(op->getOperand(0).getType()).size() > 2))
    return lowerTranspose(transpose);
  if (planes && llvm::is_contained({"col_reduce", "col_arg", "col_expand"}, family))
    return lowerByPlane(op);
  // Everything else keeps its form: operands as tiles, results flat.
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isa<TensorType>(operand.getType()) &&
                               !isa<MgatherOp, MscatterOp, SyncAllOp, SetFftsOp, CacheInvalidOp>(op)
                           ? tile(operand)
                           : map.lookup(operand));
  OperationState state(loc, op->getName(), operands, {}, op->getAttrs());
  for (Type type : op->getResultTypes())
    state.addTypes(convert(type));
  Operation *made = b.create(state);
  if (isa<MoveOp>(op) || isa<ExtractOp>(op)) {
    MemorySpace space = cast<TileType>(op->getResult(0).getType()).getMemorySpace();
    auto type = cast<TileType>(made->getResult(0).getType());
    bool transposed = cast<TileType>(operands[0].getType()).getTransposed();
    made->getResult(0).setType(TileType::get(type.getShape(), type.getElementType(), space,
                                             type.getValid(),
                                             space == MemorySpace::Mat && transposed));
  }
  if (isa<TransposeViewOp>(op)) {
    auto source = cast<TileType>(operands[0].getType());
    SmallVector<int64_t> valid(llvm::reverse(source.getValid()));
    made->getResult(0).setType(TileType::get({source.getShape()[1], source.getShape()[0]},
                                             source.getElementType(), source.getMemorySpace(),
                                             valid, !source.getTransposed()));
  }
  map.map(op->getResults(), made->getResults());
  return success();
}

} // namespace pypto
