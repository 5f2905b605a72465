//===- Subscripts.cpp - windows of tensors, tiles and arrays --------------===//
//
// `x[i, a:b]` is a window: a scalar index drops its axis, a slice keeps it. Extents
// are differences of affine forms, so that `x[i*T : i*T+T]` has the constant extent T.
//
//===----------------------------------------------------------------------===//
#include "Walker.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

bool Walker::parseWindow(const Node &subscript, const Val &base, Window &window) {
  const Node &index = *subscript.get("slice");
  std::vector<const Node *> items;
  if (index.kind == "Tuple")
    for (const auto &item : index.list("elts"))
      items.push_back(item.get());
  else
    items.push_back(&index);
  if (items.size() > base.rank()) {
    typeError(index, "too many indices: " + llvm::Twine(items.size()) + " for " + describe(base));
    return false;
  }
  bool good = true;
  for (size_t axis = 0; axis < base.rank(); ++axis) {
    const Node *item = axis < items.size() ? items[axis] : nullptr;
    const Node &at = item ? *item : index;
    Location loc = locationOf(at);
    if (!item || item->kind == "Slice") {
      window.allScalar = false;
      if (item && item->get("step")) {
        unsupported(*item->get("step"), "a subscript cannot have a step",
                    "use pl.gather with a mask pattern, or a loop");
        good = false;
        continue;
      }
      Val lower = item && item->get("lower") ? expr(*item->get("lower")) : constantInt(0);
      Val upper =
          item && item->get("upper") ? expr(*item->get("upper")) : dimension(base, axis, loc);
      bool integers = true;
      for (auto [bound, field] : {std::pair(&lower, "lower"), std::pair(&upper, "upper")}) {
        if (bound->isUnknown()) {
          integers = false;
        } else if (!bound->isScalar() || !isInteger(bound->dtype)) {
          typeError(item && item->get(field) ? *item->get(field) : at,
                    "a bound of a slice is an integer, not " + describe(*bound));
          integers = false;
        }
      }
      if (!integers) {
        good = false;
        continue;
      }
      Val size = scalarBinary(at, "Sub", castScalar(upper, DType::Index, loc),
                              castScalar(lower, DType::Index, loc));
      // `x[a:]` with a = 0 keeps the symbol of the extent.
      if (lower.integer() == 0)
        size = castScalar(upper, DType::Index, loc);
      if (auto known = size.integer(); known && *known <= 0) {
        invalid(at, "the window is empty: its extent is " + llvm::Twine(*known));
        good = false;
        continue;
      }
      window.offsets.push_back(castScalar(lower, DType::Index, loc));
      window.sizes.push_back(size);
      continue;
    }
    if (item->kind == "Constant" &&
        (item->constantType == "ellipsis" || item->constantType == "NoneType")) {
      unsupported(*item,
                  item->constantType == "ellipsis" ? "`...` in a subscript is not supported"
                                                   : "None in a subscript is not supported",
                  "name each axis, or use pl.reshape");
      good = false;
      continue;
    }
    Val value = expr(*item);
    if (value.isUnknown()) {
      good = false;
      continue;
    }
    if (!value.isScalar() || !isInteger(value.dtype)) {
      if (value.kind == Val::Tuple || value.isShaped() ||
          (value.isScalar() && value.dtype == DType::Bool))
        unsupported(
            *item,
            "a subscript is an integer or a slice; masks and lists of indices are not supported",
            "use pl.gather");
      else
        typeError(*item, "a subscript is an integer or a slice, not " + describe(value));
      good = false;
      continue;
    }
    window.offsets.push_back(castScalar(value, DType::Index, loc));
    window.sizes.push_back(constantInt(1));
    window.dropped.push_back(axis);
  }
  return good;
}

bool Walker::checkWindow(const Node &at, llvm::StringRef what, const Val &base,
                         llvm::ArrayRef<Val> offsets, llvm::ArrayRef<Affine> extents) {
  for (size_t axis = 0; axis < base.rank(); ++axis) {
    const Affine &offset = offsets[axis].affine;
    Bounds range = symbols.bounds(offset);
    if (range.high && *range.high < 0) {
      invalid(at,
              what + ": offset " +
                  (offset.isConstant() ? std::to_string(offset.constant)
                                       : std::string("(always negative)")) +
                  " of axis " + std::to_string(axis) + " is negative",
              "offsets count from the start; a negative one is not counted from the end");
      return false;
    }
    Affine end = symbols.add(offset, extents[axis]);
    if (symbols.lessEqual(end, base.shape[axis]) == false) {
      std::string where =
          end.isConstant() && offset.isConstant()
              ? "[" + std::to_string(offset.constant) + ", " + std::to_string(end.constant) + ")"
              : std::string("window");
      invalid(at,
              what + ": " + where + " leaves axis " + std::to_string(axis) + " of " +
                  describe(base),
              "shrink the window, or give valid_shape for the part that exists");
      return false;
    }
  }
  return true;
}

Val Walker::subscript(const Node &node) {
  Val base = expr(*node.get("value"));
  if (base.isUnknown())
    return base;
  return subscriptOf(node, base);
}

