//===- Format.cpp - storage formats ---------------------------------------===//
//
// NZ (29) keeps a matrix as columns of 16-row blocks whose rows are 32 bytes wide: logical [..., M,
// N] is stored as [..., N1, M1, 16, N0] with N0 = 32 bytes of elements. Ragged edges are zero.
//
//===----------------------------------------------------------------------===//
#include "Format.h"

#include "Execute.h"

namespace npu {
namespace {

constexpr int64_t BlockRows = 16, BlockBytes = 32;
std::atomic<bool> internalFormats{false};

int baseFormat(int64_t rank) { return rank == 4 ? FormatNchw : rank == 5 ? FormatNcdhw : FormatNd; }

std::vector<int64_t> blockedSizes(at::IntArrayRef sizes, int64_t itemSize) {
  int64_t width = BlockBytes / itemSize;
  std::vector<int64_t> out(sizes.begin(), sizes.end() - 2);
  int64_t m = sizes[sizes.size() - 2], n = sizes[sizes.size() - 1];
  out.insert(out.end(),
             {(n + width - 1) / width, (m + BlockRows - 1) / BlockRows, BlockRows, width});
  return out;
}

/// The CPU view of the blocked bytes and of the logical matrix they stand for.
at::Tensor physicalView(const at::Tensor &tensor) {
  StorageImpl &storage = storageOf(tensor);
  at::Tensor flat = at::empty({0}, tensor.options().device(c10::kCPU));
  flat.set_(c10::Storage(storage.cpuTwin()), 0, storage.format->physicalSizes);
  return flat;
}

at::Tensor unblock(const at::Tensor &blocked, at::IntArrayRef logical) {
  int64_t rank = blocked.dim();
  at::Tensor rows = blocked.permute([&] {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < rank - 4; ++i)
      order.push_back(i);
    order.insert(order.end(), {rank - 3, rank - 2, rank - 4, rank - 1});
    return order;
  }());
  std::vector<int64_t> padded(logical.begin(), logical.end() - 2);
  padded.push_back(blocked.size(rank - 3) * blocked.size(rank - 2));
  padded.push_back(blocked.size(rank - 4) * blocked.size(rank - 1));
  at::Tensor plain = rows.reshape(padded);
  return plain.narrow(-2, 0, logical[logical.size() - 2])
      .narrow(-1, 0, logical[logical.size() - 1])
      .contiguous();
}

void block(const at::Tensor &blocked, const at::Tensor &plain) {
  int64_t rank = blocked.dim();
  int64_t n1 = blocked.size(rank - 4), m1 = blocked.size(rank - 3), m0 = blocked.size(rank - 2),
          n0 = blocked.size(rank - 1);
  std::vector<int64_t> padded = plain.sizes().vec(), split = padded;
  padded[padded.size() - 2] = m1 * m0;
  padded[padded.size() - 1] = n1 * n0;
  at::Tensor full = at::zeros(padded, plain.options());
  full.narrow(-2, 0, plain.size(-2)).narrow(-1, 0, plain.size(-1)).copy_(plain);
  split.resize(split.size() - 2);
  split.insert(split.end(), {m1, m0, n1, n0});
  std::vector<int64_t> order;
  for (int64_t i = 0; i < rank - 4; ++i)
    order.push_back(i);
  order.insert(order.end(), {rank - 2, rank - 4, rank - 3, rank - 1}); // n1 m1 m0 n0 of m1 m0 n1 n0
  blocked.copy_(full.view(split).permute(order));
}

} // namespace

bool allowInternalFormat() { return internalFormats.load(); }
void setAllowInternalFormat(bool on) { internalFormats.store(on); }

bool hasPrivateFormat(const at::Tensor &tensor) {
  auto *storage = storageOrNull(tensor);
  return storage && storage->format && storage->format->dtype == tensor.scalar_type();
}

int formatOf(const at::Tensor &tensor) {
  return hasPrivateFormat(tensor) ? storageOf(tensor).format->format : baseFormat(tensor.dim());
}

std::vector<int64_t> storageSizes(const at::Tensor &tensor) {
  return hasPrivateFormat(tensor) ? storageOf(tensor).format->physicalSizes : tensor.sizes().vec();
}

