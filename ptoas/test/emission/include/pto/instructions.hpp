// The tile instructions: destination first. Families of one signature are declared by a macro.
#ifndef PTO_INSTRUCTIONS_HPP
#define PTO_INSTRUCTIONS_HPP

#include "tile.hpp"

namespace pto {

struct RecordEvent {};

//===----------------------------------------------------------------------===//
// Addresses and handles
//===----------------------------------------------------------------------===//

template <AnyTile T> RecordEvent TASSIGN(T &tile, uint64_t address);
template <AnyTile D, AnyTile S>
  requires(D::Loc == S::Loc && D::isBoxedLayout == S::isBoxedLayout &&
           D::Rows * D::Cols * sizeof(typename D::DType) ==
               S::Rows * S::Cols * sizeof(typename S::DType))
RecordEvent TRESHAPE(D &dst, S &src);
template <AnyTile D, AnyTile S> RecordEvent TGET_SCALE_ADDR(D &dst, S &src);

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

#define PTO_BINARY(NAME)                                                                           \
  template <VecTile D, VecTile A, VecTile B>                                                       \
    requires(SameElement<D, A> && SameElement<D, B>)                                               \
  RecordEvent NAME(D &dst, A &src0, B &src1);
PTO_BINARY(TADD)
PTO_BINARY(TSUB)
PTO_BINARY(TMUL)
PTO_BINARY(TMAX)
PTO_BINARY(TMIN)
PTO_BINARY(TAND)
PTO_BINARY(TOR)
PTO_BINARY(TSHL)
PTO_BINARY(TSHR)
PTO_BINARY(TPARTADD)
PTO_BINARY(TPARTMUL)
PTO_BINARY(TPARTMAX)
PTO_BINARY(TPARTMIN)
PTO_BINARY(TCOLEXPANDADD)
PTO_BINARY(TCOLEXPANDSUB)
PTO_BINARY(TCOLEXPANDMUL)
PTO_BINARY(TCOLEXPANDMAX)
PTO_BINARY(TCOLEXPANDMIN)
PTO_BINARY(TCOLEXPANDEXPDIF)
#undef PTO_BINARY
#define PTO_BINARY_PRECISE(NAME, ALGORITHM)                                                        \
  template <auto Precision = ALGORITHM::DEFAULT, VecTile D, VecTile A, VecTile B>                  \
    requires(SameElement<D, A> && SameElement<D, B> &&                                             \
             IsSame<decltype(Precision), ALGORITHM>::value)                                        \
  RecordEvent NAME(D &dst, A &src0, B &src1);
PTO_BINARY_PRECISE(TDIV, DivAlgorithm)
PTO_BINARY_PRECISE(TFMOD, FmodAlgorithm)
PTO_BINARY_PRECISE(TCOLEXPANDDIV, DivAlgorithm)
#undef PTO_BINARY_PRECISE
#define PTO_BINARY_TMP(NAME)                                                                       \
  template <VecTile D, VecTile A, VecTile B, VecTile T>                                            \
    requires(SameElement<D, A> && SameElement<D, B>)                                               \
  RecordEvent NAME(D &dst, A &src0, B &src1, T &tmp);
PTO_BINARY_TMP(TXOR)
PTO_BINARY_TMP(TPRELU)
#undef PTO_BINARY_TMP
template <auto Precision = RemAlgorithm::DEFAULT, VecTile D, VecTile A, VecTile B, VecTile T>
  requires(SameElement<D, A> && SameElement<D, B>)
RecordEvent TREM(D &dst, A &src0, B &src1, T &tmp);
template <auto Precision = PowAlgorithm::DEFAULT, VecTile D, VecTile A, VecTile B, VecTile T>
RecordEvent TPOW(D &dst, A &base, B &exponent, T &tmp);
// All tiles have one type.
template <VecTile T> RecordEvent TADDC(T &dst, T &src0, T &src1, T &src2);
template <VecTile T> RecordEvent TSUBC(T &dst, T &src0, T &src1, T &src2);

#define PTO_UNARY(NAME)                                                                            \
  template <VecTile D, VecTile S>                                                                  \
    requires(SameElement<D, S>)                                                                    \
  RecordEvent NAME(D &dst, S &src);
PTO_UNARY(TABS)
PTO_UNARY(TNEG)
PTO_UNARY(TNOT)
PTO_UNARY(TRELU)
PTO_UNARY(TROWEXPAND)
PTO_UNARY(TCOLEXPAND)
PTO_UNARY(TCOLMAX)
PTO_UNARY(TCOLMIN)
PTO_UNARY(TCOLPROD)
PTO_UNARY(TCOLSUM)
#undef PTO_UNARY
#define PTO_UNARY_PRECISE(NAME, ALGORITHM)                                                         \
  template <auto Precision = ALGORITHM::DEFAULT, VecTile D, VecTile S>                             \
    requires(SameElement<D, S> && IsSame<decltype(Precision), ALGORITHM>::value)                   \
  RecordEvent NAME(D &dst, S &src);
PTO_UNARY_PRECISE(TEXP, ExpAlgorithm)
PTO_UNARY_PRECISE(TLOG, LogAlgorithm)
PTO_UNARY_PRECISE(TSQRT, SqrtAlgorithm)
PTO_UNARY_PRECISE(TRSQRT, RsqrtAlgorithm)
PTO_UNARY_PRECISE(TRECIP, RecipAlgorithm)
#undef PTO_UNARY_PRECISE
template <auto Precision = RsqrtAlgorithm::DEFAULT, VecTile D, VecTile S, VecTile T>
RecordEvent TRSQRT(D &dst, S &src, T &tmp);

#define PTO_TILE_SCALAR(NAME)                                                                      \
  template <VecTile D, VecTile S>                                                                  \
    requires(SameElement<D, S>)                                                                    \
  RecordEvent NAME(D &dst, S &src, typename S::DType scalar);
PTO_TILE_SCALAR(TADDS)
PTO_TILE_SCALAR(TSUBS)
PTO_TILE_SCALAR(TMULS)
PTO_TILE_SCALAR(TMAXS)
PTO_TILE_SCALAR(TMINS)
PTO_TILE_SCALAR(TANDS)
PTO_TILE_SCALAR(TORS)
PTO_TILE_SCALAR(TSHLS)
PTO_TILE_SCALAR(TSHRS)
#undef PTO_TILE_SCALAR
template <VecTile D, VecTile S> RecordEvent TLRELU(D &dst, S &src, float slope);
template <auto Precision = DivAlgorithm::DEFAULT, VecTile D, VecTile S>
RecordEvent TDIVS(D &dst, S &src, typename S::DType scalar);
template <auto Precision = DivAlgorithm::DEFAULT, VecTile D, VecTile S>
RecordEvent TDIVS(D &dst, typename S::DType scalar, S &src);
template <VecTile D, VecTile S> RecordEvent TAXPY(D &dst, S &src, typename S::DType scalar);
template <VecTile D, VecTile S, VecTile T>
RecordEvent TXORS(D &dst, S &src, typename S::DType scalar, T &tmp);
template <auto Precision = RemSAlgorithm::DEFAULT, VecTile D, VecTile S, VecTile T>
  requires(IsSame<decltype(Precision), RemSAlgorithm>::value)
RecordEvent TREMS(D &dst, S &src, typename S::DType scalar, T &tmp);
template <auto Precision = FmodSAlgorithm::DEFAULT, VecTile D, VecTile S>
  requires(IsSame<decltype(Precision), FmodSAlgorithm>::value)
RecordEvent TFMODS(D &dst, S &src, typename S::DType scalar);
template <auto Precision = PowAlgorithm::DEFAULT, VecTile D, VecTile S, VecTile T>
RecordEvent TPOWS(D &dst, S &base, typename S::DType exponent, T &tmp);
template <VecTile D, VecTile A, VecTile B>
RecordEvent TADDSC(D &dst, A &src0, typename A::DType scalar, B &src1);
template <VecTile D, VecTile A, VecTile B>
RecordEvent TSUBSC(D &dst, A &src0, typename A::DType scalar, B &src1);
template <AnyTile D> RecordEvent TEXPANDS(D &dst, typename D::DType scalar);

//===----------------------------------------------------------------------===//
// Compare, select, convert, generate
//===----------------------------------------------------------------------===//

template <VecTile D, VecTile A, VecTile B>
  requires(SameElement<A, B>)
RecordEvent TCMP(D &mask, A &src0, B &src1, CmpMode mode);
template <VecTile D, VecTile A>
RecordEvent TCMPS(D &mask, A &src, typename A::DType scalar, CmpMode mode);
template <VecTile D, VecTile M, VecTile T>
RecordEvent TSEL(D &dst, M &mask, D &src0, D &src1, T &tmp);
template <VecTile D, VecTile M, VecTile A, VecTile T>
RecordEvent TSELS(D &dst, M &mask, A &src, T &tmp, typename A::DType scalar);
template <bool NeedSetCtrl = true, VecTile D, VecTile S>
RecordEvent TCVT(D &dst, S &src, RoundMode round);
template <bool NeedSetCtrl = true, VecTile D, VecTile S>
RecordEvent TCVT(D &dst, S &src, RoundMode round, SaturationMode saturation);
template <bool NeedSetCtrl = true, VecTile D, VecTile S, VecTile T>
RecordEvent TCVT(D &dst, S &src, T &tmp, RoundMode round);
template <bool NeedSetCtrl = true, VecTile D, VecTile S, VecTile T>
RecordEvent TCVT(D &dst, S &src, T &tmp, RoundMode round, SaturationMode saturation);
template <typename T, typename DType, int Descending>
  requires(VecTile<T> && (Descending == 0 || Descending == 1) &&
           IsSame<DType, typename T::DType>::value)
RecordEvent TCI(T &dst, DType start);
template <typename T, typename DType, int Descending, VecTile Tmp>
  requires(IsSame<DType, typename T::DType>::value)
RecordEvent TCI(T &dst, DType start, Tmp &tmp);
template <typename T, int Upper>
  requires(VecTile<T> && (Upper == 0 || Upper == 1))
RecordEvent TTRI(T &dst, int diagonal);
template <uint16_t Rounds = 10, VecTile D>
RecordEvent TRANDOM(D &dst, TRandomKey key, TRandomCounter counter);
template <HistByte Byte, VecTile D, VecTile S, VecTile I>
RecordEvent THISTOGRAM(D &dst, S &src, I &indices);

//===----------------------------------------------------------------------===//
// Reductions and broadcasts
//===----------------------------------------------------------------------===//

#define PTO_REDUCE_TMP(NAME)                                                                       \
  template <VecTile D, VecTile S, VecTile T> RecordEvent NAME(D &dst, S &src, T &tmp);
PTO_REDUCE_TMP(TROWSUM)
PTO_REDUCE_TMP(TROWMAX)
PTO_REDUCE_TMP(TROWMIN)
PTO_REDUCE_TMP(TROWPROD)
PTO_REDUCE_TMP(TROWARGMAX)
PTO_REDUCE_TMP(TROWARGMIN)
PTO_REDUCE_TMP(TCOLARGMAX)
PTO_REDUCE_TMP(TCOLARGMIN)
#undef PTO_REDUCE_TMP
template <VecTile D, VecTile S, VecTile T>
RecordEvent TCOLSUM(D &dst, S &src, T &tmp, bool isBinary);
#define PTO_ROW_EXPAND(NAME)                                                                       \
  template <VecTile D, VecTile A, VecTile B>                                                       \
    requires(SameElement<D, A> && SameElement<D, B>)                                               \
  RecordEvent NAME(D &dst, A &src0, B &src1);                                                      \
  template <VecTile D, VecTile A, VecTile B, VecTile T>                                            \
    requires(SameElement<D, A> && SameElement<D, B>)                                               \
  RecordEvent NAME(D &dst, A &src0, B &src1, T &tmp);
PTO_ROW_EXPAND(TROWEXPANDADD)
PTO_ROW_EXPAND(TROWEXPANDSUB)
PTO_ROW_EXPAND(TROWEXPANDMUL)
PTO_ROW_EXPAND(TROWEXPANDMAX)
PTO_ROW_EXPAND(TROWEXPANDMIN)
PTO_ROW_EXPAND(TROWEXPANDEXPDIF)
#undef PTO_ROW_EXPAND
template <auto Precision = DivAlgorithm::DEFAULT, VecTile D, VecTile A, VecTile B>
RecordEvent TROWEXPANDDIV(D &dst, A &src0, B &src1);
template <auto Precision = DivAlgorithm::DEFAULT, VecTile D, VecTile A, VecTile B, VecTile T>
RecordEvent TROWEXPANDDIV(D &dst, A &src0, B &src1, T &tmp);
template <VecTile D, VecTile A, VecTile B, VecTile DI, VecTile AI, VecTile BI>
  requires(SameElement<D, A> && SameElement<DI, AI>)
RecordEvent TPARTARGMAX(D &dst, A &src0, B &src1, DI &dstIdx, AI &idx0, BI &idx1);
template <VecTile D, VecTile A, VecTile B, VecTile DI, VecTile AI, VecTile BI>
  requires(SameElement<D, A> && SameElement<DI, AI>)
RecordEvent TPARTARGMIN(D &dst, A &src0, B &src1, DI &dstIdx, AI &idx0, BI &idx1);

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

template <AnyTile T, AnyGlobal G>
  requires(sizeof(typename T::DType) == sizeof(typename G::DType) &&
           (T::Loc == TileType::Vec || T::Loc == TileType::Mat))
RecordEvent TLOAD(T &dst, G &src);
template <AnyTile T, AnyGlobal G> RecordEvent TPREFETCH(T &dst, G &src);
template <AnyGlobal G, AnyTile T> RecordEvent TSTORE(G &dst, T &src);
template <STPhase Phase, AnyGlobal G, AnyTile T> RecordEvent TSTORE(G &dst, T &src);
template <AnyTile T, AnyGlobal G, AtomicType Atomic, ReluPreMode Relu = ReluPreMode::NoRelu>
RecordEvent TSTORE(G &dst, T &src);
template <STPhase Phase, AnyTile T, AnyGlobal G, AtomicType Atomic,
          ReluPreMode Relu = ReluPreMode::NoRelu>
RecordEvent TSTORE(G &dst, T &src);
template <AnyGlobal G, AccTile T> RecordEvent TSTORE(G &dst, T &src, uint64_t preQuantScalar);
template <STPhase Phase, AnyGlobal G, AccTile T>
RecordEvent TSTORE(G &dst, T &src, uint64_t preQuantScalar);
template <AccTile T, AnyGlobal G, AtomicType Atomic, ReluPreMode Relu = ReluPreMode::NoRelu>
RecordEvent TSTORE(G &dst, T &src, uint64_t preQuantScalar);
template <STPhase Phase, AccTile T, AnyGlobal G, AtomicType Atomic,
          ReluPreMode Relu = ReluPreMode::NoRelu>
RecordEvent TSTORE(G &dst, T &src, uint64_t preQuantScalar);
template <AnyGlobal G, AccTile T, ScalingTile F> RecordEvent TSTORE_FP(G &dst, T &src, F &fp);
template <AccTile T, AnyGlobal G, ScalingTile F, AtomicType Atomic,
          ReluPreMode Relu = ReluPreMode::NoRelu>
RecordEvent TSTORE_FP(G &dst, T &src, F &fp);
template <Coalesce Unit, GatherOOB Outside = GatherOOB::Undefined, VecTile D, AnyGlobal G,
          VecTile I>
RecordEvent MGATHER(D &dst, G &src, I &indices);
template <Coalesce Unit, GatherOOB Outside = GatherOOB::Undefined, AnyTile D, AnyGlobal G,
          AnyTile I, AnyTile T>
RecordEvent MGATHER(D &dst, G &src, I &indices, T &scratch);
template <Coalesce Unit, ScatterAtomicOp Atomic = ScatterAtomicOp::None,
          ScatterOOB Outside = ScatterOOB::Undefined,
          ScatterConflict Conflict = ScatterConflict::Default, AnyGlobal G, VecTile S, VecTile I>
RecordEvent MSCATTER(G &dst, S &src, I &indices);

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

template <AnyTile D, AnyTile S> RecordEvent TMOV(D &dst, S &src);
template <AnyTile D, AnyTile S, AnyTile T> RecordEvent TMOV(D &dst, S &src, T &tmp);
template <int GroupAxis, AnyTile D, AnyTile S, AnyTile T> RecordEvent TMOV(D &dst, S &src, T &tmp);
template <AnyTile D, AccTile S, ReluPreMode Relu> RecordEvent TMOV(D &dst, S &src);
template <AnyTile D, AccTile S, AccToVecMode Mode, ReluPreMode Relu = ReluPreMode::NoRelu>
RecordEvent TMOV(D &dst, S &src);
template <AnyTile D, AccTile S> RecordEvent TMOV(D &dst, S &src, uint64_t scale);
template <AnyTile D, AccTile S, ReluPreMode Relu> RecordEvent TMOV(D &dst, S &src, uint64_t scale);
template <AnyTile D, AccTile S, AccToVecMode Mode, ReluPreMode Relu = ReluPreMode::NoRelu>
RecordEvent TMOV(D &dst, S &src, uint64_t scale);
template <AnyTile D, AccTile S, ScalingTile F, AccToVecMode Mode,
          ReluPreMode Relu = ReluPreMode::NoRelu>
RecordEvent TMOV(D &dst, S &src, F &fp);
template <AnyTile D, AccTile S, ScalingTile F, ReluPreMode Relu = ReluPreMode::NoRelu>
RecordEvent TMOV_FP(D &dst, S &src, F &fp);

#define PTO_WINDOW(NAME)                                                                           \
  template <AnyTile D, AnyTile S> RecordEvent NAME(D &dst, S &src, uint16_t row, uint16_t col);    \
  template <AnyTile D, AccTile S, ReluPreMode Relu>                                                \
  RecordEvent NAME(D &dst, S &src, uint16_t row, uint16_t col);                                    \
  template <AnyTile D, AccTile S, AccToVecMode Mode, ReluPreMode Relu = ReluPreMode::NoRelu>       \
  RecordEvent NAME(D &dst, S &src, uint16_t row, uint16_t col);                                    \
  template <AnyTile D, AccTile S>                                                                  \
  RecordEvent NAME(D &dst, S &src, uint64_t scale, uint16_t row, uint16_t col);                    \
  template <AnyTile D, AccTile S, ReluPreMode Relu>                                                \
  RecordEvent NAME(D &dst, S &src, uint64_t scale, uint16_t row, uint16_t col);                    \
  template <AnyTile D, AccTile S, AccToVecMode Mode, ReluPreMode Relu = ReluPreMode::NoRelu>       \
  RecordEvent NAME(D &dst, S &src, uint64_t scale, uint16_t row, uint16_t col);                    \
  template <AnyTile D, AccTile S, ScalingTile F, ReluPreMode Relu = ReluPreMode::NoRelu>           \
  RecordEvent NAME##_FP(D &dst, S &src, F &fp, uint16_t row, uint16_t col);                        \
  template <AnyTile D, AccTile S, ScalingTile F, AccToVecMode Mode,                                \
            ReluPreMode Relu = ReluPreMode::NoRelu>                                                \
  RecordEvent NAME(D &dst, S &src, F &fp, uint16_t row, uint16_t col);
PTO_WINDOW(TEXTRACT)
PTO_WINDOW(TINSERT)
#undef PTO_WINDOW
template <TInsertMode Mode, AnyTile D, AnyTile S>
RecordEvent TINSERT(D &dst, S &src, uint16_t row, uint16_t col);
template <AnyTile D, AnyTile S> RecordEvent TFILLPAD(D &dst, S &src);
template <AnyTile D, PadValue Pad, AnyTile S> RecordEvent TFILLPAD(D &dst, S &src);
template <AnyTile D, AnyTile S> RecordEvent TFILLPAD_INPLACE(D &dst, S &src);
template <AnyTile D, AnyTile S> RecordEvent TFILLPAD_EXPAND(D &dst, S &src);
template <VecTile D, VecTile S, VecTile T>
  requires(SameElement<D, S>)
RecordEvent TTRANS(D &dst, S &src, T &tmp);
template <VecTile D, VecTile A, VecTile B>
  requires(SameElement<D, A> && SameElement<D, B>)
RecordEvent TCONCAT(D &dst, A &src0, B &src1);
template <VecTile D, VecTile A, VecTile B, VecTile AI, VecTile BI>
RecordEvent TCONCAT(D &dst, A &src0, B &src1, AI &idx0, BI &idx1);
template <VecTile D, VecTile A, VecTile B, VecTile DI, VecTile AI, VecTile BI>
RecordEvent TCONCAT(D &dst, A &src0, B &src1, DI &dstIdx, AI &idx0, BI &idx1);
template <VecTile D, VecTile S> RecordEvent TPACK(D &dst, S &src);

//===----------------------------------------------------------------------===//
// Matrix
//===----------------------------------------------------------------------===//

#define PTO_MATRIX(NAME)                                                                           \
  template <AccTile C, LeftTile A, RightTile B> RecordEvent NAME(C &dst, A &lhs, B &rhs);          \
  template <AccPhase Phase, AccTile C, LeftTile A, RightTile B>                                    \
  RecordEvent NAME(C &dst, A &lhs, B &rhs);                                                        \
  template <AccTile C, AccTile I, LeftTile A, RightTile B>                                         \
  RecordEvent NAME##_ACC(C &dst, I &in, A &lhs, B &rhs);                                           \
  template <AccPhase Phase, AccTile C, AccTile I, LeftTile A, RightTile B>                         \
  RecordEvent NAME##_ACC(C &dst, I &in, A &lhs, B &rhs);                                           \
  template <AccTile C, LeftTile A, RightTile B, AnyTile S>                                         \
    requires(S::Loc == TileType::Bias)                                                             \
  RecordEvent NAME##_BIAS(C &dst, A &lhs, B &rhs, S &bias);                                        \
  template <AccPhase Phase, AccTile C, LeftTile A, RightTile B, AnyTile S>                         \
    requires(S::Loc == TileType::Bias)                                                             \
  RecordEvent NAME##_BIAS(C &dst, A &lhs, B &rhs, S &bias);                                        \
  template <AccTile C, LeftTile A, ScaleLeftTile AS, RightTile B, ScaleRightTile BS>               \
  RecordEvent NAME##_MX(C &dst, A &lhs, AS &lhsScale, B &rhs, BS &rhsScale);                       \
  template <AccPhase Phase, AccTile C, LeftTile A, ScaleLeftTile AS, RightTile B,                  \
            ScaleRightTile BS>                                                                     \
  RecordEvent NAME##_MX(C &dst, A &lhs, AS &lhsScale, B &rhs, BS &rhsScale);                       \
  template <AccTile C, AccTile I, LeftTile A, ScaleLeftTile AS, RightTile B, ScaleRightTile BS>    \
  RecordEvent NAME##_MX(C &dst, I &in, A &lhs, AS &lhsScale, B &rhs, BS &rhsScale);                \
  template <AccPhase Phase, AccTile C, AccTile I, LeftTile A, ScaleLeftTile AS, RightTile B,       \
            ScaleRightTile BS>                                                                     \
  RecordEvent NAME##_MX(C &dst, I &in, A &lhs, AS &lhsScale, B &rhs, BS &rhsScale);                \
  template <AccTile C, LeftTile A, ScaleLeftTile AS, RightTile B, ScaleRightTile BS, AnyTile S>    \
  RecordEvent NAME##_MX(C &dst, A &lhs, AS &lhsScale, B &rhs, BS &rhsScale, S &bias);              \
  template <AccPhase Phase, AccTile C, LeftTile A, ScaleLeftTile AS, RightTile B,                  \
            ScaleRightTile BS, AnyTile S>                                                          \
  RecordEvent NAME##_MX(C &dst, A &lhs, AS &lhsScale, B &rhs, BS &rhsScale, S &bias);
PTO_MATRIX(TMATMUL)
PTO_MATRIX(TGEMV)
#undef PTO_MATRIX

//===----------------------------------------------------------------------===//
// Gather, scatter, sort, quantise
//===----------------------------------------------------------------------===//

template <VecTile D, VecTile S, VecTile I> RecordEvent TGATHER(D &dst, S &src, I &indices);
template <VecTile D, VecTile S, VecTile I, VecTile T>
RecordEvent TGATHER(D &dst, S &src, I &indices, T &tmp);
template <VecTile D, VecTile S, VecTile C, VecTile T, CmpMode Mode, int Offset>
RecordEvent TGATHER(D &dst, S &src, typename S::DType value, C &counts, T &tmp);
template <VecTile D, VecTile S, MaskPattern Pattern, GatherAxis Axis = GatherAxis::GATHER_ROW>
RecordEvent TGATHER(D &dst, S &src);
template <VecTile D, VecTile S, VecTile O> RecordEvent TGATHERB(D &dst, S &src, O &offsets);
template <VecTile D, VecTile S, VecTile I> RecordEvent TSCATTER(D &dst, S &src, I &indices);
template <MaskPattern Pattern, ScatterAxis Axis = ScatterAxis::SCATTER_ROW, VecTile D, VecTile S>
RecordEvent TSCATTER(D &dst, S &src);
template <VecTile D, VecTile S, VecTile I> RecordEvent TSORT32(D &dst, S &src, I &indices);
template <VecTile D, VecTile S, VecTile I, VecTile T>
RecordEvent TSORT32(D &dst, S &src, I &indices, T &tmp);
template <VecTile D, VecTile S> RecordEvent TMRGSORT(D &dst, S &src, uint32_t blockLen);
template <VecTile D, VecTile T, VecTile A, VecTile B, bool Exhausted>
RecordEvent TMRGSORT(D &dst, MrgSortExecutedNumList &counts, T &tmp, A &src0, B &src1);
template <VecTile D, VecTile T, VecTile A, VecTile B, VecTile C, bool Exhausted>
RecordEvent TMRGSORT(D &dst, MrgSortExecutedNumList &counts, T &tmp, A &src0, B &src1, C &src2);
template <VecTile D, VecTile T, VecTile A, VecTile B, VecTile C, VecTile E, bool Exhausted>
RecordEvent TMRGSORT(D &dst, MrgSortExecutedNumList &counts, T &tmp, A &src0, B &src1, C &src2,
                     E &src3);
template <QuantType Type, VecTile D, VecTile S, VecTile F>
  requires(Type == QuantType::INT8_SYM || Type == QuantType::INT8_ASYM)
RecordEvent TQUANT(D &dst, S &src, F &scale);
template <QuantType Type, VecTile D, VecTile S, VecTile F, VecTile O>
  requires(Type == QuantType::INT8_SYM || Type == QuantType::INT8_ASYM)
RecordEvent TQUANT(D &dst, S &src, F &scale, O *offset);
template <QuantType Type, VecTile D, VecTile S, VecTile F, VecTile T>
  requires(Type == QuantType::INT8_SYM || Type == QuantType::INT8_ASYM)
RecordEvent TQUANT(D &dst, S &src, F &scale, T &tmp);
template <QuantType Type, VecTile D, VecTile S, VecTile F, VecTile T, VecTile O>
  requires(Type == QuantType::INT8_SYM || Type == QuantType::INT8_ASYM)
RecordEvent TQUANT(D &dst, S &src, F &scale, T &tmp, O *offset);
template <QuantType Type, VecTile D, VecTile S, VecTile E, VecTile M, VecTile C,
          QuantScaleAlg Scale = QuantScaleAlg::OCP>
RecordEvent TQUANT(D &dst, S &src, E *exponents, M *maxima, C *scaling);
template <QuantType Type, VecStoreMode Store, VecTile D, VecTile S, VecTile E, VecTile M, VecTile C,
          VecTile Z>
RecordEvent TQUANT(D &dst, S &src, E *exponents, M *maxima, C *scaling, Z *exponentsZz);
template <int GroupAxis, MxQuantAlg Algorithm, bool Interleave = false, VecTile D, VecTile S,
          VecTile E, VecTile M, VecTile C>
RecordEvent TQUANT(D &dst, S &src, E *exponents, M *maxima, C *scaling);
template <int GroupAxis, MxQuantAlg Algorithm, bool Interleave = false, VecTile D, VecTile S,
          VecTile E, VecTile M, VecTile C, VecTile Z>
RecordEvent TQUANT(D &dst, S &src, E *exponents, M *maxima, C *scaling, Z *exponentsZz);
template <VecTile D, VecTile S, VecTile C, VecTile O>
RecordEvent TDEQUANT(D &dst, S &src, C &scale, O &offset);

//===----------------------------------------------------------------------===//
// FIFOs, barriers, printing
//===----------------------------------------------------------------------===//

template <AnyPipe P, typename Entry, TileSplitAxis Split>
  requires(AnyTile<Entry> || AnyGlobal<Entry>)
RecordEvent TPUSH(P &pipe, Entry &entry);
template <AnyPipe P, AnyTile Entry, TileSplitAxis Split>
RecordEvent TPUSH(P &pipe, Entry &entry, int32_t subBlockId);
template <AnyPipe P, AnyTile Entry, typename Config>
  requires(Config::isFixpipe)
RecordEvent TPUSH(P &pipe, Entry &entry);
template <AnyPipe P, typename Entry, TileSplitAxis Split>
  requires(AnyTile<Entry> || AnyGlobal<Entry>)
RecordEvent TPOP(P &pipe, Entry &entry);
template <AnyPipe P, AnyGlobal Entry, TileSplitAxis Split>
RecordEvent TALLOC(P &pipe, Entry &entry);
template <AnyPipe P, TileSplitAxis Split> RecordEvent TFREE(P &pipe);
template <AnyPipe P, AnyGlobal Entry, TileSplitAxis Split> RecordEvent TFREE(P &pipe, Entry &entry);
template <typename Out> void SET_QUANT_SCALAR(float scale);
template <AnyTile F> void SET_QUANT_VECTOR(F &scales);
template <typename... Operands> void TSYNC(Operands &...operands);
template <SyncCoreType Cores = SyncCoreType::AIVOnly> void SYNCALL();
template <SyncAllMode Mode, SyncCoreType Cores>
void SYNCALL(__gm__ int32_t *workspace, int32_t usedCores = 0);
template <AnyTile S> void TPRINT(S &src);
template <PrintFormat Format, AnyTile S> void TPRINT(S &src);

} // namespace pto

#endif // PTO_INSTRUCTIONS_HPP
