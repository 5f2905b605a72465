//===- Format.h - storage formats -----------------------------------------===//
#pragma once

#include "Storage.h"

namespace npu {

/// The format code of a tensor: that of its storage, else the base format of its rank (4: NCHW, 5:
/// NCDHW, else ND).
int formatOf(const at::Tensor &tensor);
/// Whether the tensor's elements are not where its strides say. Tensors over such a storage with
/// another type (as storage copies make) see the bare bytes.
bool hasPrivateFormat(const at::Tensor &tensor);
/// Sizes of the storage's bytes in its format.
std::vector<int64_t> storageSizes(const at::Tensor &tensor);

/// Whether format 29 may be made; `torch_npu.npu.config.allow_internal_format`.
bool allowInternalFormat();
void setAllowInternalFormat(bool on);

/// A tensor of the same logical sizes whose storage has the format (base formats and NZ).
at::Tensor castFormat(const at::Tensor &tensor, int format);
/// An uninitialised tensor with the format.
at::Tensor emptyWithFormat(at::IntArrayRef sizes, at::ScalarType dtype, int device, int format);

/// Declares that the storage of a tensor already holds its contents in NZ order (a tensor being
/// loaded).
void markNz(const at::Tensor &tensor);

/// The plain contents of a tensor with a private format, on the CPU, with the tensor's view
/// applied. Must run in stream order.
at::Tensor plainContents(const at::Tensor &tensor);
/// The reverse: writes plain contents into the tensor's storage.
void storePlain(const at::Tensor &tensor, const at::Tensor &plain);

} // namespace npu
