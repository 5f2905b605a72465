//===- TileStorage.h - which tiles share a buffer -------------------------===//
//
// Every tile value of a kernel has a buffer. Views share their source's; a carried
// tile, the value it starts with and the value an iteration hands on share one when their lives do
// not overlap, and so do an accumulator or a written tile and the result (updates in place).
//
// A life is an interval of positions. Op number p uses its operands at 2p and defines its
// results at 2p (the result may take over an operand's buffer) or at 2p-1 where the
// instruction must not write what it reads. Values from outside a loop live until it ends.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_LIB_TRANSFORMS_TILESTORAGE_H
#define PYPTO_LIB_TRANSFORMS_TILESTORAGE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pypto/Dialect/PyPTO/IR/PyPTO.h"

namespace pypto {

/// The value whose buffer a view looks at; the value itself if it is not a view.
mlir::Value viewBase(mlir::Value value);

class TileStorage {
public:
  struct Buffer {
    TileType type;                         // of the members, valid aside
    llvm::SmallVector<mlir::Value> values; // members that are not views
    llvm::SmallVector<std::pair<int, int>> lives;
    int64_t bytes() const; // saturates
  };

  /// With `reuseOperands`, results take over the buffer of an operand that nobody reads later,
  /// where the instruction set allows that (spec compiler 3): for planners that share no bytes
  /// within an op.
  explicit TileStorage(mlir::func::FuncOp kernel, bool reuseOperands = false);

  /// Index of the buffer of a tile value (views: of its base).
  unsigned bufferOf(mlir::Value value) const { return owner.lookup(viewBase(value)); }
  llvm::ArrayRef<Buffer> buffers() const { return all; }
  /// True for a buffer that a merge emptied.
  bool isEmpty(unsigned buffer) const { return all[buffer].values.empty(); }
  /// The block that defines all members by plain ops; null if there is none.
  mlir::Block *homeOf(unsigned buffer) const;

private:
  void number(mlir::Region &region);
  void collect(mlir::Operation *op);
  void live(mlir::Value value, int from, int to);
  void define(mlir::Value value, int at);
  void use(mlir::Value value, mlir::Operation *user, int at);
  bool merge(mlir::Value a, mlir::Value b);
  void coalesce(mlir::func::FuncOp kernel);
  void takeOver(mlir::func::FuncOp kernel);

  llvm::DenseMap<mlir::Operation *, int> begin, end;
  llvm::DenseMap<mlir::Value, unsigned> owner;
  llvm::DenseMap<mlir::Value, int> definedAt;
  llvm::SmallVector<Buffer> all;
  int next = 1;
};

} // namespace pypto

#endif // PYPTO_LIB_TRANSFORMS_TILESTORAGE_H
