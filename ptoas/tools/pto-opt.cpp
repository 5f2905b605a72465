//===- pto-opt.cpp - run passes over `.pto` text --------------------------===//
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "ptoas/Dialect/PTO/Transforms/Passes.h"
#include "ptoas/Driver/Assembler.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  ptoas::registerPtoDialects(registry);
  mlir::pto::registerPTOPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "PTO pass driver\n", registry));
}
