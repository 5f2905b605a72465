//===- PyPTODialect.cpp - registration of the pypto dialect ---------------===//
#include "pypto/Dialect/PyPTO/IR/PyPTO.h"

using namespace mlir;

#include "pypto/Dialect/PyPTO/IR/PyPTODialect.cpp.inc"
#include "pypto/Dialect/PyPTO/IR/PyPTOEnums.cpp.inc"

namespace pypto {
// The op classes are compiled in shards (PyPTOOps<N>.cpp).
void registerPyPTODialectOperations(PyPTODialect *dialect);
} // namespace pypto

void pypto::PyPTODialect::initialize() {
  registerTypes();
  registerPyPTODialectOperations(this);
}
