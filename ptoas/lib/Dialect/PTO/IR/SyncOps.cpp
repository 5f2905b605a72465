//===- SyncOps.cpp - flags, barriers and FIFOs ----------------------------===//
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

// `[#pto.pipe_event_type<TVEC>, 4]` or `"PIPE_V", 4, 0`.
ParseResult mlir::pto::parseBufToken(OpAsmParser &parser, PIPEAttr &pipe, IntegerAttr &id,
                                     IntegerAttr &mode) {
  Builder &builder = parser.getBuilder();
  bool bracket = succeeded(parser.parseOptionalLSquare());
  auto value = parseAnyForm<PIPE>(parser, "pipe", symbolizePIPE, stringifyPIPE, [](Attribute attr) {
    if (auto known = dyn_cast<PIPEAttr>(attr))
      return std::optional(known.getValue());
    std::optional<PipeEventType> kind = toPipeEvent(attr);
    return kind ? std::optional(getPipeOfEvent(*kind)) : std::nullopt;
  });
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

template <typename OpT> static LogicalResult verifyBufToken(OpT op) {
  if (op.getBufId() < 0 || op.getBufId() > 31)
    return op.emitOpError() << "buffer id must be between 0 and 31, got " << op.getBufId();
  if (op.getMode() < 0)
    return op.emitOpError() << "mode must not be negative, got " << op.getMode();
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
  return success();
}

LogicalResult CacheInvalidOp::verify() {
  if (!getTarget() && !getSpace())
    return emitOpError() << "needs a target, or all and a space";
  if (auto space = getSpace(); space && *space != AddressSpace::Gm)
    return emitOpError() << "drops global memory (gm) only, got " << stringifyAddressSpace(*space);
  return success();
}

//===----------------------------------------------------------------------===//
// Reserved buffers
//===----------------------------------------------------------------------===//

ParseResult ReserveBufferOp::parse(OpAsmParser &parser, OperationState &result) {
  NamedAttrList attrs;
  if (parser.parseOptionalAttrDict(attrs) || parser.parseArrowTypeList(result.types))
    return failure();
  if (Attribute automatic = attrs.erase("auto"))
    attrs.set("auto_", automatic);
  result.addAttributes(attrs);
  return success();
}

void ReserveBufferOp::print(OpAsmPrinter &printer) {
  printer << " {name = " << getNameAttr() << ", size = " << getSize()
          << ", location = " << getLocationAttr() << ", auto = " << (getAuto_() ? "true" : "false");
  if (getBaseAttr())
    printer << ", base = " << *getBase();
  for (NamedAttribute attr : (*this)->getDiscardableAttrs())
    printer << ", " << attr.getName().getValue() << " = " << attr.getValue();
  printer << "} -> " << getResult().getType();
}

LogicalResult ReserveBufferOp::verify() {
  if (getSize() <= 0)
    return emitOpError() << "size must be positive, got " << getSize();
  if (getLocation() != AddressSpace::Vec && getLocation() != AddressSpace::Mat)
    return emitOpError() << "location must be vec or mat, got "
                         << stringifyAddressSpace(getLocation());
  if (!getAuto_() && !getBaseAttr())
    return emitOpError() << "needs base, because auto = false";
  if (getAuto_() && getBaseAttr())
    return emitOpError() << "must not give base, because auto = true lets the assembler choose it";
  return success();
}

LogicalResult ImportReservedBufferOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getPeerFuncAttr());
  if (!function)
    return emitOpError() << "peer function '@" << getPeerFunc() << "' does not exist";
  bool found = false;
  function->walk([&](ReserveBufferOp reserve) { found |= reserve.getName() == getName(); });
  if (!found && !function.isExternal())
    return emitOpError() << "function '@" << getPeerFunc() << "' reserves no buffer named \""
                         << getName() << "\"";
  return success();
}

//===----------------------------------------------------------------------===//
// Front-end FIFO ops
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kPipeOperands[] = {"gm_slot_buffer", "gm_slot_tensor",
                                                  "c2v_consumer_buf", "v2c_consumer_buf"};

