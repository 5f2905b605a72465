//===- TileOpInfo.h - the facts of a tile op, generated from its record ---===//
//
// Every tile op carries one `TileOpInfo`. The shared parser, printer, verifier,
// effects and pipe query read it; nothing else knows the shape of an op.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_DIALECT_PTO_IR_TILEOPINFO_H
#define PTOAS_DIALECT_PTO_IR_TILEOPINFO_H

#include "ptoas/Dialect/PTO/IR/PTOTypes.h"

namespace mlir::pto {

/// Target architecture: A3 stands for A2 and A3.
enum class Arch { A3, A5 };
/// The architecture of the module around `op` (`pto.target_arch`; A3 when absent).
Arch getTargetArch(Operation *op);
/// "A2/A3" or "A5", for messages.
StringRef getArchName(Arch arch);

/// The queue that runs a kind of instruction.
PIPE getPipeOfEvent(PipeEventType kind);

/// Sets of element types.
namespace elem {
enum : unsigned {
  F16 = 1u << 0,
  BF16 = 1u << 1,
  F32 = 1u << 2,
  I8 = 1u << 3,
  I16 = 1u << 4,
  I32 = 1u << 5,
  I64 = 1u << 6,
  UI8 = 1u << 7,
  UI16 = 1u << 8,
  UI32 = 1u << 9,
  UI64 = 1u << 10,
  F64 = 1u << 11,
  FP8 = 1u << 12,
  HIF8 = 1u << 13,
  FP4 = 1u << 14,
  I1 = 1u << 15,
  None = 0,
  Any = ~0u,
  F2 = F16 | F32,
  F3 = F16 | BF16 | F32,
  // Signless and unsigned integers of a width are one class where a rule says "iN".
  B8 = I8 | UI8,
  B16 = I16 | UI16,
  B32 = I32 | UI32,
  B64 = I64 | UI64,
  N4 = B16 | B32 | F2,
};
/// The single bit of a type; None for types that no tile holds.
unsigned classify(Type type);
/// "i16, i32, f16, f32"
std::string toString(unsigned set);
} // namespace elem

/// Sets of memory spaces, one bit per AddressSpace value.
namespace spaces {
constexpr unsigned bit(AddressSpace s) { return 1u << static_cast<unsigned>(s); }
enum : unsigned {
  Gm = 1u << 1,
  Mat = 1u << 2,
  Left = 1u << 3,
  Right = 1u << 4,
  Acc = 1u << 5,
  Vec = 1u << 6,
  Bias = 1u << 7,
  Scaling = 1u << 8,
  Any = ~0u
};
std::string toString(unsigned set);
} // namespace spaces

enum class OperandKind { Tile, View, Scalar, Index, Vector, Ptr };
/// Where an operand stands in the text.
enum class OperandGroup { Ins, Outs, Clause };
/// What the op does to an operand's memory. Scratch is written, and may share bytes with no other
/// operand.
enum class OperandEffect { None, Read, Write, ReadWrite, Scratch };

struct OperandSpec {
  StringLiteral name;
  OperandKind kind;
  OperandGroup group;
  OperandEffect effect;
  bool optional;
  bool variadic;
  unsigned elemsA3, elemsA5;
  unsigned spaces;
};

enum class RuleKind {
  SameElem,    // equal element types
  SameWidth,   // equal element sizes
  SameShape,   // equal physical shapes
  SameValid,   // equal valid shapes (`?` fits anything)
  SameRows,    // equal valid rows
  SameCols,    // equal valid columns
  RowMajor,    // blayout row_major
  NoBox,       // slayout none_box
  ValidRow1,   // one valid row
  ValidCol1,   // one valid column
  NonEmpty,    // valid extents above zero
  Distinct,    // different SSA values
  ScalarIsElem // the scalar (first) has the tile's (second) element type
};
enum class RuleArch { Both, A3, A5 };

struct Rule {
  RuleKind kind;
  RuleArch arch;
  StringLiteral operands; // names, separated by blanks; absent optional operands are skipped
};

struct TileOpInfo {
  StringLiteral mnemonic; // with the dialect prefix
  StringLiteral cppName;  // function of the instruction library
  PIPE pipe;              // PIPE_UNASSIGNED: depends on the operands, see pipeFn
  PIPE (*pipeFn)(Operation *op);
  bool archA3, archA5; // where the op exists
  bool attrsInside;    // the attribute dictionary is printed inside ins(...)
  bool scalarMayLead;  // `ins(%s, %a)` is legal and sets the unit attribute scalarFirst
  ArrayRef<OperandSpec> operands;
  ArrayRef<Rule> rules;
  LogicalResult (*check)(Operation *op, Arch arch); // what the rules cannot say; may be null
};

} // namespace mlir::pto

#endif // PTOAS_DIALECT_PTO_IR_TILEOPINFO_H
