//===- TileOps.cpp - regular tile ops as NestOps --------------------------===//
//
// Which lanes an op reads and what it computes from them. Sources that a table row
// needs: operand names of the dialect's records, and the meaning in pto-isa 6.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
namespace pto = mlir::pto;
namespace ptoas::native {

std::unique_ptr<NestOp> FunctionEmitter::newNest(mlir::Operation *op, mlir::Value out) {
  auto nest = std::make_unique<NestOp>();
  nest->source = op;
  tileViews.erase(out); // a new write ends a view
  nest->out = tileAccess(out);
  nest->rows = validRows(*nest->out.tile);
  nest->cols = validCols(*nest->out.tile);
  return nest;
}

/// A scalar operand in the C type of `elem`; numbers of other types are converted.
Value *FunctionEmitter::scalarAs(mlir::Value scalar, Elem elem) {
  Value *v = value(scalar);
  VecBuilder one(b, 1, owner.avx512());
  std::optional<Elem> have = elemOf(scalar.getType());
  if (!have) // i1
    return b.CreateZExt(v, one.regType(elem));
  v = one.fromScalar(v, *have);
  if (*have == elem || (isInteger(*have) && isInteger(elem) && bitsOf(*have) == bitsOf(elem)))
    return v;
  return one.convert(v, *have, elem, Round::Rint, /*saturate=*/false);
}

template <typename AttrT>
static std::optional<unsigned> enumOf(mlir::Operation *op, StringRef name) {
  if (auto attr = op->getAttrOfType<AttrT>(name))
    return static_cast<unsigned>(attr.getValue());
  return std::nullopt;
}

/// Which saturation a conversion has when none is named, and whether a named one counts
/// (pto-isa 6.5): A2/A3 lets the program choose for six pairs only.
static bool saturates(mlir::Operation *op, Elem from, Elem to) {
  bool choice = (from == Elem::F16 && (to == Elem::U8 || to == Elem::I8 || to == Elem::I16)) ||
                (from == Elem::F32 && to == Elem::I16) || (from == Elem::I64 && to == Elem::I32) ||
                (from == Elem::I32 && to == Elem::I16);
  std::optional<unsigned> named = enumOf<pto::SaturationModeAttr>(op, "sat_mode");
  if (named && (choice || pto::getTargetArch(op) == pto::Arch::A5))
    return *named == unsigned(pto::SaturationMode::On);
  return !choice;
}

static std::optional<Binary> binaryKind(StringRef name) {
  static const StringMap<Binary> table = {
      {"add", Binary::Add}, {"sub", Binary::Sub},    {"mul", Binary::Mul}, {"div", Binary::Div},
      {"max", Binary::Max}, {"min", Binary::Min},    {"rem", Binary::Rem}, {"fmod", Binary::FMod},
      {"and", Binary::And}, {"or", Binary::Or},      {"xor", Binary::Xor}, {"shl", Binary::Shl},
      {"shr", Binary::Shr}, {"prelu", Binary::PRelu}};
  auto it = table.find(name);
  return it == table.end() ? std::nullopt : std::optional<Binary>(it->second);
}

static std::optional<Unary> unaryKind(StringRef name) {
  static const StringMap<Unary> table = {
      {"abs", Unary::Abs},   {"neg", Unary::Neg},     {"not", Unary::Not},
      {"relu", Unary::Relu}, {"exp", Unary::Exp},     {"log", Unary::Log},
      {"sqrt", Unary::Sqrt}, {"rsqrt", Unary::Rsqrt}, {"recip", Unary::Recip}};
  auto it = table.find(name);
  return it == table.end() ? std::nullopt : std::optional<Unary>(it->second);
}

static bool supports(Binary op, Elem e) {
  bool bitwise = op == Binary::And || op == Binary::Or || op == Binary::Xor || op == Binary::Shl ||
                 op == Binary::Shr;
  return !bitwise || isInteger(e);
}

static bool supports(Unary op, Elem e) {
  switch (op) {
  case Unary::Not:
    return isInteger(e);
  case Unary::Exp:
  case Unary::Log:
    return isFloat(e) && e != Elem::F64;
  case Unary::Sqrt:
  case Unary::Rsqrt:
    return isFloat(e);
  default:
    return true;
  }
}

/// Whether `tile` stands for one value per row of a tile of the shape of `full`.
static bool isPerRow(const TileInfo &tile, const TileInfo &full) {
  return tile.cols == 1 || tile.type.isColMajor() || tile.cols != full.cols;
}

FailureOr<bool> FunctionEmitter::emitRegular(pto::TileOpInterface op) {
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("pto.t"))
    return false;
  if (name == "sync" || name == "prefetch")
    return true;
  if (auto relu = op->getAttrOfType<pto::ReluPreModeAttr>("reluPreMode");
      relu && relu.getValue() > pto::ReluPreMode::NormalRelu)
    return op->emitError("native target: no code for reluPreMode ")
           << pto::stringifyReluPreMode(relu.getValue()) << ", expected no_relu or normal_relu";
  if (FailureOr<bool> done = emitSmallFloats(op); failed(done) || *done)
    return done;
  if (tryView(op))
    return true;
  if (name == "load")
    return failed(emitLoad(op)) ? FailureOr<bool>(failure()) : true;
  if (name == "store" || name == "store_fp")
    return failed(emitStore(op)) ? FailureOr<bool>(failure()) : true;
  if (name.starts_with("matmul") || name.starts_with("gemv"))
    return false;
  for (auto emit : {&FunctionEmitter::emitMove, &FunctionEmitter::emitReduction,
                    &FunctionEmitter::emitGenerated}) {
    FailureOr<bool> done = (this->*emit)(op);
    if (failed(done) || *done)
      return done;
  }

