// Scalars, enumerations, and what a kernel finds in the global namespace.
#ifndef PTO_TYPES_HPP
#define PTO_TYPES_HPP

#include <stdint.h>

#define AICORE
#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__

// Distinct types of their own, with conversions in both directions by name only.
#define PTO_SCALAR(name, storage)                                                                  \
  struct name {                                                                                    \
    storage bits;                                                                                  \
    name() = default;                                                                              \
    explicit name(float);                                                                          \
    explicit operator float() const;                                                               \
  };
PTO_SCALAR(half, uint16_t)
PTO_SCALAR(bfloat16_t, uint16_t)
PTO_SCALAR(float8_e4m3_t, uint8_t)
PTO_SCALAR(float8_e5m2_t, uint8_t)
PTO_SCALAR(float8_e8m0_t, uint8_t)
PTO_SCALAR(hifloat8_t, uint8_t)
PTO_SCALAR(float4_e2m1x2_t, uint8_t)
PTO_SCALAR(float4_e1m2x2_t, uint8_t)
#undef PTO_SCALAR

enum pipe_t {
  PIPE_S,
  PIPE_V,
  PIPE_MTE1,
  PIPE_MTE2,
  PIPE_MTE3,
  PIPE_M,
  PIPE_ALL,
  PIPE_FIX,
  PIPE_MTE4,
  PIPE_MTE5,
  PIPE_V2,
};
enum event_t {
  EVENT_ID0,
  EVENT_ID1,
  EVENT_ID2,
  EVENT_ID3,
  EVENT_ID4,
  EVENT_ID5,
  EVENT_ID6,
  EVENT_ID7,
};
enum mem_dsb_t { DSB_ALL, DSB_DDR, DSB_UB };
enum membar_t {
  VST_VLD,
  VLD_VST,
  VST_VST,
  VV_ALL,
  VST_LD,
  VST_ST,
  VLD_ST,
  VS_ALL,
  ST_VLD,
  ST_VST,
  LD_VST,
  SV_ALL,
  SS_ALL,
};
namespace cache_line_t {
enum line { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
}

void set_flag(pipe_t from, pipe_t to, event_t id);
void wait_flag(pipe_t from, pipe_t to, event_t id);
void pipe_barrier(pipe_t pipe);
void get_buf(pipe_t pipe, uint8_t id, bool mode);
void rls_buf(pipe_t pipe, uint8_t id, bool mode);
void mem_bar(membar_t kind);
uint64_t getFFTSMsg(uint64_t mode, uint64_t id);
void ffts_cross_core_sync(pipe_t pipe, uint64_t message);
void set_ffts_base_addr(uint64_t base);
void wait_flag_dev(int64_t id);
void set_intra_block(pipe_t pipe, uint8_t id);
void wait_intra_block(pipe_t pipe, uint8_t id);
void trap();
void dcci(__gm__ void *address, cache_line_t::line what);
void dsb(mem_dsb_t kind);
int64_t get_block_idx();
int64_t get_block_num();
int64_t get_subblockid();
int64_t get_subblockdim();
void set_mask_norm();
void set_vector_mask(uint64_t high, uint64_t low);
namespace cce {
template <typename... Values> void printf(const char *format, Values... values);
}

namespace pto {

enum class TileType { Vec, Mat, Left, Right, Acc, Bias, Scaling, ScaleLeft, ScaleRight, Ctrl };
enum class BLayout { RowMajor = 0, ColMajor = 1 };
enum class SLayout { NoneBox = 0, RowMajor = 1, ColMajor = 2 };
enum class Layout { ND, DN, NZ, SCALE, MX_A_ND, MX_A_DN, MX_A_ZZ, MX_B_ND, MX_B_DN, MX_B_NN };
enum class CompactMode { Null, Normal, RowPlusOne, RowAlignedPadding };
enum class PadValue : uint64_t { Null = 0, Zero = 1, Max = 2, Min = 3 };
enum class CmpMode { EQ, NE, LT, LE, GT, GE };
enum class RoundMode {
  CAST_NONE,
  CAST_RINT,
  CAST_ROUND,
  CAST_FLOOR,
  CAST_CEIL,
  CAST_TRUNC,
  CAST_ODD,
};
enum class SaturationMode { ON, OFF };
enum class MaskPattern { P0101 = 1, P1010, P0001, P0010, P0100, P1000, P1111 };
enum class AtomicType { AtomicNone, AtomicAdd };
enum class ReluPreMode { NoRelu, NormalRelu };
enum class AccToVecMode { SingleModeVec0, SingleModeVec1, DualModeSplitM, DualModeSplitN };
enum class STPhase { Unspecified = 0, Partial = 2, Final = 3 };
enum class AccPhase { Unspecified = 0, Partial = 2, Final = 3 };
enum class TFillPadMode { Normal, InPlace, Expand };
enum class TInsertMode { SPLIT2 = 2, SPLIT4 = 3 };
enum class QuantType { MXFP8, MXFP4_E2M1, INT8_SYM, INT8_ASYM };
enum class QuantScaleAlg { OCP, NV };
enum class MxQuantAlg { OcpMxFp8E4M3, NvMxFp8E4M3, OcpMxFp4E2M1, NvMxFp4E2M1, Hif4 };
enum class VecStoreMode { ND, NZ };
enum class HistByte { BYTE_0, BYTE_1, BYTE_2, BYTE_3 };
enum class Coalesce { Row, Elem };
enum class GatherOOB { Undefined, Clamp, Wrap, Zero };
enum class GatherAxis { GATHER_ROW, GATHER_COL };
enum class ScatterAxis { SCATTER_ROW, SCATTER_COL };
enum class ScatterAtomicOp { None, Add, Max, Min };
enum class ScatterOOB { Undefined, Skip, Clamp, Wrap };
enum class ScatterConflict { Last, Default };
enum class SyncAllMode { Hard, Soft };
enum class SyncCoreType { AIVOnly, AICOnly, Mix };
enum class PrintFormat { Width8_Precision4, Width8_Precision2, Width10_Precision6 };
enum class PowAlgorithm { DEFAULT, HIGH_PRECISION };
enum class DivAlgorithm { DEFAULT, HIGH_PRECISION };
enum class SqrtAlgorithm { DEFAULT, HIGH_PRECISION };
enum class RsqrtAlgorithm { DEFAULT, HIGH_PRECISION };
enum class RecipAlgorithm { DEFAULT, HIGH_PRECISION };
enum class ExpAlgorithm { DEFAULT, HIGH_PRECISION };
enum class LogAlgorithm { DEFAULT, HIGH_PRECISION };
enum class FmodAlgorithm { DEFAULT, HIGH_PRECISION };
enum class FmodSAlgorithm { DEFAULT, HIGH_PRECISION };
enum class RemAlgorithm { DEFAULT, HIGH_PRECISION };
enum class RemSAlgorithm { DEFAULT, HIGH_PRECISION };
enum class TileSplitAxis {
  TILE_NO_SPLIT,
  TILE_UP_DOWN,
  TILE_LEFT_RIGHT,
  TILE_UP_DOWN_ODD,
  TILE_LEFT_RIGHT_ODD,
};
// DIR_C2V and the like are passed as uint8_t.
enum Direction : uint8_t {
  UNDEFINED = 0,
  DIR_C2V = 1,
  DIR_V2C = 2,
  DIR_BOTH = 3,
  DIR_V2C_CTRL = 4,
  DIR_C2V_GM = 5,
  DIR_V2C_GM = 6,
  DIR_BOTH_GM = 7,
};
enum class LayoutMode_t { NZ2NZ, NZ2ND, NZ2DN };
enum class QuantMode_t {
  NoQuant = 0,
  F322F16 = 1,
  VREQ8 = 2,
  REQ8 = 3,
  VDEQF16 = 4,
  DEQF16 = 5,
  VSHIFTS322S16 = 12,
  SHIFTS322S16 = 13,
  F322BF16 = 16,
  VQF322B8_PRE = 23,
  QF322B8_PRE = 24,
  QF322F16_PRE = 32,
  QF322BF16_PRE = 34,
  QS322BF16_PRE = 35,
  VQS322BF16_PRE = 36,
};

struct MrgSortExecutedNumList {
  uint16_t mrgSortList0, mrgSortList1, mrgSortList2, mrgSortList3;
};
using TRandomKey = uint32_t[2];
using TRandomCounter = uint32_t[4];

} // namespace pto

#endif // PTO_TYPES_HPP
