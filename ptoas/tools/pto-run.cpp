//===- pto-run.cpp - run a .pto kernel on this machine --------------------===//
//
//   pto-run file.pto [--entry f[,g]] [--arg V|x.npy] [--out y.npy] [--inout z.npy] …
//
// One --arg, --out or --inout per kernel argument, in the order of the signature.
// Scalars are written out, arrays are .npy files (bf16 as uint16 bit patterns);
// --out and --inout files are overwritten with the final contents. Two entries are
// the cube and the vector function of one cluster: they run together.
//
//===----------------------------------------------------------------------===//
#include "ArgumentExtents.h"
#include "EntryWrapper.h"
#include "FifoRuntime.h"
#include "GuardedMemory.h"
#include "Npy.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "ptoas/Driver/Assembler.h"
#include "ptoas/Target/Native/Native.h"
#include "support/SharedObject.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <optional>
#include <thread>

namespace cl = llvm::cl;
using llvm::StringRef;

static cl::OptionCategory category("pto-run options");
static cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("<input.pto>"),
                                  cl::cat(category));
static cl::opt<std::string>
    entry("entry", cl::desc("Kernel to run; two names are a cube and a vector function"),
          cl::value_desc("name[,name]"), cl::cat(category));
static cl::list<std::string> args("arg", cl::desc("A scalar, or an input array"),
                                  cl::value_desc("value|x.npy"), cl::cat(category));
static cl::list<std::string> outs("out", cl::desc("An output array"), cl::value_desc("y.npy"),
                                  cl::cat(category));
static cl::list<std::string> inouts("inout", cl::desc("An array that is read and written"),
                                    cl::value_desc("z.npy"), cl::cat(category));
static cl::opt<unsigned> time_("time", cl::desc("Run N more times and print the shortest time"),
                               cl::init(0), cl::value_desc("N"), cl::cat(category));
static cl::opt<unsigned> block("block", cl::desc("Run this block only"), cl::cat(category));
static cl::opt<unsigned> blocks("blocks",
                                cl::desc("Number of blocks; all of them run, one after the other"),
                                cl::init(1), cl::cat(category));
static cl::opt<std::string>
    arch("pto-arch", cl::desc("Target architecture: a2, a3 or a5 (overrides the module)"),
         cl::cat(category));
static cl::opt<std::string> dump("dump", cl::desc("Write the stages of the native target here"),
                                 cl::value_desc("folder"), cl::cat(category));
static cl::opt<bool> noFuse("no-fuse", cl::desc("Run each instruction on its own"),
                            cl::cat(category));

namespace {
struct Argument {
  bool isArray = false, isWritten = false;
  std::string text; // value or path
  ptoas::NpyArray array;
  std::unique_ptr<ptoas::GuardedMemory> memory; // what the kernel sees of it
};

using Entry = void (*)(void *words);

// How often and where the kernels run. Linking in process resets every command line option of
// the process, so these are read before it.
struct Launch {
  unsigned blocks = 1;
  std::optional<unsigned> onlyBlock, timedRuns;
};
} // namespace

static Launch launch;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "Error: " << message << "\n";
  return 1;
}

// The --arg, --out and --inout words in the order of the command line.
static std::vector<Argument> collectArguments() {
  std::vector<std::pair<unsigned, Argument>> found;
  auto add = [&](cl::list<std::string> &list, bool isWritten) {
    for (unsigned i = 0; i < list.size(); ++i) {
      Argument argument;
      argument.text = list[i];
      argument.isWritten = isWritten;
      argument.isArray = isWritten || StringRef(list[i]).ends_with(".npy");
      found.push_back({list.getPosition(i), std::move(argument)});
    }
  };
  add(args, false);
  add(outs, true);
  add(inouts, true);
  std::sort(found.begin(), found.end(), [](auto &a, auto &b) { return a.first < b.first; });
  std::vector<Argument> ordered;
  for (auto &item : found)
    ordered.push_back(std::move(item.second));
  return ordered;
}

static StringRef npyDescr(mlir::Type element) {
  namespace elem = mlir::pto::elem;
  switch (elem::classify(element)) {
  case elem::F16:
    return "<f2";
  case elem::BF16:
    return "<u2";
  case elem::F32:
    return "<f4";
  case elem::F64:
    return "<f8";
  case elem::I8:
    return "|i1";
  case elem::I16:
    return "<i2";
  case elem::I32:
    return "<i4";
  case elem::I64:
    return "<i8";
  case elem::UI16:
    return "<u2";
  case elem::UI32:
    return "<u4";
  case elem::UI64:
    return "<u8";
  case elem::I1:
    return "|b1";
  default:
    return "|u1"; // ui8 and the bit patterns of eight-bit floats
  }
}

