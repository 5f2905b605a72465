//===- DeduceMatrix.cpp - matrix products, gather, scatter, sort ----------===//
#include "Walker.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

bool Walker::deduceMatmul(Bound &bound, std::vector<Val> &results) {
  std::string function = "pl." + bound.name;
  llvm::StringRef op = llvm::StringRef(bound.signature->op->name).drop_front(6);
  const char *leftName = bound.values.count("a") ? "a" : "lhs",
             *rightName = bound.values.count("b") ? "b" : "rhs";
  Val l, r;
  if (!shapedArgument(bound, leftName, l) || !shapedArgument(bound, rightName, r))
    return false;
  if (op == "matmul_mx")
    return deduceMatmulMx(bound, l, r, results);
  bool tile = l.kind == Val::Tile || r.kind == Val::Tile;
  bool aTrans = bound["a_trans"].boolean().value_or(false),
       bTrans = bound["b_trans"].boolean().value_or(false);
  if (tile && (aTrans || bTrans)) {
    invalid(bound.at(aTrans ? "a_trans" : "b_trans"),
            function + ": a_trans and b_trans apply to tensors, not to tiles",
            "use pl.tile.transpose_view");
    return false;
  }
  if (l.dtype != r.dtype) {
    typeError(*bound.call,
              function + ": element types differ, lhs has " + nameOf(l.dtype) + ", rhs has " +
                  nameOf(r.dtype),
              "convert one with pl.cast");
    return false;
  }
  static const std::set<DType> inputs = {DType::FP32, DType::FP16, DType::BF16, DType::Int8};
  if (!inputs.count(l.dtype)) {
    typeError(*bound.call,
              function + " multiplies FP32, FP16, BF16 or INT8 elements, not " + nameOf(l.dtype),
              "convert both with pl.cast");
    return false;
  }
  DType accumulator = l.dtype == DType::Int8 ? DType::Int32 : DType::FP32;

  // Row vectors and column vectors take part as matrices of one row or column.
  auto matrix = [](const Val &v, bool trans, size_t back, bool valid) -> Affine {
    const auto &list = valid ? v.valid : v.shape;
    if (v.rank() == 1)
      return list[0];
    return list[v.rank() - (trans ? 3 - back : back)];
  };
  bool lVector = l.rank() == 1, rVector = r.rank() == 1;
  Affine k1 = matrix(l, aTrans, 1, false), k2 = rVector ? r.shape[0] : matrix(r, bTrans, 2, false);
  if (symbols.equal(k1, k2) == false) {
    bool transposed = !rVector && symbols.equal(k1, matrix(r, bTrans, 1, false)) == true;
    invalid(*bound.call,
            function + ": inner extents differ, lhs is [" + print(l.shape) + "], rhs is [" +
                print(r.shape) + "]",
            transposed && !tile ? (bTrans ? "leave b_trans out"
                                          : "pass b_trans=True if rhs holds its columns as rows")
                                : "the last extent of lhs must equal the first of rhs");
    return false;
  }
  Affine realLeft = matrix(l, aTrans, 1, true),
         realRight = rVector ? r.valid[0] : matrix(r, bTrans, 2, true);
  if (symbols.lessEqual(realLeft, realRight) == false) {
    invalid(*bound.call,
            function + ": lhs is valid up to K = " + print(realLeft) + ", rhs only up to " +
                print(realRight),
            "fill the rest with pl.fillpad(rhs)");
    return false;
  }
  std::vector<Affine> shape, valid;
  size_t lBatch = l.rank() > 2 ? l.rank() - 2 : 0, rBatch = r.rank() > 2 ? r.rank() - 2 : 0;
  for (size_t i = std::max(lBatch, rBatch); i > 0; --i) {
    Affine a = i <= lBatch ? l.shape[lBatch - i] : Affine(1),
           c = i <= rBatch ? r.shape[rBatch - i] : Affine(1);
    if (a != Affine(1) && c != Affine(1) && symbols.equal(a, c) == false) {
      invalid(*bound.call, function + ": batch extents differ, lhs is [" + print(l.shape) +
                               "], rhs is [" + print(r.shape) + "]");
      return false;
    }
    shape.push_back(a == Affine(1) ? c : a);
    valid.push_back(shape.back());
  }
  if (!lVector) {
    shape.push_back(matrix(l, aTrans, 2, false));
    valid.push_back(matrix(l, aTrans, 2, true));
  }
  if (!rVector) {
    shape.push_back(matrix(r, bTrans, 1, false));
    valid.push_back(matrix(r, bTrans, 1, true));
  }
  if (shape.empty()) {
    invalid(*bound.call,
            function + ": the product of two vectors is a scalar, which is not supported",
            "reshape one to [1, K]");
    return false;
  }
  if (op == "matmul_acc" || op == "gemv_acc") {
    Val acc;
    if (!shapedArgument(bound, "acc", acc))
      return false;
    if (acc.dtype != accumulator) {
      typeError(bound.at("acc"), function + ": the accumulator is " + nameOf(acc.dtype) +
                                     ", products of " + nameOf(l.dtype) + " accumulate in " +
                                     nameOf(accumulator));
      return false;
    }
    Val product = shaped(acc.kind, acc.dtype, shape);
    if (acc.rank() != shape.size() || !sameType(acc, product)) {
      invalid(bound.at("acc"), function + ": the accumulator is [" + print(acc.shape) +
                                   "], the product is [" + print(shape) + "]");
      return false;
    }
    if (bound.has("init_cond")) {
      const Val &c = bound["init_cond"];
      if (!c.isScalar() || c.dtype != DType::Bool) {
        typeError(bound.at("init_cond"),
                  function + ": init_cond is a BOOL scalar, not " + describe(c),
                  "write a comparison: k == 0");
        return false;
      }
      if (acc.rank() != 2) {
        invalid(bound.at("init_cond"), function + ": init_cond needs 2-D operands");
        return false;
      }
    }
    Val result = shaped(tile || acc.kind == Val::Tile ? Val::Tile : Val::Tensor, acc.dtype,
                        acc.shape, acc.valid);
    if (result.kind == Val::Tile)
      result.space = MemorySpace::Acc;
    results.push_back(result);
    return true;
  }
  if (op == "matmul_bias" || op == "gemv_bias") {
    Val bias;
    if (!shapedArgument(bound, "bias", bias))
      return false;
    if (bias.dtype != accumulator || bias.rank() != 2 || bias.shape[0] != Affine(1) ||
        symbols.equal(bias.shape[1], shape.back()) == false) {
      invalid(bound.at("bias"), function + ": the bias is " + describe(bias) + ", it must be [1, " +
                                    print(shape.back()) + "] " + nameOf(accumulator));
      return false;
    }
  }
  DType out = l.dtype == DType::Int8 ? DType::Int32 : l.dtype;
  if (tile)
    out = accumulator;
  if (bound.has("out_dtype")) {
    auto given = dtypeArgument(bound, "out_dtype");
    if (!given)
      return false;
    if (tile && *given != accumulator) {
      typeError(bound.at("out_dtype"),
                function + ": a product of " + nameOf(l.dtype) + " tiles is " + nameOf(accumulator),
                "convert it with pl.cast");
      return false;
    }
    if (isFloat(*given) != isFloat(accumulator) || *given == DType::Bool) {
      typeError(bound.at("out_dtype"),
                function + ": a product of " + nameOf(l.dtype) + " cannot be " + nameOf(*given));
      return false;
    }
    out = *given;
  }
  Val result = shaped(tile ? Val::Tile : Val::Tensor, out, shape, valid);
  if (tile)
    result.space = MemorySpace::Acc;
  results.push_back(result);
  return true;
}

