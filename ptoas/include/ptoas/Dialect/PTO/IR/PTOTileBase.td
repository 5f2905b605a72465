//===- PTOTileBase.td - how a tile op is described ---------*- tablegen -*-===//
//
// A tile op is one record: operands (kind, effect, element sets per architecture,
// memory spaces), attributes, pipe, relations between operands, C++ name, doc.
// Parser, printer, verifier, effects and pipe come from this table.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_DIALECT_PTO_IR_PTOTILEBASE_TD
#define PTOAS_DIALECT_PTO_IR_PTOTILEBASE_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "ptoas/Dialect/PTO/IR/PTOInterfaces.td"
include "ptoas/Dialect/PTO/IR/PTOTypes.td"

class PTO_Op<string mnemonic, list<Trait> traits = []> : Op<PTO_Dialect, mnemonic, traits> {
  // For the reference pages (tools/gen_isa.py): what the op computes, where its summary does not say so.
  string equation = "";
  // What the equation leaves open: elements that it does not name, values out of range, tiles that are the same.
  string notes = "";
  // Rules that code checks (…Checks.cpp, …Ops.cpp, the passes), a sentence each; warnings say so.
  list<string> constraints = [];
}

// Runs on the scalar queue, which waits for its own instructions.
class PTO_ScalarUnitOp<string mnemonic, list<Trait> traits = []>
    : PTO_Op<mnemonic, !listconcat(traits, [DeclareOpInterfaceMethods<PTO_PipeOpInterface>])> {
  let extraClassDefinition = "::mlir::pto::PIPE $cppClass::getPipe() { return PIPE::PIPE_S; }";
}

// Element types allowed on A2/A3 and on A5, as unions of mlir::pto::elem constants.
class PTO_Elems<string a3_, string a5_> {
  string a3 = a3_;
  string a5 = a5_;
}
def E_Any : PTO_Elems<"elem::Any", "elem::Any">;
def E_F2 : PTO_Elems<"elem::F2", "elem::F2">;
def E_F2_BF : PTO_Elems<"elem::F2", "elem::F3">;
def E_F3 : PTO_Elems<"elem::F3", "elem::F3">;
def E_F32 : PTO_Elems<"elem::F32", "elem::F32">;
def E_Float : PTO_Elems<"elem::F3", "elem::F3">;
def E_N4 : PTO_Elems<"elem::N4", "elem::N4">;
def E_N4_I8 : PTO_Elems<"elem::N4", "elem::N4 | elem::B8">;
def E_N4_BF : PTO_Elems<"elem::N4", "elem::N4 | elem::BF16">;
def E_N4_I8_BF : PTO_Elems<"elem::N4", "elem::N4 | elem::B8 | elem::BF16">;
def E_F2_N4 : PTO_Elems<"elem::F2", "elem::N4">;
def E_I32F32_N4 : PTO_Elems<"elem::B32 | elem::F32", "elem::N4">;
def E_I32F2 : PTO_Elems<"elem::B32 | elem::F2", "elem::B32 | elem::F2">;
def E_Logic : PTO_Elems<"elem::B8 | elem::B16", "elem::B8 | elem::B16 | elem::B32">;
def E_Int : PTO_Elems<"elem::B8 | elem::B16 | elem::B32", "elem::B8 | elem::B16 | elem::B32">;
def E_Not : PTO_Elems<"elem::B16", "elem::B8 | elem::B16 | elem::B32">;
def E_ShrS : PTO_Elems<"elem::B16 | elem::B32", "elem::B8 | elem::B16 | elem::B32">;
def E_I32 : PTO_Elems<"elem::B32", "elem::B32">;
def E_UI32 : PTO_Elems<"elem::UI32", "elem::UI32">;
def E_UI8 : PTO_Elems<"elem::UI8", "elem::UI8">;
def E_B8 : PTO_Elems<"elem::B8", "elem::B8">;
def E_I16_I32 : PTO_Elems<"elem::B16 | elem::B32", "elem::B16 | elem::B32">;
def E_Tri : PTO_Elems<"elem::N4", "elem::N4 | elem::BF16 | elem::B8">;
def E_Data : PTO_Elems<"elem::B8 | elem::B16 | elem::B32 | elem::F3", "elem::B8 | elem::B16 | elem::B32 | elem::F3">;
def E_ColProd : PTO_Elems<"elem::N4", "elem::B16 | elem::B32 | elem::F3">;

