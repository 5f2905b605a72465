//===- EmitFifos.cpp - FIFOs, signals and barriers, copies between devices ===//
#include "FunctionEmitter.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::formatv;

namespace ptoas::cpp {

static int64_t intAttr(Operation *op, StringRef name, int64_t absent) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getValue().getSExtValue() : absent;
}

//===----------------------------------------------------------------------===//
// FIFOs
//===----------------------------------------------------------------------===//

std::string FunctionEmitter::splitAxis(int64_t split) {
  static constexpr StringLiteral names[] = {"NO_SPLIT", "UP_DOWN", "LEFT_RIGHT", "UP_DOWN_ODD",
                                            "LEFT_RIGHT_ODD"};
  return ("TileSplitAxis::TILE_" + names[split >= 0 && split <= 4 ? split : 0]).str();
}

// The fixed pipe's settings of a push: FixpipeParams<layout, quantisation, relu>.
static LogicalResult epilogueText(Operation *op, std::string &text) {
  Attribute attr = op->getAttr("acc_push_epilogue");
  if (!attr)
    return success();
  auto epilogue = dyn_cast<pto::AccPushEpilogueAttr>(attr);
  if (!epilogue)
    return op->emitOpError() << "has no C++ form for this acc_push_epilogue";
  auto word = [](StringAttr part, StringRef absent) {
    return part ? part.getValue().upper() : absent.upper();
  };
  std::string layout = word(epilogue.getLayout(), "nz2nd");
  std::string quant = word(epilogue.getQuant(), "noquant");
  std::string relu = word(epilogue.getRelu(), "no_relu");
  if (!llvm::is_contained({"NZ2NZ", "NZ2ND", "NZ2DN"}, layout))
    return op->emitOpError() << "acc_push_epilogue: layout must be nz2nz, nz2nd or nz2dn, got "
                             << epilogue.getLayout();
  quant = llvm::StringSwitch<std::string>(quant)
              .Cases({"NOQUANT", "NO_QUANT"}, "NoQuant")
              .Case("F32_TO_F16", "F322F16")
              .Case("F32_TO_BF16", "F322BF16")
              .Default(quant);
  static constexpr StringLiteral modes[] = {
      "NoQuant",     "F322F16",       "VREQ8",         "REQ8",          "VDEQF16",
      "DEQF16",      "VSHIFTS322S16", "SHIFTS322S16",  "F322BF16",      "VQF322B8_PRE",
      "QF322B8_PRE", "QF322F16_PRE",  "QF322BF16_PRE", "QS322BF16_PRE", "VQS322BF16_PRE"};
  if (!llvm::is_contained(modes, quant)) {
    InFlightDiagnostic diag = op->emitOpError() << "acc_push_epilogue: quant must be one of ";
    llvm::interleaveComma(modes, diag, [&](StringRef mode) { diag << mode.lower(); });
    return diag << ", got " << epilogue.getQuant();
  }
  if (relu != "NO_RELU" && relu != "NORMAL_RELU")
    return op->emitOpError() << "acc_push_epilogue: relu must be no_relu or normal_relu, got "
                             << epilogue.getRelu();
  text = formatv("FixpipeParams<LayoutMode_t::{0}, QuantMode_t::{1}, ReluPreMode::{2}>", layout,
                 quant, relu == "NO_RELU" ? "NoRelu" : "NormalRelu");
  return success();
}

// The element type that the fixed pipe produces for a quantisation.
static StringRef producedType(StringRef epilogue) {
  if (epilogue.contains("BF16"))
    return "bfloat16_t";
  if (epilogue.contains("F16"))
    return "half";
  if (epilogue.contains("S16"))
    return "int16_t";
  return epilogue.contains("8") ? "int8_t" : "float";
}

