//===- EnumText.h - reading enum words ------------------------------------===//
#ifndef PTOAS_LIB_DIALECT_PTO_IR_ENUMTEXT_H
#define PTOAS_LIB_DIALECT_PTO_IR_ENUMTEXT_H

#include "ptoas/Dialect/PTO/IR/PTOTypes.h"

namespace mlir::pto {

/// Looks a word up; the error names the legal words.
template <typename EnumT>
FailureOr<EnumT> symbolizeWord(AsmParser &parser, SMLoc loc, StringRef mnemonic, StringRef word,
                               std::optional<EnumT> (*symbolize)(StringRef),
                               StringRef (*stringify)(EnumT)) {
  if (std::optional<EnumT> value = symbolize(word))
    return *value;
  InFlightDiagnostic diag = parser.emitError(loc)
                            << "unknown " << mnemonic << " '" << word << "', expected ";
  bool first = true;
  for (uint32_t i = 0; i < 100; ++i) {
    StringRef name = stringify(static_cast<EnumT>(i));
    if (name.empty())
      continue;
    diag << (first ? "" : ", ") << name;
    first = false;
  }
  return failure();
}

template <typename EnumT>
FailureOr<EnumT> parseEnumWord(AsmParser &parser, StringRef mnemonic,
                               std::optional<EnumT> (*symbolize)(StringRef),
                               StringRef (*stringify)(EnumT)) {
  SMLoc loc = parser.getCurrentLocation();
  std::string word;
  if (parser.parseKeywordOrString(&word))
    return failure();
  return symbolizeWord<EnumT>(parser, loc, mnemonic, word, symbolize, stringify);
}

} // namespace mlir::pto

#endif // PTOAS_LIB_DIALECT_PTO_IR_ENUMTEXT_H
