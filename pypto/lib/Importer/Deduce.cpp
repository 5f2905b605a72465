//===- Deduce.cpp - result types: dispatch, creation, system --------------===//
//
// One deducer per family of ops. It checks element types, ranks, shapes and valid
// extents (spec/dsl.md 6.6, 17), converts scalar operands to the element type, and
// gives the result types.
//
//===----------------------------------------------------------------------===//
#include "ConstantRange.h"
#include "Extents.h"
#include "Walker.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

bool Walker::shapedArgument(Bound &bound, const char *parameter, Val &out, size_t minRank,
                            size_t maxRank) {
  const Val &v = bound[parameter];
  if (!v.isShaped()) {
    typeError(bound.at(parameter), "pl." + bound.name + ": '" + parameter + "' is " + describe(v) +
                                       "; it takes a tensor or tile");
    return false;
  }
  if (v.rank() < minRank || v.rank() > maxRank) {
    invalid(bound.at(parameter),
            "pl." + bound.name + ": '" + parameter + "' has rank " + llvm::Twine(v.rank()) +
                ", it needs " +
                (minRank == maxRank ? "rank " + llvm::Twine(minRank)
                                    : "at least rank " + llvm::Twine(minRank)),
            "use pl.reshape");
    return false;
  }
  out = v;
  return true;
}

std::optional<size_t> Walker::axisArgument(Bound &bound, const char *parameter, const Val &of) {
  int64_t rank = of.rank();
  auto number = bound[parameter].integer();
  if (!number || *number < -rank || *number >= rank) {
    invalid(bound.at(parameter),
            "pl." + bound.name + ": '" + parameter + "' is a constant axis of " + describe(of));
    return std::nullopt;
  }
  size_t axis = *number < 0 ? *number + rank : *number;
  argument(bound, parameter) = constantInt(axis);
  return axis;
}

Val Walker::resultLike(const Val &operand, DType type) {
  Val r = shaped(operand.kind, type, operand.shape, operand.valid);
  if (r.kind == Val::Tile) // vector units read and write Vec
    r.space = MemorySpace::Vec;
  return r;
}

bool Walker::deduce(Bound &bound, std::vector<Val> &results) {
  using Deducer = bool (Walker::*)(Bound &, std::vector<Val> &);
  static const std::map<std::string, Deducer> byFamily = {
      {"create", &Walker::deduceCreate},       {"full", &Walker::deduceCreate},
      {"arange", &Walker::deduceCreate},       {"random", &Walker::deduceCreate},
      {"tri", &Walker::deduceCreate},          {"expands", &Walker::deduceCreate},
      {"expand_clone", &Walker::deduceCreate}, {"load", &Walker::deduceMove},
      {"store", &Walker::deduceMove},          {"move", &Walker::deduceMove},
      {"assemble", &Walker::deduceMove},       {"extract", &Walker::deduceMove},
      {"read", &Walker::deduceMove},           {"write", &Walker::deduceMove},
      {"gather_row", &Walker::deduceMove},     {"concat", &Walker::deduceReshape},
      {"reshape", &Walker::deduceReshape},     {"reinterpret", &Walker::deduceReshape},
      {"transpose", &Walker::deduceReshape},   {"transpose_view", &Walker::deduceReshape},
      {"view", &Walker::deduceReshape},        {"set_validshape", &Walker::deduceReshape},
      {"fillpad", &Walker::deduceReshape},     {"fillpad_expand", &Walker::deduceReshape},
      {"unary", &Walker::deduceElementwise},   {"binary", &Walker::deduceElementwise},
      {"part", &Walker::deduceElementwise},    {"ternary", &Walker::deduceElementwise},
      {"cmp", &Walker::deduceElementwise},     {"sel", &Walker::deduceElementwise},
      {"cast", &Walker::deduceElementwise},    {"row_reduce", &Walker::deduceReduce},
      {"col_reduce", &Walker::deduceReduce},   {"row_arg", &Walker::deduceReduce},
      {"col_arg", &Walker::deduceReduce},      {"row_expand", &Walker::deduceExpand},
      {"col_expand", &Walker::deduceExpand},   {"matmul", &Walker::deduceMatmul},
      {"matmul_acc", &Walker::deduceMatmul},   {"matmul_bias", &Walker::deduceMatmul},
      {"matmul_mx", &Walker::deduceMatmul},    {"gather", &Walker::deduceGather},
      {"gather_mask", &Walker::deduceGather},  {"gather_compare", &Walker::deduceGather},
      {"gatherb", &Walker::deduceGather},      {"scatter", &Walker::deduceGather},
      {"scatter_mask", &Walker::deduceGather}, {"scatter_update", &Walker::deduceGather},
      {"paged_gather", &Walker::deduceGather}, {"mgather", &Walker::deduceGather},
      {"mscatter", &Walker::deduceGather},     {"sort32", &Walker::deduceGather},
      {"mrgsort", &Walker::deduceGather},      {"aiv_shard", &Walker::deduceGather},
      {"aic_gather", &Walker::deduceGather},   {"array", &Walker::deduceSystem},
      {"task", &Walker::deduceSystem},         {"query", &Walker::deduceSystem},
      {"sync", &Walker::deduceSystem},         {"pipe", &Walker::deduceSystem}};
  auto it = byFamily.find(bound.signature->op->family.str());
  if (it == byFamily.end()) {
    unsupported(*bound.call, "pl." + bound.name + " is not supported yet");
    return false;
  }
  if (!(this->*it->second)(bound, results))
    return false;
  const Node *at = bound.call;
  for (const char *parameter : {"shape", "shapes"})
    if (auto given = bound.nodes.find(parameter); given != bound.nodes.end() && given->second)
      at = given->second;
  for (const Val &result : results)
    if (!checkSize(*at, "pl." + bound.name, result))
      return false;
  return true;
}

