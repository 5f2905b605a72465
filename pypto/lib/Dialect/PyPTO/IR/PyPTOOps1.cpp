//===- PyPTOOps1.cpp - op classes, shard 1 --------------------------------===//
#include "pypto/Dialect/PyPTO/IR/PyPTO.h"

#define GET_OP_DEFS_1
#include "pypto/Dialect/PyPTO/IR/PyPTOOps.cpp.inc"
