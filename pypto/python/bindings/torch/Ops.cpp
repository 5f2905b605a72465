//===- Ops.cpp - kernels as torch operators -------------------------------===//
#include "Pch.h"

#include "Ops.h"

namespace pypto::torch_ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using torch::jit::Stack;

int64_t extentOf(const OutputRule::Dim &dim, Values values) {
  return dim.param < 0 ? dim.constant : values[size_t(dim.param)].toTensor().size(dim.axis);
}

/// The kernel behind "cpu" and "npu".
struct DeviceKernel final : c10::OperatorKernel {
  explicit DeviceKernel(std::shared_ptr<const Op> op) : op(std::move(op)) {}
  const std::shared_ptr<const Op> op;

  void operator()(const c10::OperatorHandle &handle, c10::DispatchKeySet, Stack *stack) {
    Kernel &kernel = *op->kernel;
    size_t arity = op->arguments.size();
    c10::IValue *arguments = stack->data() + (stack->size() - arity);
    c10::SmallVector<c10::IValue, 8> values(kernel.params.size());
    const at::Tensor *first = nullptr;
    for (size_t i = 0; i < arity; ++i) {
      auto index = size_t(op->arguments[i]);
      if (!kernel.params[index].tensor) {
        values[index] = arguments[i];
        continue;
      }
      const at::Tensor &tensor = arguments[i].toTensor();
      TORCH_CHECK(tensor.defined(), op->shown(), ": '", kernel.params[index].name,
                  "' is no tensor");
      if (!first)
        first = &tensor;
      TORCH_CHECK(tensor.device() == first->device(),
                  "Expected all tensors to be on the same device, but found at least two devices, ",
                  first->device(), " and ", tensor.device(), "! (operator ", op->shown(),
                  ", parameter '", kernel.params[index].name, "')");
      bool mayCopy = !op->outputs.empty() && !kernel.params[index].written();
      if (C10_UNLIKELY(mayCopy && (!tensor.is_contiguous() || tensor.is_conj() || tensor.is_neg())))
        values[index] = tensor.resolve_conj().resolve_neg().contiguous();
      else
        values[index] = arguments[i];
    }
    const c10::Device device = first->device();
    // Results.
    for (const OutputRule &rule : op->outputs) {
      if (rule.copy) {
        values[size_t(rule.param)] =
            values[size_t(rule.param)].toTensor().clone(at::MemoryFormat::Contiguous);
        continue;
      }
      c10::SmallVector<int64_t, 5> sizes;
      at::ScalarType dtype = rule.dtype;
      if (rule.like >= 0) {
        const at::Tensor &like = values[size_t(rule.like)].toTensor();
        sizes.assign(like.sizes().begin(), like.sizes().end());
        if (dtype == at::ScalarType::Undefined)
          dtype = like.scalar_type();
      } else {
        for (const auto &dim : rule.dims)
          sizes.push_back(extentOf(dim, values));
      }
      values[size_t(rule.param)] = device.is_cpu()
                                       ? at::Tensor(at::detail::empty_cpu(sizes, dtype))
                                       : at::_ops::empty_memory_format::redispatch(
                                             c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                             c10::fromIntArrayRefSlow(sizes), dtype, std::nullopt,
                                             device, std::nullopt, std::nullopt);
    }
    launch(kernel, values, device, /*known=*/nullptr);
    stack->resize(stack->size() - arity);
    for (const OutputRule &rule : op->outputs)
      stack->push_back(std::move(values[size_t(rule.param)]));
  }
};

variable_list applyPython(const BackwardRule &rule, const std::vector<c10::IValue> &arguments);
void checkShapes(const Op &op, const variable_list &gradients);

