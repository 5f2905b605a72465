//===- BoxOrder.cpp - which tiles keep their bytes in boxes ---------------===//
//
// Rows are what instructions read fastest, so boxed tiles are kept row by row. That is
// right as long as nobody else looks at the bytes. A read that may see what a tile of
// another shape, order or element size at the same bytes has written finds that out:
// both tiles, and all boxed ones that meet them, keep their bytes where the hardware
// has them, and their instructions work on copies (Boxes.cpp).
//
//===----------------------------------------------------------------------===//
#include "TileModel.h"

using namespace mlir;
namespace ptoas::native {

BoxOrder TileModel::boxOrder(pto::TileBufType type) {
  bool rowsInside = type.getSlayout() == pto::SLayout::RowMajor;
  auto [boxRows, boxCols] = type.getBoxShape();
  if (type.getFractal() == 32 && !rowsInside)
    std::swap(boxRows, boxCols);
  if (type.getRows() == 1)
    boxRows = 1; // a vector: nothing lies between its boxes
  BoxOrder order;
  order.boxRows = boxRows;
  order.boxCols = boxCols;
  order.rowStep = rowsInside ? boxCols : 1;
  order.colStep = rowsInside ? 1 : boxRows;
  int64_t longer = type.getCompact() == pto::CompactMode::RowPlusOne;
  if (type.isColMajor()) {
    order.boxRowStep = boxRows * boxCols;
    order.boxColStep = (type.getRows() + longer) * boxCols;
  } else {
    order.boxColStep = boxRows * boxCols;
    order.boxRowStep = (type.getCols() + longer) * boxRows;
  }
  return order;
}

/// Whether the rows (or columns) of the CPU layout are where the hardware has them, too.
static bool isPlain(const TileInfo &tile) {
  if (!tile.type.isBoxed())
    return true;
  BoxOrder order = TileModel::boxOrder(tile.type);
  auto agrees = [](int64_t extent, int64_t box, int64_t boxStep, int64_t step, int64_t stride) {
    return (extent <= box || boxStep == box * stride) &&
           (std::min(extent, box) <= 1 || step == stride);
  };
  return agrees(tile.rows, order.boxRows, order.boxRowStep, order.rowStep, tile.rowStride) &&
         agrees(tile.cols, order.boxCols, order.boxColStep, order.colStep, tile.colStride);
}

/// What two boxed tiles must have in common to mean the same by the same bytes: a tile with boxes
/// row by row counts as its transpose.
static std::array<int64_t, 10> formOf(const TileInfo &tile) {
  BoxOrder order = TileModel::boxOrder(tile.type);
  std::array<int64_t, 10> form = {tile.rows,        tile.cols,        order.boxRows, order.boxCols,
                                  order.boxRowStep, order.boxColStep, order.rowStep, order.colStep,
                                  tile.rowStride,   tile.colStride};
  if (!tile.type.isColMajor())
    for (unsigned i = 0; i < form.size(); i += 2)
      std::swap(form[i], form[i + 1]);
  return form;
}

/// Whether the tiles share bytes that they would take for different elements, were both kept as the
/// CPU has them. Starts that are known only at run time are taken for equal or apart.
bool TileModel::disagree(const TileInfo &a, const TileInfo &b) {
  if (a.root != b.root || a.high <= b.low || b.high <= a.low || a.home == b.home)
    return false;
  if (isPlain(a) || isPlain(b))
    return isPlain(a) != isPlain(b);
  if (bytesOf(a.elem) != bytesOf(b.elem) || isPacked(a.elem) != isPacked(b.elem) ||
      formOf(a) != formOf(b))
    return true;
  return a.exact && b.exact && a.low != b.low;
}

/// Roots with tiles that disagree, whether or not anybody sees it.
llvm::DenseSet<unsigned> TileModel::rootsInDoubt() const {
  // Tiles of one form at one place are one.
  std::map<std::tuple<unsigned, int64_t, int64_t, std::array<int64_t, 10>, unsigned>,
           const TileInfo *>
      places;
  llvm::DenseSet<unsigned> boxed, doubtful;
  for (auto &[handle, tile] : tiles)
    if (tile->home == handle && !isPlain(*tile))
      boxed.insert(tile->root);
  for (auto &[handle, tile] : tiles)
    if (tile->home == handle && boxed.contains(tile->root)) {
      std::array<int64_t, 10> form = {};
      if (!isPlain(*tile))
        form = formOf(*tile);
      places.try_emplace({tile->root, tile->low, tile->high, form, bytesOf(tile->elem)},
                         tile.get());
    }
  for (auto at = places.begin(); at != places.end(); ++at) {
    const TileInfo &a = *at->second;
    for (auto other = std::next(at); other != places.end() && !doubtful.contains(a.root); ++other) {
      const TileInfo &b = *other->second;
      if (b.root != a.root || b.low >= a.high)
        break;
      if (disagree(a, b))
        doubtful.insert(a.root);
    }
  }
  return doubtful;
}

LogicalResult TileModel::findBoxes(func::FuncOp func) {
  llvm::DenseSet<unsigned> doubtful = rootsInDoubt();
  llvm::DenseSet<Value> homes;
  auto take = [&](Value handle) {
    if (!isPlain(info(handle)))
      homes.insert(handle);
  };
  func.walk([&](Operation *op) {
    // Elements that are counted through the tile's own bytes.
    if (isa<pto::TGetValOp, pto::TSetValOp>(op))
      for (Value operand : op->getOperands())
        if (isTile(operand))
          take(info(operand).home);
    if (doubtful.empty() || op->getNumRegions() ||
        isa<pto::TReshapeOp, pto::BitcastOp, pto::SubviewOp, pto::SubsetOp, pto::MultiTileGetOp,
            pto::TAssignOp, pto::SetValidShapeOp, pto::TGetScaleAddrOp>(op))
      return;
    auto wrote = [&](Value written) {
      if (!isTile(written) || !doubtful.contains(info(written).root))
        return;
      llvm::DenseSet<Value> readers;
      Cover cover;
      cover.disagreeing = &readers;
      scanFrom(info(written), op, cover);
      if (!readers.empty())
        take(info(written).home);
      for (Value reader : readers)
        take(reader);
    };
    auto tileOp = dyn_cast<pto::TileOpInterface>(op);
    if (!tileOp) {
      llvm::for_each(op->getOperands(), wrote);
      return;
    }
    const pto::TileOpInfo &facts = tileOp.getTileOpInfo();
    for (unsigned i = 0; i < facts.operands.size(); ++i)
      if (facts.operands[i].effect == pto::OperandEffect::Write ||
          facts.operands[i].effect == pto::OperandEffect::ReadWrite)
        llvm::for_each(tileOp.getSpecOperands(i), wrote);
  });
  return homes.empty() ? success() : keepBoxes(std::move(homes));
}

/// Marks the homes, the boxed tiles that meet them, and the parts of all these.
LogicalResult TileModel::keepBoxes(llvm::DenseSet<Value> homes) {
  bool more = true;
  while (more) {
    more = false;
    for (auto &[handle, tile] : tiles) {
      if (tile->home != handle || homes.contains(handle) || isPlain(*tile))
        continue;
      bool meets = llvm::any_of(homes, [&](Value home) {
        const TileInfo &kept = info(home);
        return kept.root == tile->root && kept.low < tile->high && tile->low < kept.high;
      });
      if (meets)
        more |= homes.insert(handle).second;
    }
  }
  for (auto &[handle, tile] : tiles) {
    if (!homes.contains(tile->home))
      continue;
    tile->inBoxes = true;
    const TileInfo &home = homeOf(*tile);
    if (handle == tile->home) {
      BoxOrder order = boxOrder(tile->type);
      bool inStep = tile->type.isColMajor() && order.colStep == 1; // NZ: rows need not fill a box
      if (isPacked(tile->elem) || tile->cols % order.boxCols != 0 ||
          (tile->rows % order.boxRows != 0 && !inStep))
        return handle.getDefiningOp()->emitError(
                   "native target: the bytes of this tile are read in another order than they are "
                   "written in, and its ")
               << tile->rows << "x" << tile->cols << " elements of " << tile->type.getElementType()
               << " do not fill boxes of " << order.boxRows << "x" << order.boxCols;
      continue;
    }
    tile->low = home.low; // somewhere in it
    tile->high = home.high;
    tile->exact = home.exact;
    tile->dynamicStart = home.dynamicStart;
    tile->dynamicDelta = home.dynamicDelta;
  }
  return success();
}

} // namespace ptoas::native
