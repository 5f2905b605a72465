//===- pto-inst.hpp - declarations that emitted code is compiled against --===//
//
// No implementation: names, signatures and the rules that can be said at compile time,
// so that a host compiler finds wrong names, wrong numbers of arguments, wrong types and
// undeclared variables in emitted code. The real library has the same entry point.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_INST_HPP
#define PTO_INST_HPP

#include "types.hpp"

#include "tile.hpp"

#include "instructions.hpp"

#include "comm/pto_comm_inst.hpp"

#endif // PTO_INST_HPP
