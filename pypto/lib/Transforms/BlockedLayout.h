//===- BlockedLayout.h - parameters with the layout NZ --------------------===//
#ifndef PYPTO_LIB_TRANSFORMS_BLOCKEDLAYOUT_H
#define PYPTO_LIB_TRANSFORMS_BLOCKEDLAYOUT_H

#include "pypto/Dialect/PyPTO/IR/PyPTO.h"
#include "pypto/Transforms/EntryContract.h"

namespace pypto {

/// Whether a parameter of this type lies in blocks.
bool isBlocked(mlir::Type type);

} // namespace pypto

#endif // PYPTO_LIB_TRANSFORMS_BLOCKEDLAYOUT_H
