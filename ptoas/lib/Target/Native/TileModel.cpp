//===- TileModel.cpp - what bytes the tile handles of a function stand for ===//
//
// CPU layout: tiles with boxes are kept dense: row by row, and in L1 column by column where boxes
// and their insides are the other way round. Handles of equal shape on equal bytes agree, and a
// tile read as its transpose by address or by reshape is the transpose. Where a program reads bytes
// in another shape or order than they were written in, the tiles are kept in boxes (BoxOrder.cpp).
//
//===----------------------------------------------------------------------===//
#include "TileModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
namespace ptoas::native {

std::optional<int64_t> constantOf(Value value) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

static ValidSign signOf(int64_t fromType, Value operand) {
  if (fromType != ShapedType::kDynamic)
    return {fromType, {}};
  if (!operand)
    return {};
  if (std::optional<int64_t> c = constantOf(operand))
    return {std::max<int64_t>(*c, 0), {}};
  return {-1, operand};
}

static void setStrides(TileInfo &info, pto::TileBufType type) {
  info.type = type;
  info.rows = type.getRows();
  info.cols = type.getCols();
  bool transposedBoxes = type.getSpace() == pto::AddressSpace::Mat && !type.isColMajor() &&
                         type.getSlayout() == pto::SLayout::ColMajor;
  bool colMajor = type.isBoxed() ? transposedBoxes : type.isColMajor();
  info.rowStride = colMajor ? 1 : info.cols;
  info.colStride = colMajor ? info.rows : 1;
}

FailureOr<TileModel> TileModel::build(func::FuncOp func) {
  TileModel model;
  model.arenaOfSpace.fill(-1);
  func.walk([&](pto::SetValidShapeOp op) { model.resized.insert(op.getTile()); });
  WalkResult result = func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    return failed(model.add(*op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted() || failed(model.findBoxes(func)))
    return failure();
  return model;
}

LogicalResult TileModel::finish(Operation &op, TileInfo info) {
  std::optional<Elem> elem = elemOf(info.type.getElementType());
  if (!elem)
    return op.emitError("native target: no code for tiles of ")
           << info.type.getElementType() << " elements";
  info.elem = *elem;
  if (!info.validOwner)
    info.validOwner = info.handle;
  if (!info.home)
    info.home = info.handle;
  info.initialRows = info.validRows;
  info.initialCols = info.validCols;
  if (resized.contains(info.validOwner))
    info.validRows = info.validCols = {};
  tiles[info.handle] = std::make_unique<TileInfo>(std::move(info));
  return success();
}

LogicalResult TileModel::addAlloc(Operation &op, Value handle, pto::TileBufType type, Value addr,
                                  Value validRow, Value validCol, int64_t slots) {
  TileInfo info;
  info.handle = handle;
  setStrides(info, type);
  info.validRows = signOf(type.getValidRow(), validRow);
  info.validCols = signOf(type.getValidCol(), validCol);
  int64_t bytes = type.getSizeInBytes() * slots;
  if (!addr) {
    info.root = rootList.size();
    info.high = bytes;
    rootList.push_back({false, bytes});
    return finish(op, info);
  }
  int &arena = arenaOfSpace[static_cast<unsigned>(type.getSpace())];
  if (arena < 0) {
    arena = rootList.size();
    rootList.push_back({true, 0});
  }
  info.root = arena;
  if (std::optional<int64_t> at = constantOf(addr)) {
    if (*at < 0)
      return op.emitError("tile address ") << *at << " is negative";
    if (bytes > largestMemory || *at > largestMemory - bytes)
      return op.emitError("a tile of ") << bytes << " bytes at address " << *at << " ends behind "
                                        << largestMemory << " bytes, the largest memory of a core";
    info.low = *at;
    info.high = *at + bytes;
    rootList[arena].bytes = std::max(rootList[arena].bytes, info.high);
  } else {
    // Anywhere in the memory.
    info.exact = false;
    info.dynamicStart = handle;
    info.high = largestMemory;
    rootList[arena].bytes = std::max<int64_t>(rootList[arena].bytes, info.high + bytes);
    info.high = rootList[arena].bytes;
  }
  return finish(op, info);
}

LogicalResult TileModel::add(Operation &op) {
  if (auto bind = dyn_cast<pto::TGetScaleAddrOp>(op))
    return bindScales(bind);
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    return addAlloc(op, alloc.getResult(), alloc.getResult().getType(), alloc.getAddr(),
                    alloc.getValidRow(), alloc.getValidCol(), 1);
  if (auto alloc = dyn_cast<pto::AllocMultiTileOp>(op)) {
    pto::MultiTileBufType type = alloc.getResult().getType();
    return addAlloc(op, alloc.getResult(), type.getSlotType(), alloc.getAddr(), alloc.getValidRow(),
                    alloc.getValidCol(), type.getCount());
  }
  if (auto get = dyn_cast<pto::MultiTileGetOp>(op)) {
    TileInfo info = this->info(get.getSource());
    int64_t slotBytes = get.getResult().getType().getSizeInBytes();
    info.handle = get.getResult();
    info.home = info.validOwner = {};
    std::optional<int64_t> slot = constantOf(get.getSlot());
    if (slot && info.exact) {
      info.low += *slot * slotBytes;
      info.high = info.low + slotBytes;
    } else {
      info.exact = false;
      info.dynamicStart = get.getResult();
      info.dynamicDelta = 0;
    }
    return finish(op, info);
  }
  if (auto assign = dyn_cast<pto::TAssignOp>(op)) {
    const TileInfo &source = info(assign.getSource());
    TileInfo from = source;
    LogicalResult result =
        addAlloc(op, assign.getResult(), assign.getResult().getType(), assign.getAddr(), {}, {}, 1);
    if (failed(result))
      return result;
    TileInfo &made = *tiles[assign.getResult()];
    made.validOwner = from.validOwner;
    made.validRows = from.validRows;
    made.validCols = from.validCols;
    return success();
  }
  bool isReshape = isa<pto::TReshapeOp>(op), isBitcast = isa<pto::BitcastOp>(op);
  if (isReshape || isBitcast) {
    TileInfo info = this->info(op.getOperand(0));
    auto type = cast<pto::TileBufType>(op.getResult(0).getType());
    bool sameShape = type.getRows() == info.rows && type.getCols() == info.cols;
    bool sameElem = type.getElementType() == info.type.getElementType();
    bool swapped = type.isBoxed() && info.type.isBoxed() && sameElem &&
                   type.getRows() == info.cols && type.getCols() == info.rows &&
                   type.isColMajor() != info.type.isColMajor() &&
                   type.getSlayout() != info.type.getSlayout();
    if (swapped) {
      // Boxes in the other order, each box the other way round: the transpose of the same bytes.
      info.handle = info.home = op.getResult(0);
      info.type = type;
      std::swap(info.rows, info.cols);
      std::swap(info.rowStride, info.colStride);
      std::swap(info.validRows, info.validCols);
      info.validOwner = {};
      if (type.getValidRow() != ShapedType::kDynamic)
        info.validRows = {type.getValidRow(), {}};
      if (type.getValidCol() != ShapedType::kDynamic)
        info.validCols = {type.getValidCol(), {}};
      return finish(op, info);
    }
    int64_t dense = info.colStride == 1 ? info.cols : info.rows;
    int64_t stride = info.colStride == 1 ? info.rowStride : info.colStride;
    if ((!sameShape || !sameElem) && dense != stride)
      return op.emitError("native target: a window of a tile cannot be reshaped");
    info.handle = op.getResult(0);
    if (info.home == op.getOperand(0))
      info.home = info.handle; // the same bytes, perhaps in another order
    ValidSign rows = info.validRows, cols = info.validCols;
    Value owner = info.validOwner;
    if (!sameShape || info.type.isColMajor() != type.isColMajor() || dense == stride)
      setStrides(info, type);
    info.type = type;
    info.validRows = signOf(type.getValidRow(), {});
    info.validCols = signOf(type.getValidCol(), {});
    info.validOwner = {};
    bool inherits =
        type.getValidRow() == ShapedType::kDynamic || type.getValidCol() == ShapedType::kDynamic;
    if (inherits && sameShape) {
      info.validRows = rows;
      info.validCols = cols;
      info.validOwner = owner;
    } else if (inherits && !resized.contains(info.handle)) {
      // Open extents of a new shape: all of it.
      if (type.getValidRow() == ShapedType::kDynamic)
        info.validRows = {type.getRows(), {}};
      if (type.getValidCol() == ShapedType::kDynamic)
        info.validCols = {type.getCols(), {}};
    }
    return finish(op, info);
  }
  bool isSubview = isa<pto::SubviewOp>(op);
  if (isSubview || isa<pto::SubsetOp>(op)) {
    TileInfo info = this->info(op.getOperand(0));
    auto type = cast<pto::TileBufType>(op.getResult(0).getType());
    ValueRange offsets, valid;
    if (isSubview) {
      offsets = cast<pto::SubviewOp>(op).getOffsets();
      valid = cast<pto::SubviewOp>(op).getValid();
    } else {
      offsets = cast<pto::SubsetOp>(op).getOffsets();
    }
    std::optional<int64_t> row = constantOf(offsets[0]), col = constantOf(offsets[1]);
    info.handle = op.getResult(0);
    info.type = type;
    info.rows = type.getRows();
    info.cols = type.getCols();
    info.validOwner = {};
    info.validRows = signOf(type.getValidRow(), valid.size() == 2 ? valid[0] : Value());
    info.validCols = signOf(type.getValidCol(), valid.size() == 2 ? valid[1] : Value());
    if (isPacked(info.elem)) {
      int64_t at = row && col ? *row * info.rowStride + *col * info.colStride : 1;
      if (at % 2 || !info.exact)
        return op.emitError("native target: a window of a tile of ")
               << type.getElementType() << " must start at a whole byte that is known here";
      info.low += at / 2;
      info.high =
          info.low + ((info.rows - 1) * info.rowStride + (info.cols - 1) * info.colStride + 2) / 2;
    } else if (row && col) {
      int64_t delta = (*row * info.rowStride + *col * info.colStride) * bytesOf(info.elem);
      int64_t span = ((info.rows - 1) * info.rowStride + (info.cols - 1) * info.colStride + 1) *
                     bytesOf(info.elem);
      if (info.exact) {
        info.low += delta;
        info.high = info.low + span;
      } else {
        info.dynamicDelta += delta;
      }
    } else {
      info.exact = false;
      info.dynamicStart = op.getResult(0);
      info.dynamicDelta = 0;
    }
    return finish(op, info);
  }
  for (Value result : op.getResults())
    if (isa<pto::TileBufType>(result.getType()) && !isa<pto::DeclareTileOp>(op) &&
        !op.getName().getStringRef().starts_with("pto.tpop"))
      return op.emitError("native target: tiles are not carried as results of '")
             << op.getName() << "'";
  return success();
}

/// Scales lie in a memory of their own for each side, at a sixteenth of their data's address
/// (spec/pto_isa.md 3). Data without an address has scales that its handles share.
LogicalResult TileModel::bindScales(pto::TGetScaleAddrOp op) {
  Value source = op.getSrc(), handle = op.getDst();
  const TileInfo &data = info(source);
  TileInfo &scales = *tiles[handle];
  Operation *alloc = handle.getDefiningOp();
  if (!alloc || !isa<pto::AllocTileOp>(alloc))
    return op.emitError("native target: the scales must be a tile of alloc_tile");
  if (!data.exact)
    return op.emitError(
        "native target: the data's address is known only when the code runs, so its "
        "scales cannot be found");
  auto [known, fresh] = scaleSources.try_emplace(handle, source);
  if (!fresh) {
    const TileInfo &other = info(known->second);
    if (other.root == data.root && other.low == data.low)
      return success();
    return op.emitError(
        "native target: the handle of the scales follows another tile already; use one for each");
  }
  DominanceInfo dominance(op->getParentOfType<func::FuncOp>());
  for (Operation *user : handle.getUsers())
    if (user != op && !dominance.properlyDominates(op, user)) {
      InFlightDiagnostic diag =
          user->emitError("native target: the scales are used where it is not sure that "
                          "tget_scale_addr has found their address");
      diag.attachNote(op.getLoc()) << "found here";
      return diag;
    }
  unsigned root;
  if (rootList[data.root].arena) {
    // Behind the memories that have names: one for each side.
    int &arena = arenaOfSpace[data.type.getSpace() == pto::AddressSpace::Right ? 15 : 14];
    if (arena < 0) {
      arena = rootList.size();
      rootList.push_back({true, 0});
    }
    root = arena;
  } else {
    auto [at, made] = scaleRoots.try_emplace(data.root, rootList.size());
    if (made)
      rootList.push_back({true, 0}); // like an arena it lives as long as the function
    root = at->second;
  }
  scales.root = root;
  scales.low = data.low / 16;
  scales.high = scales.low + scales.type.getSizeInBytes();
  scales.exact = true;
  scales.dynamicStart = {};
  rootList[root].bytes = std::max(rootList[root].bytes, scales.high);
  return success();
}

Overlap TileModel::overlap(const TileInfo &a, const TileInfo &b) {
  if (a.root != b.root || a.high <= b.low || b.high <= a.low)
    return Overlap::None;
  if (a.inBoxes || b.inBoxes)
    return a.handle && a.handle == b.handle ? Overlap::Same : Overlap::Unknown;
  bool comparable =
      a.exact ? b.exact : !b.exact && a.dynamicStart && a.dynamicStart == b.dynamicStart;
  if (!comparable)
    return Overlap::Unknown;
  bool sameGrid = a.elem == b.elem && a.rowStride == b.rowStride && a.colStride == b.colStride;
  if (a.start() == b.start() &&
      (sameGrid || (a.elem == b.elem && a.rowStride == b.rowStride && a.cols == 1 && b.cols == 1)))
    return Overlap::Same;
  if (isPacked(a.elem) || isPacked(b.elem))
    return Overlap::Unknown;
  // Windows of one row-major tile that start in the same row stay in their rows.
  if (a.colStride == 1 && b.colStride == 1 && a.rowBytes() == b.rowBytes() && a.rowBytes() > 0) {
    int64_t pitch = a.rowBytes();
    int64_t base = std::min(a.start(), b.start());
    int64_t endA = a.start() - base + a.cols * bytesOf(a.elem);
    int64_t endB = b.start() - base + b.cols * bytesOf(b.elem);
    if (std::max(endA, endB) <= pitch) {
      bool apart = a.start() + a.cols * bytesOf(a.elem) <= b.start() ||
                   b.start() + b.cols * bytesOf(b.elem) <= a.start();
      return apart ? Overlap::None : Overlap::Rows;
    }
  }
  return Overlap::Unknown;
}

//===----------------------------------------------------------------------===//
// Liveness: a walk over structured control flow from the write
//===----------------------------------------------------------------------===//

bool TileModel::Cover::covers(const TileInfo &writer, const TileInfo &reader, const Cover &cover) {
  if (overlap(writer, reader) != Overlap::Same)
    return false;
  auto atLeast = [](const ValidSign &w, const ValidSign &r, int64_t capacity) {
    if (w == r)
      return true;
    int64_t need = r.constant >= 0 ? r.constant : capacity;
    return w.constant >= 0 && w.constant >= need;
  };
  if (atLeast(writer.validRows, reader.validRows, reader.rows) &&
      atLeast(writer.validCols, reader.validCols, reader.cols))
    return true;
  // The same handle, not resized in between.
  return writer.validOwner == reader.validOwner && !cover.resizedSince.contains(writer.validOwner);
}

/// Whether all bytes of the writer's tile are valid, and the other tile has no byte besides.
static bool coversBytes(const TileInfo &writer, const TileInfo &tile) {
  return writer.exact && tile.exact && writer.home == writer.handle && writer.root == tile.root &&
         writer.low <= tile.low && tile.high <= writer.high && !isPacked(writer.elem) &&
         writer.validRows.constant == writer.rows && writer.validCols.constant == writer.cols &&
         writer.high - writer.low == writer.rows * writer.cols * bytesOf(writer.elem);
}

/// Whether a load fills the tile's valid region: the window has its extents.
static bool fillsTile(pto::TLoadOp load, const TileInfo &tile) {
  auto part = load.getSrc().getDefiningOp<pto::PartitionViewOp>();
  if (!part || part.getSizes().size() < 2)
    return false;
  auto matches = [](Value size, const ValidSign &sign) {
    std::optional<int64_t> c = constantOf(size);
    return c ? sign.constant == *c : sign.value == size;
  };
  auto sizes = part.getSizes();
  for (Value outer : sizes.drop_back(2))
    if (constantOf(outer) != 1)
      return false;
  return matches(sizes[sizes.size() - 2], tile.validRows) && matches(sizes.back(), tile.validCols);
}

/// Whether an op that only writes may leave elements of its result's valid part as they were. Masks
/// are sized by their data, gathers, sorts and joins by what they find, transposes by their source;
/// column reductions and ramps write one row, quantisation one value for each group.
static bool leavesPart(StringRef name, const TileInfo &result) {
  if (name == "pto.tci" || (name.starts_with("pto.tcol") && !name.starts_with("pto.tcolexpand")))
    return result.validRows.constant != 1;
  return name.starts_with("pto.tcmp") || name.starts_with("pto.tconcat") ||
         name.starts_with("pto.tgather") || name == "pto.tsort32" || name == "pto.tmrgsort" ||
         name == "pto.ttrans" || name == "pto.thistogram" || name == "pto.tquant.mx";
}

TileModel::Scan TileModel::scanOp(Operation &op, const TileInfo &tile, Cover &cover) const {
  if (auto resize = dyn_cast<pto::SetValidShapeOp>(op)) {
    cover.resizedSince.insert(resize.getTile());
    llvm::erase_if(cover.written,
                   [&](const TileInfo *w) { return w->validOwner == resize.getTile(); });
    return Scan::Continue;
  }
  if (isa<pto::TGetScaleAddrOp>(op))
    return Scan::Continue; // an address, no bytes
  auto sees = [&](const TileInfo &reader) {
    auto covered = [&] {
      return llvm::any_of(cover.written, [&](const TileInfo *w) {
        return Cover::covers(*w, reader, cover) || coversBytes(*w, reader);
      });
    };
    if (!cover.disagreeing)
      return overlap(reader, tile) != Overlap::None && !covered();
    if (disagree(homeOf(reader), homeOf(tile)) && !covered())
      cover.disagreeing->insert(reader.home);
    return false;
  };
  if (auto tileOp = dyn_cast<pto::TileOpInterface>(op)) {
    const pto::TileOpInfo &facts = tileOp.getTileOpInfo();
    auto each = [&](auto wanted, auto visit) {
      for (unsigned i = 0; i < facts.operands.size(); ++i)
        if (wanted(facts.operands[i].effect))
          for (Value operand : tileOp.getSpecOperands(i))
            if (auto it = tiles.find(operand); it != tiles.end())
              if (visit(*it->second))
                return true;
      return false;
    };
    bool live = each(
        [](pto::OperandEffect e) {
          return e == pto::OperandEffect::Read || e == pto::OperandEffect::ReadWrite;
        },
        [&](const TileInfo &reader) { return sees(reader); });
    if (live)
      return Scan::Live;
    bool dead = each([](pto::OperandEffect e) { return e == pto::OperandEffect::Write; },
                     [&](const TileInfo &writer) {
                       if (auto load = dyn_cast<pto::TLoadOp>(op); load && !fillsTile(load, writer))
                         return false;
                       if (leavesPart(op.getName().getStringRef(), writer))
                         return false;
                       // Moves and conversions take what source and target both have.
                       if (isa<pto::TMovOp, pto::TCvtOp>(op))
                         if (auto src = tiles.find(op.getOperand(0));
                             src != tiles.end() && !(src->second->validRows == writer.validRows &&
                                                     src->second->validCols == writer.validCols))
                           return false;
                       cover.written.push_back(&writer);
                       return writer.exact &&
                              (Cover::covers(writer, tile, cover) || coversBytes(writer, tile));
                     });
    return dead ? Scan::Dead : Scan::Continue;
  }
  if (op.getNumRegions() == 0) {
    // Handles and sizes do not read bytes; anything else that takes a tile may.
    if (isa<pto::TReshapeOp, pto::BitcastOp, pto::SubviewOp, pto::SubsetOp, pto::MultiTileGetOp,
            pto::GetValidShapeOp, pto::TileValidRowsOp, pto::TileValidColsOp, pto::TAssignOp>(op))
      return Scan::Continue;
    for (Value operand : op.getOperands())
      if (auto it = tiles.find(operand); it != tiles.end() && sees(*it->second))
        return Scan::Live;
    return Scan::Continue;
  }
  bool allDead = isa<scf::IfOp>(op);
  for (Region &region : op.getRegions()) {
    Cover inner = cover;
    bool regionDead = false;
    for (Block &block : region) {
      Scan scan = scanRange(block.begin(), block.end(), tile, inner);
      if (scan == Scan::Live)
        return scan;
      regionDead |= scan == Scan::Dead;
    }
    cover.resizedSince.insert(inner.resizedSince.begin(), inner.resizedSince.end());
    llvm::erase_if(cover.written, [&](const TileInfo *w) {
      return inner.resizedSince.contains(w->validOwner) && !w->validRows.known();
    });
    allDead &= regionDead;
  }
  return allDead ? Scan::Dead : Scan::Continue;
}

TileModel::Scan TileModel::scanRange(Block::iterator from, Block::iterator to, const TileInfo &tile,
                                     Cover &cover) const {
  for (; from != to; ++from) {
    Scan scan = scanOp(*from, tile, cover);
    if (scan != Scan::Continue)
      return scan;
  }
  return Scan::Continue;
}

bool TileModel::isLiveAfter(const TileInfo &tile, Operation *last, Operation *write) const {
  Cover cover;
  // Ops between the write and `last`, which the caller has looked at, may have changed its extents.
  if (write && write != last && resized.contains(tile.validOwner))
    for (Operation *op = write; op && op != last; op = op->getNextNode())
      if (auto resize = dyn_cast<pto::SetValidShapeOp>(op))
        cover.resizedSince.insert(resize.getTile());
  return tile.inBoxes || scanFrom(tile, last, cover) == Scan::Live;
}

TileModel::Scan TileModel::scanFrom(const TileInfo &tile, Operation *last, Cover &cover) const {
  Operation *at = last;
  while (!isa<func::FuncOp>(at)) {
    Block *block = at->getBlock();
    Scan scan = scanRange(std::next(at->getIterator()), block->end(), tile, cover);
    if (scan != Scan::Continue)
      return scan;
    Operation *parent = block->getParentOp();
    if (isa<scf::ForOp, scf::WhileOp>(parent)) {
      // The next iteration sees the same bytes.
      Cover next = cover;
      llvm::erase_if(next.written, [](const TileInfo *w) { return !w->exact; });
      for (Region &region : parent->getRegions())
        for (Block &body : region) {
          bool own = &body == block;
          Scan again =
              scanRange(body.begin(), own ? std::next(at->getIterator()) : body.end(), tile, next);
          if (again == Scan::Live)
            return again;
          if (again == Scan::Dead)
            break;
        }
    }
    at = parent;
  }
  return Scan::Dead;
}

} // namespace ptoas::native
