//===- TileBufText.cpp - tile types: both spellings, facts, rules ---------===//
//
// Legacy:  loc=vec, dtype=f32, rows=16, cols=64, v_row=?, v_col=64, blayout=…
// Compact: vec, 16x64xf32, valid=?x64, blayout=…     (printed)
//
//===----------------------------------------------------------------------===//
#include "TileBufText.h"
#include "EnumText.h"
#include "ptoas/Dialect/PTO/IR/TileOpInfo.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::pto;

namespace {
struct TileFields {
  AddressSpace space = AddressSpace::Vec;
  std::optional<int64_t> rows, cols, validRow, validCol;
  Type element;
  BLayout blayout = BLayout::RowMajor;
  SLayout slayout = SLayout::NoneBox;
  int64_t fractal = 512;
  PadValue pad = PadValue::Null;
  CompactMode compact = CompactMode::Null;
  std::optional<int64_t> count; // multi_tile_buf only
};
} // namespace

static FailureOr<AddressSpace> symbolizeSpace(AsmParser &parser, SMLoc loc, StringRef word) {
  if (auto space = symbolizeAddressSpace(word))
    return *space;
  parser.emitError(loc) << "unknown loc: " << word
                        << ", expected mat, left, right, acc, vec, bias or scaling";
  return failure();
}

FailureOr<AddressSpace> mlir::pto::parseSpace(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  return symbolizeSpace(parser, loc, word);
}

// An enum given by its number or its name.
template <typename EnumT>
static ParseResult parseNumberOrName(AsmParser &parser, StringRef key, EnumT &value,
                                     std::optional<EnumT> (*symbolize)(StringRef),
                                     std::optional<EnumT> (*symbolizeInt)(uint32_t),
                                     StringRef (*stringify)(EnumT)) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t number = 0;
  OptionalParseResult parsed = parser.parseOptionalInteger(number);
  if (parsed.has_value()) {
    auto known = number < 0 ? std::nullopt : symbolizeInt(number);
    if (failed(*parsed) || !known)
      return parser.emitError(loc) << "unknown " << key << " " << number;
    value = *known;
    return success();
  }
  FailureOr<EnumT> word = parseEnumWord<EnumT>(parser, key, symbolize, stringify);
  if (failed(word))
    return failure();
  value = *word;
  return success();
}

static ParseResult parseValidExtent(AsmParser &parser, StringRef key,
                                    std::optional<int64_t> &value) {
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalQuestion())) {
    value = ShapedType::kDynamic;
    return success();
  }
  int64_t number = 0;
  if (parser.parseInteger(number))
    return failure();
  if (number < -1)
    return parser.emitError(loc) << key << " (valid extent) must be '?', -1 or non-negative, got "
                                 << number;
  value = number == -1 ? ShapedType::kDynamic : number;
  return success();
}

static ParseResult parseKeyValue(AsmParser &parser, SMLoc loc, StringRef key, TileFields &fields,
                                 bool legacy, bool multi) {
  auto integer = [&](std::optional<int64_t> &value) {
    int64_t number = 0;
    if (parser.parseInteger(number))
      return failure();
    value = number;
    return success();
  };
  if (legacy && key == "dtype")
    return parser.parseType(fields.element);
  if (legacy && key == "rows")
    return integer(fields.rows);
  if (legacy && key == "cols")
    return integer(fields.cols);
  if (legacy && (key == "v_row" || key == "v_col"))
    return parseValidExtent(parser, key, key == "v_row" ? fields.validRow : fields.validCol);
  if (!legacy && key == "valid") {
    SmallVector<int64_t> dims;
    SMLoc dimLoc = parser.getCurrentLocation();
    if (parser.parseDimensionList(dims, /*allowDynamic=*/true, /*withTrailingX=*/false))
      return failure();
    if (dims.size() != 2)
      return parser.emitError(dimLoc) << "valid takes two extents, as in valid=16x64";
    fields.validRow = dims[0];
    fields.validCol = dims[1];
    return success();
  }
  if (key == "blayout") {
    FailureOr<BLayout> value =
        parseEnumWord<BLayout>(parser, key, symbolizeBLayout, stringifyBLayout);
    if (succeeded(value))
      fields.blayout = *value;
    return failure(failed(value));
  }
  if (key == "slayout") {
    FailureOr<SLayout> value =
        parseEnumWord<SLayout>(parser, key, symbolizeSLayout, stringifySLayout);
    if (succeeded(value))
      fields.slayout = *value;
    return failure(failed(value));
  }
  if (key == "fractal")
    return parser.parseInteger(fields.fractal);
  if (key == "pad")
    return parseNumberOrName<PadValue>(parser, key, fields.pad, symbolizePadValue,
                                       symbolizePadValue, stringifyPadValue);
  if (key == "compact")
    return parseNumberOrName<CompactMode>(parser, key, fields.compact, symbolizeCompactMode,
                                          symbolizeCompactMode, stringifyCompactMode);
  if (multi && key == "count")
    return integer(fields.count);
  return parser.emitError(loc) << "unknown key '" << key << "' in a tile type, expected "
                               << (legacy ? "dtype, rows, cols, v_row, v_col, " : "valid, ")
                               << "blayout, slayout, fractal, pad or compact";
}