static void requireKnown(int format) {
  TORCH_CHECK(format == FormatNz || format == FormatNd || format == FormatNchw ||
                  format == FormatNcdhw,
              "NPU format ", format,
              " is not supported: use 0 (NCHW), 2 (ND), 29 (FRACTAL_NZ) or 30 (NCDHW)");
}

at::Tensor emptyWithFormat(at::IntArrayRef sizes, at::ScalarType dtype, int device, int format) {
  requireKnown(format);
  auto strides = c10::contiguous_strides(sizes);
  if (format != FormatNz)
    return emptyOn(device, sizes, strides, dtype);
  int64_t item = int64_t(c10::elementSize(dtype));
  TORCH_CHECK(item <= 4 && dtype != at::kByte && dtype != at::kBool,
              "FRACTAL_NZ holds signed or floating elements of "
              "1, 2 or 4 bytes, not ",
              dtype);
  auto blocked = blockedSizes(sizes, item);
  int64_t bytes = item;
  for (int64_t extent : blocked)
    bytes *= extent;
  auto storage = makeStorage(bytes, device);
  static_cast<StorageImpl &>(*storage).format =
      std::make_unique<PrivateFormat>(PrivateFormat{FormatNz, dtype, sizes.vec(), blocked});
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(std::move(storage)), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
      c10::scalarTypeToTypeMeta(dtype));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return tensor;
}

at::Tensor castFormat(const at::Tensor &tensor, int format) {
  TORCH_CHECK(tensor.device().type() == c10::kPrivateUse1,
              "npu_format_cast: expected an NPU tensor, got one on ", tensor.device());
  if (format == FormatNz && !allowInternalFormat()) {
    TORCH_WARN_ONCE(
        "npu_format_cast: format 29 needs torch_npu.npu.config.allow_internal_format = True; "
        "the tensor keeps its base format");
    format = FormatNd;
  }
  if (format == FormatNz && tensor.dim() < 2) {
    TORCH_WARN_ONCE("npu_format_cast: FRACTAL_NZ needs at least 2 dimensions; the tensor keeps its "
                    "base format");
    format = FormatNd;
  }
  bool isNz = formatOf(tensor) == FormatNz;
  requireKnown(format);
  if (isNz == (format == FormatNz))
    return tensor;
  at::Tensor out =
      emptyWithFormat(tensor.sizes(), tensor.scalar_type(), tensor.device().index(), format);
  Stream &stream = currentStream(tensor.device().index());
  launch(stream, "npu_format_cast", [out, tensor, &stream] {
    KernelScope scope(stream);
    at::Tensor plain = hasPrivateFormat(tensor) ? plainContents(tensor) : aliasOnCpu(tensor);
    if (hasPrivateFormat(out))
      block(physicalView(out), plain);
    else
      aliasOnCpu(out).copy_(plain);
  });
  return out;
}

void markNz(const at::Tensor &tensor) {
  auto blocked = blockedSizes(tensor.sizes(), tensor.itemsize());
  int64_t bytes = tensor.itemsize();
  for (int64_t extent : blocked)
    bytes *= extent;
  TORCH_CHECK(tensor.dim() >= 2 && int64_t(tensor.storage().nbytes()) == bytes, "the storage of ",
              tensor.storage().nbytes(), " bytes cannot hold a ", tensor.sizes(),
              " tensor in FRACTAL_NZ format, which takes ", bytes);
  storageOf(tensor).format = std::make_unique<PrivateFormat>(
      PrivateFormat{FormatNz, tensor.scalar_type(), tensor.sizes().vec(), blocked});
}

at::Tensor plainContents(const at::Tensor &tensor) {
  StorageImpl &storage = storageOf(tensor);
  at::Tensor whole = unblock(physicalView(tensor), storage.format->logicalSizes);
  return whole.as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
}

void storePlain(const at::Tensor &tensor, const at::Tensor &plain) {
  StorageImpl &storage = storageOf(tensor);
  at::Tensor whole = at::empty({0}, plain.options());
  whole.set_(plain.storage(), 0, storage.format->logicalSizes);
  block(physicalView(tensor), whole);
}

} // namespace npu