  mlir::Value dst = op.getNamedOperand("dst");
  if (!dst || !model.isTile(dst))
    return false;
  auto unsupported = [&](Elem) {
    return op->emitError("native target: '")
           << op->getName() << "' on " << model.info(dst).type.getElementType();
  };
  auto finish = [&](std::unique_ptr<NestOp> nest) {
    addNest(std::move(nest));
    return true;
  };
  auto in = [&](NestOp &nest, StringRef operand, Spread spread = Spread::Full) {
    nest.in.push_back(tileAccess(op.getNamedOperand(operand), spread));
    return nest.in.back().elem;
  };

  // Tile with tile.
  if (std::optional<Binary> kind = binaryKind(name)) {
    auto nest = newNest(op, dst);
    Elem e = in(*nest, "src0");
    in(*nest, "src1");
    if (!supports(*kind, e))
      return unsupported(e);
    nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
      return lane.vb.binary(*kind, e, v[0], v[1]);
    };
    return finish(std::move(nest));
  }
  if (std::optional<Unary> kind = unaryKind(name)) {
    auto nest = newNest(op, dst);
    Elem e = in(*nest, "src");
    if (!supports(*kind, e))
      return unsupported(e);
    nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
      return lane.vb.unary(*kind, e, v[0]);
    };
    return finish(std::move(nest));
  }
  // Tile with scalar: the name of the tile form and an s.
  StringRef stem = name;
  if (stem == "lrelu" || (stem.consume_back("s") && binaryKind(stem))) {
    Binary kind = name == "lrelu" ? Binary::PRelu : *binaryKind(stem);
    auto nest = newNest(op, dst);
    Elem e = in(*nest, "src");
    if (!supports(kind, e))
      return unsupported(e);
    Value *scalar = scalarAs(op.getNamedOperand("scalar"), e);
    bool scalarFirst = op->hasAttr("scalarFirst");
    nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
      Value *s = lane.vb.splat(scalar);
      return scalarFirst ? lane.vb.binary(kind, e, s, v[0]) : lane.vb.binary(kind, e, v[0], s);
    };
    return finish(std::move(nest));
  }
  if (name == "addc" || name == "subc") {
    Binary first = name == "addc" ? Binary::Add : Binary::Sub;
    auto nest = newNest(op, dst);
    Elem e = in(*nest, "src0");
    in(*nest, "src1");
    in(*nest, "src2");
    nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
      return lane.vb.binary(Binary::Add, e, lane.vb.binary(first, e, v[0], v[1]), v[2]);
    };
    return finish(std::move(nest));
  }
  if (name == "addsc" || name == "subsc") {
    Binary first = name == "addsc" ? Binary::Add : Binary::Sub;
    auto nest = newNest(op, dst);
    Elem e = in(*nest, "src0");
    in(*nest, "src1");
    Value *scalar = scalarAs(op.getNamedOperand("scalar"), e);
    nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
      Value *x = lane.vb.binary(first, e, v[0], lane.vb.splat(scalar));
      return lane.vb.binary(Binary::Add, e, x, v[1]);
    };
    return finish(std::move(nest));
  }
  if (name == "addrelu") {
    auto nest = newNest(op, dst);
    Elem e = in(*nest, "src0");
    in(*nest, "src1");
    nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
      return lane.vb.unary(Unary::Relu, e, lane.vb.binary(Binary::Add, e, v[0], v[1]));
    };
    return finish(std::move(nest));
  }
  if (name == "axpy") {
    auto nest = newNest(op, dst);
    Elem e = in(*nest, "src");
    Elem wide = in(*nest, "dst");
    Value *scalar = scalarAs(op.getNamedOperand("scalar"), wide);
    nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
      Value *x = lane.vb.convert(v[0], e, wide, Round::None, true);
      Value *product = lane.vb.binary(Binary::Mul, wide, x, lane.vb.splat(scalar));
      return lane.vb.binary(Binary::Add, wide, v[1], product);
    };
    return finish(std::move(nest));
  }
  if (name == "cvt") {
    mlir::Value src = op.getNamedOperand("src");
    auto nest = newNest(op, dst);
    Elem from = in(*nest, "src"), to = nest->out.elem;
    nest->rows = smaller(nest->rows, validRows(model.info(src))); // pto-isa 6.5: what both have
    nest->cols = smaller(nest->cols, validCols(model.info(src)));
    auto mode = static_cast<Round>(
        enumOf<pto::RoundModeAttr>(op, "rmode").value_or(unsigned(Round::CastRint)));
    bool saturate = saturates(op, from, to);
    nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
      return lane.vb.convert(v[0], from, to, mode, saturate);
    };
    return finish(std::move(nest));
  }
  if (name == "pack") {
    auto nest = newNest(op, dst);
    Elem from = in(*nest, "src"), to = nest->out.elem;
    nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
      const VecBuilder &vb = lane.vb;
      Value *bits = vb.bitcastTo(vb.toMemory(v[0], from), vb.b.getIntNTy(bitsOf(from)));
      Value *low = vb.b.CreateZExtOrTrunc(bits, vb.iN(bitsOf(to)));
      return vb.fromMemory(vb.b.CreateBitCast(low, vb.memType(to)), to);
    };
    return finish(std::move(nest));
  }

  // Compare and select.
  if (name == "cmp" || name == "cmps") {
    auto nest = newNest(op, dst);
    Elem e = in(*nest, name == "cmp" ? "src0" : "src");
    nest->rows = validRows(*nest->in[0].tile);
    nest->cols = validCols(*nest->in[0].tile);
    nest->out = maskAccess(dst);
    // The packed row must fit its tile.
    if (nest->in[0].tile->cols > nest->out.tile->rowBytes() * 8)
      nest->cols = smaller(nest->cols, index(nest->out.tile->rowBytes() * 8));
    auto mode = static_cast<Compare>(enumOf<pto::CmpModeAttr>(op, "cmpMode").value_or(0));
    if (name == "cmp") {
      in(*nest, "src1");
      nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
        return lane.vb.compare(mode, e, v[0], v[1]);
      };
    } else {
      Value *scalar = scalarAs(op.getNamedOperand("scalar"), e);
      nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
        return lane.vb.compare(mode, e, v[0], lane.vb.splat(scalar));
      };
    }
    return finish(std::move(nest));
  }
  if (name == "sel" || name == "sels") {
    auto nest = newNest(op, dst);
    nest->in.push_back(maskAccess(op.getNamedOperand("mask")));
    if (name == "sel") {
      in(*nest, "src0");
      in(*nest, "src1");
      nest->compute = [](const Lane &lane, ArrayRef<Value *> v) {
        return lane.vb.select(v[0], v[1], v[2]);
      };
    } else {
      Elem e = in(*nest, "src");
      Value *scalar = scalarAs(op.getNamedOperand("scalar"), e);
      nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
        return lane.vb.select(v[0], v[1], lane.vb.splat(scalar));
      };
    }
    return finish(std::move(nest));
  }

  // Broadcasts.
  if (name == "rowexpand" || name == "colexpand") {
    auto nest = newNest(op, dst);
    in(*nest, "src", name == "rowexpand" ? Spread::PerRow : Spread::PerCol);
    return finish(std::move(nest));
  }
  bool perRow = name.consume_front("rowexpand"), perCol = name.consume_front("colexpand");
  if (perRow || perCol) {
    bool expdif = name == "expdif";
    std::optional<Binary> kind = expdif ? Binary::Sub : binaryKind(name);
    if (!kind)
      return false;
    auto nest = newNest(op, dst);
    Elem e = in(*nest, "src0");
    in(*nest, "src1", perCol ? Spread::PerCol : Spread::PerRow);
    if (perRow && isPerRow(*nest->in[0].tile, *nest->out.tile) &&
        !isPerRow(*nest->in[1].tile, *nest->out.tile)) {
      nest->in[0].spread = Spread::PerRow;
      nest->in[1].spread = Spread::Full;
    }
    if (expdif && !supports(Unary::Exp, e))
      return unsupported(e);
    nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
      Value *x = lane.vb.binary(*kind, e, v[0], v[1]);
      return expdif ? lane.vb.unary(Unary::Exp, e, x) : x;
    };
    return finish(std::move(nest));
  }
  if (name == "dequant") {
    auto nest = newNest(op, dst);
    Elem e = in(*nest, "src");
    in(*nest, "scale", Spread::PerRow);
    in(*nest, "offset", Spread::PerRow);
    nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
      Value *x = lane.vb.convert(v[0], e, Elem::F32, Round::Rint, true);
      return lane.vb.b.CreateFMul(lane.vb.b.CreateFSub(x, v[2]), v[1]);
    };
    return finish(std::move(nest));
  }
  if (name == "quant") {
    auto nest = newNest(op, dst);
    in(*nest, "src");
    in(*nest, "fp", Spread::PerRow);
    Elem offset = Elem::F32, to = nest->out.elem;
    bool hasOffset = static_cast<bool>(op.getNamedOperand("offset"));
    if (hasOffset)
      offset = in(*nest, "offset", Spread::PerRow);
    nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
      const VecBuilder &vb = lane.vb;
      Value *q = vb.roundFloat(vb.b.CreateFMul(v[0], v[1]), Round::Rint);
      if (hasOffset)
        q = vb.b.CreateFAdd(q, vb.convert(v[2], offset, Elem::F32, Round::Rint, true));
      return vb.convert(q, Elem::F32, to, Round::Rint, true);
    };
    return finish(std::move(nest));
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

