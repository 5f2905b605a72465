//===- AssemblerBench.cpp - times of the assembler in process -------------===//
//
// ptoas_bench FILE [REPEATS]: assembles a level2 `.pto` file to C++ as a library does it,
// from text to text (parse, verify, plan, order, emit), and prints one JSON object: the
// CPU milliseconds of each stage (best of the repeats), ops, and the peak memory of the process.
//
//===----------------------------------------------------------------------===//
#include "mlir/Parser/Parser.h"
#include "ptoas/Driver/Assembler.h"
#include "ptoas/Target/Cpp/Cpp.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <ctime>
#include <sys/resource.h>

using namespace mlir;

namespace {
struct Times {
  double parse = 1e30, check = 1e30, emit = 1e30, total = 1e30;
  unsigned ops = 0;
  size_t bytes = 0;
};
} // namespace

// CPU time: the assembler has one thread, and other work on the machine does not count.
static double now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

// One file through the library; false when it is not accepted.
static bool assemble(MLIRContext &context, const llvm::MemoryBuffer &file, Times &best) {
  ptoas::AssemblerOptions options;
  options.insertSync = options.assignAddresses = options.keepNames = true;
  llvm::SourceMgr sources;
  double start = now();
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(file.getMemBufferRef()), {});
  SourceMgrDiagnosticHandler handler(sources, &context, llvm::errs());
  OwningOpRef<ModuleOp> module = ptoas::parseModule(sources, context, options);
  double parse = now() - start;
  if (!module)
    return false;
  unsigned ops = 0;
  module->walk([&](Operation *) { ++ops; });
  double checked = now();
  if (failed(ptoas::checkModule(*module, options)))
    return false;
  double check = now() - checked;
  double emitted = now();
  ptoas::cpp::Options cpp;
  cpp.syncTail = true;
  FailureOr<std::string> text = ptoas::cpp::emitModule(*module, cpp);
  if (failed(text))
    return false;
  double emit = now() - emitted;
  best.parse = std::min(best.parse, parse);
  best.check = std::min(best.check, check);
  best.emit = std::min(best.emit, emit);
  best.total = std::min(best.total, parse + check + emit);
  best.ops = ops;
  best.bytes = text->size();
  return true;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    llvm::errs() << "usage: ptoas_bench FILE [REPEATS]\n";
    return 2;
  }
  auto file = llvm::MemoryBuffer::getFile(argv[1]);
  if (!file) {
    llvm::errs() << argv[1] << ": " << file.getError().message() << "\n";
    return 1;
  }
  int repeats = argc > 2 ? std::max(1, atoi(argv[2])) : 1;
  DialectRegistry registry;
  ptoas::registerPtoDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Times best;
  for (int i = 0; i < repeats; ++i)
    if (!assemble(context, **file, best))
      return 1;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  llvm::outs() << llvm::format("{\"ops\": %u, \"parse_ms\": %.3f, \"check_ms\": %.3f, "
                               "\"emit_ms\": %.3f, \"total_ms\": %.3f, \"output_bytes\": %zu, "
                               "\"peak_kb\": %ld}\n",
                               best.ops, best.parse, best.check, best.emit, best.total, best.bytes,
                               usage.ru_maxrss);
  return 0;
}
