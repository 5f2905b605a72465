//===- MaterializeImplicitTmp.cpp - scratch tiles that the text leaves out ---===//
//
// Below level3 a program may leave the scratch tile of an instruction out. Instructions
// of A2/A3 that need one get a tile of their own here, before memory is planned. A5 needs
// the bytes for nothing, but its instruction library still takes a tile: one block of 32
// bytes, unless the rules of the op ask for a shape.
//
//===----------------------------------------------------------------------===//
#include "ptoas/Dialect/PTO/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::pto {
#define GEN_PASS_DEF_MATERIALIZEIMPLICITTMP
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

#define DEBUG_TYPE "pto-materialize-implicit-tmp"

using namespace mlir;
using namespace mlir::pto;

static TileBufType makeTile(int64_t rows, int64_t cols, Type element) {
  return TileBufType::get(AddressSpace::Vec, rows, cols, element, rows, cols);
}

// A row whose bytes are a whole number of blocks.
static TileBufType makeRow(int64_t rows, int64_t cols, Type element) {
  int64_t block = 32 / std::max<int64_t>(1, getElementBytes(element));
  return makeTile(rows, llvm::alignTo(std::max<int64_t>(cols, 1), block), element);
}

// The shape of `type`; a valid extent that is only known at run time becomes the whole one.
static TileBufType makeLike(TileBufType type) {
  int64_t row = type.getValidRow(), col = type.getValidCol();
  return TileBufType::get(AddressSpace::Vec, type.getRows(), type.getCols(), type.getElementType(),
                          ShapedType::isDynamic(row) ? type.getRows() : row,
                          ShapedType::isDynamic(col) ? type.getCols() : col, type.getBlayout(),
                          SLayout::NoneBox, 512);
}

static TileBufType tileOf(TileOpInterface op, StringRef name) {
  return cast<TileBufType>(op.getNamedOperand(name).getType());
}

// One value per row in a col_major column; in the other form blocks of a row hold the value
// already.
static bool isColumnForm(TileOpInterface op) {
  return tileOf(op, "src0").isColMajor() || tileOf(op, "src1").isColMajor();
}

// A conversion that keeps low bits goes through 32-bit integers.
static TileBufType scratchOfCvt(TCvtOp op) {
  TileBufType src = op.getSrc().getType(), dst = op.getDst().getType();
  unsigned from = elem::classify(src.getElementType()), to = elem::classify(dst.getElementType());
  bool keepsLowBits =
      ((from & elem::F2) && (to & elem::B16)) || ((from & elem::F16) && (to & elem::I8));
  if (!keepsLowBits || op.getSatMode() == SaturationMode::On)
    return {};
  int64_t cols = src.getCols();
  int64_t bytes = 32 * llvm::divideCeil(std::min<int64_t>(cols, 64), 8);
  if (from & elem::F32)
    bytes = std::max(256 * std::min<int64_t>(cols / 64, 255),
                     32 * static_cast<int64_t>(llvm::divideCeil(cols % 64, 8)));
  return makeTile(1, std::max<int64_t>(bytes, 32), IntegerType::get(op.getContext(), 8));
}

