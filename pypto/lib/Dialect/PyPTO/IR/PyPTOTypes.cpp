//===- PyPTOTypes.cpp - types of the pypto dialect ------------------------===//
#include "mlir/IR/DialectImplementation.h"
#include "pypto/Dialect/PyPTO/IR/PyPTO.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#define GET_TYPEDEF_CLASSES
#include "pypto/Dialect/PyPTO/IR/PyPTOTypes.cpp.inc"

namespace pypto {

void PyPTODialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "pypto/Dialect/PyPTO/IR/PyPTOTypes.cpp.inc"
      >();
}

ArrayRef<int64_t> shapeOf(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type))
    return tensor.getShape();
  if (auto tile = dyn_cast<TileType>(type))
    return tile.getShape();
  return {};
}

ArrayRef<int64_t> validShapeOf(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type))
    return tensor.getValidShape();
  if (auto tile = dyn_cast<TileType>(type))
    return tile.getValidShape();
  return {};
}

Type elementTypeOf(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type))
    return tensor.getElementType();
  if (auto tile = dyn_cast<TileType>(type))
    return tile.getElementType();
  if (auto array = dyn_cast<ArrayType>(type))
    return array.getElementType();
  return {};
}

bool TensorType::hasStaticShape() const {
  return !llvm::is_contained(getShape(), ShapedType::kDynamic);
}

TileType TileType::withSpace(MemorySpace space) const {
  return TileType::get(getShape(), getElementType(), space, getValid(), getTransposed());
}

static void printExtent(AsmPrinter &p, int64_t extent) {
  if (ShapedType::isDynamic(extent))
    p << '?';
  else
    p << extent;
}

static void printList(AsmPrinter &p, ArrayRef<int64_t> list) {
  p << '[';
  llvm::interleaveComma(list, p, [&](int64_t extent) { printExtent(p, extent); });
  p << ']';
}

static ParseResult parseList(AsmParser &parser, SmallVectorImpl<int64_t> &list) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      list.push_back(ShapedType::kDynamic);
      return success();
    }
    return parser.parseInteger(list.emplace_back());
  });
}

void TensorType::print(AsmPrinter &p) const {
  p << '<';
  p.printDimensionList(getShape());
  if (!getShape().empty())
    p << 'x';
  p << getElementType();
  if (!getStrides().empty()) {
    p << ", strides = ";
    printList(p, getStrides());
  }
  if (getLayout() != TensorLayout::ND)
    p << ", layout = " << stringifyTensorLayout(getLayout());
  if (!getValid().empty()) {
    p << ", valid = ";
    printList(p, getValid());
  }
  p << '>';
}

Type TensorType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, strides, valid;
  Type elementType;
  TensorLayout layout = TensorLayout::ND;
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(elementType))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    if (key == "strides") {
      if (parseList(parser, strides))
        return {};
    } else if (key == "valid") {
      if (parseList(parser, valid))
        return {};
    } else if (key == "layout") {
      StringRef name;
      if (parser.parseKeyword(&name))
        return {};
      auto parsed = symbolizeTensorLayout(name);
      if (!parsed)
        return parser.emitError(loc, "unknown layout ") << name, Type();
      layout = *parsed;
    } else {
      return parser.emitError(loc, "expected strides, layout or valid"), Type();
    }
  }
  if (parser.parseGreater())
    return {};
  return get(shape, elementType, strides, layout, valid);
}

void TileType::print(AsmPrinter &p) const {
  p << '<';
  p.printDimensionList(getShape());
  if (!getShape().empty())
    p << 'x';
  p << getElementType();
  if (getMemorySpace() != MemorySpace::None)
    p << ", " << stringifyMemorySpace(getMemorySpace());
  if (!getValid().empty()) {
    p << ", valid = ";
    printList(p, getValid());
  }
  if (getTransposed())
    p << ", transposed";
  p << '>';
}

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, valid;
  Type elementType;
  MemorySpace space = MemorySpace::None;
  bool transposed = false;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key))
      return {};
    if (key == "valid") {
      if (parser.parseEqual() || parseList(parser, valid))
        return {};
    } else if (key == "transposed") {
      transposed = true;
    } else {
      auto parsed = symbolizeMemorySpace(key);
      if (!parsed)
        return parser.emitError(loc, "expected a memory space, valid or transposed"), Type();
      space = *parsed;
    }
  }
  if (parser.parseGreater())
    return {};
  return get(shape, elementType, space, valid, transposed);
}

void ArrayType::print(AsmPrinter &p) const {
  p << '<' << getSize() << 'x' << getElementType() << '>';
}

Type ArrayType::parse(AsmParser &parser) {
  SmallVector<int64_t> size;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(size, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseGreater())
    return {};
  if (size.size() != 1)
    return parser.emitError(loc, "an array has one extent"), Type();
  return get(parser.getContext(), size[0], elementType);
}

} // namespace pypto
