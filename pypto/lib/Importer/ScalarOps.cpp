//===- ScalarOps.cpp - arithmetic and comparison of scalars ---------------===//
//
// Folding has the meaning of the run-time code: `//` and `%` floor, integers keep
// the width of their type. `/` of two integers truncates at run time; between
// constants of the source it is Python's division.
//
//===----------------------------------------------------------------------===//
#include "Walker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace pypto::importer {
using ast::Node;

bool Walker::commonType(const Node &node, llvm::StringRef what, Val &left, Val &right) {
  if (left.dtype == DType::TaskId || right.dtype == DType::TaskId || left.dtype == DType::Bool ||
      right.dtype == DType::Bool) {
    const Val &culprit = left.dtype == DType::Bool || left.dtype == DType::TaskId ? left : right;
    typeError(node, what + " does not take " + describe(culprit));
    return false;
  }
  Location loc = locationOf(node);
  if (isFloat(left.dtype) != isFloat(right.dtype)) {
    Val &whole = isFloat(left.dtype) ? right : left;
    const Val &fraction = isFloat(left.dtype) ? left : right;
    if (!whole.isConstant()) {
      typeError(node, what + " mixes " + describe(left) + " and " + describe(right),
                "convert one: pl.cast(x, pl." + nameOf(fraction.dtype).str() + ")");
      return false;
    }
    whole = castScalar(whole, fraction.dtype, loc);
    return true;
  }
  if (left.dtype == right.dtype)
    return true;
  DType wide = bitsOf(right.dtype) > bitsOf(left.dtype) ? right.dtype : left.dtype;
  left = castScalar(left, wide, loc);
  right = castScalar(right, wide, loc);
  return true;
}

Val Walker::foldBinary(const Node &node, llvm::StringRef op, const Val &left, const Val &right) {
  if (isFloat(left.dtype)) {
    double x = *left.real(), y = *right.real();
    if (op == "Add")
      return constantFloat(x + y, left.dtype);
    if (op == "Sub")
      return constantFloat(x - y, left.dtype);
    if (op == "Mult")
      return constantFloat(x * y, left.dtype);
    if (op == "Div") {
      if (y == 0)
        return invalid(node, "division by zero");
      return constantFloat(x / y, left.dtype);
    }
    return typeError(node, "this operator takes integers, not " + describe(left));
  }
  int64_t x = *left.integer(), y = *right.integer(), r = 0;
  bool overflow = false;
  if (op == "Add")
    overflow = llvm::AddOverflow(x, y, r);
  else if (op == "Sub")
    overflow = llvm::SubOverflow(x, y, r);
  else if (op == "Mult")
    overflow = llvm::MulOverflow(x, y, r);
  else if (op == "FloorDiv" || op == "Mod" || op == "Div") {
    if (y == 0)
      return invalid(node, "division by zero");
    if (y == -1) { // the processor traps where the quotient does not fit
      if (op == "Mod")
        r = 0;
      else
        overflow = llvm::SubOverflow(int64_t(0), x, r);
    } else if (op == "Div") {
      if (x % y != 0)
        return constantFloat(static_cast<double>(x) / static_cast<double>(y));
      r = x / y;
    } else {
      r = op == "FloorDiv" ? llvm::divideFloorSigned(x, y) : x - llvm::divideFloorSigned(x, y) * y;
    }
  } else if (op == "LShift" || op == "RShift") {
    if (y < 0 || y >= 64)
      return invalid(node, "a shift count must be between 0 and 63, this one is " + llvm::Twine(y));
    r = op == "LShift" ? static_cast<int64_t>(static_cast<uint64_t>(x) << y) : x >> y;
  } else if (op == "BitAnd") {
    r = x & y;
  } else if (op == "BitOr") {
    r = x | y;
  } else if (op == "BitXor") {
    r = x ^ y;
  } else {
    return unsupported(node, "this operator is not supported");
  }
  if (overflow)
    return invalid(node, "the result does not fit into 64 bits");
  if (bitsOf(left.dtype) < 64)
    return castScalar(constantInt(r), left.dtype, locationOf(node));
  return constantInt(r, left.dtype);
}

