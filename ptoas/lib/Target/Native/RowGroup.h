//===- RowGroup.h - NestOps that share one row loop -----------------------===//
//
// A group holds ops in program order whose row i depends on nothing but row i of
// the others. Each op has a level: within a row, levels run one after the other,
// ops of one level and width share a column loop. A row reduction ends a level.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_LIB_TARGET_NATIVE_ROWGROUP_H
#define PTOAS_LIB_TARGET_NATIVE_ROWGROUP_H

#include "Nest.h"

namespace ptoas::native {

/// What identifies a column loop inside a level.
struct LoopKey {
  llvm::Value *cols = nullptr;
  bool strided = false; // some access steps by more than one element: one lane at a time
  bool operator==(const LoopKey &o) const { return cols == o.cols && strided == o.strided; }
};

struct GroupNode {
  std::unique_ptr<NestOp> op;
  unsigned level = 0;
  LoopKey key;
  /// Per input: the node whose output it reads; -1 reads memory.
  llvm::SmallVector<int, 3> sources;
  bool inMemory = false;  // the output must reach its tile (or is global memory)
  bool rowBuffer = false; // not in memory, but read by another column loop
  bool forwarded = false; // a plain load: later loops read global memory again
};

class RowGroup {
public:
  explicit RowGroup(const TileModel &model) : model(model) {}

  bool empty() const { return nodes.empty(); }
  bool storesGm() const { return hasGmStore; }
  void clear() {
    nodes.clear();
    hasGmStore = false;
  }
  /// Takes the op if it fits behind the ones already here.
  bool tryAdd(std::unique_ptr<NestOp> &op);
  /// Decides where each result lives. Call once, before emission.
  void place();

  std::vector<GroupNode> nodes;

private:
  bool dependencies(GroupNode &node) const;
  bool isHidden(int producer, mlir::Operation *after) const;
  void forceMemory(const Access &read, int before);
  Overlap overlap(const Access &a, const Access &b) const;

  const TileModel &model;
  bool hasGmStore = false;
};

} // namespace ptoas::native
#endif
