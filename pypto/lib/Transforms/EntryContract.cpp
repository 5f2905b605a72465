//===- EntryContract.cpp - rules and records of entries -------------------===//
#include "pypto/Transforms/EntryContract.h"
#include "DataTypeCode.h"
#include "TensorRoots.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "pypto/Dialect/PyPTO/IR/OpTable.h"
#include "pypto/Transforms/Passes.h"
#include <array>

using namespace mlir;

namespace pypto {

bool isEntry(func::FuncOp func) { return func->hasAttr("pypto.entry"); }

SmallVector<int64_t> returnLineage(func::FuncOp entry) {
  SmallVector<int64_t> lineage;
  auto returns = entry->getAttrOfType<DenseI64ArrayAttr>("pypto.returns");
  if (!returns)
    return lineage;
  for (int64_t index : returns.asArrayRef())
    lineage.push_back(index < 0 || index >= entry.getNumArguments() ? -1 : index);
  return lineage;
}

LogicalResult checkEntryReturns(ModuleOp module) {
  for (auto entry : module.getOps<func::FuncOp>()) {
    if (!isEntry(entry))
      continue;
    for (auto [number, index] : llvm::enumerate(returnLineage(entry))) {
      if (index >= 0)
        continue;
      return emitError(entry.getLoc())
             << "'" << entry.getName() << "' returns memory of its own as result " << number
             << "; results of an entry are its parameters (add a pl.Out parameter, write the "
                "result into it and return it)";
    }
  }
  return success();
}

LogicalResult checkKernelContract(ModuleOp module, bool hostBuildGraph) {
  SmallVector<func::FuncOp> entries;
  for (auto func : module.getOps<func::FuncOp>())
    if (isEntry(func))
      entries.push_back(func);
  if (entries.empty())
    return emitError(module.getLoc()) << "the program has no entry that a kernel could be";
  if (entries.size() > 1)
    return emitError(entries[1].getLoc())
           << "a kernel has one entry; '" << entries[0].getName() << "' and '"
           << entries[1].getName() << "' are both entries";
  if (!hostBuildGraph)
    return success();
  LogicalResult clean = success();
  for (auto func : module.getOps<func::FuncOp>()) {
    if (isKernel(func) || func.isExternal())
      continue;
    func.walk([&](Operation *op) {
      if (!isa<ReadOp, WriteOp>(op))
        return;
      op->emitError() << "pl." << op->getName().stripDialect()
                      << " touches the data of a tensor while the graph is built on the host; a "
                         "kernel for host_build_graph cannot (let a task compute it, or make it "
                         "the predicate of a task)";
      clean = failure();
    });
  }
  return clean;
}

StringRef coreTypeOf(func::FuncOp kernel) {
  bool cube = false, vector = false;
  kernel.walk([&](Operation *op) {
    const OpRow *row = findOp(op->getName().getStringRef());
    if (!row)
      return;
    StringRef f = row->family;
    if (f.starts_with("matmul"))
      cube = true;
    else if (llvm::is_contained({"unary", "binary", "cast", "row_reduce", "col_reduce",
                                 "row_expand", "col_expand", "full", "fillpad"},
                                f))
      vector = true;
  });
  return cube && vector ? "mix" : cube ? "aic" : "aiv";
}

void emitEntryRecord(func::FuncOp signature) {
  auto module = signature->getParentOfType<ModuleOp>();
  Location loc = module.getLoc();
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i32 = b.getI32Type();
  std::string name = signature.getName().str();

  // SimplerParam is 12 words: rank, element type, extents, strides.
  SmallVector<int64_t> words;
  int32_t tensors = 0, scalars = 0;
  for (BlockArgument arg : signature.getArguments()) {
    auto tensor = dyn_cast<TensorType>(arg.getType());
    if (!tensor) {
      ++scalars;
      continue;
    }
    ++tensors;
    int64_t code = dataTypeCode(tensor.getElementType());
    if (code < 0) // nobody can pass such a tensor; loading says so
      return;
    SmallVector<int64_t> shape(tensor.getShape());
    if (tensor.getLayout() == TensorLayout::NZ)
      shape = blockedShape(tensor);
    words.push_back(shape.size());
    words.push_back(code);
    for (unsigned axis = 0; axis < 5; ++axis)
      words.push_back(axis < shape.size() && !ShapedType::isDynamic(shape[axis]) ? shape[axis]
                                                                                 : -1);
    for (unsigned axis = 0; axis < 5; ++axis)
      words.push_back(axis < tensor.getStrides().size() ? tensor.getStrides()[axis] : 0);
  }
  if (words.empty())
    words.push_back(0);
  auto table = LLVM::GlobalOp::create(
      b, loc, LLVM::LLVMArrayType::get(b.getI64Type(), words.size()), /*isConstant=*/true,
      LLVM::Linkage::Internal, name + "__params",
      DenseElementsAttr::get(RankedTensorType::get({int64_t(words.size())}, b.getI64Type()),
                             ArrayRef<int64_t>(words)));

  auto type =
      LLVM::LLVMStructType::getLiteral(b.getContext(), {pointer, pointer, i32, i32, i32, i32});
  auto record = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::External,
                                       name + "__orchestration", Attribute());
  b.createBlock(&record.getInitializerRegion());
  Value value = LLVM::UndefOp::create(b, loc, type);
  auto insert = [&](Value part, int64_t position) {
    value = LLVM::InsertValueOp::create(b, loc, value, part, ArrayRef<int64_t>{position});
  };
  insert(LLVM::AddressOfOp::create(b, loc, pointer, name), 0);
  insert(LLVM::AddressOfOp::create(b, loc, pointer, table.getSymName()), 1);
  for (auto [position, number] : llvm::enumerate(std::array{1, tensors, scalars, 0}))
    insert(LLVM::ConstantOp::create(b, loc, i32, b.getI32IntegerAttr(number)), position + 2);
  LLVM::ReturnOp::create(b, loc, value);
}

} // namespace pypto
