//===- NPUFormat.h - storage formats for C++ extensions -------------------===//
#pragma once

#include <ATen/core/Tensor.h>
#include <vector>

namespace at_npu::native {

/// The code of the tensor's storage format (29: FRACTAL_NZ).
int64_t get_npu_format(const at::Tensor &self);
/// Sizes of the storage in its format, in elements.
std::vector<int64_t> get_npu_storage_sizes(const at::Tensor &self);
/// An uninitialised NPU tensor with a storage format.
at::Tensor empty_with_format(at::IntArrayRef sizes, const at::TensorOptions &options,
                             int64_t format, bool keep_format = false);
at::Tensor npu_format_cast(const at::Tensor &self, int64_t acl_format);

} // namespace at_npu::native