variable_list applyRule(const BackwardRule &rule, std::vector<c10::IValue> arguments) {
  if (!rule.handle)
    return applyPython(rule, arguments);
  Stack stack(std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
  rule.handle->callBoxed(&stack);
  variable_list results;
  for (c10::IValue &value : stack)
    results.push_back(std::move(value).toTensor());
  return results;
}

variable_list applyPython(const BackwardRule &rule, const std::vector<c10::IValue> &arguments) {
  pybind11::gil_scoped_acquire gil;
  auto fail = [] {
    python_error error;
    error.persist();
    throw error;
  };
  pybind11::tuple tuple(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const c10::IValue &value = arguments[i];
    PyObject *object = value.isTensor()   ? THPVariable_Wrap(value.toTensor())
                       : value.isBool()   ? PyBool_FromLong(value.toBool())
                       : value.isInt()    ? PyLong_FromLongLong(value.toInt())
                       : value.isDouble() ? PyFloat_FromDouble(value.toDouble())
                                          : pybind11::cast(value.toSymInt()).release().ptr();
    if (!object)
      fail();
    PyTuple_SET_ITEM(tuple.ptr(), Py_ssize_t(i), object);
  }
  auto result = pybind11::reinterpret_steal<pybind11::object>(
      PyObject_CallObject(rule.function, tuple.ptr()));
  if (!result)
    fail();
  variable_list gradients;
  auto take = [&](PyObject *object) {
    if (object == Py_None)
      gradients.emplace_back();
    else if (THPVariable_Check(object))
      gradients.push_back(THPVariable_Unpack(object));
    else
      TORCH_CHECK_TYPE(false, "backward: it gave a ", Py_TYPE(object)->tp_name,
                       " where a tensor or None is the gradient");
  };
  if (PyTuple_Check(result.ptr()) || PyList_Check(result.ptr())) {
    auto items = pybind11::reinterpret_steal<pybind11::object>(
        PySequence_Fast(result.ptr(), "backward: a sequence"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i)
      take(PySequence_Fast_GET_ITEM(items.ptr(), i));
  } else {
    take(result.ptr());
  }
  return gradients;
}

/// A call that autograd records. `inputs` are the tensors among the operator's arguments, in order.
struct Recorded : torch::autograd::Function<Recorded> {
  static variable_list forward(AutogradContext *context, const Op *op,
                               const c10::OperatorHandle *handle, c10::DispatchKeySet keys,
                               Stack *stack, at::TensorList inputs) {
    const BackwardRule &rule = *op->backward;
    std::vector<c10::IValue> arguments(stack->end() - std::ptrdiff_t(op->arguments.size()),
                                       stack->end());
    {
      at::AutoDispatchBelowADInplaceOrView belowAutograd;
      handle->redispatchBoxed(keys & c10::after_autograd_keyset, stack);
    }
    variable_list results;
    for (size_t i = 0; i < op->outputs.size(); ++i)
      results.push_back((stack->end() - std::ptrdiff_t(op->outputs.size() - i))->toTensor());
    // What the rule reads, tensors and numbers apart.
    variable_list saved;
    for (const auto &source : rule.sources) {
      if (source.kind == BackwardRule::Source::Gradient)
        continue;
      const c10::IValue &value = source.kind == BackwardRule::Source::Argument
                                     ? arguments[size_t(source.index)]
                                     : c10::IValue(results[size_t(source.index)]);
      if (value.isTensor())
        saved.push_back(value.toTensor());
      else
        context->saved_data[std::to_string(source.index)] = value;
    }
    context->save_for_backward(std::move(saved));
    context->saved_data["op"] = int64_t(reinterpret_cast<intptr_t>(op));
    context->set_materialize_grads(true);
    return results;
  }

  static variable_list backward(AutogradContext *context, variable_list gradients) {
    const Op &op = *reinterpret_cast<const Op *>(intptr_t(context->saved_data["op"].toInt()));
    const BackwardRule &rule = *op.backward;
    variable_list saved = context->get_saved_variables();
    size_t next = 0;
    std::vector<c10::IValue> arguments;
    for (const auto &source : rule.sources) {
      if (source.kind == BackwardRule::Source::Gradient) {
        arguments.emplace_back(gradients[size_t(source.index)].contiguous());
        continue;
      }
      bool tensor = source.kind == BackwardRule::Source::Result ||
                    op.kernel->params[size_t(op.arguments[size_t(source.index)])].tensor;
      if (tensor)
        arguments.emplace_back(saved[next++]);
      else
        arguments.push_back(context->saved_data[std::to_string(source.index)]);
    }
    variable_list given = applyRule(rule, std::move(arguments));
    TORCH_CHECK_VALUE(given.size() == rule.targets.size(), op.name, ": its backward gave ",
                      given.size(), " gradients for ", rule.targets.size(), " tensors");
    checkShapes(op, given);
    // One for each tensor argument, behind those of forward()'s other parameters.
    variable_list result(4);
    for (size_t i = 0; i < op.arguments.size(); ++i) {
      if (!op.kernel->params[size_t(op.arguments[i])].tensor)
        continue;
      at::Tensor gradient;
      for (size_t k = 0; k < rule.targets.size(); ++k)
        if (rule.targets[k] == int(i))
          gradient = given[k];
      result.push_back(std::move(gradient));
    }
    return result;
  }
};

/// Autograd's own error would name neither operator nor parameter. Its edges are the tensor
/// arguments.
void checkShapes(const Op &op, const variable_list &gradients) {
  auto node = torch::autograd::get_current_node();
  for (size_t k = 0; node && k < gradients.size(); ++k) {
    auto target = size_t(op.backward->targets[k]);
    uint32_t edge = 0;
    for (size_t i = 0; i < target; ++i)
      edge += op.kernel->params[size_t(op.arguments[i])].tensor;
    if (!gradients[k].defined() || edge >= node->num_outputs() || !node->next_edge(edge).is_valid())
      continue;
    const torch::autograd::Edge &next = node->next_edge(edge);
    const auto &wanted = next.function->input_metadata(next.input_nr);
    TORCH_CHECK_VALUE(wanted.is_same_shape(gradients[k]) ||
                          wanted.is_expandable_to_shape(gradients[k]),
                      op.name, ": its backward gave a gradient of shape ", gradients[k].sym_sizes(),
                      " for parameter '", op.kernel->params[size_t(op.arguments[target])].name,
                      "', which has shape ", wanted.shape_as_dim_vector());
  }
}

/// The kernel behind autograd's keys.
struct AutogradKernel final : c10::OperatorKernel {
  explicit AutogradKernel(std::shared_ptr<const Op> op) : op(std::move(op)) {}
  const std::shared_ptr<const Op> op;

  void operator()(const c10::OperatorHandle &handle, c10::DispatchKeySet keys, Stack *stack) {
    size_t arity = op->arguments.size();
    bool differentiable = false;
    for (size_t i = stack->size() - arity; i < stack->size(); ++i)
      if (const c10::IValue &value = (*stack)[i]; value.isTensor()) {
        differentiable |= value.unsafeToTensorImpl()->requires_grad();
        TORCH_CHECK_NOT_IMPLEMENTED(
            !value.toTensor()._fw_grad(0).defined(), op->shown(), ": parameter '",
            op->kernel->params[size_t(op->arguments[i + arity - stack->size()])].name,
            "' has a tangent, and operators of kernels have no forward-mode derivative "
            "(torch.func.jvp, torch.autograd.forward_ad)");
      }
    differentiable = differentiable && at::GradMode::is_enabled();
    if (C10_LIKELY(!differentiable)) {
      if (!op->outputs.empty()) {
        at::AutoDispatchBelowADInplaceOrView belowAutograd;
        handle.redispatchBoxed(keys & c10::after_autograd_keyset, stack);
        return;
      }
      variable_list written = writtenOf(stack);
      {
        at::AutoDispatchBelowADInplaceOrView belowAutograd;
        handle.redispatchBoxed(keys & c10::after_autograd_keyset, stack);
      }
      for (const at::Tensor &tensor : written)
        if (!tensor.is_inference())
          tensor.unsafeGetTensorImpl()->bump_version();
      return;
    }
    if (!op->backward) {
      std::string names;
      for (size_t i = 0; i < arity; ++i)
        if (const c10::IValue &value = (*stack)[stack->size() - arity + i];
            value.isTensor() && value.unsafeToTensorImpl()->requires_grad())
          names += (names.empty() ? "'" : ", '") +
                   op->kernel->params[size_t(op->arguments[i])].name + "'";
      TORCH_CHECK_VALUE(
          false, op->shown(), ": parameter ", names,
          " requires grad, and the operator has no derivative",
          op->outputs.empty()
              ? ": it writes into its arguments; call the overload that returns new tensors"
              : ": register it with backward=",
          ", or call it under torch.no_grad()");
    }
    variable_list inputs;
    for (size_t i = stack->size() - arity; i < stack->size(); ++i)
      if (const c10::IValue &value = (*stack)[i]; value.isTensor())
        inputs.push_back(value.toTensor());
    variable_list results = Recorded::apply(op.get(), &handle, keys, stack, at::TensorList(inputs));
    stack->resize(stack->size() - op->outputs.size());
    for (at::Tensor &result : results)
      stack->push_back(std::move(result));
  }

private:
  variable_list writtenOf(Stack *stack) const {
    variable_list written;
    size_t arity = op->arguments.size();
    for (size_t i = 0; i < arity; ++i)
      if (op->kernel->params[size_t(op->arguments[i])].written())
        written.push_back((*stack)[stack->size() - arity + i].toTensor());
    return written;
  }
};

/// Registrations that are alive. An operator's data stays: recorded graphs may refer to it.
struct Installed {
  std::shared_ptr<const Op> op;
  std::vector<std::unique_ptr<torch::Library>> libraries;
};
std::map<int64_t, Installed> &installed() {
  static auto *map = new std::map<int64_t, Installed>; // never destroyed: after the dispatcher
  return *map;
}
std::mutex installedMutex;

} // namespace

int64_t install(std::unique_ptr<Op> made) {
  auto *shared = new std::shared_ptr<const Op>(std::move(made)); // kept, see Installed
  std::shared_ptr<const Op> op = *shared;
  std::string space = op->name.substr(0, op->name.find("::"));
  std::string name = op->name.substr(space.size() + 2);
  if (!op->overload.empty())
    name += "." + op->overload;
  Installed entry{op, {}};
  auto add = [&](c10::DispatchKey key, auto kernel) {
    auto library = std::make_unique<torch::Library>(torch::Library::IMPL, space, key, "pypto", 0);
    library->impl(name.c_str(), torch::CppFunction::makeFromBoxedFunctor(std::move(kernel)));
    entry.libraries.push_back(std::move(library));
  };
  add(c10::DispatchKey::CPU, std::make_unique<DeviceKernel>(op));
  add(c10::DispatchKey::PrivateUse1, std::make_unique<DeviceKernel>(op));
  add(c10::DispatchKey::Autograd, std::make_unique<AutogradKernel>(op));
  std::lock_guard lock(installedMutex);
  static int64_t next = 0;
  installed().emplace(++next, std::move(entry));
  return next;
}

void remove(int64_t handle) {
  std::lock_guard lock(installedMutex);
  installed().erase(handle);
}

} // namespace pypto::torch_ops