static llvm::Error readArguments(mlir::func::FuncOp kernel, std::vector<Argument> &arguments,
                                 std::vector<uint64_t> &words) {
  auto error = [](const llvm::Twine &text) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
  };
  if (arguments.size() != kernel.getNumArguments())
    return error("kernel '" + kernel.getName() + "' takes " +
                 llvm::Twine(kernel.getNumArguments()) + " arguments, got " +
                 llvm::Twine(arguments.size()) + " (--arg, --out, --inout)");
  for (unsigned i = 0; i < arguments.size(); ++i) {
    Argument &argument = arguments[i];
    mlir::Type type = kernel.getArgument(i).getType();
    auto pointer = mlir::dyn_cast<mlir::pto::PtrType>(type);
    std::string typeText;
    llvm::raw_string_ostream(typeText) << type;
    if (!pointer && !ptoas::isScalarArgument(type))
      return error("argument " + llvm::Twine(i) + " of '" + kernel.getName() + "' has the type " +
                   typeText + ": only !pto.ptr and scalars of up to 64 bits can be passed");
    if (bool(pointer) != argument.isArray)
      return error("argument " + llvm::Twine(i) + " of '" + kernel.getName() + "' is " +
                   (pointer ? "an array: give a .npy file" : "a scalar: give a value") + ", got '" +
                   argument.text + "'");
    if (!pointer) {
      mlir::FailureOr<uint64_t> word = ptoas::parseScalarWord(type, argument.text);
      if (mlir::failed(word))
        return error("argument " + llvm::Twine(i) + ": '" + argument.text +
                     "' is no value of type " + typeText);
      words.push_back(*word);
      continue;
    }
    llvm::Expected<ptoas::NpyArray> array = ptoas::readNpy(argument.text);
    if (!array)
      return array.takeError();
    argument.array = std::move(*array);
    StringRef wanted = npyDescr(pointer.getElementType());
    StringRef have = argument.array.descr;
    if (have.drop_front() != wanted.drop_front())
      return error(argument.text + ": element type '" + have + "' where argument " +
                   llvm::Twine(i) + " needs '" + wanted + "'");
    argument.memory = std::make_unique<ptoas::GuardedMemory>(
        ("argument " + llvm::Twine(i) + " ('" + argument.text + "')").str(), argument.array.data);
    if (!argument.memory->data())
      return error(argument.text + ": there is no memory for the array");
    words.push_back(reinterpret_cast<uint64_t>(argument.memory->data()));
  }
  return llvm::Error::success();
}

static std::vector<mlir::func::FuncOp> findEntries(mlir::ModuleOp module, std::string &problem) {
  std::vector<mlir::func::FuncOp> found;
  if (!entry.empty()) {
    llvm::SmallVector<StringRef> names;
    StringRef(entry).split(names, ',');
    for (StringRef name : names) {
      auto kernel = module.lookupSymbol<mlir::func::FuncOp>(name);
      if (!kernel || kernel.isExternal()) {
        problem = ("the module defines no function '" + name + "'").str();
        return {};
      }
      found.push_back(kernel);
    }
    return found;
  }
  std::vector<mlir::func::FuncOp> all;
  module.walk([&](mlir::func::FuncOp function) {
    if (function.isExternal())
      return;
    all.push_back(function);
    if (function->hasAttr("pto.entry"))
      found.push_back(function);
  });
  if (found.empty() && all.size() == 1)
    found = all;
  if (found.size() != 1)
    problem = "name the kernel with --entry";
  return found.size() == 1 ? found : std::vector<mlir::func::FuncOp>();
}

// What the kernels ask for when they ask where they run.
static void announce(int64_t block, int64_t lane, int64_t lanes, ptoas::FifoCluster *cluster) {
  using SetBlock = void (*)(int64_t, int64_t, int64_t, int64_t);
  if (auto setBlock = reinterpret_cast<SetBlock>(dlsym(RTLD_DEFAULT, "pto_set_block")))
    setBlock(block, launch.blocks, lane, lanes);
  ptoas::FifoCluster::enter(cluster, lane);
}

static bool isVectorKernel(mlir::func::FuncOp kernel) {
  auto kind = kernel->getAttrOfType<mlir::pto::KernelKindAttr>("pto.kernel_kind");
  return kind && kind.getValue() == mlir::pto::KernelKind::Vector;
}

// A FIFO without a split feeds one vector core only; the other has nothing to do.
static bool usesBothLanes(mlir::func::FuncOp kernel) {
  bool splits = false, joins = false;
  kernel.walk([&](mlir::Operation *op) {
    joins |= mlir::isa<mlir::pto::AivInitializePipeOp>(op);
    if (auto split = op->getAttrOfType<mlir::IntegerAttr>("split"))
      splits |= !split.getValue().isZero();
  });
  return splits || !joins;
}

struct Kernel {
  Entry entry;
  int lanes;
};

