//===- Runner.cpp - run the kernels of a `.pto` file on this machine ------===//
#include "ptoas/Driver/Runner.h"
#include "ArgumentExtents.h"
#include "ArgumentNames.h"
#include "CheckedRun.h"
#include "EntryWrapper.h"
#include "SourceLines.h"
#include "mlir/IR/MLIRContext.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "ptoas/Dialect/PTO/Transforms/Recursion.h"
#include "ptoas/Driver/Assembler.h"
#include "ptoas/Target/Native/Cluster.h"
#include "ptoas/Target/Native/Native.h"
#include "support/SharedObject.h"
#include <chrono>
#include <thread>

using namespace mlir;
using llvm::Twine;

namespace {
// What the launch, not the caller, gives a function.
enum class Hidden { No, BlockIdx, BlockNum, SubblockIdx };

struct Function {
  func::FuncOp op;
  std::vector<Hidden> hidden; // per argument
  int lanes = 1;
  bool isVector = false, isCube = false;
  void (*entry)(void *words) = nullptr;
};
} // namespace

// Of pto_kernels: what pto.get_block_idx and its kin give on this thread.
extern "C" void pto_set_block(int64_t index, int64_t count, int64_t subIndex, int64_t subCount);

struct ptoas::Runner::State {
  explicit State(std::string *captured)
      : stream(text), context(registry(), MLIRContext::Threading::DISABLED),
        handler(sources, &context,
                captured ? static_cast<llvm::raw_ostream &>(stream) : llvm::errs()) {
    showReadableLines(sources, captured ? static_cast<llvm::raw_ostream &>(stream) : llvm::errs());
    context.printOpOnDiagnostic(false);
    context.allowUnregisteredDialects();
    context.loadAllAvailableDialects();
  }

  static DialectRegistry registry() {
    DialectRegistry registry;
    registerPtoDialects(registry);
    return registry;
  }

  // Gives the diagnostics since the last call away.
  void hand(std::string *diagnostics) {
    if (diagnostics)
      *diagnostics += text;
    text.clear();
  }

  bool findFunctions(StringRef entry, std::string &problem);
  bool describeArguments(std::string &problem);

  std::string text; // captured diagnostics
  llvm::raw_string_ostream stream;
  llvm::SourceMgr sources;
  MLIRContext context;
  SourceMgrDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  RunnerOptions options;
  std::vector<Function> functions;
  std::vector<RunnerArgument> arguments;
  std::vector<Type> argumentTypes;
  std::vector<Member> members;
  std::string entryName;
  bool blocksMeet = false;
  std::vector<std::string> saidNotes;
  ::pto::SharedObject loaded;
  double compileMs = 0;
};

//===----------------------------------------------------------------------===//
// Which functions run, and what they take
//===----------------------------------------------------------------------===//

static bool isKind(func::FuncOp function, mlir::pto::KernelKind kind) {
  auto attr = function->getAttrOfType<mlir::pto::KernelKindAttr>("pto.kernel_kind");
  return attr && attr.getValue() == kind;
}