// Everything between the angle brackets.
static ParseResult parseFields(AsmParser &parser, TileFields &fields, bool multi) {
  SMLoc start = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  bool legacy = word == "loc" && succeeded(parser.parseOptionalEqual());
  if (legacy) {
    FailureOr<AddressSpace> space = parseSpace(parser);
    if (failed(space))
      return failure();
    fields.space = *space;
  } else {
    FailureOr<AddressSpace> space = symbolizeSpace(parser, start, word);
    SmallVector<int64_t> dims;
    if (failed(space) || parser.parseComma())
      return failure();
    fields.space = *space;
    SMLoc dimLoc = parser.getCurrentLocation();
    if (parser.parseDimensionList(dims, /*allowDynamic=*/false))
      return failure();
    if (dims.size() != 2)
      return parser.emitError(dimLoc) << "a tile has two dimensions, got " << dims.size()
                                      << "; expected positive rows and columns, as in 16x64xf32";
    if (parser.parseType(fields.element))
      return failure();
    fields.rows = dims[0];
    fields.cols = dims[1];
  }
  llvm::StringSet<> seen;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc keyLoc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (!seen.insert(key).second)
      return parser.emitError(keyLoc) << "duplicate key '" << key << "' in a tile type";
    if (parseKeyValue(parser, keyLoc, key, fields, legacy, multi))
      return failure();
  }
  if (!fields.rows || !fields.cols || !fields.element ||
      (legacy && (!fields.validRow || !fields.validCol)))
    return parser.emitError(start)
           << "a tile type with loc= needs dtype, rows, cols, v_row and v_col";
  if (!fields.validRow) {
    fields.validRow = fields.rows;
    fields.validCol = fields.cols;
  }
  return success();
}

static TileBufType makeTile(AsmParser &parser, SMLoc loc, const TileFields &f) {
  return parser.getChecked<TileBufType>(loc, parser.getContext(), f.space, *f.rows, *f.cols,
                                        f.element, *f.validRow, *f.validCol, f.blayout, f.slayout,
                                        f.fractal, f.pad, f.compact);
}

Type TileBufType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  TileFields fields;
  if (parser.parseLess() || parseFields(parser, fields, /*multi=*/false) || parser.parseGreater())
    return {};
  return makeTile(parser, loc, fields);
}

Type mlir::pto::parseLevel1Tile(AsmParser &parser) {
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  int64_t rows = 0;
  if (parser.parseOptionalInteger(rows).has_value()) {
    parser.emitError(loc) << "!pto.tile of earlier versions names no memory space here; write "
                             "!pto.tile_buf with one, as in !pto.tile_buf<vec, 16x64xf32>";
    return {};
  }
  TileFields fields;
  if (parseFields(parser, fields, /*multi=*/false) || parser.parseGreater())
    return {};
  return makeTile(parser, loc, fields);
}

static void printExtent(AsmPrinter &printer, int64_t extent) {
  if (ShapedType::isDynamic(extent))
    printer << "?";
  else
    printer << extent;
}

static void printFields(AsmPrinter &printer, TileBufType type) {
  printer << stringifyAddressSpace(type.getSpace()) << ", " << type.getRows() << "x"
          << type.getCols() << "x" << type.getElementType();
  if (type.getValidRow() != type.getRows() || type.getValidCol() != type.getCols()) {
    printer << ", valid=";
    printExtent(printer, type.getValidRow());
    printer << "x";
    printExtent(printer, type.getValidCol());
  }
  if (type.getBlayout() != BLayout::RowMajor)
    printer << ", blayout=" << stringifyBLayout(type.getBlayout());
  if (type.getSlayout() != SLayout::NoneBox)
    printer << ", slayout=" << stringifySLayout(type.getSlayout());
  if (type.getFractal() != 512)
    printer << ", fractal=" << type.getFractal();
  if (type.getPad() != PadValue::Null)
    printer << ", pad=" << static_cast<unsigned>(type.getPad());
  if (type.getCompact() != CompactMode::Null)
    printer << ", compact=" << stringifyCompactMode(type.getCompact());
}

void TileBufType::print(AsmPrinter &printer) const {
  printer << "<";
  printFields(printer, *this);
  printer << ">";
}

