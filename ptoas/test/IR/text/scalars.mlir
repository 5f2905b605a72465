// RUN: %check-text %s
// Elements of tiles, ids, arrays, structs, debugging.
!V = !pto.tile_buf<vec, 16x64xf32>
!LA = !pto.local_array<4x8xi32>
!ST = !pto.struct<i32, !pto.struct<f32, i64>>
module {
  func.func @scalars(%t: !V, %i: index, %x: f32, %n: i32) {
    pto.tsetval ins(%i, %x : index, f32) outs(%t : !V)
    %v = pto.tgetval ins(%t, %i : !V, index) outs : f32
    %a = pto.get_block_idx
    %b = pto.get_block_num
    %c = pto.get_subblock_idx
    %d = pto.get_subblock_num
    pto.tprint ins(%t : !V)
    pto.tprint ins(%t : !V) {printFormat = #pto<print_format width8_precision2>}
    pto.print ins("x=%f", %x : f32)
    pto.print ins("done")
    pto.trap
    %l = pto.declare_local_array -> !LA
    %e = pto.local_array_get %l[%i, %i] : !LA -> i32
    pto.local_array_set %l[%i, %i], %n : !LA, i32
    %s = pto.declare_struct -> !ST
    %f = pto.struct_get %s [1, 0] : !ST -> f32
    pto.struct_set %s [0], %n : !ST, i32
    return
  }
}
