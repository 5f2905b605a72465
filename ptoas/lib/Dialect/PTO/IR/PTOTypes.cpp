//===- PTOTypes.cpp - types of the dialect --------------------------------===//
#include "TileBufText.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "ptoas/Dialect/PTO/IR/TileOpInfo.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pto;

#define GET_TYPEDEF_CLASSES
#include "ptoas/Dialect/PTO/IR/PTOTypes.cpp.inc"

void PTODialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ptoas/Dialect/PTO/IR/PTOTypes.cpp.inc"
      >();
}

Type PTODialect::parseType(DialectAsmParser &parser) const {
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  Type type;
  if (generatedTypeParser(parser, &mnemonic, type).has_value())
    return type;
  if (mnemonic == "tile")
    return parseLevel1Tile(parser);
  parser.emitError(loc) << "unknown type '!pto." << mnemonic
                        << "', expected ptr, tensor_view, partition_tensor_view, tile_buf, "
                           "multi_tile_buf or another type of the dialect";
  return {};
}

void PTODialect::printType(Type type, DialectAsmPrinter &printer) const {
  (void)generatedTypePrinter(type, printer);
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

int64_t mlir::pto::getElementBytes(Type type) {
  if (isa<HiF8Type, F8E8M0Type, F4E1M2x2Type, F4E2M1x2Type>(type))
    return 1;
  if (isa<HiF8x2Type>(type))
    return 2;
  if (isa<BF16x2Type>(type))
    return 4;
  if (type.isInteger(1))
    return 1;
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() % 8 != 0)
    return 0;
  return type.getIntOrFloatBitWidth() / 8;
}

unsigned elem::classify(Type type) {
  if (type.isF16())
    return F16;
  if (type.isBF16())
    return BF16;
  if (type.isF32())
    return F32;
  if (type.isF64())
    return F64;
  if (isa<HiF8Type, HiF8x2Type>(type))
    return HIF8;
  if (isa<F4E1M2x2Type, F4E2M1x2Type, Float4E2M1FNType>(type))
    return FP4;
  if (isa<F8E8M0Type>(type))
    return FP8;
  if (isa<BF16x2Type>(type))
    return BF16;
  if (auto floatType = dyn_cast<FloatType>(type))
    return floatType.getWidth() == 8 ? FP8 : None;
  auto intType = dyn_cast<IntegerType>(type);
  if (!intType || intType.isSigned())
    return None;
  bool isUnsigned = intType.isUnsigned();
  switch (intType.getWidth()) {
  case 1:
    return isUnsigned ? None : I1;
  case 8:
    return isUnsigned ? UI8 : I8;
  case 16:
    return isUnsigned ? UI16 : I16;
  case 32:
    return isUnsigned ? UI32 : I32;
  case 64:
    return isUnsigned ? UI64 : I64;
  }
  return None;
}

