//===- BlockedLayout.cpp - parameters with the layouts NZ and MX ----------===//
//
// A matrix [R, C] in NZ lies as [C/c0, R/16, 16, c0], c0 elements being 32 bytes: blocks of 16
// rows, down the rows first. Scales of an lhs (MX_A_ZZ) lie as [R/16, C/2, 16, 2], those of an rhs
// (MX_B_NN) as [C/16, R/2, 16, 2] with the columns before the rows of a block. Programs speak of
// rows and columns; windows are cut at the borders of blocks, so that each is a window of the
// blocked form.
//
//===----------------------------------------------------------------------===//
#include "BlockedLayout.h"
#include "PtoEmitter.h"
#include "TensorRoots.h"
#include <numeric>

using namespace mlir;

namespace pypto {

namespace {
/// How blocks lie: their extents, and where the axes of the matrix are among the five dimensions
/// batch, outer blocks, inner blocks, and two in a block.
struct Blocks {
  const char *name;
  int64_t rows, columns;
  bool rowBlocksFirst, columnsFirst; // among blocks; in a block
  pto::Layout layout;
  unsigned rowBlocks() const { return rowBlocksFirst ? 1 : 2; }
  unsigned columnBlocks() const { return 3 - rowBlocks(); }
};
} // namespace

static std::optional<Blocks> blocksOf(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return std::nullopt;
  Type element = tensor.getElementType();
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  switch (tensor.getLayout()) {
  case TensorLayout::NZ:
    return Blocks{"NZ", 16, 32 / std::max(1u, (bits + 7) / 8), false, false, pto::Layout::Nz};
  case TensorLayout::MXA:
    return Blocks{"MX_A_ZZ", 16, 2, true, false, pto::Layout::MxAZz};
  case TensorLayout::MXB:
    return Blocks{"MX_B_NN", 2, 16, false, true, pto::Layout::MxBNn};
  default:
    return std::nullopt;
  }
}

bool isBlocked(Type type) { return blocksOf(type).has_value(); }

SmallVector<int64_t> blockedShape(TensorType type) {
  Blocks blocks = *blocksOf(type);
  ArrayRef<int64_t> shape = type.getShape();
  int64_t batch = 1;
  for (int64_t extent : shape.drop_back(2))
    batch = ShapedType::isDynamic(extent) || ShapedType::isDynamic(batch) ? ShapedType::kDynamic
                                                                          : batch * extent;
  SmallVector<int64_t> result(5, batch);
  result[blocks.rowBlocks()] = shape[shape.size() - 2] / blocks.rows;
  result[blocks.columnBlocks()] = shape.back() / blocks.columns;
  result[3] = blocks.columnsFirst ? blocks.columns : blocks.rows;
  result[4] = blocks.columnsFirst ? blocks.rows : blocks.columns;
  return result;
}

//===----------------------------------------------------------------------===//
// What programs may do with such parameters
//===----------------------------------------------------------------------===//

static LogicalResult checkParameter(func::FuncOp func, BlockArgument arg) {
  auto type = cast<TensorType>(arg.getType());
  Blocks blocks = *blocksOf(type);
  auto name = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "pypto.name");
  auto error = [&] {
    return emitError(func.getLoc()) << "'" << func.getName() << "': " << blocks.name
                                    << " parameter '" << (name ? name.getValue() : "?") << "' ";
  };
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() < 2)
    return error() << "has rank " << shape.size() << "; " << blocks.name
                   << " is a layout of matrices";
  if (shape.size() > 2 && blocks.layout != pto::Layout::Nz)
    return error() << "has rank " << shape.size() << "; scales are one matrix";
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(columns))
    return error() << "leaves its rows or columns open; only the batch may depend on the call";
  if (rows == 0 || rows % blocks.rows)
    return error() << "has " << rows << " rows, which do not fill blocks of " << blocks.rows;
  if (columns == 0 || columns % blocks.columns)
    return error() << "has " << columns << " columns, which do not fill blocks of "
                   << blocks.columns;
  if (shape.size() > 3 && llvm::any_of(shape, ShapedType::isDynamic))
    return error() << "leaves an extent open; with several batch axes all are known";
  if (!type.getStrides().empty())
    return error() << "has strides; its memory is dense";
  auto direction = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "pypto.direction");
  if (direction && direction != "in")
    return error() << "is written; " << blocks.name << " parameters are read only";
  return success();
}

