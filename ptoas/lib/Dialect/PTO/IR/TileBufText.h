//===- TileBufText.h - text pieces of tile types --------------------------===//
#ifndef PTOAS_LIB_DIALECT_PTO_IR_TILEBUFTEXT_H
#define PTOAS_LIB_DIALECT_PTO_IR_TILEBUFTEXT_H

#include "ptoas/Dialect/PTO/IR/PTOTypes.h"

namespace mlir::pto {

/// A memory space by its name.
FailureOr<AddressSpace> parseSpace(AsmParser &parser);

/// What follows `!pto.tile`, the tile type of level1 before 0.57: read as a tile_buf when it names
/// a memory space.
Type parseLevel1Tile(AsmParser &parser);

} // namespace mlir::pto

#endif // PTOAS_LIB_DIALECT_PTO_IR_TILEBUFTEXT_H
