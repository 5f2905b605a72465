//===- Symbolic.h - what is known of integer scalars ----------------------===//
//
// An integer scalar has an affine normal form over symbols, so that `i*T+T - i*T`
// is the constant T, and each symbol has bounds, so that a window can be proved
// to leave its source. All answers are three-valued: yes, no, not known.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_LIB_IMPORTER_SYMBOLIC_H
#define PYPTO_LIB_IMPORTER_SYMBOLIC_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pypto::importer {

/// constant + sum of coefficient * symbol; symbols ascend, coefficients are not 0.
struct Affine {
  int64_t constant = 0;
  std::vector<std::pair<int, int64_t>> terms;

  Affine() = default;
  Affine(int64_t value) : constant(value) {}
  bool isConstant() const { return terms.empty(); }
  bool operator==(const Affine &) const = default;
};

struct Bounds {
  std::optional<int64_t> low, high; // both inclusive
};

/// The symbols of one function. Arithmetic that overflows 64 bits gives a fresh symbol.
class Symbols {
public:
  /// `baked`: index of the run-time scalar parameter that the symbol is, or -1.
  Affine fresh(Bounds bounds = {}, int parameter = -1);

  Affine add(const Affine &a, const Affine &b);
  Affine sub(const Affine &a, const Affine &b);
  Affine mul(const Affine &a, const Affine &b);
  Affine floorDiv(const Affine &a, const Affine &b);
  Affine floorMod(const Affine &a, const Affine &b);
  Affine min(const Affine &a, const Affine &b);
  Affine max(const Affine &a, const Affine &b);

  Bounds bounds(const Affine &a) const;
  /// a <= b ?
  std::optional<bool> lessEqual(const Affine &a, const Affine &b);
  std::optional<bool> equal(const Affine &a, const Affine &b);
  /// Parameters that occur in `a`.
  std::vector<int> parametersOf(const Affine &a) const;

private:
  struct Symbol {
    Bounds bounds;
    std::vector<int> parameters;
  };
  Affine opaque(llvm::StringRef op, const Affine &a, const Affine &b, Bounds bounds);

  std::vector<Symbol> symbols;
  std::map<std::string, int> known; // same operation on same operands -> same symbol
};

} // namespace pypto::importer
#endif // PYPTO_LIB_IMPORTER_SYMBOLIC_H
