//===- GemmTest.cpp - products against a plain double reference -----------===//
//
// Every case runs between guard pages: an access outside an operand ends the test. The
// instruction set is that of PTO_ISA; CMake registers the program once for each.
//
//===----------------------------------------------------------------------===//
#include "GuardedBuffer.h"
#include "ptoas/Target/Native/Kernels.h"
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

struct F32 {
  using In = float;
  using Out = float;
  static constexpr auto gemm = pto_gemm_f32;
  static In encode(double v) { return float(v); }
  static double decode(In v) { return v; }
};
struct Bf16 {
  using In = uint16_t;
  using Out = float;
  static constexpr auto gemm = pto_gemm_bf16;
  static In encode(double v) { return uint16_t(std::bit_cast<uint32_t>(float(v)) >> 16); }
  static double decode(In v) { return std::bit_cast<float>(uint32_t(v) << 16); }
};
struct F16 {
  using In = uint16_t;
  using Out = float;
  static constexpr auto gemm = pto_gemm_f16;
  // Sums of 1/64 below 4 are exact in half precision: sign, exponent, 10 bits of fraction.
  static In encode(double v) {
    int exponent;
    double fraction = std::frexp(std::round(std::abs(v) * 64) / 64, &exponent);
    if (fraction == 0)
      return 0;
    return uint16_t((v < 0) << 15 | (exponent + 14) << 10 | (int(fraction * 2048) - 1024));
  }
  static double decode(In v) {
    double magnitude = v & 0x7fff ? std::ldexp(1024 + (v & 1023), (v >> 10 & 31) - 25) : 0;
    return v >> 15 ? -magnitude : magnitude;
  }
};
struct I8 {
  using In = int8_t;
  using Out = int32_t;
  static constexpr auto gemm = pto_gemm_i8;
  static In encode(double v) { return int8_t(std::lround(v * 127 / 2) % 128 - (v < -1.99)); }
  static double decode(In v) { return v; }
};

enum class Order { RowMajor, ColumnMajor, Scattered };

struct Case {
  int64_t m, n, k;
  Order a = Order::RowMajor, b = Order::RowMajor;
  bool bias = false, accumulate = false;
  int64_t pad = 0; // elements between rows
  bool atEnd = true;
};

std::ostream &operator<<(std::ostream &os, const Case &c) {
  return os << "m=" << c.m << " n=" << c.n << " k=" << c.k << " a=" << int(c.a) << " b=" << int(c.b)
            << " bias=" << c.bias << " accumulate=" << c.accumulate << " pad=" << c.pad
            << " atEnd=" << c.atEnd;
}

struct Strides {
  int64_t row, col;
  size_t span;
  Strides(int64_t rows, int64_t cols, Order order, int64_t pad) {
    row = order == Order::RowMajor ? cols + pad : order == Order::ColumnMajor ? 1 : 2 * cols + pad;
    col = order == Order::RowMajor ? 1 : order == Order::ColumnMajor ? rows + pad : 2;
    span = rows && cols ? size_t((rows - 1) * row + (cols - 1) * col + 1) : 0;
  }
};