bool Walker::checkSize(const Node &list, llvm::StringRef what, const Val &value) {
  if (!value.isShaped())
    return true;
  std::vector<std::optional<int64_t>> extents;
  for (const Affine &extent : value.shape)
    extents.push_back(extent.isConstant() ? std::optional(extent.constant) : std::nullopt);
  auto fault = sizeFault(extents);
  if (!fault)
    return true;
  bool named = fault->axis && (list.kind == "List" || list.kind == "Tuple") &&
               list.list("elts").size() == extents.size();
  invalid(named ? *list.list("elts")[*fault->axis] : list, what + ": " + fault->message);
  return false;
}

static bool isTileForm(const SignatureRow &row) {
  if (llvm::StringRef(row.pythonName).starts_with("tile."))
    return true;
  for (llvm::StringRef fixed : row.fixed)
    if (fixed == "tile=true")
      return true;
  return false;
}

bool Walker::deduceCreate(Bound &bound, std::vector<Val> &results) {
  llvm::StringRef op = llvm::StringRef(bound.signature->op->name).drop_front(6);
  std::string function = "pl." + bound.name;
  if (op == "expands" || op == "expand_clone") {
    Val target;
    if (!shapedArgument(bound, "target", target))
      return false;
    if (op == "expands") {
      Val &s = argument(bound, "scalar");
      if (s.isScalar())
        s = s.isConstant() ? castScalar(s, target.dtype, locationOf(*bound.call)) : s;
      if (!s.isScalar() || s.dtype != target.dtype) {
        typeError(bound.at("scalar"),
                  function + ": the scalar is " + describe(s) + ", the elements are " +
                      nameOf(target.dtype),
                  "convert it with pl.cast");
        return false;
      }
    }
    if (op == "expand_clone") {
      Val src;
      if (!shapedArgument(bound, "src", src))
        return false;
      int widened = 0;
      bool fits = src.rank() == 3 && target.rank() == 3 && src.dtype == target.dtype;
      for (size_t i = 0; fits && i < 3; ++i) {
        if (symbols.equal(src.shape[i], target.shape[i]) == true)
          continue;
        fits = src.shape[i] == Affine(1) && target.shape[i].isConstant();
        ++widened;
      }
      if (!fits || widened > 1) {
        invalid(*bound.call,
                function +
                    ": one axis of extent 1 of a rank 3 source becomes the target's extent, "
                    "the others are equal; source and target are " +
                    describe(src) + " and " + describe(target));
        return false;
      }
    }
    results.push_back(resultLike(target, target.dtype));
    return true;
  }
  std::vector<Affine> shape;
  bool mustBeConstant = op != "create_tensor" || context.inKernel;
  if (!integers(bound["shape"], bound.at("shape"), function + ": shape", shape, nullptr,
                mustBeConstant))
    return false;
  for (const Affine &a : shape)
    if (a.isConstant() && a.constant <= 0) {
      invalid(bound.at("shape"),
              function + ": extent " + llvm::Twine(a.constant) + " is not positive");
      return false;
    }
  if (shape.empty() || shape.size() > 5) {
    invalid(bound.at("shape"),
            function + ": a shape has 1 to 5 extents, this one has " + llvm::Twine(shape.size()));
    return false;
  }
  DType dtype = op == "random" ? DType::UInt32 : DType::Int32;
  if (bound.has("dtype")) {
    auto given = dtypeArgument(bound, "dtype");
    if (!given)
      return false;
    dtype = *given;
  }
  if (dtype == DType::TaskId) {
    typeError(bound.at("dtype"), function + ": TASK_ID is no element type of tensors",
              "use pl.array.create(n, pl.TASK_ID)");
    return false;
  }
  bool tile = op == "create_tile" || isTileForm(*bound.signature) || op == "tri";
  std::vector<Affine> valid = shape;
  if (bound.has("valid_shape")) {
    valid.clear();
    if (!integers(bound["valid_shape"], bound.at("valid_shape"), "valid_shape", valid))
      return false;
    if (valid.size() != shape.size()) {
      invalid(bound.at("valid_shape"), function + ": valid_shape has another rank than shape");
      return false;
    }
  }
  Val r = shaped(tile ? Val::Tile : Val::Tensor, dtype, shape, valid);
  if (op == "create_tile") {
    r.space = MemorySpace::Vec;
    llvm::StringRef space = "vec";
    std::string member;
    if (bound.has("target_memory")) {
      auto given = enumArgument(bound["target_memory"], "MemorySpace", bound.at("target_memory"),
                                "target_memory");
      if (!given)
        return false;
      member = *given;
      space = member;
    } else if (!bound.signature->fixed.empty()) {
      space = "mat"; // create_l1
    }
    auto symbol = llvm::StringSwitch<std::optional<MemorySpace>>(space)
                      .Case("vec", MemorySpace::Vec)
                      .Case("mat", MemorySpace::Mat)
                      .Case("left", MemorySpace::Left)
                      .Case("right", MemorySpace::Right)
                      .Case("acc", MemorySpace::Acc)
                      .Case("bias", MemorySpace::Bias)
                      .Default(std::nullopt);
    if (!symbol) {
      invalid(bound.at("target_memory"), function + ": a tile cannot be created in this memory",
              "use Vec, Mat, Left, Right, Acc or Bias");
      return false;
    }
    r.space = *symbol;
    r.transposed = bound["transpose"].boolean().value_or(false);
    if (r.transposed && (shape.size() != 2 || r.space != MemorySpace::Mat)) {
      invalid(bound.at("transpose"), function + ": transpose=True needs a 2-D tile in Mat");
      return false;
    }
  }
  if (op == "arange") {
    if (dtype != DType::Int16 && dtype != DType::Int32 && dtype != DType::UInt16 &&
        dtype != DType::UInt32) {
      typeError(bound.at("dtype"),
                function + ": the element type is INT16, INT32, UINT16 or UINT32, not " +
                    nameOf(dtype),
                "cast the result with pl.cast");
      return false;
    }
    for (size_t i = 0; i + 1 < shape.size(); ++i)
      if (shape[i] != Affine(1)) {
        invalid(bound.at("shape"), function + ": all extents but the last are 1",
                "spread the row with pl.col_expand");
        return false;
      }
    if (shape.back() == Affine(1)) {
      invalid(bound.at("shape"), function + ": the last extent must be more than 1");
      return false;
    }
    Val &start = argument(bound, "start");
    if (start.isConstant() && !isFloat(start.dtype))
      start = castScalar(start, dtype, locationOf(bound.at("start")));
    if (!start.isScalar() || start.dtype != dtype) {
      typeError(bound.at("start"),
                function + ": start is " + describe(start) + ", the elements are " + nameOf(dtype),
                "convert it with pl.cast");
      return false;
    }
  }
  if (op == "random") {
    if (dtype != DType::Int32 && dtype != DType::UInt32) {
      typeError(bound.at("dtype"), function + ": the element type is INT32 or UINT32");
      return false;
    }
    if (bound.has("rounds") && bound["rounds"].integer() != 7 && bound["rounds"].integer() != 10) {
      invalid(bound.at("rounds"), function + ": rounds is 7 or 10");
      return false;
    }
    for (const char *key : {"key0", "key1", "c0", "c1", "c2", "c3"}) {
      Val &s = argument(bound, key);
      if (s.isConstant())
        s = castScalar(s, DType::Int32, locationOf(bound.at(key)));
      if (!s.isScalar() || s.dtype != DType::Int32) {
        typeError(bound.at(key),
                  function + ": '" + key + "' is an INT32 scalar, not " + describe(s));
        return false;
      }
    }
  }
  if (op == "tri") {
    Val &d = argument(bound, "diagonal");
    if (d.isConstant())
      d = castScalar(d, DType::Int32, locationOf(bound.at("diagonal")));
    if (!d.isScalar() || d.dtype != DType::Int32) {
      typeError(bound.at("diagonal"),
                function + ": the diagonal is an INT32 scalar, not " + describe(d));
      return false;
    }
  }
  if (op == "full") {
    const Val &v = bound["value"];
    if (v.isConstant() && isInteger(dtype) && std::holds_alternative<double>(v.constant) &&
        *v.real() != std::floor(*v.real())) {
      typeError(bound.at("value"),
                function + ": " + std::to_string(*v.real()) + " is no " + nameOf(dtype) + " value");
      return false;
    }
  }
  for (const char *key : {"value", "init_value"})
    if (const Val &v = bound[key]; v.isConstant() && !fits(v, dtype)) {
      invalid(bound.at(key),
              function + ": " + std::to_string(*v.integer()) + " does not fit into " +
                  nameOf(dtype),
              "its range is " + rangeOf(dtype));
      return false;
    }
  if (op == "create_tensor" && bound.has("init_value")) {
    auto v = bound["init_value"].real();
    if (v && *v != 0 && (dtype == DType::FP16 || dtype == DType::BF16)) {
      invalid(bound.at("init_value"),
              function + ": a " + nameOf(dtype) + " tensor can be filled with 0 only",
              "fill it in a pl.at block with pl.full");
      return false;
    }
  }
  if (op == "create_tensor" && bound.has("layout")) {
    auto layout = enumArgument(bound["layout"], "TensorLayout", bound.at("layout"), "layout");
    if (!layout)
      return false;
    r.layout = llvm::StringSwitch<TensorLayout>(*layout)
                   .Case("dn", TensorLayout::DN)
                   .Case("nz", TensorLayout::NZ)
                   .Case("mx_a_zz", TensorLayout::MXA)
                   .Case("mx_b_nn", TensorLayout::MXB)
                   .Default(TensorLayout::ND);
  }
  results.push_back(r);
  return true;
}

