//===- pto_orchestration_api.h - how a program submits tasks --------------===//
//
// The source-level interface of orchestrations (spec 3). Arguments are collected on
// the stack and handed over by one call; tensors are remembered by address until then.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "simpler/orchestration_abi.h"

#include <cstdarg>
#include <cstdio>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

extern "C" __attribute__((visibility("default"))) void framework_bind_runtime(PTO2Runtime *);
/// The runtime of the orchestration that runs on this thread.
PTO2Runtime *simpler_bound_runtime();

/// Fails the run: the program looks at an argument that it was not given. Gives an empty tensor.
inline const ChipTensor *simpler_missing(const char *what, int32_t i, int32_t count);

struct PTO2OrchestrationConfig {
  int expected_arg_count;
};

enum class PredicateOp : uint8_t { NONE = 0, EQ, NE, GT, LT, GE, LE };

struct CorePredicateOperand {
  const ChipTensor *tensor = nullptr;
  uint32_t ndims = 0;
  uint32_t indices[MAX_TENSOR_DIMS] = {};
};

/// Read when all predecessors are complete, sign-extended, compared; false: the task is skipped.
struct CoreTaskPredicate {
  CorePredicateOperand operand;
  PredicateOp op = PredicateOp::NONE;
  int64_t target = 0;
};

/// WAIT: starts after the task. RETAIN: what the task made lives until this one is complete.
enum DepFlags : uint8_t {
  DEP_WAIT = SimplerOrchTask::kDepWait,
  DEP_RETAIN = SimplerOrchTask::kDepRetain
};

class LaunchSpec {
public:
  void set_block_num(int32_t blocks) { block_num_ = blocks; }
  void set_core_num(int32_t blocks) { block_num_ = blocks; }
  void set_require_sync_start(bool on) { sync_start_ = on; }
  int32_t block_num() const { return block_num_; }
  bool require_sync_start() const { return sync_start_; }

private:
  int32_t block_num_ = 1;
  bool sync_start_ = false;
};

struct MixedKernels {
  int32_t aic_kernel_id = -1, aiv0_kernel_id = -1, aiv1_kernel_id = -1;
};

/// A tensor argument of an entry; ref() is the descriptor.
struct TensorRef {
  const ChipTensor *tensor;
  const ChipTensor &ref() const { return *tensor; }
};

/// Arguments of an orchestration entry.
class ChipTaskArgs {
public:
  ChipTaskArgs(const ChipTensor *tensors, int32_t tensorCount, const uint64_t *scalars,
               int32_t scalarCount)
      : tensors_(tensors), scalars_(scalars), tensor_count_(tensorCount),
        scalar_count_(scalarCount) {}
  /// One that the call does not give fails the run; it is empty then.
  TensorRef tensor(int32_t i) const {
    if (i >= 0 && i < tensor_count_)
      return {tensors_ + i};
    return {simpler_missing("tensor", i, tensor_count_)};
  }
  uint64_t scalar(int32_t i) const {
    if (i >= 0 && i < scalar_count_)
      return scalars_[i];
    simpler_missing("scalar", i, scalar_count_);
    return 0;
  }
  int32_t tensor_count() const { return tensor_count_; }
  int32_t scalar_count() const { return scalar_count_; }

private:
  const ChipTensor *tensors_;
  const uint64_t *scalars_;
  int32_t tensor_count_, scalar_count_;
};