/// Products of block-scaled floats: one scale for 32 elements along K.
bool Walker::deduceMatmulMx(Bound &bound, const Val &l, const Val &r, std::vector<Val> &results) {
  std::string function = "pl." + bound.name;
  if (m.options.platform.rfind("a5", 0) != 0) {
    invalid(*bound.call, function + " needs platform a5, this is " + m.options.platform,
            "a2a3 multiplies FP32, FP16, BF16 and INT8 elements");
    return false;
  }
  auto matrix = [&](const char *name, const Val &v, const llvm::Twine &elements, bool fits) {
    if (v.rank() == 2 && fits)
      return true;
    typeError(bound.at(name),
              function + ": '" + name + "' is a matrix of " + elements + ", not " + describe(v));
    return false;
  };
  auto isData = [](const Val &v) {
    return v.dtype == DType::FP8E4M3FN || v.dtype == DType::FP8E5M2;
  };
  Val ls, rs;
  if (!matrix("lhs", l, "FP8E4M3FN or FP8E5M2", isData(l)) ||
      !matrix("rhs", r, "FP8E4M3FN or FP8E5M2", isData(r)) ||
      !shapedArgument(bound, "lhs_scale", ls) || !shapedArgument(bound, "rhs_scale", rs) ||
      !matrix("lhs_scale", ls, "FP8E8M0", ls.dtype == DType::FP8E8M0) ||
      !matrix("rhs_scale", rs, "FP8E8M0", rs.dtype == DType::FP8E8M0))
    return false;
  for (auto [name, operand] : {std::pair("lhs", &l), std::pair("rhs", &r)})
    if (!operand->shape[0].isConstant() || !operand->shape[1].isConstant()) {
      invalid(bound.at(name),
              function + ": '" + name + "' is [" + print(operand->shape) +
                  "], its extents must be known",
              "load windows of known extents");
      return false;
    }
  int64_t rows = l.shape[0].constant, inner = l.shape[1].constant, cols = r.shape[1].constant;
  if (r.shape[0] != Affine(inner)) {
    invalid(*bound.call, function + ": inner extents differ, lhs is [" + print(l.shape) +
                             "], rhs is [" + print(r.shape) + "]");
    return false;
  }
  if (l.valid != l.shape || r.valid != r.shape) {
    invalid(*bound.call, function + ": both operands are valid as a whole",
            "fill the rest with pl.fillpad");
    return false;
  }
  if (rows % 16 || inner % 64 || cols % 32) {
    invalid(*bound.call,
            function + ": [" + llvm::Twine(rows) + ", " + llvm::Twine(inner) + "] @ [" +
                llvm::Twine(inner) + ", " + llvm::Twine(cols) +
                "] does not fill the hardware's boxes",
            "M is a multiple of 16, K of 64, N of 32");
    return false;
  }
  auto hasShape = [&](const char *name, const Val &v, int64_t first, int64_t second) {
    if (v.rank() == 2 && v.shape[0] == Affine(first) && v.shape[1] == Affine(second))
      return true;
    invalid(bound.at(name), function + ": '" + name + "' is [" + print(v.shape) +
                                "], it must be [" + llvm::Twine(first) + ", " +
                                llvm::Twine(second) + "]");
    return false;
  };
  if (!hasShape("lhs_scale", ls, rows, inner / 32) || !hasShape("rhs_scale", rs, inner / 32, cols))
    return false;
  for (auto [name, first] : {std::pair("acc", rows), std::pair("bias", int64_t(1))}) {
    if (!bound.values.count(name))
      continue;
    Val other;
    if (!shapedArgument(bound, name, other) || !hasShape(name, other, first, cols))
      return false;
    if (other.dtype != DType::FP32) {
      typeError(bound.at(name),
                function + ": '" + name + "' has FP32 elements, not " + nameOf(other.dtype));
      return false;
    }
  }
  Val result = shaped(Val::Tile, DType::FP32, {Affine(rows), Affine(cols)});
  result.space = MemorySpace::Acc;
  results.push_back(result);
  return true;
}