bool Walker::deduceSystem(Bound &bound, std::vector<Val> &results) {
  llvm::StringRef op = llvm::StringRef(bound.signature->op->name).drop_front(6);
  std::string function = "pl." + bound.name;
  if (op == "task_dummy" || op == "task_invalid") {
    if (context.inKernel) {
      invalid(*bound.call, function + " belongs into an orchestration, not into a kernel");
      return false;
    }
    Val task;
    task.kind = Val::TaskId;
    results.push_back(task);
    return true;
  }
  if (bound.signature->op->family == "query") {
    Val v =
        scalar(Value(), DType::Index, symbols.fresh({op == "get_block_num" ? 1 : 0, std::nullopt}));
    results.push_back(v);
    return true;
  }
  if (op == "reserve_buffer" || op == "import_peer_buffer") {
    results.push_back(scalar(Value(), DType::Int32));
    return true;
  }
  if (op == "pop") {
    std::vector<Affine> shape;
    if (!integers(bound["shape"], bound.at("shape"), "shape", shape, nullptr, true))
      return false;
    auto type = dtypeArgument(bound, "dtype");
    if (!type)
      return false;
    results.push_back(shaped(Val::Tile, *type, shape));
    return true;
  }
  if (op == "array_create") {
    auto extent = bound["extent"].integer();
    auto type = dtypeArgument(bound, "dtype");
    if (!type)
      return false;
    if (!extent || *extent <= 0) {
      if (bound["extent"].isScalar())
        askToBake(bound["extent"]);
      invalid(bound.at("extent"), function + ": the extent is a positive constant");
      return false;
    }
    if (*extent > maxArrayExtent) {
      invalid(bound.at("extent"),
              function + ": extent " + llvm::Twine(*extent) + " is larger than " +
                  llvm::Twine(maxArrayExtent),
              "use pl.create_tensor for large data");
      return false;
    }
    if (isFloat(*type)) {
      typeError(bound.at("dtype"),
                function + ": elements are integers, BOOL or TASK_ID, not " + nameOf(*type));
      return false;
    }
    Val r;
    r.kind = Val::Array;
    r.extent = *extent;
    r.dtype = *type;
    results.push_back(r);
    return true;
  }
  if (op == "array_get" || op == "array_update") {
    const Val &array = bound["arr"];
    if (array.kind != Val::Array) {
      typeError(bound.at("arr"), function + " takes an array, not " + describe(array));
      return false;
    }
    const Val &i = bound["i"];
    if (!i.isScalar() || !isInteger(i.dtype)) {
      typeError(bound.at("i"), "the index of an array is an integer, not " + describe(i));
      return false;
    }
    if (symbols.lessEqual(Affine(array.extent), i.affine) == true ||
        symbols.lessEqual(Affine(0), i.affine) == false) {
      invalid(bound.at("i"), "the index is outside an array of " + llvm::Twine(array.extent));
      return false;
    }
    if (op == "array_update") {
      Val &v = argument(bound, "v");
      if (array.dtype == DType::TaskId) {
        if (v.kind == Val::None) {
          Val task;
          task.kind = Val::TaskId;
          task.value = materialise(v, locationOf(*bound.call));
          v = task;
        }
        if (v.kind != Val::TaskId) {
          typeError(bound.at("v"), "an array of task ids takes a task id, not " + describe(v),
                    "use `as tid` of pl.at or pl.spmd");
          return false;
        }
      } else {
        if (v.isConstant() && isFloat(v.dtype) == isFloat(array.dtype) && v.dtype == DType::Index)
          v = castScalar(v, array.dtype, locationOf(*bound.call));
        if (!v.isScalar() || !compatible(v.dtype, array.dtype)) {
          typeError(bound.at("v"),
                    "an array of " + nameOf(array.dtype) + " takes " + nameOf(array.dtype) +
                        " values, not " + describe(v),
                    "convert it: pl.cast(x, pl." + nameOf(array.dtype).str() + ")");
          return false;
        }
        v = castScalar(v, array.dtype, locationOf(*bound.call));
      }
      Val r = array;
      r.value = Value();
      results.push_back(r);
      return true;
    }
    if (array.dtype == DType::TaskId) {
      Val task;
      task.kind = Val::TaskId;
      results.push_back(task);
    } else {
      results.push_back(scalar(Value(), array.dtype));
    }
    return true;
  }
  if (op == "syncall" && bound.has("gm_workspace")) {
    const Val &ws = bound["gm_workspace"];
    if (!ws.isShaped() || ws.dtype != DType::Int32) {
      typeError(bound.at("gm_workspace"),
                function + ": the workspace is an INT32 tensor of at least 16 elements, not " +
                    describe(ws));
      return false;
    }
    if (ws.gm)
      writtenRoots.insert(ws.root);
  }
  if (op == "syncall") {
    auto text = [&](const char *key) {
      return bound[key].kind == Val::Py ? bound[key].python->text : std::string();
    };
    if (bound.has("mode") && text("mode") != "hard" && text("mode") != "soft") {
      invalid(bound.at("mode"), function + ": mode is \"hard\" or \"soft\"");
      return false;
    }
    if (bound.has("core_type") && text("core_type") != "mix" && text("core_type") != "aiv_only" &&
        text("core_type") != "aic_only") {
      invalid(bound.at("core_type"),
              function + ": core_type is \"mix\", \"aiv_only\" or \"aic_only\"");
      return false;
    }
    if (text("mode") == "soft" && !bound.has("gm_workspace")) {
      invalid(*bound.call, function + ": mode=\"soft\" needs gm_workspace");
      return false;
    }
  }
  return true; // the rest has no result
}

} // namespace pypto::importer
