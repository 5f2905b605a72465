"""Rules that are written as code: each is broken once, and reported in its words."""

from __future__ import annotations

import re
import subprocess

from tools_of_tree import tool

T = "!pto.tile_buf<"
P = "!pto.partition_tensor_view<"
NZ = ", blayout=col_major, slayout=row_major"
# Values by name; what a case uses becomes the arguments of its function.
VALUES = {
    "v": T + "vec, 16x64xf32>",
    "w": T + "vec, 16x64xf32>",
    "t": T + "vec, 16x64xf32>",
    "d": T + "vec, 16x64xf32>",
    "h": T + "vec, 16x64xf16>",
    "n": T + "vec, 16x64xi32>",
    "s16": T + "vec, 16x64xi16>",
    "s16b": T + "vec, 16x64xi16>",
    "s16s": T + "vec, 16x32xi16>",
    "b8": T + "vec, 16x64xi8>",
    "u8": T + "vec, 16x64xui8>",
    "u8b": T + "vec, 32x64xui8>",
    "u16": T + "vec, 16x64xui16>",
    "u32": T + "vec, 16x256xui32>",
    "ui": T + "vec, 16x64xui32>",
    "q": T + "vec, 16x64xi64, pad=2>",
    "l64": T + "vec, 16x64xi64>",
    "z64": T + "vec, 16x64xi64, pad=1>",
    "p8": T + "vec, 8x64xf32, pad=2>",
    "small": T + "vec, 8x64xf32>",
    "half": T + "vec, 16x32xf32>",
    "cm": T + "vec, 16x64xf32, blayout=col_major>",
    "cm8": T + "vec, 16x64xi8, blayout=col_major>",
    "c": T + "vec, 16x1xf32, blayout=col_major>",
    "ci": T + "vec, 16x1xi32, blayout=col_major>",
    "c8": T + "vec, 32x1xui8, blayout=col_major>",
    "r": T + "vec, 1x64xf32>",
    "rh": T + "vec, 1x64xf16>",
    "r2": T + "vec, 1x128xf32>",
    "ri": T + "vec, 1x64xi32>",
    "blk": T + "vec, 16x8xf32>",
    "tiny": T + "vec, 1x4xf32>",
    "one": T + "vec, 16x8xf32, valid=16x1>",
    "odd": T + "vec, 16x10xf32>",
    "open": T + "vec, 16x64xf32, valid=?x?>",
    "boxed": T + "vec, 16x64xf32, slayout=row_major>",
    "m": T + "mat, 64x64xf16" + NZ + ">",
    "mf": T + "mat, 16x32xf32" + NZ + ">",
    "mh": T + "mat, 16x32xf16" + NZ + ">",
    "mi": T + "mat, 16x32xi8" + NZ + ">",
    "mr": T + "mat, 16x32xf16>",
    "mri": T + "mat, 16x32xi8>",
    "l": T + "left, 16x64xf16, slayout=row_major>",
    "lm": T + "left, 64x64xf16, slayout=row_major>",
    "lbf": T + "left, 16x64xbf16, slayout=row_major>",
    "l5": T + "left, 16x64xf16" + NZ + ">",
    "lbig": T + "left, 4096x64xf16, slayout=row_major>",
    "k": T + "right, 64x32xf16, slayout=col_major>",
    "krow": T + "right, 64x32xf16>",
    "a": T + "acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>",
    "arow": T + "acc, 16x32xf32>",
    "ah": T + "acc, 16x32xf16, blayout=col_major, slayout=row_major, fractal=1024>",
    "ai": T + "acc, 16x32xi32, blayout=col_major, slayout=row_major, fractal=1024>",
    "abig": T + "acc, 4096x32xf32, blayout=col_major, slayout=row_major, fractal=1024>",
    "awide": T + "acc, 16x4096xf32, blayout=col_major, slayout=row_major, fractal=1024>",
    "bias": T + "bias, 1x32xf32>",
    "biascol": T + "bias, 1x32xf32, blayout=col_major>",
    "sc": T + "scaling, 1x32xf32>",
    "sl": T + "scaling, 16x2x!pto.f8E8M0>",
    "sk": T + "scaling, 2x32x!pto.f8E8M0>",
    "p": P + "16x64xf32>",
    "p2": P + "16x32xf32>",
    "ph": P + "16x64xf16>",
    "pwide": P + "16x4096xf32>",
    "pwideq": P + "16x4096xi8>",
    "pq": P + "16x32xi8>",
    "ps16": P + "16x32xi16>",
    "pb8": P + "16x64xi8>",
    "pl": P + "16x64xi64>",
    "pm": P + "64x64xf16>",
    "p0": P + "0x64xf32>",
    "pd": P + "?x64xf32>",
    "f": P + "1x1024xf32>",
    "fd": P + "1x?xf32>",
    "f2": P + "2x512xf32>",
    "sig": P + "1x1xi32>",
    "sigf": P + "1x1xf32>",
    "tv": "!pto.tensor_view<32x64xf32>",
    "mt": "!pto.multi_tile_buf<vec, 16x64xf32, count=2>",
    "i": "index",
    "j": "index",
    "x": "f32",
    "xh": "f16",
    "i1": "i1",
    "i8": "i8",
    "i32": "i32",
    "i64": "i64",
    "e4": "vector<4xi16>",
    "pf": "!pto.ptr<f32>",
    "pi": "!pto.ptr<i32>",
    "pb": "!pto.ptr<i8>",
    "pipe": "!pto.pipe",
    "ses": "!pto.async_session",
    "arr": "!pto.local_array<4xi32>",
    "st": "!pto.struct<i32, f32>",
}
C = "%c = arith.constant -1 : index\n"
C8 = "%c = arith.constant 8 : index\n"

