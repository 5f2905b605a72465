//===- A5NormalizeTMov.cpp - moves of columns as moves of rows -------------===//
//
// The vector unit of A5 moves row-major tiles only. An unboxed col_major tile of R x C has
// the bytes of a row-major one of C x R, so such a move becomes a move of reshaped tiles.
//
//===----------------------------------------------------------------------===//
#include "ptoas/Dialect/PTO/Transforms/Passes.h"

namespace mlir::pto {
#define GEN_PASS_DEF_A5NORMALIZETMOV
#include "ptoas/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace mlir::pto

#define DEBUG_TYPE "pto-a5-normalize-tmov"

using namespace mlir;
using namespace mlir::pto;

// Extents that are only known at run time cannot be swapped in the type.
static bool isPlainColumn(TileBufType type) {
  return type.getSpace() == AddressSpace::Vec && type.isColMajor() && !type.isBoxed() &&
         type.hasStaticValid() && type.getCompact() == CompactMode::Null;
}

static Value reshape(OpBuilder &builder, Value tile) {
  auto type = cast<TileBufType>(tile.getType());
  auto rows = TileBufType::get(type.getContext(), type.getSpace(), type.getCols(), type.getRows(),
                               type.getElementType(), type.getValidCol(), type.getValidRow(),
                               BLayout::RowMajor, type.getSlayout(), type.getFractal(),
                               type.getPad(), CompactMode::Null);
  return TReshapeOp::create(builder, tile.getLoc(), rows, tile);
}

namespace {
struct A5NormalizeTMov : mlir::pto::impl::A5NormalizeTMovBase<A5NormalizeTMov> {
  void runOnOperation() override {
    getOperation().walk([](TMovOp move) {
      if (getTargetArch(move) != Arch::A5 || !isPlainColumn(move.getSrc().getType()) ||
          !isPlainColumn(move.getDst().getType()))
        return;
      OpBuilder builder(move);
      move.getSrcMutable().assign(reshape(builder, move.getSrc()));
      move.getDstMutable().assign(reshape(builder, move.getDst()));
    });
  }
};
} // namespace
