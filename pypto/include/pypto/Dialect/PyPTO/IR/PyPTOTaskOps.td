//===- PyPTOTaskOps.td - scopes, tasks, system operations -----------------===//
//
// Region ops capture outer values implicitly. The results of a scope are the names assigned
// inside and used after it, in the order of its pypto.yield; a task id follows as the last result
// where the op has one. Writes to global memory inside a scope need no result.
//
//===----------------------------------------------------------------------===//
#ifndef PYPTO_TASK_OPS_TD
#define PYPTO_TASK_OPS_TD

include "PyPTOTable.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

//===----------------------------------------------------------------------===//
// 11 Scopes
//===----------------------------------------------------------------------===//

def PyPTO_YieldOp : PyPTO_Op<"yield", [Pure, Terminator]> {
  let summary = "ends a scope and names its results";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

class PyPTO_Scope<string opMnemonic, list<Trait> traits = []>
    : PyPTO_Op<opMnemonic, !listconcat([SingleBlock], traits)> {
  let regions = (region SizedRegion<1>:$region);
  let family = "scope";
}

def PyPTO_InCoreOp : PyPTO_Scope<"incore", [AttrSizedOperandSegments]> {
  let summary = "pl.at(CORE_GROUP): the body is one kernel launch";
  let description = [{
    `split` is "NONE", "UP_DOWN" or "LEFT_RIGHT"; `name` is the name hint, "" if there is none.
  }];
  let arguments = (ins Variadic<AnyType>:$deps, Variadic<PyPTO_TensorType>:$no_dep_args, StrAttr:$name_hint,
      DefaultValuedAttr<StrAttr, "\"none\"">:$split, DefaultValuedAttr<I64Attr, "2">:$slot_num,
      DefaultValuedAttr<BoolAttr, "false">:$allow_early_resolve);
  let results = (outs Variadic<AnyType>:$outputs, PyPTO_TaskIdType:$task);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $region";
}
def PyPTO_SpmdOp : PyPTO_Scope<"spmd", [AttrSizedOperandSegments]> {
  let summary = "pl.spmd: the body is a kernel run by core_num blocks; block argument 0 is the block index";
  let description = [{
    The predicate, if any, is `predicate_tensor[predicate_indices] predicate_op predicate_target`.
    The body is either the kernel itself or exactly one pypto.call or pypto.incore (plus scalar arithmetic).
  }];
  let arguments = (ins Index:$core_num, Variadic<AnyType>:$deps, Variadic<PyPTO_TensorType>:$no_dep_args,
      Optional<PyPTO_TensorType>:$predicate_tensor, Variadic<Index>:$predicate_indices,
      StrAttr:$name_hint, DefaultValuedAttr<BoolAttr, "false">:$sync_start,
      DefaultValuedAttr<StrAttr, "\"none\"">:$split, DefaultValuedAttr<I64Attr, "2">:$slot_num,
      DefaultValuedAttr<BoolAttr, "false">:$allow_early_resolve,
      OptionalAttr<StrAttr>:$predicate_op, OptionalAttr<I64Attr>:$predicate_target);
  let results = (outs Variadic<AnyType>:$outputs, PyPTO_TaskIdType:$task);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $region";
}
def PyPTO_RuntimeScopeOp : PyPTO_Scope<"runtime_scope"> {
  let summary = "pl.scope / pl.manual_scope";
  let arguments = (ins DefaultValuedAttr<StrAttr, "\"auto\"">:$mode);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = "attr-dict `:` type($outputs) $region";
}
def PyPTO_ClusterOp : PyPTO_Scope<"cluster"> {
  let summary = "pl.cluster: the scopes inside run as one task";
  let arguments = (ins StrAttr:$name_hint);
  let results = (outs Variadic<AnyType>:$outputs, PyPTO_TaskIdType:$task);
  let assemblyFormat = "attr-dict `:` functional-type(operands, results) $region";
}
def PyPTO_HierarchyOp : PyPTO_Scope<"hierarchy"> {
  let summary = "pl.at of another level";
  let arguments = (ins Variadic<AnyType>:$deps, StrAttr:$level, DefaultValuedAttr<StrAttr, "\"\"">:$role, StrAttr:$name_hint);
  let results = (outs Variadic<AnyType>:$outputs, PyPTO_TaskIdType:$task);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $region";
}
def PyPTO_SplitAivOp : PyPTO_Scope<"split_aiv"> {
  let summary = "pl.split_aiv: the body runs once per vector lane; block argument 0 is the lane";
  let description = [{
    Further block arguments follow the `inits`: the state a lane starts with. Lane 1 starts with what lane 0
    yielded, the results are what lane 1 yielded.
  }];
  let arguments = (ins Variadic<AnyType>:$inits, DefaultValuedAttr<StrAttr, "\"none\"">:$mode);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $region";
}

//===----------------------------------------------------------------------===//
// 12 Tasks
//===----------------------------------------------------------------------===//

def PyPTO_CallOp : PyPTO_Op<"call", [AttrSizedOperandSegments]> {
  let summary = "launches a kernel (self.k(…), pl.submit, pl.spmd_submit, a jit dependency)";
  let description = [{
    `outputs` are the values the callee returns, in order; the task id is the last result. `no_dep` lists the
    positions of tensor arguments without dependency. Without `core_num` one block runs. An Out argument that the program left out
    is a pypto.create_tensor made by the importer. A call of an Orchestration function runs it in place.
  }];
  let arguments = (ins Variadic<AnyType>:$args, Optional<Index>:$core_num, Variadic<AnyType>:$deps,
      Optional<PyPTO_TensorType>:$predicate_tensor, Variadic<Index>:$predicate_indices,
      FlatSymbolRefAttr:$callee, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$no_dep,
      DefaultValuedAttr<BoolAttr, "false">:$sync_start, DefaultValuedAttr<BoolAttr, "false">:$allow_early_resolve,
      OptionalAttr<StrAttr>:$predicate_op, OptionalAttr<I64Attr>:$predicate_target);
  let results = (outs Variadic<AnyType>:$outputs, PyPTO_TaskIdType:$task);
  let assemblyFormat = Plain;
  let family = "call";
}
def PyPTO_TaskDummyOp : PyPTO_Op<"task_dummy"> {
  let summary = "a task that does nothing but wait";
  let arguments = (ins Variadic<AnyType>:$deps);
  let results = (outs PyPTO_TaskIdType:$task);
  let assemblyFormat = Plain;
  let family = "task";
  let signatures = [Sig<["system.task_dummy"], "=", [Kw<"deps", "deps", "">]>];
}
def PyPTO_TaskInvalidOp : PyPTO_Op<"task_invalid", [Pure]> {
  let summary = "no task";
  let results = (outs PyPTO_TaskIdType:$task);
  let assemblyFormat = Plain;
  let family = "task";
  let signatures = [Sig<["system.task_invalid"], "=", []>];
}

//===----------------------------------------------------------------------===//
// 15 System operations
//===----------------------------------------------------------------------===//

class IndexQuery<string n, list<string> names> : PyPTO_Op<n, [Pure]> {
  let results = (outs Index:$result);
  let assemblyFormat = Plain;
  let family = "query";
  let signatures = [Sig<names, "=", []>];
}
def PyPTO_GetBlockIdxOp : IndexQuery<"get_block_idx", ["get_block_idx", "tile.get_block_idx", "tensor.get_block_idx"]> { let summary = "index of this block"; }
def PyPTO_GetBlockNumOp : IndexQuery<"get_block_num", ["get_block_num", "tile.get_block_num", "tensor.get_block_num"]> { let summary = "number of blocks of the launch"; }
def PyPTO_GetSubblockIdxOp : IndexQuery<"get_subblock_idx", ["get_subblock_idx", "tile.get_subblock_idx", "tensor.get_subblock_idx"]> { let summary = "vector lane"; }
def PyPTO_AvailableClusterCountOp : IndexQuery<"available_cluster_count", ["system.available_cluster_count"]> { let summary = "clusters of the device"; }
def PyPTO_AvailableAivCountOp : IndexQuery<"available_aiv_count", ["system.available_aiv_count"]> { let summary = "vector cores of the device"; }

def PyPTO_SyncAllOp : PyPTO_Op<"syncall"> {
  let summary = "barrier of all blocks";
  let arguments = (ins Optional<PyPTO_Value>:$gm_workspace, DefaultValuedAttr<StrAttr, "\"mix\"">:$core_type,
      DefaultValuedAttr<StrAttr, "\"hard\"">:$mode, OptionalAttr<I64Attr>:$used_cores);
  let assemblyFormat = Plain;
  let family = "sync";
  let signatures = [Sig<["system.syncall"], "=", [Kw<"core_type", "str", "\"mix\"">, Kw<"mode", "str", "\"hard\"">,
      Kw<"gm_workspace", "value", "None">, Kw<"used_cores", "int", "None">]>];
}
def PyPTO_SyncSetOp : PyPTO_Op<"sync_set"> {
  let summary = "raises a cross-core event";
  let arguments = (ins Index:$event_id, StrAttr:$pipe, OptionalAttr<I64Attr>:$ffts_mode, OptionalAttr<StrAttr>:$core_type);
  let assemblyFormat = Plain;
  let family = "sync";
  let signatures = [Sig<["system.sync_set"], "=", [Param<"event_id", "index">, Kw<"pipe", "enum:PipeType", "">, Kw<"ffts_mode", "int", "None">,
      Kw<"core_type", "str", "None">]>];
}
def PyPTO_SyncWaitOp : PyPTO_Op<"sync_wait"> {
  let summary = "waits for a cross-core event";
  let arguments = (ins Index:$event_id, StrAttr:$pipe, OptionalAttr<StrAttr>:$core_type);
  let assemblyFormat = Plain;
  let family = "sync";
  let signatures = [Sig<["system.sync_wait"], "=", [Param<"event_id", "index">, Kw<"pipe", "enum:PipeType", "">, Kw<"core_type", "str", "None">]>];
}
def PyPTO_SetFftsOp : PyPTO_Op<"set_ffts"> {
  let summary = "memory of the cross-core events";
  let arguments = (ins PyPTO_TensorType:$workspace);
  let assemblyFormat = Plain;
  let family = "sync";
  let signatures = [Sig<["system.set_ffts"], "=", [V<"workspace">]>];
}
class PipeFlag<string n> : PyPTO_Op<n> {
  let summary = "intra-core pipe flag";
  let arguments = (ins StrAttr:$set_pipe, StrAttr:$wait_pipe, I64Attr:$event_id);
  let assemblyFormat = Plain;
  let family = "sync";
  let signatures = [Sig<["system." # n], "=", [Kw<"set_pipe", "enum:PipeType", "">, Kw<"wait_pipe", "enum:PipeType", "">, Kw<"event_id", "int", "">]>];
}
def PyPTO_SyncSrcOp : PipeFlag<"sync_src">;
def PyPTO_SyncDstOp : PipeFlag<"sync_dst">;
def PyPTO_BarrierOp : PyPTO_Op<"barrier"> {
  let summary = "pipe barrier or memory fence";
  let arguments = (ins StrAttr:$kind);
  let assemblyFormat = Plain;
  let family = "sync";
  let signatures = [Sig<["system.bar_v"], "=", [], ["kind=v"]>, Sig<["system.bar_m"], "=", [], ["kind=m"]>,
      Sig<["system.bar_all"], "=", [], ["kind=all"]>, Sig<["system.fence"], "=", [], ["kind=fence"]>];
}
def PyPTO_CacheInvalidOp : PyPTO_Op<"cacheinvalid", [AttrSizedOperandSegments]> {
  let summary = "drops lines of the scalar data cache";
  let arguments = (ins Optional<PyPTO_TensorType>:$tensor, Variadic<Index>:$offsets, OptionalAttr<DenseI64ArrayAttr>:$shapes);
  let assemblyFormat = Plain;
  let family = "sync";
  let signatures = [Sig<["system.cacheinvalid"], "=", []>,
      Sig<["system.cacheinvalid"], "=", [V<"tensor">, Param<"shapes", "const_shape">, Param<"offsets", "offsets">]>];
}

// Manual pipes between cube and vector functions.
def PyPTO_ReserveBufferOp : PyPTO_Op<"reserve_buffer"> {
  let summary = "names local memory of a pipe";
  let arguments = (ins StrAttr:$buffer, I64Attr:$size, DefaultValuedAttr<I64Attr, "-1">:$base);
  let results = (outs I32:$result);
  let assemblyFormat = Plain;
  let family = "pipe";
  let signatures = [Sig<["system.reserve_buffer", "reserve_buffer"], "=", [Kw<"name", "str", "", "buffer">, Kw<"size", "int", "">, Kw<"base", "int", "-1">]>];
}
def PyPTO_ImportPeerBufferOp : PyPTO_Op<"import_peer_buffer"> {
  let summary = "address of a peer's reserved memory";
  let arguments = (ins StrAttr:$buffer, StrAttr:$peer_func);
  let results = (outs I32:$result);
  let assemblyFormat = Plain;
  let family = "pipe";
  let signatures = [Sig<["system.import_peer_buffer", "import_peer_buffer"], "=", [Kw<"name", "str", "", "buffer">, Kw<"peer_func", "str", "">]>];
}
def PyPTO_InitializePipeOp : PyPTO_Op<"initialize_pipe"> {
  let summary = "opens a pipe; core is \"aic\" or \"aiv\"";
  let arguments = (ins PyPTO_Scalar:$c2v_consumer_buf, PyPTO_Scalar:$v2c_consumer_buf, StrAttr:$core, I64Attr:$dir_mask, I64Attr:$slot_size,
      OptionalAttr<I64Attr>:$slot_num, OptionalAttr<I64Attr>:$local_slot_num, OptionalAttr<I64Attr>:$id);
  let assemblyFormat = Plain;
  let family = "pipe";
  defvar params = [Param<"c2v_consumer_buf", "scalar", "0">, Param<"v2c_consumer_buf", "scalar", "0">, Kw<"dir_mask", "int", "">, Kw<"slot_size", "int", "">,
      Kw<"slot_num", "int", "None">, Kw<"local_slot_num", "int", "None">, Kw<"id", "int", "None">];
  let signatures = [Sig<["system.aic_initialize_pipe", "aic_initialize_pipe"], "=", params, ["core=aic"]>, Sig<["system.aiv_initialize_pipe", "aiv_initialize_pipe"], "=", params, ["core=aiv"]>];
}
def PyPTO_PushOp : PyPTO_Op<"push"> {
  let summary = "puts a tile into a pipe; to is \"aic\" or \"aiv\"";
  let arguments = (ins PyPTO_Value:$tile, StrAttr:$to, I64Attr:$split, OptionalAttr<I64Attr>:$lane_stride, OptionalAttr<I64Attr>:$id);
  let assemblyFormat = Plain;
  let family = "pipe";
  let signatures = [
    Sig<["system.tpush_to_aiv", "tpush_to_aiv"], "=", [V<"tile">, Kw<"split", "int", "">, Kw<"lane_stride", "int", "None">, Kw<"id", "int", "None">], ["to=aiv"]>,
    Sig<["system.tpush_to_aic", "tpush_to_aic"], "=", [V<"tile">, Kw<"split", "int", "">, Kw<"id", "int", "None">], ["to=aic"]>];
}
def PyPTO_PopOp : PyPTO_Op<"pop"> {
  let summary = "takes a tile from a pipe; from is \"aic\" or \"aiv\"";
  let arguments = (ins StrAttr:$from, DefaultValuedAttr<I64Attr, "0">:$split,
      OptionalAttr<I64Attr>:$lane_stride, OptionalAttr<I64Attr>:$id);
  let results = (outs PyPTO_TileType:$result);
  let assemblyFormat = Plain;
  let family = "pipe";
  let signatures = [
    Sig<["system.tpop_from_aic", "tpop_from_aic"], "=", [Kw<"shape", "const_shape", "">, Kw<"dtype", "dtype", "">, Kw<"split", "int", "0">, Kw<"lane_stride", "int", "None">,
        Kw<"id", "int", "None">], ["from=aic"]>,
    Sig<["system.tpop_from_aiv", "tpop_from_aiv"], "=", [Kw<"shape", "const_shape", "">, Kw<"dtype", "dtype", "">, Kw<"split", "int", "0">, Kw<"id", "int", "None">], ["from=aiv"]>];
}
def PyPTO_FreeOp : PyPTO_Op<"free"> {
  let summary = "returns the slot of a popped tile; to is \"aic\" or \"aiv\"";
  let arguments = (ins PyPTO_Value:$tile, StrAttr:$to, OptionalAttr<I64Attr>:$split, OptionalAttr<I64Attr>:$id);
  let assemblyFormat = Plain;
  let family = "pipe";
  defvar params = [V<"tile">, Kw<"split", "int", "None">, Kw<"id", "int", "None">];
  let signatures = [Sig<["system.tfree_to_aic", "tfree_to_aic"], "=", params, ["to=aic"]>, Sig<["system.tfree_to_aiv", "tfree_to_aiv"], "=", params, ["to=aiv"]>];
}

#endif // PYPTO_TASK_OPS_TD
