//===- MemoryOps.cpp - creation, views, copies ----------------------------===//
#include "Execute.h"
#include "Format.h"
#include "Generator.h"
#include "HotOps.h"
#include "Pinned.h"

#include "npu_runtime/Graph.h"

#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/CPUAllocator.h>

#include <set>

namespace npu {
namespace {

int deviceIndex(std::optional<c10::Device> device) {
  int index = device && device->has_index() ? device->index() : currentDevice();
  npu::device(index); // range check, start
  return index;
}

at::ScalarType typeOr(std::optional<at::ScalarType> dtype) {
  return dtype.value_or(at::get_default_dtype_as_scalartype());
}

void checkOptions(std::optional<c10::Layout> layout, std::optional<bool> pinned) {
  TORCH_CHECK_NOT_IMPLEMENTED(!layout || *layout == c10::kStrided,
                              "the NPU holds strided tensors only, not ", *layout);
  TORCH_CHECK(!pinned.value_or(false), "only host tensors can be pinned, not tensors on the NPU");
}

at::Tensor empty(at::IntArrayRef sizes, std::optional<at::ScalarType> dtype,
                 std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                 std::optional<bool> pinned, std::optional<c10::MemoryFormat> memoryFormat) {
  checkOptions(layout, pinned);
  at::detail::check_size_nonnegative(sizes);
  int index = deviceIndex(device);
  auto format = memoryFormat.value_or(c10::MemoryFormat::Contiguous);
  if (format == c10::MemoryFormat::Preserve)
    format = c10::MemoryFormat::Contiguous;
  if (C10_LIKELY(format == c10::MemoryFormat::Contiguous)) {
    at::Tensor tensor = emptyOn(index, sizes, c10::contiguous_strides(sizes), typeOr(dtype));
    return tensor;
  }
  at::Tensor shape =
      at::empty(sizes, at::TensorOptions().device(c10::kMeta).dtype(typeOr(dtype)), format);
  return emptyOn(index, sizes, shape.strides(), typeOr(dtype));
}

at::Tensor emptyStrided(at::IntArrayRef sizes, at::IntArrayRef strides,
                        std::optional<at::ScalarType> dtype, std::optional<c10::Layout> layout,
                        std::optional<c10::Device> device, std::optional<bool> pinned) {
  checkOptions(layout, pinned);
  at::detail::check_size_nonnegative(sizes);
  return emptyOn(deviceIndex(device), sizes, strides, typeOr(dtype));
}

/// A tensor of zeros without memory; its dispatch key says so.
at::Tensor efficientZeros(at::IntArrayRef sizes, std::optional<at::ScalarType> dtype,
                          std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                          std::optional<bool> pinned) {
  checkOptions(layout, pinned);
  c10::Device where(c10::kPrivateUse1, c10::DeviceIndex(deviceIndex(device)));
  int64_t bytes =
      int64_t(at::detail::computeStorageNbytesContiguous(sizes, c10::elementSize(typeOr(dtype))));
  auto storage = c10::make_intrusive<StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                                  c10::DataPtr(nullptr, where), &torchAllocator(),
                                                  /*resizable=*/true);
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(std::move(storage)),
      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1) |
          c10::DispatchKeySet(c10::DispatchKey::ZeroTensor),
      c10::scalarTypeToTypeMeta(typeOr(dtype)));
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return tensor;
}

void growStorage(const c10::Storage &storage, size_t bytes) {
  auto *impl = storage.unsafeGetStorageImpl();
  TORCH_CHECK(impl->resizable(), "Trying to resize storage that is not resizable");
  int index = impl->device().index();
  auto grown = translateErrors([&] { return makeStorage(int64_t(bytes), index); });
  size_t kept = std::min(bytes, impl->nbytes());
  if (kept) {
    const void *from = impl->data();
    void *to = grown->mutable_data();
    launch(currentStream(index), "resize", [=] { std::memcpy(to, from, kept); });
  }
  c10::DataPtr none(nullptr, impl->device());
  impl->set_data_ptr_noswap(grown->set_data_ptr(std::move(none)));
  impl->set_nbytes(bytes);
}

const at::Tensor &resize(const at::Tensor &self, at::IntArrayRef sizes,
                         std::optional<c10::MemoryFormat> memoryFormat) {
  if (self.sizes() == sizes && !memoryFormat)
    return self;
  auto *impl = self.unsafeGetTensorImpl();
  auto strides = c10::contiguous_strides(sizes);
  size_t bytes = at::detail::computeStorageNbytes(sizes, strides, self.itemsize(),
                                                  size_t(self.storage_offset()));
  if (bytes > self.storage().nbytes())
    growStorage(self.storage(), bytes);
  impl->set_sizes_contiguous(sizes);
  if (memoryFormat && *memoryFormat != c10::MemoryFormat::Preserve)
    impl->empty_tensor_restride(*memoryFormat);
  return self;
}

