//===- pto-run.cpp - run a .pto kernel on this machine --------------------===//
//
//   pto-run file.pto [--entry f[,g]] [--arg V|x.npy] [--out y.npy] [--inout z.npy] …
//
// One --arg, --out or --inout per kernel argument, in the order of the signature.
// Scalars are written out, arrays are .npy files (bf16 as uint16 bit patterns);
// --out and --inout files are overwritten with the final contents. Two entries are
// the cube and the vector function of one cluster: they run together. Block numbers
// that a kernel takes as `%__pypto_spmd_…` arguments are not given: the launch knows them.
//
//===----------------------------------------------------------------------===//
#include "GuardedMemory.h"
#include "InputLimits.h"
#include "Npy.h"
#include "ptoas/Driver/OutputFile.h"
#include "ptoas/Driver/Runner.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <chrono>

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
static cl::opt<bool> check("check",
                           cl::desc("Report accesses outside their tensors, tiles outside the "
                                    "memory, and instructions whose queues lack an order"),
                           cl::cat(category));
static cl::opt<std::string> trace("trace",
                                  cl::desc("Write a Chrome/Perfetto trace of the run here"),
                                  cl::value_desc("t.json"), cl::cat(category));
static cl::opt<bool> noFuse("no-fuse", cl::desc("Run each instruction on its own"),
                            cl::cat(category));

namespace {
struct Argument {
  bool isArray = false, isWritten = false;
  std::string text; // value or path
  ptoas::NpyArray array;
  std::unique_ptr<ptoas::GuardedMemory> memory; // what the kernel sees of it
};

struct TraceSpan {
  std::string name;
  double start, end; // microseconds
};
} // namespace

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

// How NumPy spells an element type; what it has no type for is passed as bit patterns.
static StringRef npyDescr(StringRef element) {
  return llvm::StringSwitch<StringRef>(element)
      .Case("f16", "<f2")
      .Case("bf16", "<u2")
      .Case("f32", "<f4")
      .Case("f64", "<f8")
      .Case("i8", "|i1")
      .Case("i16", "<i2")
      .Case("i32", "<i4")
      .Case("i64", "<i8")
      .Case("ui16", "<u2")
      .Case("ui32", "<u4")
      .Case("ui64", "<u8")
      .Case("i1", "|b1")
      .Default("|u1"); // ui8 and the bit patterns of eight-bit floats
}

static llvm::Error readArguments(const ptoas::Runner &runner, std::vector<Argument> &arguments,
                                 std::vector<ptoas::RunnerValue> &values) {
  auto error = [](const llvm::Twine &text) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
  };
  const std::vector<ptoas::RunnerArgument> &wanted = runner.arguments();
  const std::string &kernel = runner.entryName();
  if (arguments.size() != wanted.size())
    return error("kernel '" + kernel + "' takes " + llvm::Twine(wanted.size()) +
                 " arguments, got " + llvm::Twine(arguments.size()) + " (--arg, --out, --inout)");
  for (unsigned i = 0; i < arguments.size(); ++i) {
    Argument &argument = arguments[i];
    if (wanted[i].isPointer != argument.isArray)
      return error("argument " + llvm::Twine(i) + " of '" + kernel + "' is " +
                   (wanted[i].isPointer ? "an array: give a .npy file" : "a scalar: give a value") +
                   ", got '" + argument.text + "'");
    ptoas::RunnerValue value;
    if (!wanted[i].isPointer) {
      if (!runner.parseScalar(i, argument.text, value.word))
        return error("argument " + llvm::Twine(i) + ": '" + argument.text +
                     "' is no value of type " + wanted[i].type);
      values.push_back(value);
      continue;
    }
    if (argument.isWritten)
      for (const Argument &other : llvm::ArrayRef(arguments).take_front(i))
        if (other.isWritten && llvm::sys::fs::equivalent(other.text, argument.text))
          return error(argument.text + ": two arguments would be written to this file");
    llvm::Expected<ptoas::NpyArray> array = ptoas::readNpy(argument.text);
    if (!array)
      return array.takeError();
    argument.array = std::move(*array);
    StringRef descr = npyDescr(wanted[i].element);
    StringRef have = argument.array.descr;
    if (have.drop_front() != descr.drop_front())
      return error(argument.text + ": element type '" + have + "' where argument " +
                   llvm::Twine(i) + " needs '" + descr + "'");
    argument.memory = std::make_unique<ptoas::GuardedMemory>(
        ("argument " + llvm::Twine(i) + " ('" + argument.text + "')").str(), argument.array.data);
    if (!argument.memory->data())
      return error(argument.text + ": there is no memory for the array");
    value.word = reinterpret_cast<uint64_t>(argument.memory->data());
    value.bytes = static_cast<int64_t>(argument.array.data.size());
    values.push_back(value);
  }
  return llvm::Error::success();
}

