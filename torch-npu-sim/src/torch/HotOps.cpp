//===- HotOps.cpp - frequent operators without boxing ---------------------===//
//
// On an idle stream the CPU function is called directly on the tensors' bytes: no argument stack,
// no second dispatch. In every other case (busy stream, capture, private format, mixed devices) the
// operator goes the general way of Execute.cpp, which gives the same result.
//
//===----------------------------------------------------------------------===//
#include "HotOps.h"

#include "Execute.h"

#include <ATen/ops/_softmax_cpu_dispatch.h>
#include <ATen/ops/add_cpu_dispatch.h>
#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/bmm_cpu_dispatch.h>
#include <ATen/ops/cos_cpu_dispatch.h>
#include <ATen/ops/div_cpu_dispatch.h>
#include <ATen/ops/exp_cpu_dispatch.h>
#include <ATen/ops/fill_cpu_dispatch.h>
#include <ATen/ops/gelu_cpu_dispatch.h>
#include <ATen/ops/mean_cpu_dispatch.h>
#include <ATen/ops/mm_cpu_dispatch.h>
#include <ATen/ops/mul_cpu_dispatch.h>
#include <ATen/ops/neg_cpu_dispatch.h>
#include <ATen/ops/pow_cpu_dispatch.h>
#include <ATen/ops/relu_cpu_dispatch.h>
#include <ATen/ops/rsqrt_cpu_dispatch.h>
#include <ATen/ops/sigmoid_cpu_dispatch.h>
#include <ATen/ops/silu_cpu_dispatch.h>
#include <ATen/ops/sin_cpu_dispatch.h>
#include <ATen/ops/sqrt_cpu_dispatch.h>
#include <ATen/ops/sub_cpu_dispatch.h>
#include <ATen/ops/sum_cpu_dispatch.h>
#include <ATen/ops/tanh_cpu_dispatch.h>
#include <ATen/ops/zero_cpu_dispatch.h>

#include <set>