at::Tensor &setStorage(at::Tensor &self, at::Storage source, int64_t offset, at::IntArrayRef sizes,
                       at::IntArrayRef strides) {
  TORCH_CHECK(source.device() == self.device() || !self.storage(), "set_: the tensor is on ",
              self.device(), ", the storage on ", source.device());
  TORCH_CHECK(offset >= 0, "set_: storage offset ", offset, " is negative");
  auto *impl = self.unsafeGetTensorImpl();
  auto used = strides.data() ? strides.vec() : std::vector<int64_t>();
  if (!strides.data()) {
    auto dense = c10::contiguous_strides(sizes);
    used.assign(dense.begin(), dense.end());
  }
  size_t bytes = at::detail::computeStorageNbytes(sizes, used, self.itemsize(), size_t(offset));
  impl->set_storage_keep_dtype(std::move(source));
  if (bytes > impl->storage().nbytes())
    growStorage(impl->storage(), bytes);
  impl->set_sizes_and_strides(sizes, used, offset);
  return self;
}

at::Tensor &setSourceStorage(at::Tensor &self, at::Storage source) {
  int64_t count = int64_t(source.nbytes() / self.itemsize());
  return setStorage(self, std::move(source), 0, {count}, {});
}

at::Tensor &setSourceTensor(at::Tensor &self, const at::Tensor &source) {
  if (!self.is_same(source))
    setStorage(self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
  return self;
}

at::Tensor &setEmpty(at::Tensor &self) {
  c10::Storage none(makeStorage(0, self.device().index()));
  return setStorage(self, std::move(none), 0, {0}, {});
}

bool plainCopy(const at::Tensor &a, const at::Tensor &b) {
  return a.scalar_type() == b.scalar_type() && a.is_contiguous() && b.is_contiguous() &&
         a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg();
}

/// Copies between tensors that the CPU can both read. Large plain copies use memcpy.
void copyBytes(const at::Tensor &to, const at::Tensor &from) {
  if (plainCopy(to, from) && to.numel() == from.numel())
    std::memcpy(to.mutable_data_ptr(), from.const_data_ptr(), to.nbytes());
  else
    to.copy_(from);
}

/// The tensor as the CPU sees it; of a private format, its plain contents.
at::Tensor readable(const at::Tensor &tensor) {
  if (tensor.device().type() != c10::kPrivateUse1)
    return tensor;
  return hasPrivateFormat(tensor) ? plainContents(tensor) : aliasOnCpu(tensor);
}

bool isNz(const at::Tensor &tensor) {
  return tensor.device().type() == c10::kPrivateUse1 && hasPrivateFormat(tensor);
}

void copyInto(const at::Tensor &to, const at::Tensor &from, Stream &stream) {
  KernelScope scope(stream);
  at::Tensor target = readable(to);
  copyBytes(target, readable(from));
  if (isNz(to))
    storePlain(to, target);
}

void requireSameShape(const at::Tensor &to, const at::Tensor &from) {
  TORCH_CHECK(from.sizes() == to.sizes() || at::is_expandable_to(from.sizes(), to.sizes()),
              "copy_: sizes ", from.sizes(), " do not broadcast to ", to.sizes());
}

/// Copies on one device, in the order of its current stream.
void copyOnDevice(const at::Tensor &to, const at::Tensor &from, Stream &stream) {
  if (isNz(to) || isNz(from)) {
    launchAndWait(stream, "copy_", [&] { copyInto(to, from, stream); });
    return;
  }
  at::Tensor target = aliasOnCpu(to), source = aliasOnCpu(from);
  launch(stream, "copy_", [target, source, &stream] {
    KernelScope scope(stream);
    copyBytes(target, source);
  });
}

/// Between devices: each device's current stream waits for the other's.
void copyAcross(const at::Tensor &to, const at::Tensor &from) {
  Stream &source = currentStream(from.device().index()),
         &target = currentStream(to.device().index());
  Event ready, done;
  ready.record(target);
  ready.wait(source);
  if (isNz(to) || isNz(from)) {
    launchAndWait(source, "copy_", [&] { copyInto(to, from, source); });
  } else {
    at::Tensor a = aliasOnCpu(to), b = aliasOnCpu(from);
    launch(source, "copy_", [a, b, &source] {
      KernelScope scope(source);
      copyBytes(a, b);
    });
  }
  done.record(source);
  done.wait(target);
}

/// Between host and device. Asynchronous if asked for and the host memory is pinned.
void copyWithHost(const at::Tensor &to, const at::Tensor &from, bool nonBlocking) {
  bool toDevice = to.device().type() == c10::kPrivateUse1;
  const at::Tensor &host = toDevice ? from : to;
  const at::Tensor &device = toDevice ? to : from;
  Stream &stream = currentStream(device.device().index());
  bool pinned = (nonBlocking || stream.capture()) && isPinned(host.storage().data());
  if (stream.capture() && !pinned)
    refuseInCapture(stream, "a copy between the NPU and pageable host memory");
  if (pinned && !isNz(device)) {
    at::Tensor alias = aliasOnCpu(device);
    at::Tensor target = toDevice ? alias : to, source = toDevice ? from : alias;
    auto work = [target, source, &stream] {
      KernelScope scope(stream);
      copyBytes(target, source);
    };
    enqueueLaunch(stream, "copy_", std::move(work),
                  /*forceQueue=*/to.nbytes() >= (size_t(64) << 10), /*always=*/false);
    finishLaunch(stream);
    return; // The queued work holds the host tensor.
  }
  launchAndWait(stream, "copy_", [&] { copyInto(to, from, stream); });
}

at::Tensor copyFrom(const at::Tensor &from, const at::Tensor &to, bool nonBlocking) {
  requireSameShape(to, from);
  if (to.numel() == 0)
    return to;
  if (to.is_same(from))
    return to;
  translateErrors([&] {
    bool fromDevice = from.device().type() == c10::kPrivateUse1,
         toDevice = to.device().type() == c10::kPrivateUse1;
    if (fromDevice && toDevice && from.device() == to.device())
      copyOnDevice(to, from, currentStream(to.device().index()));
    else if (fromDevice && toDevice)
      copyAcross(to, from);
    else
      copyWithHost(to, from, nonBlocking);
  });
  return to;
}

at::Tensor copyFromAndResize(const at::Tensor &from, const at::Tensor &to) {
  to.resize_(from.sizes());
  return copyFrom(from, to, false);
}

at::Scalar localScalar(const at::Tensor &self) {
  TORCH_CHECK(self.numel() == 1, "a tensor with ", self.numel(),
              " elements cannot be converted to a scalar");
  at::Scalar value;
  Stream &stream = currentStream(self.device().index());
  launchAndWait(stream, "_local_scalar_dense", [&] {
    KernelScope scope(stream);
    value = at::_local_scalar_dense(readable(self));
  });
  return value;
}

void recordStream(at::Tensor &self, c10::Stream stream) {
  torchAllocator().recordStream(self.storage().data_ptr(), stream);
}

/// CPU's own takes the CPU's random numbers; this one the device's.
std::tuple<at::Tensor, at::Tensor> nativeDropout(const at::Tensor &input, double p,
                                                 std::optional<bool> train) {
  if (input.numel() == 0)
    return {input, at::empty_like(input)};
  if (!train.value_or(true))
    return {input, at::ones_like(input, at::kBool)};
  double keep = 1 - p;
  at::Tensor mask = at::empty_like(input, at::kBool).bernoulli_(keep);
  at::Tensor output = keep == 0 ? at::zeros_like(input) : at::mul(input, mask).mul_(1 / keep);
  return {output, mask};
}

int64_t formatCode(const at::Tensor &self) { return formatOf(self); }
at::Tensor formatCast(const at::Tensor &self, int64_t format) {
  return castFormat(self, int(format));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", emptyStrided);
  m.impl("_efficientzerotensor", efficientZeros);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("resize_", resize);
  m.impl("set_.source_Storage_storage_offset", setStorage);
  m.impl("set_.source_Storage", setSourceStorage);
  m.impl("set_.source_Tensor", setSourceTensor);
  m.impl("set_", setEmpty);
  m.impl("_copy_from", copyFrom);
  m.impl("_copy_from_and_resize", copyFromAndResize);
  m.impl("_local_scalar_dense", localScalar);
  m.impl("record_stream", recordStream);
  m.impl("native_dropout", nativeDropout);
}

/// Operators that have a CPU kernel and a default one for all devices as well. For structured
/// operators the default makes the output and calls the out= variant (two dispatches); for others
/// (layer_norm) it is a slower composition.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  auto &dispatcher = c10::Dispatcher::singleton();
  std::set<c10::OperatorName, bool (*)(const c10::OperatorName &, const c10::OperatorName &)> names(
      [](const c10::OperatorName &a, const c10::OperatorName &b) {
        return std::tie(a.name, a.overload_name) < std::tie(b.name, b.overload_name);
      });
  for (auto key : {c10::DispatchKey::CompositeExplicitAutogradNonFunctional,
                   c10::DispatchKey::CompositeExplicitAutograd})
    for (const auto &name : dispatcher.getRegistrationsForDispatchKey(key)) {
      auto op = dispatcher.findSchema(name);
      if (op && name.name.starts_with("aten::") &&
          op->hasKernelForDispatchKey(c10::DispatchKey::CPU))
        names.insert(name);
    }
  for (const auto &name : names) {
    std::string full =
        name.name.substr(6) + (name.overload_name.empty() ? "" : "." + name.overload_name);
    if (!hasHotKernel(full))
      m.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&executeBoxed>());
  }
}

// Copies look at the conjugate and negative bits themselves; materialising the source would be a
// copy again.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&executeBoxed>());
}

TORCH_LIBRARY(npu, m) {
  m.def("npu_format_cast(Tensor self, int acl_format) -> Tensor", formatCast);
  m.def("get_npu_format(Tensor self) -> int", formatCode);
  m.def("npu_storage_sizes(Tensor self) -> int[]",
        [](const at::Tensor &self) { return storageSizes(self); });
}

} // namespace

void resizeStorage(const c10::Storage &storage, size_t bytes) { growStorage(storage, bytes); }

} // namespace npu
