//===- FuzzTargets.cpp - arbitrary bytes as text and as bytecode -----------===//
//
// libFuzzer calls LLVMFuzzerTestOneInput. Whatever the bytes are, the assembler says what is wrong
// or gives a module: what is assembled prints, survives bytecode, and prints the same again.
//
//===----------------------------------------------------------------------===//
#include "InputLimits.h"
#include "VerifyAll.h"
#include "mlir/IR/Diagnostics.h"
#include "ptoas/Driver/Assembler.h"
#include "ptoas/Driver/Bytecode.h"
#include "ptoas/Target/Cpp/Cpp.h"

using namespace mlir;

namespace {
// Names and types stay in a context for as long as it lives, so it is renewed from time to time.
struct Contexts {
  MLIRContext &next() {
    if (!context || ++uses > 500) {
      DialectRegistry registry;
      ptoas::registerPtoDialects(registry);
      context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
      context->allowUnregisteredDialects();
      context->printOpOnDiagnostic(false);
      context->getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
      uses = 0;
    }
    return *context;
  }
  std::unique_ptr<MLIRContext> context;
  unsigned uses = 0;
};
} // namespace

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

static void require(bool condition, const char *what) {
  if (condition)
    return;
  llvm::errs() << "fuzzing found: " << what << "\n";
  std::abort();
}

static void assemble(ModuleOp module, unsigned choice) {
  std::string bytes = ptoas::writeBytecode(module);
  OwningOpRef<ModuleOp> again = ptoas::readBytecode(bytes, "again", *module.getContext());
  require(bool(again), "bytecode of a good module is refused");
  // Ops of no dialect print properties apart from attributes, bytecode keeps them together.
  bool known = true;
  module.walk([&](Operation *op) { known &= op->isRegistered(); });
  require(!known || print(module) == print(*again), "bytecode changes the module");
  ptoas::AssemblerOptions options;
  options.level = 2 + choice % 2;
  options.insertSync = choice & 2;
  options.verifySync = choice & 4;
  if (succeeded(ptoas::checkModule(module, options))) {
    (void)print(module);
    (void)ptoas::cpp::emitModule(module);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Contexts contexts;
  MLIRContext &context = contexts.next();
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  unsigned choice = size ? data[size - 1] : 0;
#ifdef PTO_FUZZ_BYTECODE
  OwningOpRef<ModuleOp> module = ptoas::readBytecode(bytes, "fuzz", context);
  if (module && succeeded(ptoas::verifyAll(*module)))
    assemble(*module, choice);
#else
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(bytes, "fuzz"), llvm::SMLoc());
  ptoas::AssemblerOptions options;
  if (choice & 8)
    options.arch = "a5";
  if (OwningOpRef<ModuleOp> module = ptoas::parseModule(sources, context, options))
    assemble(*module, choice);
#endif
  return 0;
}
