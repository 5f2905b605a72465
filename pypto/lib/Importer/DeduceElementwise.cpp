//===- DeduceElementwise.cpp - pointwise ops, casts, reductions, expansion -===//
#include "ConstantRange.h"
#include "Walker.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

/// Types of `left op right`, either of which may be a scalar; scalars are converted in place.
bool Walker::binaryTypes(Bound &bound, const char *leftName, const char *rightName, bool allowCast,
                         Val &result) {
  Val &left = argument(bound, leftName), &right = argument(bound, rightName);
  std::string function = "pl." + bound.name;
  for (auto [v, name] : {std::pair(&left, leftName), std::pair(&right, rightName)})
    if (!v->isShaped() && !v->isScalar()) {
      typeError(bound.at(name), function + ": '" + name + "' is " + describe(*v) +
                                    "; it takes a tensor, a tile or a scalar");
      return false;
    }
  if (left.isScalar() && right.isScalar()) {
    typeError(*bound.call, function + " takes at least one tensor or tile",
              "on scalars use the operators of Python");
    return false;
  }
  if (left.isScalar() || right.isScalar()) {
    Val &number = left.isScalar() ? left : right;
    const Val &wide = left.isScalar() ? right : left;
    const Node &at = bound.at(left.isScalar() ? leftName : rightName);
    Location loc = locationOf(at);
    bool adopts = number.isConstant() &&
                  (number.dtype == DType::Index || number.dtype == DType::FP32) &&
                  !(isFloat(number.dtype) && !isFloat(wide.dtype));
    if (adopts && !fits(number, wide.dtype)) {
      invalid(at,
              function + ": " + std::to_string(*number.integer()) + " does not fit into the " +
                  nameOf(wide.dtype) + " elements",
              "their range is " + rangeOf(wide.dtype));
      return false;
    }
    if (adopts) {
      number = castScalar(number, wide.dtype, loc);
    } else if (number.dtype != wide.dtype) {
      typeError(at,
                function + ": the scalar is " + nameOf(number.dtype) + ", the elements are " +
                    nameOf(wide.dtype),
                isFloat(number.dtype) && !isFloat(wide.dtype)
                    ? "cast the tensor: pl.cast(x, pl.FP32)"
                    : "convert the scalar: pl.cast(s, pl." + nameOf(wide.dtype).str() + ")");
      return false;
    }
    result = resultLike(wide, wide.dtype);
    return true;
  }
  if (left.dtype != right.dtype) {
    if (!allowCast) {
      typeError(*bound.call,
                function + ": element types differ, " + nameOf(left.dtype) + " and " +
                    nameOf(right.dtype),
                "convert one with pl.cast");
      return false;
    }
    // Float beats int; wider wins; equal width: signed wins.
    DType to = isFloat(left.dtype) != isFloat(right.dtype)
                   ? (isFloat(left.dtype) ? left.dtype : right.dtype)
               : bitsOf(left.dtype) != bitsOf(right.dtype)
                   ? (bitsOf(left.dtype) > bitsOf(right.dtype) ? left.dtype : right.dtype)
               : isSigned(left.dtype) || isFloat(left.dtype) ? left.dtype
                                                             : right.dtype;
    for (Val *v : {&left, &right})
      if (v->dtype != to) {
        PyValue type;
        type.kind = PyValue::DType;
        type.text = nameOf(to);
        *v = buildOp("cast", *bound.call, {{"x", *v}, {"target_type", fromPython(type)}});
        if (v->isUnknown())
          return false;
      }
  }
  // Broadcasting aligns the last axes.
  const Val &longer = left.rank() >= right.rank() ? left : right;
  const Val &shorter = left.rank() >= right.rank() ? right : left;
  std::vector<Affine> shape = longer.shape, valid = longer.valid;
  size_t shift = longer.rank() - shorter.rank();
  for (size_t i = 0; i < shorter.rank(); ++i) {
    Affine &extent = shape[shift + i], &real = valid[shift + i];
    const Affine &other = shorter.shape[i], &otherReal = shorter.valid[i];
    if (extent == Affine(1) && other != Affine(1)) {
      extent = other;
      real = otherReal;
      continue;
    }
    if (other == Affine(1) && extent != Affine(1))
      continue;
    if (symbols.equal(extent, other) == false) {
      invalid(*bound.call,
              function + ": shapes differ, lhs is [" + print(left.shape) + "], rhs is [" +
                  print(right.shape) + "]",
              "extents must be equal, or 1 to be repeated");
      return false;
    }
    if (allowCast && symbols.equal(real, otherReal) == false) { // division
      invalid(*bound.call,
              function + ": valid extents differ, lhs has [" + print(left.valid) + "], rhs has [" +
                  print(right.valid) + "]",
              "give both the same valid shape, or use pl.fillpad");
      return false;
    }
    real = symbols.min(real, otherReal);
    if (!extent.isConstant())
      extent = other;
  }
  bool tile = left.kind == Val::Tile || right.kind == Val::Tile;
  result = shaped(tile ? Val::Tile : Val::Tensor, left.dtype, shape, valid);
  if (tile)
    result.space = MemorySpace::Vec;
  return true;
}

