"""Stubs of the tile language.

Made by tools/gen_language.py; do not edit. Operations are compiled inside kernels: what they return
is a tensor, a tile or a scalar of the language, never data.
"""

from collections.abc import Sequence
from typing import Any, overload

from pypto.decorators import function as function, inline as inline, jit as jit, program as program
from pypto.dtypes import DataType as DataType
from pypto.enums import (
    AtomicType as AtomicType,
    CompactMode as CompactMode,
    ForKind as ForKind,
    FunctionType as FunctionType,
    Level as Level,
    MaskPattern as MaskPattern,
    Mem as Mem,
    MemorySpace as MemorySpace,
    PadValue as PadValue,
    PipeType as PipeType,
    Role as Role,
    ScopeMode as ScopeMode,
    SplitMode as SplitMode,
    TensorLayout as TensorLayout,
    TileLayout as TileLayout,
)
from pypto.language.constructs import (
    at as at,
    cluster as cluster,
    cond as cond,
    const as const,
    cross_core_slot as cross_core_slot,
    dump_tag as dump_tag,
    func_attr as func_attr,
    manual_scope as manual_scope,
    max as max,
    min as min,
    no_dep as no_dep,
    parallel as parallel,
    pipeline as pipeline,
    range as range,
    scope as scope,
    split as split,
    split_aiv as split_aiv,
    spmd as spmd,
    spmd_submit as spmd_submit,
    static_assert as static_assert,
    static_print as static_print,
    submit as submit,
    unroll as unroll,
    while_ as while_,
    yield_ as yield_,
)
from pypto.text import (
    loads as loads,
    loads_program as loads_program,
    parse as parse,
    parse_program as parse_program,
)
from pypto.types import (
    RUNTIME as RUNTIME,
    Array as Array,
    AsyncEvent as AsyncEvent,
    AsyncSession as AsyncSession,
    DynVar as DynVar,
    InOut as InOut,
    IntLike as IntLike,
    MemRef as MemRef,
    MemRefType as MemRefType,
    Out as Out,
    PrefetchAsyncContext as PrefetchAsyncContext,
    Ptr as Ptr,
    Scalar as Scalar,
    Tensor as Tensor,
    TensorView as TensorView,
    Tile as Tile,
    TileView as TileView,
    Tuple as Tuple,
    dynamic as dynamic,
)

Value = Any  # a tensor or tile of the language
Number = Any  # a number, or a scalar of the language

ND: TensorLayout
DN: TensorLayout
NZ: TensorLayout
MX_A_ZZ: TensorLayout
MX_B_NN: TensorLayout
AUTO: int
TaskId: Any
BOOL: DataType
INT4: DataType
INT8: DataType
INT16: DataType
INT32: DataType
INT64: DataType
INDEX: DataType
UINT4: DataType
UINT8: DataType
UINT16: DataType
UINT32: DataType
UINT64: DataType
FP4: DataType
FP8E4M3FN: DataType
FP8E5M2: DataType
FP16: DataType
FP32: DataType
FP8E8M0: DataType
BF16: DataType
HF4: DataType
HF8: DataType
TASK_ID: DataType

def abs(x: Value) -> Any:
    """|x|"""

def add(lhs: Value | Number, rhs: Value | Number) -> Any:
    """lhs + rhs"""

def addc(a: Value, b: Value, c: Value) -> Any:
    """a + b + c"""

