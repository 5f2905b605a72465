//===- PTOCommOps.td - copies and signals between devices --*- tablegen -*-===//
#ifndef PTOAS_DIALECT_PTO_IR_PTOCOMMOPS_TD
#define PTOAS_DIALECT_PTO_IR_PTOCOMMOPS_TD

include "ptoas/Dialect/PTO/IR/PTOTileBase.td"

class PTO_CommOp<string mnemonic> : PTO_Op<"comm." # mnemonic>;
defvar ReadView = Arg<PTO_AnyView, "", [MemRead]>;
defvar WriteView = Arg<PTO_AnyView, "", [MemWrite]>;
defvar RWView = Arg<PTO_AnyView, "", [MemRead, MemWrite]>;
defvar RWTile = Arg<PTO_TileBufType, "", [MemRead, MemWrite]>;

def PTO_CommTNotifyOp : PTO_CommOp<"tnotify"> {
  let summary = "Write or add to a signal of another device.";
  let arguments = (ins RWView:$signal, AnySignlessInteger:$value, PTO_NotifyOpAttr:$notifyOp);
  let assemblyFormat = "`(` $signal `,` $value `:` qualified(type($signal)) `,` qualified(type($value)) `)` attr-dict";
}
def PTO_CommTWaitOp : PTO_CommOp<"twait"> {
  let summary = "Wait until a signal compares true.";
  let arguments = (ins RWView:$signal, AnySignlessInteger:$value, PTO_WaitCmpAttr:$cmp);
  let assemblyFormat = "`(` $signal `,` $value `:` qualified(type($signal)) `,` qualified(type($value)) `)` attr-dict";
}
def PTO_CommTTestOp : PTO_CommOp<"ttest"> {
  let summary = "Whether a signal compares true.";
  let arguments = (ins RWView:$signal, AnySignlessInteger:$value, PTO_WaitCmpAttr:$cmp);
  let results = (outs I1:$result);
  let assemblyFormat = "`(` $signal `,` $value `:` qualified(type($signal)) `,` qualified(type($value)) `)` attr-dict `->` qualified(type($result))";
}
class PTO_CommCopyOp<string mnemonic> : PTO_CommOp<mnemonic> {
  let arguments = (ins WriteView:$dst, ReadView:$src, RWTile:$ping, Optional<PTO_TileBufType>:$pong,
                       DefaultValuedAttr<PTO_AtomicTypeAttr, "::mlir::pto::AtomicType::AtomicNone">:$atomicType);
  let assemblyFormat = [{
    `(` $dst `,` $src `,` `buf` `(` $ping (`,` $pong^)? `)` `:` qualified(type($dst)) `,` qualified(type($src)) `,` qualified(type($ping))
    (`,` qualified(type($pong))^)? `)` attr-dict
  }];
}
def PTO_CommTPutOp : PTO_CommCopyOp<"tput"> { let summary = "Copy to another device through a staging tile."; }
def PTO_CommTGetOp : PTO_CommCopyOp<"tget"> { let summary = "Copy from another device through a staging tile."; }

def PTO_CommBuildAsyncSessionOp : PTO_CommOp<"build_async_session"> {
  let summary = "A session of asynchronous copies.";
  let arguments = (ins RWTile:$scratch, PTO_PtrType:$workspace, DefaultValuedAttr<PTO_IntAttr, "0">:$sync_id);
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
def PTO_CommTPutAsyncOp : PTO_CommAsyncCopyOp<"tput_async"> { let summary = "Start a copy to another device."; }
def PTO_CommTGetAsyncOp : PTO_CommAsyncCopyOp<"tget_async"> { let summary = "Start a copy from another device."; }
class PTO_CommEventOp<string mnemonic> : PTO_Op<"comm." # mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = (ins PTO_AsyncEventType:$event, PTO_AsyncSessionType:$session);
  let results = (outs I1:$result);
  let assemblyFormat = "`(` $event `,` $session `:` qualified(type($event)) `,` qualified(type($session)) `)` attr-dict `->` qualified(type($result))";
}
def PTO_CommWaitAsyncEventOp : PTO_CommEventOp<"wait_async_event"> { let summary = "Wait for a copy."; }
def PTO_CommTestAsyncEventOp : PTO_CommEventOp<"test_async_event"> { let summary = "Whether a copy is done."; }

def PTO_MakePrefetchAsyncContextOp : PTO_Op<"make_prefetch_async_context", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "A context for asynchronous prefetches.";
  let arguments = (ins Variadic<AnyType>:$inputs);
  let results = (outs PTO_PrefetchAsyncContextType:$result);
  let assemblyFormat = "`(` ($inputs^ `:` qualified(type($inputs)))? `)` attr-dict `->` qualified(type($result))";
}
def PTO_GetPrefetchAsyncSessionOp : PTO_Op<"get_prefetch_async_session", [MemoryEffects<[MemRead]>]> {
  let summary = "The session of a prefetch context.";
  let arguments = (ins PTO_PrefetchAsyncContextType:$context);
  let results = (outs PTO_AsyncSessionType:$result);
  let assemblyFormat = "`(` $context `:` qualified(type($context)) `)` attr-dict `->` qualified(type($result))";
}
def PTO_TPrefetchAsyncOp : PTO_Op<"tprefetch_async"> {
  let summary = "Start to bring a window of global memory near.";
  let arguments = (ins ReadView:$src, PTO_PrefetchAsyncContextType:$context);
  let results = (outs PTO_AsyncEventType:$result);
  let assemblyFormat = "`(` $src `,` $context `:` qualified(type($src)) `,` qualified(type($context)) `)` attr-dict `->` qualified(type($result))";
}

#endif // PTOAS_DIALECT_PTO_IR_PTOCOMMOPS_TD