LogicalResult FunctionEmitter::emitPipeObject(Operation *op, Pipe &pipe, int64_t flags,
                                              int64_t direction, bool throughGlobal,
                                              int64_t slotSize, int64_t slots, int64_t localSlots,
                                              bool noSplit, StringRef memory, StringRef c2v,
                                              StringRef v2c) {
  static constexpr StringLiteral names[] = {"", "C2V", "V2C", "BOTH"};
  int64_t used = direction == 3 ? 4 : 2;
  if (flags < 0 || flags + used > 16)
    return op->emitOpError() << "needs the hardware flags " << flags << " to " << flags + used - 1
                             << ", but there are 16: the FIFOs of this module use too many";
  // On A5 a FIFO lies in local memory, or in global memory by its name.
  bool named = throughGlobal && module_.arch == pto::Arch::A5;
  std::string arguments =
      formatv("{0}, Direction::DIR_{1}{2}, {3}, {4}, {5}, {6}", flags, names[direction],
              named ? "_GM" : "", slotSize, slots, localSlots, noSplit ? "true" : "false");
  pipe.type = module_.types
                  .pipe(formatv("Pipe{0}{1}_{2}", names[direction], named ? "Gm" : "", flags).str(),
                        arguments)
                  .str();
  pipe.name = newName(op->getNumResults() ? wishedName(op->getResult(0)) : "pipe");
  if (failed(epilogueText(op, pipe.epilogue)))
    return failure();
  std::string constructed = formatv("({0}, {1}, {2})", memory, c2v, v2c);
  if (jumps_) {
    // FIFOs have no empty state, so they cannot be declared in front of the jumps.
    return op->emitOpError() << "has no C++ form in a function with jumps between blocks; use "
                                "structured control flow (scf)";
  }
  out_.line(pipe.type + " " + pipe.name + constructed + ";");
  return success();
}

LogicalResult FunctionEmitter::emitInitPipe(Operation *op) {
  int64_t id = intAttr(op, "id", 0), direction = intAttr(op, "dir_mask", 1);
  auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
  Value operands[4] = {};
  for (unsigned i = 0, next = 0; i < 4; ++i)
    if (segments && segments[i])
      operands[i] = op->getOperand(next++);
  Value memory = operands[0] ? operands[0] : operands[1];
  std::string pointer = "nullptr";
  if (memory) {
    pointer = expr(memory);
    if (isa<pto::TensorViewType, pto::PartitionTensorViewType>(memory.getType()))
      pointer += ".data()";
  }
  int64_t slots = intAttr(op, "slot_num", direction == 3 ? 4 : 8);
  auto attr = op->getAttrOfType<BoolAttr>("nosplit");
  bool noSplit = attr && attr.getValue();
  if (!attr)
    func_.walk([&](Operation *user) {
      noSplit |= user->hasAttr("split") && intAttr(user, "id", 0) == id &&
                 intAttr(user, "split", 0) == 0 &&
                 !isa<pto::TPushOp, pto::TPopOp, pto::TFreeOp>(user);
    });
  auto buffer = [&](Value value) { return value ? expr(value) : std::string("0"); };
  return emitPipeObject(op, pipes_[id], module_.flagBase[id], direction, bool(memory),
                        intAttr(op, "slot_size", 0), slots, intAttr(op, "local_slot_num", slots),
                        noSplit, pointer, buffer(operands[2]), buffer(operands[3]));
}

// TPUSH<Pipe, Entry, Split>(pipe, entry)
LogicalResult FunctionEmitter::emitTransfer(Operation *op, StringRef name, Value entry,
                                            const Pipe &pipe, int64_t split, StringRef lane) {
  if (pipe.name.empty())
    return op->emitOpError() << "has no C++ form: its FIFO is initialized nowhere";
  std::optional<std::string> type = typeName(entry);
  if (!type)
    return op->emitOpError() << "has no C++ form: there is no C++ type for " << entry.getType();
  bool configured = name == "TPUSH" && !pipe.epilogue.empty();
  out_.line(name + "<" + pipe.type + ", " + *type + ", " +
            (configured ? pipe.epilogue : splitAxis(split)) + ">(" + pipe.name + ", " +
            expr(entry) + (lane.empty() ? "" : ", ") + lane + ");");
  return success();
}

