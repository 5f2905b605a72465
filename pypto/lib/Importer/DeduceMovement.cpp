//===- DeduceMovement.cpp - loads, stores, windows, views -----------------===//
#include "ConstantRange.h"
#include "Walker.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

static std::optional<MemorySpace> spaceOf(llvm::StringRef member) {
  return llvm::StringSwitch<std::optional<MemorySpace>>(member)
      .Case("vec", MemorySpace::Vec)
      .Case("mat", MemorySpace::Mat)
      .Case("left", MemorySpace::Left)
      .Case("right", MemorySpace::Right)
      .Case("acc", MemorySpace::Acc)
      .Case("bias", MemorySpace::Bias)
      .Case("leftscale", MemorySpace::LeftScale)
      .Case("rightscale", MemorySpace::RightScale)
      .Default(std::nullopt);
}

bool Walker::deduceMove(Bound &bound, std::vector<Val> &results) {
  llvm::StringRef op = llvm::StringRef(bound.signature->op->name).drop_front(6);
  std::string function = "pl." + bound.name;
  // Lists must have the rank of the value that they index.
  auto list = [&](const char *name, const Val &of, std::vector<Affine> &forms,
                  std::vector<Val> *values = nullptr, bool constant = false) {
    if (!integers(bound[name], bound.at(name), function + ": " + name, forms, values, constant))
      return false;
    if (forms.size() != of.rank()) {
      invalid(bound.at(name), function + ": '" + name + "' has " + llvm::Twine(forms.size()) +
                                  " elements, the rank is " + llvm::Twine(of.rank()));
      return false;
    }
    return true;
  };
  auto memory = [&](MemorySpace otherwise, MemorySpace &space) {
    space = otherwise;
    if (!bound.has("target_memory"))
      return true;
    auto member = enumArgument(bound["target_memory"], "MemorySpace", bound.at("target_memory"),
                               "target_memory");
    if (!member)
      return false;
    auto known = spaceOf(*member);
    if (!known) {
      invalid(bound.at("target_memory"), function + ": a tile cannot live in this memory",
              "use Vec, Mat, Left, Right, Acc or Bias");
      return false;
    }
    space = *known;
    return true;
  };

  if (op == "load") {
    Val tensor;
    if (!shapedArgument(bound, "tensor", tensor))
      return false;
    if (tensor.kind != Val::Tensor || !tensor.gm) {
      typeError(bound.at("tensor"), function + " reads global memory, this is " + describe(tensor),
                "use pl.slice on values, pl.move between memories");
      return false;
    }
    std::vector<Affine> shapes, offsets, wanted;
    std::vector<Val> offsetValues;
    if (!list("offsets", tensor, offsets, &offsetValues) ||
        !list("shapes", tensor, shapes, nullptr, true))
      return false;
    for (const Affine &a : shapes)
      if (a.constant <= 0) {
        invalid(bound.at("shapes"),
                function + ": extent " + llvm::Twine(a.constant) + " is not positive");
        return false;
      }
    wanted = shapes;
    if (bound.has("valid_shape")) {
      wanted.clear();
      if (!list("valid_shape", tensor, wanted))
        return false;
      for (size_t i = 0; i < shapes.size(); ++i)
        if (symbols.lessEqual(wanted[i], shapes[i]) == false) {
          invalid(bound.at("valid_shape"),
                  function + ": valid_shape is larger than the window in axis " + llvm::Twine(i));
          return false;
        }
    }
    bool clamp = bound["clamp"].boolean().value_or(false);
    if (!clamp && !checkWindow(*bound.call, "load", tensor, offsetValues, wanted))
      return false;
    MemorySpace space;
    if (!memory(MemorySpace::Vec, space))
      return false;
    if (space != MemorySpace::Vec && space != MemorySpace::Mat) {
      invalid(bound.at("target_memory"), function + " goes to Vec or Mat",
              "load into Mat, then pl.move to the cube's memories");
      return false;
    }
    bool scales = tensor.layout == TensorLayout::MXA || tensor.layout == TensorLayout::MXB;
    if (scales && space != MemorySpace::Mat) {
      invalid(*bound.call, function + ": scales are loaded to Mat",
              "pass target_memory=pl.MemorySpace.Mat");
      return false;
    }
    if (!scales && tensor.dtype == DType::FP8E8M0 && space == MemorySpace::Mat) {
      invalid(bound.at("tensor"), function + ": a tensor of scales says how they lie in memory",
              "annotate it with pl.MX_A_ZZ (of lhs) or pl.MX_B_NN (of rhs)");
      return false;
    }
    std::vector<Affine> valid = wanted;
    for (size_t i = 0; i < shapes.size(); ++i)
      if (clamp || tensor.valid[i] != tensor.shape[i])
        valid[i] = symbols.min(wanted[i],
                               symbols.max(Affine(0), symbols.sub(tensor.valid[i], offsets[i])));
    Val r = shaped(Val::Tile, tensor.dtype, shapes, valid);
    r.space = space;
    r.transposed = tensor.layout == TensorLayout::MXB;
    results.push_back(r);
    return true;
  }
  if (op == "store" || op == "assemble") {
    const char *sourceName = op == "store" ? "tile" : "source",
               *targetName = op == "store" ? "output_tensor" : "target",
               *offsetName = op == "store" ? "offsets" : "offset";
    Val source, target;
    if (!shapedArgument(bound, sourceName, source) || !shapedArgument(bound, targetName, target))
      return false;
    if (op == "store" && (target.kind != Val::Tensor || !target.gm)) {
      typeError(bound.at(targetName),
                function + " writes global memory, this is " + describe(target),
                "use pl.assemble to write into a tile");
      return false;
    }
    bool narrows = source.space == MemorySpace::Acc || source.dtype == DType::FP32;
    bool narrowing = narrows && (target.dtype == DType::BF16 || target.dtype == DType::FP16) &&
                     source.dtype == DType::FP32 && source.space == MemorySpace::Acc;
    if (source.dtype != target.dtype && !narrowing) {
      typeError(*bound.call,
                function + ": the source has " + nameOf(source.dtype) + " elements, the target " +
                    nameOf(target.dtype),
                "convert it: pl.cast(x, pl." + nameOf(target.dtype).str() + ")");
      return false;
    }
    std::vector<Affine> offsets;
    std::vector<Val> offsetValues;
    if (!list(offsetName, target, offsets, &offsetValues))
      return false;
    // The window in axes of the target: where ranks differ, `shapes` names it, dropped axes have
    // extent 1, and leading axes of extent 1 may be missing.
    std::vector<Affine> extents(target.rank(), Affine(1));
    std::vector<int64_t> dropped;
    for (const Val &axis : bound["$drop_dims"].items)
      dropped.push_back(*axis.integer());
    if (op == "store" && bound.has("shapes")) {
      extents.clear();
      if (!list("shapes", target, extents, nullptr, true))
        return false;
      for (size_t i = 0; i < source.rank() && i < extents.size(); ++i) {
        size_t s = source.rank() - 1 - i, t = extents.size() - 1 - i;
        if (extents[t] == source.shape[s])
          extents[t] = source.valid[s];
      }
    } else if (source.rank() + dropped.size() == target.rank()) {
      for (size_t axis = 0, i = 0; axis < target.rank(); ++axis)
        if (!llvm::is_contained(dropped, int64_t(axis)))
          extents[axis] = source.valid[i++];
    } else if (source.rank() < target.rank()) {
      for (size_t i = 0; i < source.rank(); ++i)
        extents[target.rank() - source.rank() + i] = source.valid[i];
    } else {
      size_t extra = source.rank() - target.rank();
      for (size_t i = 0; i < extra; ++i)
        if (source.shape[i] != Affine(1)) {
          invalid(*bound.call,
                  function + ": the source has rank " + llvm::Twine(source.rank()) +
                      ", the target " + llvm::Twine(target.rank()),
                  "use pl.reshape");
          return false;
        }
      for (size_t i = 0; i < target.rank(); ++i)
        extents[i] = source.valid[extra + i];
    }
    if (!checkWindow(*bound.call, op, target, offsetValues, extents))
      return false;
    if (bound.has("atomic")) {
      auto member = enumArgument(bound["atomic"], "AtomicType", bound.at("atomic"), "atomic");
      if (!member)
        return false;
      if (*member == "add") {
        if (!target.gm) {
          invalid(bound.at("atomic"), function + ": atomic applies to tensors in global memory");
          return false;
        }
        static const std::set<DType> atomicTypes = {DType::FP32,  DType::BF16,  DType::FP16,
                                                    DType::Int32, DType::Int16, DType::Int8};
        if (!atomicTypes.count(target.dtype)) {
          typeError(bound.at("atomic"),
                    function + ": atomic add does not take " + nameOf(target.dtype) + " elements");
          return false;
        }
      }
    }
    Val r = target;
    r.value = Value();
    // A write on chip may let the valid rectangle grow along one axis.
    if (!target.gm && target.valid != target.shape) {
      std::vector<Affine> grown = target.valid;
      int axes = 0;
      for (size_t i = 0; i < target.rank(); ++i) {
        grown[i] = symbols.max(target.valid[i], symbols.add(offsets[i], extents[i]));
        axes += grown[i] != target.valid[i];
      }
      if (axes > 1) {
        invalid(*bound.call,
                function + ": the valid region [" + print(target.valid) +
                    "] would not stay a rectangle",
                "write full rows or full columns next to the valid region, or start from pl.full");
        return false;
      }
      r.valid = grown;
    }
    results.push_back(r);
    return true;
  }
  if (op == "move") {
    Val tile;
    if (!shapedArgument(bound, "tile", tile))
      return false;
    Val r = resultLike(tile, tile.dtype);
    r.kind = Val::Tile;
    r.transposed = false;
    if (!memory(MemorySpace::Vec, r.space))
      return false;
    results.push_back(r);
    return true;
  }
  if (op == "extract") {
    Val src;
    if (!shapedArgument(bound, "src", src, 2, 2))
      return false;
    std::vector<Affine> shape;
    if (!list("shape", src, shape, nullptr, true))
      return false;
    std::vector<Val> offsets{bound["r"], bound["c"]};
    for (const Val &o : offsets)
      if (!o.isScalar() || !isInteger(o.dtype)) {
        typeError(*bound.call, function + ": offsets are integers, not " + describe(o));
        return false;
      }
    if (!checkWindow(*bound.call, "extract", src, offsets, shape))
      return false;
    Val r = shaped(Val::Tile, src.dtype, shape);
    if (!memory(MemorySpace::Left, r.space))
      return false;
    results.push_back(r);
    return true;
  }
  if (op == "gather_row") {
    Val dst, src;
    if (!shapedArgument(bound, "dst", dst) || !shapedArgument(bound, "src", src))
      return false;
    if (dst.dtype != src.dtype) {
      typeError(*bound.call, function + ": element types differ, " + nameOf(dst.dtype) + " and " +
                                 nameOf(src.dtype));
      return false;
    }
    std::vector<Affine> window, valid, fromForms, intoForms;
    std::vector<Val> from, into;
    if (!list("shapes", src, window, nullptr, true) || !list("src_offset", src, fromForms, &from) ||
        !list("dst_offset", dst, intoForms, &into))
      return false;
    valid = window;
    if (bound.has("valid_shape")) {
      valid.clear();
      if (!list("valid_shape", src, valid))
        return false;
    }
    for (size_t i = 0; i < window.size(); ++i)
      if (symbols.lessEqual(valid[i], window[i]) == false) {
        invalid(bound.at("valid_shape"), function + ": valid_shape [" + print(valid) +
                                             "] is larger than shapes [" + print(window) + "]");
        return false;
      }
    if (!checkWindow(*bound.call, function + ": source", src, from, valid))
      return false;
    if (bound["transpose"].boolean().value_or(false) && window.size() == 2)
      std::swap(valid[0], valid[1]);
    if (dst.rank() == valid.size() &&
        !checkWindow(*bound.call, function + ": destination", dst, into, valid))
      return false;
    Val r = dst;
    r.value = Value();
    results.push_back(r);
    return true;
  }
  // read, write
  const char *bufferName = op == "read" ? "src" : "dst";
  Val buffer;
  if (!shapedArgument(bound, bufferName, buffer))
    return false;
  std::vector<Affine> indices;
  if (!integers(bound["idx"], bound.at("idx"), function + ": idx", indices))
    return false;
  if (indices.size() != buffer.rank()) {
    invalid(bound.at("idx"),
            function + ": " + llvm::Twine(indices.size()) + " indices for " + describe(buffer),
            "give one index per axis");
    return false;
  }
  for (size_t i = 0; i < indices.size(); ++i)
    if (symbols.lessEqual(Affine(0), indices[i]) == false ||
        symbols.lessEqual(buffer.shape[i], indices[i]) == true) {
      invalid(bound.at("idx"),
              function + ": index " + llvm::Twine(i) + " is outside " + describe(buffer));
      return false;
    }
  if (op == "read") {
    Affine form;
    if (isInteger(buffer.dtype)) {
      unsigned bits = bitsOf(buffer.dtype);
      Bounds range;
      if (isSigned(buffer.dtype) && bits < 64)
        range = {-(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1};
      else if (!isSigned(buffer.dtype))
        range = {0, bits < 64 ? std::optional<int64_t>((int64_t(1) << bits) - 1) : std::nullopt};
      form = symbols.fresh(range);
    }
    results.push_back(scalar(Value(), buffer.dtype, form));
    return true;
  }
  Val &value = argument(bound, "value");
  if (value.isConstant() && !fits(value, buffer.dtype)) {
    invalid(bound.at("value"),
            function + ": " + std::to_string(*value.integer()) + " does not fit into the " +
                nameOf(buffer.dtype) + " elements",
            "their range is " + rangeOf(buffer.dtype));
    return false;
  }
  if (value.isConstant() && (value.dtype == DType::Index || value.dtype == DType::FP32) &&
      !(isFloat(value.dtype) && !isFloat(buffer.dtype)))
    value = castScalar(value, buffer.dtype, locationOf(bound.at("value")));
  if (!value.isScalar() || !compatible(value.dtype, buffer.dtype)) {
    typeError(bound.at("value"),
              function + ": the value is " + describe(value) + ", the elements are " +
                  nameOf(buffer.dtype),
              "convert it: pl.cast(x, pl." + nameOf(buffer.dtype).str() + ")");
    return false;
  }
  value = castScalar(value, buffer.dtype, locationOf(bound.at("value")));
  Val r = buffer;
  r.value = Value();
  results.push_back(r);
  return true;
}

bool Walker::deduceReshape(Bound &bound, std::vector<Val> &results) {
  llvm::StringRef op = llvm::StringRef(bound.signature->op->name).drop_front(6);
  std::string function = "pl." + bound.name;
  if (op == "concat") {
    Val a, c;
    if (!shapedArgument(bound, "a", a, 2, 2) || !shapedArgument(bound, "b", c, 2, 2))
      return false;
    if (a.dtype != c.dtype || symbols.equal(a.shape[0], c.shape[0]) == false) {
      invalid(*bound.call, function +
                               " joins columns of the same rows and element type; these are " +
                               describe(a) + " and " + describe(c));
      return false;
    }
    if (a.valid[1] != a.shape[1]) {
      invalid(*bound.call,
              function + ": the columns of the first operand are only valid up to " +
                  print(a.valid[1]) + ", the result would have a gap",
              "use pl.fillpad first");
      return false;
    }
    Val r = resultLike(a, a.dtype);
    if (c.kind == Val::Tile)
      r.kind = Val::Tile;
    r.shape[1] = symbols.add(a.shape[1], c.shape[1]);
    r.valid[1] = symbols.add(a.valid[1], c.valid[1]);
    r.valid[0] = symbols.min(a.valid[0], c.valid[0]);
    results.push_back(r);
    return true;
  }
  Val x;
  if (!shapedArgument(bound, "x", x))
    return false;
  Val r = resultLike(x, x.dtype);
  if (op == "reshape" || (op == "view" && bound.has("shape"))) {
    std::vector<Affine> shape;
    if (!integers(bound["shape"], bound.at("shape"), function + ": shape", shape, nullptr,
                  context.inKernel && !x.gm))
      return false;
    if (shape.empty() || shape.size() > 5) {
      invalid(bound.at("shape"), function + ": a shape has 1 to 5 extents");
      return false;
    }
    Affine before(1), after(1);
    for (const Affine &a : x.shape)
      before = symbols.mul(before, a);
    for (const Affine &a : shape)
      after = symbols.mul(after, a);
    for (const Affine &a : shape)
      if (a.isConstant() && a.constant <= 0) {
        invalid(bound.at("shape"),
                function + ": extent " + llvm::Twine(a.constant) + " is not positive",
                "every extent is written out; -1 is not inferred");
        return false;
      }
    if (symbols.equal(before, after) == false) {
      invalid(*bound.call,
              function + ": [" + print(x.shape) + "] has " + print(before) + " elements, [" +
                  print(shape) + "] has " + print(after),
              "a reshape keeps the number of elements");
      return false;
    }
    r.shape = shape;
    r.valid = shape;
    if (x.valid != x.shape) {
      // Real data must stay a rectangle at the origin: extents of 1 come and go, other axes keep
      // their order, or only the leading axis is partial and rows are merged or divided evenly.
      std::vector<std::pair<Affine, Affine>> real;
      for (size_t i = 0; i < x.rank(); ++i)
        if (x.shape[i] != Affine(1))
          real.emplace_back(x.shape[i], x.valid[i]);
      size_t next = 0;
      bool sameAxes = true;
      std::vector<Affine> valid;
      for (const Affine &a : shape) {
        if (a == Affine(1)) {
          valid.push_back(Affine(1));
        } else if (next < real.size() && real[next].first == a) {
          valid.push_back(real[next++].second);
        } else {
          sameAxes = false;
          break;
        }
      }
      for (size_t i = 0; i < x.rank(); ++i)
        sameAxes &= x.shape[i] != Affine(1) || x.valid[i] == Affine(1);
      if (sameAxes && next == real.size()) {
        r.valid = valid;
      } else {
        size_t lead = 0;
        while (lead + 1 < x.rank() && x.shape[lead] == Affine(1))
          ++lead;
        bool onlyLead = true;
        Affine row(1), newRow(1);
        for (size_t i = lead + 1; i < x.rank(); ++i) {
          onlyLead &= x.valid[i] == x.shape[i];
          row = symbols.mul(row, x.shape[i]);
        }
        size_t newLead = 0;
        while (newLead + 1 < shape.size() && shape[newLead] == Affine(1))
          ++newLead;
        for (size_t i = newLead + 1; i < shape.size(); ++i)
          newRow = symbols.mul(newRow, shape[i]);
        Affine count = symbols.mul(x.valid[lead], row);
        bool divides = onlyLead && newRow.isConstant() && newRow.constant > 0 &&
                       symbols.floorMod(count, newRow) == Affine(0);
        if (!divides) {
          invalid(*bound.call,
                  function + ": only [" + print(x.valid) + "] of [" + print(x.shape) +
                      "] is valid, which is no rectangle of [" + print(shape) + "]",
                  "use pl.fillpad before the reshape");
          return false;
        }
        r.valid[newLead] = symbols.floorDiv(count, newRow);
      }
    }
    r.space = x.space == MemorySpace::Acc ? MemorySpace::None : x.space;
  }
  if (op == "view") {
    if (x.kind != Val::Tensor || !x.gm) {
      typeError(bound.at("x"),
                function + " is for tensors in global memory, this is " + describe(x),
                "use pl.reshape");
      return false;
    }
    if (!x.strides.empty()) {
      invalid(bound.at("x"), function + ": the tensor is a window with gaps, it has no other view");
      return false;
    }
    if (bound.has("valid_shape")) {
      std::vector<Affine> valid;
      if (!integers(bound["valid_shape"], bound.at("valid_shape"), "valid_shape", valid))
        return false;
      if (valid.size() != r.rank()) {
        invalid(bound.at("valid_shape"),
                function + ": valid_shape has another rank than the shape");
        return false;
      }
      r.valid = valid;
    }
    if (bound.has("layout")) {
      auto layout = enumArgument(bound["layout"], "TensorLayout", bound.at("layout"), "layout");
      if (!layout)
        return false;
      if (*layout != "nd" && *layout != "dn") {
        invalid(bound.at("layout"), function + ": a view is ND or DN");
        return false;
      }
      r.layout = *layout == "dn" ? TensorLayout::DN : TensorLayout::ND;
    }
  } else if (op == "reinterpret_view") {
    auto type = dtypeArgument(bound, "dtype");
    if (!type)
      return false;
    r.dtype = *type;
    if (bound.has("shape")) {
      std::vector<Affine> shape;
      if (!integers(bound["shape"], bound.at("shape"), "shape", shape, nullptr, true))
        return false;
      r.shape = shape;
    } else {
      Affine bits = symbols.mul(x.shape.back(), Affine(bitsOf(x.dtype)));
      if (symbols.floorMod(bits, Affine(bitsOf(*type))) != Affine(0)) {
        invalid(*bound.call, function + ": rows of [" + print(x.shape) + "] " + nameOf(x.dtype) +
                                 " do not divide into " + nameOf(*type));
        return false;
      }
      r.shape.back() = symbols.floorDiv(bits, Affine(bitsOf(*type)));
    }
    if (x.valid != x.shape) {
      invalid(*bound.call, function + ": only [" + print(x.valid) + "] of the value is valid",
              "use pl.fillpad first");
      return false;
    }
    Affine before(bitsOf(x.dtype)), after(bitsOf(r.dtype));
    for (const Affine &a : x.shape)
      before = symbols.mul(before, a);
    for (const Affine &a : r.shape)
      after = symbols.mul(after, a);
    if (symbols.equal(before, after) == false) {
      invalid(*bound.call, function + ": the sizes in bytes differ");
      return false;
    }
    r.valid = r.shape;
  } else if (op == "transpose" || op == "transpose_view") {
    size_t first = x.rank() < 2 ? 0 : x.rank() - 2, second = first + 1;
    if (x.rank() < 2) {
      invalid(*bound.call, function + " needs rank 2 or more, this is " + describe(x));
      return false;
    }
    if (op == "transpose") {
      for (auto [name, axis] : {std::pair("axis1", &first), std::pair("axis2", &second)}) {
        auto number = axisArgument(bound, name, x);
        if (!number)
          return false;
        *axis = *number;
      }
      if (first == second) {
        invalid(*bound.call, function + ": the axes must differ");
        return false;
      }
    } else {
      r.space = x.space;
      r.transposed = !x.transposed;
    }
    std::swap(r.shape[first], r.shape[second]);
    std::swap(r.valid[first], r.valid[second]);
  } else if (op == "set_validshape") {
    if (x.rank() != 2) {
      invalid(*bound.call, function + " needs a 2-D value, this is " + describe(x));
      return false;
    }
    size_t axis = 0;
    for (const char *name : {"rows", "cols"}) {
      const Val &v = bound[name];
      if (!v.isScalar() || !isInteger(v.dtype)) {
        typeError(bound.at(name), function + ": '" + name + "' is an integer, not " + describe(v));
        return false;
      }
      if (symbols.lessEqual(Affine(0), v.affine) == false ||
          symbols.lessEqual(v.affine, x.shape[axis]) == false) {
        invalid(bound.at(name),
                function + ": '" + name + "' is outside 0 to " + print(x.shape[axis]));
        return false;
      }
      r.valid[axis++] = v.affine;
    }
    r.space = x.space;
  } else if (op == "fillpad" || op == "fillpad_expand") {
    if (op == "fillpad_expand") {
      std::vector<Affine> shape;
      if (!integers(bound["shape"], bound.at("shape"), "shape", shape, nullptr, true))
        return false;
      bool fits = shape.size() == x.rank();
      for (size_t i = 0; fits && i < shape.size(); ++i)
        fits = symbols.lessEqual(x.shape[i], shape[i]) != false;
      if (!fits) {
        invalid(bound.at("shape"),
                function + ": [" + print(shape) + "] is not at least [" + print(x.shape) + "]");
        return false;
      }
      r.shape = shape;
    }
    r.valid = r.shape;
    r.space = x.space;
  }
  results.push_back(r);
  return true;
}

} // namespace pypto::importer