static LogicalResult checkUsers(Value value, const Blocks &blocks, bool kernel) {
  // Scales are only loaded, as they lie.
  bool readable = kernel && blocks.layout == pto::Layout::Nz;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<DimOp, func::ReturnOp>(user))
      continue;
    if ((kernel && isa<LoadOp>(user)) || (readable && isa<ReadOp>(user)))
      continue;
    if (readable && isa<SliceOp>(user)) {
      if (failed(checkUsers(user->getResult(0), blocks, kernel)))
        return failure();
      continue;
    }
    if (auto call = dyn_cast<CallOp>(user)) {
      auto callee = user->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(call.getCallee());
      unsigned position = use.getOperandNumber();
      for (auto [number, argument] : llvm::enumerate(call.getArgs()))
        if (argument == value)
          position = number;
      auto taken = callee && position < callee.getNumArguments()
                       ? blocksOf(callee.getArgument(position).getType())
                       : std::nullopt;
      if (taken && taken->layout == blocks.layout)
        continue;
      return user->emitError() << "an " << blocks.name
                               << " tensor is passed to a kernel whose parameter is not "
                               << blocks.name;
    }
    return user->emitError() << "pl." << user->getName().stripDialect()
                             << (kernel ? " takes an " : " of an ") << blocks.name << " parameter"
                             << (kernel ? " as it lies in memory; load windows of it"
                                        : "; pass it whole and take windows inside the kernel");
  }
  return success();
}

LogicalResult checkBlockedLayouts(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    for (BlockArgument arg : func.getArguments())
      if (auto blocks = blocksOf(arg.getType()))
        if (failed(checkParameter(func, arg)) || failed(checkUsers(arg, *blocks, isKernel(func))))
          return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// A number that divides the value in every execution; 0 for the constant 0.
static int64_t knownFactor(Value value) {
  if (auto known = constantOf(value))
    return std::abs(*known);
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(arg.getOwner()->getParentOp());
    return loop && arg == loop.getInductionVar()
               ? std::gcd(knownFactor(loop.getLowerBound()), knownFactor(loop.getStep()))
               : 1;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return std::gcd(knownFactor(op->getOperand(0)), knownFactor(op->getOperand(1)));
  if (isa<arith::MulIOp>(op)) {
    int64_t product;
    return llvm::MulOverflow(knownFactor(op->getOperand(0)), knownFactor(op->getOperand(1)),
                             product)
               ? 1
               : product;
  }
  if (isa<arith::IndexCastOp>(op))
    return knownFactor(op->getOperand(0));
  if (isa<arith::DivSIOp, arith::DivUIOp>(op)) {
    auto divisor = constantOf(op->getOperand(1));
    int64_t factor = knownFactor(op->getOperand(0));
    return divisor && *divisor > 0 && factor % *divisor == 0 ? factor / *divisor : 1;
  }
  // A floor division: one less than the quotient only where something is left over.
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    auto quotient = select.getFalseValue().getDefiningOp<arith::DivSIOp>();
    auto below = select.getTrueValue().getDefiningOp<arith::SubIOp>();
    if (quotient && below && below.getLhs() == quotient.getResult())
      return knownFactor(quotient);
  }
  return 1;
}

Value PtoEmitter::blockedView(unsigned argument) {
  Memory &memory = memoryOf(argument);
  auto type = cast<TensorType>(old.getArgument(argument).getType());
  SmallVector<int64_t> shape = blockedShape(type);
  SmallVector<Value> dims, strides;
  Value batch;
  for (Value extent : ArrayRef(memory.dims).drop_back(2)) {
    auto known = batch ? constantOf(batch) : std::optional<int64_t>(1), more = constantOf(extent);
    batch = !batch          ? extent
            : known && more ? index(*known * *more)
                            : Value(arith::MulIOp::create(b, loc, batch, extent));
  }
  dims.push_back(batch ? batch : index(1));
  for (int64_t extent : ArrayRef(shape).drop_front())
    dims.push_back(index(extent));
  int64_t stride = 1;
  for (unsigned d = 5; d-- > 0;) {
    strides.insert(strides.begin(), index(stride));
    stride *= d > 0 ? shape[d] : 1; // the batch may be open
  }
  SmallVector<int64_t> open(5, ShapedType::kDynamic);
  return pto::MakeTensorViewOp::create(
      b, old.getArgument(argument).getLoc(),
      pto::TensorViewType::get(open, ptoElement(type.getElementType())), memory.pointer, dims,
      strides, pto::LayoutAttr::get(b.getContext(), blocksOf(type)->layout));
}

