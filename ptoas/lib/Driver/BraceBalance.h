//===- BraceBalance.h - which `{` nothing closes, which `}` is too many ----===//
#ifndef PTOAS_LIB_DRIVER_BRACEBALANCE_H
#define PTOAS_LIB_DRIVER_BRACEBALANCE_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace ptoas {

/// A brace without a partner.
struct LooseBrace {
  size_t offset;      // of the brace in the text
  bool opens;         // `{`
  size_t closeAt = 0; // opens: where the `}` should have been
};

/// Behind a comment or string that begins at `at`; `at` if there is none.
size_t skipQuiet(llvm::StringRef text, size_t at);

/// The braces of `text` without a partner, in the order of the text. Numbers of braces alone do not
/// tell which one is missing, so the indentation of the lines decides; empty when the braces of the
/// file and of each function but the last balance.
std::vector<LooseBrace> findLooseBraces(llvm::StringRef text);

/// `text` with a `}` where one is missing and a blank in place of each that is too many. All lines
/// stay where they are, and columns up to such a place.
std::string balanceBraces(llvm::StringRef text, const std::vector<LooseBrace> &loose);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_BRACEBALANCE_H
