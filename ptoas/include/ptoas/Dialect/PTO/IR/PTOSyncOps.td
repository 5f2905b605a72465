//===- PTOSyncOps.td - flags, barriers, FIFOs, signals -----*- tablegen -*-===//
#ifndef PTOAS_DIALECT_PTO_IR_PTOSYNCOPS_TD
#define PTOAS_DIALECT_PTO_IR_PTOSYNCOPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "ptoas/Dialect/PTO/IR/PTOTileBase.td"

// Orders queues: nothing may move over it.
class PTO_OrderOp<string mnemonic, list<Trait> traits = []>
    : PTO_Op<mnemonic, !listconcat(traits, [MemoryEffects<[MemRead, MemWrite]>])>;

class PTO_FlagOp<string mnemonic> : PTO_OrderOp<mnemonic> {
  let arguments = (ins PTO_PIPEAttr:$src_pipe, PTO_PIPEAttr:$dst_pipe, PTO_EVENTAttr:$event_id);
  let assemblyFormat = [{
    `[` custom<Pipe>($src_pipe) `,` custom<Pipe>($dst_pipe) `,` custom<Event>($event_id) `]` attr-dict
  }];
}
def PTO_SetFlagOp : PTO_FlagOp<"set_flag"> { let summary = "Queue src signals an event to queue dst."; }
def PTO_WaitFlagOp : PTO_FlagOp<"wait_flag"> { let summary = "Queue dst waits for an event of queue src."; }
class PTO_FlagDynOp<string mnemonic> : PTO_OrderOp<mnemonic> {
  let arguments = (ins PTO_PIPEAttr:$src_pipe, PTO_PIPEAttr:$dst_pipe, Index:$event_id);
  let assemblyFormat = "`[` custom<Pipe>($src_pipe) `,` custom<Pipe>($dst_pipe) `,` $event_id `]` attr-dict";
  let hasVerifier = 1;
}
def PTO_SetFlagDynOp : PTO_FlagDynOp<"set_flag_dyn"> {
  let constraints = ["event ids 0 to 7"];
  let summary = "set_flag with a run-time event id.";
}
def PTO_WaitFlagDynOp : PTO_FlagDynOp<"wait_flag_dyn"> {
  let constraints = ["event ids 0 to 7"];
  let summary = "wait_flag with a run-time event id.";
}