/// Position of a matrix among those of the batch.
static Value batchPosition(OpBuilder &b, Location loc, ArrayRef<Value> at, ArrayRef<Value> dims) {
  Value position;
  for (auto [offset, extent] : llvm::zip(at, dims)) {
    if (!position) {
      position = offset;
      continue;
    }
    position = arith::MulIOp::create(b, loc, position, extent);
    position = arith::AddIOp::create(b, loc, position, offset);
  }
  return position;
}

Value PtoEmitter::blockedPartition(const Window &window, ArrayRef<Value> sizes) {
  const Memory &memory = memoryOf(window.argument);
  auto type = cast<TensorType>(old.getArgument(window.argument).getType());
  SmallVector<int64_t> shape = blockedShape(type);
  Blocks blocks = *blocksOf(type);
  unsigned rank = type.getRank();
  SmallVector<Value> offsets(5, index(0)), counts(5, index(1));
  counts[3] = index(shape[3]);
  counts[4] = index(shape[4]);
  // {axis of the matrix, axis of its blocks, elements in one}
  for (auto [axis, block, unit] : {std::tuple{rank - 1, blocks.columnBlocks(), blocks.columns},
                                   {rank - 2, blocks.rowBlocks(), blocks.rows}}) {
    const char *what = axis == rank - 1 ? "column" : "row";
    for (Value v : {window.offsets[axis], sizes[axis]}) {
      if (knownFactor(v) % unit == 0)
        continue;
      emitError(loc) << "a window of an " << blocks.name << " tensor "
                     << (v == sizes[axis] ? "takes " : "starts at ")
                     << (v == sizes[axis] ? "a number of " : "a ") << what
                     << (v == sizes[axis] ? "s" : "") << " that is not known to be a multiple of "
                     << unit << ", the " << what << "s of a block";
      return Value();
    }
    auto inBlocks = [&](Value v) -> Value {
      if (auto known = constantOf(v))
        return index(*known / unit);
      return arith::DivUIOp::create(b, loc, v, index(unit));
    };
    offsets[block] = inBlocks(window.offsets[axis]);
    counts[block] = inBlocks(sizes[axis]);
  }
  if (rank > 2) {
    offsets[0] = batchPosition(b, loc, ArrayRef(window.offsets).drop_back(2),
                               ArrayRef(memory.dims).drop_back(2));
    for (auto [axis, size] : llvm::enumerate(sizes.drop_back(2))) {
      if (constantOf(size) != 1 && rank > 3) {
        emitError(loc) << "a window of an NZ tensor with several batch axes takes one matrix";
        return Value();
      }
      counts[0] = axis == 0 || constantOf(size) != 1 ? size : counts[0];
    }
  }
  SmallVector<int64_t> extents;
  for (Value count : counts)
    extents.push_back(constantOf(count).value_or(ShapedType::kDynamic));
  return pto::PartitionViewOp::create(
      b, loc, pto::PartitionTensorViewType::get(extents, ptoElement(type.getElementType())),
      viewOf(window.argument), offsets, counts);
}

Value PtoEmitter::blockedOffset(const Memory &memory, TensorType type, ArrayRef<Value> at) {
  SmallVector<int64_t> shape = blockedShape(type);
  int64_t rows = shape[2] * shape[3], width = shape[4];
  Value row = at[at.size() - 2], column = at.back();
  auto scaled = [&](Value v, int64_t factor) {
    return Value(arith::MulIOp::create(b, loc, v, index(factor)));
  };
  Value offset = scaled(arith::DivUIOp::create(b, loc, column, index(width)), rows * width);
  offset = arith::AddIOp::create(b, loc, offset, scaled(row, width));
  offset = arith::AddIOp::create(b, loc, offset,
                                 arith::RemUIOp::create(b, loc, column, index(width)).getResult());
  if (at.size() == 2)
    return offset;
  Value batch = batchPosition(b, loc, at.drop_back(2), ArrayRef(memory.dims).drop_back(2));
  return arith::AddIOp::create(b, loc, offset, scaled(batch, rows * width * shape[1]));
}

} // namespace pypto
