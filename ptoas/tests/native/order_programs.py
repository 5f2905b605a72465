"""Programs that order their queues with flags, well and badly, for the tests of checked runs."""

from __future__ import annotations

LOAD = "pto.tload ins(%from : !P) outs(%t : !V)"
EXP = "pto.texp ins(%t : !V) outs(%u : !V)"
STORE = "pto.tstore ins(%u : !V) outs(%to : !P)"
ALL = "pto.barrier <PIPE_ALL>"


def set_flag(source: str, target: str, event: int = 0) -> str:
    return f"pto.set_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{event}>]"


def wait_flag(source: str, target: str, event: int = 0) -> str:
    return f"pto.wait_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{event}>]"


# What the iterations of the good loop hand each other.
BEFORE = [set_flag("V", "MTE2"), set_flag("MTE3", "V")]
BEHIND = [wait_flag("V", "MTE2"), wait_flag("MTE3", "V")]
GOOD = [
    wait_flag("V", "MTE2"), LOAD, set_flag("MTE2", "V"), wait_flag("MTE2", "V"), wait_flag("MTE3", "V"),
    EXP, set_flag("V", "MTE2"), set_flag("V", "MTE3"), wait_flag("V", "MTE3"), STORE, set_flag("MTE3", "V"),
]  # fmt: skip


def without(lines: list[str], *left_out: str) -> list[str]:
    return [line for line in lines if line not in left_out]


def program(
    body: list[str],
    before: list[str] = (),
    behind: list[str] = (),
    t: str | None = "%a0",
    u: str | None = "%a1",
    a0: int = 0,
    a1: int = 4096,
    arch: str = "a2a3",
    offset: str = "%i",
) -> str:
    """y = exp(x), 16 rows at a time, in a loop over `body`; `%k` is the number of the iteration."""

    def lines(of: list[str], indent: int) -> str:
        return "".join(" " * indent + line + "\n" for line in of)

    def tile(address: str | None) -> str:
        return f"pto.alloc_tile{f' addr = {address}' if address else ''} : !V"

    return f"""!V = !pto.tile_buf<vec, 16x64xf32>
!T = !pto.tensor_view<?x64xf32>
!P = !pto.partition_tensor_view<16x64xf32>
module attributes {{pto.target_arch = "{arch}"}} {{
  func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %rows: index, %n: i64)
      attributes {{pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %a0 = arith.constant {a0} : i64
    %a1 = arith.constant {a1} : i64
    %xs = pto.make_tensor_view %x, shape = [%rows, %c64], strides = [%c64, %c1] : !T
    %ys = pto.make_tensor_view %y, shape = [%rows, %c64], strides = [%c64, %c1] : !T
    %t = {tile(t)}
    %u = {tile(u)}
{lines(before, 4)}    scf.for %i = %c0 to %rows step %c16 {{
      %j = arith.divsi %i, %c16 : index
      %k = arith.remsi %j, %c2 : index
      %from = pto.partition_view %xs, offsets = [%i, %c0], sizes = [%c16, %c64] : !T -> !P
      %to = pto.partition_view %ys, offsets = [{offset}, %c0], sizes = [%c16, %c64] : !T -> !P
{lines(body, 6)}    }}
{lines(behind, 4)}    return
  }}
}}
"""
