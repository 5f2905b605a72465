//===- PTOOps.td - all ops of the `pto` dialect ------------*- tablegen -*-===//
#ifndef PTOAS_DIALECT_PTO_IR_PTOOPS_TD
#define PTOAS_DIALECT_PTO_IR_PTOOPS_TD

include "ptoas/Dialect/PTO/IR/PTOViewOps.td"
include "ptoas/Dialect/PTO/IR/PTOTileOps.td"
include "ptoas/Dialect/PTO/IR/PTOSyncOps.td"
include "ptoas/Dialect/PTO/IR/PTOCommOps.td"

#endif // PTOAS_DIALECT_PTO_IR_PTOOPS_TD
