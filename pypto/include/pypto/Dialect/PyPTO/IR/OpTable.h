//===- OpTable.h - the op table as data -----------------------------------===//
//
// Generated from the op records (tools/generate_op_table.py): what the importer binds
// Python arguments with and what the lowering looks instructions up in. Static data.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_DIALECT_PYPTO_IR_OPTABLE_H
#define PYPTO_DIALECT_PYPTO_IR_OPTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace pypto {

/// What a Python parameter accepts and where it goes: see the head of PyPTOOps.td.
enum class ParamKind : uint8_t {
  Value,
  ValueOrScalar,
  Scalar,
  Index,
  Offsets,
  Valid,
  Shape,
  ConstShape,
  DType,
  Ints,
  Int,
  Number,
  Bool,
  Str,
  Enum,
  Deps,
  Scratch,
};

struct ParamInfoRow {
  llvm::StringLiteral name;
  ParamKind kind;
  llvm::StringLiteral defaultText; // Python text; empty = required
  bool keywordOnly;
  llvm::StringLiteral target;   // operand group or attribute
  llvm::StringLiteral enumName; // kind Enum
};

enum class GroupKind : uint8_t { Single, Optional, Variadic };

struct OperandGroup {
  llvm::StringLiteral name;
  GroupKind kind;
};

struct OpRow {
  llvm::StringLiteral name; // "pypto.add"
  llvm::StringLiteral family;
  llvm::StringLiteral pto, ptoScalar;
  llvm::ArrayRef<OperandGroup> operands;
  llvm::ArrayRef<llvm::StringLiteral> attributes;
  bool segmented; // needs operandSegmentSizes
};

/// One Python callable. Several rows may share a name (overloads, in order of preference:
/// take the first whose required parameters are given and that knows all keywords).
struct SignatureRow {
  llvm::StringLiteral pythonName; // below pl: "add", "tile.gather", "system.syncall"
  const OpRow *op;
  char level; // 'U' unified, 'T' tensor, 't' tile, '=' as named
  llvm::ArrayRef<ParamInfoRow> params;
  llvm::ArrayRef<llvm::StringLiteral> fixed; // attributes this spelling sets, "key=value"
};

struct PyEnumRow {
  llvm::StringLiteral name;
  llvm::ArrayRef<llvm::StringLiteral> members;
  llvm::ArrayRef<int64_t> values;
};

llvm::ArrayRef<OpRow> allOps();
llvm::ArrayRef<PyEnumRow> allPyEnums();
/// By op name with or without "pypto."; null if unknown.
const OpRow *findOp(llvm::StringRef opName);
/// All signatures of a Python name, in order; empty if unknown.
llvm::ArrayRef<SignatureRow> findSignatures(llvm::StringRef pythonName);
const PyEnumRow *findPyEnum(llvm::StringRef name);

} // namespace pypto

#endif // PYPTO_DIALECT_PYPTO_IR_OPTABLE_H
