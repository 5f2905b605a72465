//===- ptoas.cpp - the assembler ------------------------------------------===//
//
// ptoas <input|-> [-o FILE|-] [flags]: reads one module of the `pto` dialect, checks it,
// and writes C++ on the tile instruction headers, or with --emit-pto-ir the module itself.
// Exit status 0 or 1; messages on stderr. The output file appears complete or not at all: after a
// run that failed there is none, also where an earlier run had left one.
//
//===----------------------------------------------------------------------===//
#include "PtoasFlags.h"
#include "mlir/Pass/PassManager.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"
#include "ptoas/Driver/Assembler.h"
#include "ptoas/Driver/InjectBarriers.h"
#include "ptoas/Driver/OutputFile.h"
#include "ptoas/Target/Cpp/Cpp.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

static cl::OptionCategory category("ptoas options");
static cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("<input.pto or ->"),
                                  cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Output file, - for stdout"),
                                   cl::value_desc("file"), cl::init("-"), cl::cat(category));
static cl::opt<std::string>
    arch("pto-arch", cl::desc("Target architecture: a2, a3 or a5 (overrides the module)"),
         cl::cat(category));
static cl::opt<std::string> level("pto-level", cl::desc("Assembly level: level1, level2 or level3"),
                                  cl::init("level2"), cl::cat(category));
static cl::opt<bool> insertSync("enable-insert-sync",
                                cl::desc("Insert the flags and barriers that order the queues"),
                                cl::cat(category));
static cl::opt<bool>
    barrierSync("enable-inject-barrier-all-sync",
                cl::desc("Put a barrier of all queues in front of every instruction"),
                cl::cat(category));
static cl::opt<bool>
    verifySync("verify-sync",
               cl::desc("Report instructions that race for want of a flag or barrier"),
               cl::cat(category));
static cl::opt<bool> disableInferLayout("disable-infer-layout",
                                        cl::desc("Leave the layouts of views as written"),
                                        cl::cat(category));
static cl::opt<bool> emitPtoIr("emit-pto-ir", cl::desc("Write the checked module as .pto text"),
                               cl::cat(category));
static cl::opt<bool> sourceLocations("emit-source-locations",
                                     cl::desc("Comment the C++ with file:line:col of its ops"),
                                     cl::cat(category));
static cl::opt<bool> traceAddPtr("emit-addptr-trace",
                                 cl::desc("Comment each pointer addition in the C++"),
                                 cl::cat(category));
static cl::opt<bool> printSeam("pto-print-seam-ir",
                               cl::desc("Print the module behind the passes to stderr"),
                               cl::cat(category));
static cl::opt<std::string> seamFile("pto-seam-ir-file",
                                     cl::desc("Write the module behind the passes to a file"),
                                     cl::value_desc("file"), cl::cat(category));

static int fail(const llvm::Twine &message) {
  llvm::errs() << "Error: " << message << "\n";
  return 1;
}

static int write(llvm::StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> print) {
  std::string problem = ptoas::writeOutput(path, print);
  return problem.empty() ? 0 : fail(problem);
}

static void printModule(mlir::ModuleOp module, llvm::raw_ostream &os) {
  module->print(os, mlir::OpPrintingFlags().enableDebugInfo());
  os << "\n";
}

static int run() {
  ptoas::AssemblerOptions options;
  if (arch.getNumOccurrences()) {
    options.arch = ptoas::parseArchName(arch);
    if (!options.arch)
      return fail("invalid --pto-arch=" + arch + ", expected a2, a3 or a5");
  }
  if (level != "level1" && level != "level2" && level != "level3")
    return fail("invalid --pto-level=" + level + ", expected level1, level2 or level3");
  std::string message;
  bool otherSync = false;
  if (!ptoas::checkForeignFlags(message, otherSync))
    return fail(message);
  if (insertSync + barrierSync + otherSync > 1)
    return fail("--enable-insert-sync, --enable-inject-barrier-all-sync and "
                "--enable-graph-sync-solver exclude each other");
  options.level = level.back() - '0';
  options.insertSync = insertSync || otherSync;
  options.verifySync = verifySync;
  options.inferLayout = !disableInferLayout;
  options.assignAddresses = options.keepNames = !emitPtoIr;
  options.preparePasses = [](mlir::PassManager &passes) {
    mlir::applyDefaultTimingPassManagerCLOptions(passes);
    return mlir::applyPassManagerCLOptions(passes);
  };

  ptoas::SourceFile source;
  if (mlir::failed(source.open(input, options, message)))
    return fail(message);
  if (mlir::failed(ptoas::checkModule(*source.module, options)))
    return fail("the module breaks a rule of its level or target");
  if (barrierSync)
    ptoas::injectBarriers(*source.module);
  if (printSeam)
    printModule(*source.module, llvm::errs());
  if (!seamFile.empty())
    if (int status = write(seamFile, [&](auto &os) { printModule(*source.module, os); }))
      return status;
  if (emitPtoIr)
    return write(output, [&](auto &os) { printModule(*source.module, os); });

  ptoas::cpp::Options cpp;
  cpp.sourceLocations = sourceLocations;
  cpp.traceAddPtr = traceAddPtr;
  cpp.syncTail = options.insertSync || barrierSync;
  mlir::FailureOr<std::string> text = ptoas::cpp::emitModule(*source.module, cpp);
  if (mlir::failed(text))
    return fail("failed to emit C++");
  return write(output, [&](auto &os) { os << *text; });
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::pto::registerPTOPasses();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  cl::HideUnrelatedOptions({&category, &ptoas::foreignFlags()});
  cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << "ptoas " << PTOAS_VERSION << "\n"; });
  cl::ParseCommandLineOptions(argc, argv, "PTO assembler\n");
  int status = run();
  if (status)
    ptoas::dropOutput(output, input);
  return status;
}