def PTO_DeclareEventIdArrayOp : PTO_Op<"declare_eventid_array"> {
  let summary = "Storage for run-time event ids.";
  let results = (outs Res<PTO_EventIdArrayType, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `->` qualified(type($result))";
}
def PTO_EventIdArrayGetOp : PTO_Op<"eventid_array_get"> {
  let summary = "Read an event id.";
  let equation = "result = array[index]";
  let arguments = (ins Arg<PTO_EventIdArrayType, "", [MemRead]>:$array, Index:$index);
  let results = (outs Index:$result);
  let assemblyFormat = "$array `[` $index `]` attr-dict `:` qualified(type($array))";
  let hasVerifier = 1;
}
def PTO_EventIdArraySetOp : PTO_Op<"eventid_array_set"> {
  let summary = "Write an event id.";
  let equation = "array[index] = value";
  let arguments = (ins Arg<PTO_EventIdArrayType, "", [MemWrite]>:$array, Index:$index, Index:$value);
  let assemblyFormat = "$array `[` $index `]` `,` $value attr-dict `:` qualified(type($array))";
  let hasVerifier = 1;
}
class PTO_EventOp<string mnemonic> : PTO_OrderOp<mnemonic> {
  let arguments = (ins PTO_PipeEventTypeAttr:$src_op, PTO_PipeEventTypeAttr:$dst_op, PTO_EVENTAttr:$event_id);
  let assemblyFormat = [{
    `[` custom<PipeEvent>($src_op) `,` custom<PipeEvent>($dst_op) `,` custom<Event>($event_id) `]` attr-dict
  }];
}
def PTO_RecordEventOp : PTO_EventOp<"record_event"> { let summary = "set_flag named by kinds of instruction."; }
def PTO_WaitEventOp : PTO_EventOp<"wait_event"> { let summary = "wait_flag named by kinds of instruction."; }
def PTO_BarrierOp : PTO_OrderOp<"barrier"> {
  let summary = "Everything issued to the queue before is done before anything after.";
  let arguments = (ins PTO_PIPEAttr:$pipe);
  let assemblyFormat = "custom<Pipe>($pipe) attr-dict";
}
def PTO_BarrierSyncOp : PTO_OrderOp<"barrier_sync"> {
  let summary = "Barrier of the queue that runs a kind of instruction.";
  let arguments = (ins PTO_PipeEventTypeAttr:$op_type);
  let assemblyFormat = "`[` custom<PipeEvent>($op_type) `]` attr-dict";
}
class PTO_BufTokenOp<string mnemonic> : PTO_OrderOp<mnemonic> {
  let arguments = (ins PTO_PIPEAttr:$pipe, PTO_IntAttr:$buf_id, DefaultValuedAttr<PTO_IntAttr, "0">:$mode);
  let assemblyFormat = "custom<BufToken>($pipe, $buf_id, $mode) attr-dict";
  let hasVerifier = 1;
}
def PTO_GetBufOp : PTO_BufTokenOp<"get_buf"> {
  let constraints = ["buffer ids 0 to 31, mode not negative",
                     "tokens are A5's: a warning on A2/A3"];
  let summary = "Take the token of a buffer.";
}
def PTO_RlsBufOp : PTO_BufTokenOp<"rls_buf"> {
  let constraints = ["buffer ids 0 to 31, mode not negative",
                     "tokens are A5's: a warning on A2/A3"];
  let summary = "Give the token of a buffer back.";
}
class PTO_BufTokenDynOp<string mnemonic> : PTO_OrderOp<mnemonic> {
  let arguments = (ins PTO_PIPEAttr:$pipe, Index:$buf_id, DefaultValuedAttr<PTO_IntAttr, "0">:$mode);
  let assemblyFormat = "custom<BufTokenDyn>($pipe, $buf_id, $mode) attr-dict";
  let hasVerifier = 1;
}
def PTO_GetBufDynOp : PTO_BufTokenDynOp<"get_buf_dyn"> {
  let constraints = ["buffer ids 0 to 31, mode not negative",
                     "tokens are A5's: a warning on A2/A3"];
  let summary = "get_buf with a run-time buffer id.";
}
def PTO_RlsBufDynOp : PTO_BufTokenDynOp<"rls_buf_dyn"> {
  let constraints = ["buffer ids 0 to 31, mode not negative",
                     "tokens are A5's: a warning on A2/A3"];
  let summary = "rls_buf with a run-time buffer id.";
}
def PTO_MemBarOp : PTO_OrderOp<"mem_bar"> {
  let summary = "Order memory accesses of one kind before those of another (A5).";
  let arguments = (ins PTO_MemBarAttr:$kind);
  let assemblyFormat = "custom<MemBar>($kind) attr-dict";
  let hasVerifier = 1;
}

def PTO_SyncSetOp : PTO_OrderOp<"sync.set"> {
  let constraints = ["an event id, not negative; ffts_mode is 0, 1 or 2",
                     "pipes FIX and MTE3 (A5)",
                     "with set_ffts in the same function (A2/A3)"];
  let summary = "Signal the other core of the cluster.";
  let arguments = (ins PTO_PIPEAttr:$pipe, OptionalAttr<PTO_IntAttr>:$event_id, Optional<Index>:$event_id_dyn,
                       OptionalAttr<PTO_IntAttr>:$ffts_mode);
  let assemblyFormat = "custom<Pipe>($pipe) `,` custom<EventNumber>($event_id, $event_id_dyn) attr-dict";
  let hasVerifier = 1;
}
def PTO_SyncWaitOp : PTO_OrderOp<"sync.wait"> {
  let constraints = ["an event id, not negative; ffts_mode is 0, 1 or 2",
                     "pipes FIX, MTE1, MTE2, MTE3 and V (A5)"];
  let summary = "Wait for a signal of the other core of the cluster.";
  let arguments = (ins PTO_PIPEAttr:$pipe, OptionalAttr<PTO_IntAttr>:$event_id, Optional<Index>:$event_id_dyn,
                       OptionalAttr<PTO_IntAttr>:$ffts_mode);
  let assemblyFormat = "custom<Pipe>($pipe) `,` custom<EventNumber>($event_id, $event_id_dyn) attr-dict";
  let hasVerifier = 1;
}
def PTO_SetFftsOp : PTO_OrderOp<"set_ffts"> {
  let constraints = ["the base points to 64-bit integers"];
  let summary = "Base address of the cross-core signals.";
  let hasVerifier = 1;
  let arguments = (ins PTO_PtrType:$base);
  let assemblyFormat = "$base attr-dict `:` qualified(type($base))";
}
class PTO_CrossOp<string mnemonic> : PTO_OrderOp<mnemonic> {
  let arguments = (ins PTO_PIPEAttr:$pipe, OptionalAttr<PTO_IntAttr>:$event_id, Optional<Index>:$event_id_dyn);
  let assemblyFormat = "custom<Pipe>($pipe) `,` custom<EventNumber>($event_id, $event_id_dyn) attr-dict";
  let hasVerifier = 1;
  let extraClassDefinition = "::llvm::LogicalResult $cppClass::verify() { return verifyCrossSignal(*this); }";
}
def PTO_SetCrossBlockOp : PTO_CrossOp<"set_cross_block"> {
  let constraints = ["event ids 0 to 31"];
  let summary = "Signal another block.";
}
def PTO_WaitCrossBlockOp : PTO_CrossOp<"wait_cross_block"> {
  let constraints = ["event ids 0 to 31"];
  let summary = "Wait for another block.";
}
def PTO_SetIntraBlockOp : PTO_CrossOp<"set_intra_block"> {
  let constraints = ["event ids 0 to 31"];
  let summary = "Signal inside a block.";
}
def PTO_WaitIntraBlockOp : PTO_CrossOp<"wait_intra_block"> {
  let constraints = ["event ids 0 to 31"];
  let summary = "Wait inside a block.";
}

class PTO_SectionOp<string mnemonic> : PTO_Op<mnemonic, [NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
}
def PTO_SectionCubeOp : PTO_SectionOp<"section.cube"> {
  let constraints = ["not inside another section, nor in a function of the other kernel kind"];
  let summary = "Code of the cube core only.";
}
def PTO_SectionVectorOp : PTO_SectionOp<"section.vector"> {
  let constraints = ["not inside another section, nor in a function of the other kernel kind"];
  let summary = "Code of the vector cores only.";
}
def PTO_SectionSimtOp : PTO_Op<"section.simt", [NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let constraints = ["three numbers of threads, each 1 to 2048",
                     "not inside section.simt or section.cube, nor in a cube function"];
  let summary = "Code that x * y * z threads of the vector core run (A5).";
  let arguments = (ins Variadic<Index>:$dims, DenseI64ArrayAttr:$static_dims);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    custom<SimtDims>($dims, $static_dims) attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}
def PTO_FusionRegionOp
    : PTO_Op<"fusion_region", [SingleBlockImplicitTerminator<"::mlir::pto::YieldOp">, RecursiveMemoryEffects]> {
  let summary = "Instructions that a target may run as one; the same as its body.";
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict-with-keyword $body (`->` qualified(type($results))^)?";
  let hasVerifier = 1;
}
def PTO_YieldOp : PTO_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"::mlir::pto::FusionRegionOp">]> {
  let summary = "End of a fusion_region, with its results.";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` qualified(type($values)))?";
  let builders = [OpBuilder<(ins), [{ /* no results */ }]>];
}

def PTO_SyncAllOp : PTO_OrderOp<"syncall", [AttrSizedOperandSegments]> {
  let constraints = ["mode hard takes no workspace; soft needs one of i32 with at least 16 elements"];
  let summary = "All cores meet; the soft mode does so through a workspace in global memory.";
  let arguments = (ins Optional<AnyTypeOf<[PTO_PtrType, PTO_TensorViewType, PTO_PartitionTensorViewType]>>:$workspace,
                       Optional<AnySignlessInteger>:$usedCores,
                       PTO_SyncAllModeAttr:$mode, PTO_SyncCoreTypeAttr:$core_type);
  let assemblyFormat = [{
    `(` ($workspace^ (`,` $usedCores^)? `:` qualified(type($workspace)) (`,` qualified(type($usedCores))^)?)? `)`
    `mode` `=` qualified($mode) `,` `core_type` `=` qualified($core_type) attr-dict
  }];
  let hasVerifier = 1;
}
def PTO_FenceBarrierAllOp : PTO_OrderOp<"fence.barrier_all"> {
  let summary = "All transfers are visible before anything after.";
  let arguments = (ins PTO_FenceScopeAttr:$scope);
  let assemblyFormat = "qualified($scope) attr-dict";
}
def PTO_CacheInvalidOp : PTO_OrderOp<"cmo.cacheinvalid"> {
  let constraints = ["global memory (gm) only"];
  let summary = "Drop cached global memory: all of it, or the line of a view.";
  let arguments = (ins Optional<AnyTypeOf<[PTO_PtrType, PTO_TensorViewType, PTO_PartitionTensorViewType]>>:$target,
                       OptionalAttr<PTO_AddressSpaceAttr>:$space);
  let assemblyFormat = [{
    (`all` qualified($space)^):($target `single_cache_line` `:` qualified(type($target)))? attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Cross-core FIFOs
//===----------------------------------------------------------------------===//

def PTO_ReserveBufferOp : PTO_OrderOp<"reserve_buffer"> {
  let constraints = ["size is above 0, location vec or mat",
                     "base exactly with auto = false, which is possible at level3 only; the buffer ends inside its memory",
                     "names are unique in a function"];
  let summary = "Local bytes that the peer core fills through a FIFO.";
  let arguments = (ins StrAttr:$name, PTO_IntAttr:$size, PTO_AddressSpaceAttr:$location, BoolAttr:$auto_,
                       OptionalAttr<PTO_IntAttr>:$base);
  let results = (outs I32:$result);
  // By hand because `auto` cannot name a C++ member.
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def PTO_ImportReservedBufferOp : PTO_OrderOp<"import_reserved_buffer", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let constraints = ["the peer function exists and reserves a buffer of that name (a declaration may reserve anything)"];
  let summary = "The buffer that the peer function reserved under a name.";
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$peer_func);
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `->` qualified(type($result))";
}
class PTO_InitPipeOp<string mnemonic> : PTO_OrderOp<mnemonic, [AttrSizedOperandSegments]> {
  let constraints = [!if(!eq(mnemonic, "aic_initialize_pipe"), "in cube functions", "in vector functions") # ", and those without a kernel kind; each id once",
                     "dir_mask is 1 (cube to vector), 2 (vector to cube) or 3 (both)",
                     "slot_size, in bytes, holds a whole tile of the sender",
                     "slot_num is above 0 (absent: 8, or 4 each way), local_slot_num between 1 and slot_num",
                     "acc_push_epilogue needs dir_mask = 1 and nosplit = true",
                     "on A2/A3 slots lie in global memory: gm_slot_buffer or gm_slot_tensor is needed",
                     "the two ends name the same buffer (the receiver reserves it, the sender imports it), and agree on "
                     "dir_mask, slot_size, slot_num and nosplit",
                     "that buffer lies in vec for cube to vector, in mat for vector to cube; a warning where it does not hold "
                     "local_slot_num slots (absent: slot_num, or one where slots lie in global memory; of split slots a "
                     "vector core receives half)"];
  let arguments = (ins DefaultValuedAttr<PTO_IntAttr, "0">:$id, PTO_IntAttr:$dir_mask, PTO_IntAttr:$slot_size,
                       OptionalAttr<PTO_IntAttr>:$slot_num, OptionalAttr<PTO_IntAttr>:$local_slot_num,
                       OptionalAttr<BoolAttr>:$nosplit, OptionalAttr<AnyAttr>:$acc_push_epilogue,
                       Optional<PTO_PtrType>:$gm_slot_buffer, Optional<PTO_AnyView>:$gm_slot_tensor,
                       Optional<I32>:$c2v_consumer_buf, Optional<I32>:$v2c_consumer_buf);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &result) {
      return parseInitPipe(parser, result);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) { printInitPipe(printer, *this); }
    ::llvm::LogicalResult $cppClass::verify() { return verifyInitPipe(*this); }
  }];
}
def PTO_AicInitializePipeOp : PTO_InitPipeOp<"aic_initialize_pipe"> { let summary = "The cube core joins a FIFO."; }
def PTO_AivInitializePipeOp : PTO_InitPipeOp<"aiv_initialize_pipe"> { let summary = "The vector core joins a FIFO."; }

// A FIFO carries tiles, or windows of its slots in global memory (declare_global, talloc).
defvar FifoEntry = AnyTypeOf<[PTO_TileBufType, PTO_TensorViewType, PTO_PartitionTensorViewType],
                             "tile, or a view of a FIFO slot">;
class PTO_PipeUseOp<string mnemonic, list<Trait> traits = []>
    : PTO_OrderOp<mnemonic, !listconcat(traits, [DeclareOpInterfaceMethods<PTO_PipeOpInterface>])> {
  defvar toAiv = !or(!ne(!find(mnemonic, "to_aiv"), -1), !ne(!find(mnemonic, "from_aic"), -1));
  defvar onCube = !or(!ne(!find(mnemonic, "to_aiv"), -1), !ne(!find(mnemonic, "from_aiv"), -1));
  defvar push = !eq(!find(mnemonic, "tpush"), 0);
  defvar pop = !eq(!find(mnemonic, "tpop"), 0);
  defvar free = !eq(!find(mnemonic, "tfree"), 0);
  let constraints = !listconcat(
      [!if(onCube, "in cube functions", "in vector functions") # ", and those without a kernel kind",
       "the pipe of this id is initialized before, with dir_mask = " # !if(toAiv, "1", "2") # " or 3",
       "split is 0 (none), 1 (rows), 2 (columns), 3 or 4 (the same of odd extents); of one pipe, at both of its ends, all "
       "uses split or none does"],
      !if(push, ["a tile lies in acc or vec, and fits slot_size"], []<string>),
      !if(pop, ["valid extents are given both or not at all; then the type leaves both open (valid=?x?)",
                "a tile fits slot_size; with split that of a vector core has half of the sender's rows or columns",
                "each slot is given back once (tfree); a function that never does gets a warning"], []<string>),
      !if(free, ["one for each pop"], []<string>));
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() { return verifyPipeUse(*this); }
    ::mlir::pto::PIPE $cppClass::getPipe() { return getPipeUsePipe(*this); }
  }];
}
class PTO_PushOp<string mnemonic> : PTO_PipeUseOp<mnemonic> {
  let arguments = (ins Arg<FifoEntry, "", [MemRead]>:$tile, DefaultValuedAttr<PTO_IntAttr, "0">:$id, PTO_IntAttr:$split,
                       Optional<AnySignlessIntegerOrIndex>:$aiv_subblockid);
  let assemblyFormat = [{
    `(` $tile `:` qualified(type($tile)) `)` custom<PipeUse>($id, $split) attr-dict (`aiv_subblockid` `(` $aiv_subblockid^ `:` qualified(type($aiv_subblockid)) `)`)?
  }];
}
def PTO_TPushToAivOp : PTO_PushOp<"tpush_to_aiv"> { let summary = "Send a tile from the cube core to the vector cores."; }
def PTO_TPushToAicOp : PTO_PushOp<"tpush_to_aic"> { let summary = "Send a tile from a vector core to the cube core."; }
class PTO_PopOp<string mnemonic> : PTO_PipeUseOp<mnemonic, [AttrSizedOperandSegments]> {
  let arguments = (ins Optional<Index>:$validRow, Optional<Index>:$validCol,
                       DefaultValuedAttr<PTO_IntAttr, "0">:$id, PTO_IntAttr:$split);
  let results = (outs Res<FifoEntry, "", [MemAlloc, MemWrite]>:$result);
  let assemblyFormat = [{
    (`(` $validRow^ `,` $validCol `)`)? custom<PipeUse>($id, $split) attr-dict `->` qualified(type($result))
  }];
}
def PTO_TPopFromAicOp : PTO_PopOp<"tpop_from_aic"> { let summary = "Receive a tile from the cube core."; }
def PTO_TPopFromAivOp : PTO_PopOp<"tpop_from_aiv"> { let summary = "Receive a tile from a vector core."; }
class PTO_FreeOp<string mnemonic> : PTO_PipeUseOp<mnemonic> {
  let arguments = (ins Optional<FifoEntry>:$entry, DefaultValuedAttr<PTO_IntAttr, "0">:$id, PTO_IntAttr:$split);
  let assemblyFormat = [{
    (`(` $entry^ `:` qualified(type($entry)) `)`)? custom<PipeUse>($id, $split) attr-dict
  }];
}
def PTO_TFreeFromAicOp : PTO_FreeOp<"tfree_from_aic"> { let summary = "Give the slot of the last popped tile back."; }
def PTO_TFreeFromAivOp : PTO_FreeOp<"tfree_from_aiv"> { let summary = "Give the slot of the last popped tile back."; }
class PTO_FrontAllocOp<string mnemonic> : PTO_PipeUseOp<mnemonic> {
  let arguments = (ins DefaultValuedAttr<PTO_IntAttr, "0">:$id, PTO_IntAttr:$split);
  let results = (outs Res<PTO_TensorViewType, "", [MemAlloc, MemWrite]>:$result);
  let assemblyFormat = "custom<PipeUse>($id, $split) attr-dict `->` qualified(type($result))";
}
def PTO_TAllocToAivOp : PTO_FrontAllocOp<"talloc_to_aiv"> {
  let summary = "The next free slot of a cube-to-vector FIFO, as a tensor to write; a push sends it.";
}
def PTO_TAllocToAicOp : PTO_FrontAllocOp<"talloc_to_aic"> {
  let summary = "The next free slot of a vector-to-cube FIFO, as a tensor to write; a push sends it.";
}
def PTO_DeclareGlobalOp : PTO_Op<"declare_global"> {
  let summary = "A tensor handle without storage; talloc or tpop binds it to a slot.";
  let results = (outs Res<PTO_TensorViewType, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `->` qualified(type($result))";
}

// What the fixed pipe does to an accumulator on its way out; read by pushes with an epilogue.
def PTO_SetQuantScalarOp : PTO_OrderOp<"set_quant_scalar", [DeclareOpInterfaceMethods<PTO_PipeOpInterface>]> {
  let constraints = ["the scale is f32, or the i64 word of the fixed pipe"];
  let summary = "Scale of the pushes through a pipe.";
  let arguments = (ins PTO_Scalar:$scale, DefaultValuedAttr<PTO_IntAttr, "0">:$id);
  let assemblyFormat = "`(` $scale `:` qualified(type($scale)) `)` attr-dict";
  let extraClassDefinition = "::mlir::pto::PIPE $cppClass::getPipe() { return PIPE::PIPE_S; }";
  let hasVerifier = 1;
}
def PTO_SetQuantVectorOp : PTO_OrderOp<"set_quant_vector", [DeclareOpInterfaceMethods<PTO_PipeOpInterface>]> {
  let constraints = ["the scales lie in scaling"];
  let summary = "Scales, one per column, of the pushes through a pipe.";
  let arguments = (ins Arg<PTO_TileBufType, "", [MemRead]>:$scales, DefaultValuedAttr<PTO_IntAttr, "0">:$id);
  let assemblyFormat = "`(` $scales `:` qualified(type($scales)) `)` attr-dict";
  let extraClassDefinition = "::mlir::pto::PIPE $cppClass::getPipe() { return PIPE::PIPE_FIX; }";
  let hasVerifier = 1;
}

class PTO_InternalPipeOp<string mnemonic, list<Trait> traits = []> : PTO_OrderOp<mnemonic, traits>;
def PTO_InitializeL2LPipeOp : PTO_InternalPipeOp<"initialize_l2l_pipe"> {
  let constraints = ["dir_mask is 1, 2 or 3",
                     "slot_size is above 0, slot_num 4 or 8",
                     "a peer buffer exactly with dir_mask = 3"];
  let summary = "A FIFO from local memory to local memory (A5).";
  let arguments = (ins PTO_IntAttr:$dir_mask, PTO_IntAttr:$slot_size, PTO_IntAttr:$slot_num, OptionalAttr<PTO_IntAttr>:$flag_base,
                       OptionalAttr<BoolAttr>:$nosplit, I32:$local_buf, Optional<I32>:$peer_buf);
  let results = (outs PTO_PipeType:$result);
  let assemblyFormat = [{
    attr-dict `(` $local_buf `:` qualified(type($local_buf)) (`,` $peer_buf^ `:` qualified(type($peer_buf)))? `)` `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}