template <int MaxTensors, int MaxScalars> class Arg {
public:
  Arg() = default;
  Arg(const Arg &) = delete;
  Arg &operator=(const Arg &) = delete;

  LaunchSpec launch_spec;
  bool has_error = false;
  const char *error_msg = nullptr;

  template <typename... Ts> void add_input(Ts &&...t) {
    (add_tensor(TensorArgType::INPUT, std::forward<Ts>(t)), ...);
  }
  template <typename... Ts> void add_inout(Ts &&...t) {
    (add_tensor(TensorArgType::INOUT, std::forward<Ts>(t)), ...);
  }
  template <typename... Ts> void add_no_dep(Ts &&...t) {
    (add_tensor(TensorArgType::NO_DEP, std::forward<Ts>(t)), ...);
  }
  /// All ChipTensor (existing memory) or all TensorCreateInfo (the runtime allocates).
  template <typename... Ts> void add_output(Ts &&...t) {
    constexpr int created = (0 + ... + std::is_same_v<std::decay_t<Ts>, TensorCreateInfo>);
    static_assert(created == 0 || created == sizeof...(Ts),
                  "add_output: one call takes either tensors or TensorCreateInfo");
    (add_one_output(std::forward<Ts>(t)), ...);
  }
  template <typename... Ts> void add_scalar(Ts... values) { (add_word(word(values)), ...); }
  void add_scalars(const uint64_t *values, int32_t count) {
    for (int32_t i = 0; i < count; ++i)
      add_word(values[i]);
  }
  void add_scalars_i32(const int32_t *values, int32_t count) {
    for (int32_t i = 0; i < count; ++i)
      add_word(static_cast<uint32_t>(values[i]));
  }
  /// In a graph's body, from the graph's arguments: the values are passed on as they are, so that
  /// other values need no run of the body.
  template <typename Other>
  void copy_scalars_from(const Other &source, int32_t from, int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
      if constexpr (!kBoundary && Other::kBoundary)
        if (source.in_body_) {
          add_word(source.scalars_[from + i], static_cast<int8_t>(from + i));
          continue;
        }
      add_word(source.scalar(from + i));
    }
  }

  /// Keeps the pointer until submission; at most one call with entries.
  void set_dependencies(const PTO2TaskId *ids, int32_t count) {
    if (count > 0 && num_deps_ > 0)
      return set_error("set_dependencies was called twice with entries");
    if (count < 0 || (count > 0 && !ids))
      return set_error("set_dependencies: a count without a list");
    deps_ = ids;
    dep_kinds_ = nullptr;
    num_deps_ = count;
  }
  /// Null `kinds`: as set_dependencies. Keeps both pointers.
  void set_dependencies_with_kinds(const PTO2TaskId *ids, const DepFlags *kinds, int32_t count) {
    set_dependencies(ids, count);
    if (ids == deps_)
      dep_kinds_ = kinds;
  }
  void set_allow_early_resolve(bool on = true) { early_resolve_ = on; }
  void set_predicate(const CoreTaskPredicate &predicate) { predicate_ = predicate; }
  void set_task_timing_slot(int32_t slot) {
    if (slot < 0 || slot > 15)
      return set_error("set_task_timing_slot: slots are 0..15");
    timing_slot_ = slot;
  }
  void dump() { dump_all_ = true; }
  template <typename... Ts> void dump(const Ts &...t) { (mark_dump(&t), ...); }

  /// As new, except for launch_spec.
  void reset() {
    clear();
    has_error = false;
    error_msg = nullptr;
  }
  void clear() {
    num_args_ = num_scalars_ = num_deps_ = 0;
    deps_ = nullptr;
    dep_kinds_ = nullptr;
    predicate_ = {};
    early_resolve_ = dump_all_ = false;
    dump_mask_ = 0;
    timing_slot_ = -1;
  }

  int32_t tensor_count() const { return num_args_; }
  int32_t scalar_count() const { return num_scalars_; }
  TensorRef tensor(int32_t i) const {
    if (i >= 0 && i < num_args_ && args_[i].tensor)
      return {args_[i].tensor};
    return {simpler_missing("tensor", i, num_args_)};
  }
  TensorArgType tag(int32_t i) const { return args_[i].tag; }
  uint64_t scalar(int32_t i) const {
    if (i < 0 || i >= num_scalars_) {
      simpler_missing("scalar", i, num_scalars_);
      return 0;
    }
    if constexpr (kBoundary)
      scalars_read_ |= 1ull << (i & 63);
    return scalars_[i];
  }

  SimplerOrchTask describe(int32_t aic, int32_t aiv0, int32_t aiv1, bool dummy,
                           SimplerOrchPredicate &predicate) const {
    SimplerOrchTask task{};
    task.kernel_ids[0] = aic;
    task.kernel_ids[1] = aiv0;
    task.kernel_ids[2] = aiv1;
    task.dummy = dummy;
    task.error = has_error ? (error_msg ? error_msg : "argument error") : nullptr;
    task.args = args_;
    task.scalars = scalars_;
    task.scalar_sources = sources_;
    task.deps = deps_;
    task.has_dep_kinds = dep_kinds_ != nullptr;
    task.dep_kinds = reinterpret_cast<const uint8_t *>(dep_kinds_);
    task.num_args = num_args_;
    task.num_scalars = num_scalars_;
    task.num_deps = num_deps_;
    task.block_num = launch_spec.block_num();
    task.sync_start = launch_spec.require_sync_start();
    task.early_resolve = early_resolve_;
    task.dump_all = dump_all_;
    task.dump_mask = dump_mask_;
    task.timing_slot = timing_slot_;
    if (predicate_.op != PredicateOp::NONE) {
      predicate = {predicate_.operand.tensor,
                   predicate_.operand.ndims,
                   {},
                   static_cast<uint8_t>(predicate_.op),
                   predicate_.target};
      for (uint32_t d = 0; d < MAX_TENSOR_DIMS; ++d)
        predicate.indices[d] = predicate_.operand.indices[d];
      task.predicate = &predicate;
    }
    return task;
  }
  const SimplerOrchArg *raw_args() const { return args_; }
  const uint64_t *raw_scalars() const {
    scalars_read_ = UINT64_MAX;
    return scalars_;
  }

  /// Arguments of a graph: which scalars its body looks at decides when it must run again.
  static constexpr bool kBoundary = MaxScalars == 64;
  /// While a graph's body runs; counts from here which scalars are looked at.
  class InBody {
  public:
    explicit InBody(const Arg &args) : args_(args), outer_(args.in_body_) {
      args.scalars_read_ = 0;
      args.in_body_ = true;
    }
    ~InBody() { args_.in_body_ = outer_; }
    InBody(const InBody &) = delete;
    const uint64_t *read() const { return &args_.scalars_read_; }

  private:
    const Arg &args_;
    bool outer_;
  };
  /// What a graph's boundary cannot have, or null.
  const char *boundary_error() const {
    if (has_error)
      return error_msg ? error_msg : "argument error";
    if (num_deps_ > 0)
      return "rt_submit_graph: a graph takes no explicit dependencies; set them on its tasks";
    if (predicate_.op != PredicateOp::NONE)
      return "rt_submit_graph: a graph takes no predicate; set it on its tasks";
    return nullptr;
  }

