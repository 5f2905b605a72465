//===- HotOps.h - operators with an unboxed kernel ------------------------===//
#pragma once

#include <string>

namespace npu {

/// Whether HotOps.cpp registers a kernel for this operator ("add.Tensor"), so that the boxed one
/// must not.
bool hasHotKernel(const std::string &name);

} // namespace npu