bool Walker::deduceElementwise(Bound &bound, std::vector<Val> &results) {
  llvm::StringRef op = llvm::StringRef(bound.signature->op->name).drop_front(6);
  llvm::StringRef family = bound.signature->op->family;
  std::string function = "pl." + bound.name;
  auto castArgument = [&](const char *name, DType to) {
    Val &v = argument(bound, name);
    PyValue type;
    type.kind = PyValue::DType;
    type.text = nameOf(to);
    v = buildOp("cast", *bound.call, {{"x", v}, {"target_type", fromPython(type)}});
    return !v.isUnknown();
  };
  if (family == "unary") {
    Val x;
    if (!shapedArgument(bound, "x", x))
      return false;
    if (op == "exp" && !isFloat(x.dtype)) {
      if (!castArgument("x", DType::FP32))
        return false;
      x = bound["x"];
    }
    static const std::set<std::string> floatOnly = {"exp",   "log", "sqrt", "rsqrt",
                                                    "recip", "sin", "cos"};
    if (floatOnly.count(op.str()) && !isFloat(x.dtype)) {
      typeError(*bound.call, function + " takes float elements, not " + nameOf(x.dtype),
                "convert with pl.cast(x, pl.FP32)");
      return false;
    }
    if ((op == "sin" || op == "cos") && x.dtype != DType::FP32) {
      typeError(*bound.call, function + " takes FP32 elements, not " + nameOf(x.dtype),
                "convert with pl.cast(x, pl.FP32)");
      return false;
    }
    if (op == "not" && !isInteger(x.dtype)) {
      typeError(*bound.call, function + " takes integer elements, not " + nameOf(x.dtype));
      return false;
    }
    if (x.dtype == DType::Bool) {
      typeError(*bound.call, function + " does not take BOOL elements");
      return false;
    }
    results.push_back(resultLike(x, x.dtype));
    return true;
  }
  if (family == "cast") {
    Val x;
    if (!shapedArgument(bound, "x", x))
      return false;
    auto type = dtypeArgument(bound, "target_type");
    if (!type)
      return false;
    if (*type == x.dtype) {
      invalid(*bound.call, function + ": the elements are " + nameOf(x.dtype) + " already",
              "leave the cast out");
      return false;
    }
    auto castable = [](DType t) {
      return t == DType::BF16 || t == DType::FP16 || t == DType::FP32 || t == DType::Int16 ||
             t == DType::Int32 || t == DType::Int64 || t == DType::Int8 || t == DType::UInt8 ||
             t == DType::Int4;
    };
    bool a5 = m.options.platform.rfind("a5", 0) == 0;
    if (!a5 && (!castable(x.dtype) || !castable(*type))) {
      invalid(
          *bound.call,
          function + ": a2a3 has no conversion from " + nameOf(x.dtype) + " to " + nameOf(*type),
          "types with conversions are FP32, FP16, BF16, INT64, INT32, INT16, INT8, UINT8, INT4");
      return false;
    }
    if (bound.has("mode") && bound["mode"].isScalar() && bound["mode"].dtype == DType::Bool) {
      error(ErrorKind::Value, bound.at("mode"),
            function + ": mode is a name or 0 to 6, not a bool");
      return false;
    }
    results.push_back(resultLike(x, *type));
    return true;
  }
  if (family == "sel") {
    Val mask, a;
    if (!shapedArgument(bound, "mask", mask) ||
        !shapedArgument(bound, bound.values.count("src") ? "src" : "a", a))
      return false;
    // Read as bits, values of another type would select by the bytes they happen to hold.
    if (mask.dtype != DType::UInt8) {
      typeError(bound.at("mask"),
                function + ": the mask is packed bits (UINT8, one bit per column), not " +
                    describe(mask),
                "compare tiles (pl.load, then pl.cmp) to get bits; pl.cmp of tensors gives 0 and 1 "
                "as numbers, to multiply with");
      return false;
    }
    const char *other = bound.values.count("scalar") ? "scalar" : "b";
    Val &second = argument(bound, other);
    if (second.isScalar() && second.isConstant())
      second = castScalar(second, a.dtype, locationOf(bound.at(other)));
    if (second.dtype != a.dtype || (second.isShaped() && !sameType(a, second))) {
      typeError(bound.at(other), function + ": both choices need the same type, they are " +
                                     describe(a) + " and " + describe(second));
      return false;
    }
    results.push_back(resultLike(a, a.dtype));
    return true;
  }
  if (family == "ternary") {
    Val ab, r;
    if (!binaryTypes(bound, "a", "b", false, ab) || !binaryTypes(bound, "a", "c", false, r))
      return false;
    results.push_back(r);
    return true;
  }
  const char *left = op == "lrelu" || op == "prelu" ? "x" : "lhs";
  const char *right = op == "lrelu" || op == "prelu" ? "slope" : "rhs";
  if (family == "part") {
    Val l, r;
    if (!shapedArgument(bound, left, l) || !shapedArgument(bound, right, r))
      return false;
    if (!sameType(l, r) && l.kind == r.kind) {
      invalid(*bound.call, function +
                               ": both operands need the same shape and element type, they are " +
                               describe(l) + " and " + describe(r));
      return false;
    }
    Val result = resultLike(l, l.dtype);
    for (size_t i = 0; i < l.rank(); ++i) // each element is valid somewhere
      result.valid[i] = symbols.max(l.valid[i], r.valid[i]);
    results.push_back(result);
    return true;
  }
  Val result;
  if (!binaryTypes(bound, left, right, op == "div", result))
    return false;
  static const std::set<std::string> integerOnly = {"and", "or", "xor", "shl", "shr"};
  if (integerOnly.count(op.str())) {
    if (!isInteger(result.dtype)) {
      typeError(*bound.call, function + " takes integer elements, not " + nameOf(result.dtype));
      return false;
    }
    const Val &l = bound[left], &r = bound[right];
    if (l.isShaped() && r.isShaped() && !sameType(l, r)) {
      invalid(*bound.call, function + ": shapes differ, lhs is [" + print(l.shape) + "], rhs is [" +
                               print(r.shape) + "]");
      return false;
    }
    if ((op == "shl" || op == "shr") && r.integer() &&
        (*r.integer() < 0 || *r.integer() >= int64_t(bitsOf(result.dtype)))) {
      invalid(bound.at(right), function + ": a shift of " + nameOf(result.dtype) + " by " +
                                   llvm::Twine(*r.integer()) + " is out of range");
      return false;
    }
  }
  if (result.dtype == DType::Bool) {
    typeError(*bound.call, function + " does not take BOOL elements");
    return false;
  }
  if (op == "cmp") {
    bool packed = false;
    for (llvm::StringRef fixed : bound.signature->fixed)
      packed |= fixed == "packed=true";
    const Val &lhs = bound["lhs"];
    if (!packed && lhs.kind == Val::Tile) {
      packed = true;
      bound.values["$packed"] = constantBool(true);
    }
    if (packed) {
      // One bit per column, rows rounded up to 32 bytes.
      result.dtype = DType::UInt8;
      result.kind = Val::Tile;
      for (auto *list : {&result.shape, &result.valid}) {
        Affine &columns = list->back();
        columns = symbols.floorDiv(symbols.add(columns, Affine(7)), Affine(8));
        if (list == &result.shape && columns.isConstant())
          columns = Affine((columns.constant + 31) / 32 * 32);
      }
    }
  }
  results.push_back(result);
  return true;
}