static bool usesFifos(func::FuncOp function) {
  return function
      ->walk([](Operation *op) {
        return isa<mlir::pto::AicInitializePipeOp, mlir::pto::AivInitializePipeOp,
                   mlir::pto::InitializeL2LPipeOp, mlir::pto::InitializeL2G2LPipeOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

// A FIFO without a split feeds one vector core only; the other has nothing to do.
static bool usesBothLanes(func::FuncOp function) {
  bool splits = false, joins = false;
  function.walk([&](Operation *op) {
    joins |= isa<mlir::pto::AivInitializePipeOp, mlir::pto::InitializeL2LPipeOp,
                 mlir::pto::InitializeL2G2LPipeOp>(op);
    if (auto split = op->getAttrOfType<IntegerAttr>("split"))
      splits |= !split.getValue().isZero();
  });
  return splits || !joins;
}

bool ptoas::Runner::State::findFunctions(StringRef entry, std::string &problem) {
  std::vector<func::FuncOp> found;
  if (!entry.empty()) {
    llvm::SmallVector<StringRef> names;
    entry.split(names, ',');
    for (StringRef name : names) {
      auto function = module->lookupSymbol<func::FuncOp>(name);
      if (!function || function.isExternal()) {
        problem = ("the module defines no function '" + name + "'").str();
        return false;
      }
      if (llvm::is_contained(found, function)) {
        problem = ("the entry names '" + name + "' twice").str();
        return false;
      }
      found.push_back(function);
    }
  } else {
    std::vector<func::FuncOp> all;
    for (auto function : module->getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      all.push_back(function);
      if (function->hasAttr("pto.entry"))
        found.push_back(function);
    }
    // Both halves of a cluster: they only run together.
    bool isPair =
        all.size() == 2 && usesFifos(all[0]) && usesFifos(all[1]) &&
        isKind(all[0], mlir::pto::KernelKind::Cube) != isKind(all[1], mlir::pto::KernelKind::Cube);
    if ((found.empty() && (all.size() == 1 || isPair)) || (found.size() == 2 && isPair))
      found = all;
    else if (found.size() != 1) {
      problem = all.empty() ? "the module defines no function" : "name the kernel with --entry";
      return false;
    }
  }
  // More than one function is a cluster: a cube and a vector function.
  for (auto [i, function] : llvm::enumerate(found)) {
    using mlir::pto::KernelKind;
    auto kind = function->getAttrOfType<mlir::pto::KernelKindAttr>("pto.kernel_kind");
    if (found.size() > 1 && !kind) {
      problem =
          ("'" + function.getName() +
           "' has no pto.kernel_kind: functions that run together are a cube and a vector one")
              .str();
      return false;
    }
    for (func::FuncOp other : llvm::ArrayRef(found).drop_front(i + 1))
      if (isKind(other, kind.getValue())) {
        problem = ("'" + function.getName() + "' and '" + other.getName() +
                   "' are both code of the " + stringifyKernelKind(kind.getValue()) +
                   " core: a cluster runs a cube and a vector function")
                      .str();
        return false;
      }
  }
  for (func::FuncOp function : found) {
    Function made;
    made.op = function;
    made.isVector = isKind(function, mlir::pto::KernelKind::Vector);
    made.isCube = isKind(function, mlir::pto::KernelKind::Cube);
    made.lanes = found.size() > 1 && made.isVector && usesBothLanes(function) ? 2 : 1;
    for (int lane = 0; lane < made.lanes; ++lane)
      members.push_back({static_cast<unsigned>(functions.size()), lane});
    functions.push_back(std::move(made));
    entryName += (entryName.empty() ? "" : ",") + function.getName().str();
    blocksMeet |= native::waitsForOtherBlocks(function);
  }
  return true;
}

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

bool ptoas::Runner::State::describeArguments(std::string &problem) {
  for (Function &function : functions) {
    constexpr unsigned kMaxArguments = 1000;
    if (function.op.getNumArguments() > kMaxArguments) {
      problem = ("'" + function.op.getName() + "' takes " + Twine(function.op.getNumArguments()) +
                 " arguments, more than the " + Twine(kMaxArguments) + " that can be passed")
                    .str();
      return false;
    }
    unsigned visible = 0;
    for (unsigned i = 0; i < function.op.getNumArguments(); ++i) {
      Type type = function.op.getArgument(i).getType();
      std::string name = argumentName(function.op, i, sources);
      if (StringRef kept = keptName(function.op, i); !kept.empty())
        name = kept.str();
      Hidden hidden = name == "__pypto_spmd_block_idx"      ? Hidden::BlockIdx
                      : name == "__pypto_spmd_block_num"    ? Hidden::BlockNum
                      : name == "__pypto_spmd_subblock_idx" ? Hidden::SubblockIdx
                                                            : Hidden::No;
      function.hidden.push_back(hidden);
      if (!name.empty())
        function.op.setArgAttr(i, "pypto.name", StringAttr::get(&context, name));
      if (hidden != Hidden::No)
        continue;
      bool isFirst = &function == &functions.front();
      if (!isFirst) {
        if (visible >= argumentTypes.size() || argumentTypes[visible] != type) {
          problem = "the functions of one cluster must have the same signature";
          return false;
        }
        ++visible;
        continue;
      }
      ++visible;
      RunnerArgument argument;
      argument.name = name;
      argument.type = textOf(type);
      auto pointer = dyn_cast<mlir::pto::PtrType>(type);
      argument.isPointer = bool(pointer);
      if (!pointer && !isScalarArgument(type)) {
        problem = ("argument " + Twine(i) + " of '" + function.op.getName() + "' has the type " +
                   argument.type + ": only !pto.ptr and scalars of up to 64 bits can be passed")
                      .str();
        return false;
      }
      Type element = pointer ? pointer.getElementType() : type;
      argument.element = textOf(element);
      argument.bytes = type.isIndex() ? 8 : mlir::pto::getElementBytes(element);
      arguments.push_back(std::move(argument));
      argumentTypes.push_back(type);
    }
    if (visible != argumentTypes.size()) {
      problem = "the functions of one cluster must have the same signature";
      return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Runner
//===----------------------------------------------------------------------===//

ptoas::Runner::Runner(std::unique_ptr<State> state) : state_(std::move(state)) {}
ptoas::Runner::~Runner() = default;
const std::vector<ptoas::RunnerArgument> &ptoas::Runner::arguments() const {
  return state_->arguments;
}
const std::string &ptoas::Runner::entryName() const { return state_->entryName; }
const std::vector<ptoas::Runner::Member> &ptoas::Runner::members() const { return state_->members; }
bool ptoas::Runner::blocksMeet() const { return state_->blocksMeet; }
double ptoas::Runner::compileMilliseconds() const { return state_->compileMs; }

std::unique_ptr<ptoas::Runner> ptoas::Runner::open(std::string_view text, const std::string &name,
                                                   const RunnerOptions &options,
                                                   std::string &problem, std::string *diagnostics) {
  AssemblerOptions assembler;
  if (!options.arch.empty()) {
    assembler.arch = parseArchName(options.arch);
    if (!assembler.arch) {
      problem = "invalid --pto-arch=" + options.arch + ", expected a2, a3 or a5";
      return nullptr;
    }
  }
  auto state = std::make_unique<State>(diagnostics);
  state->options = options;
  state->sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(StringRef(text.data(), text.size()), name),
      llvm::SMLoc());
  state->module = parseModule(state->sources, state->context, assembler);
  bool ok = state->module && succeeded(mlir::pto::checkRecursion(*state->module));
  if (!ok)
    problem = "failed to parse or verify " + (name == "-" ? "the input" : name);
  ok = ok && state->findFunctions(options.entry, problem) && state->describeArguments(problem);
  if (ok && options.check) {
    ok = succeeded(checkMemory(*state->module));
    if (!ok)
      problem = "the program does not fit its memory or its level";
    keepTileNames(*state->module, state->sources);
  }
  state->hand(diagnostics);
  if (!ok)
    return nullptr;
  return std::unique_ptr<Runner>(new Runner(std::move(state)));
}

bool ptoas::Runner::parseScalar(unsigned argument, std::string_view text, uint64_t &word) const {
  FailureOr<uint64_t> parsed =
      parseScalarWord(state_->argumentTypes[argument], StringRef(text.data(), text.size()));
  if (succeeded(parsed))
    word = *parsed;
  return succeeded(parsed);
}

bool ptoas::Runner::checkExtents(const std::vector<RunnerValue> &values, std::string &problem,
                                 std::string *diagnostics) {
  bool ok = true;
  for (Function &function : state_->functions) {
    std::vector<ArgumentValue> given;
    unsigned next = 0;
    for (Hidden hidden : function.hidden) {
      if (hidden != Hidden::No) {
        given.push_back({0, 0, /*isKnown=*/false});
        continue;
      }
      given.push_back({values[next].bytes, values[next].word});
      ++next;
    }
    if (failed(checkArgumentExtents(function.op, given))) {
      problem = ("an array is too small for '" + function.op.getName() + "'").str();
      ok = false;
    }
  }
  state_->hand(diagnostics);
  return ok;
}

// All of the module is compiled, so a call without a body behind it could not be loaded.
static LogicalResult checkCallees(ModuleOp module) {
  bool failedAny = false;
  SymbolTable symbols(module);
  module.walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || !callee.isExternal())
      return;
    InFlightDiagnostic diag = call.emitError()
                              << "calls '@" << callee.getName()
                              << "', which has no body: to run, the module must define it";
    diag.attachNote(callee.getLoc()) << "declared here";
    failedAny = true;
  });
  return failure(failedAny);
}

bool ptoas::Runner::compile(std::string &problem, std::string *diagnostics) {
  State &state = *state_;
  auto fail = [&](std::string text) {
    problem = std::move(text);
    state.hand(diagnostics);
    return false;
  };
  auto start = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < state.functions.size(); ++i)
    if (failed(addEntryWrapper(state.functions[i].op, "__pto_run_" + std::to_string(i))))
      return fail("a kernel takes arguments that cannot be passed");
  if (failed(checkCallees(*state.module)))
    return fail("the module calls functions that it only declares");
  if (failed(lowerForHost(*state.module)))
    return fail("the module cannot be lowered for this machine");
  native::Options native;
  native.dumpDir = state.options.dumpDir;
  native.fuse = state.options.fuse;
  native.check = native.checkOrder = state.options.check;
  FailureOr<std::vector<char>> object = native::compileToSharedObject(*state.module, native);
  if (failed(object))
    return fail("native compilation failed");
  std::string message;
  // Compiled code finds the library by the loader's global scope.
  if (!::pto::SharedObject::makeGlobal(reinterpret_cast<void *>(&pto_set_block), message))
    return fail("could not load the compiled kernel: " + message);
  state.loaded = ::pto::SharedObject::fromBytes(object->data(), object->size(), "pto-run", message);
  if (!state.loaded)
    return fail("could not load the compiled kernel: " + message);
  for (unsigned i = 0; i < state.functions.size(); ++i)
    state.functions[i].entry = reinterpret_cast<void (*)(void *)>(
        state.loaded.symbol(("__pto_run_" + std::to_string(i)).c_str()));
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  state.compileMs = took.count();
  state.hand(diagnostics);
  return true;
}

namespace {
// One call of one function.
struct Call {
  const Function *function;
  int64_t block, blocks, lane, lanes;
  std::vector<uint64_t> words;
};

struct Group {
  ptoas::Cluster *cluster;
  std::vector<Call> calls;
};
} // namespace

static void callMember(void *context, int number, void (*yield)()) {
  Group &group = *static_cast<Group *>(context);
  struct Bound {
    Group &group;
    Call &call;
  } bound{group, group.calls[number]};
  group.cluster->run(
      bound.call.block, bound.call.lane,
      [](void *argument) {
        Bound &bound = *static_cast<Bound *>(argument);
        pto_set_block(bound.call.block, bound.call.blocks, bound.call.lane, bound.call.lanes);
        bound.call.function->entry(bound.call.words.data());
      },
      &bound, yield);
}

bool ptoas::Runner::run(const std::vector<RunnerValue> &values, const Launch &launch,
                        std::string &problem, std::string *notes) {
  State &state = *state_;
  constexpr int64_t kMaxThreads = 1024;
  int64_t first = launch.onlyBlock >= 0 ? launch.onlyBlock : 0;
  int64_t end = launch.onlyBlock >= 0 ? first + 1 : launch.blocks;
  int64_t together = state.blocksMeet ? end - first : 1;
  if (together * static_cast<int64_t>(state.members.size()) > kMaxThreads) {
    problem = "the blocks of this kernel wait for each other, and " + std::to_string(together) +
              " blocks are more than can run side by side (" + std::to_string(kMaxThreads) +
              " functions)";
    return false;
  }
  for (int64_t block = first; block < end; block += together) {
    Group group{nullptr, {}};
    int vectors = 0, cubes = 0, both = 0;
    for (int64_t b = block; b < block + together; ++b)
      for (const Member &member : state.members) {
        const Function &function = state.functions[member.function];
        // Alone, a kernel of either kind is on one core; in a cluster there are two vector cores.
        Call call{&function, b, launch.blocks, member.lane, state.members.size() > 1 ? 2 : 1, {}};
        unsigned next = 0;
        for (Hidden hidden : function.hidden)
          call.words.push_back(hidden == Hidden::No         ? values[next++].word
                               : hidden == Hidden::BlockIdx ? b
                               : hidden == Hidden::BlockNum ? launch.blocks
                                                            : member.lane);
        group.calls.push_back(std::move(call));
        ++(function.isVector ? vectors : function.isCube ? cubes : both);
      }
    Cluster cluster(vectors, cubes, both);
    group.cluster = &cluster;
    if (state.options.check)
      cluster.checkOrder();
    int count = static_cast<int>(group.calls.size());
    if (count == 1) {
      callMember(&group, 0, nullptr);
    } else if (launch.coRun) {
      launch.coRun(launch.host, count, callMember, &group);
    } else {
      std::vector<std::thread> threads;
      for (int i = 0; i < count; ++i)
        threads.emplace_back(callMember, &group, i, nullptr);
      for (std::thread &thread : threads)
        thread.join();
    }
    problem = cluster.fault();
    if (problem.empty())
      for (const std::string &error : cluster.findings().errors)
        problem += (problem.empty() ? "" : "\n") + error;
    for (const std::string &note : cluster.findings().notes) {
      if (llvm::is_contained(state.saidNotes, note))
        continue;
      state.saidNotes.push_back(note);
      if (notes)
        *notes += note + "\n";
    }
    if (!problem.empty())
      return false;
  }
  return true;
}
