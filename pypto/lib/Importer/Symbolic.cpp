//===- Symbolic.cpp - what is known of integer scalars --------------------===//
#include "Symbolic.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace pypto::importer {
namespace {

std::optional<int64_t> plus(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t result;
  if (!a || !b || llvm::AddOverflow(*a, *b, result))
    return std::nullopt;
  return result;
}
std::optional<int64_t> times(std::optional<int64_t> a, int64_t b) {
  int64_t result;
  if (!a || llvm::MulOverflow(*a, b, result))
    return std::nullopt;
  return result;
}

std::optional<Affine> combine(const Affine &a, const Affine &b, int64_t factor) {
  Affine result;
  auto scaled = times(b.constant, factor);
  auto constant = plus(a.constant, scaled);
  if (!constant)
    return std::nullopt;
  result.constant = *constant;
  auto x = a.terms.begin(), y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->first < y->first)) {
      result.terms.push_back(*x++);
      continue;
    }
    auto coefficient = times(y->second, factor);
    if (x != a.terms.end() && x->first == y->first)
      coefficient = plus(coefficient, (x++)->second);
    if (!coefficient)
      return std::nullopt;
    if (*coefficient != 0)
      result.terms.emplace_back(y->first, *coefficient);
    ++y;
  }
  return result;
}

std::string print(const Affine &a) {
  std::string text = std::to_string(a.constant);
  for (auto [symbol, coefficient] : a.terms)
    text += "+" + std::to_string(coefficient) + "s" + std::to_string(symbol);
  return text;
}

} // namespace

Affine Symbols::fresh(Bounds bounds, int parameter) {
  symbols.push_back({bounds, {}});
  if (parameter >= 0)
    symbols.back().parameters.push_back(parameter);
  Affine result;
  result.terms.emplace_back(static_cast<int>(symbols.size()) - 1, 1);
  return result;
}

Affine Symbols::opaque(llvm::StringRef op, const Affine &a, const Affine &b, Bounds bounds) {
  std::string key = (op + "(" + print(a) + "," + print(b) + ")").str();
  auto [it, isNew] = known.try_emplace(key, static_cast<int>(symbols.size()));
  if (isNew) {
    std::vector<int> parameters = parametersOf(a);
    for (int p : parametersOf(b))
      if (!llvm::is_contained(parameters, p))
        parameters.push_back(p);
    symbols.push_back({bounds, std::move(parameters)});
  }
  Affine result;
  result.terms.emplace_back(it->second, 1);
  return result;
}

Affine Symbols::add(const Affine &a, const Affine &b) {
  auto result = combine(a, b, 1);
  return result ? *result : fresh();
}
Affine Symbols::sub(const Affine &a, const Affine &b) {
  auto result = combine(a, b, -1);
  return result ? *result : fresh();
}

Affine Symbols::mul(const Affine &a, const Affine &b) {
  if (a.isConstant() || b.isConstant()) {
    auto result =
        a.isConstant() ? combine(Affine(), b, a.constant) : combine(Affine(), a, b.constant);
    return result ? *result : fresh();
  }
  Bounds x = bounds(a), y = bounds(b), product;
  if (x.low && y.low && *x.low >= 0 && *y.low >= 0) {
    product.low = times(x.low, *y.low);
    if (x.high && y.high)
      product.high = times(x.high, *y.high);
  }
  return print(a) < print(b) ? opaque("mul", a, b, product) : opaque("mul", b, a, product);
}

Affine Symbols::floorDiv(const Affine &a, const Affine &b) {
  if (!b.isConstant() || b.constant <= 0)
    return opaque("div", a, b, {});
  int64_t d = b.constant;
  if (a.isConstant())
    return Affine(llvm::divideFloorSigned(a.constant, d));
  // A divisible form divides term by term; a remainder stays in an opaque symbol.
  if (llvm::all_of(a.terms, [&](auto &t) { return t.second % d == 0; })) {
    Affine result(llvm::divideFloorSigned(a.constant, d));
    for (auto [symbol, coefficient] : a.terms)
      result.terms.emplace_back(symbol, coefficient / d);
    return result;
  }
  Bounds x = bounds(a), q;
  if (x.low)
    q.low = llvm::divideFloorSigned(*x.low, d);
  if (x.high)
    q.high = llvm::divideFloorSigned(*x.high, d);
  if (q.low && q.high && *q.low == *q.high)
    return Affine(*q.low);
  return opaque("div", a, b, q);
}

Affine Symbols::floorMod(const Affine &a, const Affine &b) {
  if (!b.isConstant() || b.constant <= 0)
    return opaque("mod", a, b, {});
  int64_t d = b.constant;
  if (llvm::all_of(a.terms, [&](auto &t) { return t.second % d == 0; }))
    return Affine(llvm::mod(a.constant, d));
  Bounds x = bounds(a);
  if (x.low && x.high && *x.low >= 0 && *x.high < d)
    return a;
  return opaque("mod", a, b, {0, d - 1});
}

Affine Symbols::min(const Affine &a, const Affine &b) {
  if (auto order = lessEqual(a, b))
    return *order ? a : b;
  Bounds x = bounds(a), y = bounds(b), r;
  if (x.low && y.low)
    r.low = std::min(*x.low, *y.low);
  r.high = !x.high ? y.high : !y.high ? x.high : std::min(*x.high, *y.high);
  return print(a) < print(b) ? opaque("min", a, b, r) : opaque("min", b, a, r);
}

Affine Symbols::max(const Affine &a, const Affine &b) {
  if (auto order = lessEqual(a, b))
    return *order ? b : a;
  Bounds x = bounds(a), y = bounds(b), r;
  if (x.high && y.high)
    r.high = std::max(*x.high, *y.high);
  r.low = !x.low ? y.low : !y.low ? x.low : std::max(*x.low, *y.low);
  return print(a) < print(b) ? opaque("max", a, b, r) : opaque("max", b, a, r);
}

Bounds Symbols::bounds(const Affine &a) const {
  Bounds result{a.constant, a.constant};
  for (auto [symbol, coefficient] : a.terms) {
    Bounds s = symbols[symbol].bounds;
    if (coefficient < 0)
      std::swap(s.low, s.high);
    result.low = plus(result.low, times(s.low, coefficient));
    result.high = plus(result.high, times(s.high, coefficient));
  }
  return result;
}

std::optional<bool> Symbols::lessEqual(const Affine &a, const Affine &b) {
  auto difference = combine(b, a, -1);
  if (!difference)
    return std::nullopt;
  Bounds r = bounds(*difference);
  if (r.low && *r.low >= 0)
    return true;
  if (r.high && *r.high < 0)
    return false;
  return std::nullopt;
}

std::optional<bool> Symbols::equal(const Affine &a, const Affine &b) {
  auto difference = combine(b, a, -1);
  if (!difference)
    return std::nullopt;
  if (difference->isConstant())
    return difference->constant == 0;
  Bounds r = bounds(*difference);
  if ((r.low && *r.low > 0) || (r.high && *r.high < 0))
    return false;
  return std::nullopt;
}

std::vector<int> Symbols::parametersOf(const Affine &a) const {
  std::vector<int> result;
  for (auto [symbol, coefficient] : a.terms)
    for (int p : symbols[symbol].parameters)
      if (!llvm::is_contained(result, p))
        result.push_back(p);
  return result;
}

} // namespace pypto::importer
