//===- SyncOps.cpp - flags, barriers, sections ----------------------------===//
#include "EnumText.h"
#include "OpSupport.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::pto;

//===----------------------------------------------------------------------===//
// Text: `<PIPE_V>`, `#pto.pipe<PIPE_V>`, `"PIPE_V"` and `PIPE_V` are the same
//===----------------------------------------------------------------------===//

template <typename EnumT>
static FailureOr<EnumT> parseAnyForm(OpAsmParser &parser, StringRef mnemonic,
                                     std::optional<EnumT> (*symbolize)(StringRef),
                                     StringRef (*stringify)(EnumT),
                                     function_ref<std::optional<EnumT>(Attribute)> fromAttr) {
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalLess())) {
    FailureOr<EnumT> value = parseEnumWord<EnumT>(parser, mnemonic, symbolize, stringify);
    if (failed(value) || parser.parseGreater())
      return failure();
    return value;
  }
  std::string word;
  if (succeeded(parser.parseOptionalKeywordOrString(&word)))
    return symbolizeWord<EnumT>(parser, loc, mnemonic, word, symbolize, stringify);
  Attribute attr;
  if (parser.parseAttribute(attr))
    return failure();
  if (std::optional<EnumT> value = fromAttr(attr))
    return *value;
  parser.emitError(loc) << "expected a " << mnemonic << ", got " << attr;
  return failure();
}

ParseResult mlir::pto::parsePipe(OpAsmParser &parser, PIPEAttr &pipe) {
  auto value = parseAnyForm<PIPE>(parser, "pipe", symbolizePIPE, stringifyPIPE, [](Attribute attr) {
    auto known = dyn_cast<PIPEAttr>(attr);
    return known ? std::optional(known.getValue()) : std::nullopt;
  });
  if (failed(value))
    return failure();
  pipe = PIPEAttr::get(parser.getContext(), *value);
  return success();
}
void mlir::pto::printPipe(OpAsmPrinter &printer, Operation *, PIPEAttr pipe) {
  printer << "<" << stringifyPIPE(pipe.getValue()) << ">";
}

ParseResult mlir::pto::parseEvent(OpAsmParser &parser, EVENTAttr &event) {
  auto value =
      parseAnyForm<EVENT>(parser, "event", symbolizeEVENT, stringifyEVENT, [](Attribute attr) {
        auto known = dyn_cast<EVENTAttr>(attr);
        return known ? std::optional(known.getValue()) : std::nullopt;
      });
  if (failed(value))
    return failure();
  event = EVENTAttr::get(parser.getContext(), *value);
  return success();
}
void mlir::pto::printEvent(OpAsmPrinter &printer, Operation *, EVENTAttr event) {
  printer << "<" << stringifyEVENT(event.getValue()) << ">";
}

static std::optional<PipeEventType> toPipeEvent(Attribute attr) {
  if (auto known = dyn_cast<PipeEventTypeAttr>(attr))
    return known.getValue();
  if (auto older = dyn_cast<SyncOpTypeAttr>(attr)) // the same list under its older name
    return symbolizePipeEventType(static_cast<uint32_t>(older.getValue()));
  return std::nullopt;
}

ParseResult mlir::pto::parsePipeEvent(OpAsmParser &parser, PipeEventTypeAttr &kind) {
  auto value = parseAnyForm<PipeEventType>(parser, "pipe_event_type", symbolizePipeEventType,
                                           stringifyPipeEventType, toPipeEvent);
  if (failed(value))
    return failure();
  kind = PipeEventTypeAttr::get(parser.getContext(), *value);
  return success();
}
void mlir::pto::printPipeEvent(OpAsmPrinter &printer, Operation *, PipeEventTypeAttr kind) {
  printer << "#pto.pipe_event_type<" << stringifyPipeEventType(kind.getValue()) << ">";
}

// The queue of a buffer token, or a kind of instruction that it runs.
static FailureOr<PIPE> parseTokenPipe(OpAsmParser &parser) {
  return parseAnyForm<PIPE>(parser, "pipe", symbolizePIPE, stringifyPIPE, [](Attribute attr) {
    if (auto known = dyn_cast<PIPEAttr>(attr))
      return std::optional(known.getValue());
    std::optional<PipeEventType> kind = toPipeEvent(attr);
    return kind ? std::optional(getPipeOfEvent(*kind)) : std::nullopt;
  });
}