std::string elem::toString(unsigned set) {
  static const std::pair<unsigned, const char *> names[] = {
      {I1, "i1"},     {I8, "i8"},     {I16, "i16"},   {I32, "i32"}, {I64, "i64"},   {UI8, "ui8"},
      {UI16, "ui16"}, {UI32, "ui32"}, {UI64, "ui64"}, {F16, "f16"}, {BF16, "bf16"}, {F32, "f32"},
      {F64, "f64"},   {FP8, "fp8"},   {HIF8, "hif8"}, {FP4, "fp4"}};
  std::string text;
  for (auto [bit, name] : names)
    if (set & bit)
      text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string spaces::toString(unsigned set) {
  std::string text;
  for (unsigned i = 1; i <= getMaxEnumValForAddressSpace(); ++i)
    if (set & (1u << i))
      text +=
          (text.empty() ? "" : ", ") + stringifyAddressSpace(static_cast<AddressSpace>(i)).str();
  return text;
}

//===----------------------------------------------------------------------===//
// Pointer
//===----------------------------------------------------------------------===//

Type PtrType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  Type element;
  AddressSpace space = AddressSpace::Gm;
  if (parser.parseLess() || parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    FailureOr<AddressSpace> parsed = parseSpace(parser);
    if (failed(parsed))
      return {};
    space = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<PtrType>(loc, parser.getContext(), element, space);
}

void PtrType::print(AsmPrinter &printer) const {
  printer << "<" << getElementType();
  if (getSpace() != AddressSpace::Gm)
    printer << ", " << stringifyAddressSpace(getSpace());
  printer << ">";
}

LogicalResult PtrType::verify(function_ref<InFlightDiagnostic()> emitError, Type elementType,
                              AddressSpace) {
  if (elem::classify(elementType) == elem::None)
    return emitError() << "a pointer to " << elementType
                       << " is not possible, expected an element type";
  return success();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static LogicalResult verifyView(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> shape, Type elementType) {
  if (shape.empty() || shape.size() > 5)
    return emitError() << "a view has 1 to 5 dimensions, got " << shape.size();
  for (int64_t dim : shape)
    if (dim < 0 && !ShapedType::isDynamic(dim))
      return emitError() << "a view extent must not be negative, got " << dim;
  if (elem::classify(elementType) == elem::None)
    return emitError() << elementType << " is not an element type";
  int64_t bytes = std::max<int64_t>(1, getElementBytes(elementType));
  for (int64_t dim : shape)
    if (!ShapedType::isDynamic(dim) && dim != 0 && llvm::MulOverflow(bytes, dim, bytes))
      return emitError() << "a view of so many elements has more than 2^63 bytes";
  return success();
}

template <typename ViewT> static Type parseView(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(element) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<ViewT>(loc, parser.getContext(), shape, element);
}

static void printView(AsmPrinter &printer, ArrayRef<int64_t> shape, Type elementType) {
  printer << "<";
  printer.printDimensionList(shape);
  printer << "x" << elementType << ">";
}

static int64_t countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape) {
    if (ShapedType::isDynamic(dim))
      return ShapedType::kDynamic;
    count *= dim;
  }
  return count;
}

#define PTO_VIEW(View)                                                                             \
  Type View::parse(AsmParser &parser) { return parseView<View>(parser); }                          \
  void View::print(AsmPrinter &printer) const {                                                    \
    printView(printer, getShape(), getElementType());                                              \
  }                                                                                                \
  LogicalResult View::verify(function_ref<InFlightDiagnostic()> emitError,                         \
                             ArrayRef<int64_t> shape, Type elementType) {                          \
    return verifyView(emitError, shape, elementType);                                              \
  }                                                                                                \
  bool View::hasStaticShape() const { return !ShapedType::isDynamicShape(getShape()); }            \
  int64_t View::getNumElements() const { return countElements(getShape()); }
PTO_VIEW(TensorViewType)
PTO_VIEW(PartitionTensorViewType)
#undef PTO_VIEW

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

LogicalResult EventIdArrayType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t size) {
  if (size <= 0)
    return emitError() << "an event id array needs at least one element, got " << size;
  return success();
}

Type LocalArrayType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element) || parser.parseGreater())
    return {};
  return parser.getChecked<LocalArrayType>(loc, parser.getContext(), shape, element);
}

void LocalArrayType::print(AsmPrinter &printer) const {
  printView(printer, getShape(), getElementType());
}

// It lies on the stack of the scalar unit.
static constexpr int64_t kMaxLocalArray = 1 << 16;

LogicalResult LocalArrayType::verify(function_ref<InFlightDiagnostic()> emitError,
                                     ArrayRef<int64_t> shape, Type elementType) {
  if (shape.empty() || llvm::any_of(shape, [](int64_t dim) { return dim <= 0; }))
    return emitError() << "a local array needs positive extents";
  if (!elementType.isIntOrIndexOrFloat())
    return emitError() << "a local array holds scalars, got " << elementType;
  int64_t count = 1;
  for (int64_t dim : shape)
    if (llvm::MulOverflow(count, dim, count) || count > kMaxLocalArray)
      return emitError() << "a local array has at most " << kMaxLocalArray << " elements";
  return success();
}
