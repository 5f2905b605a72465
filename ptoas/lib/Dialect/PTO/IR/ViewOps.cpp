//===- ViewOps.cpp - pointers, views and tile handles ---------------------===//
#include "OpSupport.h"

using namespace mlir;
using namespace mlir::pto;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

ParseResult mlir::pto::parseViewOfPtr(OpAsmParser &parser, Type &ptr, Type &view) {
  SMLoc loc = parser.getCurrentLocation();
  Type first;
  if (parser.parseType(first))
    return failure();
  // `: !view` takes the pointer type from the view; `: !ptr -> !view` spells it out.
  if (isa<PtrType>(first)) {
    ptr = first;
    return failure(parser.parseArrow() || parser.parseType(view));
  }
  auto tensor = dyn_cast<TensorViewType>(first);
  if (!tensor)
    return parser.emitError(loc) << "expected a tensor_view type, got " << first;
  view = tensor;
  ptr = PtrType::get(tensor.getElementType());
  return success();
}

void mlir::pto::printViewOfPtr(OpAsmPrinter &printer, Operation *, Type ptr, Type view) {
  if (ptr != PtrType::get(cast<TensorViewType>(view).getElementType()))
    printer << ptr << " -> ";
  printer << view;
}

ParseResult mlir::pto::parsePartitionTypes(OpAsmParser &parser, Type &source, Type &result,
                                           ArrayRef<OpAsmParser::UnresolvedOperand> sizes) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(source))
    return failure();
  if (succeeded(parser.parseOptionalArrow()))
    return parser.parseType(result);
  Type element;
  if (auto view = dyn_cast<TensorViewType>(source))
    element = view.getElementType();
  else if (auto window = dyn_cast<PartitionTensorViewType>(source))
    element = window.getElementType();
  else
    return parser.emitError(loc) << "expected a view type, got " << source;
  SmallVector<int64_t> shape(sizes.size(), ShapedType::kDynamic);
  result =
      PartitionTensorViewType::getChecked([&] { return parser.emitError(loc); },
                                          parser.getContext(), ArrayRef<int64_t>(shape), element);
  return success(result != nullptr);
}

void mlir::pto::printPartitionTypes(OpAsmPrinter &printer, Operation *, Type source, Type result,
                                    ValueRange) {
  printer << source << " -> " << result;
}

ParseResult mlir::pto::resolveTyped(OpAsmParser &parser,
                                    const OpAsmParser::UnresolvedOperand &operand, Type type,
                                    SmallVectorImpl<Value> &values) {
  auto window = dyn_cast<PartitionTensorViewType>(type);
  if (!window || llvm::all_of(window.getShape(), ShapedType::isDynamic))
    return parser.resolveOperand(operand, type, values);
  // Without a type of its own a window has the extents of its sizes: known ones may be named by the
  // use, as they may be left open.
  {
    ScopedDiagnosticHandler quiet(parser.getContext(), [](Diagnostic &) { return success(); });
    if (succeeded(parser.resolveOperand(operand, type, values)))
      return success();
    SmallVector<int64_t> open(window.getRank(), ShapedType::kDynamic);
    Type untyped = PartitionTensorViewType::get(type.getContext(), open, window.getElementType());
    if (succeeded(parser.resolveOperand(operand, untyped, values))) {
      auto made = values.back().getDefiningOp<PartitionViewOp>();
      auto agrees = [](auto pair) {
        auto [extent, size] = pair;
        return ShapedType::isDynamic(extent) || getConstantValue(size) == extent;
      };
      if (made && made.getSizes().size() == size_t(window.getRank()) &&
          llvm::all_of(llvm::zip(window.getShape(), made.getSizes()), agrees)) {
        values.back().setType(window);
        return success();
      }
      values.pop_back();
    }
  }
  return parser.resolveOperand(operand, type, values);
}

ParseResult mlir::pto::parseIndexResult(OpAsmParser &parser, Type &result) {
  result = parser.getBuilder().getIndexType();
  SMLoc loc = parser.getCurrentLocation();
  Type given = result;
  if (succeeded(parser.parseOptionalArrow()) && parser.parseType(given))
    return failure();
  if (given != result)
    return parser.emitError(loc) << "the result is an index, got " << given;
  return success();
}

void mlir::pto::printIndexResult(OpAsmPrinter &printer, Operation *, Type result) {
  printer << "-> " << result;
}