// A tile or a tensor that a FIFO binds to one of its slots.
LogicalResult FunctionEmitter::emitEntry(Operation *op, Value entry, Value validRow,
                                         Value validCol) {
  auto text = [&](Value value) { return value ? expr(value) : std::string(); };
  if (auto tile = dyn_cast<pto::TileBufType>(entry.getType()))
    return emitTile(op, entry, tile, text(validRow), text(validCol));
  auto view = cast<pto::TensorViewType>(entry.getType());
  GlobalShape global;
  global.element = view.getElementType();
  if (spellElement(global.element).empty())
    return op->emitOpError() << "has no C++ form: there is no C++ element type for "
                             << view.getElementType();
  int64_t stride = 1, rank = view.getRank();
  for (int64_t i = 4; i >= 0; --i) {
    int64_t source = rank - 5 + i, extent = source < 0 ? 1 : view.getDimSize(source);
    if (ShapedType::isDynamic(extent))
      return op->emitOpError()
             << "has no C++ form: the extents of a FIFO's slot must be known, got " << view;
    global.shape[i] = extent;
    global.stride[i] = stride;
    stride *= extent;
  }
  StringRef type = module_.types.global(global);
  objectTypes_[entry] = type.str();
  object(type, define(entry), "nullptr");
  return success();
}

//===----------------------------------------------------------------------===//
// Signals between the cores of a cluster
//===----------------------------------------------------------------------===//

LogicalResult FunctionEmitter::emitSignal(Operation *op, bool set) {
  auto pipe = op->getAttrOfType<pto::PIPEAttr>("pipe");
  std::string queue = spellPipe(pipe.getValue());
  std::string id =
      op->getNumOperands() ? expr(op->getOperand(0)) : std::to_string(intAttr(op, "event_id", 0));
  if (module_.arch == pto::Arch::A5) {
    StringRef name = set ? "set_intra_block" : "wait_intra_block";
    out_.line(name + "(" + queue + ", " + id + ");");
    // The matrix core reaches the two vector cores under two numbers.
    if (set && pipe.getValue() == pto::PIPE::PIPE_FIX)
      out_.line(name + "(" + queue + ", " + id + " + 16);");
    return success();
  }
  if (set && !hasFfts_)
    return op->emitOpError() << "needs pto.set_ffts in the same function on A2/A3";
  if (set)
    out_.line(formatv("ffts_cross_core_sync({0}, getFFTSMsg({1}, {2}));", queue,
                      intAttr(op, "ffts_mode", 2), id)
                  .str());
  else
    out_.line("wait_flag_dev(" + id + ");");
  return success();
}

//===----------------------------------------------------------------------===//
// Copies between the devices of a group
//===----------------------------------------------------------------------===//

LogicalResult FunctionEmitter::emitGroupCopy(Operation *op) {
  auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
  bool reduces = op->getName().getStringRef() == "pto.comm.treduce";
  // The leading operands, the staging tile and the optional second one, the group.
  unsigned lead = reduces ? 2 : 1;
  if (!segments || segments.size() != lead + 3)
    return op->emitOpError() << "has no C++ form";
  OperandRange operands = op->getOperands();
  unsigned staging = segments[lead] + segments[lead + 1];
  ValueRange group = ValueRange(operands).drop_front(lead + staging);
  if (group.empty())
    return op->emitOpError() << "has no C++ form: the group has no member";
  std::optional<std::string> type = typeName(group.front());
  std::string members;
  for (Value member : group) {
    if (typeName(member) != type)
      return op->emitOpError() << "has no C++ form: the members of the group must have the same "
                                  "extents, strides and layout";
    members += (members.empty() ? "" : ", ") + expr(member);
  }
  if (jumps_)
    return op->emitOpError() << "has no C++ form in a function with jumps between blocks; use "
                                "structured control flow (scf)";
  std::string tensors = newName("members"), handle = newName("group");
  out_.line(*type + " " + tensors + "[] = {" + members + "};");
  out_.line(formatv("comm::ParallelGroup<{0}> {1}{{{2}, {3}, {4}};", *type, handle, tensors,
                    group.size(), intAttr(op, "root", 0))
                .str());
  std::string name = StringRef(op->getName().getStringRef()).drop_front(9).upper(), text = handle;
  for (Value operand : ValueRange(operands).take_front(lead + staging))
    text += ", " + expr(operand);
  if (reduces)
    text += ", " + spellEnum(op->getAttr("reduceOp"));
  out_.line("comm::" + name + "(" + text + ");");
  return success();
}

//===----------------------------------------------------------------------===//
// All ops of this group
//===----------------------------------------------------------------------===//

