//===- PyPTOOps3.cpp - op classes, shard 3 --------------------------------===//
#include "pypto/Dialect/PyPTO/IR/PyPTO.h"

#define GET_OP_DEFS_3
#include "pypto/Dialect/PyPTO/IR/PyPTOOps.cpp.inc"
