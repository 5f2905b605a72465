//===- PyPTOOps2.cpp - op classes, shard 2 --------------------------------===//
#include "pypto/Dialect/PyPTO/IR/PyPTO.h"

#define GET_OP_DEFS_2
#include "pypto/Dialect/PyPTO/IR/PyPTOOps.cpp.inc"
