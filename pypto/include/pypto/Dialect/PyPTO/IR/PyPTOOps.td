//===- PyPTOOps.td - operations on tensors, tiles, scalars, arrays --------===//
//
// How a record maps to an op (the importer builds every op by name):
//
//  * Operands come in the order of `arguments`, grouped; ops with more than one variable group
//    carry `operandSegmentSizes`. Result types are the builder's: shapes and element types that no
//    operand or attribute gives (full, load, reshape of tiles, …) are those of the result type.
//  * A Python parameter of a signature goes to the operand group or attribute of the same
//    name (or of Param::op) according to its kind:
//      value            operand: a tensor or tile (array ops: an array). Default None = empty group
//      value_or_scalar  operand: tensor, tile or scalar; numbers become constants of the other operand's
//                       element type (a float against integers stays f32)
//      scalar           operand: scalar or number. Default None = empty group
//      index            operand of type index (an integer of any type is cast)
//      offsets, valid   operands of type index, one per axis, constants included; None = empty group
//      shape            the same; may be run-time values on tensors
//      const_shape      the result type's shape; no operand
//      dtype            the result's element type; an attribute only where `arguments` has one
//      ints / int       attribute: i64 array / i64
//      number           attribute: a constant (f64, i64)
//      bool             attribute: i1 (absent = false)
//      str              attribute: string
//      enum:<E>         attribute: string, the member's name in lower case without a trailing "_"; integer
//                       values and names as strings are accepted (PyEnum records list them)
//      deps             operands: task ids, or one array of them
//      scratch          accepted and dropped: temporaries are the lowering's business
//  * Attributes with defaults may be left out.
//  * A write (assemble, store, write, mscatter, …) returns its destination. On global memory it is an effect
//    in program order and the result is another name of the same buffer; on values in a kernel
//    (create_tensor, create_tile, computed) it is the changed value. A slice of global memory in a kernel
//    reads at the place where it stands.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_OPS_TD
#define PYPTO_OPS_TD

include "PyPTOTable.td"
include "mlir/IR/OpAsmInterface.td"

defvar Plain = "operands attr-dict `:` functional-type(operands, results)";

//===----------------------------------------------------------------------===//
// 17.1 Creation
//===----------------------------------------------------------------------===//

def PyPTO_CreateTensorOp : PyPTO_ValueOp<"create_tensor"> {
  let summary = "a tensor with undefined contents: memory in an orchestration, a tile in a kernel";
  let arguments = (ins Variadic<Index>:$shape,
      DefaultValuedAttr<StrAttr, "\"nd\"">:$layout, DefaultValuedAttr<BoolAttr, "false">:$manual_dep,
      OptionalAttr<AnyAttr>:$init_value);
  let assemblyFormat = Plain;
  let family = "create";
  let signatures = [
    Sig<["create_tensor", "tensor.create_tensor", "tensor.create"], "=", [Param<"shape", "shape">, Param<"dtype", "dtype">,
        Param<"layout", "enum:TensorLayout", "ND">, Param<"manual_dep", "bool", "False">,
        Param<"init_value", "number", "None">]>];
}
def PyPTO_CreateTileOp : PyPTO_ValueOp<"create_tile"> {
  let summary = "a tile with undefined contents";
  let arguments = (ins 
      DefaultValuedAttr<StrAttr, "\"vec\"">:$target_memory, DefaultValuedAttr<BoolAttr, "false">:$transpose,
      DefaultValuedAttr<BoolAttr, "false">:$flat_layout);
  let assemblyFormat = Plain;
  let family = "create";
  let signatures = [
    Sig<["create_tile", "tile.create_tile", "tile.create"], "=", [Param<"shape", "const_shape">, Param<"dtype", "dtype">,
        Param<"target_memory", "enum:MemorySpace", "Vec">, Param<"transpose", "bool", "None">,
        Kw<"flat_layout", "bool", "None">]>,
    Sig<["create_l1", "tensor.create_l1"], "=", [Param<"shape", "const_shape">, Param<"dtype", "dtype">,
        Param<"transpose", "bool", "False">], ["target_memory=mat"]>];
}
def PyPTO_FullOp : PyPTO_ValueOp<"full", [Pure]> {
  let summary = "every element equals a constant";
  let arguments = (ins AnyAttr:$value,
      DefaultValuedAttr<BoolAttr, "false">:$tile);
  let assemblyFormat = Plain;
  let family = "full";
  let pto = "texpands";
  let signatures = [
    Sig<["full", "tensor.full"], "=", [Param<"shape", "const_shape">, Param<"dtype", "dtype">, Param<"value", "number">]>,
    Sig<["tile.full"], "=", [Param<"shape", "const_shape">, Param<"dtype", "dtype">, Param<"value", "number">], ["tile=true"]>];
}
def PyPTO_ArangeOp : PyPTO_ValueOp<"arange", [Pure]> {
  let summary = "start, start±1, … along the last axis";
  let arguments = (ins PyPTO_Scalar:$start,
      DefaultValuedAttr<BoolAttr, "false">:$descending, DefaultValuedAttr<BoolAttr, "false">:$tile);
  let assemblyFormat = Plain;
  let family = "arange";
  let pto = "tci";
  let signatures = [
    Sig<["arange", "tensor.arange", "ci", "tensor.ci"], "=", [Param<"start", "scalar">, Param<"shape", "const_shape">, Param<"dtype", "dtype", "INT32">,
        Param<"descending", "bool", "False">]>,
    Sig<["tile.arange", "tile.ci"], "=", [Param<"start", "scalar">, Param<"shape", "const_shape">, Param<"dtype", "dtype", "INT32">,
        Param<"descending", "bool", "False">], ["tile=true"]>];
}
def PyPTO_RandomOp : PyPTO_ValueOp<"random", [Pure]> {
  let summary = "counter-based random integers";
  let arguments = (ins PyPTO_Scalar:$key0, PyPTO_Scalar:$key1, PyPTO_Scalar:$c0, PyPTO_Scalar:$c1,
      PyPTO_Scalar:$c2, PyPTO_Scalar:$c3, Variadic<Index>:$valid_shape,
      DefaultValuedAttr<I64Attr, "10">:$rounds, DefaultValuedAttr<BoolAttr, "false">:$tile);
  let assemblyFormat = Plain;
  let family = "random";
  let pto = "trandom";
  defvar seeds = [Param<"key0", "scalar">, Param<"key1", "scalar">, Param<"c0", "scalar">, Param<"c1", "scalar">,
                  Param<"c2", "scalar">, Param<"c3", "scalar">, Param<"shape", "const_shape">];
  let signatures = [
    Sig<["random", "tensor.random"], "=", !listconcat(seeds, [Param<"dtype", "dtype", "UINT32">, Param<"rounds", "int", "10">])>,
    Sig<["tile.random"], "=", !listconcat(seeds, [Param<"valid_shape", "valid", "None">, Param<"dtype", "dtype", "UINT32">,
        Param<"rounds", "int", "10">]), ["tile=true"]>];
}
def PyPTO_TriOp : PyPTO_ValueOp<"tri", [Pure]> {
  let summary = "1 where j <= i + diagonal (upper: >=), else 0";
  let arguments = (ins PyPTO_Scalar:$diagonal, Variadic<Index>:$valid_shape,
      DefaultValuedAttr<BoolAttr, "false">:$upper, DefaultValuedAttr<BoolAttr, "true">:$tile);
  let assemblyFormat = Plain;
  let family = "tri";
  let pto = "ttri";
  let signatures = [Sig<["tri"], "t", [Param<"diagonal", "scalar">, Param<"shape", "const_shape">,
      Param<"valid_shape", "valid", "None">, Param<"dtype", "dtype", "INT32">, Param<"upper", "bool", "False">]>];
}
def PyPTO_ExpandsOp : PyPTO_ValueOp<"expands", [Pure]> {
  let summary = "target's shape filled with a run-time scalar";
  let arguments = (ins PyPTO_Value:$target, PyPTO_Scalar:$scalar);
  let assemblyFormat = Plain;
  let family = "expands";
  let pto = "texpands";
  let signatures = [Sig<["expands"], "U", [V<"target">, Param<"scalar", "scalar">]>];
}
def PyPTO_ExpandCloneOp : PyPTO_ValueOp<"expand_clone"> {
  let summary = "broadcasts src along one axis into target";
  let arguments = (ins PyPTO_Value:$src, PyPTO_Value:$target);
  let assemblyFormat = Plain;
  let family = "expand_clone";
  let signatures = [Sig<["expand_clone"], "T", [V<"src">, V<"target">]>];
}

