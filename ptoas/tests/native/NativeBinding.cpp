//===- NativeBinding.cpp - compile and load .pto text from Python ---------===//
//
// Functions with C types, for ctypes. Loaded code stays loaded.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "ptoas/Driver/Assembler.h"
#include "ptoas/Driver/Runner.h"
#include "ptoas/Target/Cpp/Cpp.h"
#include "ptoas/Target/Native/Native.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace ptoas::native;

/// Handle of the loaded code, or null with the diagnostics in `message`. `isa`: 0 host, 1 AVX2,
/// 2 AVX-512 without half-precision arithmetic. `times`: parse, compile, load in milliseconds.
extern "C" __attribute__((visibility("default"))) void *
native_compile(const char *text, int fuse, int reuse, int isa, const char *dumpDir, char *message,
               int messageSize, double *times) {
  static mlir::MLIRContext *context = [] {
    mlir::DialectRegistry registry;
    registry.insert<mlir::func::FuncDialect, mlir::arith::ArithDialect, mlir::scf::SCFDialect,
                    mlir::LLVM::LLVMDialect, mlir::pto::PTODialect>();
    auto *made = new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
    made->loadAllAvailableDialects();
    return made;
  }();
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
    llvm::raw_string_ostream stream(errors);
    stream << diagnostic.getLocation() << ": " << diagnostic << "\n";
    return mlir::success();
  });
  auto now = [] { return std::chrono::steady_clock::now(); };
  auto fail = [&]() -> void * {
    std::strncpy(message, errors.c_str(), messageSize - 1);
    message[messageSize - 1] = 0;
    return nullptr;
  };
  auto start = now();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context);
  if (!module || mlir::failed(ptoas::lowerForHost(*module)))
    return fail();
  Options options;
  options.fuse = fuse;
  options.reuse = reuse;
  options.dumpDir = dumpDir ? dumpDir : "";
  if (isa == 1)
    options.target = {Isa::AVX2, "x86-64-v3", ""};
  else if (isa == 2)
    options.target = {Isa::AVX512, "x86-64-v4", ""};
  auto parsed = now();
  auto bytes = compileToSharedObject(*module, options);
  if (mlir::failed(bytes))
    return fail();
  auto compiled = now();
  int fd = memfd_create("pto-test", 0);
  bool written = write(fd, bytes->data(), bytes->size()) == ssize_t(bytes->size());
  std::string path = "/proc/self/fd/" + std::to_string(fd);
  void *handle = written ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  // The descriptor stays open: the loader knows libraries by path, and a reused number would name
  // this one again.
  if (!handle) {
    errors = dlerror();
    return fail();
  }
  if (times) {
    auto ms = [](auto d) { return std::chrono::duration<double, std::milli>(d).count(); };
    times[0] = ms(parsed - start);
    times[1] = ms(compiled - parsed);
    times[2] = ms(now() - compiled);
  }
  return handle;
}

extern "C" __attribute__((visibility("default"))) void *native_symbol(void *handle,
                                                                      const char *name) {
  return dlsym(handle, name);
}

//===----------------------------------------------------------------------===//
// The runner that pto-run and run_pto share
//===----------------------------------------------------------------------===//

#define EXPORTED extern "C" __attribute__((visibility("default")))

static void copyText(const std::string &text, char *to, int size) {
  std::strncpy(to, text.c_str(), size - 1);
  to[size - 1] = 0;
}

/// Names of pto ops, one per line: those with native code; of the dialect; with a C++ form.
EXPORTED void native_ops(char *names, int size) {
  copyText(llvm::join(nativeOps(), "\n"), names, size);
}

static std::string dialectOps(llvm::function_ref<bool(mlir::OperationName)> counts) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::pto::PTODialect>();
  std::string lines;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == "pto" && counts(name))
      lines += name.stripDialect().str() + "\n";
  return lines;
}
EXPORTED void dialect_ops(char *names, int size) {
  copyText(dialectOps([](mlir::OperationName) { return true; }), names, size);
}
EXPORTED void cpp_ops(char *names, int size) {
  copyText(dialectOps([](mlir::OperationName name) { return ptoas::cpp::hasForm(name); }), names,
           size);
}

/// A compiled kernel, or null with what is wrong in `message`. On success `message` has one line
/// `name type element bytes` per argument.
EXPORTED void *runner_open(const char *text, const char *name, const char *arch, const char *entry,
                           int check, char *message, int size) {
  ptoas::RunnerOptions options;
  options.arch = arch;
  options.entry = entry;
  options.check = check;
  std::string problem, diagnostics;
  auto runner = ptoas::Runner::open(text, name, options, problem, &diagnostics);
  if (!runner || !runner->compile(problem, &diagnostics)) {
    copyText(diagnostics + problem, message, size);
    return nullptr;
  }
  std::string lines;
  for (const ptoas::RunnerArgument &argument : runner->arguments())
    lines += argument.name + " " + argument.type + " " + argument.element + " " +
             std::to_string(argument.bytes) + "\n";
  copyText(lines, message, size);
  return runner.release();
}

/// Milliseconds that machine code took to make.
EXPORTED double runner_compile_ms(void *runner) {
  return static_cast<ptoas::Runner *>(runner)->compileMilliseconds();
}

/// 0 with the notes of a checked run in `message`, or 1 with the fault.
EXPORTED int runner_run(void *handle, const uint64_t *words, const int64_t *bytes, int64_t blocks,
                        char *message, int size) {
  auto *runner = static_cast<ptoas::Runner *>(handle);
  std::vector<ptoas::RunnerValue> values;
  for (unsigned i = 0; i < runner->arguments().size(); ++i)
    values.push_back({words[i], bytes[i]});
  ptoas::Runner::Launch launch;
  launch.blocks = blocks;
  std::string problem, notes;
  bool ok = runner->run(values, launch, problem, &notes);
  copyText(ok ? notes : problem, message, size);
  return ok ? 0 : 1;
}

EXPORTED void runner_close(void *runner) { delete static_cast<ptoas::Runner *>(runner); }