static void runBlock(int64_t block, const std::vector<Kernel> &kernels,
                     std::vector<uint64_t> &words) {
  int threadCount = 0;
  for (const Kernel &kernel : kernels)
    threadCount += kernel.lanes;
  ptoas::FifoCluster cluster(threadCount);
  if (kernels.size() == 1 && kernels[0].lanes == 1) {
    announce(block, 0, 1, &cluster);
    kernels[0].entry(words.data());
    return;
  }
  std::vector<std::thread> threads;
  for (const Kernel &kernel : kernels)
    for (int lane = 0; lane < kernel.lanes; ++lane)
      threads.emplace_back([&, lane] {
        announce(block, lane, 2, &cluster);
        kernel.entry(words.data());
        cluster.leave();
      });
  for (std::thread &thread : threads)
    thread.join();
}

static void runOnce(const std::vector<Kernel> &kernels, std::vector<uint64_t> &words) {
  if (launch.onlyBlock)
    return runBlock(*launch.onlyBlock, kernels, words);
  for (unsigned i = 0; i < launch.blocks; ++i)
    runBlock(i, kernels, words);
}

static int run() {
  if (blocks == 0)
    return fail("--blocks must be at least 1");
  if (block.getNumOccurrences() && block >= blocks)
    return fail("--block must be less than --blocks (" + llvm::Twine(blocks) + ")");
  launch.blocks = blocks;
  if (block.getNumOccurrences())
    launch.onlyBlock = block;
  if (time_.getNumOccurrences())
    launch.timedRuns = std::max(1u, time_.getValue());
  std::string message;
  ptoas::AssemblerOptions options;
  if (arch.getNumOccurrences()) {
    options.arch = ptoas::parseArchName(arch);
    if (!options.arch)
      return fail("invalid --pto-arch=" + arch + ", expected a2, a3 or a5");
  }
  ptoas::SourceFile source;
  if (mlir::failed(source.open(input, options, message)))
    return fail(message);
  mlir::OwningOpRef<mlir::ModuleOp> &module = source.module;

  source.context.loadAllAvailableDialects();
  std::vector<mlir::func::FuncOp> kernels = findEntries(*module, message);
  if (kernels.empty())
    return fail(message);
  std::vector<Argument> arguments = collectArguments();
  std::vector<uint64_t> words;
  if (llvm::Error error = readArguments(kernels.front(), arguments, words))
    return fail(llvm::toString(std::move(error)));
  std::vector<ptoas::ArgumentValue> values;
  for (unsigned i = 0; i < arguments.size(); ++i)
    values.push_back({static_cast<int64_t>(arguments[i].array.data.size()), words[i]});
  std::vector<int> lanes;
  for (unsigned i = 0; i < kernels.size(); ++i) {
    if (kernels[i].getFunctionType() != kernels.front().getFunctionType())
      return fail("the functions of one cluster must have the same signature");
    if (mlir::failed(ptoas::checkArgumentExtents(kernels[i], values)))
      return fail("an array is too small for '" + kernels[i].getName() + "'");
    lanes.push_back(
        kernels.size() > 1 && isVectorKernel(kernels[i]) && usesBothLanes(kernels[i]) ? 2 : 1);
    if (mlir::failed(ptoas::addEntryWrapper(kernels[i], "__pto_run_" + std::to_string(i))))
      return 1;
  }

  if (mlir::failed(ptoas::lowerForHost(*module)))
    return fail("the module cannot be lowered for this machine");
  ptoas::native::Options native;
  native.dumpDir = dump;
  native.fuse = !noFuse;
  auto start = std::chrono::steady_clock::now();
  mlir::FailureOr<std::vector<char>> object = ptoas::native::compileToSharedObject(*module, native);
  if (mlir::failed(object))
    return fail("native compilation failed");
  pto::SharedObject loaded =
      pto::SharedObject::fromBytes(object->data(), object->size(), "pto-run", message);
  if (!loaded)
    return fail("could not load the compiled kernel: " + message);
  std::chrono::duration<double, std::milli> compileTime = std::chrono::steady_clock::now() - start;
  std::vector<Kernel> entries;
  for (unsigned i = 0; i < kernels.size(); ++i) {
    auto function =
        reinterpret_cast<Entry>(loaded.symbol(("__pto_run_" + std::to_string(i)).c_str()));
    if (!function)
      return fail("the compiled kernel lacks its entry");
    entries.push_back({function, lanes[i]});
  }
  runOnce(entries, words);
  for (Argument &argument : arguments) {
    if (!argument.isWritten)
      continue;
    std::copy_n(argument.memory->data(), argument.memory->size(), argument.array.data.begin());
    if (llvm::Error error = ptoas::writeNpy(argument.text, argument.array))
      return fail(llvm::toString(std::move(error)));
  }

  if (launch.timedRuns) {
    // Results are written; further runs may change the arrays again.
    double best = 1e30;
    for (unsigned i = 0; i < *launch.timedRuns; ++i) {
      auto begin = std::chrono::steady_clock::now();
      runOnce(entries, words);
      best = std::min(
          best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
                    .count());
    }
    llvm::outs() << llvm::format("compile %.2f ms, run %.2f us\n", compileTime.count(), best);
    llvm::outs().flush();
  }
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Run a .pto kernel on this machine\n");
  return run();
}