static TileBufType scratchOnA3(TileOpInterface op) {
  MLIRContext *context = op->getContext();
  Type f32 = Float32Type::get(context), i8 = IntegerType::get(context, 8);
  return TypeSwitch<Operation *, TileBufType>(op.getOperation())
      .Case<TCIOp>([&](TCIOp count) {
        return makeTile(1, count.getDst().getType().getElementBytes() == 2 ? 448 : 192, f32);
      })
      .Case<TRowExpandAddOp, TRowExpandSubOp, TRowExpandMulOp, TRowExpandDivOp, TRowExpandMaxOp,
            TRowExpandMinOp>([&](auto expand) {
        TileBufType dst = expand.getDst().getType();
        return isColumnForm(op) ? makeTile(1, 8192 / dst.getElementBytes(), dst.getElementType())
                                : TileBufType();
      })
      .Case<TRowSumOp, TRowMaxOp, TRowMinOp, TRowProdOp, TRowArgMaxOp, TRowArgMinOp, TColArgMaxOp,
            TColArgMinOp, TTransOp>([&](auto) { return makeLike(tileOf(op, "src")); })
      .Case<TColSumOp>([&](TColSumOp sum) {
        return sum.getIsBinary().value_or(false) ? makeLike(sum.getSrc().getType()) : TileBufType();
      })
      .Case<TXorOp, TXorSOp, TPowOp, TPowSOp>([&](auto) { return makeLike(tileOf(op, "dst")); })
      .Case<TPReluOp>([&](TPReluOp relu) {
        TileBufType dst = relu.getDst().getType();
        int64_t bytes = llvm::alignTo(llvm::divideCeil(dst.getCols(), 8), 32);
        return makeTile(dst.getRows() + 1, std::max<int64_t>(bytes, 32), i8);
      })
      .Case<TRemOp, TRemSOp>([&](auto) {
        TileBufType dst = tileOf(op, "dst");
        return makeRow(isa<TRemOp>(op) ? 2 : 1, dst.getCols(), dst.getElementType());
      })
      // The select instruction reads its mask through 16 words, whatever the mask's type.
      .Case<TSelOp>([&](auto) {
        return makeTile(1, 16, IntegerType::get(context, 32, IntegerType::Unsigned));
      })
      .Case<TSelSOp>([&](TSelSOp select) {
        TileBufType src = select.getSrc().getType();
        return makeRow(1, src.getCols(), src.getElementType());
      })
      .Case<TSort32Op>([&](TSort32Op sort) {
        TileBufType src = sort.getSrc().getType();
        bool wholeRuns = !ShapedType::isDynamic(src.getValidCol()) && src.getValidCol() % 32 == 0;
        return wholeRuns ? TileBufType() : makeLike(src);
      })
      .Case<TCvtOp>([&](TCvtOp convert) { return scratchOfCvt(convert); })
      .Case<TMrgSortOp>([&](TMrgSortOp merge) {
        if (merge.getBlockLen())
          return TileBufType();
        int64_t cols = 0;
        for (Value list : merge.getSrcs())
          cols += cast<TileBufType>(list.getType()).getCols();
        TileBufType dst = merge.getDst().getType();
        return makeRow(1, std::max(cols, dst.getCols()), dst.getElementType());
      })
      .Default([](Operation *) { return TileBufType(); });
}

static TileBufType scratchOnA5(TileOpInterface op) {
  return TypeSwitch<Operation *, TileBufType>(op.getOperation())
      .Case<TRowSumOp, TRowMaxOp, TTransOp, TColArgMaxOp, TColArgMinOp, TXorOp, TXorSOp, TPowOp,
            TPowSOp, TSelOp, TSelSOp, TPReluOp>([&](auto) {
        TileBufType dst = tileOf(op, isa<TRowSumOp, TRowMaxOp, TTransOp>(op) ? "src" : "dst");
        return makeRow(1, 1, dst.getElementType());
      })
      .Case<TRowMinOp, TRowProdOp, TRowArgMaxOp, TRowArgMinOp, TRemOp, TRemSOp, TColSumOp,
            TMrgSortOp>([&](auto) { return scratchOnA3(op); })
      .Default([](Operation *) { return TileBufType(); });
}

// The position of the scratch operand among the specs; none for ops without one.
static std::optional<unsigned> findScratch(TileOpInterface op) {
  ArrayRef<OperandSpec> specs = op.getTileOpInfo().operands;
  for (unsigned i = 0; i < specs.size(); ++i)
    if (specs[i].effect == OperandEffect::Scratch)
      return i;
  return std::nullopt;
}

static void addScratch(TileOpInterface op, unsigned spec, TileBufType type) {
  OpBuilder builder(op);
  Value tile = AllocTileOp::create(builder, op->getLoc(), type, Value(), Value(), Value());
  unsigned index = 0;
  for (unsigned i = 0; i < spec; ++i)
    index += op.getSpecOperands(i).size();
  op->insertOperands(index, tile);
  if (auto sizes = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes")) {
    SmallVector<int32_t> counts(sizes.asArrayRef());
    counts[spec] = 1;
    op->setAttr("operandSegmentSizes", builder.getDenseI32ArrayAttr(counts));
  }
  op->removeAttr("no_tmp");
}

namespace {
struct MaterializeImplicitTmp
    : mlir::pto::impl::MaterializeImplicitTmpBase<MaterializeImplicitTmp> {
  void runOnOperation() override {
    SmallVector<TileOpInterface> ops;
    getOperation().walk([&](TileOpInterface op) { ops.push_back(op); });
    for (TileOpInterface op : ops) {
      std::optional<unsigned> spec = findScratch(op);
      if (!spec || !op.getScratch().empty())
        continue;
      bool a5 = getTargetArch(op) == Arch::A5;
      if (TileBufType type = a5 ? scratchOnA5(op) : scratchOnA3(op))
        addScratch(op, *spec, type);
    }
  }
};
} // namespace