//===----------------------------------------------------------------------===//
// 17.2 Movement and views
//===----------------------------------------------------------------------===//

def PyPTO_LoadOp : PyPTO_ValueOp<"load", [AttrSizedOperandSegments]> {
  let summary = "global memory to a vec or mat tile";
  let arguments = (ins PyPTO_TensorType:$tensor, Variadic<Index>:$offsets, Variadic<Index>:$valid_shape,
      DefaultValuedAttr<StrAttr, "\"vec\"">:$target_memory,
      DefaultValuedAttr<BoolAttr, "false">:$clamp);
  let assemblyFormat = Plain;
  let family = "load";
  let pto = "tload";
  let signatures = [Sig<["load"], "t", [V<"tensor">, Param<"offsets", "offsets">, Param<"shapes", "const_shape">,
      Param<"valid_shape", "valid", "None">, Param<"target_memory", "enum:MemorySpace", "Vec">,
      Param<"clamp", "bool", "False">]>];
}
def PyPTO_StoreOp : PyPTO_ValueOp<"store"> {
  let summary = "the valid region of a tile to global memory; returns the tensor";
  let arguments = (ins PyPTO_Value:$tile, PyPTO_TensorType:$output_tensor, Variadic<Index>:$offsets,
      OptionalAttr<DenseI64ArrayAttr>:$shapes, DefaultValuedAttr<StrAttr, "\"none\"">:$atomic);
  let assemblyFormat = Plain;
  let family = "store";
  let pto = "tstore";
  let signatures = [Sig<["store"], "t", [V<"tile">, Param<"offsets", "offsets">, V<"output_tensor">,
      Param<"shapes", "const_shape", "None">, Kw<"atomic", "enum:AtomicType", "None_">]>];
}
def PyPTO_MoveOp : PyPTO_ValueOp<"move"> {
  let summary = "copy to another on-chip memory";
  let arguments = (ins PyPTO_Value:$tile, StrAttr:$target_memory, OptionalAttr<StrAttr>:$blayout,
      OptionalAttr<StrAttr>:$slayout);
  let assemblyFormat = Plain;
  let family = "move";
  let pto = "tmov";
  let signatures = [Sig<["move"], "t", [V<"tile">, Param<"target_memory", "enum:MemorySpace">,
      Param<"blayout", "enum:TileLayout", "None">, Param<"slayout", "enum:TileLayout", "None">]>];
}
def PyPTO_SliceOp : PyPTO_ValueOp<"slice", [AttrSizedOperandSegments]> {
  let summary = "a window: sizes, then offsets";
  let description = "`drop_dims` lists axes of extent 1 that the result does not have.";
  let arguments = (ins PyPTO_Value:$input, Variadic<Index>:$shape, Variadic<Index>:$offset,
      Variadic<Index>:$valid_shape,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$drop_dims, OptionalAttr<StrAttr>:$pad_value,
      DefaultValuedAttr<BoolAttr, "false">:$clamp);
  let assemblyFormat = Plain;
  let family = "slice";
  let signatures = [Sig<["slice"], "U", [V<"input">, Param<"shape", "shape">, Param<"offset", "offsets">,
      Param<"valid_shape", "valid", "None">, Param<"drop_dims", "ints", "None">,
      Param<"pad_value", "enum:PadValue", "None">, Param<"clamp", "bool", "False">]>];
}
def PyPTO_AssembleOp : PyPTO_ValueOp<"assemble"> {
  let summary = "writes source into a window of target; returns target";
  let description = "`drop_dims` lists axes of target of window extent 1 that source does not have (subscript writes).";
  let arguments = (ins PyPTO_Value:$target, PyPTO_Value:$source, Variadic<Index>:$offset,
      DefaultValuedAttr<StrAttr, "\"none\"">:$atomic, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$drop_dims);
  let assemblyFormat = Plain;
  let family = "assemble";
  let signatures = [Sig<["assemble"], "U", [V<"target">, V<"source">, Param<"offset", "offsets">,
      Kw<"atomic", "enum:AtomicType", "None_">]>];
}
def PyPTO_ExtractOp : PyPTO_ValueOp<"extract"> {
  let summary = "2-D constant window of a mat tile into left or right memory";
  let arguments = (ins PyPTO_Value:$src, Index:$row, Index:$col, StrAttr:$target_memory);
  let assemblyFormat = Plain;
  let family = "extract";
  let pto = "textract";
  let signatures = [Sig<["extract"], "t", [V<"src">, Param<"r", "index", "", 0, "row">, Param<"c", "index", "", 0, "col">, Param<"shape", "const_shape">,
      Kw<"target_memory", "enum:MemorySpace", "">]>];
}
def PyPTO_ConcatOp : PyPTO_ValueOp<"concat", [Pure]> {
  let summary = "joins columns";
  let arguments = (ins PyPTO_Value:$a, PyPTO_Value:$b);
  let assemblyFormat = Plain;
  let family = "concat";
  let pto = "tconcat";
  let signatures = [Sig<["concat"], "U", [V<"a">, V<"b">]>];
}
def PyPTO_ReshapeOp : PyPTO_ValueOp<"reshape", [Pure]> {
  let summary = "same elements in row-major order, another shape";
  let arguments = (ins PyPTO_Value:$x, Variadic<Index>:$shape);
  let assemblyFormat = Plain;
  let family = "reshape";
  let signatures = [Sig<["reshape"], "U", [V<"x">, Param<"shape", "shape">]>];
}
def PyPTO_ReinterpretViewOp : PyPTO_ValueOp<"reinterpret_view", [Pure]> {
  let summary = "same bits, another element type";
  let arguments = (ins PyPTO_Value:$x);
  let assemblyFormat = Plain;
  let family = "reinterpret";
  let signatures = [Sig<["reinterpret_view"], "U", [V<"x">, Param<"dtype", "dtype">, Kw<"shape", "const_shape", "None">]>];
}
def PyPTO_TransposeOp : PyPTO_ValueOp<"transpose", [Pure]> {
  let summary = "swaps two axes, moving data";
  let arguments = (ins PyPTO_Value:$x, I64Attr:$axis1, I64Attr:$axis2);
  let assemblyFormat = Plain;
  let family = "transpose";
  let pto = "ttrans";
  let signatures = [Sig<["transpose"], "U", [V<"x">, Param<"axis1", "int">, Param<"axis2", "int">,
      Param<"tmp", "scratch", "None">]>];
}
def PyPTO_TransposeViewOp : PyPTO_ValueOp<"transpose_view", [Pure]> {
  let summary = "swaps the last two axes by layout";
  let arguments = (ins PyPTO_Value:$x);
  let assemblyFormat = Plain;
  let family = "transpose_view";
  let signatures = [Sig<["transpose_view"], "t", [V<"x">]>];
}
def PyPTO_ViewOp : PyPTO_ValueOp<"view", [Pure, AttrSizedOperandSegments]> {
  let summary = "another shape or layout of packed global memory";
  let arguments = (ins PyPTO_TensorType:$x, Variadic<Index>:$shape, Variadic<Index>:$valid_shape,
      OptionalAttr<StrAttr>:$layout);
  let assemblyFormat = Plain;
  let family = "view";
  let signatures = [Sig<["tensor.view", "view"], "=", [V<"x">, Param<"shape", "shape", "None">, Param<"valid_shape", "valid", "None">,
      Kw<"layout", "enum:TensorLayout", "None">]>];
}
def PyPTO_SetValidShapeOp : PyPTO_ValueOp<"set_validshape", [Pure]> {
  let summary = "declares rows and columns of real data";
  let arguments = (ins PyPTO_Value:$x, Index:$rows, Index:$cols);
  let assemblyFormat = Plain;
  let family = "set_validshape";
  let pto = "set_validshape";
  let signatures = [Sig<["set_validshape"], "U", [V<"x">, Param<"rows", "index">, Param<"cols", "index">]>];
}
def PyPTO_FillpadOp : PyPTO_ValueOp<"fillpad", [Pure]> {
  let summary = "writes the pad value outside the valid region; all valid afterwards";
  let arguments = (ins PyPTO_Value:$x, DefaultValuedAttr<StrAttr, "\"zero\"">:$pad_value);
  let assemblyFormat = Plain;
  let family = "fillpad";
  let pto = "tfillpad";
  let signatures = [
    Sig<["fillpad"], "U", [V<"x">, Param<"pad_value", "enum:PadValue", "zero">]>,
    Sig<["fillpad_inplace"], "t", [V<"x">, Param<"pad_value", "enum:PadValue", "zero">]>];
}
def PyPTO_FillpadExpandOp : PyPTO_ValueOp<"fillpad_expand", [Pure]> {
  let summary = "pads to a larger shape";
  let arguments = (ins PyPTO_Value:$x, DefaultValuedAttr<StrAttr, "\"zero\"">:$pad_value);
  let assemblyFormat = Plain;
  let family = "fillpad_expand";
  let pto = "tfillpad_expand";
  let signatures = [Sig<["fillpad_expand"], "U", [V<"x">, Param<"shape", "const_shape">, Param<"pad_value", "enum:PadValue", "zero">]>];
}
def PyPTO_ReadOp : PyPTO_Op<"read"> {
  let summary = "one element";
  let arguments = (ins PyPTO_Value:$src, Variadic<Index>:$indices);
  let results = (outs PyPTO_Scalar:$result);
  let assemblyFormat = Plain;
  let family = "read";
  let signatures = [Sig<["read"], "U", [V<"src">, Param<"idx", "offsets", "", 0, "indices">]>];
}
def PyPTO_WriteOp : PyPTO_ValueOp<"write"> {
  let summary = "stores one element; returns the destination";
  let arguments = (ins PyPTO_Value:$dst, PyPTO_Scalar:$value, Variadic<Index>:$indices);
  let assemblyFormat = Plain;
  let family = "write";
  let signatures = [Sig<["write"], "U", [V<"dst">, Param<"idx", "offsets", "", 0, "indices">, Param<"value", "scalar">]>];
}
def PyPTO_DimOp : PyPTO_Op<"dim", [Pure]> {
  let summary = "extent of an axis";
  let arguments = (ins PyPTO_Value:$t, I64Attr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = Plain;
  let family = "dim";
  let signatures = [Sig<["dim"], "T", [V<"t">, Param<"axis", "int">]>];
}
def PyPTO_GatherRowOp : PyPTO_ValueOp<"gather_row", [AttrSizedOperandSegments]> {
  let summary = "rows of global memory into a window of an on-chip tile";
  let arguments = (ins PyPTO_Value:$dst, PyPTO_TensorType:$src, Variadic<Index>:$dst_offset, Variadic<Index>:$src_offset,
      Variadic<Index>:$valid_shape, DenseI64ArrayAttr:$shapes, DefaultValuedAttr<BoolAttr, "false">:$transpose);
  let assemblyFormat = Plain;
  let family = "gather_row";
  let signatures = [Sig<["gather_row"], "U", [V<"dst">, V<"src">, Param<"dst_offset", "offsets">, Param<"src_offset", "offsets">,
      Param<"shapes", "const_shape">, Param<"transpose", "bool", "False">, Kw<"valid_shape", "valid", "None">]>];
}

//===----------------------------------------------------------------------===//
// 17.3 Elementwise
//===----------------------------------------------------------------------===//

class Unary<string n, string ptoName, list<Param> more = []>
    : PyPTO_ValueOp<n, [Pure]> {
  let arguments = (ins PyPTO_Value:$x, DefaultValuedAttr<BoolAttr, "false">:$high_precision);
  let assemblyFormat = Plain;
  let family = "unary";
  let pto = ptoName;
  let signatures = [Sig<[!if(!eq(n, "not"), "not_", n)], "U", !listconcat([V<"x">], more)>];
}
defvar HighPrecision = [Param<"high_precision", "bool", "False">];
def PyPTO_NegOp : Unary<"neg", "tneg"> { let summary = "-x"; }
def PyPTO_AbsOp : Unary<"abs", "tabs"> { let summary = "|x|"; }
def PyPTO_ExpOp : Unary<"exp", "texp"> { let summary = "e^x"; }
def PyPTO_LogOp : Unary<"log", "tlog", HighPrecision> { let summary = "natural logarithm"; }
def PyPTO_SqrtOp : Unary<"sqrt", "tsqrt"> { let summary = "square root"; }
def PyPTO_RsqrtOp : Unary<"rsqrt", "trsqrt"> {
  let summary = "1 / sqrt(x)";
  let signatures = [
    Sig<["rsqrt", "tensor.rsqrt"], "=", [V<"x">, Param<"high_precision", "bool", "False">, Param<"tmp", "scratch", "None">]>,
    Sig<["tile.rsqrt"], "=", [V<"x">, Param<"tmp", "scratch", "None">, Param<"high_precision", "bool", "False">]>];
}
def PyPTO_RecipOp : Unary<"recip", "trecip", HighPrecision> { let summary = "1 / x"; }
def PyPTO_SinOp : Unary<"sin", "tsin"> { let summary = "sine"; }
def PyPTO_CosOp : Unary<"cos", "tcos"> { let summary = "cosine"; }
def PyPTO_ReluOp : Unary<"relu", "trelu"> {
  let summary = "max(x, 0)";
  let signatures = [Sig<["relu"], "t", [V<"x">]>];
}
def PyPTO_NotOp : Unary<"not", "tnot"> { let summary = "bitwise complement"; }

// `alias` is the explicit scalar form ("adds"); it allows only a scalar on the right.
class Binary<string n, string ptoName, string ptoScalarName, string alias = "",
             list<Param> more = [], string py = n> : PyPTO_ValueOp<n, [Pure]> {
  let arguments = (ins PyPTO_ValueOrScalar:$lhs, PyPTO_ValueOrScalar:$rhs,
      DefaultValuedAttr<BoolAttr, "false">:$high_precision);
  let assemblyFormat = Plain;
  let family = "binary";
  let pto = ptoName;
  let ptoScalar = ptoScalarName;
  defvar general = Sig<[py], "U", !listconcat([VS<"lhs">, VS<"rhs">], more)>;
  defvar scalarForm = Sig<[alias], "U", [V<"lhs">, Param<"rhs", "scalar">, Param<"tmp", "scratch", "None">]>;
  let signatures = !if(!empty(alias), [general], [general, scalarForm]);
}
defvar Tmp = [Param<"tmp", "scratch", "None">];
def PyPTO_AddOp : Binary<"add", "tadd", "tadds", "adds"> { let summary = "lhs + rhs"; }
def PyPTO_SubOp : Binary<"sub", "tsub", "tsubs", "subs"> { let summary = "lhs - rhs"; }
def PyPTO_MulOp : Binary<"mul", "tmul", "tmuls", "muls"> { let summary = "lhs * rhs"; }
def PyPTO_DivOp : Binary<"div", "tdiv", "tdivs", "divs", HighPrecision> { let summary = "lhs / rhs; integers truncate"; }
def PyPTO_MaximumOp : Binary<"maximum", "tmax", "tmaxs", "maximums"> { let summary = "larger element"; }
def PyPTO_MinimumOp : Binary<"minimum", "tmin", "tmins", "minimums"> { let summary = "smaller element"; }
def PyPTO_FmodOp : Binary<"fmod", "tfmod", "tfmods", "fmods"> { let summary = "remainder with the dividend's sign"; }
def PyPTO_RemOp : Binary<"rem", "trem", "trems", "rems", Tmp> { let summary = "remainder with the divisor's sign"; }
def PyPTO_AndOp : Binary<"and", "tand", "tands", "ands", [], "and_"> { let summary = "bitwise and"; }
def PyPTO_OrOp : Binary<"or", "tor", "tors", "ors", [], "or_"> { let summary = "bitwise or"; }
def PyPTO_XorOp : Binary<"xor", "txor", "txors", "xors", Tmp> { let summary = "bitwise exclusive or"; }
def PyPTO_ShlOp : Binary<"shl", "tshl", "tshls", "shls"> { let summary = "shift left"; }
def PyPTO_ShrOp : Binary<"shr", "tshr", "tshrs", "shrs"> { let summary = "shift right, arithmetic on signed"; }

class Part<string n, string ptoName> : PyPTO_ValueOp<n, [Pure]> {
  let summary = "combines where both are valid, copies where one is";
  let arguments = (ins PyPTO_Value:$lhs, PyPTO_Value:$rhs);
  let assemblyFormat = Plain;
  let family = "part";
  let pto = ptoName;
  let signatures = [Sig<[n], "U", [V<"lhs">, V<"rhs">]>];
}
def PyPTO_PartAddOp : Part<"part_add", "tpartadd">;
def PyPTO_PartMulOp : Part<"part_mul", "tpartmul">;
def PyPTO_PartMaxOp : Part<"part_max", "tpartmax">;
def PyPTO_PartMinOp : Part<"part_min", "tpartmin">;

def PyPTO_LreluOp : PyPTO_ValueOp<"lrelu", [Pure]> {
  let summary = "max(x, slope * x)";
  let arguments = (ins PyPTO_Value:$x, PyPTO_Scalar:$slope);
  let assemblyFormat = Plain;
  let family = "binary";
  let pto = "tprelu";
  let ptoScalar = "tlrelu";
  let signatures = [Sig<["lrelu"], "t", [V<"x">, Param<"slope", "scalar">]>];
}
def PyPTO_PreluOp : PyPTO_ValueOp<"prelu", [Pure]> {
  let summary = "x > 0 ? x : slope * x";
  let arguments = (ins PyPTO_Value:$x, PyPTO_Value:$slope);
  let assemblyFormat = Plain;
  let family = "binary";
  let pto = "tprelu";
  let signatures = [Sig<["prelu"], "t", [V<"x">, V<"slope">, Param<"tmp", "scratch", "None">]>];
}

// a + b + c and a - b - c.
class Ternary<string n, string ptoName, bit scalarB> : PyPTO_ValueOp<n, [Pure]> {
  let arguments = (ins PyPTO_Value:$a, PyPTO_ValueOrScalar:$b, PyPTO_Value:$c);
  let assemblyFormat = Plain;
  let family = "ternary";
  let pto = ptoName;
  let signatures = [Sig<[n], "t", [V<"a">, !if(scalarB, Param<"b", "scalar">, V<"b">), V<"c">]>];
}
def PyPTO_AddcOp : Ternary<"addc", "taddc", 0> { let summary = "a + b + c"; }
def PyPTO_SubcOp : Ternary<"subc", "tsubc", 0> { let summary = "a - b - c"; }
def PyPTO_AddscOp : Ternary<"addsc", "taddsc", 1> { let summary = "a + s + c"; }
def PyPTO_SubscOp : Ternary<"subsc", "tsubsc", 1> { let summary = "a - s - c"; }

def PyPTO_CmpOp : PyPTO_ValueOp<"cmp", [Pure]> {
  let summary = "comparison; tensors: 0/1 in the promoted dtype, tiles: packed predicate bits";
  let arguments = (ins PyPTO_Value:$lhs, PyPTO_ValueOrScalar:$rhs, DefaultValuedAttr<StrAttr, "\"eq\"">:$cmp_type,
      DefaultValuedAttr<BoolAttr, "false">:$packed);
  let assemblyFormat = Plain;
  let family = "cmp";
  let pto = "tcmp";
  let ptoScalar = "tcmps";
  let signatures = [
    Sig<["cmp", "tensor.cmp"], "=", [V<"lhs">, VS<"rhs">, Param<"cmp_type", "enum:CmpType", "eq">]>,
    Sig<["tile.cmp"], "=", [V<"lhs">, V<"rhs">, Param<"cmp_type", "enum:CmpType", "eq">], ["packed=true"]>,
    Sig<["cmps", "tile.cmps"], "=", [V<"lhs">, Param<"rhs", "scalar">, Param<"cmp_type", "enum:CmpType", "eq">], ["packed=true"]>];
}
def PyPTO_SelOp : PyPTO_ValueOp<"sel", [Pure]> {
  let summary = "mask bit ? a : b";
  let arguments = (ins PyPTO_Value:$mask, PyPTO_Value:$a, PyPTO_ValueOrScalar:$b);
  let assemblyFormat = Plain;
  let family = "sel";
  let pto = "tsel";
  let ptoScalar = "tsels";
  let signatures = [
    Sig<["sel"], "t", [V<"mask">, V<"a">, V<"b">, Param<"tmp", "scratch", "None">]>,
    Sig<["sels"], "t", [V<"mask">, Param<"src", "value", "", 0, "a">, Param<"tmp", "scratch", "None">, Param<"scalar", "scalar", "", 0, "b">]>];
}

//===----------------------------------------------------------------------===//
// 17.4 Cast
//===----------------------------------------------------------------------===//

def PyPTO_CastOp : PyPTO_ValueOp<"cast", [Pure]> {
  let summary = "converts elements (scalars: pypto.scalar_cast)";
  let arguments = (ins PyPTO_Value:$x, TypeAttr:$target_type, DefaultValuedAttr<StrAttr, "\"round\"">:$mode);
  let assemblyFormat = Plain;
  let family = "cast";
  let pto = "tcvt";
  let signatures = [Sig<["cast"], "U", [VS<"x">, Param<"target_type", "dtype">, Param<"mode", "enum:RoundMode", "round">]>];
}
def PyPTO_UndefOp : PyPTO_Op<"undef", [Pure]> {
  let summary = "a name on a path that does not bind it";
  let results = (outs AnyType:$result);
  let assemblyFormat = Plain;
  let family = "undef";
}
def PyPTO_ScalarCastOp : PyPTO_Op<"scalar_cast", [Pure]> {
  let summary = "converts a scalar to the result type; signed or unsigned as the types say, floats truncate to integers";
  let arguments = (ins PyPTO_Scalar:$x);
  let results = (outs PyPTO_Scalar:$result);
  let assemblyFormat = Plain;
  let family = "scalar_cast";
}
def PyPTO_FloorModOp : PyPTO_Op<"floormod", [Pure, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "lhs - floor(lhs / rhs) * rhs";
  let arguments = (ins SignlessIntegerLike:$lhs, SignlessIntegerLike:$rhs);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = "operands attr-dict `:` type($result)";
  let family = "floormod";
}

//===----------------------------------------------------------------------===//
// 17.5 Reductions, 17.6 expansion
//===----------------------------------------------------------------------===//

class Reduce<string n, string ptoName, string fam, string tmp> : PyPTO_ValueOp<n, [Pure]> {
  let arguments = (ins PyPTO_Value:$x);
  let assemblyFormat = Plain;
  let family = fam;
  let pto = ptoName;
  let signatures = [Sig<[n], "U", [V<"x">, Param<tmp, "scratch", "None">]>];
}
def PyPTO_RowSumOp : Reduce<"row_sum", "trowsum", "row_reduce", "tmp_tile"> { let summary = "sum of each row"; }
def PyPTO_RowMaxOp : Reduce<"row_max", "trowmax", "row_reduce", "tmp_tile"> { let summary = "largest of each row"; }
def PyPTO_RowMinOp : Reduce<"row_min", "trowmin", "row_reduce", "tmp_tile"> { let summary = "smallest of each row"; }
def PyPTO_RowProdOp : Reduce<"row_prod", "trowprod", "row_reduce", "tmp_tile"> { let summary = "product of each row"; }
def PyPTO_ColSumOp : Reduce<"col_sum", "tcolsum", "col_reduce", "tmp_tile"> { let summary = "sum of each column"; }
def PyPTO_ColMaxOp : Reduce<"col_max", "tcolmax", "col_reduce", "tmp_tile"> { let summary = "largest of each column"; }
def PyPTO_ColMinOp : Reduce<"col_min", "tcolmin", "col_reduce", "tmp_tile"> { let summary = "smallest of each column"; }
def PyPTO_ColProdOp : Reduce<"col_prod", "tcolprod", "col_reduce", "tmp_tile"> { let summary = "product of each column"; }
def PyPTO_RowArgmaxOp : Reduce<"row_argmax", "trowargmax", "row_arg", "tmp"> { let summary = "index of the largest of each row"; }
def PyPTO_RowArgminOp : Reduce<"row_argmin", "trowargmin", "row_arg", "tmp"> { let summary = "index of the smallest of each row"; }
def PyPTO_ColArgmaxOp : Reduce<"col_argmax", "tcolargmax", "col_arg", "tmp"> { let summary = "index of the largest of each column"; }
def PyPTO_ColArgminOp : Reduce<"col_argmin", "tcolargmin", "col_arg", "tmp"> { let summary = "index of the smallest of each column"; }

class Expand<string n, string ptoName, string fam> : PyPTO_ValueOp<n, [Pure]> {
  let arguments = (ins PyPTO_Value:$x, PyPTO_Value:$v);
  let assemblyFormat = Plain;
  let family = fam;
  let pto = ptoName;
  let signatures = [Sig<[n], "U", [V<"x">, V<"v">, Param<"tmp", "scratch", "None">]>];
}
class RowExpand<string f> : Expand<"row_expand_" # f, "trowexpand" # f, "row_expand"> {
  let summary = "x op v[M,1] on every column";
}
class ColExpand<string f> : Expand<"col_expand_" # f, "tcolexpand" # f, "col_expand"> {
  let summary = "x op v[1,N] on every row";
}
def PyPTO_RowExpandAddOp : RowExpand<"add">;
def PyPTO_RowExpandSubOp : RowExpand<"sub">;
def PyPTO_RowExpandMulOp : RowExpand<"mul">;
def PyPTO_RowExpandDivOp : RowExpand<"div">;
def PyPTO_RowExpandMaxOp : RowExpand<"max">;
def PyPTO_RowExpandMinOp : RowExpand<"min">;
def PyPTO_RowExpandExpdifOp : RowExpand<"expdif">;
def PyPTO_ColExpandAddOp : ColExpand<"add">;
def PyPTO_ColExpandSubOp : ColExpand<"sub">;
def PyPTO_ColExpandMulOp : ColExpand<"mul">;
def PyPTO_ColExpandDivOp : ColExpand<"div">;
def PyPTO_ColExpandMaxOp : ColExpand<"max">;
def PyPTO_ColExpandMinOp : ColExpand<"min">;
def PyPTO_ColExpandExpdifOp : ColExpand<"expdif">;
class Replicate<string n, string ptoName> : PyPTO_ValueOp<n, [Pure]> {
  let arguments = (ins PyPTO_Value:$target, PyPTO_Value:$v);
  let assemblyFormat = Plain;
  let family = n;
  let pto = ptoName;
  let signatures = [Sig<[n], "U", [V<"target">, V<"v">]>];
}
def PyPTO_RowExpandOp : Replicate<"row_expand", "trowexpand"> { let summary = "v[M,1] on every column"; }
def PyPTO_ColExpandOp : Replicate<"col_expand", "tcolexpand"> { let summary = "v[1,N] on every row"; }