ParseResult mlir::pto::parseInitPipe(OpAsmParser &parser, OperationState &result) {
  NamedAttrList attrs;
  if (parser.parseOptionalAttrDict(attrs))
    return failure();
  std::optional<std::pair<OpAsmParser::UnresolvedOperand, Type>> operands[4];
  if (succeeded(parser.parseOptionalLParen()) && failed(parser.parseOptionalRParen())) {
    do {
      SMLoc loc = parser.getCurrentLocation();
      StringRef key;
      if (parser.parseKeyword(&key) || parser.parseEqual())
        return failure();
      const auto *known = llvm::find(kPipeOperands, key);
      if (known == std::end(kPipeOperands))
        return parser.emitError(loc) << "unknown operand '" << key << "'";
      auto &slot = operands[known - std::begin(kPipeOperands)];
      if (slot)
        return parser.emitError(loc) << "operand '" << key << "' is given twice";
      slot.emplace();
      if (parser.parseOperand(slot->first) || parser.parseColonType(slot->second))
        return failure();
    } while (succeeded(parser.parseOptionalComma()));
    if (parser.parseRParen())
      return failure();
  }
  SmallVector<int32_t> sizes;
  for (auto &operand : operands) {
    sizes.push_back(operand.has_value());
    if (operand && parser.resolveOperand(operand->first, operand->second, result.operands))
      return failure();
  }
  attrs.set("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(sizes));
  result.addAttributes(attrs);
  return success();
}

void mlir::pto::printInitPipe(OpAsmPrinter &printer, Operation *op) {
  SmallVector<NamedAttribute> attrs;
  for (NamedAttribute attr : op->getAttrs()) {
    auto integer = dyn_cast<IntegerAttr>(attr.getValue());
    bool isFirstPipe = attr.getName() == "id" && integer && integer.getValue().isZero();
    if (attr.getName() != "operandSegmentSizes" && !isFirstPipe)
      attrs.push_back(attr);
  }
  printPlainDict(printer, attrs);
  auto sizes = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
  printer << " (";
  unsigned next = 0;
  for (unsigned i = 0; i < 4; ++i)
    if (sizes[i]) {
      printer << (next ? ", " : "") << kPipeOperands[i] << " = " << op->getOperand(next) << " : "
              << op->getOperand(next).getType();
      ++next;
    }
  printer << ")";
}

ParseResult mlir::pto::parsePipeUse(OpAsmParser &parser, IntegerAttr &id, IntegerAttr &split) {
  SMLoc loc = parser.getCurrentLocation();
  NamedAttrList attrs;
  if (parser.parseOptionalAttrDict(attrs))
    return failure();
  for (NamedAttribute attr : attrs) {
    auto integer = dyn_cast<IntegerAttr>(attr.getValue());
    if (attr.getName() != "id" && attr.getName() != "split")
      return parser.emitError(loc)
             << "unknown attribute '" << attr.getName().getValue() << "', expected id or split";
    if (!integer)
      return parser.emitError(loc) << attr.getName().getValue() << " must be an integer";
    (attr.getName() == "id" ? id : split) = integer;
  }
  if (!split)
    return parser.emitError(loc) << "needs the attribute split";
  return success();
}

void mlir::pto::printPipeUse(OpAsmPrinter &printer, Operation *, IntegerAttr id,
                             IntegerAttr split) {
  printer << "{";
  if (id && !id.getValue().isZero())
    printer << "id = " << id.getValue() << ", ";
  printer << "split = " << split.getValue() << "}";
}

static std::optional<KernelKind> kernelKindOf(Operation *op) {
  for (; op; op = op->getParentOp()) {
    if (isa<SectionCubeOp>(op))
      return KernelKind::Cube;
    if (isa<SectionVectorOp>(op))
      return KernelKind::Vector;
    if (auto kind = op->getAttrOfType<KernelKindAttr>("pto.kernel_kind"))
      return kind.getValue();
  }
  return std::nullopt;
}

static LogicalResult verifyCore(Operation *op, KernelKind wanted) {
  auto kind = kernelKindOf(op);
  if (kind && *kind != wanted)
    return op->emitOpError() << "belongs in a " << stringifyKernelKind(wanted) << " function ("
                             << (wanted == KernelKind::Cube ? "aic" : "aiv")
                             << "), but the kernel kind is " << stringifyKernelKind(*kind);
  return success();
}

static int64_t intAttr(Operation *op, StringRef name, int64_t absent) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getValue().getSExtValue() : absent;
}

