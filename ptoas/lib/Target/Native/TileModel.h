//===- TileModel.h - what bytes the tile handles of a function stand for --===//
//
// Tiles are handles on byte ranges. Each range belongs to a root: the storage of
// one level2 allocation, or the arena of a memory space for level3 addresses.
// Two handles may share bytes only inside one root.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_LIB_TARGET_NATIVE_TILEMODEL_H
#define PTOAS_LIB_TARGET_NATIVE_TILEMODEL_H

#include "Elem.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "ptoas/Dialect/PTO/IR/PTOOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace ptoas::native {

/// A valid extent as far as it is known before code exists: a constant, or the SSA value that
/// gives it, or nothing (the handle's extents are changed by set_validshape).
struct ValidSign {
  int64_t constant = -1;
  mlir::Value value;
  bool known() const { return constant >= 0 || value; }
  bool operator==(const ValidSign &o) const {
    return known() && constant == o.constant && value == o.value;
  }
};

struct TileInfo {
  mlir::Value handle;
  unsigned root = 0;
  int64_t low = 0, high = 0;            // bytes of the root this tile may touch
  bool exact = true;                    // false: the start is a run-time value inside [low, high)
  mlir::Value dynamicStart;             // then: the handle that introduced it
  int64_t dynamicDelta = 0;             // byte distance from that handle's start
  int64_t rowStride = 0, colStride = 0; // elements
  int64_t rows = 0, cols = 0;
  Elem elem = Elem::F32;
  mlir::pto::TileBufType type;
  ValidSign validRows, validCols;
  ValidSign initialRows, initialCols; // at the handle's definition, also when resized later
  mlir::Value validOwner;             // handle whose run-time extents hold for this one

  int64_t start() const { return exact ? low : dynamicDelta; }
  int64_t rowBytes() const { return rowStride * bytesOf(elem); }
};

/// How two accesses to tiles lie to each other.
enum class Overlap {
  None,    // no byte in common
  Same,    // element (i, j) of one is element (i, j) of the other, nothing else in common
  Rows,    // row i of one has bytes in common with row i of the other only
  Unknown, // anything else
};

class TileModel {
public:
  struct Root {
    bool arena = false; // level3: addresses say where in it
    int64_t bytes = 0;
  };

  /// Emits an error and fails for what native code cannot honour.
  static mlir::FailureOr<TileModel> build(mlir::func::FuncOp func);

  const TileInfo &info(mlir::Value handle) const { return *tiles.find(handle)->second; }
  bool isTile(mlir::Value value) const { return tiles.count(value); }
  llvm::ArrayRef<Root> roots() const { return rootList; }
  /// True if some set_validshape acts on the handle.
  bool isResized(mlir::Value handle) const { return resized.contains(handle); }

  static Overlap overlap(const TileInfo &a, const TileInfo &b);

  /// Whether an op after `last`, in any order control flow allows, may see the bytes that the
  /// write to `tile` left. Ops before `first` in the same block matter only through loops.
  bool isLiveAfter(const TileInfo &tile, mlir::Operation *last) const;

private:
  enum class Scan { Continue, Dead, Live };
  struct Cover;
  Scan scanRange(mlir::Block::iterator from, mlir::Block::iterator to, const TileInfo &tile,
                 Cover &cover) const;
  Scan scanOp(mlir::Operation &op, const TileInfo &tile, Cover &cover) const;
  mlir::LogicalResult add(mlir::Operation &op);
  mlir::LogicalResult addAlloc(mlir::Operation &op, mlir::Value handle, mlir::pto::TileBufType type,
                               mlir::Value addr, mlir::Value validRow, mlir::Value validCol,
                               int64_t slots);
  mlir::LogicalResult bindScales(mlir::pto::TGetScaleAddrOp op);
  mlir::LogicalResult finish(mlir::Operation &op, TileInfo info);

  std::vector<Root> rootList;
  std::array<int, 16> arenaOfSpace{};
  llvm::DenseMap<mlir::Value, std::unique_ptr<TileInfo>> tiles;
  llvm::DenseSet<mlir::Value> resized;
  /// Handles of scale tiles, and the data tile whose address they follow.
  llvm::DenseMap<mlir::Value, mlir::Value> scaleSources;
  llvm::DenseMap<unsigned, unsigned> scaleRoots; // of data tiles without addresses, by their root
};

/// The constant an integer SSA value stands for, through casts; none when it is a run-time value.
std::optional<int64_t> constantOf(mlir::Value value);

} // namespace ptoas::native
#endif