template <class T> class GemmTest : public testing::Test {
public:
  using In = typename T::In;
  using Out = typename T::Out;
  std::mt19937 random{20240607};

  double number() { return std::uniform_real_distribution<double>(-2, 2)(random); }

  void check(const Case &c) {
    SCOPED_TRACE(testing::Message() << c);
    const Strides sa(c.m, c.k, c.a, c.pad), sb(c.k, c.n, c.b, c.pad);
    const int64_t cStride = c.n ? c.n + c.pad : 0;
    GuardedBuffer<In> a(sa.span, c.atEnd), b(sb.span, c.atEnd);
    GuardedBuffer<Out> out(c.m && c.n ? size_t((c.m - 1) * cStride + c.n) : 0, c.atEnd);
    GuardedBuffer<Out> bias(size_t(c.n), c.atEnd);
    for (size_t i = 0; i < sa.span; ++i)
      a[i] = T::encode(number());
    for (size_t i = 0; i < sb.span; ++i)
      b[i] = T::encode(number());
    for (int64_t j = 0; j < c.n; ++j)
      bias[size_t(j)] = Out(number() * 8);
    const size_t outSize = c.m && c.n ? size_t((c.m - 1) * cStride + c.n) : 0;
    // Without accumulation old contents must not matter, not even NaN.
    std::vector<Out> before(outSize);
    for (size_t i = 0; i < outSize; ++i)
      before[i] = c.accumulate                              ? Out(number() * 16)
                  : std::numeric_limits<Out>::has_quiet_NaN ? std::numeric_limits<Out>::quiet_NaN()
                                                            : Out(77777);
    for (int64_t i = 0; i < c.m; ++i) // the space between rows carries a mark
      for (int64_t j = c.n; j < cStride && i + 1 < c.m; ++j)
        before[size_t(i * cStride + j)] = Out(4242);
    if (outSize)
      std::memcpy(out.data(), before.data(), outSize * sizeof(Out));

    T::gemm(c.m, c.n, c.k, a.data(), sa.row, sa.col, b.data(), sb.row, sb.col, out.data(), cStride,
            c.bias ? bias.data() : nullptr, c.accumulate);

    for (int64_t i = 0; i < c.m; ++i) {
      for (int64_t j = 0; j < c.n; ++j) {
        double sum = c.accumulate ? double(before[size_t(i * cStride + j)]) : 0;
        sum += c.bias ? double(bias[size_t(j)]) : 0;
        double size = std::abs(sum);
        for (int64_t p = 0; p < c.k; ++p) {
          double term = T::decode(a[size_t(i * sa.row + p * sa.col)]) *
                        T::decode(b[size_t(p * sb.row + j * sb.col)]);
          sum += term;
          size += std::abs(term);
        }
        // A chain of k roundings; integers are exact.
        const double slack = std::is_integral_v<Out> ? 0 : (double(c.k) + 2) * 6e-8 * size;
        ASSERT_NEAR(double(out[size_t(i * cStride + j)]), sum, slack) << "at " << i << ", " << j;
      }
      for (int64_t j = c.n; j < cStride && i + 1 < c.m; ++j)
        ASSERT_EQ(out[size_t(i * cStride + j)], Out(4242)) << "written between rows, row " << i;
    }
  }

  std::vector<Out> run(const Case &c, const std::vector<In> &a, const std::vector<In> &b) {
    // Same values in the orientation asked for.
    const Strides sa(c.m, c.k, c.a, c.pad), sb(c.k, c.n, c.b, c.pad);
    std::vector<In> x(sa.span), y(sb.span);
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t p = 0; p < c.k; ++p)
        x[size_t(i * sa.row + p * sa.col)] = a[size_t(i * c.k + p)];
    for (int64_t p = 0; p < c.k; ++p)
      for (int64_t j = 0; j < c.n; ++j)
        y[size_t(p * sb.row + j * sb.col)] = b[size_t(p * c.n + j)];
    std::vector<Out> out(size_t(c.m * c.n));
    T::gemm(c.m, c.n, c.k, x.data(), sa.row, sa.col, y.data(), sb.row, sb.col, out.data(), c.n,
            nullptr, 0);
    return out;
  }
};

using Types = testing::Types<F32, Bf16, F16, I8>;
TYPED_TEST_SUITE(GemmTest, Types);

constexpr Order orders[] = {Order::RowMajor, Order::ColumnMajor, Order::Scattered};

// Empty products still write bias and zero.
TYPED_TEST(GemmTest, EmptyExtents) {
  for (int64_t m : {0, 1, 17})
    for (int64_t n : {0, 1, 33})
      for (int64_t k : {0, 1})
        for (int flags = 0; flags < 4; ++flags)
          this->check(
              {m, n, k, Order::RowMajor, Order::RowMajor, bool(flags & 1), bool(flags & 2)});
}

TYPED_TEST(GemmTest, RandomShapes) {
  auto pick = [&](int64_t below) { return int64_t(this->random() % uint32_t(below)); };
  for (int i = 0; i < 400 && !this->HasFatalFailure(); ++i)
    this->check({pick(71), pick(71), pick(71), orders[pick(3)], orders[pick(3)], bool(pick(2)),
                 bool(pick(2)), pick(2) * pick(9), bool(pick(2))});
}

// Extents around vector, tile, strip and panel sizes, in every orientation.
TYPED_TEST(GemmTest, EdgesOfBlocks) {
  for (Order a : orders)
    for (Order b : orders)
      for (int64_t m : {14, 16, 32, 33})
        for (int64_t n : {16, 32, 64, 65})
          for (int64_t k : {32, 63, 64})
            this->check({m, n, k, a, b, true, true, 0, true});
}

// Longer than one block of k and of rows; rows that alias in the cache are packed.
TYPED_TEST(GemmTest, SeveralBlocks) {
  this->check({40, 96, 1100, Order::RowMajor, Order::RowMajor, true, true, 948});
  this->check({40, 96, 1100, Order::RowMajor, Order::ColumnMajor, true, false, 0});
  this->check({520, 40, 300, Order::RowMajor, Order::RowMajor, false, true, 4});
  this->check({530, 40, 300, Order::ColumnMajor, Order::ColumnMajor, true, false, 4});
  this->check({64, 160, 128, Order::RowMajor, Order::RowMajor, false, false, 4096 - 128});
}