class PTO_Opnd<string name_, Type type_, string kind, string group_, string effect_,
               PTO_Elems elems, string space, bit optional = 0, bit variadic = 0> {
  string name = name_;
  string group = group_;
  TypeConstraint type = !if(variadic, Variadic<type_>, !if(optional, Optional<type_>, type_));
  string spec = "{\"" # name_ # "\", OperandKind::" # kind # ", OperandGroup::" # group_ #
                ", OperandEffect::" # effect_ # ", " # !if(optional, "true", "false") # ", " #
                !if(variadic, "true", "false") # ", " # elems.a3 # ", " # elems.a5 # ", " # space # "}";
}
defvar SpVec = "spaces::Vec";
defvar SpAny = "spaces::Any";
defvar TB = PTO_TileBufType;
class In<string n, PTO_Elems e = E_Any, string s = SpVec> : PTO_Opnd<n, TB, "Tile", "Ins", "Read", e, s>;
class OptIn<string n, PTO_Elems e = E_Any, string s = SpVec> : PTO_Opnd<n, TB, "Tile", "Ins", "Read", e, s, 1>;
class Ins<string n, PTO_Elems e = E_Any, string s = SpVec> : PTO_Opnd<n, TB, "Tile", "Ins", "Read", e, s, 0, 1>;
class Tmp<string n = "tmp", PTO_Elems e = E_Any> : PTO_Opnd<n, TB, "Tile", "Ins", "Scratch", e, SpVec>;
class OptTmp<string n = "tmp", PTO_Elems e = E_Any> : PTO_Opnd<n, TB, "Tile", "Ins", "Scratch", e, SpVec, 1>;
class Out<string n = "dst", PTO_Elems e = E_Any, string s = SpVec> : PTO_Opnd<n, TB, "Tile", "Outs", "Write", e, s>;
class OptOut<string n, PTO_Elems e = E_Any, string s = SpVec> : PTO_Opnd<n, TB, "Tile", "Outs", "Write", e, s, 1>;
class InOut<string n = "dst", PTO_Elems e = E_Any, string s = SpVec> : PTO_Opnd<n, TB, "Tile", "Outs", "ReadWrite", e, s>;
class ViewIn<string n> : PTO_Opnd<n, PTO_AnyView, "View", "Ins", "Read", E_Any, SpAny>;
class ViewOut<string n = "dst"> : PTO_Opnd<n, PTO_AnyView, "View", "Outs", "Write", E_Any, SpAny>;
class ViewInOut<string n = "dst"> : PTO_Opnd<n, PTO_AnyView, "View", "Outs", "ReadWrite", E_Any, SpAny>;
class Sc<string n, PTO_Elems e = E_Any, Type t = PTO_ElementNumber> : PTO_Opnd<n, t, "Scalar", "Ins", "None", e, SpAny>;
class OptSc<string n, Type t = PTO_ElementNumber, PTO_Elems e = E_Any> : PTO_Opnd<n, t, "Scalar", "Ins", "None", e, SpAny, 1>;
class Word<string n> : Sc<n, E_Any, PTO_I32Number>;
class Idx<string n> : PTO_Opnd<n, PTO_IndexNumber, "Index", "Ins", "None", E_Any, SpAny>;
class OptVecOut<string n> : PTO_Opnd<n, VectorOfLengthAndType<[4], [I16]>, "Vector", "Outs", "None", E_Any, SpAny, 1>;
class OptClause<string n, Type t = PTO_ElementNumber> : PTO_Opnd<n, t, "Scalar", "Clause", "None", E_Any, SpAny, 1>;

