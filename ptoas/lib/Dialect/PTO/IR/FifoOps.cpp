//===- FifoOps.cpp - FIFOs between the cores of a cluster ------------------===//
#include "OpSupport.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::pto;

//===----------------------------------------------------------------------===//
// Reserved buffers
//===----------------------------------------------------------------------===//

ParseResult ReserveBufferOp::parse(OpAsmParser &parser, OperationState &result) {
  NamedAttrList attrs;
  if (parser.parseOptionalAttrDict(attrs) || parser.parseArrowTypeList(result.types))
    return failure();
  if (Attribute automatic = attrs.erase("auto"))
    attrs.set("auto_", automatic);
  return takeAttributes(parser, result, attrs);
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
  if (getBaseAttr() && int64_t(*getBase()) < 0)
    return emitOpError() << "base must not be negative, got " << int64_t(*getBase());
  // Peers find a buffer by its function and its name.
  bool repeats = false;
  if (auto function = (*this)->getParentOfType<FunctionOpInterface>())
    function->walk([&](ReserveBufferOp other) {
      if (other == *this)
        return WalkResult::interrupt();
      repeats |= other.getNameAttr() == getNameAttr(); // may be missing, which its op reports
      return WalkResult::advance();
    });
  if (repeats)
    return emitOpError() << "reserves a buffer named \"" << getName()
                         << "\" a second time; names must be unique in a function";
  return success();
}

LogicalResult ImportReservedBufferOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getPeerFuncAttr());
  if (!function)
    return emitOpError() << "peer function '@" << getPeerFunc() << "' does not exist";
  bool found = false;
  function->walk([&](ReserveBufferOp reserve) { found |= reserve.getNameAttr() == getNameAttr(); });
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
  return takeAttributes(parser, result, attrs);
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
  if (Attribute epilogue = op->getAttr("acc_push_epilogue")) {
    auto nosplit = op->getAttrOfType<BoolAttr>("nosplit");
    if (!isa<AccPushEpilogueAttr>(epilogue))
      return op->emitOpError() << "acc_push_epilogue must be #pto.acc_push_epilogue<layout = ..., "
                                  "quant = ..., relu = ...>";
    if (dir != 1 || !nosplit || !nosplit.getValue())
      return op->emitOpError()
             << "acc_push_epilogue is only possible with dir_mask = 1 and nosplit = true";
  }
  return success();
}

// The queues that fill slots are those of the accumulator and of the vector core
// (spec/ptoas.md 6.10).
static LogicalResult verifyPushed(Operation *op, Type entry) {
  auto tile = dyn_cast<TileBufType>(entry);
  if (tile && tile.getSpace() != AddressSpace::Acc && tile.getSpace() != AddressSpace::Vec)
    return op->emitOpError() << "sends tiles in acc or vec, got "
                             << stringifyAddressSpace(tile.getSpace());
  return success();
}

