//===- Annotation.cpp - types and directions of parameters ----------------===//
#include "Annotation.h"
#include "Extents.h"
#include "llvm/ADT/StringSwitch.h"

namespace pypto::importer {
using ast::Node;

std::string dottedName(const Node &node) {
  if (node.kind == "Name")
    return node.str("id");
  if (node.kind != "Attribute")
    return {};
  std::string base = dottedName(*node.get("value"));
  return base.empty() ? base : base + "." + node.str("attr");
}

bool AnnotationReader::dtypeOf(const Node &node, std::optional<DType> &dtype) {
  std::string why;
  PyValue value = env->evaluate(node, why);
  if (value.kind != PyValue::DType)
    return fail(node, ErrorKind::Type, "expected an element type here",
                "write pl.FP32, pl.BF16, pl.INT32, …");
  dtype = dtypeByName(value.text);
  if (!dtype)
    return fail(node, ErrorKind::Type, "element type " + value.text + " is not supported");
  return true;
}

bool AnnotationReader::shapeOf(const Node &list, std::vector<ExtentSpec> &shape) {
  if (list.kind != "List" && list.kind != "Tuple") {
    std::string why; // a name of a list of ints
    PyValue value = env->evaluate(list, why);
    if (value.kind != PyValue::List)
      return fail(list, ErrorKind::Type, "the shape of an annotation is a list of extents",
                  "write pl.Tensor[[16, 64], pl.FP32]");
    for (const PyValue &item : value.items) {
      if (item.kind != PyValue::Int)
        return fail(list, ErrorKind::Type, "an extent of a shape is an integer");
      if (item.integer <= 0)
        return fail(list, ErrorKind::Type,
                    "an extent must be positive, this one is " + std::to_string(item.integer));
      shape.push_back({item.integer, ""});
    }
    return checkSize(list, shape);
  }
  for (const auto &item : list.list("elts")) {
    if (item->kind == "Name")
      for (const std::string &scalar : scalarNames)
        if (scalar == item->str("id")) {
          shape.push_back({std::nullopt, scalar});
          goto next;
        }
    {
      std::string why;
      PyValue value = env->evaluate(*item, why);
      if (value.kind == PyValue::Int) {
        if (value.integer <= 0)
          return fail(*item, ErrorKind::Type,
                      "an extent must be positive, this one is " + std::to_string(value.integer));
        shape.push_back({value.integer, ""});
      } else if (value.kind == PyValue::DynVar) {
        shape.push_back({std::nullopt, value.text});
      } else if (value.kind == PyValue::Missing) {
        return fail(*item, item->kind == "Name" ? ErrorKind::Undefined : ErrorKind::Type,
                    "cannot evaluate this extent: " + why,
                    "an extent is an integer constant, a pl.dynamic(\"N\") symbol, or a scalar "
                    "parameter named before");
      } else {
        return fail(*item, ErrorKind::Type,
                    "an extent is an integer or a pl.dynamic symbol, not a value of type " +
                        value.text);
      }
    }
  next:;
  }
  if (shape.empty() || shape.size() > 5)
    return fail(list, ErrorKind::Type,
                "a shape has 1 to 5 extents, this one has " + std::to_string(shape.size()));
  return checkSize(list, shape);
}

bool AnnotationReader::checkSize(const Node &list, const std::vector<ExtentSpec> &shape) {
  std::vector<std::optional<int64_t>> extents;
  for (const ExtentSpec &extent : shape)
    extents.push_back(extent.size);
  auto fault = sizeFault(extents);
  if (!fault)
    return true;
  const Node &at = list.kind != "Name" && fault->axis && list.list("elts").size() == extents.size()
                       ? *list.list("elts")[*fault->axis]
                       : list;
  return fail(at, ErrorKind::Type, fault->message);
}

/// `ref`, `ref[slot]` or `pl.MemRef(…)`: where the tile lies. The planner places tiles itself; what
/// is pinned together is values that are not needed at one time, so that results are the same.
bool AnnotationReader::memRefSlot(const Node &slot) {
  const Node &base = slot.kind == "Subscript" ? *slot.get("value") : slot;
  if (base.kind == "Call")
    return dottedName(*base.get("func")) == "pl.MemRef";
  if (base.kind != "Name")
    return false;
  std::string why;
  PyValue value = env->evaluate(base, why);
  return (isMemRef && isMemRef(base.str("id"))) ||
         (value.kind == PyValue::Opaque && value.text == "MemRef");
}

bool AnnotationReader::tensorSlots(const Node &subscript, ParamSpec &spec) {
  const Node *slots = subscript.get("slice");
  std::vector<const Node *> items;
  if (slots->kind == "Tuple")
    for (const auto &item : slots->list("elts"))
      items.push_back(item.get());
  else
    items.push_back(slots);
  if (items.size() < 2)
    return fail(subscript, ErrorKind::Type, "annotation needs a shape and an element type",
                "write pl.Tensor[[16, 64], pl.FP32]");
  spec.shape.emplace();
  if (!shapeOf(*items[0], *spec.shape) || !dtypeOf(*items[1], spec.dtype))
    return false;
  const Node *pinned = nullptr;
  for (size_t i = 2; i < items.size(); ++i) {
    if (memRefSlot(*items[i])) {
      pinned = items[i];
      continue;
    }
    std::string why;
    PyValue value = env->evaluate(*items[i], why);
    std::string member = value.text.substr(value.text.rfind('.') + 1);
    if (value.kind == PyValue::Enum && value.text.rfind("TensorLayout.", 0) == 0) {
      if (member == "DN")
        return fail(*items[i], ErrorKind::Type, "a parameter cannot have layout DN alone",
                    "use b_trans=True in pl.matmul, pl.transpose, or a pl.TensorView with strides");
      spec.layout = llvm::StringSwitch<TensorLayout>(member)
                        .Case("NZ", TensorLayout::NZ)
                        .Case("MX_A_ZZ", TensorLayout::MXA)
                        .Case("MX_B_NN", TensorLayout::MXB)
                        .Default(TensorLayout::ND);
      continue;
    }
    if (value.kind == PyValue::Enum && value.text.rfind("Mem", 0) == 0) {
      spec.space = llvm::StringSwitch<MemorySpace>(member)
                       .Case("Vec", MemorySpace::Vec)
                       .Case("Mat", MemorySpace::Mat)
                       .Case("Left", MemorySpace::Left)
                       .Case("Right", MemorySpace::Right)
                       .Case("Acc", MemorySpace::Acc)
                       .Case("Bias", MemorySpace::Bias)
                       .Case("LeftScale", MemorySpace::LeftScale)
                       .Case("RightScale", MemorySpace::RightScale)
                       .Default(MemorySpace::None);
      continue;
    }
    return fail(*items[i], ErrorKind::Unsupported, "this slot of the annotation is not supported",
                "supported are a shape, an element type, a layout and (tiles) a memory space");
  }
  if (pinned && spec.kind == ParamSpec::Tile && spec.space == MemorySpace::None)
    return fail(*pinned, ErrorKind::Type, "a tile with a pl.MemRef needs its memory space",
                "add pl.MemorySpace.Vec to the annotation");
  return true;
}

bool AnnotationReader::read(const Node *annotation, ParamSpec &spec) {
  spec.kind = ParamSpec::Bare;
  if (!annotation)
    return true;
  const Node &node = *annotation;
  const Node &head = node.kind == "Subscript" || node.kind == "Call"
                         ? *node.get(node.kind == "Call" ? "func" : "value")
                         : node;
  std::string name = dottedName(head);
  if (name == "pl.Out" || name == "pl.InOut") {
    if (node.kind != "Subscript")
      return fail(node, ErrorKind::Type, name + " needs the type of the tensor",
                  "write " + name + "[pl.Tensor[[16, 64], pl.FP32]]");
    if (!read(node.get("slice"), spec))
      return false;
    if (spec.kind == ParamSpec::Scalar)
      return fail(node, ErrorKind::Type, "a scalar parameter cannot be " + name.substr(3),
                  "return it, or write it into a tensor");
    if (spec.kind != ParamSpec::Tensor && spec.kind != ParamSpec::Tile)
      return fail(node, ErrorKind::Type, name + " applies to tensors");
    spec.direction = name == "pl.Out" ? ParamInfo::Out : ParamInfo::InOut;
    return true;
  }
  if (name == "pl.In")
    return fail(node, ErrorKind::Type, "there is no pl.In", "a bare annotation means input");
  if (name == "pl.Tensor" || name == "pl.Tile") {
    spec.kind = name == "pl.Tensor" ? ParamSpec::Tensor : ParamSpec::Tile;
    if (node.kind == "Subscript")
      return tensorSlots(node, spec);
    if (node.kind == "Call") { // the older spelling pl.Tensor((16, 64), pl.FP32)
      const auto &args = node.list("args");
      spec.shape.emplace();
      if (args.size() != 2)
        return fail(node, ErrorKind::Type, "annotation needs a shape and an element type");
      return shapeOf(*args[0], *spec.shape) && dtypeOf(*args[1], spec.dtype);
    }
    return true;
  }
  if (name == "pl.Scalar") {
    spec.kind = ParamSpec::Scalar;
    if (node.kind != "Subscript")
      return fail(node, ErrorKind::Type, "pl.Scalar needs an element type",
                  "write pl.Scalar[pl.INT32]");
    return dtypeOf(*node.get("slice"), spec.dtype);
  }
  if (name == "pl.TaskId") {
    spec.kind = ParamSpec::Scalar;
    spec.dtype = DType::TaskId;
    return true;
  }
  if (name == "pl.Array") {
    spec.kind = ParamSpec::Array;
    const Node *slots = node.get("slice");
    if (!slots || slots->kind != "Tuple" || slots->list("elts").size() != 2)
      return fail(node, ErrorKind::Type, "pl.Array needs an extent and an element type",
                  "write pl.Array[4, pl.INT32]");
    std::string why;
    PyValue extent = env->evaluate(*slots->list("elts")[0], why);
    if (extent.kind != PyValue::Int || extent.integer <= 0 || extent.integer > maxArrayExtent)
      return fail(*slots->list("elts")[0], ErrorKind::Type,
                  "the extent of pl.Array is a constant from 1 to " +
                      std::to_string(maxArrayExtent));
    spec.extent = extent.integer;
    return dtypeOf(*slots->list("elts")[1], spec.dtype);
  }
  if (name == "pl.Tuple" || name == "tuple" || name == "Tuple") {
    spec.kind = ParamSpec::Tuple;
    return true;
  }
  if (name == "int" || name == "float" || name == "bool") {
    spec.kind = ParamSpec::Scalar;
    spec.dtype = name == "int" ? DType::Index : name == "float" ? DType::FP32 : DType::Bool;
    return true;
  }
  std::string why;
  PyValue value = env->evaluate(node, why);
  if (value.kind == PyValue::DType) {
    spec.kind = ParamSpec::Scalar;
    return dtypeOf(node, spec.dtype);
  }
  if (value.kind == PyValue::None) {
    spec.kind = ParamSpec::Tuple;
    return true;
  }
  if (name.rfind("pld.", 0) == 0)
    return fail(node, ErrorKind::Unsupported, "distributed types are not supported yet");
  return fail(
      node, ErrorKind::Type, "this annotation is not a type of the language",
      "use pl.Tensor[[…], dtype], pl.Out[…], pl.InOut[…], pl.Scalar[dtype], pl.Array[n, dtype]");
}

} // namespace pypto::importer
