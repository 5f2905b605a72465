//===- Irregular.cpp - ops that call functions compiled ahead -------------===//
//
// Sorts, gathers, scatters, transposes and single elements. Tiles are passed as
// descriptors (PtoTile in ptoas/kernels/irregular_tile.h).
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

using namespace llvm;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
namespace pto = mlir::pto;
namespace ptoas::native {

/// Pointer to a PtoTile: data, row and column stride, rows, columns, valid rows, valid columns,
/// element type.
Value *FunctionEmitter::describe(mlir::Value handle) {
  const TileInfo &tile = model.info(handle);
  Access access = tileAccess(handle);
  if (access.tile)
    extendLife(rootStorage[access.tile->root], current);
  Value *fields[] = {b.CreatePtrToInt(access.base, b.getInt64Ty()),
                     access.rowStride,
                     access.colStride,
                     index(tile.rows),
                     index(tile.cols),
                     validRows(tile),
                     validCols(tile),
                     index(int64_t(tile.elem))};
  AllocaInst *slot = stackSlot(ArrayType::get(b.getInt64Ty(), 8), "desc");
  for (unsigned i = 0; i < 8; ++i)
    b.CreateStore(fields[i], b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), slot, i));
  return slot;
}

/// The same for a two-dimensional window of global memory.
Value *FunctionEmitter::describeView(const GmView &view) {
  Value *rows, *cols;
  FailureOr<Access> access = viewAccess(view, rows, cols);
  if (failed(access) || !access->rowDims.empty())
    return nullptr;
  Value *fields[] = {b.CreatePtrToInt(access->base, b.getInt64Ty()),
                     access->rowStride,
                     access->colStride,
                     rows,
                     cols,
                     rows,
                     cols,
                     index(int64_t(view.elem))};
  AllocaInst *slot = stackSlot(ArrayType::get(b.getInt64Ty(), 8), "desc");
  for (unsigned i = 0; i < 8; ++i)
    b.CreateStore(fields[i], b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), slot, i));
  return slot;
}

