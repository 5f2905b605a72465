//===- PyPTOAttrs.td - enumerations of the pypto dialect ------------------===//
#ifndef PYPTO_ATTRS_TD
#define PYPTO_ATTRS_TD

include "PyPTODialect.td"
include "mlir/IR/EnumAttr.td"

// Where a tile lives. `none` until memory spaces are inferred.
def PyPTO_MemorySpace : I32Enum<"MemorySpace", "on-chip memory of a tile", [
    I32EnumCase<"None", 0, "none">, I32EnumCase<"Vec", 1, "vec">, I32EnumCase<"Mat", 2, "mat">,
    I32EnumCase<"Left", 3, "left">, I32EnumCase<"Right", 4, "right">, I32EnumCase<"Acc", 5, "acc">,
    I32EnumCase<"Bias", 6, "bias">, I32EnumCase<"LeftScale", 7, "left_scale">,
    I32EnumCase<"RightScale", 8, "right_scale">]> {
  let cppNamespace = "::pypto";
}

// How a tensor lies in global memory.
def PyPTO_TensorLayout : I32Enum<"TensorLayout", "layout of a tensor in global memory", [
    I32EnumCase<"ND", 0, "nd">, I32EnumCase<"DN", 1, "dn">, I32EnumCase<"NZ", 2, "nz">,
    I32EnumCase<"MXA", 3, "mx_a_zz">, I32EnumCase<"MXB", 4, "mx_b_nn">]> {
  let cppNamespace = "::pypto";
}

#endif // PYPTO_ATTRS_TD
