//===- Matrix.cpp - the cube side: operand views and matrix products ------===//
//
// A mat, left or right tile is usually a station on the way from global memory to
// a product. While nothing can change the source before the last read, the tile
// is not filled at all: its readers go to the source, with the source's strides
// (the product packs its operands anyway).
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
namespace pto = mlir::pto;
namespace ptoas::native {

/// The handle a chain of reshapes and windows starts at.
static mlir::Value chainStart(mlir::Value handle) {
  while (mlir::Operation *def = handle.getDefiningOp()) {
    if (!isa<pto::TReshapeOp, pto::SubviewOp>(def))
      break;
    handle = def->getOperand(0);
  }
  return handle;
}

/// Where the data of a tile lies when its last write was turned into a view.
std::optional<FunctionEmitter::TileView> FunctionEmitter::viewOf(mlir::Value handle) {
  if (auto it = tileViews.find(handle); it != tileViews.end())
    return it->second;
  mlir::Operation *def = handle.getDefiningOp();
  if (!def || tileViews.empty())
    return std::nullopt;
  if (auto reshape = dyn_cast<pto::TReshapeOp>(def)) {
    std::optional<TileView> view = viewOf(reshape.getSource());
    if (!view)
      return view;
    const TileInfo &from = model.info(reshape.getSource()), &to = model.info(handle);
    // canReadInPlace has let through only the transposing reshape and that to the same shape.
    if (from.rowStride != to.rowStride || from.colStride != to.colStride)
      std::swap(view->rowStride, view->colStride);
    return view;
  }
  if (auto sub = dyn_cast<pto::SubviewOp>(def)) {
    std::optional<TileView> view = viewOf(sub.getSource());
    if (!view)
      return view;
    Value *at = b.CreateAdd(b.CreateMul(asIndex(sub.getOffsets()[0]), view->rowStride),
                            b.CreateMul(asIndex(sub.getOffsets()[1]), view->colStride));
    view->base = elementPointer(view->base, at, bytesOf(model.info(handle).elem));
    if (view->tile) {
      windows.push_back(*view->tile);
      windows.back().exact = false;
      windows.back().dynamicStart = {};
      view->tile = &windows.back();
    }
    return view;
  }
  return std::nullopt;
}

static bool mayWriteGlobal(mlir::Operation &op) {
  if (auto tileOp = dyn_cast<pto::TileOpInterface>(op)) {
    for (const pto::OperandSpec &spec : tileOp.getTileOpInfo().operands)
      if (spec.kind == pto::OperandKind::View && spec.effect != pto::OperandEffect::Read)
        return true;
    return false;
  }
  if (op.getNumRegions() || mlir::isMemoryEffectFree(&op))
    return false; // regions are looked into by the caller
  static const StringSet<> harmless = {"pto.alloc_tile",      "pto.alloc_multi_tile",
                                       "pto.set_validshape",  "pto.get_validshape",
                                       "pto.tile_valid_rows", "pto.tile_valid_cols",
                                       "pto.load_scalar",     "pto.set_flag",
                                       "pto.wait_flag",       "pto.set_flag_dyn",
                                       "pto.wait_flag_dyn",   "pto.record_event",
                                       "pto.wait_event",      "pto.barrier",
                                       "pto.barrier_sync",    "pto.get_buf",
                                       "pto.rls_buf",         "pto.local_array_get",
                                       "pto.local_array_set", "pto.declare_local_array",
                                       "pto.mem_bar",         "scf.yield",
                                       "scf.condition",       "func.return"};
  return !harmless.contains(op.getName().getStringRef());
}

bool FunctionEmitter::canReadInPlace(mlir::Operation *write, mlir::Value handle,
                                     const TileInfo *source) {
  const TileInfo &tile = model.info(handle);
  mlir::Block *block = write->getBlock();
  if (model.isLiveAfter(tile, &block->back()))
    return false;
  bool sourceChanged = false, tileChanged = false, ok = true;
  auto look = [&](mlir::Operation &op, bool inRegion) {
    if (mayWriteGlobal(op) && !source)
      sourceChanged = true;
    if (isa<pto::TGetScaleAddrOp>(op))
      return; // an address, no bytes
    auto tileOp = dyn_cast<pto::TileOpInterface>(op);
    auto readsTile = [&](mlir::Value operand) {
      if (model.isTile(operand) && TileModel::overlap(model.info(operand), tile) != Overlap::None) {
        bool known = chainStart(operand) == handle;
        for (mlir::Value v = operand; known && v != handle; v = v.getDefiningOp()->getOperand(0))
          if (auto reshape = v.getDefiningOp<pto::TReshapeOp>()) {
            const TileInfo &from = model.info(reshape.getSource()), &to = model.info(v);
            bool swapped = from.rowStride == to.colStride && from.colStride == to.rowStride;
            known = swapped || (from.rows == to.rows && from.cols == to.cols);
          }
        if (!known || sourceChanged || tileChanged)
          ok = false;
      }
    };
    if (!tileOp) {
      if (!isa<pto::TReshapeOp, pto::BitcastOp, pto::SubviewOp, pto::SubsetOp, pto::MultiTileGetOp,
               pto::SetValidShapeOp, pto::GetValidShapeOp, pto::TileValidRowsOp,
               pto::TileValidColsOp, pto::AllocTileOp>(op))
        for (mlir::Value operand : op.getOperands())
          if (model.isTile(operand) && op.getNumRegions() == 0)
            readsTile(operand);
      return;
    }
    const pto::TileOpInfo &facts = tileOp.getTileOpInfo();
    for (unsigned pass : {0u, 1u})
      for (unsigned i = 0; i < facts.operands.size(); ++i) {
        pto::OperandEffect effect = facts.operands[i].effect;
        bool reads = effect == pto::OperandEffect::Read || effect == pto::OperandEffect::ReadWrite;
        bool writes =
            effect == pto::OperandEffect::Write || effect == pto::OperandEffect::ReadWrite;
        for (mlir::Value operand : tileOp.getSpecOperands(i)) {
          if (!model.isTile(operand))
            continue;
          if (pass == 0 && reads)
            readsTile(operand);
          // Changed in part: what is not written comes from the tile itself.
          if (effect == pto::OperandEffect::ReadWrite &&
              TileModel::overlap(model.info(operand), tile) != Overlap::None)
            ok = false;
          if (pass == 1 && writes) {
            const TileInfo &other = model.info(operand);
            tileChanged |= TileModel::overlap(other, tile) != Overlap::None;
            if (source)
              sourceChanged |= TileModel::overlap(other, *source) != Overlap::None;
          }
        }
      }
    (void)inRegion;
  };
  for (auto it = std::next(write->getIterator()); it != block->end() && ok; ++it) {
    // A full new write of the same tile starts a new life.
    if (auto tileOp = dyn_cast<pto::TileOpInterface>(*it); tileOp && tileChanged) {
      mlir::Value dst = tileOp.getNamedOperand("dst");
      if (dst == handle && !llvm::is_contained(tileOp.getIns(), handle))
        break;
    }
    if (it->getNumRegions() == 0) {
      bool before = tileChanged;
      look(*it, false);
      if (!before && tileChanged) {
        // Overwritten: reads after this see the new data, if it is all new.
        auto tileOp = dyn_cast<pto::TileOpInterface>(*it);
        if (tileOp && tileOp.getNamedOperand("dst") == handle)
          return ok;
      }
      continue;
    }
    // Inside a loop the order of reads and changes turns round: allow one kind only.
    bool changedBefore = sourceChanged || tileChanged, reads = false;
    it->walk([&](mlir::Operation *inner) {
      for (mlir::Value operand : inner->getOperands())
        reads |=
            model.isTile(operand) && TileModel::overlap(model.info(operand), tile) != Overlap::None;
      if (inner->getNumRegions() == 0)
        look(*inner, true);
    });
    if (reads && (sourceChanged || tileChanged) && !changedBefore)
      return false;
  }
  return ok;
}

/// True if no reader of the loaded tile looks behind its valid part: the load pads what is there of
/// the last boxes, the source does not.
bool FunctionEmitter::readsOnlyValid(mlir::Value handle) {
  const TileInfo &tile = model.info(handle);
  auto [boxRows, boxCols] = tile.type.getBoxShape();
  auto fills = [&](const ValidSign &sign, int64_t box, int64_t capacity) {
    return sign.constant >= 0 && (sign.constant % box == 0 || sign.constant == capacity);
  };
  if (!tile.type.isBoxed() ||
      (fills(tile.validRows, boxRows, tile.rows) && fills(tile.validCols, boxCols, tile.cols)))
    return true;
  auto within = [](const ValidSign &inner, const ValidSign &outer) {
    return inner == outer ||
           (inner.constant >= 0 && outer.constant >= 0 && inner.constant <= outer.constant);
  };
  return all_of(handle.getUsers(), [&](mlir::Operation *user) {
    if (!isa<pto::TMovOp>(user))
      return !isa<pto::TileOpInterface>(user) || isa<pto::TLoadOp>(user);
    const TileInfo &dst = model.info(cast<pto::TMovOp>(user).getDst());
    return within(dst.validRows, tile.validRows) && within(dst.validCols, tile.validCols);
  });
}

/// Turns a load or move into a left, right or mat tile into a view of its source, if it may be.
bool FunctionEmitter::tryView(pto::TileOpInterface op) {
  if (!owner.options.fuse)
    return false;
  StringRef name = op->getName().getStringRef();
  bool load = name == "pto.tload", window = name == "pto.textract";
  if (!load && !window && name != "pto.tmov")
    return false;
  mlir::Value dst = op.getNamedOperand("dst");
  const TileInfo &tile = model.info(dst);
  pto::AddressSpace space = tile.type.getSpace();
  if (space != pto::AddressSpace::Mat && space != pto::AddressSpace::Left &&
      space != pto::AddressSpace::Right)
    return false;
  tileViews.erase(dst); // a new write ends an older view
  mlir::Value from = op.getNamedOperand("src");
  if (tile.inBoxes || (model.isTile(from) && model.info(from).inBoxes))
    return false; // its bytes, or those it comes from, are seen as they are
  TileView view;
  const TileInfo *source = nullptr;
  if (load) {
    const GmView &from = views.find(op.getNamedOperand("src"))->second;
    Value *rows, *cols;
    FailureOr<Access> access = viewAccess(from, rows, cols);
    if (failed(access) || !access->rowDims.empty() || bytesOf(from.elem) != bytesOf(tile.elem))
      return false;
    // The window must hold all the tile's valid elements.
    if (smaller(validRows(tile), rows) != validRows(tile) ||
        smaller(validCols(tile), cols) != validCols(tile))
      return false;
    if (!readsOnlyValid(dst))
      return false;
    view = {access->base, access->rowStride, access->colStride, nullptr, access->gmRoot};
  } else {
    if (op.getNamedOperand("fp") || op.getNamedOperand("preQuantScalar"))
      return false;
    mlir::Value src = op.getNamedOperand("src");
    const TileInfo &from = model.info(src);
    if (from.elem != tile.elem || from.type.getSpace() == pto::AddressSpace::Acc)
      return false;
    Access access = window ? windowAccess(src, op.getNamedOperand("row"), op.getNamedOperand("col"))
                           : tileAccess(src);
    view = {access.base, access.rowStride, access.colStride, access.tile, access.gmRoot};
    source = access.tile;
  }
  if (!canReadInPlace(op, dst, source))
    return false;
  // The read happens later, behind ops that may still join the waiting group: what the group makes
  // of the source must reach memory, whatever liveness says at the group's end.
  if (source)
    keepInMemory(*source);
  tileViews[dst] = view;
  madeViews.push_back(dst);
  return true;
}

/// What the waiting group makes of the tile reaches its bytes: it is read after the group's end.
void FunctionEmitter::keepInMemory(const TileInfo &tile) {
  for (GroupNode &node : group.nodes)
    if (node.op->out.tile && TileModel::overlap(*node.op->out.tile, tile) != Overlap::None)
      node.inMemory = true;
}

FunctionEmitter::TileView FunctionEmitter::readTile(mlir::Value handle) {
  Access access = tileAccess(handle);
  if (access.tile)
    extendLife(rootStorage[access.tile->root], current);
  return {access.base, access.rowStride, access.colStride, access.tile, access.gmRoot};
}

FailureOr<bool> FunctionEmitter::emitMatrix(pto::TileOpInterface op) {
  StringRef name = op->getName().getStringRef();
  bool gemv = name.consume_front("pto.tgemv");
  if (!gemv && !name.consume_front("pto.tmatmul"))
    return false;
  mlir::Value lhs = op.getNamedOperand("lhs"), rhs = op.getNamedOperand("rhs");
  mlir::Value dst = op.getNamedOperand("dst");
  const TileInfo &l = model.info(lhs), &r = model.info(rhs), &out = model.info(dst);
  flush();
  StringRef kernel;
  bool small = isSmallFloat(l.elem) && isSmallFloat(r.elem) && out.elem == Elem::F32;
  mlir::Value scales[2] = {op.getNamedOperand("lhsScale"), op.getNamedOperand("rhsScale")};
  if (small)
    kernel = "pto_gemm_f32"; // of what the bits stand for
  else if (l.elem == Elem::F32 && r.elem == Elem::F32 && out.elem == Elem::F32)
    kernel = "pto_gemm_f32";
  else if (l.elem == Elem::BF16 && r.elem == Elem::BF16 && out.elem == Elem::F32)
    kernel = "pto_gemm_bf16";
  else if (l.elem == Elem::F16 && r.elem == Elem::F16 && out.elem == Elem::F32)
    kernel = "pto_gemm_f16";
  else if (l.elem == Elem::I8 && r.elem == Elem::I8 && out.elem == Elem::I32)
    kernel = "pto_gemm_i8";
  else
    return op->emitError("native target: no product of ")
           << l.type.getElementType() << " and " << r.type.getElementType() << " into "
           << out.type.getElementType();
  Value *m = gemv ? index(1) : smaller(validRows(l), index(out.rows));
  Value *k = gemv ? validRows(r) : validCols(l);
  Value *n = smaller(validCols(r), index(out.cols));
  k = smaller(k, index(std::min(l.cols, r.rows)));
  Value *c = tilePointer(out);
  bool accumulate = false;
  Value *bias = ConstantPointerNull::get(b.getPtrTy());
  if (mlir::Value accIn = op.getNamedOperand("accIn")) {
    accumulate = true;
    const TileInfo &in = model.info(accIn);
    if (TileModel::overlap(in, out) != Overlap::Same)
      callRuntime("pto_copy_2d", {c, index(out.rowStride), index(out.colStride), tilePointer(in),
                                  index(in.rowStride), index(in.colStride), m, n, b.getInt32(4)});
  }
  if (mlir::Value biasTile = op.getNamedOperand("bias"))
    bias = readTile(biasTile).base;
  TileView a = readTile(lhs), w = readTile(rhs);
  if (small) {
    // The part that the product reads: a tile read in place has no more.
    auto widen = [&](TileView &view, const TileInfo &tile, Value *rows, Value *cols,
                     unsigned side) {
      Value *wide = privateStorage(tile.rows * tile.cols * 4);
      callRuntime("pto_widen_small", {wide, index(tile.cols), view.base, view.rowStride,
                                      view.colStride, rows, cols, b.getInt32(unsigned(tile.elem))});
      if (scales[side]) {
        // One scale for 32 elements along K: columns of the left operand, rows of the right one.
        TileView scale = readTile(scales[side]);
        callRuntime("pto_scale_groups", {wide, index(tile.cols), rows, cols, scale.base,
                                         scale.rowStride, scale.colStride, b.getInt32(side)});
      }
      view = {wide, index(tile.cols), index(1), nullptr, {}};
    };
    widen(a, l, m, k, 0);
    widen(w, r, k, n, 1);
  }
  callRuntime(kernel, {m, n, k, a.base, a.rowStride, a.colStride, w.base, w.rowStride, w.colStride,
                       c, index(out.rowStride), bias, b.getInt32(accumulate)});
  return true;
}

} // namespace ptoas::native