bool Walker::deduceReduce(Bound &bound, std::vector<Val> &results) {
  llvm::StringRef family = bound.signature->op->family;
  Val x;
  if (!shapedArgument(bound, "x", x, 2))
    return false;
  if (x.dtype == DType::Bool) {
    typeError(*bound.call, "pl." + bound.name + " does not take BOOL elements");
    return false;
  }
  for (size_t i = 0; i < x.rank(); ++i)
    if (symbols.lessEqual(x.valid[i], Affine(0)) == true) {
      invalid(*bound.call,
              "pl." + bound.name + ": the valid region [" + print(x.valid) + "] is empty");
      return false;
    }
  bool isArg = family == "row_arg" || family == "col_arg";
  Val r = resultLike(x, isArg ? DType::Int32 : x.dtype);
  size_t axis = x.rank() - (family == "row_reduce" || family == "row_arg" ? 1 : 2);
  r.shape[axis] = Affine(1);
  r.valid[axis] = Affine(1);
  results.push_back(r);
  return true;
}

bool Walker::deduceExpand(Bound &bound, std::vector<Val> &results) {
  bool rows = bound.signature->op->family == "row_expand";
  std::string function = "pl." + bound.name;
  const char *wideName = bound.values.count("x") ? "x" : "target";
  Val x, v;
  if (!shapedArgument(bound, wideName, x, 2) || !shapedArgument(bound, "v", v, 2))
    return false;
  if (x.dtype != v.dtype) {
    typeError(*bound.call,
              function + ": element types differ, " + nameOf(x.dtype) + " and " + nameOf(v.dtype),
              "convert one with pl.cast");
    return false;
  }
  size_t rank = x.rank(), unit = rows ? 1 : 2;
  std::string wanted = rows ? "[M, 1]" : "[1, N]";
  bool fits = v.rank() == rank && v.shape[rank - unit] == Affine(1);
  for (size_t i = 0; fits && i < rank; ++i)
    if (i != rank - unit)
      fits = symbols.equal(x.shape[i], v.shape[i]) != false;
  if (!fits) {
    invalid(*bound.call,
            function + ": '" + wideName + "' is [" + print(x.shape) + "], 'v' is [" +
                print(v.shape) + "]",
            "'v' must be " + wanted + " for " + wideName +
                "[M, N]; pl.reshape turns a row into a column");
    return false;
  }
  Val r = resultLike(x, x.dtype);
  if (v.kind == Val::Tile)
    r.kind = Val::Tile;
  for (size_t i = 0; i < rank; ++i)
    if (i != rank - unit && v.valid[i] != v.shape[i])
      r.valid[i] = symbols.min(r.valid[i], v.valid[i]);
  results.push_back(r);
  return true;
}

} // namespace pypto::importer
