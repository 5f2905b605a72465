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

void PTODialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ptoas/Dialect/PTO/IR/PTOAttrs.cpp.inc"
      >();
}
