//===- PTOCommOps.td - copies and signals between devices --*- tablegen -*-===//
//
// The scalar unit issues these and waits for the copies that they make through their
// staging tiles, so they count as instructions of its queue. Asynchronous copies are
// only started; the event says when they are done.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_DIALECT_PTO_IR_PTOCOMMOPS_TD
#define PTOAS_DIALECT_PTO_IR_PTOCOMMOPS_TD

include "ptoas/Dialect/PTO/IR/PTOTileBase.td"

class PTO_CommOp<string mnemonic, list<Trait> traits = []> : PTO_ScalarUnitOp<"comm." # mnemonic, traits> {
  let hasVerifier = 1;
}
defvar ReadView = Arg<PTO_AnyView, "", [MemRead]>;
defvar WriteView = Arg<PTO_AnyView, "", [MemWrite]>;
defvar RWView = Arg<PTO_AnyView, "", [MemRead, MemWrite]>;
defvar RWTile = Arg<PTO_TileBufType, "", [MemRead, MemWrite]>;
defvar OptRWTile = Arg<Optional<PTO_TileBufType>, "", [MemRead, MemWrite]>;

def PTO_CommTNotifyOp : PTO_CommOp<"tnotify"> {
  let constraints = ["the signal and the value are i32"];
  let summary = "Write or add to a signal of another device.";
  let equation = "signal += value, or signal = value";
  let arguments = (ins RWView:$signal, AnySignlessInteger:$value, PTO_NotifyOpAttr:$notifyOp);
  let assemblyFormat = "`(` $signal `,` $value `:` qualified(type($signal)) `,` qualified(type($value)) `)` attr-dict";
}
def PTO_CommTWaitOp : PTO_CommOp<"twait"> {
  let constraints = ["the signal and the value are i32"];
  let summary = "Wait until a signal compares true.";
  let equation = "returns when signal cmp value";
  let arguments = (ins RWView:$signal, AnySignlessInteger:$value, PTO_WaitCmpAttr:$cmp);
  let assemblyFormat = "`(` $signal `,` $value `:` qualified(type($signal)) `,` qualified(type($value)) `)` attr-dict";
}
def PTO_CommTTestOp : PTO_CommOp<"ttest"> {
  let constraints = ["the signal and the value are i32"];
  let summary = "Whether a signal compares true.";
  let equation = "result = signal cmp value";
  let arguments = (ins RWView:$signal, AnySignlessInteger:$value, PTO_WaitCmpAttr:$cmp);
  let results = (outs I1:$result);
  let assemblyFormat = "`(` $signal `,` $value `:` qualified(type($signal)) `,` qualified(type($value)) `)` attr-dict `->` qualified(type($result))";
}
class PTO_CommCopyOp<string mnemonic> : PTO_CommOp<mnemonic> {
  let arguments = (ins WriteView:$dst, ReadView:$src, RWTile:$ping, OptRWTile:$pong,
                       DefaultValuedAttr<PTO_AtomicTypeAttr, "::mlir::pto::AtomicType::AtomicNone">:$atomicType);
  let assemblyFormat = [{
    `(` $dst `,` $src `,` `buf` `(` $ping (`,` $pong^)? `)` `:` qualified(type($dst)) `,` qualified(type($src)) `,` qualified(type($ping))
    (`,` qualified(type($pong))^)? `)` attr-dict
  }];
}
def PTO_CommTPutOp : PTO_CommCopyOp<"tput"> {
  let constraints = ["the views have the same element type and shape",
                     "staging tiles lie in vec, hold the same element type, and have one type"];
  let summary = "Copy to another device through a staging tile.";
  let equation = "dst = src (dst += src with atomic_add)";
}
def PTO_CommTGetOp : PTO_CommCopyOp<"tget"> {
  let constraints = ["the views have the same element type and shape",
                     "staging tiles lie in vec, hold the same element type, and have one type"];
  let summary = "Copy from another device through a staging tile.";
  let equation = "dst = src (dst += src with atomic_add)";
}

// `(%src, recv(%ping, %pong), group(%a, %b) : !P, !V, !V, !P, !P) {root = 0 : i32}`: one side of the copy
// is a view of this device, the other side one view per device of the group.
class PTO_CommGroupOp<string mnemonic, dag lead, dag group, dag attrs = (ins)>
    : PTO_CommOp<mnemonic, [AttrSizedOperandSegments]> {
  let arguments = !con(lead, (ins RWTile:$ping, OptRWTile:$pong), group, (ins PTO_IntAttr:$root), attrs);
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = [{
    ::mlir::pto::PIPE $cppClass::getPipe() { return PIPE::PIPE_S; }
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &result) {
      return parseCommGroup(parser, result, }] # !size(lead) # [{);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) { printCommGroup(printer, *this); }
    ::llvm::LogicalResult $cppClass::verify() { return verifyCommGroup(*this); }
  }];
}
def PTO_CommTBroadcastOp
    : PTO_CommGroupOp<"tbroadcast", (ins ReadView:$src), (ins Arg<Variadic<PTO_AnyView>, "", [MemWrite]>:$group)> {
  let constraints = ["the tensor and those of the group have the same element type and shape",
                     "staging tiles lie in vec, hold the same element type, and have one type",
                     "root is one of the devices, counted from 0"];
  let summary = "Copy from the root to every device of the group.";
  let equation = "group_k = src for all k";
}
def PTO_CommTGatherOp
    : PTO_CommGroupOp<"tgather", (ins WriteView:$dst), (ins Arg<Variadic<PTO_AnyView>, "", [MemRead]>:$group)> {
  let constraints = ["the tensor and those of the group have the same element type; it has the rows of all parts",
                     "staging tiles lie in vec, hold the same element type, and have one type",
                     "root is one of the devices, counted from 0"];
  let summary = "Put the parts of all devices of the group behind each other, at the root.";
  let equation = "dst = (group_0, group_1, …)";
}
def PTO_CommTScatterOp
    : PTO_CommGroupOp<"tscatter", (ins ReadView:$src), (ins Arg<Variadic<PTO_AnyView>, "", [MemWrite]>:$group)> {
  let constraints = ["the tensor and those of the group have the same element type; it has the rows of all parts",
                     "staging tiles lie in vec, hold the same element type, and have one type",
                     "root is one of the devices, counted from 0"];
  let summary = "Give every device of the group its part of the root's tensor.";
  let equation = "(group_0, group_1, …) = src";
}
def PTO_CommTReduceOp
    : PTO_CommGroupOp<"treduce", (ins WriteView:$dst, RWTile:$acc),
                      (ins Arg<Variadic<PTO_AnyView>, "", [MemRead]>:$group), (ins PTO_ReduceOpAttr:$reduceOp)> {
  let constraints = ["the tensor and those of the group have the same element type and shape",
                     "`acc` lies in vec and holds the same element type; staging tiles lie in vec, hold the same element type, and have one type",
                     "root is one of the devices, counted from 0"];
  let summary = "Combine the tensors of all devices of the group, at the root.";
  let equation = "dst = reduceOp_k group_k";
}

