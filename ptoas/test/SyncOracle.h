//===- SyncOracle.h - what instructions may overlap in, trace by trace ----===//
//
// Judges the order of instructions without the assembler's own model of it. A function
// is run through: loops a few times, branches each way, to a list of what the queues
// execute. On that list the set of instructions that are surely done before each one
// starts is computed exactly, and every pair that touches the same bytes is checked.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_TEST_SYNCORACLE_H
#define PTOAS_TEST_SYNCORACLE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <string>
#include <vector>

namespace oracle {

struct Limits {
  unsigned traces = 40;    // ways through a function that are tried
  unsigned iterations = 3; // of a loop
  unsigned events = 1500;  // of a trace
};

/// The first thing that is wrong with the order of `function`; empty: nothing is. Ops in `without`
/// are taken as absent.
std::string findHazard(mlir::func::FuncOp function, const Limits &limits,
                       const llvm::DenseSet<mlir::Operation *> &without = {});

/// Whether `later` may start before an `earlier` that precedes it is done, on some way through.
bool mayRunBeside(mlir::func::FuncOp function, mlir::Operation *earlier, mlir::Operation *later,
                  const Limits &limits = {});

} // namespace oracle

#endif // PTOAS_TEST_SYNCORACLE_H
