//===- PlaceText.h - a place in a file, as running kernels name it --------===//
#ifndef PTOAS_DIALECT_PTO_IR_PLACETEXT_H
#define PTOAS_DIALECT_PTO_IR_PLACETEXT_H

#include "mlir/IR/Location.h"
#include <string>

namespace mlir::pto {

/// `file:line:col` of the innermost place in a file that the location names; "?" if there is none.
std::string placeOf(Location loc);

} // namespace mlir::pto

#endif // PTOAS_DIALECT_PTO_IR_PLACETEXT_H