def PTO_CommBuildAsyncSessionOp : PTO_CommOp<"build_async_session"> {
  let constraints = ["`scratch` lies in vec and holds at least 8 bytes",
                     "the workspace points to i8",
                     "sync_id is 0 to 7"];
  let summary = "A session of asynchronous copies.";
  let arguments = (ins RWTile:$scratch, Arg<PTO_PtrType, "", [MemRead, MemWrite]>:$workspace,
                       DefaultValuedAttr<PTO_IntAttr, "0">:$sync_id);
  let results = (outs PTO_AsyncSessionType:$result);
  let assemblyFormat = [{
    `(` $scratch `,` $workspace `:` qualified(type($scratch)) `,` qualified(type($workspace)) `)` attr-dict `->` qualified(type($result))
  }];
}
class PTO_CommAsyncCopyOp<string mnemonic> : PTO_CommOp<mnemonic> {
  let arguments = (ins WriteView:$dst, ReadView:$src, PTO_AsyncSessionType:$session);
  let results = (outs PTO_AsyncEventType:$result);
  let assemblyFormat = [{
    `(` $dst `,` $src `,` $session `:` qualified(type($dst)) `,` qualified(type($src)) `,` qualified(type($session)) `)` attr-dict `->` qualified(type($result))
  }];
}
def PTO_CommTPutAsyncOp : PTO_CommAsyncCopyOp<"tput_async"> {
  let constraints = ["the views have the same element type and static shape, one run of elements (all extents but the last are 1)"];
  let summary = "Start a copy to another device.";
  let equation = "dst = src, some time before the event";
}
def PTO_CommTGetAsyncOp : PTO_CommAsyncCopyOp<"tget_async"> {
  let constraints = ["the views have the same element type and static shape, one run of elements (all extents but the last are 1)"];
  let summary = "Start a copy from another device.";
  let equation = "dst = src, some time before the event";
}
class PTO_CommEventOp<string mnemonic> : PTO_ScalarUnitOp<"comm." # mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = (ins PTO_AsyncEventType:$event, PTO_AsyncSessionType:$session);
  let results = (outs I1:$result);
  let assemblyFormat = "`(` $event `,` $session `:` qualified(type($event)) `,` qualified(type($session)) `)` attr-dict `->` qualified(type($result))";
}
def PTO_CommWaitAsyncEventOp : PTO_CommEventOp<"wait_async_event"> { let summary = "Wait for a copy."; }
def PTO_CommTestAsyncEventOp : PTO_CommEventOp<"test_async_event"> { let summary = "Whether a copy is done."; }

def PTO_MakePrefetchAsyncContextOp
    : PTO_ScalarUnitOp<"make_prefetch_async_context", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "A context for asynchronous prefetches.";
  let arguments = (ins Variadic<AnyTypeOf<[PTO_PtrType, PTO_AnyView, PTO_TileBufType, PTO_AnyScalar],
                                          "pointer, view, tile or scalar">>:$inputs);
  let results = (outs PTO_PrefetchAsyncContextType:$result);
  let assemblyFormat = "`(` ($inputs^ `:` qualified(type($inputs)))? `)` attr-dict `->` qualified(type($result))";
}
def PTO_GetPrefetchAsyncSessionOp : PTO_ScalarUnitOp<"get_prefetch_async_session", [MemoryEffects<[MemRead]>]> {
  let summary = "The session of a prefetch context.";
  let arguments = (ins PTO_PrefetchAsyncContextType:$context);
  let results = (outs PTO_AsyncSessionType:$result);
  let assemblyFormat = "`(` $context `:` qualified(type($context)) `)` attr-dict `->` qualified(type($result))";
}
def PTO_TPrefetchAsyncOp : PTO_ScalarUnitOp<"tprefetch_async"> {
  let summary = "Start to bring a window of global memory near.";
  let arguments = (ins ReadView:$src, PTO_PrefetchAsyncContextType:$context);
  let results = (outs PTO_AsyncEventType:$result);
  let assemblyFormat = "`(` $src `,` $context `:` qualified(type($src)) `,` qualified(type($context)) `)` attr-dict `->` qualified(type($result))";
}

#endif // PTOAS_DIALECT_PTO_IR_PTOCOMMOPS_TD