// The window's own valid extent: what is left of the source's valid part.
static int64_t windowValid(int64_t size, int64_t sourceValid, std::optional<int64_t> offset) {
  if (ShapedType::isDynamic(sourceValid) || !offset)
    return ShapedType::isDynamic(sourceValid) ? ShapedType::kDynamic : std::min(size, sourceValid);
  return std::clamp<int64_t>(sourceValid - *offset, 0, size);
}

static TileBufType windowType(TileBufType source, ArrayRef<int64_t> sizes,
                              std::optional<int64_t> row, std::optional<int64_t> col) {
  return TileBufType::get(source.getContext(), source.getSpace(), sizes[0], sizes[1],
                          source.getElementType(), windowValid(sizes[0], source.getValidRow(), row),
                          windowValid(sizes[1], source.getValidCol(), col), source.getBlayout(),
                          source.getSlayout(), source.getFractal(), source.getPad(),
                          source.getCompact());
}

static ParseResult parseWindowSource(OpAsmParser &parser, Type &source, DenseI64ArrayAttr sizes) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(source))
    return failure();
  if (!isa<TileBufType>(source))
    return parser.emitError(loc) << "expected a tile_buf type, got " << source;
  if (!sizes || sizes.size() != 2 || sizes[0] <= 0 || sizes[1] <= 0)
    return parser.emitError(loc) << "a window of a tile takes two positive sizes";
  return success();
}

ParseResult mlir::pto::parseSubviewTypes(OpAsmParser &parser, Type &source, Type &result,
                                         DenseI64ArrayAttr sizes) {
  if (parseWindowSource(parser, source, sizes))
    return failure();
  if (succeeded(parser.parseOptionalArrow()))
    return parser.parseType(result);
  result = windowType(cast<TileBufType>(source), sizes, std::nullopt, std::nullopt);
  return success();
}

void mlir::pto::printSubviewTypes(OpAsmPrinter &printer, Operation *, Type source, Type result,
                                  DenseI64ArrayAttr) {
  printer << source << " -> " << result;
}

ParseResult mlir::pto::parseSubsetTypes(OpAsmParser &parser, Type &source, Type &result,
                                        ArrayRef<OpAsmParser::UnresolvedOperand>,
                                        DenseI64ArrayAttr sizes) {
  return parseSubviewTypes(parser, source, result, sizes);
}

void mlir::pto::printSubsetTypes(OpAsmPrinter &printer, Operation *, Type source, Type result,
                                 ValueRange, DenseI64ArrayAttr) {
  printer << source << " -> " << result;
}

//===----------------------------------------------------------------------===//
// Pointers and scalar memory
//===----------------------------------------------------------------------===//

LogicalResult LoadScalarOp::verify() {
  if (getValue().getType() != getPtr().getType().getElementType())
    return emitOpError() << "result type " << getValue().getType()
                         << " must be the element type of the pointer, "
                         << getPtr().getType().getElementType();
  return success();
}