LogicalResult TileBufType::verify(function_ref<InFlightDiagnostic()> emitError, AddressSpace space,
                                  int64_t rows, int64_t cols, Type elementType, int64_t validRow,
                                  int64_t validCol, BLayout, SLayout, int64_t fractal, PadValue,
                                  CompactMode) {
  if (space == AddressSpace::Zero || space == AddressSpace::Gm)
    return emitError() << "a tile cannot lie in '" << stringifyAddressSpace(space)
                       << "', expected mat, left, right, acc, vec, bias or scaling";
  if (elem::classify(elementType) == elem::None)
    return emitError() << "a tile cannot hold " << elementType;
  if (rows <= 0 || cols <= 0)
    return emitError() << "rows and columns of a tile must be positive, got " << rows << "x"
                       << cols;
  if (rows > INT32_MAX || cols > INT32_MAX)
    return emitError() << "rows and columns of a tile must fit 32 bits, got " << rows << "x"
                       << cols;
  auto fits = [](int64_t valid, int64_t extent) {
    return ShapedType::isDynamic(valid) || (valid >= 0 && valid <= extent);
  };
  if (!fits(validRow, rows) || !fits(validCol, cols))
    return emitError() << "valid shape " << validRow << "x" << validCol
                       << " is not inside the shape " << rows << "x" << cols;
  if (fractal != 32 && fractal != 512 && fractal != 1024)
    return emitError() << "fractal must be 32, 512 or 1024, got " << fractal;
  return success();
}

bool TileBufType::isBoxed() const { return getSlayout() != SLayout::NoneBox; }
bool TileBufType::isRowMajor() const { return getBlayout() == BLayout::RowMajor; }
bool TileBufType::isColMajor() const { return getBlayout() == BLayout::ColMajor; }
bool TileBufType::hasStaticValid() const {
  return !ShapedType::isDynamic(getValidRow()) && !ShapedType::isDynamic(getValidCol());
}
int64_t TileBufType::getElementBytes() const {
  return mlir::pto::getElementBytes(getElementType());
}

std::pair<int64_t, int64_t> TileBufType::getBoxShape() const {
  if (!isBoxed())
    return {1, 1};
  if (getFractal() == 1024)
    return {16, 16};
  if (getFractal() == 32)
    return {16, 2};
  int64_t inBlock = std::max<int64_t>(1, 32 / std::max<int64_t>(1, getElementBytes()));
  return getSlayout() == SLayout::RowMajor ? std::pair<int64_t, int64_t>{16, inBlock}
                                           : std::pair<int64_t, int64_t>{inBlock, 16};
}

int64_t TileBufType::getSizeInBytes() const {
  int64_t rows = getRows(), cols = getCols();
  // row_plus_one lengthens the major stride by one unit.
  if (getCompact() == CompactMode::RowPlusOne)
    (isRowMajor() ? cols : rows) += 1;
  // Four-bit floats: columns count values, two to a byte (spec/pto_isa.md 2.1).
  bool packed = isa<F4E1M2x2Type, F4E2M1x2Type>(getElementType());
  return packed ? (rows * cols + 1) / 2 : rows * cols * getElementBytes();
}

TileBufType TileBufType::withValid(int64_t row, int64_t col) const {
  return get(getContext(), getSpace(), getRows(), getCols(), getElementType(), row, col,
             getBlayout(), getSlayout(), getFractal(), getPad(), getCompact());
}

TileBufType TileBufType::withPad(PadValue pad) const {
  return get(getContext(), getSpace(), getRows(), getCols(), getElementType(), getValidRow(),
             getValidCol(), getBlayout(), getSlayout(), getFractal(), pad, getCompact());
}

//===----------------------------------------------------------------------===//
// Multi-slot tiles
//===----------------------------------------------------------------------===//

Type MultiTileBufType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  TileBufType slot;
  int64_t count = 0;
  Type nested;
  OptionalParseResult hasNested = parser.parseOptionalType(nested);
  if (hasNested.has_value()) {
    if (failed(*hasNested))
      return {};
    slot = dyn_cast<TileBufType>(nested);
    if (!slot) {
      parser.emitError(loc) << "a slot must be a tile_buf, got " << nested;
      return {};
    }
    if (parser.parseComma() || parser.parseKeyword("count") || parser.parseEqual() ||
        parser.parseInteger(count))
      return {};
  } else {
    TileFields fields;
    if (parseFields(parser, fields, /*multi=*/true))
      return {};
    if (!fields.count) {
      parser.emitError(loc) << "a multi_tile_buf needs count=N";
      return {};
    }
    count = *fields.count;
    slot = makeTile(parser, loc, fields);
    if (!slot)
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<MultiTileBufType>(loc, parser.getContext(), slot, count);
}

void MultiTileBufType::print(AsmPrinter &printer) const {
  printer << "<";
  printFields(printer, getSlotType());
  printer << ", count=" << getCount() << ">";
}

LogicalResult MultiTileBufType::verify(function_ref<InFlightDiagnostic()> emitError,
                                       TileBufType slot, int64_t count) {
  if (count < 2 || count > 16)
    return emitError() << "count must be 2 to 16, got " << count;
  if (slot.getSpace() != AddressSpace::Vec && slot.getSpace() != AddressSpace::Mat)
    return emitError() << "a multi_tile_buf lies in vec or mat, not in "
                       << stringifyAddressSpace(slot.getSpace());
  if (slot.getCompact() == CompactMode::RowPlusOne)
    return emitError() << "compact=row_plus_one is not possible in a multi_tile_buf";
  return success();
}