class PTO_Rule<string kind, string operands, string arch = "Both"> {
  string init = "{RuleKind::" # kind # ", RuleArch::" # arch # ", \"" # operands # "\"}";
}

// The part that ops with a text form of their own share with the uniform ones.
class PTO_TileOpBase<string mnemonic, string cppName, string pipe, list<PTO_Opnd> opnds,
                     list<PTO_Rule> rules = [], dag attrs = (ins), string check = "nullptr",
                     string archs = "true, true", bit attrsInside = 0, bit scalarMayLead = 0,
                     list<Trait> traits = [], string textDefs = "">
    : PTO_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<PTO_PipeOpInterface>,
        DeclareOpInterfaceMethods<PTO_TileOpInterface, ["getTileOpInfo"]>])> {
  // Facts for the documentation generator.
  string instruction = cppName;
  string queue = pipe;
  list<PTO_Opnd> tileOperands = opnds;
  list<PTO_Rule> tileRules = rules;
  string ownCheck = check;

  let arguments = !con(!dag(ins, !foreach(o, opnds, o.type), !foreach(o, opnds, o.name)), attrs);
  let hasVerifier = 1;
  defvar pipeInit = !if(!eq(!substr(pipe, 0, 5), "PIPE_"), "PIPE::" # pipe # ", nullptr",
                        "PIPE::PIPE_UNASSIGNED, " # pipe);
  let extraClassDeclaration = "static const ::mlir::pto::TileOpInfo &info();";
  let extraClassDefinition = [{
    const ::mlir::pto::TileOpInfo &$cppClass::info() {
      static const ::std::initializer_list<OperandSpec> kOperands = }]
      # "{" # !interleave(!foreach(o, opnds, o.spec), ", ") # [{};
      static const ::std::initializer_list<Rule> kRules = }]
      # "{" # !interleave(!foreach(r, rules, r.init), ", ") # [{};
      static const TileOpInfo kInfo = {"pto.}] # mnemonic # [{", "}] # cppName # [{", }] # pipeInit # ", "
      # archs # ", " # !if(attrsInside, "true", "false") # ", " # !if(scalarMayLead, "true", "false")
      # [{, ::llvm::ArrayRef<OperandSpec>(kOperands.begin(), kOperands.size()),
          ::llvm::ArrayRef<Rule>(kRules.begin(), kRules.size()), }] # check # [{};
      return kInfo;
    }
    const ::mlir::pto::TileOpInfo &$cppClass::getTileOpInfo() { return info(); }
    ::llvm::LogicalResult $cppClass::verify() {
      return verifyTileOp(::llvm::cast<TileOpInterface>(getOperation()));
    }
    ::mlir::pto::PIPE $cppClass::getPipe() { return getTileOpPipe(getOperation(), info()); }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>> &effects) {
      getTileOpEffects(::llvm::cast<TileOpInterface>(getOperation()), effects);
    }
  }] # textDefs;
}

// Uniform text: `pto.X ins(%a, %b {attrs} : TA, TB) outs(%d : TD) {attrs}`.
class PTO_TileOp<string mnemonic, string cppName, string pipe, list<PTO_Opnd> opnds,
                 list<PTO_Rule> rules = [], dag attrs = (ins), string check = "nullptr",
                 string archs = "true, true", bit attrsInside = 0, bit scalarMayLead = 0, bit segments = 0>
    : PTO_TileOpBase<mnemonic, cppName, pipe, opnds, rules, attrs, check, archs, attrsInside,
                     scalarMayLead, !if(segments, [AttrSizedOperandSegments], []<Trait>), [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &result) {
      return parseTileOp(parser, result, info(), }] # !if(segments, "true", "false") # [{);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) {
      printTileOp(printer, ::llvm::cast<TileOpInterface>(getOperation()));
    }
  }]> {
  let hasCustomAssemblyFormat = 1;
}

#endif // PTOAS_DIALECT_PTO_IR_PTOTILEBASE_TD