//===----------------------------------------------------------------------===//
// 17.7 Matrix ops
//===----------------------------------------------------------------------===//

def PyPTO_MatmulOp : PyPTO_ValueOp<"matmul", [Pure]> {
  let summary = "matrix product; batches broadcast";
  let arguments = (ins PyPTO_Value:$lhs, PyPTO_Value:$rhs, OptionalAttr<TypeAttr>:$out_dtype,
      DefaultValuedAttr<BoolAttr, "false">:$a_trans, DefaultValuedAttr<BoolAttr, "false">:$b_trans);
  let assemblyFormat = Plain;
  let family = "matmul";
  let pto = "tmatmul";
  let signatures = [
    Sig<["matmul"], "U", [V<"lhs">, V<"rhs">, Param<"out_dtype", "dtype", "None">, Param<"a_trans", "bool", "False">,
        Param<"b_trans", "bool", "False">, Param<"c_matrix_nz", "scratch", "False">]>,
    Sig<["batch_matmul"], "t", [Param<"a", "value", "", 0, "lhs">, Param<"b", "value", "", 0, "rhs">]>];
}
def PyPTO_MatmulAccOp : PyPTO_ValueOp<"matmul_acc", [Pure]> {
  let summary = "acc + lhs @ rhs; init_cond true: lhs @ rhs";
  let arguments = (ins PyPTO_Value:$acc, PyPTO_Value:$lhs, PyPTO_Value:$rhs, Optional<I1>:$init_cond,
      DefaultValuedAttr<BoolAttr, "false">:$a_trans, DefaultValuedAttr<BoolAttr, "false">:$b_trans);
  let assemblyFormat = Plain;
  let family = "matmul_acc";
  let pto = "tmatmul.acc";
  let signatures = [
    Sig<["matmul_acc"], "U", [V<"acc">, V<"lhs">, V<"rhs">, Param<"a_trans", "bool", "False">, Param<"b_trans", "bool", "False">,
        Param<"init_cond", "scalar", "None">]>,
    Sig<["tile.batch_matmul_acc", "batch_matmul_acc"], "=", [V<"acc">, Param<"a", "value", "", 0, "lhs">, Param<"b", "value", "", 0, "rhs">]>];
}
def PyPTO_MatmulBiasOp : PyPTO_ValueOp<"matmul_bias", [Pure]> {
  let summary = "a @ b + bias[1,N]";
  let arguments = (ins PyPTO_Value:$lhs, PyPTO_Value:$rhs, PyPTO_Value:$bias);
  let assemblyFormat = Plain;
  let family = "matmul_bias";
  let pto = "tmatmul.bias";
  let signatures = [Sig<["matmul_bias"], "t", [Param<"a", "value", "", 0, "lhs">, Param<"b", "value", "", 0, "rhs">, V<"bias">]>];
}
defvar AccPhase = [Param<"acc_phase", "str", "\"unspecified\"">];
def PyPTO_GemvOp : PyPTO_ValueOp<"gemv", [Pure]> {
  let summary = "vector @ matrix";
  let arguments = (ins PyPTO_Value:$lhs, PyPTO_Value:$rhs, DefaultValuedAttr<StrAttr, "\"unspecified\"">:$acc_phase);
  let assemblyFormat = Plain;
  let family = "matmul";
  let pto = "tgemv";
  let signatures = [Sig<["gemv"], "t", !listconcat([Param<"a", "value", "", 0, "lhs">, Param<"b", "value", "", 0, "rhs">], AccPhase)>];
}
def PyPTO_GemvAccOp : PyPTO_ValueOp<"gemv_acc", [Pure]> {
  let summary = "acc + vector @ matrix";
  let arguments = (ins PyPTO_Value:$acc, PyPTO_Value:$lhs, PyPTO_Value:$rhs,
      DefaultValuedAttr<StrAttr, "\"unspecified\"">:$acc_phase);
  let assemblyFormat = Plain;
  let family = "matmul_acc";
  let pto = "tgemv.acc";
  let signatures = [Sig<["gemv_acc"], "t", !listconcat([V<"acc">, Param<"a", "value", "", 0, "lhs">, Param<"b", "value", "", 0, "rhs">], AccPhase)>];
}
def PyPTO_GemvBiasOp : PyPTO_ValueOp<"gemv_bias", [Pure]> {
  let summary = "vector @ matrix + bias";
  let arguments = (ins PyPTO_Value:$lhs, PyPTO_Value:$rhs, PyPTO_Value:$bias,
      DefaultValuedAttr<StrAttr, "\"unspecified\"">:$acc_phase);
  let assemblyFormat = Plain;
  let family = "matmul_bias";
  let pto = "tgemv.bias";
  let signatures = [Sig<["gemv_bias"], "t", !listconcat([Param<"a", "value", "", 0, "lhs">, Param<"b", "value", "", 0, "rhs">, V<"bias">], AccPhase)>];
}
def PyPTO_MatmulMxOp : PyPTO_ValueOp<"matmul_mx", [Pure, AttrSizedOperandSegments]> {
  let summary = "product of block-scaled 8-bit floats (a5)";
  let arguments = (ins PyPTO_Value:$lhs, PyPTO_Value:$lhs_scale, PyPTO_Value:$rhs, PyPTO_Value:$rhs_scale,
      Optional<PyPTO_Value>:$acc, Optional<PyPTO_Value>:$bias);
  let assemblyFormat = Plain;
  let family = "matmul_mx";
  let pto = "tmatmul.mx";
  let signatures = [
    Sig<["matmul_mx"], "t", [V<"lhs">, V<"lhs_scale">, V<"rhs">, V<"rhs_scale">]>,
    Sig<["matmul_mx_acc"], "t", [V<"acc">, V<"lhs">, V<"lhs_scale">, V<"rhs">, V<"rhs_scale">]>,
    Sig<["matmul_mx_bias"], "t", [V<"lhs">, V<"lhs_scale">, V<"rhs">, V<"rhs_scale">, V<"bias">]>];
}

