//===- PTOAttrs.cpp - text of the enum attributes -------------------------===//
//
// Both spellings, `#pto.name<value>` and `#pto<name value>`, are read for every
// attribute; each prints in the spelling of its family.
//
//===----------------------------------------------------------------------===//
#include "EnumText.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pto;

#include "ptoas/Dialect/PTO/IR/PTOEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ptoas/Dialect/PTO/IR/PTOAttrs.cpp.inc"

template <typename AttrT, typename EnumT>
static Attribute parseEnumAttr(AsmParser &parser, StringRef mnemonic,
                               std::optional<EnumT> (*symbolize)(StringRef),
                               StringRef (*stringify)(EnumT)) {
  bool angle = succeeded(parser.parseOptionalLess());
  FailureOr<EnumT> value = parseEnumWord<EnumT>(parser, mnemonic, symbolize, stringify);
  if (failed(value) || (angle && parser.parseGreater()))
    return {};
  return AttrT::get(parser.getContext(), *value);
}

#define PTO_ENUM_ATTR(attr, enumClass, mnemonic, angle)                                            \
  Attribute attr::parse(AsmParser &parser, Type) {                                                 \
    return parseEnumAttr<attr, enumClass>(parser, mnemonic, symbolize##enumClass,                  \
                                          stringify##enumClass);                                   \
  }                                                                                                \
  void attr::print(AsmPrinter &printer) const {                                                    \
    StringRef word = stringify##enumClass(getValue());                                             \
    if (angle)                                                                                     \
      printer << "<" << word << ">";                                                               \
    else                                                                                           \
      printer << " " << word;                                                                      \
  }
#include "EnumAttrs.def"

//===----------------------------------------------------------------------===//
// What a push does to an accumulator
//===----------------------------------------------------------------------===//

Attribute AccPushEpilogueAttr::parse(AsmParser &parser, Type) {
  StringAttr layout, quant, relu;
  if (parser.parseLess())
    return {};
  while (failed(parser.parseOptionalGreater())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    std::string word;
    if (parser.parseKeyword(&key) || parser.parseEqual() || parser.parseKeywordOrString(&word))
      return {};
    StringAttr *slot = key == "layout"  ? &layout
                       : key == "quant" ? &quant
                       : key == "relu"  ? &relu
                                        : nullptr;
    if (!slot || *slot) {
      parser.emitError(loc) << (slot ? "'" + key + "' is given twice"
                                     : "unknown key '" + key + "', expected layout, quant or relu");
      return {};
    }
    *slot = parser.getBuilder().getStringAttr(word);
    if (failed(parser.parseOptionalComma())) {
      if (parser.parseGreater())
        return {};
      break;
    }
  }
  return AccPushEpilogueAttr::get(parser.getContext(), layout, quant, relu);
}

void AccPushEpilogueAttr::print(AsmPrinter &printer) const {
  StringRef separator = "";
  printer << "<";
  auto part = [&](StringRef key, StringAttr word) {
    if (!word)
      return;
    printer << separator << key << " = ";
    printer.printKeywordOrString(word.getValue());
    separator = ", ";
  };
  part("layout", getLayout());
  part("quant", getQuant());
  part("relu", getRelu());
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Tile facts beside the type (0.27)
//===----------------------------------------------------------------------===//

// `#pto.blayout<row_major>`, `row_major` or 0.
template <typename AttrT, typename EnumT>
static ParseResult parsePart(AsmParser &parser, StringRef mnemonic, EnumT &value,
                             std::optional<EnumT> (*symbolize)(StringRef),
                             std::optional<EnumT> (*symbolizeInt)(uint32_t),
                             StringRef (*stringify)(EnumT)) {
  SMLoc loc = parser.getCurrentLocation();
  Attribute attr;
  OptionalParseResult parsed = parser.parseOptionalAttribute(attr);
  if (parsed.has_value()) {
    if (failed(*parsed))
      return failure();
    if (auto word = dyn_cast<AttrT>(attr))
      return value = word.getValue(), success();
    auto integer = dyn_cast<IntegerAttr>(attr);
    auto known = integer && integer.getValue().isIntN(16)
                     ? symbolizeInt(integer.getValue().getZExtValue())
                     : std::nullopt;
    if (!known)
      return parser.emitError(loc) << "expected #pto." << mnemonic << "<…>, got " << attr;
    return value = *known, success();
  }
  FailureOr<EnumT> word = parseEnumWord<EnumT>(parser, mnemonic, symbolize, stringify);
  if (failed(word))
    return failure();
  return value = *word, success();
}

Attribute TileBufConfigAttr::parse(AsmParser &parser, Type) {
  BLayout blayout = BLayout::RowMajor;
  SLayout slayout = SLayout::NoneBox;
  PadValue pad = PadValue::Null;
  CompactMode compact = CompactMode::Null;
  int64_t fractal = 512;
  if (parser.parseLess())
    return {};
  while (failed(parser.parseOptionalGreater())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    ParseResult read = success();
    if (key == "blayout") {
      read = parsePart<BLayoutAttr, BLayout>(parser, key, blayout, symbolizeBLayout,
                                             symbolizeBLayout, stringifyBLayout);
    } else if (key == "slayout") {
      read = parsePart<SLayoutAttr, SLayout>(parser, key, slayout, symbolizeSLayout,
                                             symbolizeSLayout, stringifySLayout);
    } else if (key == "s_fractal_size") {
      read = parser.parseInteger(fractal);
    } else if (key == "pad") {
      read = parsePart<PadValueAttr, PadValue>(parser, "pad_value", pad, symbolizePadValue,
                                               symbolizePadValue, stringifyPadValue);
    } else if (key == "compact") {
      read = parsePart<CompactModeAttr, CompactMode>(parser, "compact_mode", compact,
                                                     symbolizeCompactMode, symbolizeCompactMode,
                                                     stringifyCompactMode);
    } else {
      parser.emitError(loc) << "unknown key '" << key
                            << "', expected blayout, slayout, s_fractal_size, pad or compact";
      return {};
    }
    if (failed(read))
      return {};
    if (failed(parser.parseOptionalComma())) {
      if (parser.parseGreater())
        return {};
      break;
    }
  }
  return TileBufConfigAttr::get(parser.getContext(), blayout, slayout, fractal, pad, compact);
}

void TileBufConfigAttr::print(AsmPrinter &printer) const {
  printer << "<blayout=#pto.blayout<" << stringifyBLayout(getBlayout())
          << ">, slayout=#pto.slayout<" << stringifySLayout(getSlayout())
          << ">, s_fractal_size=" << getFractal() << ", pad=#pto.pad_value<"
          << stringifyPadValue(getPad()) << ">, compact=#pto.compact_mode<"
          << stringifyCompactMode(getCompact()) << ">>";
}

void PTODialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ptoas/Dialect/PTO/IR/PTOAttrs.cpp.inc"
      >();
}
