"""Rules of tile instructions that are written as code: (message, lines; the last one is wrong). $name in a line is the
type of %name.
"""

from __future__ import annotations

A3 = [
    (
        "bias must have a column for each of the 32 columns (N)",
        "pto.tmatmul.bias ins(%l, %k, %bias16 : $l, $k, $bias16) outs(%a : $a)",
    ),
    (
        "expected an operand behind the comma; attributes follow the last operand without one",
        "pto.tneg ins(%v, {a = 1} : $v) outs(%d : $d)",
    ),
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
        "the indices must be one for each element of dst, got valid shapes",
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
    ("but more types", "pto.tadd ins(%v, %w : $v, $w, $w) outs(%d : $d)"),
    (
        "custom op 'pto.tadd' has an operand too many or of the wrong type in",
        "pto.tadd ins(%v, %w, %t : $v, $w, $t) outs(%d : $d)",
    ),
    (
        "atomic_add needs one of i8, i16, i32, ui8, ui16, ui32, f16, bf16, f32, got 'i64'",
        "pto.tstore ins(%l64 : $l64) outs(%pl : $pl) {atomicType = #pto<atomic_type atomic_add>}",
    ),
    (
        "'i32', quantised, cannot become 'i16' on A2/A3, expected one of i8, ui8, f16",
        "pto.tstore ins(%ai, %i64 : $ai, i64) outs(%ps16 : $ps16)",
    ),
    (
        "an accumulator of element type 'i32' cannot become 'f16' without scales, expected one of i32, ui32",
        "pto.tmov ins(%ai : $ai) outs(%mh : $mh)",
    ),
    (
        "an accumulator of element type 'f32' cannot become 'i8' without scales, expected one of f16, bf16, f32",
        "pto.textract ins(%a, %i, %j : $a, index, index) outs(%mi : $mi)",
    ),
    (
        "'f32', quantised, cannot become 'f16' on A2/A3, expected one of i8, ui8",
        "pto.tinsert ins(%a, %i, %j, %i64 : $a, index, index, i64) outs(%mh : $mh)",
    ),
    (
        "dst must be col_major with row_major boxes of fractal 512 (NZ)",
        "pto.textract ins(%a, %i, %j : $a, index, index) outs(%mr : $mr)",
    ),
    (
        "a bias is i32 from i32, or f32 from f16, bf16 or f32, got 'i8' to 'f32'",
        "pto.tmov ins(%mrow : $mrow) outs(%bias : $bias)",
    ),
    (
        "a tile in loc right must have blayout row_major",
        "pto.textract ins(%m, %i, %j : $m, index, index) outs(%kcol : $kcol)",
    ),
    (
        "the indices must be a vector with one for each row, or one for each element of dst, got valid shapes 1x4 and 16x64",
        "pto.mgather ins(%p, %ri4 : $p, $ri4) outs(%v : $v)",
    ),
    (
        "the indices must be a vector with one for each row of src",
        "pto.mscatter ins(%v, %n : $v, $n) outs(%p : $p) {coalesce = #pto<coalesce row>}",
    ),
    (
        "the scalar must be an integer like the elements, got 'f32'",
        "pto.tands ins(%s16, %x : $s16, f32) outs(%s16b : $s16b)",
    ),
    (
        "the scalar must be an integer like the elements, got 'f32'",
        "pto.txors ins(%s16, %x : $s16, f32) outs(%s16b : $s16b)",
    ),
    (
        "the diagonal must be an integer, got 'f32'",
        "pto.ttri ins(%x {upperOrLower = 0} : f32) outs(%d : $d)",
    ),
    (
        "the run length (block) must be an integer, got 'f32'",
        "pto.tmrgsort ins(%r, %x : $r, f32) outs(%r : $r)",
    ),
    ("' must be an index, got", "pto.textract ins(%m, %x, %j : $m, f32, index) outs(%lm : $lm)"),
]
# On A5.
A5 = [
    (
        "keys and counters must be i32, got 'f32'",
        "pto.trandom ins(%i32, %i32, %x, %i32, %i32, %i32 {rounds = 7} : i32, i32, f32, i32, i32, i32) outs(%n : $n)",
    ),
    (
        "are not supported on A5, expected fp8 * fp8 or fp4 * fp4 into f32",
        "pto.tmatmul.mx ins(%l8, %sl, %k4, %sk : $l8, $sl, $k4, $sk) outs(%a : $a)",
    ),
    (
        "are not supported on A5, expected fp8 * fp8 or fp4 * fp4 into f32",
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
]