namespace npu {
namespace {

using at::Scalar;
using at::Tensor;

/// The device of a call's tensors if the direct way is open to it, else -1.
struct Check {
  int device = -2; // none seen yet
  void operator()(const Tensor &tensor) {
    if (tensor.is_privateuseone()) {
      int index = tensor.device().index();
      auto *storage = storageOrNull(tensor);
      bool plain = storage && !storage->format && (device == -2 || device == index);
      device = plain ? index : -1;
    } else if (tensor.dim() != 0 || !tensor.is_cpu()) {
      device = -1;
    }
  }
  template <class T> void operator()(const T &) {}
};

const Tensor aliasOf(const Tensor &tensor) {
  return tensor.is_privateuseone() ? aliasOnCpu(tensor) : tensor;
}
template <class T> const T &aliasOf(const T &value) { return value; }

template <class Op, class Signature> struct Hot;

/// Functional: the result is new.
template <class Op, class... Args> struct Hot<Op, Tensor(Args...)> {
  static Tensor call(Args... args) {
    Check check;
    (check(args), ...);
    if (check.device >= 0) {
      Stream &stream = currentStream(check.device);
      Tensor result;
      bool ran = translateErrors([&] {
        return tryLaunch(stream, Op::name, [&] {
          KernelScope scope(stream);
          result = wrapResult(Op::onCpu(aliasOf(args)...), stream);
        });
      });
      if (ran)
        return result;
    }
    static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(Op::name, Op::overload);
    torch::jit::Stack stack{c10::IValue(args)...};
    executeBoxed(op, &stack);
    return stack[0].toTensor();
  }
};

/// In place: the result is the first argument.
template <class Op, class... Args> struct Hot<Op, Tensor &(Tensor &, Args...)> {
  static Tensor &call(Tensor &self, Args... args) {
    Check check;
    check(self);
    (check(args), ...);
    if (check.device >= 0) {
      Stream &stream = currentStream(check.device);
      bool ran = translateErrors([&] {
        return tryLaunch(stream, Op::name, [&] {
          KernelScope scope(stream);
          Tensor alias = aliasOnCpu(self);
          Op::onCpu(alias, aliasOf(args)...);
        });
      });
      if (ran)
        return self;
    }
    static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(Op::name, Op::overload);
    torch::jit::Stack stack{c10::IValue(self), c10::IValue(args)...};
    executeBoxed(op, &stack);
    return self;
  }
};

std::set<std::string> &names() {
  static auto *set = new std::set<std::string>;
  return *set;
}

using Unary = Tensor(const Tensor &);
using Binary = Tensor(const Tensor &, const Tensor &);
using BinaryAlpha = Tensor(const Tensor &, const Tensor &, const Scalar &);
using UnaryInPlace = Tensor &(Tensor &);
using BinaryInPlace = Tensor &(Tensor &, const Tensor &);
using BinaryAlphaInPlace = Tensor &(Tensor &, const Tensor &, const Scalar &);
using WithScalar = Tensor(const Tensor &, const Scalar &);
using WithScalarInPlace = Tensor &(Tensor &, const Scalar &);
using Matrix3 = Tensor(const Tensor &, const Tensor &, const Tensor &, const Scalar &,
                       const Scalar &);
using Softmax = Tensor(const Tensor &, int64_t, bool);
using Gelu = Tensor(const Tensor &, c10::string_view);
using Reduce = Tensor(const Tensor &, at::OptionalIntArrayRef, bool, std::optional<at::ScalarType>);

// function, overload, signature
#define NPU_HOT_OPS(_)                                                                             \
  _(add, Tensor, BinaryAlpha)                                                                      \
  _(add_, Tensor, BinaryAlphaInPlace)                                                              \
  _(sub, Tensor, BinaryAlpha)                                                                      \
  _(sub_, Tensor, BinaryAlphaInPlace)                                                              \
  _(mul, Tensor, Binary)                                                                           \
  _(mul_, Tensor, BinaryInPlace)                                                                   \
  _(div, Tensor, Binary)                                                                           \
  _(div_, Tensor, BinaryInPlace)                                                                   \
  _(mm, , Binary)                                                                                  \
  _(bmm, , Binary)                                                                                 \
  _(addmm, , Matrix3)                                                                              \
  _(relu, , Unary)                                                                                 \
  _(silu, , Unary)                                                                                 \
  _(gelu, , Gelu)                                                                                  \
  _(sigmoid, , Unary)                                                                              \
  _(tanh, , Unary)                                                                                 \
  _(exp, , Unary)                                                                                  \
  _(neg, , Unary)                                                                                  \
  _(sqrt, , Unary)                                                                                 \
  _(rsqrt, , Unary)                                                                                \
  _(sin, , Unary)                                                                                  \
  _(cos, , Unary)                                                                                  \
  _(pow, Tensor_Scalar, WithScalar)                                                                \
  _(sum, dim_IntList, Reduce)                                                                      \
  _(mean, dim, Reduce)                                                                             \
  _(_softmax, , Softmax)                                                                           \
  _(fill_, Scalar, WithScalarInPlace)                                                              \
  _(zero_, , UnaryInPlace)

#define NPU_HOT_STRUCT(function, overloadName, Signature)                                          \
  struct Op_##function##_##overloadName {                                                          \
    static constexpr const char *name = "aten::" #function, *overload = #overloadName;             \
    template <class... Args> static decltype(auto) onCpu(Args &&...args) {                         \
      return at::cpu::function(std::forward<Args>(args)...);                                       \
    }                                                                                              \
  };
NPU_HOT_OPS(NPU_HOT_STRUCT)

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
#define NPU_HOT_REGISTER(function, overloadName, Signature)                                        \
  m.impl(*#overloadName ? #function "." #overloadName : #function,                                 \
         TORCH_FN((Hot<Op_##function##_##overloadName, Signature>::call)));
  NPU_HOT_OPS(NPU_HOT_REGISTER)
}

} // namespace

bool hasHotKernel(const std::string &name) {
  static const bool filled = [] {
#define NPU_HOT_NAME(function, overloadName, Signature)                                            \
  names().insert(*#overloadName ? #function "." #overloadName : #function);
    NPU_HOT_OPS(NPU_HOT_NAME)
    return true;
  }();
  return filled && names().count(name);
}

} // namespace npu