// Values decide the result, their place in memory does not.
TYPED_TEST(GemmTest, SameBitsInEveryOrientation) {
  using In = typename TypeParam::In;
  for (auto [m, n, k] : {std::array<int64_t, 3>{61, 67, 70}, {128, 96, 128}, {30, 40, 1030}}) {
    std::vector<In> a(size_t(m * k)), b(size_t(k * n));
    for (In &v : a)
      v = TypeParam::encode(this->number());
    for (In &v : b)
      v = TypeParam::encode(this->number());
    const auto expected = this->run({m, n, k}, a, b);
    for (Order oa : orders)
      for (Order ob : orders)
        for (int64_t pad : {0, 3})
          ASSERT_EQ(this->run({m, n, k, oa, ob, false, false, pad}, a, b), expected)
              << m << " " << n << " " << k << " " << int(oa) << int(ob);
    std::vector<typename TypeParam::Out> elsewhere;
    std::thread([&] { elsewhere = this->run({m, n, k}, a, b); }).join();
    ASSERT_EQ(elsewhere, expected);
  }
}

// Padding of ragged extents must not meet an infinity or NaN of the other operand.
TYPED_TEST(GemmTest, NonFiniteStaysInItsRowAndColumn) {
  if constexpr (std::is_same_v<typename TypeParam::Out, float>) {
    using In = typename TypeParam::In;
    const In infinity = std::is_same_v<In, float>        ? In(INFINITY)
                        : std::is_same_v<TypeParam, F16> ? In(0x7c00)
                                                         : In(0x7f80);
    const int64_t m = 19, n = 21, k = 33;
    std::vector<In> a(size_t(m * k), TypeParam::encode(1)), b(size_t(k * n), TypeParam::encode(1));
    a[size_t(18 * k + 32)] = infinity;
    b[size_t(32 * n + 20)] = infinity;
    for (Order order : orders) {
      const auto out = this->run({m, n, k, order, order}, a, b);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
          ASSERT_EQ(out[size_t(i * n + j)], i == 18 || j == 20 ? INFINITY : float(k));
    }
  }
}

TEST(GemmI8, ExtremesAreExactAndSumsWrap) {
  const int64_t m = 20, n = 40, k = 1024;
  for (int av : {-128, 127})
    for (int bv : {-128, 127}) {
      std::vector<int8_t> a(size_t(m * k), int8_t(av)), b(size_t(k * n), int8_t(bv));
      std::vector<int32_t> c(size_t(m * n), INT32_MAX);
      pto_gemm_i8(m, n, k, a.data(), k, 1, b.data(), n, 1, c.data(), n, nullptr, 1);
      for (int32_t v : c)
        ASSERT_EQ(v, int32_t(uint32_t(INT32_MAX) + uint32_t(av * bv * int(k))));
    }
}

// FP32 sums are one chain of FMAs in the order of k, on every instruction set.
TEST(GemmF32, ChainOfFmas) {
  std::mt19937 random{7};
  std::uniform_real_distribution<float> number(-1, 1);
  const int64_t m = 23, n = 45, k = 700;
  std::vector<float> a(size_t(m * k)), b(size_t(k * n)), c(size_t(m * n)),
      bias(static_cast<size_t>(n));
  for (auto *v : {&a, &b, &c, &bias})
    for (float &x : *v)
      x = number(random);
  auto expected = c;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = expected[size_t(i * n + j)] + bias[size_t(j)];
      for (int64_t p = 0; p < k; ++p)
        sum = std::fma(a[size_t(i * k + p)], b[size_t(p * n + j)], sum);
      expected[size_t(i * n + j)] = sum;
    }
  pto_gemm_f32(m, n, k, a.data(), k, 1, b.data(), n, 1, c.data(), n, bias.data(), 1);
  ASSERT_EQ(c, expected);
}

// PTO_ISA lowers the instruction set, it never raises it.
TEST(Dispatch, IsaIsLowered) {
  auto rank = [](const std::string &isa) {
    return isa == "amx" ? 3 : isa == "avx512" ? 2 : isa == "avx2" ? 1 : 0;
  };
  if (const char *limit = std::getenv("PTO_ISA"))
    EXPECT_LE(rank(pto_kernels_isa()), rank(limit));
}

} // namespace
