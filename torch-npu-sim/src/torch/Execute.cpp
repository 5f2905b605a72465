//===- Execute.cpp - runs torch operators on the device -------------------===//
#include "Execute.h"

#include "Format.h"
#include "Generator.h"

#include <c10/util/flat_hash_map.h>

#include <map>
#include <set>

namespace npu {
namespace {

using torch::jit::Stack;

/// What the schema says about an operator, looked up once.
struct OpFacts {
  std::string name;
  bool hostResult = false;   // returns something other than tensors, or shapes that depend on data
  bool hasMeta = false;      // output shapes can be had without running
  bool mixesDevices = false; // CPU tensors beside device tensors are legal
  std::vector<int> returns;  // per return: index of the argument it is, or -1 for a new tensor
  std::vector<bool> written; // per argument
  std::vector<int> generators;
  bool onlyWrites = false; // every return is an argument
};

const OpFacts &factsOf(const c10::OperatorHandle &op) {
  thread_local ska::flat_hash_map<const c10::FunctionSchema *, std::unique_ptr<OpFacts>> known;
  const c10::FunctionSchema &schema = op.schema();
  auto &facts = known[&schema];
  if (facts && facts->name == schema.name())
    return *facts;
  facts = std::make_unique<OpFacts>();
  facts->name = schema.name();
  const auto &arguments = schema.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto *alias = arguments[i].alias_info();
    facts->written.push_back(alias && alias->isWrite());
    auto type = arguments[i].type();
    if (auto optional = type->cast<c10::OptionalType>())
      type = optional->getElementType();
    if (type->kind() == c10::TypeKind::GeneratorType)
      facts->generators.push_back(int(i));
  }
  facts->onlyWrites = true;
  for (const auto &result : schema.returns()) {
    int same = -1;
    const auto *alias = result.alias_info();
    if (alias && alias->isWrite())
      for (size_t i = 0; i < arguments.size() && same < 0; ++i)
        if (arguments[i].alias_info() &&
            arguments[i].alias_info()->beforeSets() == alias->beforeSets())
          same = int(i);
    facts->returns.push_back(same);
    facts->onlyWrites &= same >= 0;
    auto kind = result.type()->kind();
    bool tensors = kind == c10::TypeKind::TensorType ||
                   (kind == c10::TypeKind::ListType &&
                    result.type()->castRaw<c10::ListType>()->getElementType()->kind() ==
                        c10::TypeKind::TensorType);
    facts->hostResult |= !tensors;
  }
  facts->hostResult |=
      op.hasTag(at::Tag::data_dependent_output) || op.hasTag(at::Tag::dynamic_output_shape);
  facts->hasMeta = op.hasKernelForDispatchKey(c10::DispatchKey::Meta) ||
                   op.hasComputedKernelForDispatchKey(c10::DispatchKey::Meta);
  static const std::set<std::string> mixing{"aten::_pack_padded_sequence", "aten::_ctc_loss",
                                            "aten::_ctc_loss_backward",    "aten::_copy_from",
                                            "aten::_copy_from_and_resize", "aten::is_set_to"};
  facts->mixesDevices = mixing.count(facts->name) != 0;
  // Their Meta kernels describe another device's results.
  static const std::set<std::string> unlikeMeta{"aten::_embedding_bag",
                                                "aten::_embedding_bag_forward_only"};
  facts->hostResult |= unlikeMeta.count(facts->name) != 0;
  return *facts;
}

/// Device and format of a call's tensors.
struct Survey {
  int device = -1;
  bool privateFormat = false;
};

void look(const at::Tensor &tensor, bool mayBeOnCpu, const OpFacts &facts, Survey &survey) {
  if (!tensor.defined())
    return;
  if (tensor.device().type() == c10::kPrivateUse1) {
    int index = tensor.device().index();
    TORCH_CHECK(
        survey.device < 0 || survey.device == index,
        "Expected all tensors to be on the same device, but found at least two devices, npu:",
        survey.device, " and npu:", index, "! (operator ", facts.name, ")");
    survey.device = index;
    survey.privateFormat |= hasPrivateFormat(tensor);
    return;
  }
  TORCH_CHECK(mayBeOnCpu || facts.mixesDevices || tensor.dim() == 0 || tensor.device().is_meta() ||
                  !tensor.device().is_cpu(),
              "Expected all tensors to be on the same device, but found at least two devices, npu",
              survey.device >= 0 ? ":" + std::to_string(survey.device) : std::string(), " and ",
              tensor.device(), "! (operator ", facts.name, ")");
}

template <class F> void forEachTensor(const c10::IValue &value, F f) {
  if (value.isTensor())
    f(value.toTensor(), false);
  else if (value.isTensorList())
    for (const at::Tensor &tensor : value.toTensorVector())
      f(tensor, false);
  else if (value.isOptionalTensorList())
    for (const std::optional<at::Tensor> &tensor : value.toOptionalTensorVector())
      if (tensor)
        f(*tensor, true); // index lists may lie on the CPU
}

/// The same value with every device tensor mapped.
template <class F> c10::IValue mapTensors(const c10::IValue &value, F map) {
  if (value.isTensor()) {
    return map(value.toTensor());
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor &tensor : value.toTensorVector())
      list.push_back(map(tensor));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor> &tensor : value.toOptionalTensorVector())
      list.push_back(tensor ? std::optional<at::Tensor>(map(*tensor)) : std::nullopt);
    return list;
  }
  return value;
}

