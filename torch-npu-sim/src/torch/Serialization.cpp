//===- Serialization.cpp - formats survive torch.save ---------------------===//
//
// A saved tensor carries its storage's bytes; for NZ its metadata says so, and the logical shape of
// the storage, which the loading side rebuilds from the tensor's own sizes.
//
//===----------------------------------------------------------------------===//
#include "Format.h"

#include <torch/csrc/jit/serialization/pickler_helper.h>

namespace npu {
namespace {

void getMetadata(const at::Tensor &tensor, std::unordered_map<std::string, bool> &metadata) {
  auto *storage = storageOrNull(tensor);
  if (!hasPrivateFormat(tensor))
    return;
  TORCH_CHECK(tensor.sizes() == at::IntArrayRef(storage->format->logicalSizes) &&
                  tensor.storage_offset() == 0,
              "saving a view of an FRACTAL_NZ tensor is not supported: save the whole tensor or "
              "cast it to ND");
  metadata["npu_format_nz"] = true;
}

void setMetadata(const at::Tensor &tensor, std::unordered_map<std::string, bool> &metadata) {
  auto found = metadata.find("npu_format_nz");
  if (found == metadata.end() || !found->second)
    return;
  markNz(tensor);
}

const bool registered = [] {
  torch::jit::TensorBackendMetaRegistry(c10::kPrivateUse1, &getMetadata, &setMetadata);
  return true;
}();

} // namespace
} // namespace npu
