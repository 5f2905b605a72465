//===- irregular_runtime.cpp - what generated code needs of its thread ----===//
//
// Frames: tile storage too large for a stack. They come from a list of blocks per
// thread and go back to the list of the thread that ends the function, so a fiber
// may move between threads in the middle of a kernel.
//
//===----------------------------------------------------------------------===//
#include "irregular_tile.h"
#include "ptoas/Target/Native/Cluster.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <vector>

using namespace ptoas::kernels;

namespace {
struct Block {
  void *memory;
  int64_t bytes;
};
constexpr int64_t header = 64; // keeps the frame 64-byte aligned, holds its size

struct FreeBlocks {
  std::vector<Block> blocks;
  ~FreeBlocks() {
    for (Block &block : blocks)
      std::free(block.memory);
  }
};
thread_local FreeBlocks freeBlocks;
thread_local int64_t blockIds[4] = {0, 1, 0, 1};
} // namespace

/// At least `bytes` of uninitialised memory, 64-byte aligned, with slack behind it that vectors may
/// read. Aborts when the system has none: generated code has no way to report it.
PTO_RUNTIME void *pto_frame_enter(int64_t bytes) {
  constexpr int64_t slack = 16 * 1024;
  auto &blocks = freeBlocks.blocks;
  for (size_t i = blocks.size(); i-- > 0;)
    if (blocks[i].bytes >= bytes) {
      Block block = blocks[i];
      blocks.erase(blocks.begin() + i);
      return static_cast<char *>(block.memory) + header;
    }
  int64_t size = (bytes + 4095) / 4096 * 4096;
  void *memory = std::aligned_alloc(64, size + header + slack);
  if (!memory) {
    std::fprintf(stderr, "pto: no memory for %lld bytes of tiles\n", (long long)size);
    std::abort();
  }
  std::memcpy(memory, &size, sizeof(size));
  return static_cast<char *>(memory) + header;
}

PTO_RUNTIME void pto_frame_leave(void *frame) {
  constexpr size_t kept = 8;
  void *memory = static_cast<char *>(frame) - header;
  int64_t size;
  std::memcpy(&size, memory, sizeof(size));
  auto &blocks = freeBlocks.blocks;
  if (blocks.size() >= kept) {
    std::free(blocks.front().memory);
    blocks.erase(blocks.begin());
  }
  blocks.push_back({memory, size});
}

/// Announces what pto.get_block_idx, get_block_num, get_subblock_idx and get_subblock_num give on
/// this thread.
PTO_RUNTIME void pto_set_block(int64_t index, int64_t count, int64_t subIndex, int64_t subCount) {
  int64_t ids[4] = {index, count, subIndex, subCount};
  std::memcpy(blockIds, ids, sizeof(ids));
}
PTO_RUNTIME int64_t pto_get_block(int32_t which) { return blockIds[which & 3]; }

namespace {
void (*meet)(int32_t coreType) = nullptr;
} // namespace

/// Installs what pto.syncall does: wait until all blocks of the launch have arrived. The scheduler
/// that runs blocks side by side sets it once, before the first kernel.
PTO_RUNTIME void pto_set_sync_all(void (*wait)(int32_t coreType)) { meet = wait; }

/// `place`: where the calling function runs (pto_place at its start), `count` its number of blocks.
PTO_RUNTIME void pto_sync_all(ptoas::Place *place, int32_t coreType, int64_t count,
                              const char *where) {
  if (meet)
    return meet(coreType);
  if (place)
    return place->cluster->meet(place, coreType, where);
  if (count <= 1)
    return; // alone
  std::fprintf(stderr, "pto: syncall needs its %lld blocks to run side by side, and nobody does\n",
               (long long)count);
  std::abort();
}

namespace {
void (*yieldToOthers)() = nullptr;
} // namespace

/// Installs what a block does while it waits for others that may share its thread (simpler's
/// GlobalContext::yield). Without it a waiting block gives its time slice back.
PTO_RUNTIME void pto_set_yield(void (*yield)()) {
  __atomic_store_n(&yieldToOthers, yield, __ATOMIC_RELEASE);
}

/// The soft form of syncall: `count` blocks meet at a counter in global memory that only grows, so
/// one workspace serves any number of meetings. It starts at a multiple of `count` (zero).
PTO_RUNTIME void pto_sync_soft(ptoas::Place *place, int32_t *workspace, int64_t count,
                               const char *where) {
  if (count <= 1)
    return;
  auto *counter = reinterpret_cast<uint32_t *>(workspace);
  if (place)
    return place->cluster->meetAt(place, counter, count, where);
  uint32_t goal = ptoas::comeTo(counter, count);
  while (int32_t(__atomic_load_n(counter, __ATOMIC_SEQ_CST) - goal) < 0) {
    if (auto *yield = __atomic_load_n(&yieldToOthers, __ATOMIC_ACQUIRE))
      yield();
    else
      sched_yield();
  }
}

/// The program's format string is not trusted as one: the value goes where its first directive is.
static void print(const char *format, const char *text) {
  const char *percent = std::strchr(format, '%');
  if (!percent) {
    std::fputs(format, stdout);
    return;
  }
  std::fwrite(format, 1, percent - format, stdout);
  std::fputs(text, stdout);
  const char *rest = percent + 1;
  while (*rest && !std::strchr("diufFeEgGxXcps%", *rest))
    ++rest;
  if (*rest)
    ++rest;
  std::fputs(rest, stdout);
  std::fflush(stdout);
}
/// The code generator's own name for rounding to bfloat16, which it calls to store a bfloat16 value
/// that it holds in single precision. libgcc has it from GCC 13 on only. The result is in the low
/// bits of xmm0, as half precision is.
PTO_RUNTIME _Float16 __truncsfbf2(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  uint16_t kept = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  if (value != value) // a carry must not turn NaN into zero
    kept = bits >> 16 | 0x40;
  _Float16 result;
  std::memcpy(&result, &kept, sizeof result);
  return result;
}

PTO_RUNTIME void pto_print_float(const char *format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%f", value);
  print(format, text);
}
PTO_RUNTIME void pto_print_int(const char *format, int64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%lld", (long long)value);
  print(format, text);
}

PTO_RUNTIME void pto_print_tile(const Tile *tile, int32_t width, int32_t precision) {
  std::printf("tile %lldx%lld\n", (long long)tile->validRows, (long long)tile->validCols);
  for (int64_t r = 0; r < tile->validRows; ++r) {
    for (int64_t c = 0; c < tile->validCols; ++c)
      if (tile->type <= F64)
        std::printf("%s%*.*f", c ? " " : "", width, precision,
                    loadNumber(tile->at(r, c), tile->type));
      else
        std::printf("%s%*lld", c ? " " : "", width,
                    (long long)loadInteger(tile->at(r, c), tile->type));
    std::printf("\n");
  }
  std::fflush(stdout);
}
