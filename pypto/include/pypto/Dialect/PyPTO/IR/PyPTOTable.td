//===- PyPTOTable.td - classes of the op table ----------------------------===//
//
// An op record holds, besides the MLIR op, what the Python front end and the
// lowering read from generated tables (GenerateOpTable.py): Python signatures, and the
// instruction of the `pto` dialect it becomes.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_TABLE_TD
#define PYPTO_TABLE_TD

include "PyPTOTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A Python parameter. `kind` decides what it may be and where it goes (see PyPTOOps.td);
// `dflt` is Python text, "" = required; `op` names the operand group or attribute if it differs.
class Param<string n, string k, string d = "", bit kw = 0, string o = ""> {
  string name = n;
  string kind = k;
  string dflt = d;
  bit keywordOnly = kw;
  string op = !if(!empty(o), n, o);
}
class Kw<string n, string k, string d, string o = ""> : Param<n, k, d, 1, o>;

// The usual ones.
class V<string n> : Param<n, "value">;
class VS<string n> : Param<n, "value_or_scalar">;
class OptV<string n> : Param<n, "value", "None">;

// One Python callable. `level`: "U" -> pl.x, pl.tensor.x, pl.tile.x; "T" -> pl.x, pl.tensor.x;
// "t" -> pl.x, pl.tile.x; "=" -> the names as written, below pl ("tile.gather", "system.syncall").
// `fixed` are attributes set by this spelling ("key=value").
class Sig<list<string> n, string l, list<Param> p, list<string> f = []> {
  list<string> names = n;
  string level = l;
  list<Param> params = p;
  list<string> fixed = f;
}

// A Python enumeration: members in order with their integer values.
class PyEnum<string n, list<string> m, list<int> v> {
  string name = n;
  list<string> members = m;
  list<int> values = v;
}
def PadValueEnum : PyEnum<"PadValue", ["null", "zero", "max", "min"], [0, 1, 2, 3]>;
def RoundModeEnum : PyEnum<"RoundMode", ["none", "rint", "round", "floor", "ceil", "trunc", "odd"], [0, 1, 2, 3, 4, 5, 6]>;
def CmpTypeEnum : PyEnum<"CmpType", ["eq", "ne", "lt", "le", "gt", "ge"], [0, 1, 2, 3, 4, 5]>;
def AtomicTypeEnum : PyEnum<"AtomicType", ["None_", "Add"], [0, 1]>;
def MemorySpaceEnum : PyEnum<"MemorySpace", ["DDR", "Vec", "Mat", "Left", "Right", "Acc", "Bias", "LeftScale", "RightScale", "ScalarLocal"], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>;
def MaskPatternEnum : PyEnum<"MaskPattern", ["P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"], [1, 2, 3, 4, 5, 6, 7]>;
def TensorLayoutEnum : PyEnum<"TensorLayout", ["ND", "DN", "NZ", "MX_A_ZZ", "MX_B_NN"], [0, 1, 2, 3, 4]>;
def TileLayoutEnum : PyEnum<"TileLayout", ["none_box", "row_major", "col_major"], [0, 1, 2]>;
def SplitModeEnum : PyEnum<"SplitMode", ["NONE", "UP_DOWN", "LEFT_RIGHT"], [0, 1, 2]>;
def ScopeModeEnum : PyEnum<"ScopeMode", ["AUTO", "MANUAL"], [0, 1]>;
def PipeTypeEnum : PyEnum<"PipeType", ["MTE1", "MTE2", "MTE3", "M", "V", "S", "FIX", "ALL"], [0, 1, 2, 3, 4, 5, 6, 7]>;

def PyPTO_Float : AnyTypeOf<[F16, BF16, F32, F64]>;
def PyPTO_Scalar : AnyTypeOf<[AnyInteger, Index, AnyFloat]>;
def PyPTO_Value : AnyTypeOf<[PyPTO_TensorType, PyPTO_TileType]>;
def PyPTO_ValueOrScalar : AnyTypeOf<[PyPTO_TensorType, PyPTO_TileType, AnyInteger, Index, AnyFloat]>;

// Every op. `family` groups ops that the lowering treats alike; `pto` / `ptoScalar` is the mnemonic
// of the tile instruction (with a scalar right operand).
class PyPTO_Op<string opMnemonic, list<Trait> traits = []> : Op<PyPTO_Dialect, opMnemonic, traits> {
  // One builder instead of ODS's ten: less than half of the generated code.
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$types, "::mlir::ValueRange":$operandList,
      CArg<"::llvm::ArrayRef<::mlir::NamedAttribute>", "{}">:$attrs), [{
    $_state.addTypes(types);
    $_state.addOperands(operandList);
    $_state.addAttributes(attrs);
  }]>];
  string family = "other";
  string pto = "";
  string ptoScalar = "";
  list<Sig> signatures = [];
}

class PyPTO_ValueOp<string opMnemonic, list<Trait> traits = []> : PyPTO_Op<opMnemonic, traits> {
  let results = (outs PyPTO_Value:$result);
}

#endif // PYPTO_TABLE_TD
