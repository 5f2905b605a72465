//===- Pinned.h - page-locked host memory ---------------------------------===//
#pragma once

#include <c10/core/Allocator.h>

namespace npu {

c10::Allocator *pinnedAllocator();
bool isPinned(const void *data);

} // namespace npu