def adds(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
    """lhs + rhs"""

def addsc(a: Value, b: Number, c: Value) -> Any:
    """a + s + c"""

def aic_gather(x: Value) -> Any:
    """both lanes' halves joined"""

def aic_initialize_pipe(
    c2v_consumer_buf: Number = ...,
    v2c_consumer_buf: Number = ...,
    *,
    dir_mask: int,
    slot_size: int,
    slot_num: int | None = ...,
    local_slot_num: int | None = ...,
    id: int | None = ...,
) -> Any:
    """opens a pipe; core is "aic" or "aiv" """

def aiv_initialize_pipe(
    c2v_consumer_buf: Number = ...,
    v2c_consumer_buf: Number = ...,
    *,
    dir_mask: int,
    slot_size: int,
    slot_num: int | None = ...,
    local_slot_num: int | None = ...,
    id: int | None = ...,
) -> Any:
    """opens a pipe; core is "aic" or "aiv" """

def aiv_shard(x: Value) -> Any:
    """the half of this vector lane"""

def and_(lhs: Value | Number, rhs: Value | Number) -> Any:
    """bitwise and"""

def ands(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
    """bitwise and"""

def arange(
    start: Number, shape: Sequence[int], dtype: DataType = ..., descending: bool = ...
) -> Any:
    """start, start±1, … along the last axis"""

def assemble(
    target: Value, source: Value, offset: Sequence[Number], *, atomic: AtomicType = ...
) -> Any:
    """writes source into a window of target; returns target"""

def batch_matmul(a: Value, b: Value) -> Any:
    """matrix product; batches broadcast"""

def batch_matmul_acc(acc: Value, a: Value, b: Value) -> Any:
    """acc + lhs @ rhs; init_cond true: lhs @ rhs"""

def cast(x: Value | Number, target_type: DataType, mode: int | str = ...) -> Any:
    """converts elements (scalars: pypto.scalar_cast)"""

def ci(start: Number, shape: Sequence[int], dtype: DataType = ..., descending: bool = ...) -> Any:
    """start, start±1, … along the last axis"""

def cmp(lhs: Value, rhs: Value | Number, cmp_type: int | str = ...) -> Any:
    """comparison; tensors: 0/1 in the promoted dtype, tiles: packed predicate bits"""

def cmps(lhs: Value, rhs: Number, cmp_type: int | str = ...) -> Any:
    """comparison; tensors: 0/1 in the promoted dtype, tiles: packed predicate bits"""

def col_argmax(x: Value, tmp: Value | None = ...) -> Any:
    """index of the largest of each column"""

def col_argmin(x: Value, tmp: Value | None = ...) -> Any:
    """index of the smallest of each column"""

def col_expand(target: Value, v: Value) -> Any:
    """v[1,N] on every row"""

def col_expand_add(x: Value, v: Value, tmp: Value | None = ...) -> Any:
    """x op v[1,N] on every row"""

def col_expand_div(x: Value, v: Value, tmp: Value | None = ...) -> Any:
    """x op v[1,N] on every row"""

def col_expand_expdif(x: Value, v: Value, tmp: Value | None = ...) -> Any:
    """x op v[1,N] on every row"""

def col_expand_max(x: Value, v: Value, tmp: Value | None = ...) -> Any:
    """x op v[1,N] on every row"""

def col_expand_min(x: Value, v: Value, tmp: Value | None = ...) -> Any:
    """x op v[1,N] on every row"""

def col_expand_mul(x: Value, v: Value, tmp: Value | None = ...) -> Any:
    """x op v[1,N] on every row"""

def col_expand_sub(x: Value, v: Value, tmp: Value | None = ...) -> Any:
    """x op v[1,N] on every row"""

def col_max(x: Value, tmp_tile: Value | None = ...) -> Any:
    """largest of each column"""

def col_min(x: Value, tmp_tile: Value | None = ...) -> Any:
    """smallest of each column"""

def col_prod(x: Value, tmp_tile: Value | None = ...) -> Any:
    """product of each column"""

def col_sum(x: Value, tmp_tile: Value | None = ...) -> Any:
    """sum of each column"""

def concat(a: Value, b: Value) -> Any:
    """joins columns"""

def cos(x: Value) -> Any:
    """cosine"""

def create_l1(shape: Sequence[int], dtype: DataType, transpose: bool = ...) -> Any:
    """a tile with undefined contents"""

def create_tensor(
    shape: Sequence[Number],
    dtype: DataType,
    layout: TensorLayout = ...,
    manual_dep: bool = ...,
    init_value: int | float | None = ...,
) -> Any:
    """a tensor with undefined contents: memory in an orchestration, a tile in a kernel"""

def create_tile(
    shape: Sequence[int],
    dtype: DataType,
    target_memory: MemorySpace = ...,
    transpose: bool | None = ...,
    *,
    flat_layout: bool | None = ...,
) -> Any:
    """a tile with undefined contents"""

def dim(t: Value, axis: int) -> Any:
    """extent of an axis"""

def div(lhs: Value | Number, rhs: Value | Number, high_precision: bool = ...) -> Any:
    """lhs / rhs; integers truncate"""

def divs(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
    """lhs / rhs; integers truncate"""

def exp(x: Value) -> Any:
    """e^x"""

def expand_clone(src: Value, target: Value) -> Any:
    """broadcasts src along one axis into target"""

def expands(target: Value, scalar: Number) -> Any:
    """target's shape filled with a run-time scalar"""

def extract(
    src: Value, r: Number, c: Number, shape: Sequence[int], *, target_memory: MemorySpace
) -> Any:
    """2-D constant window of a mat tile into left or right memory"""

def fillpad(x: Value, pad_value: PadValue = ...) -> Any:
    """writes the pad value outside the valid region; all valid afterwards"""

def fillpad_expand(x: Value, shape: Sequence[int], pad_value: PadValue = ...) -> Any:
    """pads to a larger shape"""

def fillpad_inplace(x: Value, pad_value: PadValue = ...) -> Any:
    """writes the pad value outside the valid region; all valid afterwards"""

def fmod(lhs: Value | Number, rhs: Value | Number) -> Any:
    """remainder with the dividend's sign"""

def fmods(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
    """remainder with the dividend's sign"""

def full(shape: Sequence[int], dtype: DataType, value: int | float) -> Any:
    """every element equals a constant"""

@overload
def gather(
    input: Value,
    *,
    kvalue: Value | Number,
    cmp_mode: int | str,
    out_cols: int,
    offset: int = ...,
    count_dtype: DataType | None = ...,
) -> Any:
    """per row the indices where a comparison holds, and their count"""

@overload
def gather(input: Value, *, mask_pattern: MaskPattern, output_dtype: DataType | None = ...) -> Any:
    """keeps the columns of a pattern"""

@overload
def gather(input: Value, dim: int, index: Value) -> Any:
    """torch.gather along dim; flat: positions in the whole tile"""

def gather_compare(
    src: Value,
    kvalue: Value | Number,
    tmp: Value | None = ...,
    *,
    cmp_mode: int | str = ...,
    offset: int = ...,
    out_cols: int,
    count_dtype: DataType | None = ...,
) -> Any:
    """per row the indices where a comparison holds, and their count"""

def gather_mask(
    src: Value, mask_pattern: MaskPattern, *, output_dtype: DataType | None = ...
) -> Any:
    """keeps the columns of a pattern"""

def gather_row(
    dst: Value,
    src: Value,
    dst_offset: Sequence[Number],
    src_offset: Sequence[Number],
    shapes: Sequence[int],
    transpose: bool = ...,
    *,
    valid_shape: Sequence[Number] | None = ...,
) -> Any:
    """rows of global memory into a window of an on-chip tile"""

def gatherb(src: Value, offset: Value, *, output_dtype: DataType | None = ...) -> Any:
    """32-byte blocks by byte offset"""

def gemv(a: Value, b: Value, acc_phase: str = ...) -> Any:
    """vector @ matrix"""

def gemv_acc(acc: Value, a: Value, b: Value, acc_phase: str = ...) -> Any:
    """acc + vector @ matrix"""

def gemv_bias(a: Value, b: Value, bias: Value, acc_phase: str = ...) -> Any:
    """vector @ matrix + bias"""

def get_block_idx() -> Any:
    """index of this block"""

def get_block_num() -> Any:
    """number of blocks of the launch"""

def get_subblock_idx() -> Any:
    """vector lane"""

def import_peer_buffer(*, name: str, peer_func: str) -> Any:
    """address of a peer's reserved memory"""

def load(
    tensor: Value,
    offsets: Sequence[Number],
    shapes: Sequence[int],
    valid_shape: Sequence[Number] | None = ...,
    target_memory: MemorySpace = ...,
    clamp: bool = ...,
) -> Any:
    """global memory to a vec or mat tile"""

def log(x: Value, high_precision: bool = ...) -> Any:
    """natural logarithm"""

def lrelu(x: Value, slope: Number) -> Any:
    """max(x, slope * x)"""

def matmul(
    lhs: Value,
    rhs: Value,
    out_dtype: DataType | None = ...,
    a_trans: bool = ...,
    b_trans: bool = ...,
    c_matrix_nz: Value = ...,
) -> Any:
    """matrix product; batches broadcast"""

def matmul_acc(
    acc: Value,
    lhs: Value,
    rhs: Value,
    a_trans: bool = ...,
    b_trans: bool = ...,
    init_cond: Number | None = ...,
) -> Any:
    """acc + lhs @ rhs; init_cond true: lhs @ rhs"""

def matmul_bias(a: Value, b: Value, bias: Value) -> Any:
    """a @ b + bias[1,N]"""

def matmul_mx(lhs: Value, lhs_scale: Value, rhs: Value, rhs_scale: Value) -> Any:
    """product of block-scaled 8-bit floats (a5)"""

def matmul_mx_acc(acc: Value, lhs: Value, lhs_scale: Value, rhs: Value, rhs_scale: Value) -> Any:
    """product of block-scaled 8-bit floats (a5)"""

def matmul_mx_bias(lhs: Value, lhs_scale: Value, rhs: Value, rhs_scale: Value, bias: Value) -> Any:
    """product of block-scaled 8-bit floats (a5)"""

def maximum(lhs: Value | Number, rhs: Value | Number) -> Any:
    """larger element"""

def maximums(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
    """larger element"""

def mgather(
    mem: Value,
    idx: Value,
    coalesce: str = ...,
    *,
    gather_oob: str = ...,
    target_memory: MemorySpace = ...,
    scratch: Value | None = ...,
    valid_shape: Sequence[Number] | None = ...,
) -> Any:
    """elements or rows of global memory by index"""

def minimum(lhs: Value | Number, rhs: Value | Number) -> Any:
    """smaller element"""

def minimums(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
    """smaller element"""

def move(
    tile: Value,
    target_memory: MemorySpace,
    blayout: TileLayout | None = ...,
    slayout: TileLayout | None = ...,
) -> Any:
    """copy to another on-chip memory"""

@overload
def mrgsort(src: Value, *, block_len: int) -> Any:
    """merges sorted runs of one list, or 2 to 4 lists"""

@overload
def mrgsort(
    src0: Value,
    src1: Value,
    src2: Value | None = ...,
    src3: Value | None = ...,
    tmp: Value | None = ...,
    *,
    exhausted: bool = ...,
) -> Any:
    """merges sorted runs of one list, or 2 to 4 lists"""

def mscatter(src: Value, idx: Value, out: Value) -> Any:
    """elements or rows of a tile to global memory by index; returns the tensor"""

def mul(lhs: Value | Number, rhs: Value | Number) -> Any:
    """lhs * rhs"""

def muls(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
    """lhs * rhs"""

def neg(x: Value) -> Any:
    """-x"""

def not_(x: Value) -> Any:
    """bitwise complement"""

def or_(lhs: Value | Number, rhs: Value | Number) -> Any:
    """bitwise or"""

def ors(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
    """bitwise or"""

def paged_gather(
    src: Value,
    indices: Value,
    block_table: Value,
    block_size: int,
    size: Number,
    max_indices: int,
    *,
    space: MemorySpace = ...,
    col_off: int = ...,
    is_trans: bool = ...,
    is_b_matrix: bool = ...,
) -> Any:
    """rows of a paged cache by index"""

def part_add(lhs: Value, rhs: Value) -> Any:
    """combines where both are valid, copies where one is"""

def part_max(lhs: Value, rhs: Value) -> Any:
    """combines where both are valid, copies where one is"""

def part_min(lhs: Value, rhs: Value) -> Any:
    """combines where both are valid, copies where one is"""

def part_mul(lhs: Value, rhs: Value) -> Any:
    """combines where both are valid, copies where one is"""

def prelu(x: Value, slope: Value, tmp: Value | None = ...) -> Any:
    """x > 0 ? x : slope * x"""

def random(
    key0: Number,
    key1: Number,
    c0: Number,
    c1: Number,
    c2: Number,
    c3: Number,
    shape: Sequence[int],
    dtype: DataType = ...,
    rounds: int = ...,
) -> Any:
    """counter-based random integers"""

def read(src: Value, idx: Sequence[Number]) -> Any:
    """one element"""

def recip(x: Value, high_precision: bool = ...) -> Any:
    """1 / x"""

def reinterpret_view(x: Value, dtype: DataType, *, shape: Sequence[int] | None = ...) -> Any:
    """same bits, another element type"""

def relu(x: Value) -> Any:
    """max(x, 0)"""

def rem(lhs: Value | Number, rhs: Value | Number, tmp: Value | None = ...) -> Any:
    """remainder with the divisor's sign"""

def rems(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
    """remainder with the divisor's sign"""

def reserve_buffer(*, name: str, size: int, base: int = ...) -> Any:
    """names local memory of a pipe"""

def reshape(x: Value, shape: Sequence[Number]) -> Any:
    """same elements in row-major order, another shape"""

def row_argmax(x: Value, tmp: Value | None = ...) -> Any:
    """index of the largest of each row"""

def row_argmin(x: Value, tmp: Value | None = ...) -> Any:
    """index of the smallest of each row"""

def row_expand(target: Value, v: Value) -> Any:
    """v[M,1] on every column"""

def row_expand_add(x: Value, v: Value, tmp: Value | None = ...) -> Any:
    """x op v[M,1] on every column"""

def row_expand_div(x: Value, v: Value, tmp: Value | None = ...) -> Any:
    """x op v[M,1] on every column"""

def row_expand_expdif(x: Value, v: Value, tmp: Value | None = ...) -> Any:
    """x op v[M,1] on every column"""

def row_expand_max(x: Value, v: Value, tmp: Value | None = ...) -> Any:
    """x op v[M,1] on every column"""

def row_expand_min(x: Value, v: Value, tmp: Value | None = ...) -> Any:
    """x op v[M,1] on every column"""

def row_expand_mul(x: Value, v: Value, tmp: Value | None = ...) -> Any:
    """x op v[M,1] on every column"""

def row_expand_sub(x: Value, v: Value, tmp: Value | None = ...) -> Any:
    """x op v[M,1] on every column"""

def row_max(x: Value, tmp_tile: Value | None = ...) -> Any:
    """largest of each row"""

def row_min(x: Value, tmp_tile: Value | None = ...) -> Any:
    """smallest of each row"""

def row_prod(x: Value, tmp_tile: Value | None = ...) -> Any:
    """product of each row"""

def row_sum(x: Value, tmp_tile: Value | None = ...) -> Any:
    """sum of each row"""

def rsqrt(x: Value, high_precision: bool = ..., tmp: Value | None = ...) -> Any:
    """1 / sqrt(x)"""

@overload
def scatter(src: Value, *, mask_pattern: MaskPattern, dst: Value) -> Any:
    """spreads src over the columns of a pattern in dst"""

@overload
def scatter(input: Value, dim: int, index: Value, src: Value) -> Any:
    """writes src at index along dim; flat: positions in the whole tile, the rest becomes 0"""

def scatter_mask(dst: Value, src: Value, mask_pattern: MaskPattern) -> Any:
    """spreads src over the columns of a pattern in dst"""

def scatter_update(input: Value, dim: int, index: Value, src: Value) -> Any:
    """replaces rows of input by rows of src"""

def sel(mask: Value, a: Value, b: Value, tmp: Value | None = ...) -> Any:
    """mask bit ? a : b"""

def sels(mask: Value, src: Value, tmp: Value, scalar: Number) -> Any:
    """mask bit ? a : b"""

def set_validshape(x: Value, rows: Number, cols: Number) -> Any:
    """declares rows and columns of real data"""

def shl(lhs: Value | Number, rhs: Value | Number) -> Any:
    """shift left"""

def shls(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
    """shift left"""

def shr(lhs: Value | Number, rhs: Value | Number) -> Any:
    """shift right, arithmetic on signed"""

def shrs(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
    """shift right, arithmetic on signed"""

def sin(x: Value) -> Any:
    """sine"""

def slice(
    input: Value,
    shape: Sequence[Number],
    offset: Sequence[Number],
    valid_shape: Sequence[Number] | None = ...,
    drop_dims: Sequence[int] | None = ...,
    pad_value: PadValue | None = ...,
    clamp: bool = ...,
) -> Any:
    """a window: sizes, then offsets"""

def sort32(src: Value, idx: Value) -> Any:
    """sorts each run of 32 descending into (value, index) pairs"""

def sqrt(x: Value) -> Any:
    """square root"""

def store(
    tile: Value,
    offsets: Sequence[Number],
    output_tensor: Value,
    shapes: Sequence[int] | None = ...,
    *,
    atomic: AtomicType = ...,
) -> Any:
    """the valid region of a tile to global memory; returns the tensor"""

def sub(lhs: Value | Number, rhs: Value | Number) -> Any:
    """lhs - rhs"""

def subc(a: Value, b: Value, c: Value) -> Any:
    """a - b - c"""

def subs(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
    """lhs - rhs"""

def subsc(a: Value, b: Number, c: Value) -> Any:
    """a - s - c"""

def tfree_to_aic(tile: Value, *, split: int | None = ..., id: int | None = ...) -> Any:
    """returns the slot of a popped tile; to is "aic" or "aiv" """

def tfree_to_aiv(tile: Value, *, split: int | None = ..., id: int | None = ...) -> Any:
    """returns the slot of a popped tile; to is "aic" or "aiv" """

def tpop_from_aic(
    *,
    shape: Sequence[int],
    dtype: DataType,
    split: int = ...,
    lane_stride: int | None = ...,
    id: int | None = ...,
) -> Any:
    """takes a tile from a pipe; from is "aic" or "aiv" """

def tpop_from_aiv(
    *, shape: Sequence[int], dtype: DataType, split: int = ..., id: int | None = ...
) -> Any:
    """takes a tile from a pipe; from is "aic" or "aiv" """

def tpush_to_aic(tile: Value, *, split: int, id: int | None = ...) -> Any:
    """puts a tile into a pipe; to is "aic" or "aiv" """

def tpush_to_aiv(
    tile: Value, *, split: int, lane_stride: int | None = ..., id: int | None = ...
) -> Any:
    """puts a tile into a pipe; to is "aic" or "aiv" """

def transpose(x: Value, axis1: int, axis2: int, tmp: Value | None = ...) -> Any:
    """swaps two axes, moving data"""

def transpose_view(x: Value) -> Any:
    """swaps the last two axes by layout"""

def tri(
    diagonal: Number,
    shape: Sequence[int],
    valid_shape: Sequence[Number] | None = ...,
    dtype: DataType = ...,
    upper: bool = ...,
) -> Any:
    """1 where j <= i + diagonal (upper: >=), else 0"""

def view(
    x: Value,
    shape: Sequence[Number] | None = ...,
    valid_shape: Sequence[Number] | None = ...,
    *,
    layout: TensorLayout | None = ...,
) -> Any:
    """another shape or layout of packed global memory"""

def write(dst: Value, idx: Sequence[Number], value: Number) -> Any:
    """stores one element; returns the destination"""

def xor(lhs: Value | Number, rhs: Value | Number, tmp: Value | None = ...) -> Any:
    """bitwise exclusive or"""

def xors(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
    """bitwise exclusive or"""

class array:
    @staticmethod
    def create(extent: int, dtype: DataType) -> Any:
        """a local array: task ids start invalid, other elements are undefined"""
    @staticmethod
    def get_element(arr: Value, i: Number) -> Any:
        """one element"""
    @staticmethod
    def update_element(arr: Value, i: Number, v: Number) -> Any:
        """the array with one element replaced"""

class system:
    @staticmethod
    def aic_initialize_pipe(
        c2v_consumer_buf: Number = ...,
        v2c_consumer_buf: Number = ...,
        *,
        dir_mask: int,
        slot_size: int,
        slot_num: int | None = ...,
        local_slot_num: int | None = ...,
        id: int | None = ...,
    ) -> Any:
        """opens a pipe; core is "aic" or "aiv" """
    @staticmethod
    def aiv_initialize_pipe(
        c2v_consumer_buf: Number = ...,
        v2c_consumer_buf: Number = ...,
        *,
        dir_mask: int,
        slot_size: int,
        slot_num: int | None = ...,
        local_slot_num: int | None = ...,
        id: int | None = ...,
    ) -> Any:
        """opens a pipe; core is "aic" or "aiv" """
    @staticmethod
    def available_aiv_count() -> Any:
        """vector cores of the device"""
    @staticmethod
    def available_cluster_count() -> Any:
        """clusters of the device"""
    @staticmethod
    def bar_all() -> Any:
        """pipe barrier or memory fence"""
    @staticmethod
    def bar_m() -> Any:
        """pipe barrier or memory fence"""
    @staticmethod
    def bar_v() -> Any:
        """pipe barrier or memory fence"""
    @overload
    @staticmethod
    def cacheinvalid() -> Any:
        """drops lines of the scalar data cache"""
    @overload
    @staticmethod
    def cacheinvalid(tensor: Value, shapes: Sequence[int], offsets: Sequence[Number]) -> Any:
        """drops lines of the scalar data cache"""
    @staticmethod
    def fence() -> Any:
        """pipe barrier or memory fence"""
    @staticmethod
    def import_peer_buffer(*, name: str, peer_func: str) -> Any:
        """address of a peer's reserved memory"""
    @staticmethod
    def reserve_buffer(*, name: str, size: int, base: int = ...) -> Any:
        """names local memory of a pipe"""
    @staticmethod
    def set_ffts(workspace: Value) -> Any:
        """memory of the cross-core events"""
    @staticmethod
    def sync_dst(*, set_pipe: PipeType, wait_pipe: PipeType, event_id: int) -> Any:
        """intra-core pipe flag"""
    @staticmethod
    def sync_set(
        event_id: Number,
        *,
        pipe: PipeType,
        ffts_mode: int | None = ...,
        core_type: str | None = ...,
    ) -> Any:
        """raises a cross-core event"""
    @staticmethod
    def sync_src(*, set_pipe: PipeType, wait_pipe: PipeType, event_id: int) -> Any:
        """intra-core pipe flag"""
    @staticmethod
    def sync_wait(event_id: Number, *, pipe: PipeType, core_type: str | None = ...) -> Any:
        """waits for a cross-core event"""
    @staticmethod
    def syncall(
        *,
        core_type: str = ...,
        mode: str = ...,
        gm_workspace: Value | None = ...,
        used_cores: int | None = ...,
    ) -> Any:
        """barrier of all blocks"""
    @staticmethod
    def task_dummy(*, deps: Sequence[Any]) -> Any:
        """a task that does nothing but wait"""
    @staticmethod
    def task_invalid() -> Any:
        """no task"""
    @staticmethod
    def tfree_to_aic(tile: Value, *, split: int | None = ..., id: int | None = ...) -> Any:
        """returns the slot of a popped tile; to is "aic" or "aiv" """
    @staticmethod
    def tfree_to_aiv(tile: Value, *, split: int | None = ..., id: int | None = ...) -> Any:
        """returns the slot of a popped tile; to is "aic" or "aiv" """
    @staticmethod
    def tpop_from_aic(
        *,
        shape: Sequence[int],
        dtype: DataType,
        split: int = ...,
        lane_stride: int | None = ...,
        id: int | None = ...,
    ) -> Any:
        """takes a tile from a pipe; from is "aic" or "aiv" """
    @staticmethod
    def tpop_from_aiv(
        *, shape: Sequence[int], dtype: DataType, split: int = ..., id: int | None = ...
    ) -> Any:
        """takes a tile from a pipe; from is "aic" or "aiv" """
    @staticmethod
    def tpush_to_aic(tile: Value, *, split: int, id: int | None = ...) -> Any:
        """puts a tile into a pipe; to is "aic" or "aiv" """
    @staticmethod
    def tpush_to_aiv(
        tile: Value, *, split: int, lane_stride: int | None = ..., id: int | None = ...
    ) -> Any:
        """puts a tile into a pipe; to is "aic" or "aiv" """

class tensor:
    @staticmethod
    def abs(x: Value) -> Any:
        """|x|"""
    @staticmethod
    def add(lhs: Value | Number, rhs: Value | Number) -> Any:
        """lhs + rhs"""
    @staticmethod
    def adds(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """lhs + rhs"""
    @staticmethod
    def aic_gather(x: Value) -> Any:
        """both lanes' halves joined"""
    @staticmethod
    def aiv_shard(x: Value) -> Any:
        """the half of this vector lane"""
    @staticmethod
    def and_(lhs: Value | Number, rhs: Value | Number) -> Any:
        """bitwise and"""
    @staticmethod
    def ands(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """bitwise and"""
    @staticmethod
    def arange(
        start: Number, shape: Sequence[int], dtype: DataType = ..., descending: bool = ...
    ) -> Any:
        """start, start±1, … along the last axis"""
    @staticmethod
    def assemble(
        target: Value, source: Value, offset: Sequence[Number], *, atomic: AtomicType = ...
    ) -> Any:
        """writes source into a window of target; returns target"""
    @staticmethod
    def cast(x: Value | Number, target_type: DataType, mode: int | str = ...) -> Any:
        """converts elements (scalars: pypto.scalar_cast)"""
    @staticmethod
    def ci(
        start: Number, shape: Sequence[int], dtype: DataType = ..., descending: bool = ...
    ) -> Any:
        """start, start±1, … along the last axis"""
    @staticmethod
    def cmp(lhs: Value, rhs: Value | Number, cmp_type: int | str = ...) -> Any:
        """comparison; tensors: 0/1 in the promoted dtype, tiles: packed predicate bits"""
    @staticmethod
    def col_argmax(x: Value, tmp: Value | None = ...) -> Any:
        """index of the largest of each column"""
    @staticmethod
    def col_argmin(x: Value, tmp: Value | None = ...) -> Any:
        """index of the smallest of each column"""
    @staticmethod
    def col_expand(target: Value, v: Value) -> Any:
        """v[1,N] on every row"""
    @staticmethod
    def col_expand_add(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[1,N] on every row"""
    @staticmethod
    def col_expand_div(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[1,N] on every row"""
    @staticmethod
    def col_expand_expdif(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[1,N] on every row"""
    @staticmethod
    def col_expand_max(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[1,N] on every row"""
    @staticmethod
    def col_expand_min(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[1,N] on every row"""
    @staticmethod
    def col_expand_mul(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[1,N] on every row"""
    @staticmethod
    def col_expand_sub(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[1,N] on every row"""
    @staticmethod
    def col_max(x: Value, tmp_tile: Value | None = ...) -> Any:
        """largest of each column"""
    @staticmethod
    def col_min(x: Value, tmp_tile: Value | None = ...) -> Any:
        """smallest of each column"""
    @staticmethod
    def col_prod(x: Value, tmp_tile: Value | None = ...) -> Any:
        """product of each column"""
    @staticmethod
    def col_sum(x: Value, tmp_tile: Value | None = ...) -> Any:
        """sum of each column"""
    @staticmethod
    def concat(a: Value, b: Value) -> Any:
        """joins columns"""
    @staticmethod
    def cos(x: Value) -> Any:
        """cosine"""
    @staticmethod
    def create(
        shape: Sequence[Number],
        dtype: DataType,
        layout: TensorLayout = ...,
        manual_dep: bool = ...,
        init_value: int | float | None = ...,
    ) -> Any:
        """a tensor with undefined contents: memory in an orchestration, a tile in a kernel"""
    @staticmethod
    def create_l1(shape: Sequence[int], dtype: DataType, transpose: bool = ...) -> Any:
        """a tile with undefined contents"""
    @staticmethod
    def create_tensor(
        shape: Sequence[Number],
        dtype: DataType,
        layout: TensorLayout = ...,
        manual_dep: bool = ...,
        init_value: int | float | None = ...,
    ) -> Any:
        """a tensor with undefined contents: memory in an orchestration, a tile in a kernel"""
    @staticmethod
    def dim(t: Value, axis: int) -> Any:
        """extent of an axis"""
    @staticmethod
    def div(lhs: Value | Number, rhs: Value | Number, high_precision: bool = ...) -> Any:
        """lhs / rhs; integers truncate"""
    @staticmethod
    def divs(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """lhs / rhs; integers truncate"""
    @staticmethod
    def exp(x: Value) -> Any:
        """e^x"""
    @staticmethod
    def expand_clone(src: Value, target: Value) -> Any:
        """broadcasts src along one axis into target"""
    @staticmethod
    def expands(target: Value, scalar: Number) -> Any:
        """target's shape filled with a run-time scalar"""
    @staticmethod
    def fillpad(x: Value, pad_value: PadValue = ...) -> Any:
        """writes the pad value outside the valid region; all valid afterwards"""
    @staticmethod
    def fillpad_expand(x: Value, shape: Sequence[int], pad_value: PadValue = ...) -> Any:
        """pads to a larger shape"""
    @staticmethod
    def fmod(lhs: Value | Number, rhs: Value | Number) -> Any:
        """remainder with the dividend's sign"""
    @staticmethod
    def fmods(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """remainder with the dividend's sign"""
    @staticmethod
    def full(shape: Sequence[int], dtype: DataType, value: int | float) -> Any:
        """every element equals a constant"""
    @overload
    @staticmethod
    def gather(
        input: Value,
        *,
        kvalue: Value | Number,
        cmp_mode: int | str,
        out_cols: int,
        offset: int = ...,
        count_dtype: DataType | None = ...,
    ) -> Any:
        """per row the indices where a comparison holds, and their count"""
    @overload
    @staticmethod
    def gather(
        input: Value, *, mask_pattern: MaskPattern, output_dtype: DataType | None = ...
    ) -> Any:
        """keeps the columns of a pattern"""
    @overload
    @staticmethod
    def gather(input: Value, dim: int, index: Value) -> Any:
        """torch.gather along dim; flat: positions in the whole tile"""
    @staticmethod
    def gather_row(
        dst: Value,
        src: Value,
        dst_offset: Sequence[Number],
        src_offset: Sequence[Number],
        shapes: Sequence[int],
        transpose: bool = ...,
        *,
        valid_shape: Sequence[Number] | None = ...,
    ) -> Any:
        """rows of global memory into a window of an on-chip tile"""
    @staticmethod
    def get_block_idx() -> Any:
        """index of this block"""
    @staticmethod
    def get_block_num() -> Any:
        """number of blocks of the launch"""
    @staticmethod
    def get_subblock_idx() -> Any:
        """vector lane"""
    @staticmethod
    def log(x: Value, high_precision: bool = ...) -> Any:
        """natural logarithm"""
    @staticmethod
    def matmul(
        lhs: Value,
        rhs: Value,
        out_dtype: DataType | None = ...,
        a_trans: bool = ...,
        b_trans: bool = ...,
        c_matrix_nz: Value = ...,
    ) -> Any:
        """matrix product; batches broadcast"""
    @staticmethod
    def matmul_acc(
        acc: Value,
        lhs: Value,
        rhs: Value,
        a_trans: bool = ...,
        b_trans: bool = ...,
        init_cond: Number | None = ...,
    ) -> Any:
        """acc + lhs @ rhs; init_cond true: lhs @ rhs"""
    @staticmethod
    def maximum(lhs: Value | Number, rhs: Value | Number) -> Any:
        """larger element"""
    @staticmethod
    def maximums(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """larger element"""
    @staticmethod
    def minimum(lhs: Value | Number, rhs: Value | Number) -> Any:
        """smaller element"""
    @staticmethod
    def minimums(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """smaller element"""
    @overload
    @staticmethod
    def mrgsort(src: Value, *, block_len: int) -> Any:
        """merges sorted runs of one list, or 2 to 4 lists"""
    @overload
    @staticmethod
    def mrgsort(
        src0: Value,
        src1: Value,
        src2: Value | None = ...,
        src3: Value | None = ...,
        tmp: Value | None = ...,
        *,
        exhausted: bool = ...,
    ) -> Any:
        """merges sorted runs of one list, or 2 to 4 lists"""
    @staticmethod
    def mul(lhs: Value | Number, rhs: Value | Number) -> Any:
        """lhs * rhs"""
    @staticmethod
    def muls(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """lhs * rhs"""
    @staticmethod
    def neg(x: Value) -> Any:
        """-x"""
    @staticmethod
    def not_(x: Value) -> Any:
        """bitwise complement"""
    @staticmethod
    def or_(lhs: Value | Number, rhs: Value | Number) -> Any:
        """bitwise or"""
    @staticmethod
    def ors(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """bitwise or"""
    @staticmethod
    def paged_gather(
        src: Value,
        indices: Value,
        block_table: Value,
        block_size: int,
        size: Number,
        max_indices: int,
        *,
        space: MemorySpace = ...,
        col_off: int = ...,
        is_trans: bool = ...,
        is_b_matrix: bool = ...,
    ) -> Any:
        """rows of a paged cache by index"""
    @staticmethod
    def part_add(lhs: Value, rhs: Value) -> Any:
        """combines where both are valid, copies where one is"""
    @staticmethod
    def part_max(lhs: Value, rhs: Value) -> Any:
        """combines where both are valid, copies where one is"""
    @staticmethod
    def part_min(lhs: Value, rhs: Value) -> Any:
        """combines where both are valid, copies where one is"""
    @staticmethod
    def part_mul(lhs: Value, rhs: Value) -> Any:
        """combines where both are valid, copies where one is"""
    @staticmethod
    def random(
        key0: Number,
        key1: Number,
        c0: Number,
        c1: Number,
        c2: Number,
        c3: Number,
        shape: Sequence[int],
        dtype: DataType = ...,
        rounds: int = ...,
    ) -> Any:
        """counter-based random integers"""
    @staticmethod
    def read(src: Value, idx: Sequence[Number]) -> Any:
        """one element"""
    @staticmethod
    def recip(x: Value, high_precision: bool = ...) -> Any:
        """1 / x"""
    @staticmethod
    def reinterpret_view(x: Value, dtype: DataType, *, shape: Sequence[int] | None = ...) -> Any:
        """same bits, another element type"""
    @staticmethod
    def rem(lhs: Value | Number, rhs: Value | Number, tmp: Value | None = ...) -> Any:
        """remainder with the divisor's sign"""
    @staticmethod
    def rems(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """remainder with the divisor's sign"""
    @staticmethod
    def reshape(x: Value, shape: Sequence[Number]) -> Any:
        """same elements in row-major order, another shape"""
    @staticmethod
    def row_argmax(x: Value, tmp: Value | None = ...) -> Any:
        """index of the largest of each row"""
    @staticmethod
    def row_argmin(x: Value, tmp: Value | None = ...) -> Any:
        """index of the smallest of each row"""
    @staticmethod
    def row_expand(target: Value, v: Value) -> Any:
        """v[M,1] on every column"""
    @staticmethod
    def row_expand_add(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[M,1] on every column"""
    @staticmethod
    def row_expand_div(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[M,1] on every column"""
    @staticmethod
    def row_expand_expdif(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[M,1] on every column"""
    @staticmethod
    def row_expand_max(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[M,1] on every column"""
    @staticmethod
    def row_expand_min(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[M,1] on every column"""
    @staticmethod
    def row_expand_mul(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[M,1] on every column"""
    @staticmethod
    def row_expand_sub(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[M,1] on every column"""
    @staticmethod
    def row_max(x: Value, tmp_tile: Value | None = ...) -> Any:
        """largest of each row"""
    @staticmethod
    def row_min(x: Value, tmp_tile: Value | None = ...) -> Any:
        """smallest of each row"""
    @staticmethod
    def row_prod(x: Value, tmp_tile: Value | None = ...) -> Any:
        """product of each row"""
    @staticmethod
    def row_sum(x: Value, tmp_tile: Value | None = ...) -> Any:
        """sum of each row"""
    @staticmethod
    def rsqrt(x: Value, high_precision: bool = ..., tmp: Value | None = ...) -> Any:
        """1 / sqrt(x)"""
    @overload
    @staticmethod
    def scatter(src: Value, *, mask_pattern: MaskPattern, dst: Value) -> Any:
        """spreads src over the columns of a pattern in dst"""
    @overload
    @staticmethod
    def scatter(input: Value, dim: int, index: Value, src: Value) -> Any:
        """writes src at index along dim; flat: positions in the whole tile, the rest becomes 0"""
    @staticmethod
    def scatter_update(input: Value, dim: int, index: Value, src: Value) -> Any:
        """replaces rows of input by rows of src"""
    @staticmethod
    def set_validshape(x: Value, rows: Number, cols: Number) -> Any:
        """declares rows and columns of real data"""
    @staticmethod
    def shl(lhs: Value | Number, rhs: Value | Number) -> Any:
        """shift left"""
    @staticmethod
    def shls(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """shift left"""
    @staticmethod
    def shr(lhs: Value | Number, rhs: Value | Number) -> Any:
        """shift right, arithmetic on signed"""
    @staticmethod
    def shrs(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """shift right, arithmetic on signed"""
    @staticmethod
    def sin(x: Value) -> Any:
        """sine"""
    @staticmethod
    def slice(
        input: Value,
        shape: Sequence[Number],
        offset: Sequence[Number],
        valid_shape: Sequence[Number] | None = ...,
        drop_dims: Sequence[int] | None = ...,
        pad_value: PadValue | None = ...,
        clamp: bool = ...,
    ) -> Any:
        """a window: sizes, then offsets"""
    @staticmethod
    def sort32(src: Value, idx: Value) -> Any:
        """sorts each run of 32 descending into (value, index) pairs"""
    @staticmethod
    def sqrt(x: Value) -> Any:
        """square root"""
    @staticmethod
    def sub(lhs: Value | Number, rhs: Value | Number) -> Any:
        """lhs - rhs"""
    @staticmethod
    def subs(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """lhs - rhs"""
    @staticmethod
    def transpose(x: Value, axis1: int, axis2: int, tmp: Value | None = ...) -> Any:
        """swaps two axes, moving data"""
    @staticmethod
    def view(
        x: Value,
        shape: Sequence[Number] | None = ...,
        valid_shape: Sequence[Number] | None = ...,
        *,
        layout: TensorLayout | None = ...,
    ) -> Any:
        """another shape or layout of packed global memory"""
    @staticmethod
    def write(dst: Value, idx: Sequence[Number], value: Number) -> Any:
        """stores one element; returns the destination"""
    @staticmethod
    def xor(lhs: Value | Number, rhs: Value | Number, tmp: Value | None = ...) -> Any:
        """bitwise exclusive or"""
    @staticmethod
    def xors(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """bitwise exclusive or"""

class tile:
    MaskPattern = MaskPattern
    @staticmethod
    def abs(x: Value) -> Any:
        """|x|"""
    @staticmethod
    def add(lhs: Value | Number, rhs: Value | Number) -> Any:
        """lhs + rhs"""
    @staticmethod
    def addc(a: Value, b: Value, c: Value) -> Any:
        """a + b + c"""
    @staticmethod
    def adds(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """lhs + rhs"""
    @staticmethod
    def addsc(a: Value, b: Number, c: Value) -> Any:
        """a + s + c"""
    @staticmethod
    def aic_gather(x: Value) -> Any:
        """both lanes' halves joined"""
    @staticmethod
    def aiv_shard(x: Value) -> Any:
        """the half of this vector lane"""
    @staticmethod
    def and_(lhs: Value | Number, rhs: Value | Number) -> Any:
        """bitwise and"""
    @staticmethod
    def ands(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """bitwise and"""
    @staticmethod
    def arange(
        start: Number, shape: Sequence[int], dtype: DataType = ..., descending: bool = ...
    ) -> Any:
        """start, start±1, … along the last axis"""
    @staticmethod
    def assemble(
        target: Value, source: Value, offset: Sequence[Number], *, atomic: AtomicType = ...
    ) -> Any:
        """writes source into a window of target; returns target"""
    @staticmethod
    def batch_matmul(a: Value, b: Value) -> Any:
        """matrix product; batches broadcast"""
    @staticmethod
    def batch_matmul_acc(acc: Value, a: Value, b: Value) -> Any:
        """acc + lhs @ rhs; init_cond true: lhs @ rhs"""
    @staticmethod
    def cast(x: Value | Number, target_type: DataType, mode: int | str = ...) -> Any:
        """converts elements (scalars: pypto.scalar_cast)"""
    @staticmethod
    def ci(
        start: Number, shape: Sequence[int], dtype: DataType = ..., descending: bool = ...
    ) -> Any:
        """start, start±1, … along the last axis"""
    @staticmethod
    def cmp(lhs: Value, rhs: Value, cmp_type: int | str = ...) -> Any:
        """comparison; tensors: 0/1 in the promoted dtype, tiles: packed predicate bits"""
    @staticmethod
    def cmps(lhs: Value, rhs: Number, cmp_type: int | str = ...) -> Any:
        """comparison; tensors: 0/1 in the promoted dtype, tiles: packed predicate bits"""
    @staticmethod
    def col_argmax(x: Value, tmp: Value | None = ...) -> Any:
        """index of the largest of each column"""
    @staticmethod
    def col_argmin(x: Value, tmp: Value | None = ...) -> Any:
        """index of the smallest of each column"""
    @staticmethod
    def col_expand(target: Value, v: Value) -> Any:
        """v[1,N] on every row"""
    @staticmethod
    def col_expand_add(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[1,N] on every row"""
    @staticmethod
    def col_expand_div(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[1,N] on every row"""
    @staticmethod
    def col_expand_expdif(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[1,N] on every row"""
    @staticmethod
    def col_expand_max(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[1,N] on every row"""
    @staticmethod
    def col_expand_min(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[1,N] on every row"""
    @staticmethod
    def col_expand_mul(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[1,N] on every row"""
    @staticmethod
    def col_expand_sub(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[1,N] on every row"""
    @staticmethod
    def col_max(x: Value, tmp_tile: Value | None = ...) -> Any:
        """largest of each column"""
    @staticmethod
    def col_min(x: Value, tmp_tile: Value | None = ...) -> Any:
        """smallest of each column"""
    @staticmethod
    def col_prod(x: Value, tmp_tile: Value | None = ...) -> Any:
        """product of each column"""
    @staticmethod
    def col_sum(x: Value, tmp_tile: Value | None = ...) -> Any:
        """sum of each column"""
    @staticmethod
    def concat(a: Value, b: Value) -> Any:
        """joins columns"""
    @staticmethod
    def cos(x: Value) -> Any:
        """cosine"""
    @staticmethod
    def create(
        shape: Sequence[int],
        dtype: DataType,
        target_memory: MemorySpace = ...,
        transpose: bool | None = ...,
        *,
        flat_layout: bool | None = ...,
    ) -> Any:
        """a tile with undefined contents"""
    @staticmethod
    def create_tile(
        shape: Sequence[int],
        dtype: DataType,
        target_memory: MemorySpace = ...,
        transpose: bool | None = ...,
        *,
        flat_layout: bool | None = ...,
    ) -> Any:
        """a tile with undefined contents"""
    @staticmethod
    def div(lhs: Value | Number, rhs: Value | Number, high_precision: bool = ...) -> Any:
        """lhs / rhs; integers truncate"""
    @staticmethod
    def divs(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """lhs / rhs; integers truncate"""
    @staticmethod
    def exp(x: Value) -> Any:
        """e^x"""
    @staticmethod
    def expands(target: Value, scalar: Number) -> Any:
        """target's shape filled with a run-time scalar"""
    @staticmethod
    def extract(
        src: Value, r: Number, c: Number, shape: Sequence[int], *, target_memory: MemorySpace
    ) -> Any:
        """2-D constant window of a mat tile into left or right memory"""
    @staticmethod
    def fillpad(x: Value, pad_value: PadValue = ...) -> Any:
        """writes the pad value outside the valid region; all valid afterwards"""
    @staticmethod
    def fillpad_expand(x: Value, shape: Sequence[int], pad_value: PadValue = ...) -> Any:
        """pads to a larger shape"""
    @staticmethod
    def fillpad_inplace(x: Value, pad_value: PadValue = ...) -> Any:
        """writes the pad value outside the valid region; all valid afterwards"""
    @staticmethod
    def fmod(lhs: Value | Number, rhs: Value | Number) -> Any:
        """remainder with the dividend's sign"""
    @staticmethod
    def fmods(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """remainder with the dividend's sign"""
    @staticmethod
    def full(shape: Sequence[int], dtype: DataType, value: int | float) -> Any:
        """every element equals a constant"""
    @staticmethod
    def gather(src: Value, indices: Value, tmp: Value | None = ...) -> Any:
        """torch.gather along dim; flat: positions in the whole tile"""
    @staticmethod
    def gather_compare(
        src: Value,
        kvalue: Value | Number,
        tmp: Value | None = ...,
        *,
        cmp_mode: int | str = ...,
        offset: int = ...,
        out_cols: int,
        count_dtype: DataType | None = ...,
    ) -> Any:
        """per row the indices where a comparison holds, and their count"""
    @staticmethod
    def gather_mask(
        src: Value, mask_pattern: MaskPattern, *, output_dtype: DataType | None = ...
    ) -> Any:
        """keeps the columns of a pattern"""
    @staticmethod
    def gather_row(
        dst: Value,
        src: Value,
        dst_offset: Sequence[Number],
        src_offset: Sequence[Number],
        shapes: Sequence[int],
        transpose: bool = ...,
        *,
        valid_shape: Sequence[Number] | None = ...,
    ) -> Any:
        """rows of global memory into a window of an on-chip tile"""
    @staticmethod
    def gatherb(src: Value, offset: Value, *, output_dtype: DataType | None = ...) -> Any:
        """32-byte blocks by byte offset"""
    @staticmethod
    def gemv(a: Value, b: Value, acc_phase: str = ...) -> Any:
        """vector @ matrix"""
    @staticmethod
    def gemv_acc(acc: Value, a: Value, b: Value, acc_phase: str = ...) -> Any:
        """acc + vector @ matrix"""
    @staticmethod
    def gemv_bias(a: Value, b: Value, bias: Value, acc_phase: str = ...) -> Any:
        """vector @ matrix + bias"""
    @staticmethod
    def get_block_idx() -> Any:
        """index of this block"""
    @staticmethod
    def get_block_num() -> Any:
        """number of blocks of the launch"""
    @staticmethod
    def get_subblock_idx() -> Any:
        """vector lane"""
    @staticmethod
    def load(
        tensor: Value,
        offsets: Sequence[Number],
        shapes: Sequence[int],
        valid_shape: Sequence[Number] | None = ...,
        target_memory: MemorySpace = ...,
        clamp: bool = ...,
    ) -> Any:
        """global memory to a vec or mat tile"""
    @staticmethod
    def log(x: Value, high_precision: bool = ...) -> Any:
        """natural logarithm"""
    @staticmethod
    def lrelu(x: Value, slope: Number) -> Any:
        """max(x, slope * x)"""
    @staticmethod
    def matmul(
        lhs: Value,
        rhs: Value,
        out_dtype: DataType | None = ...,
        a_trans: bool = ...,
        b_trans: bool = ...,
        c_matrix_nz: Value = ...,
    ) -> Any:
        """matrix product; batches broadcast"""
    @staticmethod
    def matmul_acc(
        acc: Value,
        lhs: Value,
        rhs: Value,
        a_trans: bool = ...,
        b_trans: bool = ...,
        init_cond: Number | None = ...,
    ) -> Any:
        """acc + lhs @ rhs; init_cond true: lhs @ rhs"""
    @staticmethod
    def matmul_bias(a: Value, b: Value, bias: Value) -> Any:
        """a @ b + bias[1,N]"""
    @staticmethod
    def matmul_mx(lhs: Value, lhs_scale: Value, rhs: Value, rhs_scale: Value) -> Any:
        """product of block-scaled 8-bit floats (a5)"""
    @staticmethod
    def matmul_mx_acc(
        acc: Value, lhs: Value, lhs_scale: Value, rhs: Value, rhs_scale: Value
    ) -> Any:
        """product of block-scaled 8-bit floats (a5)"""
    @staticmethod
    def matmul_mx_bias(
        lhs: Value, lhs_scale: Value, rhs: Value, rhs_scale: Value, bias: Value
    ) -> Any:
        """product of block-scaled 8-bit floats (a5)"""
    @staticmethod
    def maximum(lhs: Value | Number, rhs: Value | Number) -> Any:
        """larger element"""
    @staticmethod
    def maximums(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """larger element"""
    @staticmethod
    def mgather(
        mem: Value,
        idx: Value,
        coalesce: str = ...,
        *,
        gather_oob: str = ...,
        target_memory: MemorySpace = ...,
        scratch: Value | None = ...,
        valid_shape: Sequence[Number] | None = ...,
    ) -> Any:
        """elements or rows of global memory by index"""
    @staticmethod
    def minimum(lhs: Value | Number, rhs: Value | Number) -> Any:
        """smaller element"""
    @staticmethod
    def minimums(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """smaller element"""
    @staticmethod
    def move(
        tile: Value,
        target_memory: MemorySpace,
        blayout: TileLayout | None = ...,
        slayout: TileLayout | None = ...,
    ) -> Any:
        """copy to another on-chip memory"""
    @overload
    @staticmethod
    def mrgsort(src: Value, *, block_len: int) -> Any:
        """merges sorted runs of one list, or 2 to 4 lists"""
    @overload
    @staticmethod
    def mrgsort(
        src0: Value,
        src1: Value,
        src2: Value | None = ...,
        src3: Value | None = ...,
        tmp: Value | None = ...,
        *,
        exhausted: bool = ...,
    ) -> Any:
        """merges sorted runs of one list, or 2 to 4 lists"""
    @staticmethod
    def mscatter(src: Value, idx: Value, out: Value) -> Any:
        """elements or rows of a tile to global memory by index; returns the tensor"""
    @staticmethod
    def mul(lhs: Value | Number, rhs: Value | Number) -> Any:
        """lhs * rhs"""
    @staticmethod
    def muls(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """lhs * rhs"""
    @staticmethod
    def neg(x: Value) -> Any:
        """-x"""
    @staticmethod
    def not_(x: Value) -> Any:
        """bitwise complement"""
    @staticmethod
    def or_(lhs: Value | Number, rhs: Value | Number) -> Any:
        """bitwise or"""
    @staticmethod
    def ors(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """bitwise or"""
    @staticmethod
    def part_add(lhs: Value, rhs: Value) -> Any:
        """combines where both are valid, copies where one is"""
    @staticmethod
    def part_max(lhs: Value, rhs: Value) -> Any:
        """combines where both are valid, copies where one is"""
    @staticmethod
    def part_min(lhs: Value, rhs: Value) -> Any:
        """combines where both are valid, copies where one is"""
    @staticmethod
    def part_mul(lhs: Value, rhs: Value) -> Any:
        """combines where both are valid, copies where one is"""
    @staticmethod
    def prelu(x: Value, slope: Value, tmp: Value | None = ...) -> Any:
        """x > 0 ? x : slope * x"""
    @staticmethod
    def random(
        key0: Number,
        key1: Number,
        c0: Number,
        c1: Number,
        c2: Number,
        c3: Number,
        shape: Sequence[int],
        valid_shape: Sequence[Number] | None = ...,
        dtype: DataType = ...,
        rounds: int = ...,
    ) -> Any:
        """counter-based random integers"""
    @staticmethod
    def read(src: Value, idx: Sequence[Number]) -> Any:
        """one element"""
    @staticmethod
    def recip(x: Value, high_precision: bool = ...) -> Any:
        """1 / x"""
    @staticmethod
    def reinterpret_view(x: Value, dtype: DataType, *, shape: Sequence[int] | None = ...) -> Any:
        """same bits, another element type"""
    @staticmethod
    def relu(x: Value) -> Any:
        """max(x, 0)"""
    @staticmethod
    def rem(lhs: Value | Number, rhs: Value | Number, tmp: Value | None = ...) -> Any:
        """remainder with the divisor's sign"""
    @staticmethod
    def rems(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """remainder with the divisor's sign"""
    @staticmethod
    def reshape(x: Value, shape: Sequence[Number]) -> Any:
        """same elements in row-major order, another shape"""
    @staticmethod
    def row_argmax(x: Value, tmp: Value | None = ...) -> Any:
        """index of the largest of each row"""
    @staticmethod
    def row_argmin(x: Value, tmp: Value | None = ...) -> Any:
        """index of the smallest of each row"""
    @staticmethod
    def row_expand(target: Value, v: Value) -> Any:
        """v[M,1] on every column"""
    @staticmethod
    def row_expand_add(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[M,1] on every column"""
    @staticmethod
    def row_expand_div(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[M,1] on every column"""
    @staticmethod
    def row_expand_expdif(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[M,1] on every column"""
    @staticmethod
    def row_expand_max(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[M,1] on every column"""
    @staticmethod
    def row_expand_min(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[M,1] on every column"""
    @staticmethod
    def row_expand_mul(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[M,1] on every column"""
    @staticmethod
    def row_expand_sub(x: Value, v: Value, tmp: Value | None = ...) -> Any:
        """x op v[M,1] on every column"""
    @staticmethod
    def row_max(x: Value, tmp_tile: Value | None = ...) -> Any:
        """largest of each row"""
    @staticmethod
    def row_min(x: Value, tmp_tile: Value | None = ...) -> Any:
        """smallest of each row"""
    @staticmethod
    def row_prod(x: Value, tmp_tile: Value | None = ...) -> Any:
        """product of each row"""
    @staticmethod
    def row_sum(x: Value, tmp_tile: Value | None = ...) -> Any:
        """sum of each row"""
    @staticmethod
    def rsqrt(x: Value, tmp: Value | None = ..., high_precision: bool = ...) -> Any:
        """1 / sqrt(x)"""
    @staticmethod
    def scatter(dst: Value, src: Value, indexes: Value) -> Any:
        """writes src at index along dim; flat: positions in the whole tile, the rest becomes 0"""
    @staticmethod
    def scatter_mask(dst: Value, src: Value, mask_pattern: MaskPattern) -> Any:
        """spreads src over the columns of a pattern in dst"""
    @staticmethod
    def scatter_update(input: Value, dim: int, index: Value, src: Value) -> Any:
        """replaces rows of input by rows of src"""
    @staticmethod
    def sel(mask: Value, a: Value, b: Value, tmp: Value | None = ...) -> Any:
        """mask bit ? a : b"""
    @staticmethod
    def sels(mask: Value, src: Value, tmp: Value, scalar: Number) -> Any:
        """mask bit ? a : b"""
    @staticmethod
    def set_validshape(x: Value, rows: Number, cols: Number) -> Any:
        """declares rows and columns of real data"""
    @staticmethod
    def shl(lhs: Value | Number, rhs: Value | Number) -> Any:
        """shift left"""
    @staticmethod
    def shls(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """shift left"""
    @staticmethod
    def shr(lhs: Value | Number, rhs: Value | Number) -> Any:
        """shift right, arithmetic on signed"""
    @staticmethod
    def shrs(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """shift right, arithmetic on signed"""
    @staticmethod
    def sin(x: Value) -> Any:
        """sine"""
    @staticmethod
    def slice(
        input: Value,
        shape: Sequence[Number],
        offset: Sequence[Number],
        valid_shape: Sequence[Number] | None = ...,
        drop_dims: Sequence[int] | None = ...,
        pad_value: PadValue | None = ...,
        clamp: bool = ...,
    ) -> Any:
        """a window: sizes, then offsets"""
    @staticmethod
    def sort32(src: Value, idx: Value) -> Any:
        """sorts each run of 32 descending into (value, index) pairs"""
    @staticmethod
    def sqrt(x: Value) -> Any:
        """square root"""
    @staticmethod
    def store(
        tile: Value,
        offsets: Sequence[Number],
        output_tensor: Value,
        shapes: Sequence[int] | None = ...,
        *,
        atomic: AtomicType = ...,
    ) -> Any:
        """the valid region of a tile to global memory; returns the tensor"""
    @staticmethod
    def sub(lhs: Value | Number, rhs: Value | Number) -> Any:
        """lhs - rhs"""
    @staticmethod
    def subc(a: Value, b: Value, c: Value) -> Any:
        """a - b - c"""
    @staticmethod
    def subs(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """lhs - rhs"""
    @staticmethod
    def subsc(a: Value, b: Number, c: Value) -> Any:
        """a - s - c"""
    @staticmethod
    def transpose(x: Value, axis1: int, axis2: int, tmp: Value | None = ...) -> Any:
        """swaps two axes, moving data"""
    @staticmethod
    def transpose_view(x: Value) -> Any:
        """swaps the last two axes by layout"""
    @staticmethod
    def tri(
        diagonal: Number,
        shape: Sequence[int],
        valid_shape: Sequence[Number] | None = ...,
        dtype: DataType = ...,
        upper: bool = ...,
    ) -> Any:
        """1 where j <= i + diagonal (upper: >=), else 0"""
    @staticmethod
    def write(dst: Value, idx: Sequence[Number], value: Number) -> Any:
        """stores one element; returns the destination"""
    @staticmethod
    def xor(lhs: Value | Number, rhs: Value | Number, tmp: Value | None = ...) -> Any:
        """bitwise exclusive or"""
    @staticmethod
    def xors(lhs: Value, rhs: Number, tmp: Value | None = ...) -> Any:
        """bitwise exclusive or"""
