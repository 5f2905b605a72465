//===- PTOTypes.td - types of the `pto` dialect ------------*- tablegen -*-===//
#ifndef PTOAS_DIALECT_PTO_IR_PTOTYPES_TD
#define PTOAS_DIALECT_PTO_IR_PTOTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "ptoas/Dialect/PTO/IR/PTOAttrs.td"

class PTO_Type<string name, string mnemonic_, string summary_> : TypeDef<PTO_Dialect, name> {
  let mnemonic = mnemonic_;
  let summary = summary_;
}

def PTO_PtrType : PTO_Type<"Ptr", "ptr", "pointer"> {
  let description = "`!pto.ptr<f32>`: a pointer to global memory; a second parameter names another space.";
  let parameters = (ins "::mlir::Type":$elementType, "::mlir::pto::AddressSpace":$space);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), elementType, ::mlir::pto::AddressSpace::Gm);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

class PTO_ViewType<string name, string mnemonic, string summary> : PTO_Type<name, mnemonic, summary> {
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape,
                                                      "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), shape, elementType);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    int64_t getDimSize(unsigned i) const { return getShape()[i]; }
    bool hasStaticShape() const;
    /// Product of the extents; kDynamic when one is not known.
    int64_t getNumElements() const;
  }];
}
def PTO_TensorViewType : PTO_ViewType<"TensorView", "tensor_view", "tensor view"> {
  let description = "`!pto.tensor_view<?x64xf32>`: a tensor of rank 1 to 5 in global memory; `?` is a run-time extent.";
}
def PTO_PartitionTensorViewType
    : PTO_ViewType<"PartitionTensorView", "partition_tensor_view", "partition of a tensor view"> {
  let description = "`!pto.partition_tensor_view<16x64xf32>`: a window of a tensor view.";
}

def PTO_TileBufType : PTO_Type<"TileBuf", "tile_buf", "tile buffer"> {
  let description = [{
    A two-dimensional on-chip buffer. `rows x cols` is the physical shape (always
    static), `validRow x validCol` the part that holds data (kDynamic: given by
    operands). Two spellings are read, the compact one is printed:

        !pto.tile_buf<vec, 16x64xf32, valid=?x64, blayout=col_major>
        !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=?, v_col=64,
                      blayout=row_major, slayout=none_box, fractal=512, pad=0>
  }];
  let parameters = (ins
    "::mlir::pto::AddressSpace":$space, "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType,
    "int64_t":$validRow, "int64_t":$validCol, "::mlir::pto::BLayout":$blayout,
    "::mlir::pto::SLayout":$slayout, "int64_t":$fractal, "::mlir::pto::PadValue":$pad,
    "::mlir::pto::CompactMode":$compact);
  let builders = [
    // A plain row-major tile (none_box, fractal 512) with the given valid shape.
    TypeBuilderWithInferredContext<(ins "::mlir::pto::AddressSpace":$space, "int64_t":$rows, "int64_t":$cols,
                                        "::mlir::Type":$elementType, "int64_t":$validRow, "int64_t":$validCol), [{
      return $_get(elementType.getContext(), space, rows, cols, elementType, validRow, validCol,
                   ::mlir::pto::BLayout::RowMajor, ::mlir::pto::SLayout::NoneBox, 512,
                   ::mlir::pto::PadValue::Null, ::mlir::pto::CompactMode::Null);
    }]>,
    TypeBuilderWithInferredContext<(ins "::mlir::pto::AddressSpace":$space, "int64_t":$rows, "int64_t":$cols,
                                        "::mlir::Type":$elementType, "int64_t":$validRow, "int64_t":$validCol,
                                        "::mlir::pto::BLayout":$blayout, "::mlir::pto::SLayout":$slayout,
                                        "int64_t":$fractal), [{
      return $_get(elementType.getContext(), space, rows, cols, elementType, validRow, validCol, blayout,
                   slayout, fractal, ::mlir::pto::PadValue::Null, ::mlir::pto::CompactMode::Null);
    }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isBoxed() const;
    bool isRowMajor() const;
    bool isColMajor() const;
    bool hasStaticValid() const;
    /// Bytes of one element; 0 for types without a whole number of bytes.
    int64_t getElementBytes() const;
    /// Bytes of the physical tile, including what `compact` adds.
    int64_t getSizeInBytes() const;
    /// Rows and columns of a box; {1, 1} for tiles without boxes.
    std::pair<int64_t, int64_t> getBoxShape() const;
    TileBufType withValid(int64_t row, int64_t col) const;
    TileBufType withPad(::mlir::pto::PadValue pad) const;
  }];
}