// `[#pto.pipe_event_type<TVEC>, 4]` or `"PIPE_V", 4, 0`.
ParseResult mlir::pto::parseBufToken(OpAsmParser &parser, PIPEAttr &pipe, IntegerAttr &id,
                                     IntegerAttr &mode) {
  Builder &builder = parser.getBuilder();
  bool bracket = succeeded(parser.parseOptionalLSquare());
  FailureOr<PIPE> value = parseTokenPipe(parser);
  int64_t number = 0;
  if (failed(value) || parser.parseComma() || parser.parseInteger(number))
    return failure();
  pipe = PIPEAttr::get(parser.getContext(), *value);
  id = builder.getI64IntegerAttr(number);
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseInteger(number))
      return failure();
    mode = builder.getI64IntegerAttr(number);
  }
  return bracket ? parser.parseRSquare() : ParseResult(success());
}
void mlir::pto::printBufToken(OpAsmPrinter &printer, Operation *, PIPEAttr pipe, IntegerAttr id,
                              IntegerAttr mode) {
  printer << "\"" << stringifyPIPE(pipe.getValue()) << "\", " << id.getValue() << ", "
          << (mode ? mode.getValue() : APInt(64, 0));
}

// `[<PIPE_V>, %id]` or `"PIPE_V", %id, 0`.
ParseResult mlir::pto::parseBufTokenDyn(OpAsmParser &parser, PIPEAttr &pipe,
                                        OpAsmParser::UnresolvedOperand &id, IntegerAttr &mode) {
  bool bracket = succeeded(parser.parseOptionalLSquare());
  FailureOr<PIPE> value = parseTokenPipe(parser);
  if (failed(value) || parser.parseComma() || parser.parseOperand(id))
    return failure();
  pipe = PIPEAttr::get(parser.getContext(), *value);
  if (succeeded(parser.parseOptionalComma())) {
    int64_t number = 0;
    if (parser.parseInteger(number))
      return failure();
    mode = parser.getBuilder().getI64IntegerAttr(number);
  }
  return bracket ? parser.parseRSquare() : ParseResult(success());
}
void mlir::pto::printBufTokenDyn(OpAsmPrinter &printer, Operation *, PIPEAttr pipe, Value id,
                                 IntegerAttr mode) {
  printer << "\"" << stringifyPIPE(pipe.getValue()) << "\", " << id << ", "
          << (mode ? mode.getValue() : APInt(64, 0));
}

ParseResult mlir::pto::parseMemBar(OpAsmParser &parser, MemBarAttr &kind) {
  auto value =
      parseAnyForm<MemBar>(parser, "membar", symbolizeMemBar, stringifyMemBar, [](Attribute attr) {
        auto known = dyn_cast<MemBarAttr>(attr);
        return known ? std::optional(known.getValue()) : std::nullopt;
      });
  if (failed(value))
    return failure();
  kind = MemBarAttr::get(parser.getContext(), *value);
  return success();
}
void mlir::pto::printMemBar(OpAsmPrinter &printer, Operation *, MemBarAttr kind) {
  printer << "#pto.membar<" << stringifyMemBar(kind.getValue()) << ">";
}