LogicalResult StoreScalarOp::verify() {
  if (getValue().getType() != getPtr().getType().getElementType())
    return emitOpError() << "value type " << getValue().getType()
                         << " must be the element type of the pointer, "
                         << getPtr().getType().getElementType();
  return success();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

LogicalResult MakeTensorViewOp::verify() {
  if (failed(verifyOneEach(*this, {{0, "ptr"}})))
    return failure();
  TensorViewType type = getResult().getType();
  if (getPtr().getType().getElementType() != type.getElementType())
    return emitOpError() << "element type " << type.getElementType() << " of the view differs from "
                         << getPtr().getType().getElementType()
                         << ", the element type of the pointer";
  if (getShape().size() != size_t(type.getRank()) || getStrides().size() != size_t(type.getRank()))
    return emitOpError() << "a view of rank " << type.getRank()
                         << " needs as many extents and strides, got " << getShape().size()
                         << " and " << getStrides().size();
  for (auto [i, value] : llvm::enumerate(getShape())) {
    std::optional<int64_t> dim = getConstantValue(value);
    if (dim && *dim < 0)
      return emitOpError() << "extent " << i << " must not be negative, got " << *dim;
    if (dim && !ShapedType::isDynamic(type.getDimSize(i)) && *dim != type.getDimSize(i))
      return emitOpError() << "extent " << i << " is " << *dim << " but the type says "
                           << type.getDimSize(i);
  }
  return success();
}

// The static extent of a view. The operands of make_tensor_view are not looked at: a window may
// run over a run-time edge, and loads and stores then move what lies inside.
static std::optional<int64_t> knownExtent(Value view, unsigned dim) {
  int64_t size = ShapedType::kDynamic;
  if (auto type = dyn_cast<TensorViewType>(view.getType()))
    size = type.getDimSize(dim);
  else if (auto type = dyn_cast<PartitionTensorViewType>(view.getType()))
    size = type.getDimSize(dim);
  return ShapedType::isDynamic(size) ? std::nullopt : std::optional(size);
}

LogicalResult PartitionViewOp::verify() {
  if (failed(verifyOneEach(*this, {{0, "source"}})))
    return failure();
  Type source = getSource().getType();
  auto view = dyn_cast<TensorViewType>(source);
  auto window = dyn_cast<PartitionTensorViewType>(source);
  unsigned rank = view ? view.getRank() : window.getRank();
  Type element = view ? view.getElementType() : window.getElementType();
  PartitionTensorViewType type = getResult().getType();
  if (type.getElementType() != element)
    return emitOpError() << "element type " << type.getElementType()
                         << " of the window differs from " << element
                         << ", the element type of the view";
  if (getOffsets().size() != rank || getSizes().size() != rank)
    return emitOpError() << "a window of a view of rank " << rank
                         << " needs as many offsets and sizes, got " << getOffsets().size()
                         << " and " << getSizes().size();
  if (type.getRank() != rank)
    return emitOpError() << "the window has rank " << type.getRank() << ", the view " << rank;
  for (unsigned i = 0; i < rank; ++i) {
    std::optional<int64_t> offset = getConstantValue(getOffsets()[i]),
                           size = getConstantValue(getSizes()[i]);
    std::optional<int64_t> extent = knownExtent(getSource(), i);
    if (offset && *offset < 0)
      return emitOpError() << "offset " << i << " must not be negative, got " << *offset;
    if (size && *size <= 0)
      return emitOpError() << "size " << i << " must be positive, got " << *size;
    if (size && !ShapedType::isDynamic(type.getDimSize(i)) && *size != type.getDimSize(i))
      return emitOpError() << "size " << i << " is " << *size << " but the type says "
                           << type.getDimSize(i);
    if (size && extent && offset && *offset + *size > *extent)
      return emitOpError() << "the window is out of bounds in dimension " << i << ": offset "
                           << *offset << " + size " << *size << " exceeds the extent " << *extent;
  }
  return success();
}

static LogicalResult verifyDimension(Operation *op, Type view, Value dim) {
  int64_t rank = isa<TensorViewType>(view) ? cast<TensorViewType>(view).getRank()
                                           : cast<PartitionTensorViewType>(view).getRank();
  if (auto constant = getConstantValue(dim); constant && (*constant < 0 || *constant >= rank))
    return op->emitOpError() << "dimension " << *constant << " is out of range: a view of rank "
                             << rank << " has the dimensions 0 to " << rank - 1;
  return success();
}
LogicalResult GetTensorViewDimOp::verify() {
  return verifyDimension(*this, getView().getType(), getDim());
}
LogicalResult GetTensorViewStrideOp::verify() {
  return verifyDimension(*this, getView().getType(), getDim());
}

//===----------------------------------------------------------------------===//
// Tile handles
//===----------------------------------------------------------------------===//

// An operand gives a valid extent exactly where the type leaves it open.
template <typename OpT> static LogicalResult verifyValidOperands(OpT op, TileBufType type) {
  auto check = [&](Value value, int64_t extent, int64_t limit, StringRef name) -> LogicalResult {
    bool open = ShapedType::isDynamic(extent);
    if (open && !value)
      return op.emitOpError() << "needs the operand " << name
                              << ", because the type leaves that valid extent open (?)";
    if (!open && value)
      return op.emitOpError() << "has the operand " << name
                              << ", but the type fixes that valid extent to " << extent;
    if (auto constant = getConstantValue(value); constant && (*constant < 0 || *constant > limit))
      return op.emitOpError() << name << " = " << *constant << " is not between 0 and " << limit;
    return success();
  };
  if (failed(check(op.getValidRow(), type.getValidRow(), type.getRows(), "valid_row")))
    return failure();
  return check(op.getValidCol(), type.getValidCol(), type.getCols(), "valid_col");
}

LogicalResult AllocTileOp::verify() {
  TileBufType type = getResult().getType();
  if (failed(verifyValidOperands(*this, type)))
    return failure();
  if (auto addr = getConstantValue(getAddr()); addr && *addr < 0)
    return emitOpError() << "addr must not be negative, got " << *addr;
  return success();
}

LogicalResult AllocMultiTileOp::verify() {
  TileBufType type = getResult().getType().getSlotType();
  return verifyValidOperands(*this, type);
}

LogicalResult MultiTileGetOp::verify() {
  MultiTileBufType source = getSource().getType();
  if (getResult().getType() != source.getSlotType())
    return emitOpError() << "result type must be the slot type " << source.getSlotType() << ", got "
                         << getResult().getType();
  if (auto slot = getConstantValue(getSlot()); slot && (*slot < 0 || *slot >= source.getCount()))
    return emitOpError() << "slot " << *slot << " is not between 0 and " << source.getCount() - 1;
  return success();
}

static LogicalResult verifyWindow(Operation *op, TileBufType source, TileBufType result,
                                  ValueRange offsets, ArrayRef<int64_t> sizes) {
  if (offsets.size() != 2 || sizes.size() != 2)
    return op->emitOpError() << "takes two offsets and two sizes";
  if (sizes[0] <= 0 || sizes[1] <= 0)
    return op->emitOpError() << "sizes must be positive, got " << sizes[0] << " and " << sizes[1];
  if (result.getElementType() != source.getElementType() || result.getSpace() != source.getSpace())
    return op->emitOpError() << "the window must have the element type and loc of its source";
  if (result.getRows() != sizes[0] || result.getCols() != sizes[1])
    return op->emitOpError() << "the shape of the result is " << result.getRows() << "x"
                             << result.getCols() << ", but the sizes of the window are " << sizes[0]
                             << "x" << sizes[1];
  int64_t limits[2] = {source.getRows(), source.getCols()};
  auto [boxRows, boxCols] = source.getBoxShape();
  int64_t boxes[2] = {boxRows, boxCols};
  static constexpr StringLiteral names[2] = {"row", "column"};
  for (unsigned i = 0; i < 2; ++i) {
    std::optional<int64_t> offset = getConstantValue(offsets[i]);
    if (offset && *offset < 0)
      return op->emitOpError() << names[i] << " offset must not be negative, got " << *offset;
    if ((offset ? *offset : 0) + sizes[i] > limits[i])
      return op->emitOpError() << "the window is out of bounds: " << names[i] << " offset "
                               << (offset ? *offset : 0) << " + size " << sizes[i] << " exceeds "
                               << limits[i];
    if (source.isBoxed() && (sizes[i] % boxes[i] != 0 || (offset && *offset % boxes[i] != 0)))
      return op->emitOpError() << names[i]
                               << " size and offset of a boxed tile must be multiples of the box ("
                               << boxRows << "x" << boxCols << ")";
  }
  return success();
}

LogicalResult SubviewOp::verify() {
  if (failed(verifyOneEach(*this, {{0, "source"}})))
    return failure();
  TileBufType source = getSource().getType(), result = getResult().getType();
  if (!getValid().empty() && getValid().size() != 2)
    return emitOpError() << "valid takes two extents";
  if (failed(verifyWindow(*this, source, result, getOffsets(), getSizes())))
    return failure();
  if (getValid().empty())
    return success();
  int64_t typed[2] = {result.getValidRow(), result.getValidCol()};
  for (unsigned i = 0; i < 2; ++i) {
    std::optional<int64_t> valid = getConstantValue(getValid()[i]);
    StringRef what = i == 0 ? "rows" : "columns";
    if (valid && (*valid < 0 || *valid > getSizes()[i]))
      return emitOpError() << "valid " << what << " = " << *valid << " is not between 0 and "
                           << getSizes()[i];
    if (valid && !ShapedType::isDynamic(typed[i]) && *valid != typed[i])
      return emitOpError() << "valid " << what << " = " << *valid << " but the type says "
                           << typed[i];
  }
  return success();
}

LogicalResult SubsetOp::verify() {
  TileBufType source = getSource().getType();
  if (failed(verifyWindow(*this, source, getResult().getType(), getOffsets(), getSizes())))
    return failure();
  // Whole lines of boxes only: the result has no pitch of its own (spec/ptoas.md 6.1).
  unsigned whole = source.isRowMajor() ? 1 : 0;
  std::optional<int64_t> offset = getConstantValue(getOffsets()[whole]);
  if (source.isBoxed() && (getSizes()[whole] != (whole ? source.getCols() : source.getRows()) ||
                           (offset && *offset != 0)))
    return emitOpError() << "a window of a boxed " << stringifyBLayout(source.getBlayout())
                         << " tile keeps all of its " << (whole ? "columns" : "rows");
  return success();
}

LogicalResult SetValidShapeOp::verify() {
  TileBufType type = getTile().getType();
  if (!ShapedType::isDynamic(type.getValidRow()) || !ShapedType::isDynamic(type.getValidCol()))
    return emitOpError() << "needs a tile whose valid extents are both dynamic (valid=?x?), got "
                         << type;
  auto check = [&](Value value, int64_t limit, StringRef what) -> LogicalResult {
    auto constant = getConstantValue(value);
    if (constant && (*constant < 0 || *constant > limit))
      return emitOpError() << "valid " << what << " = " << *constant << " is not between 0 and "
                           << limit;
    return success();
  };
  if (isa<BlockArgument>(getTile()))
    return emitOpError() << "needs a tile that this function defines, not an argument";
  if (failed(check(getValidRow(), type.getRows(), "rows")))
    return failure();
  return check(getValidCol(), type.getCols(), "columns");
}

LogicalResult TReshapeOp::verify() {
  TileBufType source = getSource().getType(), result = getResult().getType();
  if (source.getSpace() != result.getSpace())
    return emitOpError() << "loc must stay " << stringifyAddressSpace(source.getSpace()) << ", got "
                         << stringifyAddressSpace(result.getSpace());
  if (source.isBoxed() != result.isBoxed())
    return emitOpError() << "a boxed tile cannot become an unboxed one, nor the other way round";
  if (source.getSizeInBytes() != result.getSizeInBytes())
    return emitOpError() << "size must stay the same: the source has " << source.getSizeInBytes()
                         << " bytes, the result " << result.getSizeInBytes() << " bytes";
  return success();
}

LogicalResult BitcastOp::verify() {
  TileBufType source = getSource().getType(), result = getResult().getType();
  if (source.getElementType() == result.getElementType())
    return emitOpError() << "the element type must change";
  if (source.getRows() != result.getRows() || source.getCols() != result.getCols() ||
      source.getValidRow() != result.getValidRow() || source.getValidCol() != result.getValidCol())
    return emitOpError() << "shape and valid shape must stay the same";
  if (source.getSpace() != result.getSpace() || source.getBlayout() != result.getBlayout() ||
      source.getSlayout() != result.getSlayout() || source.getFractal() != result.getFractal())
    return emitOpError() << "loc and layout must stay the same";
  if (result.getSizeInBytes() > source.getSizeInBytes())
    return emitOpError() << "the result needs " << result.getSizeInBytes()
                         << " bytes, the source has only " << source.getSizeInBytes();
  return success();
}

//===----------------------------------------------------------------------===//
// Local arrays and structs
//===----------------------------------------------------------------------===//

static LogicalResult verifyArrayAccess(Operation *op, LocalArrayType type, ValueRange indices,
                                       Type value) {
  if (indices.size() != type.getShape().size())
    return op->emitOpError() << "an array of " << type.getShape().size()
                             << " dimension(s) takes as many indices, got " << indices.size();
  for (auto [index, extent] : llvm::zip(indices, type.getShape()))
    if (auto constant = getConstantValue(index); constant && (*constant < 0 || *constant >= extent))
      return op->emitOpError() << "index " << *constant << " is not between 0 and " << extent - 1;
  if (value != type.getElementType())
    return op->emitOpError() << "value type " << value << " must be the element type "
                             << type.getElementType();
  return success();
}
LogicalResult LocalArrayGetOp::verify() {
  return verifyArrayAccess(*this, getArray().getType(), getIndices(), getValue().getType());
}
LogicalResult LocalArraySetOp::verify() {
  return verifyArrayAccess(*this, getArray().getType(), getIndices(), getValue().getType());
}

static LogicalResult verifyMember(Operation *op, Type object, ArrayRef<int64_t> path, Type value) {
  for (int64_t index : path) {
    auto structType = dyn_cast<StructType>(object);
    if (!structType)
      return op->emitOpError() << "the path leads into " << object << ", which has no members";
    if (index < 0 || index >= int64_t(structType.getMembers().size()))
      return op->emitOpError() << "field index " << index << " is out of range, not between 0 and "
                               << int64_t(structType.getMembers().size()) - 1;
    object = structType.getMembers()[index];
  }
  if (object != value)
    return op->emitOpError() << "value type " << value << " must be the member type " << object;
  return success();
}
LogicalResult StructGetOp::verify() {
  return verifyMember(*this, getObject().getType(), getPath(), getValue().getType());
}
LogicalResult StructSetOp::verify() {
  return verifyMember(*this, getObject().getType(), getPath(), getValue().getType());
}