LogicalResult mlir::pto::verifyPipeUse(Operation *op) {
  bool cube = isa<TPushToAivOp, TPopFromAivOp, TFreeFromAivOp, TAllocToAivOp>(op);
  if (failed(verifyCore(op, cube ? KernelKind::Cube : KernelKind::Vector)))
    return failure();
  int64_t split = intAttr(op, "split", 0);
  if (split < 0 || split > 4)
    return op->emitOpError()
           << "split must be 0 (none), 1 (rows), 2 (columns), 3 or 4 (odd extents), got " << split;
  if (isa<TPushToAivOp, TPushToAicOp>(op) && failed(verifyPushed(op, op->getOperand(0).getType())))
    return failure();
  auto popped = isa<TPopFromAicOp, TPopFromAivOp>(op)
                    ? dyn_cast<TileBufType>(op->getResult(0).getType())
                    : TileBufType();
  if (isa<TPopFromAicOp, TPopFromAivOp>(op) && !popped && op->getNumOperands())
    return op->emitOpError() << "takes valid extents only when it receives a tile";
  if (popped) {
    TileBufType type = popped;
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
  Operation *joined = nullptr;
  function->walk([&](Operation *other) {
    if (isa<AicInitializePipeOp, AivInitializePipeOp>(other) && intAttr(other, "id", 0) == id)
      joined = other;
  });
  bool toVector = isa<TPushToAivOp, TPopFromAicOp, TFreeFromAicOp, TAllocToAivOp>(op);
  if (int64_t dir = joined ? intAttr(joined, "dir_mask", 3) : 3; !(dir & (toVector ? 1 : 2))) {
    InFlightDiagnostic diag = op->emitOpError()
                              << "moves data from "
                              << (toVector ? "cube to vector" : "vector to cube") << ", but pipe "
                              << id << " has the other direction only (dir_mask = " << dir << ")";
    diag.attachNote(joined->getLoc()) << "the pipe is made here";
    return diag;
  }
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
  if (failed(verifyOneEach(*this, {{0, "gm_buf"}})) || failed(verifyPipeShape(*this)))
    return failure();
  if (auto local = getLocalSlotNum(); local && *local > getSlotNum())
    return emitOpError() << "local_slot_num " << *local << " exceeds slot_num " << getSlotNum();
  return success();
}

// Splits, and what may travel through a FIFO, for ops that name it by a handle.
static LogicalResult verifyHandleUse(Operation *op, int64_t split) {
  if (split < 0 || split > 4)
    return op->emitOpError()
           << "split must be 0 (none), 1 (rows), 2 (columns), 3 or 4 (odd extents), got " << split;
  return success();
}

LogicalResult TPushOp::verify() {
  if (failed(verifyPushed(*this, getTile().getType())))
    return failure();
  return verifyHandleUse(*this, getSplit());
}
LogicalResult TPopOp::verify() { return verifyHandleUse(*this, getSplit()); }
LogicalResult TFreeOp::verify() { return verifyHandleUse(*this, getSplit()); }
LogicalResult TAllocOp::verify() { return verifyHandleUse(*this, getSplit()); }

//===----------------------------------------------------------------------===//
// Quantisation of pushes
//===----------------------------------------------------------------------===//

static LogicalResult verifyPipeId(Operation *op, int64_t id) {
  if (id < 0)
    return op->emitOpError() << "pipe id must not be negative, got " << id;
  return success();
}

LogicalResult SetQuantScalarOp::verify() {
  Type type = getScale().getType();
  if (!type.isF32() && !type.isInteger(64))
    return emitOpError() << "the scale must be f32 or the i64 word of the fixed pipe, got " << type;
  return verifyPipeId(*this, getId());
}

LogicalResult SetQuantVectorOp::verify() {
  TileBufType type = getScales().getType();
  if (type.getSpace() != AddressSpace::Scaling)
    return emitOpError() << "the scales must lie in loc scaling, got "
                         << stringifyAddressSpace(type.getSpace());
  return verifyPipeId(*this, getId());
}

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

static PIPE getPushPipe(Type entry) {
  auto tile = dyn_cast<TileBufType>(entry);
  if (!tile) // a slot that is written already
    return PIPE::PIPE_S;
  return tile.getSpace() == AddressSpace::Acc ? PIPE::PIPE_FIX : PIPE::PIPE_MTE3;
}

static PIPE getPopPipe(Operation *op, Type entry) {
  return !isa<TileBufType>(entry) || getTargetArch(op) == Arch::A5 ? PIPE::PIPE_S : PIPE::PIPE_MTE2;
}

PIPE mlir::pto::getPipeUsePipe(Operation *op) {
  if (isa<TPushToAivOp, TPushToAicOp>(op))
    return getPushPipe(op->getOperand(0).getType());
  if (isa<TPopFromAicOp, TPopFromAivOp>(op))
    return getPopPipe(op, op->getResult(0).getType());
  return PIPE::PIPE_S;
}

PIPE TPushOp::getPipe() { return getPushPipe(getTile().getType()); }
PIPE TPopOp::getPipe() { return getPopPipe(*this, getTile().getType()); }
PIPE TFreeOp::getPipe() { return PIPE::PIPE_S; }
PIPE TAllocOp::getPipe() { return PIPE::PIPE_S; }