Val Walker::scalarBinary(const Node &node, llvm::StringRef op, Val left, Val right) {
  static const std::map<std::string, const char *> symbolsOfOps = {
      {"Add", "`+`"},     {"Sub", "`-`"},       {"Mult", "`*`"},
      {"Div", "`/`"},     {"FloorDiv", "`//`"}, {"Mod", "`%`"},
      {"LShift", "`<<`"}, {"RShift", "`>>`"},   {"BitXor", "`~`"}};
  auto known = symbolsOfOps.find(op.str());
  if (known == symbolsOfOps.end() || (op == "BitXor" && node.kind != "UnaryOp"))
    return unsupported(node, "this operator is not supported on run-time scalars",
                       "supported are + - * / // % << >>");
  if (!commonType(node, known->second, left, right))
    return Val();
  if (left.isConstant() && right.isConstant())
    return foldBinary(node, op, left, right);
  if (right.isConstant() && right.real() == 0.0 &&
      (op == "FloorDiv" || op == "Mod" || (op == "Div" && isInteger(left.dtype))))
    return invalid(node, "division by zero");

  DType type = left.dtype;
  Location loc = locationOf(node);
  if (isFloat(type)) {
    Value x = materialise(left, loc), y = materialise(right, loc);
    if (op == "Add")
      return scalar(arith::AddFOp::create(b, loc, x, y), type);
    if (op == "Sub")
      return scalar(arith::SubFOp::create(b, loc, x, y), type);
    if (op == "Mult")
      return scalar(arith::MulFOp::create(b, loc, x, y), type);
    if (op == "Div")
      return scalar(arith::DivFOp::create(b, loc, x, y), type);
    return typeError(node, llvm::Twine(known->second) + " takes integers, not " + describe(left));
  }

  Affine form;
  if (op == "Add")
    form = symbols.add(left.affine, right.affine);
  else if (op == "Sub")
    form = symbols.sub(left.affine, right.affine);
  else if (op == "Mult")
    form = symbols.mul(left.affine, right.affine);
  else if (op == "FloorDiv")
    form = symbols.floorDiv(left.affine, right.affine);
  else if (op == "Mod")
    form = symbols.floorMod(left.affine, right.affine);
  else
    form = symbols.fresh();
  // A 64-bit form that became constant needs no code. Narrow types may wrap, so their forms are
  // trusted only as far as the bounds say.
  if (form.isConstant() && bitsOf(type) == 64)
    return constantInt(form.constant, type);
  if (bitsOf(type) < 64 && isSigned(type)) {
    int64_t limit = int64_t(1) << (bitsOf(type) - 1);
    Bounds range = symbols.bounds(form);
    if (!range.low || !range.high || *range.low < -limit || *range.high >= limit)
      form = symbols.fresh({-limit, limit - 1});
  } else if (!isSigned(type)) {
    form = symbols.fresh({0, std::nullopt});
  }

  Type mlirType = elementType(type);
  bool isUnsigned = mlirType.isUnsignedInteger();
  Type signless = isUnsigned ? Type(IntegerType::get(m.context, bitsOf(type))) : mlirType;
  auto convert = [&](Value v, Type to) {
    return v.getType() == to
               ? v
               : b.create(loc, b.getStringAttr("pypto.scalar_cast"), ValueRange(v), TypeRange(to))
                     ->getResult(0);
  };
  Value x = convert(materialise(left, loc), signless),
        y = convert(materialise(right, loc), signless), r;
  // Where the dividend is not negative and the divisor positive, truncating is flooring.
  bool truncates = isUnsigned || (symbols.bounds(left.affine).low.value_or(-1) >= 0 &&
                                  symbols.bounds(right.affine).low.value_or(0) > 0);
  if (op == "Add")
    r = arith::AddIOp::create(b, loc, x, y);
  else if (op == "Sub")
    r = arith::SubIOp::create(b, loc, x, y);
  else if (op == "Mult")
    r = arith::MulIOp::create(b, loc, x, y);
  else if (op == "Div")
    r = isUnsigned ? Value(arith::DivUIOp::create(b, loc, x, y))
                   : Value(arith::DivSIOp::create(b, loc, x, y));
  else if (op == "FloorDiv")
    r = truncates && isUnsigned ? Value(arith::DivUIOp::create(b, loc, x, y))
        : truncates             ? Value(arith::DivSIOp::create(b, loc, x, y))
                                : Value(arith::FloorDivSIOp::create(b, loc, x, y));
  else if (op == "Mod" && truncates)
    r = isUnsigned ? Value(arith::RemUIOp::create(b, loc, x, y))
                   : Value(arith::RemSIOp::create(b, loc, x, y));
  else if (op == "Mod")
    r = arith::SubIOp::create(
        b, loc, x, arith::MulIOp::create(b, loc, arith::FloorDivSIOp::create(b, loc, x, y), y));
  else if (op == "LShift")
    r = arith::ShLIOp::create(b, loc, x, y);
  else if (op == "RShift")
    r = isUnsigned ? Value(arith::ShRUIOp::create(b, loc, x, y))
                   : Value(arith::ShRSIOp::create(b, loc, x, y));
  else
    r = arith::XOrIOp::create(b, loc, x, y);
  return scalar(convert(r, mlirType), type, form);
}

