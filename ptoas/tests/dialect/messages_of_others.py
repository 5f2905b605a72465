"""Rules of views, scalars, order, FIFOs and copies between devices, of types and of whole functions: (message, lines; the
last one is wrong). $name in a line is the type of %name.
"""

from __future__ import annotations

C = "%c = arith.constant -1 : index\n"
C8 = "%c = arith.constant 8 : index\n"
A3 = [
    (
        "base must not be negative, got -1",
        '%y = pto.reserve_buffer {name = "q", size = 64, location = #pto.address_space<vec>, auto = false, base = -1} -> i32',
    ),
    (
        "result type 'i32' must be the element type of the pointer, 'f32'",
        "%y = pto.load_scalar %pf[%i] : $pf -> i32",
    ),
    (
        "value type 'i32' must be the element type of the pointer, 'f32'",
        "pto.store_scalar %i32, %pf[%i] : $pf, i32",
    ),
    (
        "extent 0 must not be negative, got -1",
        C
        + "%y = pto.make_tensor_view %pf, shape = [%c, %i], strides = [%i, %j] : !pto.tensor_view<?x?xf32>",
    ),
    (
        "extent 0 is 8 but the type says 16",
        C8
        + "%y = pto.make_tensor_view %pf, shape = [%c, %i], strides = [%i, %j] : !pto.tensor_view<16x?xf32>",
    ),
    (
        "offset 1 must not be negative, got -1",
        C
        + "%y = pto.partition_view %tv, offsets = [%i, %c], sizes = [%i, %j] : $tv -> !pto.partition_tensor_view<?x?xf32>",
    ),
    (
        "the window is out of bounds: row offset 8 + size 16 exceeds 16",
        C8 + "%y = pto.subview %v[%c, %i] sizes [16, 64] : $v -> $w",
    ),
    (
        "valid rows = -1 is not between 0 and 16",
        C
        + "%y = pto.alloc_tile valid_row = %i valid_col = %j : $open\npto.set_validshape %y, %c, %i : $open",
    ),
    ("index -1 is not between 0 and 3", C + "%y = pto.local_array_get %arr[%c] : $arr -> i32"),
    (
        "value type 'f32' must be the element type 'i32'",
        "pto.local_array_set %arr[%i], %x : $arr, f32",
    ),
    ("between 0 and 1", "%y = pto.struct_get %st [2] : $st -> i32"),
    (
        "a staging tile must have loc vec, but it lies in",
        "pto.comm.tput(%p, %p, buf(%m) : $p, $p, $m)",
    ),
    (
        "the tensor needs 16 rows for each of the 2 device(s), but it has 16",
        "pto.comm.tgather(%p, recv(%v), group(%p, %p) : $p, $v, $p, $p) {root = 0 : i32}",
    ),
    (
        "both staging tiles must have the same type",
        "pto.comm.tput(%p, %p, buf(%v, %half) : $p, $p, $v, $half)",
    ),
    (
        "the value must be i32 like the signal",
        "pto.comm.tnotify(%sig, %i64 : $sig, i64) {notifyOp = #pto<notify_op set>}",
    ),
    (
        "device(s) of the group, counted from 0, got",
        "pto.comm.tbroadcast(%p, recv(%v), group(%p) : $p, $v, $p) {root = 1 : i32}",
    ),
    (
        "recv(...) takes one or two staging tiles",
        "pto.comm.tbroadcast(%p, recv(), group(%p) : $p, $p) {root = 0 : i32}",
    ),
    (
        "op needs the attribute root, the number of the device that holds the whole tensor",
        "pto.comm.tbroadcast(%p, recv(%v), group(%p) : $p, $v, $p)",
    ),
    (
        "' op needs the attribute reduceOp (sum, max or min)",
        "pto.comm.treduce(%p, %v, recv(%w), group(%p) : $p, $v, $w, $p) {root = 0 : i32}",
    ),
    (
        "the scratch tile must lie in vec and hold at least 8 bytes",
        "%y = pto.comm.build_async_session(%m, %pb : $m, $pb) -> !pto.async_session",
    ),
    (
        "the workspace must point to i8",
        "%y = pto.comm.build_async_session(%v, %pf : $v, $pf) -> !pto.async_session",
    ),
    (
        "sync_id must be between 0 and 7",
        "%y = pto.comm.build_async_session(%v, %pb : $v, $pb) {sync_id = 8 : i32} -> !pto.async_session",
    ),
    (
        "copies windows of static shape",
        "%y = pto.comm.tput_async(%fd, %fd, %ses : $fd, $fd, $ses) -> !pto.async_event",
    ),
    (
        "copies one run of elements (all extents but the last are 1)",
        "%y = pto.comm.tget_async(%f2, %f2, %ses : $f2, $f2, $ses) -> !pto.async_event",
    ),
    (
        "size must be positive",
        '%y = pto.reserve_buffer {name = "q", size = 0, location = #pto.address_space<vec>, auto = true} -> i32',
    ),
    (
        "must not give base, because auto = true lets the assembler choose it",
        '%y = pto.reserve_buffer {name = "q", size = 8, location = #pto.address_space<vec>, auto = true, base = 0} -> i32',
    ),
    (
        "unknown operand 'buf'",
        "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 8} (buf = %i32 : i32)",
    ),
    ("slot_size must be positive", "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 0} ()"),
    (
        "slot_num must be positive",
        "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 8, slot_num = 0} ()",
    ),
    (
        "local_slot_num must be between 1 and slot_num (",
        "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 8, slot_num = 4, local_slot_num = 5} ()",
    ),
    (
        "acc_push_epilogue must be #pto.acc_push_epilogue<layout = ..., quant = ..., relu = ...>",
        "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 8, acc_push_epilogue = 1} ()",
    ),
    (
        "acc_push_epilogue is only possible with dir_mask = 1 and nosplit = true",
        "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 8, acc_push_epilogue = #pto.acc_push_epilogue<relu = pwl>} ()",
    ),
    (
        "', expected layout, quant or relu",
        "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 8, acc_push_epilogue = #pto.acc_push_epilogue<pad = pwl>} ()",
    ),
    (
        "split must be 0 (none), 1 (rows), 2 (columns), 3 or 4 (odd extents)",
        "pto.tpush_to_aiv(%a : $a) {split = 5}",
    ),
    ("', expected id or split", "pto.tpush_to_aiv(%a : $a) {slot = 5}"),
    ("must be an integer", 'pto.tpush_to_aiv(%a : $a) {split = "rows"}'),
    (
        "takes valid extents only when it receives a tile",
        "%y = pto.tpop_from_aic(%i, %j) {split = 0} -> !pto.tensor_view<16x16xf32>",
    ),
    (
        "valid extents are given, so the type must leave both open (valid=?x?)",
        "%y = pto.tpop_from_aic(%i, %j) {split = 0} -> $v",
    ),
    (
        "takes both valid extents or none",
        '%y = "pto.tpop_from_aic"(%i) <{id = 0, operandSegmentSizes = array<i32: 1, 0>, split = 0}> : (index) -> $open',
    ),
    (
        "dir_mask must be 1, 2 or 3",
        "%y = pto.initialize_l2g2l_pipe {dir_mask = 4, slot_size = 8, slot_num = 8} (%pf : $pf) -> !pto.pipe",
    ),
    (
        "exceeds slot_num",
        "%y = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 8, slot_num = 8, local_slot_num = 9} (%pf : $pf) -> !pto.pipe",
    ),
    ("sends tiles in acc or vec", "pto.tpush(%m, %pipe : $m, $pipe) {split = 0}"),
    ("pipe id must not be negative", "pto.set_quant_scalar(%x : f32) {id = -1}"),
    ("the scale must be f32 or the i64 word of the fixed pipe", "pto.set_quant_scalar(%i32 : i32)"),
    ("the scales must lie in loc scaling", "pto.set_quant_vector(%v : $v)"),
    ("mode must not be negative", 'pto.get_buf "PIPE_V", 3, -1'),
    ("the base must point to 64-bit integers", "pto.set_ffts %pi : $pi"),
    ("event id must not be negative", "pto.sync.set <PIPE_MTE3>, -1"),
    ("needs an event id", '"pto.sync.set"() <{pipe = #pto.pipe<PIPE_FIX>}> : () -> ()'),
    (
        "must end in a pto.yield",
        '"pto.fusion_region"() ({\n^bb0:\n  "pto.trap"() : () -> ()\n}) : () -> ()',
    ),
    ("result(s), but its yield has", "%y = pto.fusion_region { pto.yield } -> $v"),
    (
        "the workspace must hold i32",
        "pto.syncall(%pf : $pf) mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<mix>",
    ),
    (
        "the workspace needs at least 16 elements, got 1",
        "pto.syncall(%sig : $sig) mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<mix>",
    ),
    (
        "a window of a boxed col_major tile keeps all of its rows",
        "%y = pto.subset %m[%i, %j] sizes [16, 64] : $m",
    ),
    (
        "a window of a boxed row_major tile keeps all of its columns",
        "%y = pto.subset %boxed[%i, %j] sizes [16, 32] : $boxed",
    ),
    ("needs a target, or all and a space", '"pto.cmo.cacheinvalid"() : () -> ()'),
    ("drops global memory (gm) only", "pto.cmo.cacheinvalid all #pto.address_space<vec>"),
    (
        "expected a tensor_view type",
        "%y = pto.make_tensor_view %pf, shape = [%i], strides = [%i] : f32",
    ),
    (
        "expected a view type",
        "%y = pto.partition_view %tv, offsets = [%i, %i], sizes = [%i, %i] : f32",
    ),
    ("expected a tile_buf type", "%y = pto.subview %v[%i, %j] sizes [8, 64] : f32"),
    (
        ", the element type of the view",
        "%y = pto.partition_view %tv, offsets = [%i, %i], sizes = [%i, %i] : $tv -> $ph",
    ),
    (
        "needs as many offsets and sizes",
        "%y = pto.partition_view %tv, offsets = [%i], sizes = [%i, %i] : $tv -> $p",
    ),
    (
        "the window has rank",
        "%y = pto.partition_view %tv, offsets = [%i, %i], sizes = [%i, %i] : $tv -> !pto.partition_tensor_view<16xf32>",
    ),
    (
        "size 0 is 8 but the type says",
        "%c8 = arith.constant 8 : index\n%y = pto.partition_view %tv, offsets = [%i, %i], sizes = [%c8, %i] : $tv -> $p",
    ),
    (
        "addr must not be negative",
        "%c = arith.constant -32 : i64\n%y = pto.alloc_tile addr = %c : $v",
    ),
    ("result type must be the slot type", "%y = pto.multi_tile_get %mt[%i] : $mt -> $h"),
    ("takes two offsets and two sizes", "%y = pto.subview %v[%i] sizes [8, 64] : $v -> $small"),
    (
        "sizes must be positive",
        '%y = "pto.subset"(%v, %i, %j) <{sizes = array<i64: 0, 64>}> : ($v, index, index) -> $small',
    ),
    (
        "the window must have the element type and loc of its source",
        "%y = pto.subview %v[%i, %j] sizes [8, 64] : $v -> $h",
    ),
    ("offset must not be negative", C + "%y = pto.subview %v[%c, %j] sizes [8, 64] : $v -> $small"),
    (
        "a window of a tile takes two positive sizes",
        "%y = pto.subview %v[%i, %j] sizes [0, 64] : $v",
    ),
    (
        "valid takes two extents",
        "%y = pto.subview %v[%i, %j] sizes [8, 64] valid [%i] : $v -> $small",
    ),
    (
        "the shape of the result is 8x64, but the sizes of the window are 4x64",
        "%y = pto.subview %v[%i, %j] sizes [4, 64] : $v -> $small",
    ),
    (
        "valid rows = -1 is not between 0 and 8",
        C + "%y = pto.subview %v[%i, %j] sizes [8, 64] valid [%c, %j] : $v -> $small",
    ),
    (
        "valid columns = 9 but the type says 64",
        "%c9 = arith.constant 9 : index\n"
        "%y = pto.subview %v[%i, %j] sizes [8, 64] valid [%i, %c9] : $v -> $small",
    ),
    (
        "needs a tile whose valid extents are both dynamic (valid=?x?)",
        "pto.set_validshape %v, %i, %j : $v",
    ),
    (
        "needs a tile that this function defines, not an argument",
        "pto.set_validshape %open, %i, %j : $open",
    ),
    ("loc must stay", "%y = pto.treshape %v : $v -> $m"),
    (
        "a boxed tile cannot become an unboxed one, nor the other way round",
        "%y = pto.treshape %v : $v -> $boxed",
    ),
    ("the element type must change", "%y = pto.bitcast %v : $v -> $cm"),
    ("shape and valid shape must stay the same", "%y = pto.bitcast %v : $v -> $ri"),
    ("loc and layout must stay the same", "%y = pto.bitcast %cm : $cm -> $n"),
    ("bytes, the source has only", "%y = pto.bitcast %h : $h -> $v"),
    ("dimension(s) takes as many indices", "%y = pto.local_array_get %arr[%i, %j] : $arr -> i32"),
    (", which has no members", "%y = pto.struct_get %st [0, 0] : $st -> i32"),
    ("must be the member type", "%y = pto.struct_get %st [0] : $st -> f32"),
]
# On A5.
A5 = [
    (
        "slot_num must be 4 or 8",
        "%y = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 8, slot_num = 5} (%i32 : i32) -> !pto.pipe",
    ),
    (
        "a peer buffer is given exactly when dir_mask is 3",
        "%y = pto.initialize_l2l_pipe {dir_mask = 3, slot_size = 8, slot_num = 4} (%i32 : i32) -> !pto.pipe",
    ),
    ("needs three numbers of threads (x, y, z)", "pto.section.simt <<<1, 2>>> { }"),
    ("a number of threads must be between 1 and 2048", "pto.section.simt <<<1, 0, 2>>> { }"),
    ("must not stand inside a", "pto.section.cube { pto.section.simt <<<1, 1, 1>>> { } }"),
    ("must not stand inside another section", "pto.section.cube { pto.section.vector { } }"),
    (
        "numbers of threads open, but has",
        '"pto.section.simt"() <{static_dims = array<i64: -9223372036854775808, 1, 1>}> ({\n^bb0:\n}) : () -> ()',
    ),
]
# Rules that several ops share: (message, line with {} for the op, ops).
SHARED = [
    (
        "the result is an index, got 'i32'",
        "%y = pto.{} %v : $v -> i32",
        "tile_valid_rows tile_valid_cols",
    ),
    (
        "event id must be between 0 and 31, got 32",
        "pto.{} <PIPE_FIX>, 32",
        "set_cross_block wait_cross_block set_intra_block wait_intra_block",
    ),
    (
        "ffts_mode must be 0, 1 or 2, got 3",
        "pto.{} <PIPE_MTE3>, 3 {{ffts_mode = 3 : i32}}",
        "sync.set sync.wait",
    ),
    (
        "buffer id must be between 0 and 31, got 32",
        'pto.{} "PIPE_V", 32, 0',
        "get_buf rls_buf",
    ),
    (
        "buffer id must be between 0 and 31, got -1",
        C + 'pto.{} "PIPE_V", %c, 0',
        "get_buf_dyn rls_buf_dyn",
    ),
    (
        "shapes of the views must be equal",
        "pto.comm.{}(%p, %p2, buf(%v) : $p, $p2, $v)",
        "tput tget",
    ),
    (
        "a signal is an i32 in global memory",
        "pto.comm.twait(%sigf, %i32 : $sigf, i32) {{cmp = #pto<wait_cmp ge>}}",
        "twait",
    ),
    (
        "a signal is an i32 in global memory",
        "%y = pto.comm.ttest(%sigf, %i32 : $sigf, i32) {{cmp = #pto<wait_cmp ge>}} -> i1",
        "ttest",
    ),
    (
        "needs at least one device in group(...)",
        "pto.comm.{}(%p, recv(%v), group() : $p, $v) {{root = 0 : i32}}",
        "tbroadcast tgather tscatter",
    ),
    (
        "split must be 0 (none), 1 (rows), 2 (columns), 3 or 4 (odd extents), got 5",
        "pto.{}(%v : $v) {{split = 5}}",
        "tpush_to_aiv tpush_to_aic",
    ),
    (
        "split must be 0 (none), 1 (rows), 2 (columns), 3 or 4 (odd extents), got 5",
        "%y = pto.{} {{split = 5}} -> $v",
        "tpop_from_aic tpop_from_aiv",
    ),
    (
        "split must be 0 (none), 1 (rows), 2 (columns), 3 or 4 (odd extents), got 5",
        "pto.{} {{split = 5}}",
        "tfree_from_aic tfree_from_aiv",
    ),
    (
        "split must be 0 (none), 1 (rows), 2 (columns), 3 or 4 (odd extents), got 5",
        "%y = pto.{} {{split = 5}} -> $tv",
        "talloc_to_aiv talloc_to_aic",
    ),
    (
        "split must be 0 (none), 1 (rows), 2 (columns), 3 or 4 (odd extents), got 5",
        "pto.{}(%v, %pipe : $v, !pto.pipe) {{split = 5 : i64}}",
        "tpush tpop",
    ),
    (
        "split must be 0 (none), 1 (rows), 2 (columns), 3 or 4 (odd extents), got 5",
        "pto.tfree(%pipe : !pto.pipe) {{split = 5 : i64}}",
        "tfree",
    ),
    (
        "split must be 0 (none), 1 (rows), 2 (columns), 3 or 4 (odd extents), got 5",
        "pto.talloc(%tv, %pipe : $tv, !pto.pipe) {{split = 5 : i64}}",
        "talloc",
    ),
    (
        "event id must be between 0 and 7, got -1",
        C + "pto.{}[<PIPE_V>, <PIPE_MTE2>, %c]",
        "set_flag_dyn wait_flag_dyn",
    ),
    (
        "index -1 is out of range, not between 0 and 1",
        C + "%y = pto.eventid_array_get %ev[%c] : $ev",
        "eventid_array_get",
    ),
    (
        "index 8 is out of range, not between 0 and 1",
        C8 + "pto.eventid_array_set %ev[%c], %i : $ev",
        "eventid_array_set",
    ),
    (
        "dimension -1 is out of range: a view of rank 2 has the dimensions 0 to 1",
        C + "%y = pto.{} %tv, %c : $tv -> index",
        "get_tensor_view_dim get_tensor_view_stride",
    ),
    ("between 0 and 1", "pto.struct_set %st [2], %i32 : $st, i32", "struct_set"),
    ("is not supported on A2/A3, it needs A5", "pto.{} #pto.membar<VST_VLD>", "mem_bar"),
]
# Whole texts; the line behind the message is wrong.
WHOLE = [
    (
        'reserves a buffer named "q" a second time; names must be unique in a function',
        'func.func @f() { %a = pto.reserve_buffer {name = "q", size = 64, location = #pto.address_space<vec>, auto = true} -> i32 %b = pto.reserve_buffer {name = "q", size = 64, location = #pto.address_space<vec>, auto = true} -> i32 return }',
    ),
    (
        'expected "a2", "a3", "a2a3" or "a5"',
        'module attributes {pto.target_arch = "a7"} {}',
    ),
    (
        "'src' and 'dst' must be different tiles on A3",
        'module attributes {pto.target_arch = "a3"} { func.func @f(%v: !pto.tile_buf<vec, 16x64xf32>) { pto.trecip ins(%v : !pto.tile_buf<vec, 16x64xf32>) outs(%v : !pto.tile_buf<vec, 16x64xf32>) return } }',
    ),
    (
        "src0, src1, tmp and dst must be four different tiles",
        'module attributes {pto.target_arch = "A3"} { func.func @f(%v: !pto.tile_buf<vec, 16x64xf32>, %t: !pto.tile_buf<vec, 32x64xui8>) { pto.tprelu ins(%v, %v, %t : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 32x64xui8>) outs(%v : !pto.tile_buf<vec, 16x64xf32>) return } }',
    ),
    (
        "between tiles in loc vec both must be row_major and unboxed (ND) on A5",
        'module attributes {pto.target_arch = "a5"} { func.func @f(%v: !pto.tile_buf<vec, 16x64xf32>, %w: !pto.tile_buf<vec, 16x64xf32, blayout=col_major>, %i: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} { pto.textract ins(%v, %i, %i : !pto.tile_buf<vec, 16x64xf32>, index, index) outs(%w : !pto.tile_buf<vec, 16x64xf32, blayout=col_major>) return } }',
    ),
    (
        "elements of type 'i16' cannot be inserted on A5, expected one of i8, i32, ui8, ui32, f16, bf16, f32, fp8, hif8, fp4",
        'module attributes {pto.target_arch = "a5"} { func.func @f(%v: !pto.tile_buf<vec, 16x64xi16>, %i: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} { pto.tinsert ins(%v, %i, %i : !pto.tile_buf<vec, 16x64xi16>, index, index) outs(%v : !pto.tile_buf<vec, 16x64xi16>) return } }',
    ),
    (
        "'pto.auto_sync_tail_hint' must be a string such as \"barrier-all\"",
        "func.func @f() attributes {pto.auto_sync_tail_hint = 3 : i32} { return }",
    ),
    (
        "sends tiles in acc or vec, got mat",
        "module { func.func @f(%b: i32, %m: !pto.tile_buf<mat, 16x64xf32>) { pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = %b : i32) pto.tpush_to_aiv(%m : !pto.tile_buf<mat, 16x64xf32>) {split = 0} return } }",
    ),
    (
        "belongs in a vector function (aiv), but the kernel kind is cube",
        "module { func.func @f(%b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} { pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %b : i32) return } }",
    ),
    (
        "uses pipe 3, but this function has no aic_initialize_pipe for it",
        "module { func.func @f(%a: !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} { pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>) {id = 3, split = 0} return } }",
    ),
    (
        "in a tile type, expected dtype, rows, cols, v_row, v_col, blayout, slayout, fractal, pad or compact",
        "func.func private @f(!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, colour=3>)",
    ),
    ("'pto.entry' belongs on a function", "module attributes {pto.entry} {}"),
    (
        "'pto.entry' on a declaration: an entry needs a body",
        "func.func private @f() attributes {pto.entry}",
    ),
    (
        "'pto.kernel_kind' must be #pto.kernel_kind<cube> or #pto.kernel_kind<vector>",
        "func.func @f() attributes {pto.kernel_kind = 1} { return }",
    ),
    (
        '\'pto.target_arch\' must be a string such as "a2a3" or "a5"',
        "module attributes {pto.target_arch = 5} {}",
    ),
    ("is not possible, expected an element type", "func.func private @f(!pto.ptr<index>)"),
    ("is not an element type", "func.func private @f(!pto.tensor_view<4xindex>)"),
    ("an event id array needs at least one element", "func.func private @f(!pto.eventid_array<0>)"),
    ("a local array needs positive extents", "func.func private @f(!pto.local_array<0xi32>)"),
    ("a local array holds scalars", "func.func private @f(!pto.local_array<4x!pto.pipe>)"),
    (
        "valid takes two extents, as in valid=16x64",
        "func.func private @f(!pto.tile_buf<vec, 16x64xf32, valid=16>)",
    ),
    ("a tile has two dimensions", "func.func private @f(!pto.tile_buf<vec, 16x64x2xf32>)"),
    (
        "unknown loc: ub, expected mat, left, right, acc, vec, bias or scaling",
        "func.func private @f(!pto.ptr<f32, ub>)",
    ),
    (
        "a tile cannot lie in 'gm', expected mat, left, right, acc, vec, bias or scaling",
        "func.func private @f(!pto.tile_buf<gm, 16x64xf32>)",
    ),
    ("a tile cannot hold", "func.func private @f(!pto.tile_buf<vec, 16x64xindex>)"),
    ("a slot must be a tile_buf", "func.func private @f(!pto.multi_tile_buf<!pto.pipe, count=2>)"),
    ("a multi_tile_buf needs count=N", "func.func private @f(!pto.multi_tile_buf<vec, 16x64xf32>)"),
    (
        "a multi_tile_buf lies in vec or mat, not in",
        "func.func private @f(!pto.multi_tile_buf<acc, 16x64xf32, count=2>)",
    ),
    (
        "compact=row_plus_one is not possible in a multi_tile_buf",
        "func.func private @f(!pto.multi_tile_buf<vec, 16x64xf32, compact=2, count=2>)",
    ),
    (
        "is code of the vector core in a cube function",
        'module attributes {pto.target_arch = "a5"} { func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} { pto.section.simt <<<1, 1, 1>>> { } return } }',
    ),
    (
        "gives the attribute 'descending' twice",
        "func.func @f(%s: i32, %d: !pto.tile_buf<vec, 1x64xi32>) { pto.tci ins(%s {descending = false} : i32) outs(%d : !pto.tile_buf<vec, 1x64xi32>) {descending = true} return }",
    ),
    (
        "needs the operand 'dst' once, but operandSegmentSizes gives it 0 values",
        'func.func @f(%a: !pto.tile_buf<vec, 16x64xf32>) { "pto.tgather"(%a, %a) <{maskPattern = #pto.mask_pattern<P0101>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}> : (!pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x64xf32>) -> () return }',
    ),
    (
        "needs the operand 'ptr' once, but operandSegmentSizes gives it 0 values",
        'func.func @f(%n: index) { %t = "pto.make_tensor_view"(%n, %n) <{operandSegmentSizes = array<i32: 0, 1, 1>}> : (index, index) -> !pto.tensor_view<?xf32> return }',
    ),
    (
        "needs the operand 'source' once, but operandSegmentSizes gives it 0 values",
        'func.func @f(%n: index) { %t = "pto.partition_view"(%n, %n) <{operandSegmentSizes = array<i32: 0, 1, 1>}> : (index, index) -> !pto.partition_tensor_view<?xf32> return }',
    ),
    (
        "needs the operand 'ping' once, but operandSegmentSizes gives it 0 values",
        'func.func @f(%p: !pto.partition_tensor_view<16x64xf32>) { "pto.comm.tbroadcast"(%p, %p) <{operandSegmentSizes = array<i32: 1, 0, 0, 1>, root = 0 : i32}> : (!pto.partition_tensor_view<16x64xf32>, !pto.partition_tensor_view<16x64xf32>) -> () return }',
    ),
    (
        "reserves no buffer named",
        'func.func @g() { return } func.func @f() { %y = pto.import_reserved_buffer {name = "q", peer_func = @g} -> i32 return }',
    ),
]
