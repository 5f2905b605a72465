//===- TileOpVerify.cpp - the rules of a tile op's record -----------------===//
//
// Element sets per architecture, memory spaces, and the relations between
// operands that records list. What needs code of its own is in TileChecks*.cpp.
//
//===----------------------------------------------------------------------===//
#include "TileChecks.h"

using namespace mlir;
using namespace mlir::pto;

namespace {
struct NamedTile {
  StringRef name;
  TileBufType type;
  Value value;
};
} // namespace

static std::string extent(int64_t value) { return extentText(value); }
static std::string shape(TileBufType type) {
  return extent(type.getRows()) + "x" + extent(type.getCols());
}
static std::string valid(TileBufType type) {
  return extent(type.getValidRow()) + "x" + extent(type.getValidCol());
}

static LogicalResult checkOperand(TileOpInterface op, const OperandSpec &spec, Value value,
                                  Arch arch) {
  Type type = value.getType();
  if (spec.kind == OperandKind::Index && !type.isIndex())
    return op->emitOpError() << "operand '" << spec.name << "' must be an index, got " << type;
  auto tile = dyn_cast<TileBufType>(type);
  if (spec.kind != OperandKind::Tile || !tile)
    return success();
  if (!(spec.spaces & spaces::bit(tile.getSpace())))
    return op->emitOpError() << "operand '" << spec.name << "' must have loc "
                             << spaces::toString(spec.spaces) << ", but it lies in "
                             << stringifyAddressSpace(tile.getSpace());
  unsigned allowed = arch == Arch::A5 ? spec.elemsA5 : spec.elemsA3;
  if (!(elem::classify(tile.getElementType()) & allowed))
    return op->emitOpError() << "element type " << tile.getElementType() << " of operand '"
                             << spec.name << "' is not supported on " << getArchName(arch)
                             << ", expected one of " << elem::toString(allowed);
  return success();
}

static SmallVector<NamedTile> collectTiles(TileOpInterface op, StringRef names,
                                           SmallVectorImpl<Type> *others) {
  SmallVector<NamedTile> tiles;
  const TileOpInfo &info = op.getTileOpInfo();
  SmallVector<StringRef> words;
  names.split(words, ' ');
  for (StringRef word : words)
    for (unsigned i = 0; i < info.operands.size(); ++i)
      if (info.operands[i].name == word)
        for (Value value : op.getSpecOperands(i)) {
          if (auto tile = dyn_cast<TileBufType>(value.getType()))
            tiles.push_back({word, tile, value});
          else if (others)
            others->push_back(value.getType());
        }
  return tiles;
}

static LogicalResult checkPair(TileOpInterface op, RuleKind kind, const NamedTile &a,
                               const NamedTile &b) {
  auto differ = [&](StringRef what, const Twine &left, const Twine &right) {
    return op->emitOpError() << what << " of '" << a.name << "' and '" << b.name
                             << "' must be equal, got " << left << " and " << right;
  };
  switch (kind) {
  case RuleKind::SameElem:
    if (a.type.getElementType() != b.type.getElementType())
      return op->emitOpError() << "element types of '" << a.name << "' and '" << b.name
                               << "' must be equal, got " << a.type.getElementType() << " and "
                               << b.type.getElementType();
    break;
  case RuleKind::SameWidth:
    if (a.type.getElementBytes() != b.type.getElementBytes())
      return op->emitOpError() << "element sizes of '" << a.name << "' and '" << b.name
                               << "' must be equal, got " << a.type.getElementType() << " and "
                               << b.type.getElementType();
    break;
  case RuleKind::SameShape:
    if (a.type.getRows() != b.type.getRows() || a.type.getCols() != b.type.getCols())
      return differ("shapes", shape(a.type), shape(b.type));
    break;
  case RuleKind::SameValid:
    if (!mayEqual(a.type.getValidRow(), b.type.getValidRow()) ||
        !mayEqual(a.type.getValidCol(), b.type.getValidCol()))
      return differ("valid shapes", valid(a.type), valid(b.type));
    break;
  case RuleKind::SameRows:
    if (!mayEqual(a.type.getValidRow(), b.type.getValidRow()))
      return differ("valid rows", extent(a.type.getValidRow()), extent(b.type.getValidRow()));
    break;
  case RuleKind::SameCols:
    if (!mayEqual(a.type.getValidCol(), b.type.getValidCol()))
      return differ("valid columns", extent(a.type.getValidCol()), extent(b.type.getValidCol()));
    break;
  case RuleKind::Distinct:
    if (a.value == b.value)
      return op->emitOpError() << "'" << a.name << "' and '" << b.name
                               << "' must be different tiles";
    break;
  default:
    break;
  }
  return success();
}