LogicalResult mlir::pto::verifyInitPipe(Operation *op) {
  bool cube = isa<AicInitializePipeOp>(op);
  if (failed(verifyCore(op, cube ? KernelKind::Cube : KernelKind::Vector)))
    return failure();
  int64_t dir = intAttr(op, "dir_mask", 0);
  if (dir < 1 || dir > 3)
    return op->emitOpError()
           << "dir_mask must be 1 (cube to vector), 2 (vector to cube) or 3 (both), got " << dir;
  if (int64_t size = intAttr(op, "slot_size", 0); size <= 0)
    return op->emitOpError() << "slot_size must be positive, got " << size;
  int64_t slots = intAttr(op, "slot_num", 8);
  if (slots <= 0)
    return op->emitOpError() << "slot_num must be positive, got " << slots;
  if (int64_t local = intAttr(op, "local_slot_num", slots); local <= 0 || local > slots)
    return op->emitOpError() << "local_slot_num must be between 1 and slot_num (" << slots
                             << "), got " << local;
  return success();
}

LogicalResult mlir::pto::verifyPipeUse(Operation *op) {
  bool cube = isa<TPushToAivOp, TPopFromAivOp, TFreeFromAivOp>(op);
  if (failed(verifyCore(op, cube ? KernelKind::Cube : KernelKind::Vector)))
    return failure();
  int64_t split = intAttr(op, "split", 0);
  if (split < 0 || split > 4)
    return op->emitOpError()
           << "split must be 0 (none), 1 (rows), 2 (columns), 3 or 4 (odd extents), got " << split;
  if (isa<TPopFromAicOp, TPopFromAivOp>(op)) {
    auto type = cast<TileBufType>(op->getResult(0).getType());
    bool given = op->getNumOperands() == 2;
    if (op->getNumOperands() == 1)
      return op->emitOpError() << "takes both valid extents or none";
    bool open =
        ShapedType::isDynamic(type.getValidRow()) && ShapedType::isDynamic(type.getValidCol());
    if (given && !open)
      return op->emitOpError()
             << "valid extents are given, so the type must leave both open (valid=?x?)";
  }
  // A FIFO must be joined in this function before it is used.
  Operation *function = op->getParentOfType<FunctionOpInterface>();
  if (!function)
    return success();
  int64_t id = intAttr(op, "id", 0);
  bool joined = false;
  function->walk([&](Operation *other) {
    if (isa<AicInitializePipeOp, AivInitializePipeOp>(other))
      joined |= intAttr(other, "id", 0) == id;
  });
  if (!joined)
    return op->emitOpError() << "uses pipe " << id << ", but this function has no "
                             << (cube ? "aic" : "aiv") << "_initialize_pipe for it";
  return success();
}

//===----------------------------------------------------------------------===//
// FIFO ops with a handle
//===----------------------------------------------------------------------===//

template <typename OpT> static LogicalResult verifyPipeShape(OpT op) {
  if (op.getDirMask() < 1 || op.getDirMask() > 3)
    return op.emitOpError() << "dir_mask must be 1, 2 or 3, got " << op.getDirMask();
  if (op.getSlotSize() <= 0)
    return op.emitOpError() << "slot_size must be positive, got " << op.getSlotSize();
  if (op.getSlotNum() <= 0)
    return op.emitOpError() << "slot_num must be positive, got " << op.getSlotNum();
  return success();
}

LogicalResult InitializeL2LPipeOp::verify() {
  if (failed(verifyPipeShape(*this)))
    return failure();
  if (getTargetArch(*this) != Arch::A5)
    return emitOpError() << "is not supported on A2/A3, it needs A5";
  if (getSlotNum() != 4 && getSlotNum() != 8)
    return emitOpError() << "slot_num must be 4 or 8, got " << getSlotNum();
  if ((getDirMask() == 3) != bool(getPeerBuf()))
    return emitOpError() << "a peer buffer is given exactly when dir_mask is 3";
  return success();
}

LogicalResult InitializeL2G2LPipeOp::verify() {
  if (failed(verifyPipeShape(*this)))
    return failure();
  if (auto local = getLocalSlotNum(); local && *local > getSlotNum())
    return emitOpError() << "local_slot_num " << *local << " exceeds slot_num " << getSlotNum();
  return success();
}

LogicalResult TPushOp::verify() {
  AddressSpace space = getTile().getType().getSpace();
  if (space != AddressSpace::Acc && space != AddressSpace::Vec)
    return emitOpError() << "sends tiles in acc or vec, got " << stringifyAddressSpace(space);
  return success();
}