bool isOnDevice(const at::Tensor &tensor) {
  return tensor.defined() && tensor.device().type() == c10::kPrivateUse1;
}

/// One call with its CPU view.
struct Call {
  const c10::OperatorHandle &op;
  const OpFacts &facts;
  std::vector<c10::IValue> arguments;                     // the caller's
  Stack onCpu;                                            // the same for the CPU kernel
  std::vector<std::pair<at::Tensor, at::Tensor>> aliases; // device tensor, CPU view
  std::vector<std::pair<at::Tensor, at::Tensor>>
      unpacked; // private format: device tensor, its plain contents

  /// `detach`: copies of host tensors, for work that runs after the call has returned.
  void makeAliases(Stream &stream, bool detach = false) {
    onCpu.reserve(arguments.size());
    aliases.reserve(arguments.size());
    for (const c10::IValue &argument : arguments) {
      if (argument.isDevice()) {
        onCpu.emplace_back(argument.toDevice().type() == c10::kPrivateUse1 ? c10::Device(c10::kCPU)
                                                                           : argument.toDevice());
        continue;
      }
      onCpu.push_back(mapTensors(argument, [&](const at::Tensor &tensor) {
        if (!isOnDevice(tensor)) {
          if (!detach || !tensor.defined() || tensor.unsafeGetTensorImpl()->is_wrapped_number())
            return tensor;
          at::AutoDispatchBelowADInplaceOrView below;
          return tensor.clone();
        }
        at::Tensor alias = aliasOnCpu(tensor);
        aliases.emplace_back(tensor, alias);
        return alias;
      }));
    }
    for (int index : facts.generators)
      onCpu[size_t(index)] = cpuGeneratorFor(onCpu[size_t(index)], stream.device().index());
  }

  /// Private formats: the CPU kernel gets the plain contents in place of the alias. Runs in stream
  /// order.
  void unpackFormats() {
    for (c10::IValue &argument : onCpu)
      argument = mapTensors(argument, [&](const at::Tensor &tensor) {
        for (auto &[device, alias] : aliases)
          if (alias.is_same(tensor) && hasPrivateFormat(device)) {
            at::Tensor plain = plainContents(device);
            unpacked.emplace_back(device, plain);
            return plain;
          }
        return tensor;
      });
  }

  /// After the kernel: what it did to the metadata of its arguments.
  void updateArguments() {
    for (auto &[device, plain] : unpacked)
      storePlain(device, plain);
    for (auto &[device, alias] : aliases) {
      c10::TensorImpl *seen = alias.unsafeGetTensorImpl();
      c10::TensorImpl *own = device.unsafeGetTensorImpl();
      c10::StorageImpl *twin = seen->storage().unsafeGetStorageImpl();
      if (C10_UNLIKELY(twin->nbytes() != own->storage().nbytes() ||
                       twin->data() != own->storage().data())) {
        StorageImpl &storage = storageOf(device);
        if (!storage.format)
          storage.adoptTwin(*twin);
      }
      if (C10_UNLIKELY(seen->sizes() != own->sizes() || seen->strides() != own->strides()))
        own->set_sizes_and_strides(seen->sizes(), seen->strides(), seen->storage_offset());
    }
  }

