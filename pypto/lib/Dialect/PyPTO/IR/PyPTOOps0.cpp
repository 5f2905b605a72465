//===- PyPTOOps0.cpp - op classes, shard 0 --------------------------------===//
#include "pypto/Dialect/PyPTO/IR/PyPTO.h"

#define GET_OP_DEFS_0
#include "pypto/Dialect/PyPTO/IR/PyPTOOps.cpp.inc"