FailureOr<bool> FunctionEmitter::emitReduction(pto::TileOpInterface op) {
  StringRef name = op->getName().getStringRef();
  bool byRow = name.consume_front("pto.trow"), byCol = !byRow && name.consume_front("pto.tcol");
  if (!byRow && !byCol)
    return false;
  bool arg = name.consume_front("arg");
  static const StringMap<Reduction> table = {{"sum", Reduction::Sum},
                                             {"prod", Reduction::Prod},
                                             {"max", Reduction::Max},
                                             {"min", Reduction::Min}};
  auto it = table.find(name);
  if (it == table.end() || (arg && byCol))
    return false;
  mlir::Value src = op.getNamedOperand("src"), dst = op.getNamedOperand("dst");
  if (auto binary = op->getAttrOfType<mlir::BoolAttr>("isBinary"); binary && binary.getValue()) {
    flush();
    tileViews.erase(dst);
    callRuntime("pto_col_sum_pairs", {describe(dst), describe(src),
                                      b.getInt32(pto::getTargetArch(op) == pto::Arch::A5)});
    return true;
  }
  auto nest = newNest(op, dst);
  nest->in.push_back(tileAccess(src));
  nest->reduction = it->second;
  const TileInfo &from = *nest->in[0].tile;
  if (byRow) {
    nest->kind = arg ? NestKind::RowArg : NestKind::RowReduce;
    nest->cols = validCols(from);
    nest->out.spread = Spread::PerRow;
    nest->rows = smaller(nest->rows, index(from.rows));
  } else {
    nest->kind = NestKind::ColReduce;
    nest->rows = validRows(from);
    nest->cols = smaller(nest->cols, index(from.cols));
    nest->out.spread = Spread::PerCol;
  }
  addNest(std::move(nest));
  return true;
}

