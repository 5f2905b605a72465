//===- PythonModule.h - what a handle of PythonAccess.h stands for ---------===//
#ifndef PTOAS_PYTHON_PYTHONMODULE_H
#define PTOAS_PYTHON_PYTHONMODULE_H

#include "PythonAccess.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#define PTO_API extern "C" __attribute__((visibility("default")))

struct pto_module {
  pto_module();

  /// Runs `step` and gives what it says, "file:line:col: error: text" a line.
  std::string collect(llvm::function_ref<void()> step);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Why there is no module; the text that the last call gave.
  std::string problem, result;

  // What has been built, by number (PythonBuild.cpp), and the places to return to.
  std::vector<mlir::Value> values;
  std::vector<mlir::Operation *> ops;
  std::vector<mlir::OpBuilder::InsertPoint> places;
};

#endif // PTOAS_PYTHON_PYTHONMODULE_H