ParseResult mlir::pto::parseSimtDims(OpAsmParser &parser,
                                     SmallVectorImpl<OpAsmParser::UnresolvedOperand> &values,
                                     DenseI64ArrayAttr &fixed) {
  SmallVector<int64_t> dims;
  if (parser.parseLess() || parser.parseLess() || parser.parseLess())
    return failure();
  do {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult parsed = parser.parseOptionalOperand(operand);
    if (parsed.has_value()) {
      if (failed(*parsed))
        return failure();
      values.push_back(operand);
      dims.push_back(ShapedType::kDynamic);
      continue;
    }
    if (parser.parseInteger(dims.emplace_back()))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  fixed = parser.getBuilder().getDenseI64ArrayAttr(dims);
  return failure(parser.parseGreater() || parser.parseGreater() || parser.parseGreater());
}
void mlir::pto::printSimtDims(OpAsmPrinter &printer, Operation *, ValueRange values,
                              DenseI64ArrayAttr fixed) {
  printer << "<<<";
  unsigned next = 0;
  llvm::interleaveComma(fixed.asArrayRef(), printer, [&](int64_t dim) {
    if (ShapedType::isDynamic(dim) && next < values.size())
      printer << values[next++];
    else
      printer << dim;
  });
  printer << ">>>";
}

ParseResult mlir::pto::parseEventNumber(OpAsmParser &parser, IntegerAttr &id,
                                        std::optional<OpAsmParser::UnresolvedOperand> &dynamicId) {
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult parsed = parser.parseOptionalOperand(operand);
  if (parsed.has_value()) {
    dynamicId = operand;
    return *parsed;
  }
  int64_t number = 0;
  if (parser.parseInteger(number))
    return failure();
  id = parser.getBuilder().getI64IntegerAttr(number);
  return success();
}
void mlir::pto::printEventNumber(OpAsmPrinter &printer, Operation *, IntegerAttr id,
                                 Value dynamicId) {
  if (dynamicId)
    printer << dynamicId;
  else
    printer << id.getValue();
}

//===----------------------------------------------------------------------===//
// Rules of flags, tokens, signals
//===----------------------------------------------------------------------===//

static LogicalResult verifyDynamicEvent(Operation *op, Value id) {
  if (auto number = getConstantValue(id); number && (*number < 0 || *number > 7))
    return op->emitOpError() << "event id must be between 0 and 7, got " << *number;
  return success();
}
LogicalResult SetFlagDynOp::verify() { return verifyDynamicEvent(*this, getEventId()); }
LogicalResult WaitFlagDynOp::verify() { return verifyDynamicEvent(*this, getEventId()); }

static LogicalResult verifyEventIndex(Operation *op, Type array, Value index) {
  int64_t size = cast<EventIdArrayType>(array).getSize();
  if (auto number = getConstantValue(index); number && (*number < 0 || *number >= size))
    return op->emitOpError() << "index " << *number << " is out of range, not between 0 and "
                             << size - 1;
  return success();
}
LogicalResult EventIdArrayGetOp::verify() {
  return verifyEventIndex(*this, getArray().getType(), getIndex());
}
LogicalResult EventIdArraySetOp::verify() {
  if (failed(verifyDynamicEvent(*this, getValue())))
    return failure();
  return verifyEventIndex(*this, getArray().getType(), getIndex());
}

template <typename OpT> static LogicalResult verifyBufToken(OpT op) {
  if (op.getBufId() < 0 || op.getBufId() > 31)
    return op.emitOpError() << "buffer id must be between 0 and 31, got " << op.getBufId();
  if (op.getMode() < 0)
    return op.emitOpError() << "mode must not be negative, got " << op.getMode();
  return success();
}
template <typename OpT> static LogicalResult verifyBufTokenDyn(OpT op) {
  if (op.getMode() < 0)
    return op.emitOpError() << "mode must not be negative, got " << op.getMode();
  if (auto id = getConstantValue(op.getBufId()); id && (*id < 0 || *id > 31))
    return op.emitOpError() << "buffer id must be between 0 and 31, got " << *id;
  return success();
}
LogicalResult GetBufDynOp::verify() { return verifyBufTokenDyn(*this); }
LogicalResult RlsBufDynOp::verify() { return verifyBufTokenDyn(*this); }

LogicalResult MemBarOp::verify() {
  if (getTargetArch(*this) != Arch::A5)
    return emitOpError() << "is not supported on A2/A3, it needs A5";
  return success();
}

LogicalResult SetFftsOp::verify() {
  if (getElementBytes(getBase().getType().getElementType()) != 8)
    return emitOpError() << "the base must point to 64-bit integers, got "
                         << getBase().getType().getElementType();
  return success();
}

// The hardware counts 16 signals for each of the two vector cores.
LogicalResult mlir::pto::verifyCrossSignal(Operation *op) {
  auto id = op->getAttrOfType<IntegerAttr>("event_id");
  if (!id && op->getNumOperands() == 0)
    return op->emitOpError() << "needs an event id";
  std::optional<int64_t> number =
      id ? std::optional(id.getValue().getSExtValue()) : getConstantValue(op->getOperand(0));
  if (number && (*number < 0 || *number > 31))
    return op->emitOpError() << "event id must be between 0 and 31, got " << *number;
  return success();
}

LogicalResult GetBufOp::verify() { return verifyBufToken(*this); }
LogicalResult RlsBufOp::verify() { return verifyBufToken(*this); }

template <typename OpT> static LogicalResult verifySignal(OpT op, ArrayRef<PIPE> pipesA5) {
  if (auto mode = op.getFftsMode(); mode && (*mode < 0 || *mode > 2))
    return op.emitOpError() << "ffts_mode must be 0, 1 or 2, got " << *mode;
  if (!op.getEventIdAttr() && !op.getEventIdDyn())
    return op.emitOpError() << "needs an event id";
  if (auto id = op.getEventId(); id && *id < 0)
    return op.emitOpError() << "event id must not be negative, got " << *id;
  if (getTargetArch(op) == Arch::A5 && !llvm::is_contained(pipesA5, op.getPipe()))
    return op.emitOpError() << "pipe " << stringifyPIPE(op.getPipe()) << " is not supported on A5";
  return success();
}
LogicalResult SyncSetOp::verify() { return verifySignal(*this, {PIPE::PIPE_FIX, PIPE::PIPE_MTE3}); }
LogicalResult SyncWaitOp::verify() {
  return verifySignal(
      *this, {PIPE::PIPE_FIX, PIPE::PIPE_MTE1, PIPE::PIPE_MTE2, PIPE::PIPE_MTE3, PIPE::PIPE_V});
}

static LogicalResult verifySection(Operation *op, KernelKind kind) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp()) {
    if (isa<SectionCubeOp, SectionVectorOp>(parent))
      return op->emitOpError() << "must not stand inside another section";
    auto declared = parent->getAttrOfType<KernelKindAttr>("pto.kernel_kind");
    if (declared && declared.getValue() != kind)
      return op->emitOpError() << "is a " << stringifyKernelKind(kind) << " section in a "
                               << stringifyKernelKind(declared.getValue()) << " function";
  }
  return success();
}
LogicalResult SectionCubeOp::verify() { return verifySection(*this, KernelKind::Cube); }
LogicalResult SectionVectorOp::verify() { return verifySection(*this, KernelKind::Vector); }

