//===- KernelEntry.cpp - the C entry of a kernel --------------------------===//
//
// `<kernel>__entry(int64_t *args)`: args[0..T) point to ChipTensor, args[T..T+S) are scalar words,
// args[48] and args[49] the contexts (spec simpler 2.2, 4.1). FP16 and BF16 scalars come as FP32
// words.
//
//===----------------------------------------------------------------------===//
#include "ChipTensorLayout.h"
#include "PtoEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace pypto {

void emitKernelEntry(func::FuncOp kernel, const KernelSignature &signature, func::FuncOp before) {
  OpBuilder b(kernel.getContext());
  Location loc = kernel.getLoc();
  b.setInsertionPointAfter(before);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto entry = func::FuncOp::create(b, loc, (kernel.getName() + "__entry").str(),
                                    b.getFunctionType(pointer, {}));
  b.setInsertionPointToStart(entry.addEntryBlock());
  Value args = entry.getArgument(0);
  auto at = [&](Value base, int64_t bytes) -> Value {
    return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
  };
  auto load = [&](Type type, Value base, int64_t bytes) -> Value {
    return LLVM::LoadOp::create(b, loc, type, at(base, bytes));
  };
  auto toIndex = [&](Value word) -> Value { // unsigned 32 bits
    Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), word);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), wide);
  };
  SmallVector<Value> tensors, operands;
  TypeRange types = kernel.getArgumentTypes();
  for (unsigned i = 0; i < signature.tensors.size(); ++i) {
    Value descriptor = load(pointer, args, 8 * i);
    tensors.push_back(descriptor);
    Value base = load(pointer, descriptor, ChipTensorLayout::addr);
    Value offset = load(b.getI64Type(), descriptor, ChipTensorLayout::startOffset);
    Type element = cast<pto::PtrType>(types[i]).getElementType();
    Value bytes = arith::MulIOp::create(
        b, loc, offset,
        arith::ConstantIntOp::create(
            b, loc, b.getI64Type(),
            element.isIndex() ? 8 : std::max<int64_t>(1, pto::getElementBytes(element))));
    Value data =
        LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
    operands.push_back(UnrealizedConversionCastOp::create(b, loc, types[i], data).getResult(0));
  }
  for (unsigned i = 0; i < signature.scalars.size(); ++i) {
    unsigned position = signature.tensors.size() + i;
    Type type = types[position];
    Value word = load(b.getI64Type(), args, 8 * position);
    operands.push_back(scalarFromWord(b, loc, word, type));
  }
  Value local, global;
  for (auto [i, hidden] : llvm::enumerate(signature.hidden)) {
    switch (hidden.kind) {
    case KernelSignature::Hidden::Dim:
      operands.push_back(toIndex(load(b.getI32Type(), tensors[hidden.tensor],
                                      ChipTensorLayout::shapes + 4 * hidden.axis)));
      break;
    case KernelSignature::Hidden::Stride:
      operands.push_back(toIndex(load(b.getI32Type(), tensors[hidden.tensor],
                                      ChipTensorLayout::strides + 4 * hidden.axis)));
      break;
    case KernelSignature::Hidden::BlockIdx:
    case KernelSignature::Hidden::BlockNum:
      if (!local)
        local = load(pointer, args, 8 * 48);
      operands.push_back(
          load(b.getI32Type(), local, hidden.kind == KernelSignature::Hidden::BlockIdx ? 0 : 4));
      break;
    case KernelSignature::Hidden::SubblockIdx:
      if (!global)
        global = load(pointer, args, 8 * 49);
      operands.push_back(load(b.getI32Type(), global, 0));
      break;
    }
  }
  func::CallOp::create(b, loc, kernel, operands);
  func::ReturnOp::create(b, loc);
}

} // namespace pypto