def PTO_InitializeL2G2LPipeOp : PTO_InternalPipeOp<"initialize_l2g2l_pipe", [AttrSizedOperandSegments]> {
  let constraints = ["dir_mask is 1, 2 or 3",
                     "slot_size and slot_num are above 0, local_slot_num at most slot_num"];
  let summary = "A FIFO through global memory.";
  let arguments = (ins PTO_IntAttr:$dir_mask, PTO_IntAttr:$slot_size, PTO_IntAttr:$slot_num, OptionalAttr<PTO_IntAttr>:$local_slot_num,
                       OptionalAttr<PTO_IntAttr>:$flag_base, OptionalAttr<BoolAttr>:$nosplit,
                       PTO_PtrType:$gm_buf, Optional<I32>:$local_buf, Optional<I32>:$peer_buf);
  let results = (outs PTO_PipeType:$result);
  let assemblyFormat = [{
    attr-dict `(` $gm_buf `:` qualified(type($gm_buf)) (`,` $local_buf^ `:` qualified(type($local_buf)))?
    (`,` `peer` $peer_buf^ `:` qualified(type($peer_buf)))? `)` `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}
def PTO_TPushOp : PTO_InternalPipeOp<"tpush", [DeclareOpInterfaceMethods<PTO_PipeOpInterface>]> {
  let constraints = ["a tile lies in acc or vec, and fits slot_size",
                     "split is 0 (none), 1 (rows), 2 (columns), 3 or 4 (the same of odd extents)"];
  let summary = "Send a tile through a FIFO.";
  let arguments = (ins Arg<FifoEntry, "", [MemRead]>:$tile, PTO_PipeType:$pipe_handle, PTO_IntAttr:$split);
  let assemblyFormat = "`(` $tile `,` $pipe_handle `:` qualified(type($tile)) `,` qualified(type($pipe_handle)) `)` attr-dict";
  let hasVerifier = 1;
}
def PTO_TAllocOp : PTO_InternalPipeOp<"talloc", [DeclareOpInterfaceMethods<PTO_PipeOpInterface>]> {
  let constraints = ["split is 0 (none), 1 (rows), 2 (columns), 3 or 4 (the same of odd extents)"];
  let summary = "Bind a tensor handle to the next free slot of a FIFO.";
  let arguments = (ins Arg<PTO_TensorViewType, "", [MemWrite]>:$entry, PTO_PipeType:$pipe_handle, PTO_IntAttr:$split);
  let assemblyFormat = "`(` $entry `,` $pipe_handle `:` qualified(type($entry)) `,` qualified(type($pipe_handle)) `)` attr-dict";
  let hasVerifier = 1;
}
def PTO_TPopOp : PTO_InternalPipeOp<"tpop", [DeclareOpInterfaceMethods<PTO_PipeOpInterface>]> {
  let constraints = ["split is 0 (none), 1 (rows), 2 (columns), 3 or 4 (the same of odd extents)"];
  let summary = "Receive a tile from a FIFO.";
  let hasVerifier = 1;
  let arguments = (ins Arg<FifoEntry, "", [MemWrite]>:$tile, PTO_PipeType:$pipe_handle, PTO_IntAttr:$split);
  let assemblyFormat = "`(` $tile `,` $pipe_handle `:` qualified(type($tile)) `,` qualified(type($pipe_handle)) `)` attr-dict";
}
def PTO_TFreeOp : PTO_InternalPipeOp<"tfree", [DeclareOpInterfaceMethods<PTO_PipeOpInterface>]> {
  let constraints = ["split is 0 (none), 1 (rows), 2 (columns), 3 or 4 (the same of odd extents)"];
  let summary = "Give the slot of the last popped tile back.";
  let hasVerifier = 1;
  let arguments = (ins PTO_PipeType:$pipe_handle, PTO_IntAttr:$split);
  let assemblyFormat = "`(` $pipe_handle `:` qualified(type($pipe_handle)) `)` attr-dict";
}

#endif // PTOAS_DIALECT_PTO_IR_PTOSYNCOPS_TD
