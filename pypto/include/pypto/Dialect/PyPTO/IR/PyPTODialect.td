//===- PyPTODialect.td - the dialect of the pypto language ----------------===//
#ifndef PYPTO_DIALECT_TD
#define PYPTO_DIALECT_TD

include "mlir/IR/OpBase.td"

def PyPTO_Dialect : Dialect {
  let name = "pypto";
  let cppNamespace = "::pypto";
  let summary = "Python tile programs in SSA form";
  let description = [{
    Tensors, tiles, scalars, task ids and scopes of a `pypto.language` program. One op per
    operation of the language, whether its operands are tensors or tiles; everything has value
    semantics. A write returns its destination: the result names the same memory as the operand.
  }];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = "void registerTypes();";
}

#endif // PYPTO_DIALECT_TD