// Without a single result to keep, what the kernel wrote would be lost in silence.
static void noteLostResults(llvm::ArrayRef<Argument> arguments) {
  if (llvm::any_of(arguments, [](const Argument &argument) { return argument.isWritten; }))
    return;
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (argument.isArray && !std::equal(argument.array.data.begin(), argument.array.data.end(),
                                        argument.memory->data()))
      llvm::errs() << "note: the kernel wrote argument " << i << " ('" << argument.text
                   << "'), and nothing keeps it: give it as --out or --inout\n";
}

// Chrome's trace format: one process, what was done one after the other.
static std::string writeTrace(StringRef path, const std::vector<TraceSpan> &spans) {
  return ptoas::writeOutput(path, [&](llvm::raw_ostream &file) {
    file << "{\"traceEvents\":[\n";
    for (const TraceSpan &span : spans)
      file << (&span == &spans.front() ? "" : ",\n")
           << llvm::format(
                  "{\"name\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%.3f,\"dur\":%.3f}",
                  span.name.c_str(), span.start, span.end - span.start);
    file << "\n],\"displayTimeUnit\":\"ns\"}\n";
  });
}

static int run() {
  if (blocks == 0)
    return fail("--blocks must be at least 1");
  if (block.getNumOccurrences() && block >= blocks)
    return fail("--block must be less than --blocks (" + llvm::Twine(blocks) + ")");
  // Linking in process resets every command line option of the process, so all are read before it.
  ptoas::Runner::Launch launch;
  launch.blocks = blocks;
  if (block.getNumOccurrences())
    launch.onlyBlock = block;
  const unsigned timedRuns = time_.getNumOccurrences() ? std::max(1u, time_.getValue()) : 0;
  const std::string tracePath = trace;
  ptoas::RunnerOptions options;
  options.arch = arch;
  options.entry = entry;
  options.fuse = !noFuse;
  options.check = check;
  options.dumpDir = dump;

  if (!dump.empty()) {
    std::error_code problem = llvm::sys::fs::create_directories(dump);
    if (!problem && !llvm::sys::fs::can_write(dump))
      problem = std::make_error_code(std::errc::permission_denied);
    if (problem)
      return fail("--dump: cannot write to the folder '" + dump + "': " + problem.message());
  }

  auto begin = std::chrono::steady_clock::now();
  std::vector<TraceSpan> spans;
  double last = 0;
  auto done = [&](const llvm::Twine &what) {
    double now =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    spans.push_back({what.str(), last, now});
    last = now;
    return spans.back().end - spans.back().start;
  };
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = ptoas::openInput(input, message);
  if (!buffer)
    return fail("could not open input file: " + message);
  std::unique_ptr<ptoas::Runner> runner =
      ptoas::Runner::open(buffer->getBuffer(), input, options, message, nullptr);
  if (!runner)
    return fail(message);
  done("parse and verify");
  std::vector<Argument> arguments = collectArguments();
  std::vector<ptoas::RunnerValue> values;
  if (llvm::Error error = readArguments(*runner, arguments, values))
    return fail(llvm::toString(std::move(error)));
  done("read arguments");
  if (!runner->checkExtents(values, message, nullptr) || !runner->compile(message, nullptr))
    return fail(message);
  done("compile");
  std::string notes;
  bool isGood = runner->run(values, launch, message, &notes);
  llvm::errs() << notes;
  if (!isGood)
    return fail(message);
  done("run " + runner->entryName());
  noteLostResults(arguments);
  for (Argument &argument : arguments) {
    if (!argument.isWritten)
      continue;
    std::copy_n(argument.memory->data(), argument.memory->size(), argument.array.data.begin());
    if (llvm::Error error = ptoas::writeNpy(argument.text, argument.array))
      return fail(llvm::toString(std::move(error)));
  }
  done("write results");

  if (timedRuns) {
    // Results are written; further runs may change the arrays again.
    double best = 1e30;
    for (unsigned i = 0; i < timedRuns; ++i) {
      if (!runner->run(values, launch, message))
        return fail(message);
      best = std::min(best, done("run " + runner->entryName()));
    }
    llvm::outs() << llvm::format("compile %.2f ms, run %.2f us\n", runner->compileMilliseconds(),
                                 best);
    llvm::outs().flush();
  }
  if (!tracePath.empty())
    if (std::string problem = writeTrace(tracePath, spans); !problem.empty())
      return fail(problem);
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Run a .pto kernel on this machine\n");
  return run();
}