# (message, lines; the last one is wrong). $name in a line is the type of %name.
A3 = [
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
        "result type 'i32' must be the element type 'f32'",
        "%y = pto.tgetval ins(%v, %i : $v, index) outs : i32",
    ),
    (
        "scatterAtomicOp add needs one of i32, ui32, f16, f32, got",
        "pto.mscatter ins(%b8, %ri : $b8, $ri) outs(%pb8 : $pb8) {coalesce = #pto<coalesce row>, scatterAtomicOp = #pto<scatter_atomic_op add>}",
    ),
    (
        "'f32', quantised, cannot become",
        "pto.tstore_fp ins(%a, %sc : $a, $sc) outs(%ps16 : $ps16)",
    ),
    (
        "the shape of dst must be at least that of src",
        "pto.tfillpad_expand ins(%v : $v) outs(%p8 : $p8)",
    ),
    (
        "the valid shape of src0 or src1 (",
        "pto.tpartadd ins(%half, %half : $half, $half) outs(%d : $d)",
    ),
    (
        "shapes must be equal, got",
        "pto.tpartmax ins(%open, %open : $open, $open) outs(%small : $small)",
    ),
    (
        "tmp must have at least as many valid columns as dst",
        "pto.trem ins(%v, %w, %half : $v, $w, $half) outs(%d : $d)",
    ),
    (
        "element types of tmp and dst must be equal",
        "pto.txor ins(%s16, %s16b, %v : $s16, $s16b, $v) outs(%s16 : $s16)",
    ),
    (
        "valid shapes of tmp and dst must be equal",
        "pto.txor ins(%s16, %s16b, %s16s : $s16, $s16b, $s16s) outs(%s16 : $s16)",
    ),
    ("tmp must hold bytes (ui8)", "pto.tprelu ins(%v, %w, %t : $v, $w, $t) outs(%d : $d)"),
    (
        "tmp needs at least one row more than dst has valid rows",
        "pto.tprelu ins(%v, %w, %u8 : $v, $w, $u8) outs(%d : $d)",
    ),
    (
        "src0, src1, tmp and dst must be four different tiles",
        "pto.tprelu ins(%v, %v, %u8b : $v, $v, $u8b) outs(%d : $d)",
    ),
    ("the shift must be an integer", "pto.tshls ins(%n, %x : $n, f32) outs(%n : $n)"),
    ("'dst' must be row-major (blayout row_major)", "pto.texpands ins(%x : f32) outs(%cm : $cm)"),
    ("tmp needs at least 32 bytes", "pto.trsqrt ins(%v, %tiny : $v, $tiny) outs(%d : $d)"),
    (
        "valid rows of the source and the mask must be equal",
        "pto.tcmps ins(%v, %x {cmpMode = #pto<cmp lt>} : $v, f32) outs(%u8b : $u8b)",
    ),
    ("dst must have more than one column", "pto.tci ins(%i32 : i32) outs(%ci : $ci)"),
    (
        "a scratch tile (tmp) is only possible when the values per row are a col_major column",
        "pto.trowexpandmul ins(%v, %blk, %t : $v, $blk, $t) outs(%d : $d)",
    ),
    (
        "element types of tmp and indices must be equal",
        "pto.tgather ins(%v, %n, %t : $v, $n, $t) outs(%d : $d)",
    ),
    (
        "valid shapes of tmp and indices must be equal",
        "pto.tgather ins(%v, %n, %ri : $v, $n, $ri) outs(%d : $d)",
    ),
    (
        "of operand 'src' is not supported on",
        "pto.tgather ins(%b8, %n, %n : $b8, $n, $n) outs(%b8 : $b8)",
    ),
    (
        "element types of src and dst must be equal",
        "pto.tgather ins(%v, %n, %n : $v, $n, $n) outs(%h : $h)",
    ),
    (
        "the compare form is ins(src, value, tmp) outs(dst, count)",
        "pto.tgather ins(%v, %x : $v, f32) outs(%n : $n)",
    ),
    (
        "dst and count must hold i32",
        "pto.tgather ins(%v, %x, %u8 : $v, f32, $u8) outs(%d, %d : $d, $d)",
    ),
    (
        "the mask form needs equal element widths of",
        'pto.tgather ins(%v, {maskPattern = #pto.mask_pattern<P0101>} : $v, "row") outs(%h : $h)',
    ),
    (
        "the mask form needs row-major tiles",
        'pto.tgather ins(%cm, {maskPattern = #pto.mask_pattern<P0101>} : $cm, "row") outs(%d : $d)',
    ),
    (
        "expected exactly one form: indices or a maskPattern",
        "pto.tscatter ins(%v : $v) outs(%d : $d)",
    ),
    (
        "valid rows of src and dst must be equal",
        "pto.tsort32 ins(%v, %ui : $v, $ui) outs(%small : $small)",
    ),
    (
        "element sizes of 'src' and 'dst' must be equal",
        "pto.tgatherb ins(%v, %n : $v, $n) outs(%h : $h)",
    ),
    ("lists have one row", "pto.tmrgsort ins(%v, %i32 : $v, i32) outs(%d : $d)"),
    (
        "a run length goes with one list",
        "pto.tmrgsort ins(%r, %r, %i32 : $r, $r, i32) outs(%r2 : $r2)",
    ),
    (
        "tmp and dst must have the same type",
        "pto.tmrgsort ins(%r, %r, %rh : $r, $r, $rh) outs(%r2, %e4 : $r2, $e4)",
    ),
    (
        "needs a second output for the counts of taken elements (vector<4xi16>)",
        "pto.tmrgsort ins(%r, %r, %r2 : $r, $r, $r2) outs(%r2 : $r2)",
    ),
    (
        "INT8_ASYM needs an offset and writes ui8",
        "pto.tquant ins(%v, %one : $v, $one) outs(%u8 : $u8) {quant_type = #pto<quant_type INT8_ASYM>}",
    ),
    (
        "quant_type must be INT8_SYM or INT8_ASYM",
        "pto.tquant ins(%v, %one : $v, $one) outs(%u8 : $u8) {quant_type = #pto<quant_type MXFP8>}",
    ),
    (
        "src and dst must be row-major on A2/A3",
        "pto.tquant ins(%cm, %one : $cm, $one) outs(%b8 : $b8) {quant_type = #pto<quant_type INT8_SYM>}",
    ),
    ("src must hold i8 or i16", "pto.tdequant ins(%n, %one, %one : $n, $one, $one) outs(%d : $d)"),
    (
        "i8 * i8 into i32, or equal f16, bf16 or f32 into f32",
        "pto.tmatmul ins(%lbf, %k : $lbf, $k) outs(%a : $a)",
    ),
    (
        "must be between 1 and 4095, got",
        "pto.tmatmul ins(%lbig, %k : $lbig, $k) outs(%abig : $abig)",
    ),
    (
        "element types of accIn and dst must be equal",
        "pto.tmatmul.acc ins(%ai, %l, %k : $ai, $l, $k) outs(%a : $a)",
    ),
    ("the window must not be empty, its type is", "pto.tload ins(%p0 : $p0) outs(%v : $v)"),
    (
        "64-bit elements can only be padded with null or zero",
        "pto.tload ins(%pl : $pl) outs(%q : $q)",
    ),
    ("an accumulator holds i32 or f32", "pto.tstore ins(%ah : $ah) outs(%p2 : $p2)"),
    (
        "takes a vector of scales (fp) or a scalar, not both",
        "pto.tmov ins(%a, %sc, %i64 : $a, $sc, i64) outs(%mi : $mi)",
    ),
    (
        "columns of an accumulator must be between 1 and 4095",
        "pto.tstore ins(%awide : $awide) outs(%pwide : $pwide)",
    ),
    (
        "columns of an accumulator must be at most 4095",
        "pto.tstore_fp ins(%awide, %sc : $awide, $sc) outs(%pwideq : $pwideq)",
    ),
    ("dst must be row-major and unboxed", "pto.mgather ins(%p, %ri : $p, $ri) outs(%cm : $cm)"),
    (
        "element types of the view and dst must be equal",
        "pto.mgather ins(%p, %ri : $p, $ri) outs(%h : $h)",
    ),
    (
        "indices and dst must have the same valid rows",
        "pto.mgather ins(%p, %ri : $p, $ri) outs(%v : $v) {coalesce = #pto<coalesce elem>}",
    ),
    (
        "element types of src and the view must be equal",
        "pto.mscatter ins(%h, %ri : $h, $ri) outs(%p : $p)",
    ),
    (
        "quantisation is only possible from loc acc",
        "pto.tmov ins(%v, %i64 : $v, i64) outs(%d : $d)",
    ),
    ("the scales (fp) must lie in loc scaling", "pto.tmov ins(%a, %v : $a, $v) outs(%mi : $mi)"),
    (
        "relu is only possible from loc acc",
        "pto.tmov ins(%v : $v) outs(%d : $d) {reluPreMode = #pto<relu_pre_mode normal_relu>}",
    ),
    (
        "grpAxis is not supported on A2/A3, it needs A5",
        "pto.tmov ins(%v : $v) outs(%d : $d) {grpAxis = #pto<mx_group_axis axis0>}",
    ),
    (
        "is not possible together with quantisation",
        "pto.tmov ins(%a, %i64 : $a, i64) outs(%half : $half) {accToVecMode = #pto.acc_to_vec_mode<dual_mode_split_m>}",
    ),
    (
        "the accumulator must be col_major with row_major boxes",
        "pto.tmov ins(%arow, %i64 : $arow, i64) outs(%mi : $mi)",
    ),
    (
        "dst must be col_major with row_major boxes of fractal 512 (NZ)",
        "pto.tmov ins(%a : $a) outs(%mr : $mr)",
    ),
    ("shapes of src and dst must be equal", "pto.tmov ins(%v : $v) outs(%half : $half)"),
    (
        "src and dst must hold the same element type out of",
        "pto.textract ins(%m, %i, %j : $m, index, index) outs(%lbf : $lbf)",
    ),
    ("cannot be inserted as", "pto.tinsert ins(%a, %i, %j : $a, index, index) outs(%mf : $mf)"),
    ("elements must have 1, 2 or 4 bytes", "pto.tfillpad ins(%l64 : $l64) outs(%z64 : $z64)"),
    (
        "a staging tile must have loc vec, but it lies in",
        "pto.comm.tput(%p, %p, buf(%m) : $p, $p, $m)",
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
    ("needs a target, or all and a space", '"pto.cmo.cacheinvalid"() : () -> ()'),
    ("drops global memory (gm) only", "pto.cmo.cacheinvalid all #pto.address_space<vec>"),
    ("but more types", "pto.tadd ins(%v, %w : $v, $w, $w) outs(%d : $d)"),
    (
        "custom op 'pto.tadd' has an operand too many or of the wrong type in",
        "pto.tadd ins(%v, %w, %t : $v, $w, $t) outs(%d : $d)",
    ),
    ("' must be an index, got", "pto.textract ins(%m, %x, %j : $m, f32, index) outs(%lm : $lm)"),
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
        "%y = pto.partition_view %tv, offsets = [%i, %i], sizes = [%i, %i] : $tv -> "
        + P
        + "16xf32>",
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
A5 = [
    (
        "are not supported on A5, expected fp8 * fp8 into f32",
        "pto.tmatmul.mx ins(%l5, %sl, %k, %sk : $l5, $sl, $k, $sk) outs(%a : $a)",
    ),
    (
        "expected i8 * i8 into i32, equal floats or fp8 into f32",
        "pto.tmatmul ins(%l5, %k : $l5, $k) outs(%ai : $ai)",
    ),
    (
        "the mask form needs equal element widths of 1, 2 or 4 bytes",
        'pto.tgather ins(%v, {maskPattern = #pto.mask_pattern<P0101>} : $v, "row") outs(%h : $h)',
    ),
    (
        "writes 8-bit floats, got",
        "pto.tquant.mx ins(%v : $v) outs(%h, %u8, %v, %v : $h, $u8, $v, $v) {quant_type = #pto<quant_type MXFP8>}",
    ),
    (
        "layouts on A5 must be lhs col_major/row_major, rhs row_major/col_major and dst col_major/row_major (blayout/slayout)",
        "pto.tmatmul ins(%l5, %krow : $l5, $krow) outs(%a : $a)",
    ),
    (
        "bias must be row-major",
        "pto.tmatmul.bias ins(%l5, %k, %biascol : $l5, $k, $biascol) outs(%a : $a)",
    ),
    (
        "cannot store from loc mat on A5, expected vec or acc",
        "pto.tstore ins(%m : $m) outs(%pm : $pm)",
    ),
    ("packs 4 bytes to 2 or 1, or 2 bytes to 1", "pto.tpack ins(%b8 : $b8) outs(%s16 : $s16)"),
    (
        "the major dimension of 'src' must be a multiple of 32 bytes",
        "pto.ttrans ins(%odd : $odd) outs(%d : $d)",
    ),
    ("src must hold ui16", "pto.thistogram ins(%n, %c8 : $n, $c8) outs(%u32 : $u32)"),
    (
        "indices must be one col_major column",
        "pto.thistogram ins(%u16, %u8 : $u16, $u8) outs(%u32 : $u32)",
    ),
    ("dst needs at least 256 columns", "pto.thistogram ins(%u16, %c8 : $u16, $c8) outs(%ui : $ui)"),
    (
        "quant_type must be MXFP8 or MXFP4_E2M1",
        "pto.tquant.mx ins(%v : $v) outs(%b8, %u8, %v, %v : $b8, $u8, $v, $v) {quant_type = #pto<quant_type INT8_SYM>}",
    ),
    (
        "writes packed 4-bit floats",
        "pto.tquant.mx ins(%v : $v) outs(%h, %u8, %v, %v : $h, $u8, $v, $v) {quant_type = #pto<quant_type MXFP4_E2M1>}",
    ),
    (
        "exp holds one byte per group (ui8 or f8E8M0)",
        "pto.tquant.mx ins(%v : $v) outs(%b8, %h, %v, %v : $b8, $h, $v, $v) {quant_type = #pto<quant_type MXFP8>}",
    ),
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
    ("between 0 and 1", "pto.struct_set %st [2], %i32 : $st, i32", "struct_set"),
    ("is not supported on A2/A3, it needs A5", "pto.{} #pto.membar<VST_VLD>", "mem_bar"),
]
# Whole texts; the line behind the message is wrong.
WHOLE = [
    (
        'expected "a2", "a3", "a2a3" or "a5"',
        'module attributes {pto.target_arch = "a7"} {}',
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


def escape(message: str) -> str:
    return "\n// expected-error @below {{" + message + "}}\n"


def function(message: str, lines: str, arch: str) -> str:
    lines = re.sub(r"\$(\w+)", lambda m: VALUES[m[1]], lines)
    defined = set(re.findall(r"^%(\w+) =", lines, re.M))
    names = [n for n in dict.fromkeys(re.findall(r"%(\w+)", lines)) if n not in defined]
    arguments = ", ".join(f"%{n}: {VALUES[n]}" for n in names)
    *before, last = re.split(r"\n(?=%y =|pto\.)", lines) if lines.startswith("%c") else [lines]
    body = "\n".join(before) + escape(message) + last
    return (
        f'module attributes {{pto.target_arch = "{arch}"}} {{\n'
        f"func.func @f({arguments}) {{\n{body}\nreturn\n}}\n}}\n"
    )


def texts() -> list[str]:
    shared = [(said, line.format(op)) for said, line, ops in SHARED for op in ops.split()]
    made = [function(*case, "a2a3") for case in A3 + shared]
    made += [function(*case, "a5") for case in A5]
    return made + [escape(message) + text + "\n" for message, text in WHOLE]


def test_each_rule_says_what_is_wrong(tmp_path):
    path = tmp_path / "messages.mlir"
    path.write_text("\n// -----\n".join(texts()))
    command = [tool("pto-opt"), str(path), "-split-input-file", "-verify-diagnostics"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