private:
  template <int, int> friend class Arg;
  void set_error(const char *text) {
    if (has_error)
      return;
    has_error = true;
    error_msg = text;
  }
  SimplerOrchArg *next() {
    if (num_scalars_ > 0) {
      set_error("a tensor is added after a scalar; tensors come first");
      return nullptr;
    }
    if (num_args_ == MaxTensors) {
      set_error(MaxTensors == 32 ? "more than 32 tensors in one task" : "too many tensors");
      return nullptr;
    }
    return &args_[num_args_++];
  }
  template <typename T> void add_tensor(TensorArgType tag, T &&t) {
    static_assert(std::is_lvalue_reference_v<T>, "arguments are kept by address: pass a variable");
    static_assert(std::is_same_v<std::decay_t<T>, ChipTensor>, "expected a ChipTensor");
    if (SimplerOrchArg *arg = next())
      *arg = {&t, nullptr, tag};
  }
  template <typename T> void add_one_output(T &&t) {
    static_assert(std::is_lvalue_reference_v<T>, "arguments are kept by address: pass a variable");
    if constexpr (std::is_same_v<std::decay_t<T>, TensorCreateInfo>) {
      if (SimplerOrchArg *arg = next())
        *arg = {nullptr, &t, TensorArgType::OUTPUT};
    } else {
      add_tensor(TensorArgType::OUTPUT_EXISTING, std::forward<T>(t));
    }
  }
  template <typename T> static uint64_t word(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>, "scalars are numbers or enums");
    return to_u64(value);
  }
  void add_word(uint64_t value, int8_t source = -1) {
    if (num_scalars_ == MaxScalars)
      return set_error(MaxScalars == 16 ? "more than 16 scalars in one task" : "too many scalars");
    sources_[num_scalars_] = source;
    scalars_[num_scalars_++] = value;
  }
  void mark_dump(const void *item) {
    for (int32_t i = 0; i < num_args_; ++i)
      if (args_[i].tensor == item || args_[i].create == item) {
        dump_mask_ |= 1ull << (i & 63);
        return;
      }
    set_error("dump: the argument was not added before");
  }

  SimplerOrchArg args_[MaxTensors];
  uint64_t scalars_[MaxScalars];
  int8_t sources_[MaxScalars];
  mutable uint64_t scalars_read_ = 0;
  mutable bool in_body_ = false;
  const PTO2TaskId *deps_ = nullptr;
  const DepFlags *dep_kinds_ = nullptr;
  int32_t num_args_ = 0, num_scalars_ = 0, num_deps_ = 0, timing_slot_ = -1;
  uint64_t dump_mask_ = 0;
  bool early_resolve_ = false, dump_all_ = false;
  CoreTaskPredicate predicate_;
};

