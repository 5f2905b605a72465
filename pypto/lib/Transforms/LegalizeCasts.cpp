//===- LegalizeCasts.cpp - conversions that the target lacks --------------===//
//
// A conversion without an instruction of its own goes over other element types, the shortest way
// (spec dsl 17.4). Each step rounds, so that results equal the hardware's. Part of
// LowerTensorToTile.
//
//===----------------------------------------------------------------------===//
#include "TensorToTile.h"
#include "TileShape.h"

using namespace mlir;

namespace pypto {

namespace {
enum Kind { BF16, FP16, FP32, I8, I16, I32, I64, U8, U16, U32, E4M3, E5M2, Count };
struct Conversion {
  Kind from;
  // In order of preference among ways of equal length: floats first.
  std::initializer_list<Kind> to;
};
} // namespace

static const Conversion a3[] = {{BF16, {FP32, I32}},
                                {FP16, {FP32, I16, I32, I8, U8}},
                                {FP32, {BF16, FP16, I16, I32, I64}},
                                {I16, {FP16, FP32}},
                                {I32, {FP32, FP16, I16, I64}},
                                {I64, {FP32, I32}},
                                {I8, {FP16}},
                                {U8, {FP16}}};
static const Conversion a5[] = {{BF16, {FP16, FP32, I32}},
                                {FP16, {FP32, I16, I32, I8, U8}},
                                {FP32, {BF16, FP16, E4M3, E5M2, I16, I32, I64}},
                                {I16, {FP16, FP32, I32, U32, U8}},
                                {I32, {FP32, I16, I64, U16, U8}},
                                {I64, {FP32, I32}},
                                {I8, {FP16, I16, I32}},
                                {U8, {FP16, U16}},
                                {U32, {I16, U16, U8}},
                                {E4M3, {FP32}},
                                {E5M2, {FP32}}};

static int kindOf(Type type) {
  if (type.isBF16())
    return BF16;
  if (type.isF16())
    return FP16;
  if (type.isF32())
    return FP32;
  if (isa<Float8E4M3FNType>(type))
    return E4M3;
  if (isa<Float8E5M2Type>(type))
    return E5M2;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return -1;
  switch (integer.getWidth()) {
  case 8:
    return integer.isUnsigned() ? U8 : I8;
  case 16:
    return integer.isUnsigned() ? U16 : I16;
  case 32:
    return integer.isUnsigned() ? U32 : I32;
  case 64:
    return integer.isUnsigned() ? -1 : int(I64);
  }
  return -1;
}

static Type typeOf(MLIRContext *context, int kind) {
  Builder b(context);
  switch (kind) {
  case BF16:
    return b.getBF16Type();
  case FP16:
    return b.getF16Type();
  case FP32:
    return b.getF32Type();
  case E4M3:
    return Float8E4M3FNType::get(context);
  case E5M2:
    return Float8E5M2Type::get(context);
  case U8:
  case U16:
  case U32:
    return IntegerType::get(context, kind == U8 ? 8 : kind == U16 ? 16 : 32, IntegerType::Unsigned);
  default:
    return b.getIntegerType(kind == I8 ? 8 : kind == I16 ? 16 : kind == I32 ? 32 : 64);
  }
}

static const char *dtypeName(int kind) {
  static const char *const names[] = {"BF16",  "FP16",  "FP32",   "INT8",   "INT16",     "INT32",
                                      "INT64", "UINT8", "UINT16", "UINT32", "FP8E4M3FN", "FP8E5M2"};
  return kind < 0 ? "this element type" : names[kind];
}

LogicalResult TensorToTile::lowerCast(CastOp op) {
  Value x = tile(op.getX());
  TileType type = flatTileType(op.getType());
  int from = kindOf(elementTypeOf(x.getType())), to = kindOf(type.getElementType());
  auto arch = kernel->getParentOp()->getAttrOfType<StringAttr>("pto.target_arch");
  bool isA5 = arch && arch == "a5";
  ArrayRef<Conversion> table = isA5 ? ArrayRef(a5) : ArrayRef(a3);
  // Breadth first over the native conversions.
  int previous[Count];
  llvm::fill(previous, -1);
  SmallVector<int> queue;
  if (from >= 0)
    queue.push_back(from);
  for (size_t next = 0; next < queue.size() && (to < 0 || previous[to] < 0); ++next)
    for (const Conversion &conversion : table)
      if (conversion.from == queue[next])
        for (Kind step : conversion.to)
          if (step != from && previous[step] < 0) {
            previous[step] = queue[next];
            queue.push_back(step);
          }
  if (from < 0 || to < 0 || previous[to] < 0)
    return op.emitError() << "cast: " << (isA5 ? "a5" : "a2a3") << " has no conversion from "
                          << dtypeName(from) << " to " << dtypeName(to);
  SmallVector<int> steps;
  for (int at = to; at != from; at = previous[at])
    steps.push_back(at);
  for (int step : llvm::reverse(steps)) {
    Type element = step == to ? type.getElementType() : typeOf(b.getContext(), step);
    x = make("cast", TileType::get(type.getShape(), element, MemorySpace::None, type.getValid()), x,
             attr("mode", op.getModeAttr()));
  }
  map.map(op.getResult(), x);
  return success();
}

} // namespace pypto
