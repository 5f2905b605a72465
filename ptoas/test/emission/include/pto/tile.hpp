// Shapes, views of global memory, tiles and FIFOs, with the rules of their parameters.
#ifndef PTO_TILE_HPP
#define PTO_TILE_HPP

#include "types.hpp"

namespace pto {

constexpr int64_t DYNAMIC = -1;

template <int64_t N1, int64_t N2, int64_t N3, int64_t N4, int64_t N5> struct Extents5 {
  static constexpr int64_t values[5] = {N1, N2, N3, N4, N5};
  static constexpr int dynamicCount = (N1 < 0) + (N2 < 0) + (N3 < 0) + (N4 < 0) + (N5 < 0);
  static_assert(N1 >= -1 && N2 >= -1 && N3 >= -1 && N4 >= -1 && N5 >= -1,
                "an extent is known or DYNAMIC");
  Extents5() = default;
  // As many numbers as there are dynamic dimensions.
  template <typename... Numbers> explicit Extents5(Numbers... numbers) {
    static_assert(sizeof...(Numbers) == dynamicCount || sizeof...(Numbers) == 5,
                  "one number for each dynamic dimension");
    (static_cast<void>(static_cast<int64_t>(numbers)), ...);
  }
};
template <int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC,
          int64_t N5 = DYNAMIC>
struct Shape : Extents5<N1, N2, N3, N4, N5> {
  using Extents5<N1, N2, N3, N4, N5>::Extents5;
};
template <int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC,
          int64_t N5 = DYNAMIC>
struct Stride : Extents5<N1, N2, N3, N4, N5> {
  using Extents5<N1, N2, N3, N4, N5>::Extents5;
};

template <typename Element, typename ShapeType, typename StrideType, Layout L = Layout::ND>
struct GlobalTensor {
  using RawDType = Element;
  using DType = Element;
  static constexpr Layout layout = L;
  GlobalTensor() = default;
  // What is not known must be given.
  explicit GlobalTensor(Element *pointer);
  GlobalTensor(Element *pointer, const ShapeType &shape);
  GlobalTensor(Element *pointer, const ShapeType &shape, const StrideType &stride);
  Element *data() const;
  int64_t GetShape(int64_t dim) const;
  int64_t GetStride(int64_t dim) const;
};
template <typename T> struct IsGlobal {
  static constexpr bool value = false;
};
template <typename E, typename S, typename D, Layout L> struct IsGlobal<GlobalTensor<E, S, D, L>> {
  static constexpr bool value = true;
};

constexpr int sizeOfBits(int bytes) { return bytes; }

template <TileType Space, typename Element, int RowCount, int ColCount,
          BLayout BFractalOf = BLayout::RowMajor, int RowValid = RowCount, int ColValid = ColCount,
          SLayout SFractalOf = SLayout::NoneBox, int FractalSize = 512, auto Pad = PadValue::Null,
          CompactMode CompactOf = CompactMode::Null>
struct Tile {
  using DType = Element;
  static constexpr TileType Loc = Space;
  static constexpr int Rows = RowCount, Cols = ColCount;
  static constexpr int ValidRow = RowValid, ValidCol = ColValid;
  static constexpr BLayout BFractal = BFractalOf;
  static constexpr SLayout SFractal = SFractalOf;
  static constexpr bool isRowMajor = BFractalOf == BLayout::RowMajor;
  static constexpr bool isBoxedLayout = SFractalOf != SLayout::NoneBox;
  static constexpr PadValue PadVal = Pad;
  static_assert(RowCount > 0 && ColCount > 0, "a tile has rows and columns");
  // An extent of 0 has no accessor.
  static_assert(RowValid >= -1 && RowValid <= RowCount && RowValid != 0, "valid rows fit the tile");
  static_assert(ColValid >= -1 && ColValid <= ColCount && ColValid != 0, "valid cols fit the tile");
  static constexpr int InnerRows = !isBoxedLayout                    ? 1
                                   : FractalSize == 1024             ? 16
                                   : SFractalOf == SLayout::RowMajor ? 16
                                   : FractalSize == 32               ? 2
                                                                     : 32 / sizeof(Element);
  static constexpr int InnerCols = !isBoxedLayout                    ? 1
                                   : FractalSize == 1024             ? 16
                                   : SFractalOf == SLayout::ColMajor ? 16
                                   : FractalSize == 32               ? 2
                                                                     : 32 / sizeof(Element);
#ifndef PTO_ANY_TILE // for programs whose tiles the headers would refuse
  static_assert(isBoxedLayout || (isRowMajor ? ColCount : RowCount) * sizeof(Element) % 32 == 0,
                "lines of a tile without boxes are whole blocks of 32 bytes");
  static_assert(ColCount % InnerCols == 0, "columns are whole boxes");
  static_assert(RowCount % InnerRows == 0 || Space == TileType::Vec || FractalSize == 32 ||
                    RowCount == 1,
                "rows are whole boxes");
  static_assert(FractalSize == 512 || FractalSize == 1024 || FractalSize == 32,
                "a box has 512, 1024 or 32 bytes or elements");
#endif
  Tile() = default;
  explicit Tile(int64_t valid) {
    static_assert((RowValid < 0) + (ColValid < 0) == 1, "one extent is open");
    static_cast<void>(valid);
  }
  Tile(int64_t rows, int64_t cols) {
    static_assert(RowValid < 0 && ColValid < 0, "both extents are open");
    static_cast<void>(rows);
    static_cast<void>(cols);
  }
  int GetValidRow() const;
  int GetValidCol() const;
  void SetValidShape(int64_t rows, int64_t cols) {
    static_assert(RowValid < 0 && ColValid < 0, "only open extents can be changed");
    static_cast<void>(rows);
    static_cast<void>(cols);
  }
  Element *data() const;
  void SetValue(int64_t offset, Element value);
  Element GetValue(int64_t offset) const;
};
template <typename T> struct IsTile {
  static constexpr bool value = false;
};
template <TileType S, typename E, int R, int C, BLayout B, int VR, int VC, SLayout SL, int F,
          auto P, CompactMode CM>
struct IsTile<Tile<S, E, R, C, B, VR, VC, SL, F, P, CM>> {
  static constexpr bool value = true;
};

template <typename T>
concept AnyTile = IsTile<T>::value;
template <typename T>
concept AnyGlobal = IsGlobal<T>::value;
template <typename T>
concept VecTile = AnyTile<T> && T::Loc == TileType::Vec;
template <typename T>
concept AccTile = AnyTile<T> && T::Loc == TileType::Acc;
template <typename T>
concept LeftTile = AnyTile<T> && T::Loc == TileType::Left;
template <typename T>
concept RightTile = AnyTile<T> && T::Loc == TileType::Right;
template <typename T>
concept ScaleLeftTile = AnyTile<T> && T::Loc == TileType::ScaleLeft;
template <typename T>
concept ScaleRightTile = AnyTile<T> && T::Loc == TileType::ScaleRight;
template <typename T>
concept ScalingTile = AnyTile<T> && T::Loc == TileType::Scaling;

template <typename A, typename B> struct IsSame {
  static constexpr bool value = false;
};
template <typename A> struct IsSame<A, A> {
  static constexpr bool value = true;
};
template <typename A, typename B>
concept SameElement = IsSame<typename A::DType, typename B::DType>::value;

template <uint8_t FlagId, uint8_t DirType, uint32_t SlotSize, uint32_t SlotNum,
          uint32_t LocalSlotNum = 2, bool IsNoSplit = false, bool UnitFlag = false>
struct TPipe {
  static_assert(FlagId + (DirType == DIR_BOTH || DirType == DIR_BOTH_GM ? 4 : 2) <= 16,
                "there are 16 flags");
  static_assert(DirType != UNDEFINED && SlotSize > 0 && SlotNum > 0 && LocalSlotNum <= SlotNum);
  TPipe(__gm__ void *slots, uint32_t c2vConsumer, uint32_t v2cConsumer);
};
template <typename T> struct IsPipe {
  static constexpr bool value = false;
};
template <uint8_t F, uint8_t D, uint32_t S, uint32_t N, uint32_t L, bool X, bool U>
struct IsPipe<TPipe<F, D, S, N, L, X, U>> {
  static constexpr bool value = true;
};
template <typename T>
concept AnyPipe = IsPipe<T>::value;

template <LayoutMode_t LayoutMode = LayoutMode_t::NZ2ND,
          QuantMode_t QuantMode = QuantMode_t::NoQuant, ReluPreMode Relu = ReluPreMode::NoRelu>
struct FixpipeParams {
  static constexpr bool isFixpipe = true;
};

} // namespace pto

#endif // PTO_TILE_HPP