//===----------------------------------------------------------------------===//
// Fills, pads, ramps, partial operands: what depends on the position
//===----------------------------------------------------------------------===//

/// Lanes of `lane` whose column is below `cols` in a row below `rows`.
static Value *inside(const Lane &lane, Value *rows, Value *cols) {
  const VecBuilder &vb = lane.vb;
  IRBuilder<> &b = vb.b;
  Value *rowOk = b.CreateICmpSLT(lane.row, rows);
  Value *left = b.CreateSelect(rowOk, b.CreateSub(cols, lane.col), b.getInt64(0));
  // Saturate to 32 bits, then compare with the lane numbers.
  left = b.CreateBinaryIntrinsic(Intrinsic::smin, left, b.getInt64(INT32_MAX));
  left = b.CreateBinaryIntrinsic(Intrinsic::smax, left, b.getInt64(0));
  Value *left32 = b.CreateTrunc(left, b.getInt32Ty());
  return b.CreateICmpSLT(vb.iota(32), vb.splat(left32));
}

Constant *padConstant(const VecBuilder &vb, Elem e, pto::PadValue pad) {
  bool max = pad == pto::PadValue::Max;
  if (pad == pto::PadValue::Null || pad == pto::PadValue::Zero || bitsOf(e) == 64)
    return vb.constant(e, 0.0);
  if (isFloat(e))
    return ConstantFP::getInfinity(vb.regType(e), !max);
  unsigned bits = bitsOf(e);
  APInt limit = isSigned(e)
                    ? (max ? APInt::getSignedMaxValue(bits) : APInt::getSignedMinValue(bits))
                    : (max ? APInt::getMaxValue(bits) : APInt::getMinValue(bits));
  return Constant::getIntegerValue(vb.regType(e), limit);
}

