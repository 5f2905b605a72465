//===- CommOps.cpp - copies and signals between devices --------------------===//
#include "OpSupport.h"

using namespace mlir;
using namespace mlir::pto;

//===----------------------------------------------------------------------===//
// Groups: `(%src, recv(%ping, %pong), group(%a, %b) : !P, !V, !V, !P, !P) {root = 0}`
//===----------------------------------------------------------------------===//

using Operands = SmallVector<OpAsmParser::UnresolvedOperand, 4>;

static ParseResult parseBracketed(OpAsmParser &parser, StringRef word, Operands &operands) {
  return failure(parser.parseComma() || parser.parseKeyword(word) ||
                 parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren));
}

ParseResult mlir::pto::parseCommGroup(OpAsmParser &parser, OperationState &result, unsigned lead) {
  SMLoc loc = parser.getNameLoc();
  Operands operands(lead), staging, group;
  if (parser.parseLParen())
    return failure();
  for (unsigned i = 0; i < lead; ++i)
    if ((i && parser.parseComma()) || parser.parseOperand(operands[i]))
      return failure();
  SMLoc stagingLoc = parser.getCurrentLocation();
  if (parseBracketed(parser, "recv", staging) || parseBracketed(parser, "group", group))
    return failure();
  if (staging.empty() || staging.size() > 2)
    return parser.emitError(stagingLoc)
           << "recv(...) takes one or two staging tiles, got " << staging.size();
  operands.append(staging);
  operands.append(group);
  SmallVector<Type> types;
  NamedAttrList attrs;
  if (parser.parseColonTypeList(types) || parser.parseRParen() ||
      parser.parseOptionalAttrDict(attrs))
    return failure();
  if (!attrs.get("root"))
    return parser.emitError(loc) << "'" << result.name << "' op needs the attribute root, the "
                                 << "number of the device that holds the whole tensor";
  if (result.name.stripDialect() == "comm.treduce" && !attrs.get("reduceOp"))
    return parser.emitError(loc) << "'" << result.name
                                 << "' op needs the attribute reduceOp (sum, max or min)";
  SmallVector<int32_t> sizes(lead, 1);
  sizes.append({1, staging.size() == 2, static_cast<int32_t>(group.size())});
  attrs.set("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(sizes));
  return failure(parser.resolveOperands(operands, types, loc, result.operands) ||
                 takeAttributes(parser, result, attrs));
}

// The operands in front of the staging tiles.
static unsigned countLead(Operation *op) { return isa<CommTReduceOp>(op) ? 2 : 1; }

static bool hasPong(Operation *op) {
  unsigned next = countLead(op) + 1;
  return next < op->getNumOperands() && isa<TileBufType>(op->getOperand(next).getType());
}

void mlir::pto::printCommGroup(OpAsmPrinter &printer, Operation *op) {
  unsigned lead = countLead(op), staging = 1 + hasPong(op);
  printer << "(";
  printer.printOperands(op->getOperands().take_front(lead));
  printer << ", recv(";
  printer.printOperands(op->getOperands().slice(lead, staging));
  printer << "), group(";
  printer.printOperands(op->getOperands().drop_front(lead + staging));
  printer << ") : ";
  llvm::interleaveComma(op->getOperandTypes(), printer, [&](Type type) { printer << type; });
  printer << ")";
  printer.printOptionalAttrDict(op->getAttrs(), {"operandSegmentSizes"});
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static Type elementOf(Type type) {
  if (auto view = dyn_cast<TensorViewType>(type))
    return view.getElementType();
  if (auto window = dyn_cast<PartitionTensorViewType>(type))
    return window.getElementType();
  return cast<TileBufType>(type).getElementType();
}

static ArrayRef<int64_t> shapeOf(Type type) {
  auto view = dyn_cast<TensorViewType>(type);
  return view ? view.getShape() : cast<PartitionTensorViewType>(type).getShape();
}

static LogicalResult verifySameElement(Operation *op, Type a, Type b, StringRef what) {
  if (elementOf(a) != elementOf(b))
    return op->emitOpError() << "element types of " << what << " must be equal, got "
                             << elementOf(a) << " and " << elementOf(b);
  return success();
}

static LogicalResult verifyStaging(Operation *op, Type view, Value ping, Value pong) {
  auto first = cast<TileBufType>(ping.getType());
  if (first.getSpace() != AddressSpace::Vec)
    return op->emitOpError() << "a staging tile must have loc vec, but it lies in "
                             << stringifyAddressSpace(first.getSpace());
  if (pong && pong.getType() != first)
    return op->emitOpError() << "both staging tiles must have the same type, got " << first
                             << " and " << pong.getType();
  return verifySameElement(op, view, first, "the view and the staging tile");
}

// `?` fits anything.
static LogicalResult verifySameShape(Operation *op, Type a, Type b) {
  ArrayRef<int64_t> x = shapeOf(a), y = shapeOf(b);
  bool fits = x.size() == y.size();
  for (size_t i = 0; fits && i < x.size(); ++i)
    fits = ShapedType::isDynamic(x[i]) || ShapedType::isDynamic(y[i]) || x[i] == y[i];
  if (!fits)
    return op->emitOpError() << "shapes of the views must be equal, got " << a << " and " << b;
  return success();
}

template <typename OpT> static LogicalResult verifySignal(OpT op) {
  Type element = elementOf(op.getSignal().getType());
  if (!element.isInteger(32))
    return op.emitOpError() << "a signal is an i32 in global memory, got " << element;
  if (op.getValue().getType() != element)
    return op.emitOpError() << "the value must be i32 like the signal, got "
                            << op.getValue().getType();
  return success();
}
LogicalResult CommTNotifyOp::verify() { return verifySignal(*this); }
LogicalResult CommTWaitOp::verify() { return verifySignal(*this); }
LogicalResult CommTTestOp::verify() { return verifySignal(*this); }

template <typename OpT> static LogicalResult verifyCopy(OpT op) {
  Type dst = op.getDst().getType(), src = op.getSrc().getType();
  if (failed(verifySameElement(op, dst, src, "dst and src")) ||
      failed(verifySameShape(op, dst, src)))
    return failure();
  return verifyStaging(op, src, op.getPing(), op.getPong());
}
LogicalResult CommTPutOp::verify() { return verifyCopy(*this); }
LogicalResult CommTGetOp::verify() { return verifyCopy(*this); }

LogicalResult mlir::pto::verifyCommGroup(Operation *op) {
  unsigned lead = countLead(op), first = lead + 1 + hasPong(op);
  if (failed(verifyOneEach(op, {{0, "the tensor"}, {lead - 1, "acc"}, {lead, "ping"}})))
    return failure();
  if (first >= op->getNumOperands())
    return op->emitOpError() << "needs at least one device in group(...)";
  int64_t devices = op->getNumOperands() - first;
  int64_t root = op->getAttrOfType<IntegerAttr>("root").getValue().getSExtValue();
  if (root < 0 || root >= devices)
    return op->emitOpError() << "root must be one of the " << devices
                             << " device(s) of the group, counted from 0, got " << root;
  Type view = op->getOperand(0).getType();
  for (Value member : op->getOperands().drop_front(first)) {
    if (failed(verifySameElement(op, view, member.getType(), "the tensor and the group")))
      return failure();
    // A gather's or scatter's tensor holds the parts of all devices.
    if (isa<CommTBroadcastOp, CommTReduceOp>(op) &&
        failed(verifySameShape(op, view, member.getType())))
      return failure();
  }
  // The parts lie one below the other (spec/pto_isa.md 7.2).
  if (isa<CommTGatherOp, CommTScatterOp>(op)) {
    auto rowsOf = [](Type type) {
      ArrayRef<int64_t> shape = shapeOf(type);
      return shape.size() < 2 ? ShapedType::kDynamic : shape[shape.size() - 2];
    };
    int64_t rows = rowsOf(view), part = rowsOf(op->getOperand(first).getType());
    if (!ShapedType::isDynamic(rows) && !ShapedType::isDynamic(part) && rows / devices < part)
      return op->emitOpError() << "the tensor needs " << part << " rows for each of the " << devices
                               << " device(s), but it has " << rows;
  }
  if (auto reduce = dyn_cast<CommTReduceOp>(op))
    if (failed(verifyStaging(op, view, reduce.getAcc(), Value())))
      return failure();
  return verifyStaging(op, view, op->getOperand(lead),
                       hasPong(op) ? op->getOperand(lead + 1) : Value());
}

LogicalResult CommBuildAsyncSessionOp::verify() {
  TileBufType scratch = getScratch().getType();
  if (scratch.getSpace() != AddressSpace::Vec || scratch.getSizeInBytes() < 8)
    return emitOpError() << "the scratch tile must lie in vec and hold at least 8 bytes, got "
                         << scratch;
  Type element = getWorkspace().getType().getElementType();
  if (getElementBytes(element) != 1 || !element.isInteger())
    return emitOpError() << "the workspace must point to i8, got " << element;
  if (getSyncId() < 0 || getSyncId() > 7)
    return emitOpError() << "sync_id must be between 0 and 7, got " << getSyncId();
  return success();
}

template <typename OpT> static LogicalResult verifyAsyncCopy(OpT op) {
  Type dst = op.getDst().getType(), src = op.getSrc().getType();
  if (failed(verifySameElement(op, dst, src, "dst and src")) ||
      failed(verifySameShape(op, dst, src)))
    return failure();
  for (Type view : {dst, src}) {
    ArrayRef<int64_t> shape = shapeOf(view);
    if (ShapedType::isDynamicShape(shape))
      return op.emitOpError() << "copies windows of static shape, got " << view;
    // Asynchronous engines copy one run of bytes.
    if (llvm::any_of(shape.drop_back(), [](int64_t dim) { return dim != 1; }))
      return op.emitOpError() << "copies one run of elements (all extents but the last are 1), got "
                              << view;
  }
  return success();
}
LogicalResult CommTPutAsyncOp::verify() { return verifyAsyncCopy(*this); }
LogicalResult CommTGetAsyncOp::verify() { return verifyAsyncCopy(*this); }