//===----------------------------------------------------------------------===//
// 17.8 Gather, scatter, sort
//===----------------------------------------------------------------------===//

def PyPTO_GatherOp : PyPTO_ValueOp<"gather", [Pure]> {
  let summary = "torch.gather along dim; flat: positions in the whole tile";
  let arguments = (ins PyPTO_Value:$input, PyPTO_Value:$index, DefaultValuedAttr<I64Attr, "-1">:$dim,
      DefaultValuedAttr<BoolAttr, "false">:$flat);
  let assemblyFormat = Plain;
  let family = "gather";
  let pto = "tgather";
  let signatures = [
    Sig<["gather", "tensor.gather"], "=", [V<"input">, Param<"dim", "int">, V<"index">]>,
    Sig<["tile.gather"], "=", [Param<"src", "value", "", 0, "input">, Param<"indices", "value", "", 0, "index">,
        Param<"tmp", "scratch", "None">], ["flat=true"]>];
}
def PyPTO_GatherMaskOp : PyPTO_ValueOp<"gather_mask", [Pure]> {
  let summary = "keeps the columns of a pattern";
  let arguments = (ins PyPTO_Value:$input, StrAttr:$mask_pattern, OptionalAttr<TypeAttr>:$output_dtype);
  let assemblyFormat = Plain;
  let family = "gather_mask";
  let pto = "tgather";
  let signatures = [
    Sig<["gather", "tensor.gather"], "=", [V<"input">, Kw<"mask_pattern", "enum:MaskPattern", "">, Kw<"output_dtype", "dtype", "None">]>,
    Sig<["gather_mask", "tile.gather_mask"], "=", [Param<"src", "value", "", 0, "input">, Param<"mask_pattern", "enum:MaskPattern">,
        Kw<"output_dtype", "dtype", "None">]>];
}
def PyPTO_GatherCompareOp : PyPTO_Op<"gather_compare", [Pure]> {
  let summary = "per row the indices where a comparison holds, and their count";
  let arguments = (ins PyPTO_Value:$input, PyPTO_ValueOrScalar:$kvalue, DefaultValuedAttr<StrAttr, "\"eq\"">:$cmp_mode,
      I64Attr:$out_cols, DefaultValuedAttr<I64Attr, "0">:$offset, OptionalAttr<TypeAttr>:$count_dtype);
  let results = (outs PyPTO_Value:$result, PyPTO_Value:$count);
  let assemblyFormat = Plain;
  let family = "gather_compare";
  let pto = "tgather";
  let signatures = [
    Sig<["gather", "tensor.gather"], "=", [V<"input">, Kw<"kvalue", "value_or_scalar", "">, Kw<"cmp_mode", "enum:CmpType", "">, Kw<"out_cols", "int", "">,
        Kw<"offset", "int", "0">, Kw<"count_dtype", "dtype", "None">]>,
    Sig<["gather_compare", "tile.gather_compare"], "=", [Param<"src", "value", "", 0, "input">, Param<"kvalue", "value_or_scalar">, Param<"tmp", "scratch", "None">,
        Kw<"cmp_mode", "enum:CmpType", "eq">, Kw<"offset", "int", "0">, Kw<"out_cols", "int", "">, Kw<"count_dtype", "dtype", "None">]>];
}
def PyPTO_GatherbOp : PyPTO_ValueOp<"gatherb", [Pure]> {
  let summary = "32-byte blocks by byte offset";
  let arguments = (ins PyPTO_Value:$src, PyPTO_Value:$offset, OptionalAttr<TypeAttr>:$output_dtype);
  let assemblyFormat = Plain;
  let family = "gatherb";
  let pto = "tgatherb";
  let signatures = [Sig<["gatherb"], "t", [V<"src">, V<"offset">, Kw<"output_dtype", "dtype", "None">]>];
}
def PyPTO_ScatterOp : PyPTO_ValueOp<"scatter", [Pure]> {
  let summary = "writes src at index along dim; flat: positions in the whole tile, the rest becomes 0";
  let arguments = (ins PyPTO_Value:$input, PyPTO_Value:$index, PyPTO_Value:$src, DefaultValuedAttr<I64Attr, "-1">:$dim,
      DefaultValuedAttr<BoolAttr, "false">:$flat);
  let assemblyFormat = Plain;
  let family = "scatter";
  let pto = "tscatter";
  let signatures = [
    Sig<["scatter", "tensor.scatter"], "=", [V<"input">, Param<"dim", "int">, V<"index">, V<"src">]>,
    Sig<["tile.scatter"], "=", [Param<"dst", "value", "", 0, "input">, V<"src">, Param<"indexes", "value", "", 0, "index">], ["flat=true"]>];
}
def PyPTO_ScatterMaskOp : PyPTO_ValueOp<"scatter_mask", [Pure]> {
  let summary = "spreads src over the columns of a pattern in dst";
  let arguments = (ins PyPTO_Value:$dst, PyPTO_Value:$src, StrAttr:$mask_pattern, DefaultValuedAttr<BoolAttr, "false">:$keep);
  let assemblyFormat = Plain;
  let family = "scatter_mask";
  let pto = "tscatter";
  let signatures = [
    Sig<["scatter", "tensor.scatter"], "=", [V<"src">, Kw<"mask_pattern", "enum:MaskPattern", "">, Kw<"dst", "value", "">], ["keep=true"]>,
    Sig<["scatter_mask", "tile.scatter_mask"], "=", [V<"dst">, V<"src">, Param<"mask_pattern", "enum:MaskPattern">]>];
}
def PyPTO_ScatterUpdateOp : PyPTO_ValueOp<"scatter_update"> {
  let summary = "replaces rows of input by rows of src";
  let arguments = (ins PyPTO_Value:$input, PyPTO_Value:$index, PyPTO_Value:$src, I64Attr:$dim);
  let assemblyFormat = Plain;
  let family = "scatter_update";
  let signatures = [Sig<["scatter_update"], "U", [V<"input">, Param<"dim", "int">, V<"index">, V<"src">]>];
}
def PyPTO_PagedGatherOp : PyPTO_ValueOp<"paged_gather"> {
  let summary = "rows of a paged cache by index";
  let arguments = (ins PyPTO_TensorType:$src, PyPTO_Value:$indices, PyPTO_Value:$block_table, Index:$size, I64Attr:$block_size,
      I64Attr:$max_indices, DefaultValuedAttr<StrAttr, "\"mat\"">:$space, DefaultValuedAttr<I64Attr, "0">:$col_off,
      DefaultValuedAttr<BoolAttr, "false">:$is_trans, DefaultValuedAttr<BoolAttr, "false">:$is_b_matrix);
  let assemblyFormat = Plain;
  let family = "paged_gather";
  let signatures = [Sig<["paged_gather"], "T", [V<"src">, V<"indices">, V<"block_table">, Param<"block_size", "int">, Param<"size", "index">,
      Param<"max_indices", "int">, Kw<"space", "enum:MemorySpace", "Mat">, Kw<"col_off", "int", "0">, Kw<"is_trans", "bool", "False">,
      Kw<"is_b_matrix", "bool", "False">]>];
}
def PyPTO_MgatherOp : PyPTO_ValueOp<"mgather"> {
  let summary = "elements or rows of global memory by index";
  let arguments = (ins PyPTO_TensorType:$mem, PyPTO_Value:$idx, Variadic<Index>:$valid_shape,
      DefaultValuedAttr<StrAttr, "\"row\"">:$coalesce, DefaultValuedAttr<StrAttr, "\"undefined\"">:$gather_oob,
      DefaultValuedAttr<StrAttr, "\"vec\"">:$target_memory);
  let assemblyFormat = Plain;
  let family = "mgather";
  let pto = "mgather";
  let signatures = [Sig<["mgather"], "t", [V<"mem">, V<"idx">, Param<"coalesce", "str", "\"row\"">, Kw<"gather_oob", "str", "\"undefined\"">,
      Kw<"target_memory", "enum:MemorySpace", "Vec">, Kw<"scratch", "scratch", "None">, Kw<"valid_shape", "valid", "None">]>];
}
def PyPTO_MscatterOp : PyPTO_ValueOp<"mscatter"> {
  let summary = "elements or rows of a tile to global memory by index; returns the tensor";
  let arguments = (ins PyPTO_Value:$src, PyPTO_Value:$idx, PyPTO_TensorType:$out);
  let assemblyFormat = Plain;
  let family = "mscatter";
  let pto = "mscatter";
  let signatures = [Sig<["mscatter"], "t", [V<"src">, V<"idx">, V<"out">]>];
}
def PyPTO_Sort32Op : PyPTO_ValueOp<"sort32", [Pure]> {
  let summary = "sorts each run of 32 descending into (value, index) pairs";
  let arguments = (ins PyPTO_Value:$src, PyPTO_Value:$idx);
  let assemblyFormat = Plain;
  let family = "sort32";
  let pto = "tsort32";
  let signatures = [Sig<["sort32"], "U", [V<"src">, V<"idx">]>];
}
def PyPTO_MrgsortOp : PyPTO_ValueOp<"mrgsort", [Pure]> {
  let summary = "merges sorted runs of one list, or 2 to 4 lists";
  let arguments = (ins Variadic<PyPTO_Value>:$srcs, OptionalAttr<I64Attr>:$block_len, DefaultValuedAttr<BoolAttr, "false">:$exhausted);
  let assemblyFormat = Plain;
  let family = "mrgsort";
  let pto = "tmrgsort";
  let signatures = [
    Sig<["mrgsort"], "U", [Param<"src", "value", "", 0, "srcs">, Kw<"block_len", "int", "">]>,
    Sig<["mrgsort"], "U", [Param<"src0", "value", "", 0, "srcs">, Param<"src1", "value", "", 0, "srcs">, Param<"src2", "value", "None", 0, "srcs">,
        Param<"src3", "value", "None", 0, "srcs">, Param<"tmp", "scratch", "None">, Kw<"exhausted", "bool", "False">]>];
}