  /// The device tensor for one result of the CPU kernel.
  at::Tensor result(const at::Tensor &cpu, Stream &stream,
                    std::vector<std::pair<c10::StorageImpl *, at::Tensor>> &made) {
    if (!cpu.defined())
      return cpu;
    TORCH_CHECK_NOT_IMPLEMENTED(cpu.layout() == c10::kStrided && !cpu.is_quantized(), "operator ",
                                facts.name, " has a result with layout ", cpu.layout(),
                                ", which the NPU does not have");
    c10::StorageImpl *storage = cpu.storage().unsafeGetStorageImpl();
    auto onStorage = [&](const at::Tensor &other) {
      at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(
          c10::TensorImpl::VIEW, c10::Storage(other.storage()), other.key_set(), cpu.dtype());
      view.unsafeGetTensorImpl()->set_sizes_and_strides(cpu.sizes(), cpu.strides(),
                                                        cpu.storage_offset());
      view._set_conj(cpu.is_conj());
      view._set_neg(cpu.is_neg());
      return view;
    };
    for (auto &[device, alias] : aliases)
      if (alias.storage().unsafeGetStorageImpl() == storage)
        return onStorage(device);
    for (auto &[known, tensor] : made)
      if (known == storage)
        return onStorage(tensor);
    at::Tensor tensor = wrapResult(cpu, stream);
    made.emplace_back(storage, tensor);
    return tensor;
  }

  void returnResults(Stack &results, Stream &stream, Stack *stack) {
    std::vector<std::pair<c10::StorageImpl *, at::Tensor>> made;
    for (size_t i = 0; i < results.size(); ++i) {
      if (facts.returns[i] >= 0)
        stack->push_back(arguments[size_t(facts.returns[i])]);
      else
        stack->push_back(mapTensors(
            results[i], [&](const at::Tensor &cpu) { return result(cpu, stream, made); }));
    }
  }

  /// Runs the CPU kernel now, in stream order, and pushes the device's results.
  void runHere(Stream &stream, Stack *stack, bool formats) {
    KernelScope scope(stream);
    if (formats)
      unpackFormats();
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &onCpu);
    updateArguments();
    returnResults(onCpu, stream, stack);
  }

  /// The results' shapes by the Meta kernel. False if it cannot tell.
  bool infer();
  /// Makes the results on the device from what infer() found; queues the work itself.
  void queue(Stream &stream, Stack *stack);

  Stack meta;
  std::vector<std::pair<at::Tensor, at::Tensor>> metas; // tensor of the caller, its Meta twin
};

bool Call::infer() {
  at::AutoDispatchBelowADInplaceOrView below;
  try {
    for (const c10::IValue &argument : arguments) {
      if (argument.isDevice()) {
        meta.emplace_back(c10::Device(c10::kMeta));
        continue;
      }
      meta.push_back(mapTensors(argument, [&](const at::Tensor &tensor) {
        bool hostScalar = tensor.defined() && tensor.is_cpu() && tensor.dim() == 0;
        if (!tensor.defined() || tensor.is_meta() || hostScalar)
          return tensor;
        for (auto &[device, known] : metas)
          if (device.is_same(tensor))
            return known;
        at::Tensor made = at::empty_strided(tensor.sizes(), tensor.strides(),
                                            tensor.options().device(c10::kMeta));
        metas.emplace_back(tensor, made);
        return made;
      }));
    }
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Meta), &meta);
    return true;
  } catch (const std::exception &) {
    return false; // No Meta kernel for this case, or a wrong argument: the CPU kernel will say.
  }
}

void Call::queue(Stream &stream, Stack *stack) {
  // An out= tensor that the operator resizes gets its new memory now, so that its address is known.
  for (auto &[device, known] : metas)
    if (isOnDevice(device) && device.sizes() != known.sizes())
      device.resize_(known.sizes());
  onCpu.clear();
  aliases.clear();
  makeAliases(stream, /*detach=*/true);

  std::vector<std::pair<size_t, at::Tensor>>
      targets; // position among all new tensors, CPU view of the output
  size_t position = 0;
  for (size_t i = 0; i < meta.size(); ++i) {
    if (facts.returns[i] >= 0) {
      stack->push_back(arguments[size_t(facts.returns[i])]);
      continue;
    }
    stack->push_back(mapTensors(meta[i], [&](const at::Tensor &shape) {
      ++position;
      if (!shape.defined())
        return shape;
      at::Tensor output =
          emptyOn(stream.device().index(), shape.sizes(), shape.strides(), shape.scalar_type());
      targets.emplace_back(position - 1, aliasOnCpu(output));
      return output;
    }));
  }
  auto work = [op = op, arguments = onCpu, returns = facts.returns, targets = std::move(targets),
               &stream] {
    KernelScope scope(stream);
    Stack results = arguments;
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &results);
    std::vector<at::Tensor> made;
    for (size_t i = 0; i < results.size(); ++i)
      if (returns[i] < 0)
        mapTensors(results[i], [&](const at::Tensor &tensor) {
          made.push_back(tensor);
          return tensor;
        });
    for (const auto &[position, target] : targets)
      if (const at::Tensor &result = made.at(position); result.numel() || !target.numel())
        target.copy_(result); // An empty one is a result that the CPU kernel leaves out
                              // (batch_norm's in evaluation).
  };
  enqueueLaunch(stream, facts.name, std::move(work), /*forceQueue=*/false, /*always=*/false);
  finishLaunch(stream);
}

