//===- Cpp.cpp - a module as one C++ file ---------------------------------===//
#include "ptoas/Target/Cpp/Cpp.h"
#include "FunctionEmitter.h"

using namespace mlir;

namespace ptoas::cpp {

bool isInFormTable(StringRef opName);
bool isScalarOp(StringRef name);

namespace {
/// Orders functions such that callees come first; recursion is an error.
class CallOrder {
public:
  explicit CallOrder(ModuleOp module) : module_(module), symbols_(module) {}

  LogicalResult compute() {
    bool failedAny = false;
    for (auto func : module_.getOps<func::FuncOp>())
      failedAny |= failed(visit(func));
    return failure(failedAny);
  }
  ArrayRef<func::FuncOp> order() const { return order_; }

private:
  // Depth first, with a stack of its own: call chains may be long.
  LogicalResult visit(func::FuncOp root) {
    if (done_.contains(root))
      return success();
    SmallVector<std::pair<func::FuncOp, SmallVector<func::CallOp>>> stack;
    auto push = [&](func::FuncOp func) {
      SmallVector<func::CallOp> calls;
      func.walk([&](func::CallOp call) { calls.push_back(call); });
      std::reverse(calls.begin(), calls.end());
      active_.insert(func);
      stack.push_back({func, std::move(calls)});
    };
    push(root);
    while (!stack.empty()) {
      auto &[func, calls] = stack.back();
      if (calls.empty()) {
        active_.erase(func);
        done_.insert(func);
        order_.push_back(func);
        stack.pop_back();
        continue;
      }
      func::CallOp call = calls.pop_back_val();
      auto callee = symbols_.lookup<func::FuncOp>(call.getCallee());
      if (!callee || done_.contains(callee))
        continue;
      if (active_.contains(callee)) {
        InFlightDiagnostic diag = call.emitOpError()
                                  << "makes '@" << callee.getName()
                                  << "' call itself; recursion is not possible on the cores";
        return diag;
      }
      push(callee);
    }
    return success();
  }

  ModuleOp module_;
  SymbolTable symbols_;
  llvm::DenseSet<Operation *> done_;
  llvm::DenseSet<Operation *> active_;
  SmallVector<func::FuncOp> order_;
};
} // namespace

// A C++ identifier that no other function has.
static std::string functionName(StringRef symbol, llvm::StringSet<> &taken) {
  std::string name;
  for (char c : symbol)
    name += llvm::isAlnum(c) || c == '_' ? c : '_';
  if (name.empty() || llvm::isDigit(name[0]))
    name = "_" + name;
  while (isTaken(name) || !taken.insert(name).second)
    name += "_";
  return name;
}

// Each direction of a FIFO takes two hardware flags; ids of the whole module count up, so that
// both ends come to the same numbers.
static void assignFlags(ModuleOp module, ModuleState &state) {
  std::map<int64_t, int64_t> width;
  module.walk([&](Operation *op) {
    if (!isa<pto::AicInitializePipeOp, pto::AivInitializePipeOp>(op))
      return;
    auto get = [&](StringRef name) {
      auto attr = op->getAttrOfType<IntegerAttr>(name);
      return attr ? attr.getValue().getSExtValue() : 0;
    };
    int64_t &flags = width[get("id")];
    flags = std::max<int64_t>(flags, get("dir_mask") == 3 ? 4 : 2);
  });
  int64_t next = 0;
  for (auto [id, flags] : width) {
    state.flagBase[id] = next;
    next += flags;
  }
}

static constexpr StringLiteral kPrologue = R"(#include "pto/pto-inst.hpp"

using namespace pto;

enum PTOAutoSyncTailMode {
  kBarrierAll = 0,
  kSetWaitMte3ToSEvent0 = 1,
};

static AICORE inline void ptoas_auto_sync_tail(PTOAutoSyncTailMode mode = kBarrierAll) {
  if (mode == kSetWaitMte3ToSEvent0) {
    set_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);
    return;
  }
  pipe_barrier(PIPE_ALL);
}
)";

static constexpr StringLiteral kBitcast = R"(
template <typename To, typename From> static AICORE inline To ptoas_bitcast(From from) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}
)";

static constexpr StringLiteral kEventIdArray = R"(
template <int N> struct PTOAS_EventIdArray {
  int64_t ids[N];
  AICORE int64_t &operator[](int64_t i) { return ids[i]; }
};
)";

static constexpr StringLiteral kRandom = R"(
template <uint16_t Rounds, typename Dst>
static AICORE inline void PTOAS__TRANDOM(Dst &dst, uint32_t key0, uint32_t key1, uint32_t counter0,
                                         uint32_t counter1, uint32_t counter2, uint32_t counter3) {
  TRandomKey key = {key0, key1};
  TRandomCounter counter = {counter0, counter1, counter2, counter3};
  TRANDOM<Rounds>(dst, key, counter);
}
)";

