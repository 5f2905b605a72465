//===- Native.cpp - module in, shared object out --------------------------===//
#include "ptoas/Target/Native/Native.h"
#include "Emitter.h"
#include "Link.h"
#include "ObjectFile.h"
#include "llvm/Support/raw_ostream.h"

namespace ptoas::native {

mlir::FailureOr<std::vector<char>> compileToSharedObject(mlir::ModuleOp module,
                                                         const Options &options) {
  auto fail = [&](llvm::Error error) -> mlir::FailureOr<std::vector<char>> {
    return module.emitError("native target: ") << llvm::toString(std::move(error));
  };
  llvm::LLVMContext context;
  llvm::Module code("pto", context);
  if (llvm::Error error = prepareModule(code, options.target))
    return fail(std::move(error));
  if (mlir::failed(ModuleEmitter(code, options).emit(module)))
    return mlir::failure();
  llvm::SmallVector<char, 0> object;
  if (llvm::Error error = emitObject(code, options.target, object, options.dumpDir))
    return fail(std::move(error));
  llvm::Expected<std::vector<char>> shared = linkSharedObject(object);
  if (!shared)
    return fail(shared.takeError());
  return std::move(*shared);
}

} // namespace ptoas::native
