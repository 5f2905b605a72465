//===- PyPTOTypes.td - types of the pypto dialect -------------------------===//
#ifndef PYPTO_TYPES_TD
#define PYPTO_TYPES_TD

include "PyPTODialect.td"
include "PyPTOAttrs.td"
include "mlir/IR/AttrTypeBase.td"

class PyPTO_Type<string className, string typeMnemonic> : TypeDef<PyPTO_Dialect, className> {
  let mnemonic = typeMnemonic;
}

// Extents are ShapedType::kDynamic when known at run time only. Element types are builtin:
// BOOL i1, INT8..64 i8..i64, UINT8..64 ui8..ui64, INDEX index, FP32 f32, FP16 f16, BF16 bf16.
def PyPTO_TensorType : PyPTO_Type<"Tensor", "tensor"> {
  let summary = "a tensor: global memory, or a value of the tensor level inside a kernel";
  let description = [{
    `!pypto.tensor<16x?xf32, strides = [64, 1], layout = dn, valid = [16, ?]>`. Strides are in
    elements and given for parameters only; empty means packed row-major. `valid` is the extent of
    real data, empty means all of the shape.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
      OptionalArrayRefParameter<"int64_t">:$strides,
      DefaultValuedParameter<"TensorLayout", "TensorLayout::ND">:$layout,
      OptionalArrayRefParameter<"int64_t">:$valid);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType), [{
      return $_get(elementType.getContext(), shape, elementType, ::llvm::ArrayRef<int64_t>(),
                   TensorLayout::ND, ::llvm::ArrayRef<int64_t>());
    }]>,
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
        "::llvm::ArrayRef<int64_t>":$strides, "TensorLayout":$layout, "::llvm::ArrayRef<int64_t>":$valid), [{
      return $_get(elementType.getContext(), shape, elementType, strides, layout, valid);
    }]>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    unsigned getRank() const { return getShape().size(); }
    /// Extents of real data: `valid`, or the shape when everything is valid.
    ::llvm::ArrayRef<int64_t> getValidShape() const { return getValid().empty() ? getShape() : getValid(); }
    bool hasStaticShape() const;
  }];
}

def PyPTO_TileType : PyPTO_Type<"Tile", "tile"> {
  let summary = "a tile in on-chip memory, as a value";
  let description = [{
    `!pypto.tile<16x64xf32, vec, valid = [16, ?], transposed>`. The shape is static. `transposed` marks a
    mat tile whose bytes hold the transposed matrix (`transpose_view`, `create_tile(transpose=True)`).
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
      DefaultValuedParameter<"MemorySpace", "MemorySpace::None">:$memorySpace,
      OptionalArrayRefParameter<"int64_t">:$valid,
      DefaultValuedParameter<"bool", "false">:$transposed);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
        CArg<"MemorySpace", "MemorySpace::None">:$space, CArg<"::llvm::ArrayRef<int64_t>", "{}">:$valid,
        CArg<"bool", "false">:$transposed), [{
      return $_get(elementType.getContext(), shape, elementType, space, valid, transposed);
    }]>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    unsigned getRank() const { return getShape().size(); }
    ::llvm::ArrayRef<int64_t> getValidShape() const { return getValid().empty() ? getShape() : getValid(); }
    TileType withSpace(MemorySpace space) const;
  }];
}

def PyPTO_TaskIdType : PyPTO_Type<"TaskId", "task_id"> {
  let summary = "id of a submitted task";
}

def PyPTO_ArrayType : PyPTO_Type<"Array", "array"> {
  let summary = "a local array of scalars or task ids, as a value";
  let parameters = (ins "int64_t":$size, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
}

#endif // PYPTO_TYPES_TD