static LogicalResult checkOne(TileOpInterface op, RuleKind kind, const NamedTile &tile) {
  auto error = [&](const Twine &what) {
    return op->emitOpError() << "'" << tile.name << "' " << what;
  };
  switch (kind) {
  case RuleKind::RowMajor:
    // A single column has the same bytes in either order; only hardware tells them apart.
    if (!tile.type.isRowMajor() && !(tile.type.getCols() == 1 && isMixedBody(op)))
      return error("must be row-major (blayout row_major)");
    break;
  case RuleKind::NoBox:
    if (tile.type.isBoxed())
      return error("must not be boxed (slayout none_box)");
    break;
  case RuleKind::ValidRow1:
    if (!mayEqual(tile.type.getValidRow(), 1))
      return error("must have one valid row, got " + extent(tile.type.getValidRow()));
    break;
  case RuleKind::ValidCol1:
    if (!mayEqual(tile.type.getValidCol(), 1))
      return error("must have one valid column (valid col = 1), got " +
                   extent(tile.type.getValidCol()));
    break;
  case RuleKind::NonEmpty:
    if (tile.type.getValidRow() == 0 || tile.type.getValidCol() == 0)
      return error("must not be empty, its valid shape is " + valid(tile.type));
    break;
  default:
    break;
  }
  return success();
}

static LogicalResult checkRule(TileOpInterface op, const Rule &rule) {
  SmallVector<Type> scalars;
  SmallVector<NamedTile> tiles = collectTiles(op, rule.operands, &scalars);
  switch (rule.kind) {
  case RuleKind::RowMajor:
  case RuleKind::NoBox:
  case RuleKind::ValidRow1:
  case RuleKind::ValidCol1:
  case RuleKind::NonEmpty:
    for (const NamedTile &tile : tiles)
      if (failed(checkOne(op, rule.kind, tile)))
        return failure();
    return success();
  case RuleKind::ScalarIsElem: {
    if (tiles.empty() || scalars.empty())
      return success();
    // iN and uiN are the same bits to a scalar.
    unsigned scalar = elem::classify(scalars.front()),
             element = elem::classify(tiles.front().type.getElementType());
    bool fits = scalar == element;
    for (unsigned set : {elem::B8, elem::B16, elem::B32, elem::B64})
      fits |= (scalar & set) && (element & set);
    if (!fits)
      return op->emitOpError() << "scalar type " << scalars.front()
                               << " must be the element type of '" << tiles.front().name << "', "
                               << tiles.front().type.getElementType();
    return success();
  }
  default:
    for (const NamedTile &tile : llvm::drop_begin(tiles))
      if (failed(checkPair(op, rule.kind, tiles.front(), tile)))
        return failure();
    return success();
  }
}

LogicalResult mlir::pto::verifyOneEach(Operation *op,
                                       ArrayRef<std::pair<unsigned, StringRef>> operands) {
  auto sizes = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
  for (auto [group, name] : operands)
    if (int32_t found = sizes ? sizes[group] : 1; found != 1)
      return op->emitOpError() << "needs the operand '" << name
                               << "' once, but operandSegmentSizes gives it " << found << " values";
  return success();
}

LogicalResult mlir::pto::verifyTileOp(TileOpInterface op) {
  const TileOpInfo &info = op.getTileOpInfo();
  SmallVector<std::pair<unsigned, StringRef>> needed;
  for (unsigned i = 0; i < info.operands.size(); ++i)
    if (!info.operands[i].optional && !info.operands[i].variadic)
      needed.push_back({i, info.operands[i].name});
  if (failed(verifyOneEach(op, needed)))
    return failure();
  Arch arch = getTargetArch(op);
  if (!(arch == Arch::A5 ? info.archA5 : info.archA3))
    return op->emitOpError() << "is not supported on " << getArchName(arch) << ", it needs "
                             << getArchName(arch == Arch::A5 ? Arch::A3 : Arch::A5);
  for (unsigned i = 0; i < info.operands.size(); ++i)
    for (Value value : op.getSpecOperands(i))
      if (failed(checkOperand(op, info.operands[i], value, arch)))
        return failure();
  for (const Rule &rule : info.rules)
    if (rule.arch == RuleArch::Both || (rule.arch == RuleArch::A5) == (arch == Arch::A5))
      if (failed(checkRule(op, rule)))
        return failure();
  return info.check ? info.check(op, arch) : success();
}
