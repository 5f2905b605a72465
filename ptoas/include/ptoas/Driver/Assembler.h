//===- Assembler.h - from `.pto` text to a checked module -----------------===//
//
// What the tools share: reading a file with an architecture and a level, and
// the checks that need the whole module.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_DRIVER_ASSEMBLER_H
#define PTOAS_DRIVER_ASSEMBLER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "ptoas/Dialect/PTO/IR/TileOpInfo.h"
#include "llvm/Support/SourceMgr.h"
#include <functional>
#include <optional>

namespace mlir {
class PassManager;
}

namespace ptoas {

struct AssemblerOptions {
  /// Overrides `pto.target_arch` of the module; as `parseArchName` spells it.
  std::optional<std::string> arch;
  /// 1 and 2: the assembler places tiles; 3: every tile has an address.
  unsigned level = 2;
  /// Insert flags and barriers; below level3 tiles get their addresses as well.
  bool insertSync = false;
  /// Report instructions that race.
  bool verifySync = false;
  bool inferLayout = true;
  /// Locations carry the names that the text gives to values (`loc("x"(…))`), for the C++ target.
  bool keepNames = false;
  /// Give tiles their addresses below level3 even when no flags are inserted.
  bool assignAddresses = false;
  /// What the caller wants of the passes (printing, timing); may be empty.
  std::function<mlir::LogicalResult(mlir::PassManager &)> preparePasses;
};

/// "a2", "a3", "a2a3" or "a5", given in any case; none for other words.
std::optional<std::string> parseArchName(llvm::StringRef name);

/// The dialects of a `.pto` file.
void registerPtoDialects(mlir::DialectRegistry &registry);

/// Parses and verifies the main buffer of `sources`. Null on error, also when the text nests more
/// than 256 brackets deep; diagnostics go to the context.
mlir::OwningOpRef<mlir::ModuleOp> parseModule(llvm::SourceMgr &sources, mlir::MLIRContext &context,
                                              const AssemblerOptions &options);

/// One `.pto` file and its module, for the command line: diagnostics go to stderr with the lines
/// that they are about, for as long as this object lives.
class SourceFile {
public:
  SourceFile();

  /// Reads `path` (`-`: standard input). On error `problem` says in one line what failed.
  mlir::LogicalResult open(llvm::StringRef path, const AssemblerOptions &options,
                           std::string &problem);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module; // after open()

private:
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler;
};

/// The checks that need the whole module (level, layouts, FIFOs, memory), and what the options ask
/// to insert.
mlir::LogicalResult checkModule(mlir::ModuleOp module, const AssemblerOptions &options);

/// Rewrites what native code has no instruction for: FIFOs become calls of `pto_fifo_*`.
mlir::LogicalResult lowerForHost(mlir::ModuleOp module);

} // namespace ptoas

#endif // PTOAS_DRIVER_ASSEMBLER_H
