//===- OpSupport.h - what the generated op definitions call ---------------===//
#ifndef PTOAS_LIB_DIALECT_PTO_IR_OPSUPPORT_H
#define PTOAS_LIB_DIALECT_PTO_IR_OPSUPPORT_H

#include "ptoas/Dialect/PTO/IR/PTOOps.h"

namespace mlir::pto {

void registerPTODialectOperations(PTODialect *dialect);
#define PTO_SHARD(n) void registerPTODialectOperations##n(PTODialect *dialect);
// clang-format off: lines of macros without semicolons move at each run
PTO_SHARD(0)
PTO_SHARD(1)
PTO_SHARD(2)
PTO_SHARD(3)
PTO_SHARD(4)
PTO_SHARD(5)
// clang-format on
#undef PTO_SHARD

//===----------------------------------------------------------------------===//
// Tile ops: text, rules, effects
//===----------------------------------------------------------------------===//

/// `hasSegments`: the op stores how many values each operand has.
ParseResult parseTileOp(OpAsmParser &parser, OperationState &result, const TileOpInfo &info,
                        bool hasSegments);
void printTileOp(OpAsmPrinter &printer, TileOpInterface op);
LogicalResult verifyTileOp(TileOpInterface op);
PIPE getTileOpPipe(Operation *op, const TileOpInfo &info);
void getTileOpEffects(TileOpInterface op,
                      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects);

PIPE getStorePipe(Operation *op);
PIPE getMovePipe(Operation *op);
PIPE getExtractPipe(Operation *op);
PIPE getInsertPipe(Operation *op);
PIPE getFillPadPipe(Operation *op);
PIPE getScatterPipe(Operation *op);

// Rules that one op or family has for itself (TileChecks.cpp).
#define PTO_CHECK(name) LogicalResult name(Operation *op, Arch arch);
#include "TileChecks.def"

//===----------------------------------------------------------------------===//
// Pieces of text forms
//===----------------------------------------------------------------------===//

/// Gives the op the attributes that its own parser has read; one of the wrong kind is an error.
ParseResult takeAttributes(OpAsmParser &parser, OperationState &result, const NamedAttrList &attrs);
ParseResult parsePipe(OpAsmParser &parser, PIPEAttr &pipe);
void printPipe(OpAsmPrinter &printer, Operation *op, PIPEAttr pipe);
ParseResult parseEvent(OpAsmParser &parser, EVENTAttr &event);
void printEvent(OpAsmPrinter &printer, Operation *op, EVENTAttr event);
ParseResult parsePipeEvent(OpAsmParser &parser, PipeEventTypeAttr &kind);
void printPipeEvent(OpAsmPrinter &printer, Operation *op, PipeEventTypeAttr kind);
ParseResult parseBufToken(OpAsmParser &parser, PIPEAttr &pipe, IntegerAttr &id, IntegerAttr &mode);
void printBufToken(OpAsmPrinter &printer, Operation *op, PIPEAttr pipe, IntegerAttr id,
                   IntegerAttr mode);
ParseResult parseBufTokenDyn(OpAsmParser &parser, PIPEAttr &pipe,
                             OpAsmParser::UnresolvedOperand &id, IntegerAttr &mode);
void printBufTokenDyn(OpAsmPrinter &printer, Operation *op, PIPEAttr pipe, Value id,
                      IntegerAttr mode);
ParseResult parseMemBar(OpAsmParser &parser, MemBarAttr &kind);
void printMemBar(OpAsmPrinter &printer, Operation *op, MemBarAttr kind);
/// `<<<%x, 4, 1>>>`: kDynamic in `fixed` stands for the next value.
ParseResult parseSimtDims(OpAsmParser &parser,
                          SmallVectorImpl<OpAsmParser::UnresolvedOperand> &values,
                          DenseI64ArrayAttr &fixed);
void printSimtDims(OpAsmPrinter &printer, Operation *op, ValueRange values,
                   DenseI64ArrayAttr fixed);
ParseResult parseEventNumber(OpAsmParser &parser, IntegerAttr &id,
                             std::optional<OpAsmParser::UnresolvedOperand> &dynamicId);
void printEventNumber(OpAsmPrinter &printer, Operation *op, IntegerAttr id, Value dynamicId);

ParseResult parsePipeUse(OpAsmParser &parser, IntegerAttr &id, IntegerAttr &split);
void printPipeUse(OpAsmPrinter &printer, Operation *op, IntegerAttr id, IntegerAttr split);
/// `{key = value, …}` behind a blank; 64-bit integers without their type, as producers write them.
void printPlainDict(OpAsmPrinter &printer, ArrayRef<NamedAttribute> attrs);

ParseResult parseViewOfPtr(OpAsmParser &parser, Type &ptr, Type &view);
void printViewOfPtr(OpAsmPrinter &printer, Operation *op, Type ptr, Type view);
ParseResult parsePartitionTypes(OpAsmParser &parser, Type &source, Type &result,
                                ArrayRef<OpAsmParser::UnresolvedOperand> sizes);
void printPartitionTypes(OpAsmPrinter &printer, Operation *op, Type source, Type result,
                         ValueRange sizes);
/// The value of an operand. A window whose type its definition leaves out takes that of its use.
ParseResult resolveTyped(OpAsmParser &parser, const OpAsmParser::UnresolvedOperand &operand,
                         Type type, SmallVectorImpl<Value> &values);
/// `-> index` may be left out.
ParseResult parseIndexResult(OpAsmParser &parser, Type &result);
void printIndexResult(OpAsmPrinter &printer, Operation *op, Type result);
ParseResult parseSubviewTypes(OpAsmParser &parser, Type &source, Type &result,
                              DenseI64ArrayAttr sizes);
void printSubviewTypes(OpAsmPrinter &printer, Operation *op, Type source, Type result,
                       DenseI64ArrayAttr sizes);
ParseResult parseSubsetTypes(OpAsmParser &parser, Type &source, Type &result,
                             ArrayRef<OpAsmParser::UnresolvedOperand> offsets,
                             DenseI64ArrayAttr sizes);
void printSubsetTypes(OpAsmPrinter &printer, Operation *op, Type source, Type result,
                      ValueRange offsets, DenseI64ArrayAttr sizes);

ParseResult parseInitPipe(OpAsmParser &parser, OperationState &result);
void printInitPipe(OpAsmPrinter &printer, Operation *op);
LogicalResult verifyInitPipe(Operation *op);
LogicalResult verifyPipeUse(Operation *op);
LogicalResult verifyCrossSignal(Operation *op);
PIPE getPipeUsePipe(Operation *op);

/// `lead` operands stand in front of the staging tiles.
ParseResult parseCommGroup(OpAsmParser &parser, OperationState &result, unsigned lead);
void printCommGroup(OpAsmPrinter &printer, Operation *op);
LogicalResult verifyCommGroup(Operation *op);

/// In the generic form `operandSegmentSizes` is text: ODS checks its sum, not that an operand which
/// every op of its kind has is there once.
LogicalResult verifyOneEach(Operation *op, ArrayRef<std::pair<unsigned, StringRef>> operands);

/// The value of a constant index or integer; none for other values.
std::optional<int64_t> getConstantValue(Value value);
} // namespace mlir::pto

#endif // PTOAS_LIB_DIALECT_PTO_IR_OPSUPPORT_H
