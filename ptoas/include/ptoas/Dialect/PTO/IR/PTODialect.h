//===- PTODialect.h - the `pto` dialect -----------------------------------===//
#ifndef PTOAS_DIALECT_PTO_IR_PTODIALECT_H
#define PTOAS_DIALECT_PTO_IR_PTODIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"

#include "ptoas/Dialect/PTO/IR/PTODialect.h.inc"

#endif // PTOAS_DIALECT_PTO_IR_PTODIALECT_H