LogicalResult FunctionEmitter::emitFifoOp(Operation *op, bool &knownOp) {
  knownOp = true;
  StringRef name = op->getName().getStringRef();

  if (auto reserve = dyn_cast<pto::ReserveBufferOp>(op)) {
    if (!reserve.getBase())
      return op->emitOpError() << "has no address yet: auto = true is placed at level1 and level2";
    names_[reserve.getResult()] = std::to_string(*reserve.getBase());
    return success();
  }
  if (auto import = dyn_cast<pto::ImportReservedBufferOp>(op)) {
    auto peer = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, import.getPeerFuncAttr());
    std::optional<int64_t> base;
    if (peer)
      peer.walk([&](pto::ReserveBufferOp reserve) {
        if (reserve.getName() == import.getName())
          base = reserve.getBase();
      });
    if (!base)
      return op->emitOpError() << "has no C++ form: the address of \"" << import.getName()
                               << "\" in '@" << import.getPeerFunc() << "' is not known";
    names_[import.getResult()] = std::to_string(*base);
    return success();
  }
  if (isa<pto::AicInitializePipeOp, pto::AivInitializePipeOp>(op))
    return emitInitPipe(op);
  if (auto local = dyn_cast<pto::InitializeL2LPipeOp>(op)) {
    int64_t direction = local.getDirMask();
    std::string own = expr(local.getLocalBuf());
    std::string peer = local.getPeerBuf() ? expr(local.getPeerBuf()) : std::string("0");
    return emitPipeObject(op, pipeHandles_[local.getResult()], local.getFlagBase().value_or(0),
                          direction, false, local.getSlotSize(), local.getSlotNum(),
                          local.getSlotNum(), local.getNosplit().value_or(false), "nullptr",
                          direction == 2 ? "0" : own, direction == 2 ? own : peer);
  }
  if (auto global = dyn_cast<pto::InitializeL2G2LPipeOp>(op)) {
    int64_t direction = global.getDirMask();
    auto text = [&](Value value) { return value ? expr(value) : std::string("0"); };
    std::string own = text(global.getLocalBuf()), peer = text(global.getPeerBuf());
    return emitPipeObject(op, pipeHandles_[global.getResult()], global.getFlagBase().value_or(0),
                          direction, true, global.getSlotSize(), global.getSlotNum(),
                          global.getLocalSlotNum().value_or(global.getSlotNum()),
                          global.getNosplit().value_or(false), expr(global.getGmBuf()),
                          direction == 2 ? "0" : own, direction == 2 ? own : peer);
  }
  int64_t split = intAttr(op, "split", 0);
  const Pipe &front = pipes_[intAttr(op, "id", 0)];
  if (isa<pto::TPushToAivOp, pto::TPushToAicOp>(op)) {
    std::string lane = op->getNumOperands() > 1 ? expr(op->getOperand(1)) : std::string();
    return emitTransfer(op, "TPUSH", op->getOperand(0), front, split, lane);
  }
  if (isa<pto::TPopFromAicOp, pto::TPopFromAivOp>(op)) {
    bool given = op->getNumOperands() == 2;
    if (failed(emitEntry(op, op->getResult(0), given ? op->getOperand(0) : Value(),
                         given ? op->getOperand(1) : Value())))
      return failure();
    return emitTransfer(op, "TPOP", op->getResult(0), front, split, "");
  }
  if (isa<pto::TFreeFromAicOp, pto::TFreeFromAivOp>(op)) {
    // A slot that was popped as a tensor is named.
    if (op->getNumOperands() && isa<pto::TensorViewType>(op->getOperand(0).getType()))
      return emitTransfer(op, "TFREE", op->getOperand(0), front, split, "");
    out_.line("TFREE<" + front.type + ", " + splitAxis(split) + ">(" + front.name + ");");
    return success();
  }
  if (name == "pto.talloc_to_aiv" || name == "pto.talloc_to_aic") {
    if (failed(emitEntry(op, op->getResult(0), {}, {})))
      return failure();
    return emitTransfer(op, "TALLOC", op->getResult(0), front, split, "");
  }
  if (name == "pto.declare_global")
    return emitEntry(op, op->getResult(0), {}, {});
  if (name == "pto.tpush" || name == "pto.tpop" || name == "pto.talloc") {
    return emitTransfer(op, name.drop_front(4).upper(), op->getOperand(0),
                        pipeHandles_[op->getOperand(1)], split, "");
  }
  if (name == "pto.tfree") {
    const Pipe &pipe = pipeHandles_[op->getOperand(0)];
    out_.line("TFREE<" + pipe.type + ", " + splitAxis(split) + ">(" + pipe.name + ");");
    return success();
  }
  if (name == "pto.set_quant_scalar") {
    out_.line("SET_QUANT_SCALAR<" + producedType(front.epilogue) + ">(" + expr(op->getOperand(0)) +
              ");");
    return success();
  }

  if (isa<pto::SyncSetOp, pto::SyncWaitOp>(op))
    return emitSignal(op, isa<pto::SyncSetOp>(op));
  if (isa<pto::BarrierOp, pto::BarrierSyncOp>(op)) {
    pto::PIPE pipe = isa<pto::BarrierOp>(op)
                         ? cast<pto::BarrierOp>(op).getPipe()
                         : pto::getPipeOfEvent(cast<pto::BarrierSyncOp>(op).getOpType());
    // The vector queue of A5 orders itself.
    if (module_.arch == pto::Arch::A3 || pipe != pto::PIPE::PIPE_V)
      out_.line("pipe_barrier(" + spellPipe(pipe) + ");");
    return success();
  }
  if (auto fence = dyn_cast<pto::FenceBarrierAllOp>(op)) {
    if (fence.getScope() == pto::FenceScope::LocalMemory) {
      out_.line("dsb(DSB_UB);");
      return success();
    }
    for (StringRef queue : {"PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX"})
      out_.line("pipe_barrier(" + queue + ");");
    out_.line(fence.getScope() == pto::FenceScope::All ? "dsb(DSB_ALL);" : "dsb(DSB_DDR);");
    return success();
  }
  auto pointerText = [&](Value value) {
    if (isa<pto::PtrType>(value.getType()))
      return expr(value);
    const View *view = viewOf(value);
    return view ? pointerOf(*view) : std::string("nullptr");
  };
  if (auto drop = dyn_cast<pto::CacheInvalidOp>(op)) {
    if (drop.getTarget())
      out_.line("dcci(" + pointerText(drop.getTarget()) + ", cache_line_t::SINGLE_CACHE_LINE);");
    else
      out_.line("dcci((__gm__ void *)0, cache_line_t::ENTIRE_DATA_CACHE);");
    return success();
  }
  if (auto all = dyn_cast<pto::SyncAllOp>(op)) {
    std::string cores = spellEnum(all.getCoreTypeAttr());
    if (all.getMode() == pto::SyncAllMode::Hard) {
      out_.line("SYNCALL<" + cores + ">();");
      return success();
    }
    out_.line("SYNCALL<" + spellEnum(all.getModeAttr()) + ", " + cores + ">(" +
              pointerText(all.getWorkspace()) +
              (all.getUsedCores() ? ", " + expr(all.getUsedCores()) : std::string()) + ");");
    return success();
  }

  if (name == "pto.comm.tbroadcast" || name == "pto.comm.tgather" || name == "pto.comm.tscatter" ||
      name == "pto.comm.treduce")
    return emitGroupCopy(op);
  if (auto session = dyn_cast<pto::CommBuildAsyncSessionOp>(op)) {
    object("comm::AsyncSession", define(session.getResult()), "");
    out_.line("comm::BuildAsyncSession<comm::DmaEngine::SDMA>(" + expr(session.getScratch()) +
              ", " + expr(session.getWorkspace()) + ", " + expr(session.getResult()) + ", " +
              std::to_string(session.getSyncId()) + ");");
    return success();
  }
  if (isa<pto::MakePrefetchAsyncContextOp>(op)) {
    std::string arguments;
    for (Value input : op->getOperands())
      arguments += (arguments.empty() ? "" : ", ") + expr(input);
    object("PrefetchAsyncContext", define(op->getResult(0)), arguments);
    return success();
  }
  if (isa<pto::GetPrefetchAsyncSessionOp>(op)) {
    names_[op->getResult(0)] = expr(op->getOperand(0)) + ".session";
    return success();
  }
  knownOp = false;
  return success();
}

} // namespace ptoas::cpp
