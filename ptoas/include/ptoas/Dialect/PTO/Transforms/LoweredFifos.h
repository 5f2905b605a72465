//===- LoweredFifos.h - what is left of FIFOs in lowered functions --------===//
#ifndef PTOAS_DIALECT_PTO_TRANSFORMS_LOWEREDFIFOS_H
#define PTOAS_DIALECT_PTO_TRANSFORMS_LOWEREDFIFOS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::pto {

/// On the tstore that a push has become, and the tload of a pop: the queue (PIPEAttr) on which the
/// push or pop runs.
inline constexpr llvm::StringLiteral kFifoQueueAttr = "pto.fifo_queue";

} // namespace mlir::pto

#endif // PTOAS_DIALECT_PTO_TRANSFORMS_LOWEREDFIFOS_H