Val Walker::subscriptOf(const Node &node, const Val &base) {
  const Node &index = *node.get("slice");
  if (base.kind == Val::Tuple) {
    Val position = expr(index);
    if (position.isUnknown())
      return position;
    auto known = position.integer();
    if (!known)
      return typeError(index, "the index of a tuple is an integer constant");
    int64_t i = *known < 0 ? *known + int64_t(base.items.size()) : *known;
    if (i < 0 || i >= int64_t(base.items.size()))
      return typeError(index, "index " + llvm::Twine(*known) + " is outside a tuple of " +
                                  llvm::Twine(base.items.size()));
    return base.items[i];
  }
  if (base.kind == Val::Array) {
    if (index.kind == "Tuple" || index.kind == "Slice")
      return typeError(index, "an array takes one integer index");
    Val position = expr(index);
    if (position.isUnknown())
      return position;
    return buildOp("array.get_element", node, {{"arr", base}, {"i", position}}, {{"i", &index}});
  }
  if (!base.isShaped())
    return typeError(node, describe(base) + " cannot be indexed");
  Window window;
  if (!parseWindow(node, base, window))
    return Val();
  if (window.allScalar)
    return buildOp("read", node, {{"src", base}, {"idx", tuple(window.offsets)}});
  return slice(node, base, window, nullptr, false, "");
}

Val Walker::slice(const Node &at, const Val &base, const Window &window,
                  const std::vector<Val> *requested, bool clamp, llvm::StringRef padValue) {
  size_t rank = base.rank();
  bool onChip = context.inKernel || base.kind == Val::Tile || !base.gm;
  std::vector<Affine> sizes, wanted;
  for (size_t i = 0; i < rank; ++i) {
    const Val &size = window.sizes[i];
    if (onChip && !size.affine.isConstant()) {
      askToBake(size);
      return invalid(at,
                     "slice: the extent of axis " + llvm::Twine(i) +
                         " is known at run time only, a tile needs a constant shape",
                     "take a constant window and give the run-time extent as valid_shape");
    }
    if (size.affine.isConstant() && size.affine.constant <= 0)
      return invalid(at, "slice: extent " + llvm::Twine(size.affine.constant) + " of axis " +
                             llvm::Twine(i) + " is not positive");
    sizes.push_back(size.affine);
    wanted.push_back(requested ? (*requested)[i].affine : size.affine);
    if (requested && symbols.lessEqual(wanted[i], sizes[i]) == false)
      return invalid(at, "slice: valid_shape is larger than the window in axis " + llvm::Twine(i),
                     "the window has " + print(sizes[i]) + ", valid_shape asks for " +
                         print(wanted[i]));
    if (requested && symbols.lessEqual(Affine(0), wanted[i]) == false)
      return invalid(at, "slice: valid_shape is negative in axis " + llvm::Twine(i));
  }
  if (!clamp && !checkWindow(at, "slice", base, window.offsets, wanted))
    return Val();
  if (clamp) // the window must at least begin inside
    for (size_t i = 0; i < rank; ++i)
      if (symbols.bounds(window.offsets[i].affine).high.value_or(0) < 0)
        return invalid(at, "slice: offset of axis " + llvm::Twine(i) + " is negative");

  std::vector<Affine> valid = wanted;
  bool narrowed = false;
  for (size_t i = 0; i < rank; ++i)
    if (clamp || base.valid[i] != base.shape[i]) {
      Affine left = symbols.max(Affine(0), symbols.sub(base.valid[i], window.offsets[i].affine));
      valid[i] = symbols.min(wanted[i], left);
      narrowed |= valid[i] != wanted[i];
    }

  Val type = shaped(base.kind, base.dtype, sizes, valid);
  if (!checkSize(at, "slice", type))
    return Val();
  for (auto it = window.dropped.rbegin(); it != window.dropped.rend(); ++it) {
    type.shape.erase(type.shape.begin() + *it);
    type.valid.erase(type.valid.begin() + *it);
  }
  if (type.shape.empty())
    return invalid(at, "slice: every axis is dropped", "use pl.read for one element");
  if (base.kind == Val::Tile && type.rank() < 2) {
    type.shape.insert(type.shape.begin(), Affine(1));
    type.valid.insert(type.valid.begin(), Affine(1));
  }
  type.layout = base.layout;
  type.space = base.space == MemorySpace::Acc ? MemorySpace::None : base.space;
  type.transposed = base.transposed;

  Location loc = locationOf(at);
  OpParts parts;
  parts.groups["input"].push_back(base.value);
  auto addIndices = [&](const char *group, llvm::ArrayRef<Val> list) {
    for (const Val &v : list)
      parts.groups[group].push_back(materialise(castScalar(v, DType::Index, loc), loc));
  };
  addIndices("shape", window.sizes);
  addIndices("offset", window.offsets);
  bool allConstant = llvm::all_of(valid, [](const Affine &a) { return a.isConstant(); });
  if (narrowed && allConstant) { // say it outright
    std::vector<Val> constants;
    for (const Affine &a : valid)
      constants.push_back(constantInt(a.constant));
    addIndices("valid_shape", constants);
  } else {
    if (requested)
      addIndices("valid_shape", *requested);
    if (clamp)
      parts.attributes.push_back(b.getNamedAttr("clamp", b.getBoolAttr(true)));
  }
  if (!window.dropped.empty())
    parts.attributes.push_back(b.getNamedAttr("drop_dims", b.getDenseI64ArrayAttr(window.dropped)));
  if (!padValue.empty())
    parts.attributes.push_back(b.getNamedAttr("pad_value", b.getStringAttr(padValue)));

  bool asView = base.gm && !context.inKernel;
  if (asView) {
    std::vector<int64_t> strides = base.strides;
    if (strides.empty()) {
      int64_t stride = 1;
      strides.assign(rank, 0);
      for (size_t i = rank; i-- > 0;) {
        strides[i] = stride;
        if (stride != ShapedType::kDynamic)
          stride =
              base.shape[i].isConstant() ? stride * base.shape[i].constant : ShapedType::kDynamic;
      }
    }
    for (auto it = window.dropped.rbegin(); it != window.dropped.rend(); ++it)
      strides.erase(strides.begin() + *it);
    int64_t packed = 1;
    bool isPacked = true;
    for (size_t i = type.rank(); i-- > 0;) {
      isPacked &= strides[i] == packed || type.shape[i] == Affine(1);
      if (!type.shape[i].isConstant()) {
        isPacked &= i == 0;
        packed = ShapedType::kDynamic;
      } else if (packed != ShapedType::kDynamic) {
        packed *= type.shape[i].constant;
      }
    }
    if (!isPacked)
      type.strides = strides;
  }
  Operation *op = create("slice", loc, parts, typeOf(type));
  Val result = finish(type, op->getResult(0));
  if (asView) {
    result.root = base.root;
    result.gm = true;
    result.view = true;
  }
  return result;
}

