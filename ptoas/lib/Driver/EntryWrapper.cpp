//===- EntryWrapper.cpp - call a kernel with arguments from an array ------===//
#include "EntryWrapper.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Error.h"

using namespace mlir;

bool ptoas::isScalarArgument(Type type) {
  if (!type.isIntOrIndexOrFloat())
    return false;
  // Words are read with plain loads, so odd widths have no defined place in them.
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return width == 8 || width == 16 || width == 32 || width == 64 || type.isSignlessInteger(1);
}

static Value loadArgument(OpBuilder &builder, Location loc, Value word, Type type) {
  auto cast = [&](Value value) {
    return UnrealizedConversionCastOp::create(builder, loc, type, value).getResult(0);
  };
  if (isa<pto::PtrType>(type))
    return cast(
        LLVM::LoadOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), word));
  if (!ptoas::isScalarArgument(type))
    return {};
  if (type.isIndex()) {
    Value value = LLVM::LoadOp::create(builder, loc, builder.getI64Type(), word);
    return arith::IndexCastOp::create(builder, loc, type, value);
  }
  if (type.isInteger(1)) {
    Value value = LLVM::LoadOp::create(builder, loc, builder.getI8Type(), word);
    return arith::TruncIOp::create(builder, loc, type, value);
  }
  if (auto integer = dyn_cast<IntegerType>(type)) {
    Value value =
        LLVM::LoadOp::create(builder, loc, builder.getIntegerType(integer.getWidth()), word);
    return integer.isSignless() ? value : cast(value);
  }
  return LLVM::LoadOp::create(builder, loc, type, word);
}

LogicalResult ptoas::addEntryWrapper(func::FuncOp kernel, StringRef name) {
  OpBuilder builder(kernel.getContext());
  Location loc = kernel.getLoc();
  auto module = kernel->getParentOfType<ModuleOp>();
  builder.setInsertionPointToEnd(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto wrapper = func::FuncOp::create(builder, loc, name, builder.getFunctionType({pointer}, {}));
  builder.setInsertionPointToStart(wrapper.addEntryBlock());
  SmallVector<Value> arguments;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    Value word =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), wrapper.getArgument(0),
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(8 * i)});
    Value value = loadArgument(builder, loc, word, type);
    if (!value)
      return kernel.emitError() << "argument " << i << " of type " << type
                                << " cannot be passed from outside";
    arguments.push_back(value);
  }
  func::CallOp::create(builder, loc, kernel, arguments);
  func::ReturnOp::create(builder, loc);
  return success();
}

FailureOr<uint64_t> ptoas::parseScalarWord(Type type, StringRef text) {
  if (!isScalarArgument(type))
    return failure();
  text = text.trim();
  if (auto floatType = dyn_cast<FloatType>(type)) {
    APFloat value(floatType.getFloatSemantics());
    llvm::Expected<APFloat::opStatus> status =
        value.convertFromString(text, APFloat::rmNearestTiesToEven);
    if (!status) {
      consumeError(status.takeError());
      return failure();
    }
    if (*status & APFloat::opOverflow)
      return failure();
    return value.bitcastToAPInt().getZExtValue();
  }
  if (text == "True" || text == "true")
    text = "1";
  if (text == "False" || text == "false")
    text = "0";
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  int64_t value = 0;
  if (text.getAsInteger(0, value)) {
    uint64_t large = 0;
    if (width < 64 || text.getAsInteger(0, large))
      return failure();
    return large;
  }
  // Either the signed or the unsigned reading must fit.
  if (width < 64 && (value < -(int64_t(1) << (width - 1)) || value >= (int64_t(1) << width)))
    return failure();
  return static_cast<uint64_t>(value);
}
