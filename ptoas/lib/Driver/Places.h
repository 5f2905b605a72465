//===- Places.h - file:line:col for operations that name none --------------===//
#ifndef PTOAS_LIB_DRIVER_PLACES_H
#define PTOAS_LIB_DRIVER_PLACES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace ptoas {

/// Whether a message about any operation inside can name file, line and column. Text may say
/// `loc(unknown)`, and bytecode may leave places out.
bool isEverythingPlaced(mlir::ModuleOp module);

/// Parses text; operations without a place get the one of their text. With `names`, results and
/// arguments that the text names carry the name in their location, `loc("x"(…))`; of several
/// results of one operation the names stand there with commas, `"a,b"`.
mlir::OwningOpRef<mlir::ModuleOp> parseWithPlaces(const llvm::SourceMgr &sources,
                                                  mlir::MLIRContext &context, bool names = false);

/// Operations without a place get the one that they have in the printed module, which becomes a
/// buffer of `sources` with the name `file`.
void placeAsPrinted(mlir::ModuleOp module, llvm::SourceMgr &sources, llvm::StringRef file);

} // namespace ptoas

#endif // PTOAS_LIB_DRIVER_PLACES_H
