//===- EmitViews.cpp - pointers, views of global memory, tile handles -----===//
//
// A view is no object before an instruction needs it: extents, strides and offsets are
// carried along as numbers, so that what is known becomes part of the C++ type. Offsets
// are computed in 64 bits.
//
//===----------------------------------------------------------------------===//
#include "FunctionEmitter.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::formatv;

namespace ptoas::cpp {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Number FunctionEmitter::number(Value value) {
  if (std::optional<int64_t> constant = constantInt(value))
    return {constant, ""};
  std::string text = expr(value);
  int64_t folded = 0;
  if (!StringRef(text).getAsInteger(10, folded))
    return {folded, ""};
  return {std::nullopt, text};
}

static Number known(int64_t value) { return {value, ""}; }

static std::optional<int64_t> product(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t out = 0;
  if (!a || !b || llvm::MulOverflow(*a, *b, out))
    return std::nullopt;
  return out;
}

// constant + terms, as C++.
static std::string sum(StringRef base, ArrayRef<std::string> terms, int64_t constant) {
  std::string text = base.str();
  for (const std::string &term : terms)
    text += (text.empty() ? "" : " + ") + term;
  if (constant > 0 || text.empty())
    text += (text.empty() ? "" : " + ") + std::to_string(constant);
  else if (constant < 0)
    text += formatv(" - {0}", 0 - uint64_t(constant)).str();
  return text;
}

// Adds a * b to a sum.
static void addProduct(const Number &a, const Number &b, SmallVectorImpl<std::string> &terms,
                       int64_t &constant) {
  if (std::optional<int64_t> value = product(a.constant, b.constant)) {
    constant += *value;
    return;
  }
  if ((a.constant && *a.constant == 0) || (b.constant && *b.constant == 0))
    return;
  if (a.constant && *a.constant == 1)
    terms.push_back(b.spelled());
  else if (b.constant && *b.constant == 1)
    terms.push_back(a.spelled());
  else if (a.constant && b.constant) // too large for a constant
    terms.push_back("(int64_t)" + a.spelled() + " * " + b.spelled());
  else
    terms.push_back(a.constant ? b.text + " * " + a.spelled() : a.text + " * " + b.spelled());
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static Type elementOf(Type view) {
  if (auto window = dyn_cast<pto::PartitionTensorViewType>(view))
    return window.getElementType();
  return cast<pto::TensorViewType>(view).getElementType();
}

static ArrayRef<int64_t> shapeOf(Type view) {
  if (auto window = dyn_cast<pto::PartitionTensorViewType>(view))
    return window.getShape();
  return cast<pto::TensorViewType>(view).getShape();
}

// The numbers behind a view; those of an object (an argument, a slot of a FIFO) are asked of it.
const View *FunctionEmitter::viewOf(Value value) {
  auto it = views_.find(value);
  if (it != views_.end())
    return &it->second;
  std::string object = expr(value);
  if (object.empty())
    return nullptr;
  View view;
  view.base = object + ".data()";
  view.element = elementOf(value.getType());
  ArrayRef<int64_t> shape = shapeOf(value.getType());
  for (auto [i, extent] : llvm::enumerate(shape)) {
    unsigned dim = 5 - shape.size() + i;
    view.shape.push_back(ShapedType::isDynamic(extent)
                             ? Number{std::nullopt, formatv("{0}.GetShape({1})", object, dim).str()}
                             : known(extent));
    view.stride.push_back({std::nullopt, formatv("{0}.GetStride({1})", object, dim).str()});
  }
  return &(views_[value] = std::move(view));
}

// Windows of a view and questions about it are answered without an object.
bool FunctionEmitter::needsObject(Value view) {
  return llvm::any_of(view.getUsers(), [&](Operation *user) {
    if (isa<pto::PartitionViewOp, pto::CacheInvalidOp, pto::SyncAllOp>(user) ||
        unneeded_.contains(user))
      return false;
    if (isa<pto::GetTensorViewDimOp, pto::GetTensorViewStrideOp>(user))
      return !constantInt(user->getOperand(1));
    return true;
  });
}

std::string FunctionEmitter::pointerOf(const View &view) {
  return sum(view.base, view.terms, view.offset);
}

LogicalResult FunctionEmitter::emitGlobal(Operation *op, Value value, const View &view) {
  GlobalShape global;
  global.element = view.element;
  global.layout = view.layout;
  SmallVector<std::string> shapeArgs, strideArgs;
  size_t rank = view.shape.size(), pad = 5 - rank;
  int64_t all = 1; // elements that the given dimensions span
  for (size_t i = 0; i < rank; ++i) {
    std::optional<int64_t> span = product(view.shape[i].constant, view.stride[i].constant);
    all = span && all ? std::max(all, *span) : 0;
  }
  for (size_t i = 0; i < 5; ++i) {
    if (i < pad) {
      // Nothing steps along these dimensions.
      global.shape[i] = 1;
      global.stride[i] = all ? all : 1;
      continue;
    }
    const Number &extent = view.shape[i - pad], &stride = view.stride[i - pad];
    global.shape[i] = extent.constant.value_or(-1);
    global.stride[i] = stride.constant.value_or(-1);
    if (!extent.constant)
      shapeArgs.push_back(extent.text);
    if (!stride.constant)
      strideArgs.push_back(stride.text);
    if ((extent.constant && *extent.constant < 0) || (stride.constant && *stride.constant < 0))
      return op->emitOpError() << "has no C++ form: extents and strides of a view in global memory "
                                  "must not be negative";
  }
  std::string pointer = pointerOf(view);
  if (view.terms.size() > 2 || pointer.size() > 50) {
    std::string name = newName("offset");
    if (jumps_)
      top_.push_back("int64_t " + name + ";");
    out_.line((jumps_ ? name : "const int64_t " + name) + " = " + sum("", view.terms, view.offset) +
              ";");
    pointer = view.base + " + " + name;
  }
  auto tuple = [](StringRef name, const int64_t *values, ArrayRef<std::string> args) {
    return formatv("pto::{0}<{1}, {2}, {3}, {4}, {5}>({6})", name, values[0], values[1], values[2],
                   values[3], values[4], llvm::join(args, ", "))
        .str();
  };
  std::string arguments = pointer;
  if (!shapeArgs.empty() || !strideArgs.empty())
    arguments += ", " + tuple("Shape", global.shape, shapeArgs);
  if (!strideArgs.empty())
    arguments += ", " + tuple("Stride", global.stride, strideArgs);
  StringRef type = module_.types.global(global);
  objectTypes_[value] = type.str();
  object(type, define(value), arguments);
  return success();
}

LogicalResult FunctionEmitter::emitMakeView(pto::MakeTensorViewOp op) {
  View view;
  pto::TensorViewType type = op.getResult().getType();
  if (type.getRank() > 5)
    return op.emitOpError() << "has no C++ form: a view in global memory has at most 5 dimensions, "
                               "got "
                            << type.getRank();
  view.base = expr(op.getPtr());
  view.element = type.getElementType();
  if (spellElement(view.element).empty())
    return op.emitOpError() << "has no C++ form: there is no C++ element type for "
                            << type.getElementType();
  for (auto [i, extent] : llvm::enumerate(op.getShape()))
    view.shape.push_back(ShapedType::isDynamic(type.getDimSize(i)) ? number(extent)
                                                                   : known(type.getDimSize(i)));
  for (Value stride : op.getStrides())
    view.stride.push_back(number(stride));
  if (op.getLayout())
    view.layout = *op.getLayout();
  if (needsObject(op.getResult()) && failed(emitGlobal(op, op.getResult(), view)))
    return failure();
  views_[op.getResult()] = std::move(view);
  return success();
}

LogicalResult FunctionEmitter::emitPartition(pto::PartitionViewOp op) {
  const View *source = viewOf(op.getSource());
  if (!source)
    return failure(); // reported where it should have been made
  View view = *source;
  pto::PartitionTensorViewType type = op.getResult().getType();
  for (auto [i, offset] : llvm::enumerate(op.getOffsets()))
    addProduct(number(offset), source->stride[i], view.terms, view.offset);
  for (auto [i, size] : llvm::enumerate(op.getSizes()))
    view.shape[i] =
        ShapedType::isDynamic(type.getDimSize(i)) ? number(size) : known(type.getDimSize(i));
  if (needsObject(op.getResult()) && failed(emitGlobal(op, op.getResult(), view)))
    return failure();
  views_[op.getResult()] = std::move(view);
  return success();
}

LogicalResult FunctionEmitter::emitViewFact(Operation *op, Value value, Value dim, bool stride) {
  std::optional<int64_t> index = constantInt(dim);
  int64_t rank = shapeOf(value.getType()).size();
  if (index) {
    const View *view = viewOf(value);
    if (!view)
      return failure();
    if (*index < 0 || *index >= rank)
      return op->emitOpError() << "asks for dimension " << *index << " of a view of rank " << rank;
    names_[op->getResult(0)] = (stride ? view->stride : view->shape)[*index].spelled();
    return success();
  }
  std::string at = formatv("{0} + {1}", 5 - rank, expr(dim));
  return result(op->getResult(0), expr(value) + (stride ? ".GetStride(" : ".GetShape(") + at + ")");
}

//===----------------------------------------------------------------------===//
// Tile handles
//===----------------------------------------------------------------------===//

std::optional<std::string> FunctionEmitter::typeName(Value value) {
  if (auto view = objectTypes_.find(value); view != objectTypes_.end())
    return view->second;
  if (!isa<pto::TileBufType>(value.getType()))
    return module_.types.value(value.getType());
  std::optional<StringRef> name = tileName(value, cppTile(value));
  return name ? std::optional(name->str()) : std::nullopt;
}

pto::TileBufType FunctionEmitter::cppTile(Value handle) {
  auto it = tileTypes_.find(handle);
  return placed(it == tileTypes_.end() ? cast<pto::TileBufType>(handle.getType()) : it->second);
}

// Boxes of a left tile lie row by row on A2/A3 and column by column on A5, whatever is written.
pto::TileBufType FunctionEmitter::placed(pto::TileBufType type) {
  pto::BLayout order =
      module_.arch == pto::Arch::A5 ? pto::BLayout::ColMajor : pto::BLayout::RowMajor;
  if (type.getSpace() != pto::AddressSpace::Left || type.getSlayout() != pto::SLayout::RowMajor ||
      type.getBlayout() == order)
    return type;
  return pto::TileBufType::get(type.getContext(), type.getSpace(), type.getRows(), type.getCols(),
                               type.getElementType(), type.getValidRow(), type.getValidCol(), order,
                               type.getSlayout(), type.getFractal(), type.getPad(),
                               type.getCompact());
}

LogicalResult FunctionEmitter::emitTile(Operation *op, Value handle, pto::TileBufType type,
                                        StringRef validRow, StringRef validCol) {
  std::optional<StringRef> name = tileName(handle, type);
  if (!name)
    return op->emitOpError() << "has no C++ form: there is no C++ element type for "
                             << type.getElementType();
  if (type != handle.getType())
    tileTypes_[handle] = type;
  warnOfTile(op, type);
  declareTile(define(handle), *name, type, validRow, validCol);
  return success();
}

// What a static assertion of the headers refuses, once for each type.
void FunctionEmitter::warnOfTile(Operation *op, pto::TileBufType type) {
  int64_t bytes = type.getElementBytes();
  if (!module_.checkedTiles.insert(type).second || bytes <= 0)
    return;
  auto warn = [&](const Twine &what) {
    op->emitWarning() << "'" << op->getName() << "' op " << what
                      << ": the instruction headers refuse the C++ type of " << type;
  };
  auto [boxRows, boxCols] = type.getBoxShape();
  if (!type.isBoxed()) {
    int64_t line = (type.isRowMajor() ? type.getCols() : type.getRows()) * bytes;
    if (line % 32)
      warn(Twine(type.isRowMajor() ? "rows" : "columns") + " of " + Twine(line) +
           " bytes are not whole blocks of 32");
    return;
  }
  bool rowsFit = type.getRows() % boxRows == 0 || type.getSpace() == pto::AddressSpace::Vec ||
                 type.getFractal() == 32 || type.getRows() == 1;
  if (type.getCols() % boxCols || !rowsFit)
    warn("the tile is not made of whole boxes of " + Twine(boxRows) + "x" + Twine(boxCols));
}

void FunctionEmitter::declareTile(StringRef name, StringRef typeName, pto::TileBufType type,
                                  StringRef validRow, StringRef validCol) {
  std::string arguments;
  auto add = [&](int64_t extent, StringRef text) {
    if (extent == 0) // open in C++
      text = "0";
    else if (!ShapedType::isDynamic(extent))
      return;
    arguments += (arguments.empty() || text.empty() ? "" : ", ") + text.str();
  };
  add(type.getValidRow(), validRow);
  add(type.getValidCol(), validCol);
  object(typeName, name, arguments);
}

std::string FunctionEmitter::sameBytesAs(Value handle, pto::TileBufType type) {
  auto [rows, cols] = validOf(handle);
  std::string old = expr(handle), name = newName(old);
  declareTile(name, *tileName(handle, type), type, rows, cols);
  out_.line("TASSIGN(" + name + ", (uint64_t)" + old + ".data());");
  return name;
}

// The valid extents of a handle, as arguments for another one.
std::pair<std::string, std::string> FunctionEmitter::validOf(Value handle) {
  std::string name = expr(handle);
  return {name + ".GetValidRow()", name + ".GetValidCol()"};
}

// The pitch of the window's source: its rows when columns are the outer dimension. The matrix unit
// packs boxes of a compact accumulator by its valid rows.
static Number pitchOf(pto::TileBufType type, StringRef handle) {
  bool byRows = !type.isRowMajor();
  int64_t extent = byRows ? type.getRows() : type.getCols();
  if (type.getCompact() == pto::CompactMode::RowPlusOne)
    return known(extent + 1);
  if (type.getCompact() == pto::CompactMode::Normal && type.isBoxed() && byRows)
    return {std::nullopt, formatv("((({0}.GetValidRow() + 15) / 16) * 16)", handle).str()};
  return known(extent);
}

// A window shares the bytes of its source and keeps its pitch, so in C++ it is a tile as wide (or
// as high) as the source, of which the window's part is valid.
LogicalResult FunctionEmitter::emitWindow(Operation *op, ValueRange offsets, ValueRange valid) {
  Value source = op->getOperand(0), handle = op->getResult(0);
  auto type = cast<pto::TileBufType>(handle.getType());
  pto::TileBufType from = cppTile(source);
  bool rowMajor = from.isRowMajor();
  auto [boxRows, boxCols] = from.getBoxShape();
  Number row = number(offsets[0]), col = number(offsets[1]), pitch = pitchOf(from, expr(source));
  // Elements from the start: the outer index steps by the pitch, the inner one by a column of
  // boxes.
  SmallVector<std::string> terms;
  int64_t constant = 0;
  addProduct(rowMajor ? row : col, pitch, terms, constant);
  addProduct(rowMajor ? col : row, known(rowMajor ? boxRows : boxCols), terms, constant);
  auto windowType = pto::TileBufType::get(
      type.getContext(), type.getSpace(), rowMajor ? type.getRows() : from.getRows(),
      rowMajor ? from.getCols() : type.getCols(), type.getElementType(), type.getValidRow(),
      type.getValidCol(), from.getBlayout(), from.getSlayout(), from.getFractal(), type.getPad(),
      from.getCompact());
  // An open extent that no operand gives is what is left of the source's.
  auto validText = [&](unsigned i, const Number &offset, int64_t size,
                       const std::string &all) -> std::string {
    if (valid.size() == 2)
      return expr(valid[i]);
    std::string name = newName(i ? "colsLeft" : "rowsLeft");
    std::string left = offset.constant == 0 ? all : all + " - " + offset.spelled();
    if (jumps_)
      top_.push_back("int64_t " + name + ";");
    out_.line((jumps_ ? name : "const int64_t " + name) + " = " + left + ";");
    return formatv("{0} < 0 ? 0 : ({0} < {1} ? {0} : {1})", name, size);
  };
  auto [sourceRows, sourceCols] = validOf(source);
  std::string validRow, validCol;
  if (ShapedType::isDynamic(type.getValidRow()))
    validRow = validText(0, row, type.getRows(), sourceRows);
  if (ShapedType::isDynamic(type.getValidCol()))
    validCol = validText(1, col, type.getCols(), sourceCols);
  if (failed(emitTile(op, handle, windowType, validRow, validCol)))
    return failure();
  std::string start = expr(source) + ".data()";
  if (constant || !terms.empty())
    start = "(" + sum(start, terms, constant) + ")";
  out_.line("TASSIGN(" + expr(handle) + ", (uint64_t)" + start + ");");
  return success();
}

// treshape and bitcast: the same bytes under another type.
LogicalResult FunctionEmitter::emitRetyped(Operation *op) {
  Value source = op->getOperand(0), handle = op->getResult(0);
  auto type = cast<pto::TileBufType>(handle.getType());
  auto from = cast<pto::TileBufType>(source.getType());
  auto [rows, cols] = validOf(source);
  bool same = type.getRows() == from.getRows() && type.getCols() == from.getCols();
  bool swapped = type.getRows() == from.getCols() && type.getCols() == from.getRows() &&
                 type.isRowMajor() != from.isRowMajor();
  std::string validRow = same ? rows : swapped ? cols : std::to_string(type.getRows());
  std::string validCol = same ? cols : swapped ? rows : std::to_string(type.getCols());
  if (failed(emitTile(op, handle, type, validRow, validCol)))
    return failure();
  if (isa<pto::TReshapeOp>(op) && cppTile(source) == from)
    out_.line("TRESHAPE(" + expr(handle) + ", " + expr(source) + ");");
  else
    out_.line("TASSIGN(" + expr(handle) + ", (uint64_t)" + expr(source) + ".data());");
  return success();
}

LogicalResult FunctionEmitter::emitMultiTileGet(pto::MultiTileGetOp op) {
  auto alloc = op.getSource().getDefiningOp<pto::AllocMultiTileOp>();
  if (!alloc)
    return op.emitOpError() << "has no C++ form: its source must be an alloc_multi_tile";
  auto text = [&](Value value) { return value ? expr(value) : std::string(); };
  if (failed(emitTile(op, op.getResult(), op.getResult().getType(), text(alloc.getValidRow()),
                      text(alloc.getValidCol()))))
    return failure();
  if (!alloc.getAddr())
    return success();
  SmallVector<std::string> terms;
  int64_t constant = 0;
  addProduct(number(alloc.getAddr()), known(1), terms, constant);
  addProduct(number(op.getSlot()), known(op.getResult().getType().getSizeInBytes()), terms,
             constant);
  out_.line("TASSIGN(" + expr(op.getResult()) + ", " + sum("", terms, constant) + ");");
  return success();
}

//===----------------------------------------------------------------------===//
// The rest of the ops of this group
//===----------------------------------------------------------------------===//

static std::string quoted(StringRef text) {
  std::string out = "\"";
  for (unsigned char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '"' || c == '\\')
      out += std::string("\\") + char(c);
    else if (c < 32 || c > 126)
      out += formatv("\\{0}{1}{2}", c >> 6, (c >> 3) & 7, c & 7).str();
    else
      out += char(c);
  }
  return out + "\"";
}

static std::string memberPath(ArrayRef<int64_t> path) {
  std::string text;
  for (int64_t index : path)
    text += ".m" + std::to_string(index);
  return text;
}

LogicalResult FunctionEmitter::emitViewOp(Operation *op, bool &knownOp) {
  knownOp = true;
  auto text = [&](Value value) { return value ? expr(value) : std::string(); };
  if (auto make = dyn_cast<pto::MakeTensorViewOp>(op))
    return emitMakeView(make);
  if (auto partition = dyn_cast<pto::PartitionViewOp>(op))
    return emitPartition(partition);
  if (isa<pto::GetTensorViewDimOp, pto::GetTensorViewStrideOp>(op))
    return emitViewFact(op, op->getOperand(0), op->getOperand(1),
                        isa<pto::GetTensorViewStrideOp>(op));
  if (auto add = dyn_cast<pto::AddPtrOp>(op)) {
    if (module_.options.traceAddPtr)
      out_.line("// addptr " + expr(add.getPtr()) + " + " + expr(add.getOffset()) + " elements");
    return result(add.getResult(), expr(add.getPtr()) + " + " + expr(add.getOffset()));
  }
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op)) {
    if (failed(emitTile(op, alloc.getResult(), alloc.getResult().getType(),
                        text(alloc.getValidRow()), text(alloc.getValidCol()))))
      return failure();
    if (alloc.getAddr())
      out_.line("TASSIGN(" + expr(alloc.getResult()) + ", " + expr(alloc.getAddr()) + ");");
    return success();
  }
  if (isa<pto::DeclareTileOp>(op))
    return emitTile(op, op->getResult(0), cast<pto::TileBufType>(op->getResult(0).getType()), "",
                    "");
  if (auto subview = dyn_cast<pto::SubviewOp>(op))
    return emitWindow(op, subview.getOffsets(), subview.getValid());
  if (auto subset = dyn_cast<pto::SubsetOp>(op))
    return emitWindow(op, subset.getOffsets(), {});
  if (isa<pto::TReshapeOp, pto::BitcastOp>(op))
    return emitRetyped(op);
  if (auto assign = dyn_cast<pto::TAssignOp>(op)) {
    auto [rows, cols] = validOf(assign.getSource());
    if (failed(emitTile(op, assign.getResult(), cppTile(assign.getSource()), rows, cols)))
      return failure();
    out_.line("TASSIGN(" + expr(assign.getResult()) + ", " + expr(assign.getAddr()) + ");");
    return success();
  }
  if (isa<pto::AllocMultiTileOp>(op))
    return success(); // its slots are tiles
  if (auto get = dyn_cast<pto::MultiTileGetOp>(op))
    return emitMultiTileGet(get);

  if (auto array = dyn_cast<pto::DeclareLocalArrayOp>(op)) {
    pto::LocalArrayType type = array.getResult().getType();
    std::string element = spellElement(type.getElementType()), extents;
    if (element.empty())
      return op->emitOpError() << "has no C++ form: there is no C++ type for "
                               << type.getElementType();
    for (int64_t extent : type.getShape())
      extents += "[" + std::to_string(extent) + "]";
    std::string line = element + " " + define(array.getResult()).str() + extents + ";";
    if (jumps_)
      top_.push_back(line);
    else
      out_.line(line);
    return success();
  }
  auto subscripted = [&](Value base, ValueRange indices) {
    std::string out = expr(base);
    for (Value index : indices)
      out += "[" + expr(index) + "]";
    return out;
  };
  if (auto get = dyn_cast<pto::LocalArrayGetOp>(op))
    return result(get.getValue(), subscripted(get.getArray(), get.getIndices()));
  if (auto set = dyn_cast<pto::LocalArraySetOp>(op)) {
    out_.line(subscripted(set.getArray(), set.getIndices()) + " = " + expr(set.getValue()) + ";");
    return success();
  }
  if (isa<pto::DeclareStructOp, pto::DeclareEventIdArrayOp>(op)) {
    Value made = op->getResult(0);
    std::optional<std::string> type = module_.types.value(made.getType());
    if (!type)
      return op->emitOpError() << "has no C++ form: there is no C++ type for " << made.getType();
    module_.eventIdArray |= isa<pto::DeclareEventIdArrayOp>(op);
    object(*type, define(made), "");
    return success();
  }
  if (auto get = dyn_cast<pto::StructGetOp>(op)) {
    std::string member = expr(get.getObject()) + memberPath(get.getPath());
    if (!isa<pto::TileBufType, pto::StructType>(get.getValue().getType()))
      return result(get.getValue(), member);
    names_[get.getValue()] = member;
    return success();
  }
  if (auto set = dyn_cast<pto::StructSetOp>(op)) {
    out_.line(expr(set.getObject()) + memberPath(set.getPath()) + " = " + expr(set.getValue()) +
              ";");
    return success();
  }
  if (auto print = dyn_cast<pto::PrintOp>(op)) {
    std::string value = text(print.getValue());
    if (print.getValue() &&
        (print.getValue().getType().isF16() || print.getValue().getType().isBF16()))
      value = "(float)" + value; // printf knows no shorter floats
    out_.line("cce::printf(" + quoted(print.getFormat()) + (value.empty() ? "" : ", ") + value +
              ");");
    return success();
  }
  knownOp = false;
  return success();
}

} // namespace ptoas::cpp
