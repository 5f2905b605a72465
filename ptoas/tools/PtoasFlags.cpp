//===- PtoasFlags.cpp - flags of other assemblers -------------------------===//
#include "PtoasFlags.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

static cl::OptionCategory category("Compatibility with other assemblers");

llvm::cl::OptionCategory &ptoas::foreignFlags() { return category; }

static cl::opt<std::string> backend("pto-backend", cl::desc("emitc; vpto is not available"),
                                    cl::init("emitc"), cl::cat(category));
static cl::opt<std::string> planner("plan-memory-impl",
                                    cl::desc("legacy or modern: there is one planner"),
                                    cl::init("legacy"), cl::cat(category));
static cl::opt<std::string> scheduler("vpto-scheduler", cl::desc("off, analyze or on"),
                                      cl::init("off"), cl::cat(category));
static cl::opt<std::string> simtSize("vpto-fix-vfsimt-size", cl::desc("auto, off or verify"),
                                     cl::init("auto"), cl::cat(category));
static cl::opt<std::string> lowering("vpto-lowering-strategy", cl::desc("Of the vpto back end"),
                                     cl::cat(category));
static cl::opt<std::string> cannVersion("cann-output-version", cl::desc("Of the vpto back end"),
                                        cl::cat(category));
static cl::opt<unsigned> eventLimit("graph-sync-solver-event-id-max",
                                    cl::desc("Events per pair of queues; 8 are used"), cl::init(8),
                                    cl::cat(category));
static cl::opt<bool> graphSync("enable-graph-sync-solver", cl::desc("Same as --enable-insert-sync"),
                               cl::cat(category));
static cl::opt<bool> bufferIdSync("enable-bufid_sync", cl::desc("Not available"),
                                  cl::cat(category));

// Of the vpto back end, or optimisations in front of it.
#define PTO_BOOL_FLAG(variable, name, value)                                                       \
  static cl::opt<bool> variable(name, cl::desc("No effect on C++"), cl::init(value),               \
                                cl::cat(category));
PTO_BOOL_FLAG(orderBySize, "plan-memory-order-by-size", false)
PTO_BOOL_FLAG(opFusion, "enable-op-fusion", false)
PTO_BOOL_FLAG(unroll, "enable-unroll-after-loop-fusion", false)
PTO_BOOL_FLAG(shapeInference, "enable-shape-inference", true)
PTO_BOOL_FLAG(expdifFusion, "enable-vexpdif-fusion", true)
PTO_BOOL_FLAG(tileOpExpand, "enable-tile-op-expand", false)
PTO_BOOL_FLAG(softPostUpdate, "enable-vpto-soft-postupdate", false)
PTO_BOOL_FLAG(vecMisched, "enable-bisheng-vec-misched", false)
PTO_BOOL_FLAG(simtFastMath, "simt-fastmath", false)
PTO_BOOL_FLAG(vfAutoSync, "bisheng-vf-auto-sync", false)
#undef PTO_BOOL_FLAG
#define PTO_VPTO_FLAG(variable, name)                                                              \
  static cl::opt<bool> variable(name, cl::desc("Not available"), cl::cat(category));
PTO_VPTO_FLAG(emitVpto, "emit-vpto")
PTO_VPTO_FLAG(emitVptoLlvm, "emit-vpto-llvm-ir")
PTO_VPTO_FLAG(printVpto, "vpto-print-ir")
PTO_VPTO_FLAG(dumpVpto, "dump-vpto-ir")
#undef PTO_VPTO_FLAG

bool ptoas::checkForeignFlags(std::string &message, bool &insertSync) {
  auto oneOf = [&](const cl::opt<std::string> &flag, std::initializer_list<llvm::StringRef> legal) {
    for (llvm::StringRef word : legal)
      if (flag.getValue() == word)
        return true;
    message = ("invalid --" + flag.ArgStr + "=" + flag.getValue() + ", expected ").str();
    for (llvm::StringRef word : legal)
      message += (word == *legal.begin() ? "" : " or ") + word.str();
    return false;
  };
  if (!oneOf(backend, {"emitc", "vpto"}) || !oneOf(planner, {"legacy", "modern"}) ||
      !oneOf(scheduler, {"off", "analyze", "on"}) || !oneOf(simtSize, {"auto", "off", "verify"}))
    return false;
  if (backend == "vpto") {
    message = "--pto-backend=vpto is not available: this assembler writes C++ (emitc)";
    return false;
  }
  for (const cl::opt<bool> *flag : {&emitVpto, &emitVptoLlvm, &printVpto, &dumpVpto})
    if (*flag) {
      message = ("--" + flag->ArgStr + " is not available: there is no vpto back end").str();
      return false;
    }
  if (bufferIdSync) {
    message = "--enable-bufid_sync is not available: flags are inserted with --enable-insert-sync";
    return false;
  }
  insertSync = graphSync;
  const cl::Option *quiet[] = {&orderBySize,  &opFusion,     &unroll,         &shapeInference,
                               &expdifFusion, &tileOpExpand, &softPostUpdate, &vecMisched,
                               &simtFastMath, &vfAutoSync,   &planner,        &scheduler,
                               &simtSize,     &lowering,     &cannVersion,    &eventLimit};
  for (const cl::Option *flag : quiet)
    if (flag->getNumOccurrences())
      llvm::errs() << "warning: --" << flag->ArgStr
                   << " has no effect on the C++ that is written\n";
  return true;
}
