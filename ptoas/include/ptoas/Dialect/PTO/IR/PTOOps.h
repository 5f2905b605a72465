//===- PTOOps.h - ops and interfaces of the `pto` dialect -----------------===//
#ifndef PTOAS_DIALECT_PTO_IR_PTOOPS_H
#define PTOAS_DIALECT_PTO_IR_PTOOPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "ptoas/Dialect/PTO/IR/PTOTypes.h"
#include "ptoas/Dialect/PTO/IR/TileOpInfo.h"

#include "ptoas/Dialect/PTO/IR/PTOInterfaces.h.inc"

#define GET_OP_CLASSES
#include "ptoas/Dialect/PTO/IR/PTOOps.h.inc"

#endif // PTOAS_DIALECT_PTO_IR_PTOOPS_H