FailureOr<bool> FunctionEmitter::emitGenerated(pto::TileOpInterface op) {
  StringRef name = op->getName().getStringRef();
  name.consume_front("pto.t");
  mlir::Value dst = op.getNamedOperand("dst");
  if (!dst || !model.isTile(dst))
    return false;
  const TileInfo &out = model.info(dst);
  auto finish = [&](std::unique_ptr<NestOp> nest) {
    addNest(std::move(nest));
    return true;
  };
  if (name == "expands") {
    auto nest = newNest(op, dst);
    if (out.type.getSpace() == pto::AddressSpace::Mat) { // the instruction fills the whole tile
      nest->rows = index(out.rows);
      nest->cols = index(out.cols);
    }
    Value *scalar = scalarAs(op.getNamedOperand("scalar"), out.elem);
    nest->compute = [=](const Lane &lane, ArrayRef<Value *>) { return lane.vb.splat(scalar); };
    return finish(std::move(nest));
  }
  if (name == "ci") {
    auto nest = newNest(op, dst);
    Value *start = scalarAs(op.getNamedOperand("start"), out.elem);
    auto descending = op->getAttrOfType<mlir::BoolAttr>("descending");
    bool down = descending && descending.getValue();
    unsigned bits = bitsOf(out.elem);
    nest->rows = smaller(nest->rows, index(1));
    nest->usesPosition = true;
    nest->compute = [=](const Lane &lane, ArrayRef<Value *>) {
      const VecBuilder &vb = lane.vb;
      Value *j =
          vb.b.CreateAdd(vb.splat(vb.b.CreateTrunc(lane.col, vb.b.getIntNTy(bits))), vb.iota(bits));
      return down ? vb.b.CreateSub(vb.splat(start), j) : vb.b.CreateAdd(vb.splat(start), j);
    };
    return finish(std::move(nest));
  }
  if (name == "tri") {
    auto nest = newNest(op, dst);
    Value *diagonal = asIndex(op.getNamedOperand("diagonal"));
    auto upper = op->getAttrOfType<mlir::IntegerAttr>("upperOrLower");
    bool isUpper = upper && upper.getInt() != 0;
    Elem e = out.elem;
    nest->usesPosition = true;
    nest->compute = [=](const Lane &lane, ArrayRef<Value *>) {
      const VecBuilder &vb = lane.vb;
      IRBuilder<> &b = vb.b;
      // Lower: ones for j <= i + d, that is below i + d + 1; upper: zeros for j < i + d.
      Value *edge = b.CreateAdd(lane.row, diagonal);
      if (!isUpper)
        edge = b.CreateAdd(edge, b.getInt64(1));
      Value *below = inside(lane, b.getInt64(INT64_MAX), edge);
      Constant *one = vb.constant(e, 1.0), *zero = vb.constant(e, 0.0);
      return b.CreateSelect(below, isUpper ? zero : one, isUpper ? one : zero);
    };
    return finish(std::move(nest));
  }
  if (name == "fillpad" || name == "fillpad_inplace" || name == "fillpad_expand") {
    auto nest = newNest(op, dst);
    nest->in.push_back(tileAccess(op.getNamedOperand("src")));
    const TileInfo &src = model.info(op.getNamedOperand("src"));
    Value *rows = validRows(src), *cols = validCols(src);
    nest->rows = index(out.rows);
    nest->cols = index(out.cols);
    nest->in[0].elem = out.elem;
    nest->in[0].rowLimit = src.rows < out.rows ? src.rows : 0;
    pto::PadValue pad = out.type.getPad();
    if (auto attr = op->getAttrOfType<pto::PadValueAttr>("padValue"))
      pad = attr.getValue();
    Elem e = out.elem;
    nest->usesPosition = true;
    nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
      return lane.vb.select(inside(lane, rows, cols), v[0], padConstant(lane.vb, e, pad));
    };
    return finish(std::move(nest));
  }
  if (name.consume_front("part")) {
    std::optional<Binary> kind = StringSwitch<std::optional<Binary>>(name)
                                     .Case("add", Binary::Add)
                                     .Case("mul", Binary::Mul)
                                     .Case("max", Binary::Max)
                                     .Case("min", Binary::Min)
                                     .Default(std::nullopt);
    if (!kind)
      return false;
    auto nest = newNest(op, dst);
    Value *rows[2], *cols[2];
    for (unsigned i : {0u, 1u}) {
      nest->in.push_back(tileAccess(op.getNamedOperand(i ? "src1" : "src0")));
      const TileInfo &src = *nest->in[i].tile;
      nest->in[i].rowLimit = src.rows < out.rows ? src.rows : 0;
      rows[i] = validRows(src);
      cols[i] = validCols(src);
    }
    Elem e = out.elem;
    Value *r0 = rows[0], *r1 = rows[1], *c0 = cols[0], *c1 = cols[1];
    nest->usesPosition = true;
    nest->compute = [=](const Lane &lane, ArrayRef<Value *> v) {
      const VecBuilder &vb = lane.vb;
      Value *first = inside(lane, r0, c0), *second = inside(lane, r1, c1);
      Value *both = vb.binary(*kind, e, v[0], v[1]);
      // Where neither is valid the result is zero.
      Value *rest = vb.select(second, v[1], vb.constant(e, 0.0));
      return vb.select(first, vb.select(second, both, v[0]), rest);
    };
    return finish(std::move(nest));
  }
  return false;
}

} // namespace ptoas::native
