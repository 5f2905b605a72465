//===- Nest.h - tile operations as work on rows and columns ---------------===//
//
// Every regular tile op becomes one or more NestOps: a rectangle of rows x cols,
// input accesses, one output access, and what to compute per vector of lanes.
// Groups of NestOps whose rows do not depend on each other share one row loop.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_LIB_TARGET_NATIVE_NEST_H
#define PTOAS_LIB_TARGET_NATIVE_NEST_H

#include "TileModel.h"
#include "VecBuilder.h"
#include <functional>

namespace ptoas::native {

/// A window of global memory. Sizes and strides are i64 values, strides in elements.
struct GmView {
  llvm::Value *base = nullptr;
  Elem elem = Elem::F32;
  llvm::Value *half =
      nullptr; // packed elements: 1 when the window starts in the high half of a byte
  llvm::SmallVector<llvm::Value *, 5> sizes, strides;
  std::optional<mlir::pto::Layout> layout;
  mlir::Value root; // the pointer everything was derived from
};

/// Which elements of an operand an element (i, j) of the rectangle uses.
enum class Spread {
  Full,   // (i, j)
  PerRow, // (i, 0)
  PerCol, // (0, j)
  One,    // (0, 0)
};

struct Access {
  Elem elem = Elem::F32;
  Spread spread = Spread::Full;
  bool mask = false; // packed bits, bit j % 8 of byte j / 8; strides are in bytes then
  llvm::Value *base = nullptr;
  llvm::Value *rowStride = nullptr, *colStride = nullptr; // elements
  /// Global memory whose rows do not collapse to one stride: (size, stride), outermost first.
  llvm::SmallVector<std::pair<llvm::Value *, llvm::Value *>, 3> rowDims;
  const TileInfo *tile = nullptr; // null: global memory
  mlir::Value gmRoot;
  int64_t rowLimit = 0; // > 0: rows from here on are read as the one before (never stored to)
  bool valid() const { return base != nullptr; }
};

/// Where a computation stands: the row and the first column of its lanes.
struct Lane {
  const VecBuilder &vb;
  llvm::Value *row, *col; // i64
};

enum class NestKind { Map, RowReduce, RowArg, ColReduce };
enum class Reduction { Sum, Prod, Max, Min };

struct NestOp {
  mlir::Operation *source = nullptr;
  NestKind kind = NestKind::Map;
  Reduction reduction = Reduction::Sum;
  llvm::SmallVector<Access, 3> in;
  Access out;
  llvm::Value *rows = nullptr, *cols = nullptr; // i64
  /// Map: register forms in, register form out (i1 lanes for masks). Null: a plain copy.
  std::function<llvm::Value *(const Lane &, llvm::ArrayRef<llvm::Value *>)> compute;

  bool usesPosition = false; // compute looks at the row or column number

  bool isGmLoad() const { return in.size() == 1 && !in[0].tile && kind == NestKind::Map; }
  bool isGmStore() const { return !out.tile; }
};

} // namespace ptoas::native
#endif
