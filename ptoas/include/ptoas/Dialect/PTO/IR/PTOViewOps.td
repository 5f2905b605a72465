//===- PTOViewOps.td - pointers, views and tile handles ----*- tablegen -*-===//
#ifndef PTOAS_DIALECT_PTO_IR_PTOVIEWOPS_TD
#define PTOAS_DIALECT_PTO_IR_PTOVIEWOPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "ptoas/Dialect/PTO/IR/PTOTileBase.td"

//===----------------------------------------------------------------------===//
// Pointers and scalar memory
//===----------------------------------------------------------------------===//

def PTO_AddPtrOp : PTO_Op<"addptr", [Pure, AllTypesMatch<["ptr", "result"]>]> {
  let summary = "Pointer plus a number of elements.";
  let equation = "result = ptr + offset * bytes(element)";
  let arguments = (ins PTO_PtrType:$ptr, Index:$offset);
  let results = (outs PTO_PtrType:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` qualified(type($ptr)) `->` qualified(type($result))";
}
def PTO_LoadScalarOp : PTO_ScalarUnitOp<"load_scalar"> {
  let constraints = ["the value has the element type of the pointer"];
  let summary = "Read one element of global memory.";
  let equation = "value = ptr[offset]";
  let arguments = (ins Arg<PTO_PtrType, "", [MemRead]>:$ptr, Index:$offset);
  let results = (outs PTO_AnyScalar:$value);
  let assemblyFormat = "$ptr `[` $offset `]` attr-dict `:` qualified(type($ptr)) `->` qualified(type($value))";
  let hasVerifier = 1;
}
def PTO_StoreScalarOp : PTO_ScalarUnitOp<"store_scalar"> {
  let constraints = ["the value has the element type of the pointer"];
  let summary = "Write one element of global memory.";
  let equation = "ptr[offset] = value";
  let arguments = (ins PTO_ElementNumber:$value, Arg<PTO_PtrType, "", [MemWrite]>:$ptr, Index:$offset);
  let assemblyFormat = "$value `,` $ptr `[` $offset `]` attr-dict `:` qualified(type($ptr)) `,` qualified(type($value))";
  let hasVerifier = 1;
}
def PTO_PtrToIntOp : PTO_Op<"ptrtoint", [Pure]> {
  let summary = "Address of a pointer as an integer.";
  let equation = "result = address(ptr)";
  let arguments = (ins PTO_PtrType:$ptr);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$ptr attr-dict `:` qualified(type($ptr)) `->` qualified(type($result))";
}
def PTO_IntToPtrOp : PTO_Op<"inttoptr", [Pure]> {
  let summary = "Pointer with the address of an integer.";
  let equation = "address(result) = value";
  let arguments = (ins AnySignlessInteger:$value);
  let results = (outs PTO_PtrType:$result);
  let assemblyFormat = "$value attr-dict `:` qualified(type($value)) `->` qualified(type($result))";
}
def PTO_CastPtrOp : PTO_Op<"castptr", [Pure]> {
  let summary = "The same address seen as other elements.";
  let equation = "address(result) = address(ptr)";
  let arguments = (ins PTO_PtrType:$ptr);
  let results = (outs PTO_PtrType:$result);
  let assemblyFormat = "$ptr attr-dict `:` qualified(type($ptr)) `->` qualified(type($result))";
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

def PTO_MakeTensorViewOp : PTO_Op<"make_tensor_view", [Pure, AttrSizedOperandSegments]> {
  let constraints = ["pointer and view have the same element type",
                     "as many extents and strides as the view has dimensions (at most five)",
                     "constant extents are not negative and those of the type",
                     "layout= must fit the strides where they are known"];
  let summary = "A tensor in global memory: pointer, extents and strides in elements.";
  let equation = "result[i0, …] = ptr[sum_k ik * strides_k], 0 <= ik < shape_k";
  let arguments = (ins PTO_PtrType:$ptr, Variadic<Index>:$shape, Variadic<Index>:$strides,
                       OptionalAttr<PTO_LayoutAttr>:$layout);
  let results = (outs PTO_TensorViewType:$result);
  let assemblyFormat = [{
    $ptr `,` `shape` `=` `[` $shape `]` `,` `strides` `=` `[` $strides `]` attr-dict `:`
    custom<ViewOfPtr>(type($ptr), type($result))
  }];
  let hasVerifier = 1;
}
def PTO_PartitionViewOp : PTO_Op<"partition_view", [Pure, AttrSizedOperandSegments]> {
  let constraints = ["as many offsets and sizes as the view has dimensions",
                     "constant offsets are not negative, constant sizes positive and those of the type",
                     "the window lies inside the type of the view where all is constant"];
  let summary = "A window of a view.";
  let equation = "result[i0, …] = source[offsets_0 + i0, …], 0 <= ik < sizes_k";
  let arguments = (ins PTO_AnyView:$source, Variadic<Index>:$offsets, Variadic<Index>:$sizes);
  let results = (outs PTO_PartitionTensorViewType:$result);
  let assemblyFormat = [{
    $source `,` `offsets` `=` `[` $offsets `]` `,` `sizes` `=` `[` $sizes `]` attr-dict `:`
    custom<PartitionTypes>(type($source), type($result), ref($sizes))
  }];
  let hasVerifier = 1;
}
def PTO_GetTensorViewDimOp : PTO_Op<"get_tensor_view_dim", [Pure]> {
  let summary = "Extent of a view.";
  let equation = "result = shape(view)[dim]";
  let arguments = (ins PTO_AnyView:$view, Index:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$view `,` $dim attr-dict `:` qualified(type($view)) `->` qualified(type($result))";
  let hasVerifier = 1;
}
def PTO_GetTensorViewStrideOp : PTO_Op<"get_tensor_view_stride", [Pure]> {
  let summary = "Stride of a view in elements.";
  let equation = "result = strides(view)[dim]";
  let arguments = (ins PTO_AnyView:$view, Index:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$view `,` $dim attr-dict `:` qualified(type($view)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tile handles
//===----------------------------------------------------------------------===//

def PTO_AllocTileOp : PTO_Op<"alloc_tile", [AttrSizedOperandSegments]> {
  let constraints = ["`valid_row` and `valid_col` are given exactly where the type leaves the extent open (?), between 0 and the shape",
                     "addr at level3 and only there; the tile ends inside its memory (a constant that is no multiple of 32 bytes is a warning)",
                     "unboxed: a row (row_major) or column (col_major) is a multiple of 32 bytes (16 for fp4); a single one is a warning at level3",
                     "boxed: columns are a multiple of the box width, rows of its height (not in vec, with fractal 32, or one row)",
                     "left, right and acc in other orders than the matrix unit reads are a warning (A2/A3)"];
  let summary = "A tile; `addr` is its byte address in its space (level3 only).";
  let arguments = (ins Optional<I64>:$addr, Optional<Index>:$validRow, Optional<Index>:$validCol);
  let results = (outs Res<PTO_TileBufType, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    (`addr` `=` $addr^)? (`valid_row` `=` $validRow^)? (`valid_col` `=` $validCol^)? attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}
def PTO_DeclareTileOp : PTO_Op<"declare_tile"> {
  let summary = "A tile handle without storage; a pop binds it.";
  let results = (outs Res<PTO_TileBufType, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `->` qualified(type($result))";
}
def PTO_SubviewOp : PTO_Op<"subview", [Pure, AttrSizedOperandSegments]> {
  let constraints = ["element type, loc and sizes of the result are those of the window",
                     "the window lies inside the tile where that is known; of a boxed tile sizes and constant offsets are multiples of the box"];
  let summary = "A window of a tile that shares its bytes.";
  let equation = "result[i, j] = source[offsets_0 + i, offsets_1 + j], the same bytes";
  let arguments = (ins PTO_TileBufType:$source, Variadic<Index>:$offsets, DenseI64ArrayAttr:$sizes,
                       Variadic<Index>:$valid);
  let results = (outs PTO_TileBufType:$result);
  let assemblyFormat = [{
    $source `[` $offsets `]` `sizes` $sizes (`valid` `[` $valid^ `]`)? attr-dict `:`
    custom<SubviewTypes>(type($source), type($result), ref($sizes))
  }];
  let hasVerifier = 1;
}
def PTO_SubsetOp : PTO_Op<"subset", [Pure]> {
  let constraints = ["the window lies inside the tile where that is known; of a boxed tile sizes and constant offsets are multiples of the box",
                     "a boxed row_major tile keeps all columns, a col_major one all rows"];
  let summary = "Older spelling of subview; the result type follows from the sizes.";
  let equation = "result[i, j] = source[offsets_0 + i, offsets_1 + j], the same bytes";
  let arguments = (ins PTO_TileBufType:$source, Variadic<Index>:$offsets, DenseI64ArrayAttr:$sizes);
  let results = (outs PTO_TileBufType:$result);
  let assemblyFormat = [{
    $source `[` $offsets `]` `sizes` $sizes attr-dict `:` custom<SubsetTypes>(type($source), type($result), ref($offsets), ref($sizes))
  }];
  let hasVerifier = 1;
}
def PTO_SetValidShapeOp : PTO_Op<"set_validshape"> {
  let constraints = ["both valid extents of the type are open (?), constants are between 0 and the shape",
                     "the tile is made in this function"];
  let summary = "Change the valid extents of a tile whose type leaves both open.";
  let equation = "valid(tile) = (validRow, validCol)";
  let arguments = (ins Arg<PTO_TileBufType, "", [MemRead, MemWrite]>:$tile, Index:$validRow, Index:$validCol);
  let assemblyFormat = "$tile `,` $validRow `,` $validCol attr-dict `:` qualified(type($tile))";
  let hasVerifier = 1;
}
def PTO_GetValidShapeOp : PTO_Op<"get_validshape"> {
  let summary = "Valid extents of a tile.";
  let equation = "(validRow, validCol) = valid(tile)";
  let arguments = (ins Arg<PTO_TileBufType, "", [MemRead]>:$tile);
  let results = (outs Index:$validRow, Index:$validCol);
  let assemblyFormat = "$tile attr-dict `:` qualified(type($tile))";
}
def PTO_TileValidRowsOp : PTO_Op<"tile_valid_rows"> {
  let summary = "Valid rows of a tile.";
  let equation = "result = validRow(tile)";
  let arguments = (ins Arg<PTO_TileBufType, "", [MemRead]>:$tile);
  let results = (outs Index:$result);
  let assemblyFormat = "$tile attr-dict `:` qualified(type($tile)) custom<IndexResult>(type($result))";
}
def PTO_TileValidColsOp : PTO_Op<"tile_valid_cols"> {
  let summary = "Valid columns of a tile.";
  let equation = "result = validCol(tile)";
  let arguments = (ins Arg<PTO_TileBufType, "", [MemRead]>:$tile);
  let results = (outs Index:$result);
  let assemblyFormat = "$tile attr-dict `:` qualified(type($tile)) custom<IndexResult>(type($result))";
}
def PTO_TReshapeOp : PTO_Op<"treshape", [Pure]> {
  let constraints = ["loc and size in bytes stay; boxed stays boxed, unboxed unboxed"];
  let summary = "The same bytes seen with another shape.";
  let equation = "bytes(result) = bytes(source)";
  let arguments = (ins PTO_TileBufType:$source);
  let results = (outs PTO_TileBufType:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
}
def PTO_BitcastOp : PTO_Op<"bitcast", [Pure]> {
  let constraints = ["the element type changes, shape, valid shape, loc and layout stay",
                     "the result has at most the bytes of the source"];
  let summary = "The same bytes seen as other elements.";
  let equation = "bytes(result) = bytes(source)";
  let arguments = (ins PTO_TileBufType:$source);
  let results = (outs PTO_TileBufType:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
}
def PTO_TAssignOp : PTO_Op<"tassign", [AllTypesMatch<["source", "result"]>]> {
  let constraints = ["at level3 only, and without --enable-insert-sync"];
  let summary = "Rebind a tile to a byte address.";
  let equation = "address(result) = addr";
  let arguments = (ins PTO_TileBufType:$source, I64:$addr);
  let results = (outs Res<PTO_TileBufType, "", [MemAlloc]>:$result);
  let assemblyFormat = "$source `,` $addr attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
}
def PTO_AllocMultiTileOp : PTO_Op<"alloc_multi_tile", [AttrSizedOperandSegments]> {
  let constraints = ["2 to 16 slots in vec or mat, without compact=row_plus_one",
                     "valid extents, addr and layout as for alloc_tile"];
  let summary = "Several equal tiles, one of which is picked by index.";
  let arguments = (ins Optional<I64>:$addr, Optional<Index>:$validRow, Optional<Index>:$validCol);
  let results = (outs Res<PTO_MultiTileBufType, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    (`addr` `=` $addr^)? (`valid_row` `=` $validRow^)? (`valid_col` `=` $validCol^)? attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}
def PTO_MultiTileGetOp : PTO_Op<"multi_tile_get", [Pure]> {
  let constraints = ["the result has the type of a slot; a constant slot is one of them"];
  let summary = "Slot of a multi-slot tile buffer.";
  let equation = "result = source[slot], 0 <= slot < count";
  let arguments = (ins PTO_MultiTileBufType:$source, Index:$slot);
  let results = (outs PTO_TileBufType:$result);
  let assemblyFormat = "$source `[` $slot `]` attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Scalars: ids, arrays, structs, debugging
//===----------------------------------------------------------------------===//

class PTO_IdOp<string mnemonic> : PTO_Op<mnemonic, [Pure]> {
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, $_builder.getI64Type()); }]>];
}
def PTO_GetBlockIdxOp : PTO_IdOp<"get_block_idx"> {
  let summary = "Index of this block.";
  let equation = "result = block, 0 <= block < blocks";
}
def PTO_GetBlockNumOp : PTO_IdOp<"get_block_num"> {
  let summary = "Number of blocks.";
  let equation = "result = blocks";
}
def PTO_GetSubblockIdxOp : PTO_IdOp<"get_subblock_idx"> {
  let summary = "Index of this vector core in its cluster.";
  let equation = "result = lane, 0 or 1";
}
def PTO_GetSubblockNumOp : PTO_IdOp<"get_subblock_num"> {
  let summary = "Number of vector cores in a cluster.";
  let equation = "result = lanes";
}

def PTO_DeclareLocalArrayOp : PTO_Op<"declare_local_array"> {
  let summary = "A scalar array on the stack.";
  let results = (outs Res<PTO_LocalArrayType, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `->` qualified(type($result))";
}
def PTO_LocalArrayGetOp : PTO_ScalarUnitOp<"local_array_get"> {
  let summary = "Read an element of a local array.";
  let equation = "value = array[indices]";
  let arguments = (ins Arg<PTO_LocalArrayType, "", [MemRead]>:$array, Variadic<Index>:$indices);
  let results = (outs PTO_AnyScalar:$value);
  let assemblyFormat = "$array `[` $indices `]` attr-dict `:` qualified(type($array)) `->` qualified(type($value))";
  let hasVerifier = 1;
}
def PTO_LocalArraySetOp : PTO_ScalarUnitOp<"local_array_set"> {
  let summary = "Write an element of a local array.";
  let equation = "array[indices] = value";
  let arguments = (ins Arg<PTO_LocalArrayType, "", [MemWrite]>:$array, Variadic<Index>:$indices, PTO_ElementNumber:$value);
  let assemblyFormat = "$array `[` $indices `]` `,` $value attr-dict `:` qualified(type($array)) `,` qualified(type($value))";
  let hasVerifier = 1;
}
def PTO_DeclareStructOp : PTO_Op<"declare_struct"> {
  let summary = "A struct on the stack.";
  let results = (outs Res<PTO_StructType, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `->` qualified(type($result))";
}
def PTO_StructGetOp : PTO_Op<"struct_get"> {
  let summary = "Read a member of a struct.";
  let equation = "value = object.path";
  let arguments = (ins Arg<PTO_StructType, "", [MemRead]>:$object, DenseI64ArrayAttr:$path);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$object $path attr-dict `:` qualified(type($object)) `->` qualified(type($value))";
  let hasVerifier = 1;
}
def PTO_StructSetOp : PTO_Op<"struct_set"> {
  let summary = "Write a member of a struct.";
  let equation = "object.path = value";
  let arguments = (ins Arg<PTO_StructType, "", [MemWrite]>:$object, DenseI64ArrayAttr:$path, AnyType:$value);
  let assemblyFormat = "$object $path `,` $value attr-dict `:` qualified(type($object)) `,` qualified(type($value))";
  let hasVerifier = 1;
}
def PTO_PrintOp : PTO_ScalarUnitOp<"print", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Print a scalar through a format string.";
  let arguments = (ins StrAttr:$format, Optional<PTO_AnyScalar>:$value);
  let assemblyFormat = "`ins` `(` $format (`,` $value^ `:` qualified(type($value)))? `)` attr-dict";
}
def PTO_TrapOp : PTO_ScalarUnitOp<"trap", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Stop the core.";
  let assemblyFormat = "attr-dict";
}

#endif // PTOAS_DIALECT_PTO_IR_PTOVIEWOPS_TD