def PTO_MultiTileBufType : PTO_Type<"MultiTileBuf", "multi_tile_buf", "multi-slot tile buffer"> {
  let description = "`!pto.multi_tile_buf<vec, 16x64xf32, count=2>`: 2 to 16 equal tiles, one of which is picked by index.";
  let parameters = (ins "::mlir::pto::TileBufType":$slotType, "int64_t":$count);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::pto::TileBufType":$slotType, "int64_t":$count), [{
    return $_get(slotType.getContext(), slotType, count);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def PTO_EventIdArrayType : PTO_Type<"EventIdArray", "eventid_array", "array of event ids"> {
  let parameters = (ins "int64_t":$size);
  let assemblyFormat = "`<` $size `>`";
  let genVerifyDecl = 1;
}

def PTO_LocalArrayType : PTO_Type<"LocalArray", "local_array", "scalar array"> {
  let description = "`!pto.local_array<8xi32>`: an array of scalars on the scalar unit's stack.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def PTO_StructType : PTO_Type<"Struct", "struct", "struct"> {
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$members);
  let assemblyFormat = "`<` $members `>`";
}

def PTO_PipeType : PTO_Type<"Pipe", "pipe", "cross-core FIFO">;
def PTO_AsyncSessionType : PTO_Type<"AsyncSession", "async_session", "asynchronous copy session">;
def PTO_AsyncEventType : PTO_Type<"AsyncEvent", "async_event", "asynchronous copy event">;
def PTO_PrefetchAsyncContextType : PTO_Type<"PrefetchAsyncContext", "prefetch_async_context", "prefetch context">;

// Element types that MLIR has no builtin for.
def PTO_HiF8Type : PTO_Type<"HiF8", "hif8", "8-bit HiFloat">;
def PTO_F8E8M0Type : PTO_Type<"F8E8M0", "f8E8M0", "8-bit power-of-two scale">;
def PTO_HiF8x2Type : PTO_Type<"HiF8x2", "hif8x2", "two packed HiFloats">;
def PTO_F4E1M2x2Type : PTO_Type<"F4E1M2x2", "f4E1M2x2", "two packed 4-bit floats (e1m2)">;
def PTO_F4E2M1x2Type : PTO_Type<"F4E2M1x2", "f4E2M1x2", "two packed 4-bit floats (e2m1)">;
def PTO_BF16x2Type : PTO_Type<"BF16x2", "bf16x2", "two packed bf16">;

def PTO_AnyView : AnyTypeOf<[PTO_PartitionTensorViewType, PTO_TensorViewType],
                            "tensor view or partition of one">;
def PTO_AnyScalar : Type<
    CPred<"::llvm::isa<::mlir::IntegerType, ::mlir::FloatType, ::mlir::IndexType>($_self)">,
    "integer, float or index">;
// The same scalars, by what a number stands for that a program writes in their place (tools/gen_ops.py):
// the rules of an op say which types it takes.
class PTO_NumberAs<string literal_> : Type<PTO_AnyScalar.predicate, PTO_AnyScalar.summary> {
  string literal = literal_;
}
def PTO_IndexNumber : PTO_NumberAs<"index">;
def PTO_I64Number : PTO_NumberAs<"i64">;
def PTO_I32Number : PTO_NumberAs<"i32">;
def PTO_I1Number : PTO_NumberAs<"i1">;
def PTO_F32Number : PTO_NumberAs<"f32">;
// The element type of the operand that a rule ScalarIsElem names, else of src, dst, or what else has elements.
def PTO_ElementNumber : PTO_NumberAs<"element">;
def PTO_Scalar : Type<
    CPred<"::llvm::isa<::mlir::IntegerType, ::mlir::FloatType>($_self)">, "integer or float">;

// An integer attribute of any width: `split = 1` and `split = 1 : i32` are the same.
def PTO_IntAttr : Attr<CPred<"::llvm::isa<::mlir::IntegerAttr>($_self)">, "integer attribute"> {
  let storageType = "::mlir::IntegerAttr";
  let returnType = "int64_t";
  let convertFromStorage = "$_self.getValue().getSExtValue()";
  let constBuilderCall = "$_builder.getI64IntegerAttr($0)";
  let valueType = I64;
}

#endif // PTOAS_DIALECT_PTO_IR_PTOTYPES_TD