bool Walker::storeSubscript(const Node &target, const Val &source, const Node &statement) {
  const Node &baseNode = *target.get("value");
  if (baseNode.kind != "Name") {
    syntax(target, "the target of a subscript assignment is a plain name",
           "bind the view to a name first");
    return false;
  }
  Val base = name(baseNode);
  if (base.isUnknown() || source.isUnknown())
    return false;
  if (frame->strictSsa) {
    error(ErrorKind::SSAViolation, target,
          "'" + baseNode.str("id") + "' is written by subscript in a function with strict_ssa=True",
          "use " + baseNode.str("id") + "_2 = pl.assemble(…)");
    return false;
  }
  const Node &index = *target.get("slice");
  if (base.kind == Val::Array) {
    Val position = expr(index);
    Val result =
        buildOp("array.update_element", target, {{"arr", base}, {"i", position}, {"v", source}},
                {{"i", &index}, {"v", &statement}});
    if (result.isUnknown())
      return false;
    frame->vars[baseNode.str("id")] = result;
    return true;
  }
  if (!base.isShaped()) {
    typeError(target, describe(base) + " cannot be written by subscript");
    return false;
  }
  Window window;
  if (!parseWindow(target, base, window))
    return false;
  if (window.allScalar) {
    typeError(target, "one element of a tensor or tile cannot be written by subscript",
              "use pl.write(" + baseNode.str("id") + ", [index, …], value)");
    return false;
  }
  if (!source.isShaped()) {
    typeError(statement, "a window takes a tensor or tile, not " + describe(source),
              "use pl.full(…) for a constant");
    return false;
  }
  size_t kept = base.rank() - window.dropped.size();
  std::vector<int64_t> dropped = window.dropped;
  Val value = source;
  if (value.rank() != kept) {
    if (value.rank() == base.rank()) {
      dropped.clear(); // the source keeps the unit axes
    } else {
      typeError(statement,
                "the window has " + llvm::Twine(kept) + " axes, the source has " +
                    llvm::Twine(value.rank()) + ": " + describe(value),
                "use pl.reshape to add or remove axes of extent 1");
      return false;
    }
  }
  for (size_t axis = 0, i = 0; axis < base.rank(); ++axis) {
    if (llvm::is_contained(dropped, int64_t(axis)))
      continue;
    const Affine &extent = window.sizes[axis].affine;
    if (symbols.equal(extent, value.shape[i]) == false &&
        symbols.equal(extent, value.valid[i]) == false) {
      typeError(
          statement,
          "the window is [" +
              print(llvm::map_to_vector(window.sizes, [](const Val &v) { return v.affine; })) +
              "], the source is " + describe(value),
          "extents of the window and the source must agree");
      return false;
    }
    ++i;
  }
  Val result = buildOp("assemble", statement,
                       {{"target", base},
                        {"source", value},
                        {"offset", tuple(window.offsets)},
                        {"$drop_dims", tuple([&] {
                           std::vector<Val> list;
                           for (int64_t axis : dropped)
                             list.push_back(constantInt(axis));
                           return list;
                         }())}});
  if (result.isUnknown())
    return false;
  frame->vars[baseNode.str("id")] = result;
  return true;
}

} // namespace pypto::importer