using CoreTaskArgs = Arg<32, 16>;
using GraphTaskArgs = Arg<128, 64>;

/// What a submission gave: its id, and the outputs the runtime allocated, in argument order.
/// Descriptors stay valid until the scope ends.
class TaskOutputTensors {
public:
  TaskOutputTensors() = default;
  explicit TaskOutputTensors(const SimplerOrchOutputs &outputs) : outputs_(outputs) {}
  PTO2TaskId task_id() const { return outputs_.task_id; }
  uint32_t size() const { return outputs_.count; }
  bool empty() const { return outputs_.count == 0; }
  const ChipTensor &get_ref(uint32_t i) const & {
    static const ChipTensor none;
    return i < outputs_.count ? outputs_.tensors[i] : none; // none: after a fatal error
  }
  const ChipTensor &get_ref(uint32_t i) && = delete;

private:
  SimplerOrchOutputs outputs_{PTO2TaskId::invalid(), nullptr, 0};
};

inline TaskOutputTensors simpler_submit_lanes(int32_t aic, int32_t aiv0, int32_t aiv1, bool dummy,
                                              const CoreTaskArgs &args) {
  PTO2Runtime *runtime = simpler_bound_runtime();
  SimplerOrchPredicate predicate;
  SimplerOrchTask task = args.describe(aic, aiv0, aiv1, dummy, predicate);
  return TaskOutputTensors(runtime->ops->submit_task(runtime, &task));
}
inline TaskOutputTensors rt_submit_task(const MixedKernels &kernels, const CoreTaskArgs &args) {
  return simpler_submit_lanes(kernels.aic_kernel_id, kernels.aiv0_kernel_id, kernels.aiv1_kernel_id,
                              false, args);
}
inline TaskOutputTensors rt_submit_aic_task(int32_t kernel, const CoreTaskArgs &args) {
  return simpler_submit_lanes(kernel, -1, -1, false, args);
}
inline TaskOutputTensors rt_submit_aiv_task(int32_t kernel, const CoreTaskArgs &args) {
  return simpler_submit_lanes(-1, kernel, -1, false, args);
}
inline TaskOutputTensors rt_submit_dummy_task(const CoreTaskArgs &args) {
  return simpler_submit_lanes(-1, -1, -1, true, args);
}