std::atomic<bool> counting{false};
std::mutex countMutex;
std::map<std::string, int64_t> counts;

} // namespace

void countExecuted(bool on) { counting.store(on); }

std::vector<std::pair<std::string, int64_t>> executedOperators(bool reset) {
  std::lock_guard lock(countMutex);
  std::vector<std::pair<std::string, int64_t>> list(counts.begin(), counts.end());
  if (reset)
    counts.clear();
  return list;
}

at::Tensor aliasOnCpu(const at::Tensor &tensor) {
  at::Tensor alias = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storageOf(tensor).cpuTwin()), c10::DispatchKeySet(c10::DispatchKey::CPU),
      tensor.dtype());
  c10::TensorImpl *impl = alias.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  if (C10_UNLIKELY(tensor.is_conj()))
    alias._set_conj(true);
  if (C10_UNLIKELY(tensor.is_neg()))
    alias._set_neg(true);
  if (C10_UNLIKELY(tensor.unsafeGetTensorImpl()->is_wrapped_number()))
    impl->set_wrapped_number(true);
  return alias;
}

at::Tensor wrapResult(const at::Tensor &cpu, Stream &stream) {
  auto storage = storageFromKernel(cpu.storage(), stream);
  // The CPU storage stays as the new storage's twin: the next operator needs one.
  static_cast<StorageImpl &>(*storage).setTwin(
      c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(cpu.storage().unsafeGetStorageImpl()));
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(std::move(storage)), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
      cpu.dtype());
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(cpu.sizes(), cpu.strides(),
                                                      cpu.storage_offset());
  if (C10_UNLIKELY(cpu.is_conj()))
    tensor._set_conj(true);
  if (C10_UNLIKELY(cpu.is_neg()))
    tensor._set_neg(true);
  if (C10_UNLIKELY(cpu.unsafeGetTensorImpl()->is_wrapped_number()))
    tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

at::Tensor emptyOn(int device, at::IntArrayRef sizes, at::IntArrayRef strides,
                   at::ScalarType dtype) {
  int64_t bytes =
      int64_t(at::detail::computeStorageNbytes(sizes, strides, c10::elementSize(dtype)));
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(makeStorage(bytes, device)), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
      c10::scalarTypeToTypeMeta(dtype));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return tensor;
}

void executeBoxed(const c10::OperatorHandle &op, Stack *stack) {
  const OpFacts &facts = factsOf(op);
  size_t arity = op.schema().arguments().size();
  Call call{op, facts, {}, {}, {}, {}, {}, {}};
  call.arguments.assign(std::make_move_iterator(stack->end() - std::ptrdiff_t(arity)),
                        std::make_move_iterator(stack->end()));
  stack->resize(stack->size() - arity);

  Survey survey;
  for (const c10::IValue &argument : call.arguments)
    forEachTensor(argument,
                  [&](const at::Tensor &tensor, bool list) { look(tensor, list, facts, survey); });
  if (survey.device < 0) {
    for (const c10::IValue &argument : call.arguments)
      if (argument.isDevice() && argument.toDevice().type() == c10::kPrivateUse1 &&
          argument.toDevice().has_index())
        survey.device = argument.toDevice().index();
    if (survey.device < 0)
      survey.device = currentDevice();
  }
  TORCH_CHECK_NOT_IMPLEMENTED(op.hasKernelForDispatchKey(c10::DispatchKey::CPU) ||
                                  op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU),
                              "Could not run '", op.operator_name(),
                              "' on the NPU: the operator has neither a kernel "
                              "for PrivateUse1 nor one for CPU to fall back to");
  if (C10_UNLIKELY(counting.load(std::memory_order_relaxed))) {
    std::lock_guard lock(countMutex);
    ++counts[facts.name];
  }
  Stream &stream = currentStream(survey.device);
  auto here = [&] { call.runHere(stream, stack, survey.privateFormat); };
  translateErrors([&] {
    call.makeAliases(stream);
    if (tryLaunch(stream, facts.name, here))
      return;
    if (facts.hostResult || !facts.hasMeta || survey.privateFormat || !call.infer())
      launchAndWait(stream, facts.name, here);
    else
      call.queue(stream, stack);
  });
}

} // namespace npu
