//===- CheckCapacity.cpp - do the tiles fit -------------------------------===//
//
// Sums the buffers that are alive at once in each memory. Left and right are
// left out: a product that exceeds them is cut into steps by the assembler's side.
//
//===----------------------------------------------------------------------===//
#include "TensorRoots.h"
#include "TileStorage.h"
#include "pypto/Transforms/Passes.h"
#include <map>

using namespace mlir;

namespace pypto {

static int64_t capacity(MemorySpace space, bool a5) {
  switch (space) {
  case MemorySpace::Vec:
    return (a5 ? 248 : 192) * 1024;
  case MemorySpace::Mat:
    return 512 * 1024;
  case MemorySpace::Acc:
    return (a5 ? 256 : 128) * 1024;
  default:
    return INT32_MAX; // whatever the hardware has, the process must hold it
  }
}

static int64_t saturatingSum(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? INT64_MAX : sum;
}

static std::string describe(Location loc) {
  if (auto at = loc->findInstanceOf<FileLineColLoc>())
    return (at.getFilename().getValue() + ":" + Twine(at.getLine())).str();
  return "?";
}

static LogicalResult check(func::FuncOp kernel, bool a5) {
  TileStorage storage(kernel);
  struct Life {
    int from, to;
    const TileStorage::Buffer *buffer;
  };
  std::map<MemorySpace, SmallVector<Life>> spaces;
  for (const TileStorage::Buffer &buffer : storage.buffers()) {
    if (buffer.values.empty())
      continue;
    // A shared buffer is reserved from the first to the last moment of its lives.
    Life life{INT32_MAX, 0, &buffer};
    for (auto [from, to] : buffer.lives) {
      life.from = std::min(life.from, from);
      life.to = std::max(life.to, to);
    }
    spaces[cast<TileType>(buffer.values.front().getType()).getMemorySpace()].push_back(life);
  }
  for (auto &[space, lives] : spaces) {
    int64_t limit = capacity(space, a5);
    // A buffer whose last reader may write over it is free for that op's result.
    auto aliveAt = [](const Life &life, int moment) {
      return life.from <= moment && (moment < life.to || life.from == life.to);
    };
    int64_t total = 0;
    for (const Life &life : lives)
      total = saturatingSum(total, life.buffer->bytes());
    if (total <= limit)
      continue;
    int64_t peak = 0;
    int where = 0;
    for (const Life &at : lives) {
      int64_t sum = 0;
      for (const Life &life : lives)
        if (aliveAt(life, at.from))
          sum = saturatingSum(sum, life.buffer->bytes());
      if (sum > peak)
        peak = sum, where = at.from;
    }
    if (peak <= limit)
      continue;
    SmallVector<Life> alive;
    for (const Life &life : lives)
      if (aliveAt(life, where))
        alive.push_back(life);
    llvm::stable_sort(
        alive, [](const Life &a, const Life &b) { return a.buffer->bytes() > b.buffer->bytes(); });
    std::string table;
    llvm::raw_string_ostream out(table);
    for (const Life &life : alive) {
      Value value = life.buffer->values.front();
      ArrayRef<int64_t> shape = life.buffer->type.getShape();
      out << "\n  " << shape[0] << "x" << shape[1] << " " << life.buffer->type.getElementType()
          << "  " << life.buffer->bytes() << " bytes  " << describe(value.getLoc());
    }
    return emitError(alive.front().buffer->values.front().getLoc())
           << "the tiles of kernel '" << kernel.getName() << "' need " << peak << " bytes of "
           << stringifyMemorySpace(space) << " memory at once, " << (a5 ? "a5" : "a2a3") << " has "
           << limit << "; alive at the same time:" << table
           << "\nuse smaller tiles, or split the work into more blocks";
  }
  return success();
}

LogicalResult checkCapacity(ModuleOp module, StringRef platform) {
  for (auto func : module.getOps<func::FuncOp>())
    if (isKernel(func) && !func.isExternal())
      if (failed(check(func, platform.starts_with("a5"))))
        return failure();
  return success();
}

} // namespace pypto