inline TaskOutputTensors simpler_alloc_list(const TensorCreateInfo *const *list, uint32_t count) {
  PTO2Runtime *runtime = simpler_bound_runtime();
  return TaskOutputTensors(runtime->ops->alloc_tensors(runtime, list, count));
}
inline TaskOutputTensors alloc_tensors(const TensorCreateInfo *infos, uint32_t count) {
  std::vector<const TensorCreateInfo *> list(count);
  for (uint32_t i = 0; i < count; ++i)
    list[i] = infos + i;
  return simpler_alloc_list(list.data(), count);
}
template <typename... Ts,
          typename = std::enable_if_t<(std::is_same_v<std::decay_t<Ts>, TensorCreateInfo> && ...)>>
TaskOutputTensors alloc_tensors(const Ts &...infos) {
  const TensorCreateInfo *list[] = {&infos..., nullptr};
  return simpler_alloc_list(list, sizeof...(Ts));
}
inline TaskOutputTensors alloc_tensors(const CoreTaskArgs &args) {
  std::vector<const TensorCreateInfo *> list;
  for (int32_t i = 0; i < args.tensor_count(); ++i)
    if (args.raw_args()[i].create)
      list.push_back(args.raw_args()[i].create);
  return simpler_alloc_list(list.data(), static_cast<uint32_t>(list.size()));
}

//===-- Scopes ------------------------------------------------------------===//

inline void rt_scope_begin(PTO2ScopeMode mode = PTO2ScopeMode::AUTO, const char *site = nullptr) {
  PTO2Runtime *runtime = simpler_bound_runtime();
  runtime->ops->scope_begin(runtime, mode, site);
}
inline void rt_scope_end() {
  PTO2Runtime *runtime = simpler_bound_runtime();
  runtime->ops->scope_end(runtime);
}
class PTO2ScopeGuard {
public:
  explicit PTO2ScopeGuard(const char *site, PTO2ScopeMode mode = PTO2ScopeMode::AUTO) {
    rt_scope_begin(mode, site);
  }
  ~PTO2ScopeGuard() { rt_scope_end(); }
  PTO2ScopeGuard(const PTO2ScopeGuard &) = delete;
};
#define PTO2_TEXT2(x) #x
#define PTO2_TEXT(x) PTO2_TEXT2(x)
#define PTO2_SCOPE(...)                                                                            \
  if (PTO2ScopeGuard pto2_scope_(__FILE__ ":" PTO2_TEXT(__LINE__) __VA_OPT__(, ) __VA_ARGS__); true)
#define PTO2_SCOPE_GUARD(...)                                                                      \
  PTO2ScopeGuard pto2_scope_guard_(__FILE__ ":" PTO2_TEXT(__LINE__) __VA_OPT__(, ) __VA_ARGS__)

//===-- Data, geometry, errors, logging -----------------------------------===//