FailureOr<std::string> emitModule(ModuleOp module, const Options &options) {
  ModuleState state(options, pto::getTargetArch(module));
  bool failedAny = false;
  for (Operation &op : *module.getBody())
    if (!isa<func::FuncOp>(op)) {
      op.emitOpError() << "has no C++ form: a module holds functions (func.func)";
      failedAny = true;
    }
  CallOrder calls(module);
  if (failedAny || failed(calls.compute()))
    return failure();

  unsigned definitions = 0;
  for (auto func : module.getOps<func::FuncOp>()) {
    definitions += !func.isExternal();
    state.functionNames[func] = functionName(func.getName(), state.takenNames);
    state.types.reserve(state.functionNames[func]);
  }
  assignFlags(module, state);
  if (state.arch == pto::Arch::A5)
    state.scaleTiles = findScaleTiles(module);

  std::string functions;
  for (func::FuncOp func : calls.order()) {
    FunctionEmitter emitter(state, func);
    emitter.markEntry(definitions == 1);
    FailureOr<std::string> text = emitter.emit();
    if (failed(text)) {
      failedAny = true;
      continue;
    }
    functions += "\n" + *text;
  }
  if (failedAny)
    return failure();

  std::string file = kPrologue.str();
  if (state.bitcast)
    file += kBitcast;
  if (state.eventIdArray)
    file += kEventIdArray;
  if (state.random)
    file += kRandom;
  CppWriter names;
  for (const std::string &declaration : state.types.declarations())
    if (StringRef(declaration).contains('\n'))
      names.raw(declaration);
    else
      names.line(declaration);
  if (!names.text().empty())
    file += "\n" + names.take();
  return file + functions;
}

// Names that the code above tests by class or by hand.
static bool isHandWritten(StringRef name) {
  static const llvm::StringSet<> names = {"pto.make_tensor_view",
                                          "pto.partition_view",
                                          "pto.get_tensor_view_dim",
                                          "pto.get_tensor_view_stride",
                                          "pto.addptr",
                                          "pto.alloc_tile",
                                          "pto.declare_tile",
                                          "pto.subview",
                                          "pto.subset",
                                          "pto.treshape",
                                          "pto.bitcast",
                                          "pto.tassign",
                                          "pto.alloc_multi_tile",
                                          "pto.multi_tile_get",
                                          "pto.declare_local_array",
                                          "pto.local_array_get",
                                          "pto.local_array_set",
                                          "pto.declare_struct",
                                          "pto.struct_get",
                                          "pto.struct_set",
                                          "pto.declare_eventid_array",
                                          "pto.print",
                                          "pto.reserve_buffer",
                                          "pto.import_reserved_buffer",
                                          "pto.aic_initialize_pipe",
                                          "pto.aiv_initialize_pipe",
                                          "pto.initialize_l2l_pipe",
                                          "pto.initialize_l2g2l_pipe",
                                          "pto.tpush_to_aiv",
                                          "pto.tpush_to_aic",
                                          "pto.tpop_from_aic",
                                          "pto.tpop_from_aiv",
                                          "pto.tfree_from_aic",
                                          "pto.tfree_from_aiv",
                                          "pto.talloc_to_aiv",
                                          "pto.talloc_to_aic",
                                          "pto.declare_global",
                                          "pto.tpush",
                                          "pto.tpop",
                                          "pto.talloc",
                                          "pto.tfree",
                                          "pto.set_quant_scalar",
                                          "pto.sync.set",
                                          "pto.sync.wait",
                                          "pto.barrier",
                                          "pto.barrier_sync",
                                          "pto.fence.barrier_all",
                                          "pto.cmo.cacheinvalid",
                                          "pto.syncall",
                                          "pto.comm.tbroadcast",
                                          "pto.comm.tgather",
                                          "pto.comm.tscatter",
                                          "pto.comm.treduce",
                                          "pto.comm.build_async_session",
                                          "pto.make_prefetch_async_context",
                                          "pto.get_prefetch_async_session",
                                          "pto.section.cube",
                                          "pto.section.vector",
                                          "pto.fusion_region",
                                          "pto.yield",
                                          "func.func",
                                          "func.call",
                                          "func.return",
                                          "scf.for",
                                          "scf.if",
                                          "scf.while",
                                          "scf.condition",
                                          "scf.yield",
                                          "scf.index_switch",
                                          "scf.execute_region",
                                          "cf.br",
                                          "cf.cond_br",
                                          "cf.switch"};
  return names.contains(name);
}

bool hasForm(OperationName name) {
  return name.hasInterface<pto::TileOpInterface>() || isInFormTable(name.getStringRef()) ||
         isScalarOp(name.getStringRef()) || isHandWritten(name.getStringRef());
}

} // namespace ptoas::cpp