//===----------------------------------------------------------------------===//
// 17.9 Cross-core values, 17.10 arrays
//===----------------------------------------------------------------------===//

class CrossCore<string n> : PyPTO_ValueOp<n, [Pure]> {
  let arguments = (ins PyPTO_Value:$x);
  let assemblyFormat = Plain;
  let family = n;
  let signatures = [Sig<[n], "U", [V<"x">]>];
}
def PyPTO_AivShardOp : CrossCore<"aiv_shard"> { let summary = "the half of this vector lane"; }
def PyPTO_AicGatherOp : CrossCore<"aic_gather"> { let summary = "both lanes' halves joined"; }

def PyPTO_ArrayCreateOp : PyPTO_Op<"array_create"> {
  let summary = "a local array: task ids start invalid, other elements are undefined";
  let arguments = (ins I64Attr:$extent);
  let results = (outs PyPTO_ArrayType:$result);
  let assemblyFormat = Plain;
  let family = "array";
  let signatures = [Sig<["array.create"], "=", [Param<"extent", "int">, Param<"dtype", "dtype">]>];
}
def PyPTO_ArrayGetOp : PyPTO_Op<"array_get", [Pure]> {
  let summary = "one element";
  let arguments = (ins PyPTO_ArrayType:$arr, Index:$index);
  let results = (outs AnyType:$result);
  let assemblyFormat = Plain;
  let family = "array";
  let signatures = [Sig<["array.get_element"], "=", [Param<"arr", "value">, Param<"i", "index", "", 0, "index">]>];
}
def PyPTO_ArrayUpdateOp : PyPTO_Op<"array_update", [Pure]> {
  let summary = "the array with one element replaced";
  let arguments = (ins PyPTO_ArrayType:$arr, Index:$index, AnyType:$value);
  let results = (outs PyPTO_ArrayType:$result);
  let assemblyFormat = Plain;
  let family = "array";
  let signatures = [Sig<["array.update_element"], "=", [Param<"arr", "value">, Param<"i", "index", "", 0, "index">, Param<"v", "scalar", "", 0, "value">]>];
}

include "PyPTOTaskOps.td"

#endif // PYPTO_OPS_TD
