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
#include <array>
#include <map>

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

/// Where the elements of a boxed tile lie (pto-isa 2.4), in elements from its start: (r, c) is at
/// r / boxRows * boxRowStep + c / boxCols * boxColStep + r % boxRows * rowStep + c % boxCols *
/// colStep.
struct BoxOrder {
  int64_t boxRows, boxCols, boxRowStep, boxColStep, rowStep, colStep;
};

struct TileInfo {
  mlir::Value handle;
  mlir::Value home; // the whole tile that this one is, or is a part of
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
  /// The bytes are in the order of boxes, because somebody sees them who shares the bytes and not
  /// the shape: instructions work on a copy with the strides above (Boxes.cpp).
  bool inBoxes = false;

  int64_t start() const { return exact ? low : dynamicDelta; }
  int64_t rowBytes() const { return rowStride * bytesOf(elem); }
};

/// Bytes of L1, the largest on-chip memory: level3 addresses end inside it.
inline constexpr int64_t largestMemory = 512 * 1024;

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

  static BoxOrder boxOrder(mlir::pto::TileBufType type);

  /// Whether an op after `last`, in any order control flow allows, may see the bytes that the
  /// write to `tile` left: by `last`, or by `write` in front of it in the same block.
  bool isLiveAfter(const TileInfo &tile, mlir::Operation *last,
                   mlir::Operation *write = nullptr) const;

private:
  enum class Scan { Continue, Dead, Live };
  /// Tiles written since the write in question; a read that one of them covers does not see it.
  struct Cover {
    llvm::SmallVector<const TileInfo *, 16> written;
    llvm::DenseSet<mlir::Value> resizedSince;
    /// When set: homes of readers that take the bytes for other elements, and the scan goes on.
    llvm::DenseSet<mlir::Value> *disagreeing = nullptr;
    static bool covers(const TileInfo &writer, const TileInfo &reader, const Cover &cover);
  };
  Scan scanRange(mlir::Block::iterator from, mlir::Block::iterator to, const TileInfo &tile,
                 Cover &cover) const;
  Scan scanOp(mlir::Operation &op, const TileInfo &tile, Cover &cover) const;
  const TileInfo &homeOf(const TileInfo &tile) const { return info(tile.home); }
  /// From behind `last`, in any order control flow allows.
  Scan scanFrom(const TileInfo &tile, mlir::Operation *last, Cover &cover) const;
  // BoxOrder.cpp
  mlir::LogicalResult findBoxes(mlir::func::FuncOp func);
  llvm::DenseSet<unsigned> rootsInDoubt() const;
  mlir::LogicalResult keepBoxes(llvm::DenseSet<mlir::Value> homes);
  static bool disagree(const TileInfo &a, const TileInfo &b);
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
