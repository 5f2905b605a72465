//===- PackingScratch.cpp - per-thread memory for packed operands ---------===//
#include "KernelTable.h"
#include <cstdio>
#include <cstdlib>

namespace {
struct Scratch {
  char *data = nullptr;
  size_t bytes = 0;
};
// Plain data: the common path reads it without the guard of a dynamic thread_local.
thread_local constinit Scratch scratch;

char *grow(size_t bytes) {
  struct Owner {
    ~Owner() { std::free(scratch.data); }
  };
  static thread_local Owner owner;
  (void)&owner;
  std::free(scratch.data);
  bytes = (bytes + bytes / 4 + 4095) & ~size_t(4095);
  scratch.data = static_cast<char *>(std::aligned_alloc(64, bytes));
  scratch.bytes = bytes;
  if (!scratch.data) {
    // A kernel has no way to report; its operands are far larger than this buffer.
    std::fprintf(stderr, "pto_kernels: no memory for %zu bytes of packing scratch\n", bytes);
    std::abort();
  }
  return scratch.data;
}
} // namespace

char *pto::kernels::packingScratch(size_t bytes) {
  return bytes <= scratch.bytes ? scratch.data : grow(bytes);
}