Val Walker::minMax(const Node &node, bool isMax, const Val &l, const Val &r) {
  Val left = l, right = r;
  llvm::StringRef what = isMax ? "pl.max" : "pl.min";
  for (const Val *v : {&left, &right}) {
    if (v->isUnknown())
      return Val();
    if (!v->isScalar())
      return typeError(node, what + " takes scalars, not " + describe(*v),
                       llvm::Twine("use pl.") + (isMax ? "maximum" : "minimum") +
                           " for tensors and tiles");
  }
  if (!commonType(node, what, left, right))
    return Val();
  if (left.isConstant() && right.isConstant()) {
    bool takeLeft = isMax ? *left.real() >= *right.real() : *left.real() <= *right.real();
    return takeLeft ? left : right;
  }
  Location loc = locationOf(node);
  DType type = left.dtype;
  if (isFloat(type)) {
    Value x = materialise(left, loc), y = materialise(right, loc);
    return scalar(isMax ? Value(arith::MaximumFOp::create(b, loc, x, y))
                        : Value(arith::MinimumFOp::create(b, loc, x, y)),
                  type);
  }
  if (!isSigned(type))
    return unsupported(node, what + " is not supported on unsigned scalars",
                       "cast them to pl.INT64 first");
  Affine form =
      isMax ? symbols.max(left.affine, right.affine) : symbols.min(left.affine, right.affine);
  if (form.isConstant())
    return constantInt(form.constant, type);
  if (form == left.affine)
    return left;
  if (form == right.affine)
    return right;
  Value x = materialise(left, loc), y = materialise(right, loc);
  return scalar(isMax ? Value(arith::MaxSIOp::create(b, loc, x, y))
                      : Value(arith::MinSIOp::create(b, loc, x, y)),
                type, form);
}