bool Walker::deduceGather(Bound &bound, std::vector<Val> &results) {
  llvm::StringRef op = llvm::StringRef(bound.signature->op->name).drop_front(6);
  std::string function = "pl." + bound.name;
  auto fail = [&](const char *at, const llvm::Twine &message, const llvm::Twine &help = "") {
    invalid(at ? bound.at(at) : *bound.call, function + ": " + message, help);
    return false;
  };
  const char *sourceName = bound.values.count("input") ? "input"
                           : bound.values.count("src") ? "src"
                           : bound.values.count("dst") ? "dst"
                                                       : "x";
  auto fraction = [&](int64_t &of) {
    auto member = enumArgument(bound["mask_pattern"], "MaskPattern", bound.at("mask_pattern"),
                               "mask_pattern");
    if (!member)
      return false;
    of = *member == "p1111" ? 1 : *member == "p0101" || *member == "p1010" ? 2 : 4;
    return true;
  };
  if (op == "aiv_shard" || op == "aic_gather") {
    Val x;
    if (!shapedArgument(bound, "x", x, 2, 2))
      return false;
    if (!context.inSplitAiv)
      return syntax(*bound.call, function + " belongs into a pl.split_aiv region"), false;
    Val r = resultLike(x, x.dtype);
    if (context.splitMode != "none") {
      size_t axis = context.splitMode == "up_down" ? 0 : 1;
      r.shape[axis] = op == "aiv_shard"
                          ? symbols.floorDiv(symbols.add(x.shape[axis], Affine(1)), Affine(2))
                          : symbols.mul(x.shape[axis], Affine(2));
      r.valid[axis] = x.valid[axis] == x.shape[axis]
                          ? r.shape[axis]
                          : symbols.fresh({0, symbols.bounds(r.shape[axis]).high});
    }
    results.push_back(r);
    return true;
  }
  if (op == "mrgsort") {
    Val first;
    bool many = bound.values.count("src0");
    if (!shapedArgument(bound, many ? "src0" : "src", first, 2, 2))
      return false;
    Val r = resultLike(first, first.dtype);
    if (many)
      for (const char *name : {"src1", "src2", "src3"})
        if (bound.has(name)) {
          Val next;
          if (!shapedArgument(bound, name, next, 2, 2))
            return false;
          if (next.dtype != first.dtype)
            return fail(name, "all lists need the same element type");
          r.shape[1] = symbols.add(r.shape[1], next.shape[1]);
          r.valid[1] = symbols.add(r.valid[1], next.valid[1]);
        }
    if (!many) {
      auto length = bound["block_len"].integer();
      if (!length || *length <= 0 || *length % 64 != 0)
        return fail("block_len", "block_len is a positive multiple of 64");
    }
    results.push_back(r);
    return true;
  }
  Val input;
  if (op == "paged_gather") {
    Val indices;
    if (!shapedArgument(bound, "src", input) || !shapedArgument(bound, "indices", indices))
      return false;
    auto rows = bound["max_indices"].integer();
    if (!rows || *rows <= 0)
      return fail("max_indices", "max_indices is a positive constant");
    std::vector<Affine> shape = {Affine(*rows), input.shape.back()};
    if (bound["is_trans"].boolean().value_or(false))
      std::swap(shape[0], shape[1]);
    Val r = shaped(Val::Tile, input.dtype, shape);
    r.space = MemorySpace::Mat;
    if (bound.has("space")) {
      auto member = enumArgument(bound["space"], "MemorySpace", bound.at("space"), "space");
      if (!member)
        return false;
      r.space = *member == "vec" ? MemorySpace::Vec : MemorySpace::Mat;
    }
    results.push_back(r);
    return true;
  }
  if (op == "mgather" || op == "mscatter") {
    Val mem, idx;
    if (!shapedArgument(bound, op == "mgather" ? "mem" : "src", mem) ||
        !shapedArgument(bound, "idx", idx))
      return false;
    if (idx.dtype != DType::Int32)
      return fail("idx", "indices are INT32, not " + nameOf(idx.dtype));
    if (op == "mscatter") {
      Val out;
      if (!shapedArgument(bound, "out", out))
        return false;
      if (out.dtype != mem.dtype)
        return fail("out",
                    "element types differ, " + nameOf(mem.dtype) + " and " + nameOf(out.dtype));
      Val r = out;
      r.value = Value();
      results.push_back(r);
      return true;
    }
    bool rows = !bound.has("coalesce") ||
                (bound["coalesce"].kind == Val::Py && bound["coalesce"].python->text == "row");
    std::vector<Affine> shape = idx.shape;
    if (rows)
      shape = {idx.shape.back(), mem.shape.back()};
    Val r = shaped(Val::Tile, mem.dtype, shape);
    if (bound.has("valid_shape")) {
      std::vector<Affine> valid;
      if (!integers(bound["valid_shape"], bound.at("valid_shape"), "valid_shape", valid))
        return false;
      if (valid.size() == shape.size())
        r.valid = valid;
    }
    r.space = MemorySpace::Vec;
    results.push_back(r);
    return true;
  }
  if (!shapedArgument(bound, sourceName, input, 1))
    return false;
  if (op == "gather") {
    bool flat = llvm::StringRef(bound.name) == "tile.gather";
    const char *indexName = flat ? "indices" : "index";
    Val index;
    if (!shapedArgument(bound, indexName, index))
      return false;
    if (index.dtype != DType::Int32 && !(index.dtype == DType::Int16 && bitsOf(input.dtype) == 16))
      return fail(indexName, "indices are INT32, not " + nameOf(index.dtype));
    if (!flat) {
      if (input.rank() < 2 || index.rank() != input.rank())
        return fail(indexName, "input and index need the same rank of at least 2, they are " +
                                   describe(input) + " and " + describe(index));
      auto axis = axisArgument(bound, "dim", input);
      if (!axis)
        return false;
      for (size_t i = 0; i < input.rank(); ++i)
        if (i != *axis && symbols.lessEqual(index.shape[i], input.shape[i]) == false)
          return fail(indexName, "index is larger than input in axis " + llvm::Twine(i));
    }
    Val r = resultLike(index, input.dtype);
    if (input.kind == Val::Tile)
      r.kind = Val::Tile;
    results.push_back(r);
    return true;
  }
  if (op == "gather_mask" || op == "scatter_mask") {
    int64_t part = 1;
    if (!fraction(part))
      return false;
    if (input.rank() != 2)
      return fail(sourceName, "takes a 2-D value, this is " + describe(input));
    if (op == "scatter_mask") {
      Val dst, src;
      if (!shapedArgument(bound, "dst", dst, 2, 2) || !shapedArgument(bound, "src", src, 2, 2))
        return false;
      if (dst.dtype != src.dtype ||
          symbols.equal(dst.shape[1], symbols.mul(src.shape[1], Affine(part))) == false)
        return fail("src", "src is " + describe(src) + ", it must have 1/" + llvm::Twine(part) +
                               " of the columns of " + describe(dst));
      results.push_back(resultLike(dst, dst.dtype));
      return true;
    }
    if (symbols.floorMod(input.shape[1], Affine(part)) != Affine(0))
      return fail(sourceName,
                  "the columns of " + describe(input) + " do not divide by " + llvm::Twine(part));
    DType type = input.dtype;
    if (bound.has("output_dtype")) {
      auto given = dtypeArgument(bound, "output_dtype");
      if (!given)
        return false;
      if (bitsOf(*given) != bitsOf(type))
        return fail("output_dtype", nameOf(*given) + " has another width than " + nameOf(type),
                    "output_dtype reads the same bits; use pl.cast to convert");
      type = *given;
    }
    Val r = resultLike(input, type);
    r.shape[1] = symbols.floorDiv(input.shape[1], Affine(part));
    r.valid[1] = input.valid[1] == input.shape[1] ? r.shape[1]
                                                  : symbols.floorDiv(input.valid[1], Affine(part));
    results.push_back(r);
    return true;
  }
  if (op == "gather_compare") {
    auto columns = bound["out_cols"].integer();
    if (!columns || *columns <= 0)
      return fail("out_cols", "out_cols is a positive constant");
    if (input.rank() != 2)
      return fail(sourceName, "takes a 2-D value, this is " + describe(input));
    Val &k = argument(bound, "kvalue");
    if (k.isConstant())
      k = castScalar(k, input.dtype, locationOf(bound.at("kvalue")));
    DType count = DType::Int32;
    if (bound.has("count_dtype")) {
      auto given = dtypeArgument(bound, "count_dtype");
      if (!given)
        return false;
      count = *given;
    }
    results.push_back(shaped(input.kind, DType::Int32, {input.shape[0], Affine(*columns)}));
    results.push_back(shaped(input.kind, count, {Affine(1), input.shape[0]}));
    return true;
  }
  if (op == "gatherb") {
    Val offset;
    if (!shapedArgument(bound, "offset", offset, 2, 2))
      return false;
    DType type = input.dtype;
    if (bound.has("output_dtype")) {
      auto given = dtypeArgument(bound, "output_dtype");
      if (!given)
        return false;
      type = *given;
    }
    Val r = resultLike(input, type);
    r.shape = {offset.shape[0], symbols.mul(offset.shape[1], Affine(256 / bitsOf(type)))};
    r.valid = r.shape;
    results.push_back(r);
    return true;
  }
  if (op == "sort32") {
    Val idx;
    if (!shapedArgument(bound, "idx", idx))
      return false;
    if (input.dtype != DType::FP32 && input.dtype != DType::FP16)
      return fail("src", "sorts FP32 or FP16 elements, not " + nameOf(input.dtype));
    if (idx.dtype != DType::UInt32)
      return fail("idx", "indices are UINT32, not " + nameOf(idx.dtype),
                  "pl.arange(0, shape, dtype=pl.UINT32)");
    if (idx.rank() != input.rank() || symbols.equal(idx.shape.back(), input.shape.back()) == false)
      return fail("idx", "indices need the shape of the values, [" + print(input.shape) +
                             "], they have [" + print(idx.shape) + "]");
    if (symbols.floorMod(input.shape.back(), Affine(32)) != Affine(0))
      return fail("src",
                  "the last extent must be a multiple of 32, it is " + print(input.shape.back()));
    Val r = resultLike(input, input.dtype);
    r.shape.back() = symbols.mul(input.shape.back(), Affine(2));
    r.valid.back() = symbols.mul(input.valid.back(), Affine(2));
    results.push_back(r);
    return true;
  }
  if (op == "scatter") {
    Val index, src;
    const char *indexName = bound.values.count("indexes") ? "indexes" : "index";
    const char *target = bound.values.count("dst") ? "dst" : "input";
    if (!shapedArgument(bound, indexName, index) || !shapedArgument(bound, "src", src) ||
        !shapedArgument(bound, target, input))
      return false;
    if (input.dtype != src.dtype)
      return fail("src",
                  "element types differ, " + nameOf(input.dtype) + " and " + nameOf(src.dtype));
    if (!isInteger(index.dtype))
      return fail(indexName, "indices are integers, not " + nameOf(index.dtype));
    if (bound.has("dim") && !axisArgument(bound, "dim", input))
      return false;
    results.push_back(resultLike(input, input.dtype));
    return true;
  }
  // scatter_update
  Val index, src;
  if (!shapedArgument(bound, "index", index) || !shapedArgument(bound, "src", src))
    return false;
  if (bound["dim"].integer() != -2)
    return fail("dim", "dim must be -2");
  if (!isInteger(index.dtype))
    return fail("index", "indices are integers, not " + nameOf(index.dtype));
  if (input.dtype != src.dtype)
    return fail("src",
                "element types differ, " + nameOf(input.dtype) + " and " + nameOf(src.dtype));
  if (symbols.equal(input.shape.back(), src.shape.back()) == false)
    return fail("src", "rows of src have " + print(src.shape.back()) + " elements, rows of input " +
                           print(input.shape.back()));
  Affine count(1), rows(1);
  for (const Affine &a : index.shape)
    count = symbols.mul(count, a);
  for (size_t i = 0; i + 1 < src.rank(); ++i)
    rows = symbols.mul(rows, src.shape[i]);
  if (symbols.equal(count, rows) == false)
    return fail("index",
                "there are " + print(count) + " indices for " + print(rows) + " rows of src");
  Val r = input;
  r.value = Value();
  results.push_back(r);
  return true;
}

} // namespace pypto::importer
