//===- Describe.cpp - entries and kernels of a module, for callers --------===//
#include "Describe.h"
#include "pypto/Dialect/PyPTO/IR/PyPTO.h"
#include "pypto/Transforms/EntryContract.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace pypto {

static std::string dtypeName(Type type) {
  if (type.isF32())
    return "FP32";
  if (type.isF16())
    return "FP16";
  if (type.isBF16())
    return "BF16";
  if (type.isIndex())
    return "INDEX";
  if (isa<Float8E4M3FNType>(type))
    return "FP8E4M3FN";
  if (isa<Float8E5M2Type>(type))
    return "FP8E5M2";
  if (isa<Float8E8M0FNUType>(type))
    return "FP8E8M0";
  if (isa<Float4E2M1FNType>(type))
    return "FP4";
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.getWidth() == 1)
      return "BOOL";
    return (integer.isUnsigned() ? "UINT" : "INT") + std::to_string(integer.getWidth());
  }
  return "?";
}

static StringRef layoutName(TensorLayout layout) {
  switch (layout) {
  case TensorLayout::ND:
    return "ND";
  case TensorLayout::DN:
    return "DN";
  case TensorLayout::NZ:
    return "NZ";
  case TensorLayout::MXA:
    return "MX_A_ZZ";
  case TensorLayout::MXB:
    return "MX_B_NN";
  }
  return "";
}

static ParamInfo::Direction directionOf(func::FuncOp func, unsigned number) {
  auto direction = func.getArgAttrOfType<StringAttr>(number, "pypto.direction");
  if (!direction || direction == "in")
    return ParamInfo::In;
  return direction == "out" ? ParamInfo::Out : ParamInfo::InOut;
}

static ParamInfo describe(func::FuncOp func, BlockArgument arg) {
  ParamInfo info;
  unsigned number = arg.getArgNumber();
  if (auto name = func.getArgAttrOfType<StringAttr>(number, "pypto.name"))
    info.name = name.str();
  info.direction = directionOf(func, number);
  auto tensor = dyn_cast<TensorType>(arg.getType());
  info.isTensor = bool(tensor);
  if (!tensor) {
    auto scalar = func.getArgAttrOfType<StringAttr>(number, "pypto.scalar");
    info.dtype = scalar ? scalar.str() : dtypeName(arg.getType());
    return info;
  }
  info.dtype = dtypeName(tensor.getElementType());
  auto names = func.getArgAttrOfType<ArrayAttr>(number, "pypto.dyn");
  for (auto [axis, extent] : llvm::enumerate(tensor.getShape())) {
    info.shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
    info.dynamicNames.push_back(names && axis < names.size() ? cast<StringAttr>(names[axis]).str()
                                                             : "");
  }
  info.strides.assign(tensor.getStrides().begin(), tensor.getStrides().end());
  if (tensor.getLayout() != TensorLayout::ND)
    info.layout = layoutName(tensor.getLayout()).str();
  return info;
}

std::vector<ParamInfo> describeParameters(func::FuncOp entry, bool lowered) {
  std::vector<ParamInfo> params;
  for (BlockArgument arg : entry.getArguments()) {
    ParamInfo &info = params.emplace_back(describe(entry, arg));
    auto tensor = dyn_cast<TensorType>(arg.getType());
    if (!lowered || !tensor || tensor.getLayout() != TensorLayout::NZ)
      continue;
    info.shape.clear();
    for (int64_t extent : blockedShape(tensor))
      info.shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
    info.dynamicNames.assign(info.shape.size(), "");
  }
  return params;
}

std::vector<KernelDescription> describeKernels(func::FuncOp entry) {
  auto module = entry->getParentOfType<ModuleOp>();
  llvm::SetVector<func::FuncOp> kernels;
  entry.walk([&](CallOp call) {
    if (auto kernel = module.lookupSymbol<func::FuncOp>(call.getCallee()))
      kernels.insert(kernel);
  });
  std::vector<KernelDescription> result;
  for (func::FuncOp kernel : kernels) {
    KernelDescription &made = result.emplace_back();
    made.name = kernel.getName().str();
    made.coreType = coreTypeOf(kernel).str();
    for (BlockArgument arg : kernel.getArguments())
      if (isa<TensorType>(arg.getType()))
        made.tensors.push_back(directionOf(kernel, arg.getArgNumber()));
  }
  return result;
}

} // namespace pypto