template <typename T = uint64_t>
T get_tensor_data(const ChipTensor &tensor, uint32_t ndims, const uint32_t indices[]) {
  PTO2Runtime *runtime = simpler_bound_runtime();
  return from_u64<T>(runtime->ops->get_tensor_data(runtime, &tensor, ndims, indices));
}
template <typename T>
void set_tensor_data(const ChipTensor &tensor, uint32_t ndims, const uint32_t indices[], T value) {
  PTO2Runtime *runtime = simpler_bound_runtime();
  runtime->ops->set_tensor_data(runtime, &tensor, ndims, indices, to_u64(value));
}
inline int32_t rt_available_cluster_count() {
  PTO2Runtime *runtime = simpler_bound_runtime();
  return runtime->ops->available_cluster_count(runtime);
}
inline int32_t rt_available_aiv_count() {
  PTO2Runtime *runtime = simpler_bound_runtime();
  return runtime->ops->available_aiv_count(runtime);
}
inline bool rt_is_fatal() {
  PTO2Runtime *runtime = simpler_bound_runtime();
  return runtime->ops->is_fatal(runtime);
}
inline void rt_orchestration_done() {
  PTO2Runtime *runtime = simpler_bound_runtime();
  runtime->ops->orchestration_done(runtime);
}
__attribute__((format(printf, 2, 3))) inline void rt_report_fatal(int32_t code, const char *format,
                                                                  ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  PTO2Runtime *runtime = simpler_bound_runtime();
  runtime->ops->report_fatal(runtime, code, text);
}
inline const ChipTensor *simpler_missing(const char *what, int32_t i, int32_t count) {
  static const ChipTensor none;
  if (simpler_bound_runtime()) // not while only the number of arguments is asked for
    rt_report_fatal(5, "the program asks for %s argument %d, the call gives %d", what, i, count);
  return &none;
}
__attribute__((format(printf, 2, 3))) inline void simpler_log(int32_t level, const char *format,
                                                              ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  PTO2Runtime *runtime = simpler_bound_runtime();
  runtime->ops->log(runtime, level, text);
}
#define LOG_DEBUG(...) simpler_log(10, __VA_ARGS__)
#define LOG_INFO(...) simpler_log(20, __VA_ARGS__)
#define LOG_TIMING(...) simpler_log(25, __VA_ARGS__)
#define LOG_WARN(...) simpler_log(30, __VA_ARGS__)
#define LOG_ERROR(...) simpler_log(40, __VA_ARGS__)

/// Emitted by generated code with SIMPLER_ORCH_PROFILING; nothing to record here.
inline uint64_t rt_orch_profile_now() { return 0; }
template <typename... Ts> void rt_orch_profile_add_dynamic_dep_vector(const Ts &...) {}

//===-- Graphs ------------------------------------------------------------===//

using GraphFunction = void (*)(const GraphTaskArgs &);
struct GraphSubmitResult {
  bool execute_block = true;
  bool recording = false;
  PTO2TaskId task_id = PTO2TaskId::invalid();
  void *recording_handle = nullptr;
};

constexpr uint64_t simpler_graph_hash(const char *text, uint64_t h = 1469598103934665603ull) {
  return *text ? simpler_graph_hash(text + 1, (h ^ static_cast<uint8_t>(*text)) * 1099511628211ull)
               : h;
}
#define GRAPH_KEY(name) simpler_graph_hash(name)

template <typename... Config>
GraphSubmitResult rt_submit_graph(uint64_t id, void (*f)(const GraphTaskArgs &, Config...),
                                  const GraphTaskArgs &args,
                                  std::type_identity_t<Config>... config) {
  struct Call {
    void (*f)(const GraphTaskArgs &, Config...);
    const GraphTaskArgs *args;
    std::tuple<Config...> config;
  } call{f, &args, {config...}};
  PTO2Runtime *runtime = simpler_bound_runtime();
  GraphSubmitResult result;
  if (const char *error = args.boundary_error()) {
    runtime->ops->report_fatal(runtime, 5, error);
    return result;
  }
  const uint64_t words[sizeof...(Config) + 1] = {to_u64(config)..., 0};
  SimplerOrchGraph graph{};
  graph.id = id;
  graph.function = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(f));
  graph.config = words;
  graph.num_config = sizeof...(Config);
  graph.body = [](void *context) {
    auto *c = static_cast<Call *>(context);
    std::apply([&](auto... values) { c->f(*c->args, values...); }, c->config);
  };
  graph.context = &call;
  graph.args = args.raw_args();
  graph.num_args = args.tensor_count();
  graph.scalars = args.raw_scalars();
  graph.num_scalars = args.scalar_count();
  GraphTaskArgs::InBody body(args);
  graph.scalars_read = body.read();
  result.task_id = runtime->ops->submit_graph(runtime, &graph);
  return result;
}
template <typename... Config>
GraphSubmitResult rt_submit_graph(void (*f)(const GraphTaskArgs &, Config...),
                                  const GraphTaskArgs &args,
                                  std::type_identity_t<Config>... config) {
  return rt_submit_graph(uint64_t{0}, f, args, config...);
}