Val Walker::compareOne(const Node &node, llvm::StringRef op, Val left, Val right) {
  if (left.isUnknown() || right.isUnknown())
    return Val();
  static const std::map<std::string, int> codes = {{"Eq", 0},  {"NotEq", 1}, {"Lt", 2},
                                                   {"LtE", 3}, {"Gt", 4},    {"GtE", 5}};
  auto it = codes.find(op.str());
  if (it == codes.end())
    return unsupported(node, "this comparison is not supported", "supported are == != < <= > >=");
  int code = it->second;
  if (left.isShaped() || right.isShaped())
    return unsupported(node, "comparison operators are not defined on tensors and tiles",
                       "use pl.cmp(a, b, cmp_type=…)");
  if (!left.isScalar() || !right.isScalar()) {
    // Python values (strings, element types, None) compare at compile time.
    if (code <= 1 && left.kind == Val::Py && right.kind == Val::Py)
      return constantBool((left.python->kind == right.python->kind &&
                           left.python->text == right.python->text) == (code == 0));
    return typeError(node, "cannot compare " + describe(left) + " and " + describe(right));
  }
  Location loc = locationOf(node);
  if (left.dtype == DType::Bool && right.dtype == DType::Bool && code <= 1) {
    if (left.isConstant() && right.isConstant())
      return constantBool((*left.boolean() == *right.boolean()) == (code == 0));
    auto predicate = code == 0 ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne;
    return scalar(
        arith::CmpIOp::create(b, loc, predicate, materialise(left, loc), materialise(right, loc)),
        DType::Bool);
  }
  if (!commonType(node, "a comparison", left, right))
    return Val();
  if (left.isConstant() && right.isConstant()) {
    bool r = false;
    auto decide = [&](auto x, auto y) {
      r = code == 0   ? x == y
          : code == 1 ? x != y
          : code == 2 ? x < y
          : code == 3 ? x <= y
          : code == 4 ? x > y
                      : x >= y;
    };
    if (isFloat(left.dtype))
      decide(*left.real(), *right.real());
    else
      decide(*left.integer(), *right.integer());
    return constantBool(r);
  }
  if (isFloat(left.dtype)) {
    static constexpr arith::CmpFPredicate predicates[] = {
        arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE, arith::CmpFPredicate::OLT,
        arith::CmpFPredicate::OLE, arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
    return scalar(arith::CmpFOp::create(b, loc, predicates[code], materialise(left, loc),
                                        materialise(right, loc)),
                  DType::Bool);
  }
  if (left.affine == right.affine && isSigned(left.dtype))
    return constantBool(code == 0 || code == 3 || code == 5);
  using P = arith::CmpIPredicate;
  static constexpr P signedPredicates[] = {P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge};
  static constexpr P unsignedPredicates[] = {P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge};
  Value x = materialise(left, loc), y = materialise(right, loc);
  bool isUnsigned = !isSigned(left.dtype);
  if (isUnsigned) {
    Type signless = IntegerType::get(m.context, bitsOf(left.dtype));
    x = b.create(loc, b.getStringAttr("pypto.scalar_cast"), ValueRange(x), TypeRange(signless))
            ->getResult(0);
    y = b.create(loc, b.getStringAttr("pypto.scalar_cast"), ValueRange(y), TypeRange(signless))
            ->getResult(0);
  }
  return scalar(arith::CmpIOp::create(
                    b, loc, isUnsigned ? unsignedPredicates[code] : signedPredicates[code], x, y),
                DType::Bool);
}

/// `a < b < c` is `a < b and b < c` with b evaluated once.
Val Walker::compare(const Node &node) {
  const auto &ops = node.list("ops");
  const auto &others = node.list("comparators");
  if (ops.size() == 1 && (ops[0]->kind == "Is" || ops[0]->kind == "IsNot")) {
    Val left = expr(*node.get("left")), right = expr(*others[0]);
    if (left.isUnknown() || right.isUnknown())
      return Val();
    if (left.kind == Val::None || right.kind == Val::None)
      return constantBool((left.kind == right.kind) == (ops[0]->kind == "Is"));
    return unsupported(node, "`is` compares with None only", "use ==");
  }
  Val left = expr(*node.get("left")), result;
  for (size_t i = 0; i < ops.size(); ++i) {
    Val right = expr(*others[i]);
    Val one = compareOne(node, ops[i]->kind, left, right);
    if (one.isUnknown())
      return one;
    if (i == 0 || result.boolean() == true) {
      result = one;
    } else if (result.boolean() == false || one.boolean() == false) {
      result = constantBool(false);
    } else if (one.boolean() != true) {
      result =
          scalar(arith::AndIOp::create(b, locationOf(node), result.value, one.value), DType::Bool);
    }
    left = right;
  }
  return result;
}

} // namespace pypto::importer
