//===- TensorToTile.h - state of the tensor to tile lowering --------------===//
//
// LowerTensorToTile.cpp moves structure, memory and control flow; LowerTileOps.cpp
// the computing ops.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_LIB_TRANSFORMS_TENSORTOTILE_H
#define PYPTO_LIB_TRANSFORMS_TENSORTOTILE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "pypto/Dialect/PyPTO/IR/OpTable.h"
#include "pypto/Dialect/PyPTO/IR/PyPTO.h"
#include <map>

namespace pypto {

/// The planes (last two axes) of a shape.
int64_t planesOf(llvm::ArrayRef<int64_t> shape);

class TensorToTile {
public:
  explicit TensorToTile(mlir::func::FuncOp kernel)
      : kernel(kernel), b(kernel.getContext()), loc(kernel.getLoc()) {}
  mlir::LogicalResult run();

private:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;
  template <typename T> using Ref = llvm::ArrayRef<T>;

  // Structure and memory.
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerControlFlow(mlir::Operation *op);
  mlir::LogicalResult lowerSlice(SliceOp op);
  mlir::LogicalResult lowerAssemble(AssembleOp op);
  mlir::LogicalResult lowerLoad(LoadOp op);
  mlir::LogicalResult lowerStore(StoreOp op);
  mlir::LogicalResult lowerElement(mlir::Operation *op);
  mlir::LogicalResult lowerSplit(SplitAivOp op);
  mlir::LogicalResult store(Value memory, Value oldMemory, Value source, mlir::Type oldSource,
                            Ref<Value> offsets, Ref<int64_t> dropped, llvm::StringRef atomic,
                            Value result);
  Value load(Value memory, mlir::Type oldType, Ref<int64_t> window, Ref<Value> offsets,
             Ref<Value> valid, MemorySpace space);
  Values clampedValid(Value oldSource, Value source, Ref<int64_t> window, Ref<Value> offsets,
                      Ref<Value> valid, bool clamp);
  static llvm::SmallVector<int64_t> windowOfRank(size_t rank, Ref<int64_t> shape,
                                                 Ref<int64_t> dropped);
  llvm::SmallVector<int64_t> validShapeOfWindow(SliceOp op, Ref<int64_t> window,
                                                Ref<int64_t> dropped);
  std::pair<Value, Value> flatIndex(Ref<int64_t> shape, Ref<Value> indices);
  bool rootIsGlobal(Value value);
  Value coerce(Value value, mlir::Type type);
  mlir::Type convert(mlir::Type type);

  // Computing ops.
  mlir::LogicalResult lowerValueOp(mlir::Operation *op, const OpRow *row);
  mlir::LogicalResult lowerBinary(mlir::Operation *op, const OpRow *row);
  mlir::LogicalResult lowerCompare(CmpOp op);
  mlir::LogicalResult lowerCast(CastOp op);
  mlir::LogicalResult lowerMatmul(mlir::Operation *op, llvm::StringRef family);
  mlir::LogicalResult lowerGather(GatherOp op);
  mlir::LogicalResult lowerScatter(ScatterOp op);
  mlir::LogicalResult lowerScatterMask(ScatterMaskOp op);
  Value scatterInto(Value target, Value source, llvm::function_ref<Value(Value, Value)> scatter);
  mlir::LogicalResult lowerScatterUpdate(ScatterUpdateOp op);
  mlir::LogicalResult lowerPagedGather(PagedGatherOp op);
  mlir::LogicalResult lowerExpandClone(ExpandCloneOp op);
  mlir::LogicalResult lowerGatherRow(GatherRowOp op);
  mlir::LogicalResult lowerSineCosine(mlir::Operation *op, bool cosine);
  Value flatPositions(Value positions, int64_t stride, bool lastAxis);
  Value replicate(Value small, TileType to);
  Value product(Value lhs, Value rhs, Value acc, Value initCond, mlir::Type element, bool aTrans,
                bool bTrans);
  TileType maskOf(TileType like);
  Value splat(TileType like, double value);

  // Values of rank above 2 (LowerPlanes.cpp).
  mlir::LogicalResult lowerByPlane(mlir::Operation *op);
  mlir::LogicalResult lowerTranspose(TransposeOp op);
  mlir::LogicalResult needsKnownValid(mlir::Operation *op, mlir::Type type);
  Value broadcast(Value small, Ref<int64_t> from, Ref<int64_t> to);
  Value swapAxes(Value x, llvm::SmallVectorImpl<int64_t> &shape, int64_t first, int64_t second);
  Value windowInPlanes(Value source, Ref<int64_t> shape, Ref<int64_t> window, Ref<Value> offsets);
  Value assembleInPlanes(Value target, Value source, Ref<int64_t> shape, Ref<int64_t> window,
                         Ref<Value> offsets);
  Value joinPlanes(int64_t planes, TileType type, llvm::function_ref<Value(Value)> part);
  Value inTurn(int64_t count, Value into, llvm::function_ref<Value(Value, Value)> step);
  Value planeOf(Value all, Ref<int64_t> shape, Value plane);
  Value windowOf(Value all, int64_t rows, int64_t cols, Value row, Value col);
  Values coordinates(Value number, Ref<int64_t> extents);
  Value positionOf(Ref<Value> coordinates, Ref<int64_t> extents);
  Value times(Value value, int64_t by);
  Value plus(Value x, Value y);

  // Helpers.
  Value tile(Value old); // the 2-D tile (or scalar) of an old value; global memory is loaded
  Value make(llvm::StringRef op, mlir::Type type, mlir::ValueRange operands,
             Ref<mlir::NamedAttribute> attrs = {});
  mlir::NamedAttribute attr(llvm::StringRef name, mlir::Attribute value) {
    return b.getNamedAttr(name, value);
  }
  Value index(int64_t value);
  Values mapped(mlir::ValueRange values) {
    Values result;
    for (Value v : values)
      result.push_back(map.lookup(v));
    return result;
  }

  mlir::func::FuncOp kernel;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::IRMapping map;
  // Index constants, at the head of the kernel; a DenseMap would reserve two numbers.
  std::map<int64_t, Value> constants;
  mlir::Block *entry = nullptr;
  // Inside pl.split_aiv: the lane that is being written, and what pl.aic_gather joined so far.
  std::optional<int64_t> lane;
  llvm::StringRef splitMode;
  llvm::DenseMap<mlir::Operation *, Value> gathered;
};

} // namespace pypto

#endif // PYPTO_LIB_TRANSFORMS_TENSORTOTILE_H