LogicalResult SectionSimtOp::verify() {
  if (getTargetArch(*this) != Arch::A5)
    return emitOpError() << "is not supported on A2/A3, it needs A5";
  if (getStaticDims().size() != 3)
    return emitOpError() << "needs three numbers of threads (x, y, z), got "
                         << getStaticDims().size();
  unsigned dynamic = 0;
  for (int64_t dim : getStaticDims()) {
    dynamic += ShapedType::isDynamic(dim);
    if (!ShapedType::isDynamic(dim) && (dim < 1 || dim > 2048))
      return emitOpError() << "a number of threads must be between 1 and 2048, got " << dim;
  }
  if (dynamic != getDims().size())
    return emitOpError() << "leaves " << dynamic << " numbers of threads open, but has "
                         << getDims().size() << " operands";
  for (Value dim : getDims())
    if (auto count = getConstantValue(dim); count && (*count < 1 || *count > 2048))
      return emitOpError() << "a number of threads must be between 1 and 2048, got " << *count;
  for (Operation *parent = (*this)->getParentOp(); parent; parent = parent->getParentOp()) {
    if (isa<SectionSimtOp, SectionCubeOp>(parent))
      return emitOpError() << "must not stand inside a " << parent->getName().stripDialect();
    auto declared = parent->getAttrOfType<KernelKindAttr>("pto.kernel_kind");
    if (declared && declared.getValue() != KernelKind::Vector)
      return emitOpError() << "is code of the vector core in a cube function";
  }
  return success();
}

LogicalResult FusionRegionOp::verify() {
  Block &body = getBody().front();
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (!yield)
    return emitOpError() << "must end in a pto.yield";
  if (yield.getValues().getTypes() != getResults().getTypes())
    return emitOpError() << "has " << getNumResults() << " result(s), but its yield has "
                         << yield.getValues().size() << " value(s) or other types";
  return success();
}

LogicalResult SyncAllOp::verify() {
  if (getMode() == SyncAllMode::Hard && getWorkspace())
    return emitOpError() << "mode hard takes no workspace";
  if (getMode() == SyncAllMode::Hard)
    return success();
  if (!getWorkspace())
    return emitOpError() << "mode soft needs an i32 workspace in global memory";
  Type type = getWorkspace().getType();
  Type element = isa<PtrType>(type)          ? cast<PtrType>(type).getElementType()
                 : isa<TensorViewType>(type) ? cast<TensorViewType>(type).getElementType()
                                             : cast<PartitionTensorViewType>(type).getElementType();
  if (!element.isInteger(32))
    return emitOpError() << "the workspace must hold i32, got " << element;
  int64_t count = isa<PtrType>(type) ? ShapedType::kDynamic
                  : isa<TensorViewType>(type)
                      ? cast<TensorViewType>(type).getNumElements()
                      : cast<PartitionTensorViewType>(type).getNumElements();
  if (!ShapedType::isDynamic(count) && count < 16)
    return emitOpError() << "the workspace needs at least 16 elements, got " << count;
  return success();
}

LogicalResult CacheInvalidOp::verify() {
  if (!getTarget() && !getSpace())
    return emitOpError() << "needs a target, or all and a space";
  if (auto space = getSpace(); space && *space != AddressSpace::Gm)
    return emitOpError() << "drops global memory (gm) only, got " << stringifyAddressSpace(*space);
  return success();
}