FailureOr<bool> FunctionEmitter::emitIrregular(pto::TileOpInterface op) {
  StringRef name = op->getName().getStringRef();
  if (FailureOr<bool> done = emitSmallFloats(op); failed(done) || *done)
    return done;
  auto tile = [&](StringRef operand) { return describe(op.getNamedOperand(operand)); };
  auto has = [&](StringRef operand) { return static_cast<bool>(op.getNamedOperand(operand)); };
  auto integer = [&](StringRef attr, int64_t otherwise) -> Value * {
    if (auto a = op->getAttrOfType<mlir::IntegerAttr>(attr))
      return b.getInt32(a.getInt());
    return b.getInt32(otherwise);
  };
  auto flag = [&](StringRef attr) {
    auto a = op->getAttrOfType<mlir::BoolAttr>(attr);
    return b.getInt32(a && a.getValue());
  };
  auto call = [&](StringRef function, ArrayRef<Value *> args) -> FailureOr<bool> {
    callRuntime(function, args);
    return true;
  };
  Value *null = ConstantPointerNull::get(b.getPtrTy());

  if (name == "pto.tgetval" || name == "pto.tsetval") {
    bool get = name == "pto.tgetval";
    flush();
    mlir::Value handle = op.getNamedOperand(get ? "src" : "dst");
    const TileInfo &info = model.info(handle);
    Value *at = asIndex(op.getNamedOperand("offset"));
    if (info.inBoxes && info.home != handle)
      return op->emitError("native target: an element of a part of a tile with boxes");
    // The linear index counts the elements of the whole tile, in its own order.
    int64_t last = info.inBoxes
                       ? info.rows * info.cols - 1
                       : (info.rows - 1) * info.rowStride + (info.cols - 1) * info.colStride;
    if (failed(requireWithin(*op.getOperation(), at, index(last), "the offset")))
      return failure();
    Value *pointer = elementPointer(addressOf(info), at, bytesOf(info.elem));
    if (get) {
      Type *type = typeOf(op->getResult(0).getType());
      if (!type)
        return op->emitError("native target: no scalar of type ") << op->getResult(0).getType();
      values[op->getResult(0)] = b.CreateAlignedLoad(type, pointer, Align(bytesOf(info.elem)));
    } else {
      b.CreateAlignedStore(value(op.getNamedOperand("value")), pointer, Align(bytesOf(info.elem)));
    }
    return true;
  }
  if (name == "pto.tget_scale_addr")
    return true; // TileModel has put the scales where their data says
  flush();
  if (name == "pto.ttrans") {
    mlir::Value src = op.getNamedOperand("src"), dst = op.getNamedOperand("dst");
    const TileInfo &from = model.info(src), &to = model.info(dst);
    if (from.colStride != 1 || to.colStride != 1)
      return call("pto_tile_transpose", {tile("dst"), tile("src")});
    Value *rows = smaller(validRows(from), index(to.cols));
    Value *cols = smaller(validCols(from), index(to.rows));
    return call("pto_transpose",
                {rows, cols, tilePointer(from), index(from.rowStride), tilePointer(to),
                 index(to.rowStride), b.getInt32(bytesOf(from.elem))});
  }
  if (name == "pto.tgather") {
    if (has("indices"))
      return call("pto_gather_index", {tile("dst"), tile("src"), tile("indices")});
    if (auto pattern = op->getAttrOfType<pto::MaskPatternAttr>("maskPattern")) {
      auto axis = op->getAttrOfType<mlir::StringAttr>("axis");
      return call("pto_gather_mask",
                  {tile("dst"), tile("src"), b.getInt32(unsigned(pattern.getValue())),
                   b.getInt32(axis && axis.getValue() == "col")});
    }
    if (has("kValue") && has("cdst")) {
      const TileInfo &src = model.info(op.getNamedOperand("src"));
      AllocaInst *key = stackSlot(b.getInt64Ty(), "key");
      VecBuilder one(b, 1, owner.avx512());
      Value *k = scalarAs(op.getNamedOperand("kValue"), src.elem);
      b.CreateStore(one.toMemory(k, src.elem), key);
      auto mode = op->getAttrOfType<pto::CmpModeAttr>("cmpMode");
      return call("pto_gather_compare",
                  {tile("dst"), tile("cdst"), tile("src"), key,
                   b.getInt32(mode ? unsigned(mode.getValue()) : 0), integer("offset", 0)});
    }
    return false;
  }
  if (name == "pto.tgatherb")
    return call("pto_gather_blocks", {tile("dst"), tile("src"), tile("offsets")});
  if (name == "pto.tscatter") {
    if (has("indices"))
      return call("pto_scatter_index", {tile("dst"), tile("src"), tile("indices")});
    if (auto pattern = op->getAttrOfType<pto::MaskPatternAttr>("maskPattern")) {
      auto axis = op->getAttrOfType<mlir::StringAttr>("axis");
      return call("pto_scatter_mask",
                  {tile("dst"), tile("src"), b.getInt32(unsigned(pattern.getValue())),
                   b.getInt32(axis && axis.getValue() == "col")});
    }
    return false;
  }
  if (name == "pto.tsort32")
    return call("pto_sort32", {tile("dst"), tile("src"), tile("indices")});
  if (name == "pto.tmrgsort") {
    auto srcs = op.getSpecOperands(0);
    if (has("blockLen"))
      return call("pto_merge_runs",
                  {tile("dst"), describe(srcs[0]), asIndex(op.getNamedOperand("blockLen"))});
    Value *lists[4] = {null, null, null, null};
    for (unsigned i = 0; i < srcs.size() && i < 4; ++i)
      lists[i] = describe(srcs[i]);
    AllocaInst *counts = stackSlot(ArrayType::get(b.getInt16Ty(), 4), "executed");
    return call("pto_merge_lists", {tile("dst"), lists[0], lists[1], lists[2], lists[3],
                                    b.getInt32(srcs.size()), flag("exhausted"), counts});
  }
  if (name == "pto.tconcatidx")
    return call("pto_concat_counted", {tile("dst"), has("dstIdx") ? tile("dstIdx") : null,
                                       tile("src0"), tile("src1"), tile("idx0"), tile("idx1")});
  if (name == "pto.trandom") {
    SmallVector<Value *, 8> args{tile("dst")};
    for (StringRef word : {"key0", "key1", "counter0", "counter1", "counter2", "counter3"})
      args.push_back(b.CreateTrunc(asIndex(op.getNamedOperand(word)), b.getInt32Ty()));
    args.push_back(integer("rounds", 10));
    return call("pto_random", args);
  }
  if (name == "pto.thistogram") {
    Value *byte = integer("byte", 1);
    if (auto msb = op->getAttrOfType<mlir::BoolAttr>("isMSB"))
      byte = b.getInt32(msb.getValue() ? 1 : 0);
    return call("pto_histogram", {tile("dst"), tile("src"), tile("indices"), byte});
  }
  if (name == "pto.tcolargmax" || name == "pto.tcolargmin")
    return call("pto_col_arg", {tile("dst"), tile("src"), b.getInt32(name.ends_with("max"))});
  if (name == "pto.tpartargmax" || name == "pto.tpartargmin")
    return call("pto_part_arg", {tile("dst"), tile("dstIdx"), tile("src0"), tile("src1"),
                                 tile("idx0"), tile("idx1"), b.getInt32(name.ends_with("max"))});
  if (name == "pto.tpow")
    return call("pto_power", {tile("dst"), tile("src0"), tile("src1")});
  if (name == "pto.tpows") {
    // The exponent as a tile of one element.
    const TileInfo &src = model.info(op.getNamedOperand("src"));
    AllocaInst *exponent = stackSlot(b.getInt64Ty(), "exponent");
    VecBuilder one(b, 1, owner.avx512());
    b.CreateStore(one.toMemory(scalarAs(op.getNamedOperand("scalar"), src.elem), src.elem),
                  exponent);
    return call("pto_power_scalar", {tile("dst"), tile("src"), exponent});
  }
  if (name == "pto.mgather" || name == "pto.mscatter") {
    bool gather = name == "pto.mgather";
    const GmView &view = views.find(op.getNamedOperand(gather ? "src" : "dst"))->second;
    Value *memory = describeView(view);
    if (!memory)
      return op->emitError("native target: '") << op->getName() << "' needs a two-dimensional view";
    const TileInfo &indices = model.info(op.getNamedOperand("indices"));
    const TileInfo &data = model.info(op.getNamedOperand(gather ? "dst" : "src"));
    // Rows when the indices are a vector, elements when they have the data's shape (pto-isa 6.12).
    bool rows = indices.rows == 1 || indices.cols == 1;
    if (indices.rows == data.rows && indices.cols == data.cols)
      rows = false;
    if (auto attr = op->getAttrOfType<pto::CoalesceAttr>("coalesce"))
      rows = attr.getValue() == pto::Coalesce::Row;
    unsigned oob = 0, combine = 0;
    if (auto attr = op->getAttrOfType<pto::GatherOOBAttr>("gatherOob"))
      oob = unsigned(attr.getValue());
    if (auto attr = op->getAttrOfType<pto::ScatterOOBAttr>("scatterOob"))
      oob = unsigned(attr.getValue());
    if (auto attr = op->getAttrOfType<pto::ScatterAtomicOpAttr>("scatterAtomicOp"))
      combine = unsigned(attr.getValue());
    if (gather)
      return call("pto_memory_gather",
                  {tile("dst"), memory, tile("indices"), b.getInt32(rows), b.getInt32(oob)});
    return call("pto_memory_scatter", {memory, tile("src"), tile("indices"), b.getInt32(rows),
                                       b.getInt32(oob), b.getInt32(combine)});
  }
  if (name == "pto.tprint") {
    auto attr = op->getAttrOfType<pto::PrintFormatAttr>("printFormat");
    pto::PrintFormat format = attr ? attr.getValue() : pto::PrintFormat::Width8Precision4;
    int width = format == pto::PrintFormat::Width10Precision6 ? 10 : 8;
    int precision = format == pto::PrintFormat::Width10Precision6  ? 6
                    : format == pto::PrintFormat::Width8Precision2 ? 2
                                                                   : 4;
    return call("pto_print_tile", {tile("src"), b.getInt32(width), b.getInt32(precision)});
  }
  return false;
}

} // namespace ptoas::native
