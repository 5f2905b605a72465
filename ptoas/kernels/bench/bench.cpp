//===- bench.cpp - speed of the kernels as GFLOP/s and % of the peak ------===//
//
//   kernels_bench            table of the shapes that programs have
//   kernels_bench --peak     {"fp32_gflops": x, "bf16_gflops": y}: register peaks of one core
//   kernels_bench f32|bf16|f16|i8 m n k [t]    one dense product (t: b is [n, k])
//
//===----------------------------------------------------------------------===//
#include "BenchLoops.h"
#include "ptoas/Target/Native/Kernels.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

static const char *const names[] = {"f32", "bf16", "f16", "i8"};
static constexpr double seconds = 0.15;

int main(int argc, char **argv) {
  const double fp32 = peak_fp32(seconds), bf16 = peak_bf16(seconds);
  if (argc == 2 && !std::strcmp(argv[1], "--peak")) {
    std::printf("{\"fp32_gflops\": %.1f, \"bf16_gflops\": %.1f}\n", fp32, bf16);
    return 0;
  }
  // int8 units run at twice the rate of bfloat16's; half runs through FP32.
  const double peaks[] = {fp32, bf16 ? bf16 : fp32, fp32, 2 * (bf16 ? bf16 : fp32)};
  auto show = [&](int dtype, const char *what, double rate) {
    std::printf("%-5s %-34s %8.1f GFLOP/s  %5.1f %% of peak\n", names[dtype], what, rate,
                100 * rate / peaks[dtype]);
    std::fflush(stdout);
  };
  if (argc >= 5) {
    int dtype = 0;
    while (dtype < 4 && std::strcmp(names[dtype], argv[1]))
      ++dtype;
    if (dtype == 4) {
      std::fprintf(stderr, "kernels_bench: element type %s is none of f32, bf16, f16, i8\n",
                   argv[1]);
      return 2;
    }
    const int64_t m = std::atoll(argv[2]), n = std::atoll(argv[3]), k = std::atoll(argv[4]);
    show(dtype, "", bench_product(dtype, m, n, k, argc > 5, 1.0));
    return 0;
  }
  std::printf("isa %s, peaks: FP32 %.1f, bfloat16 %.1f GFLOP/s\n", pto_kernels_isa(), fp32, bf16);
  char what[64];
  for (int dtype = 0; dtype < 4; ++dtype) {
    const int64_t shapes[][3] = {{16, 16, 16},    {32, 32, 32},   {64, 64, 64},    {128, 128, 128},
                                 {128, 128, 64},  {128, 64, 128}, {104, 104, 104}, {16, 128, 128},
                                 {256, 256, 256}, {512, 512, 512}};
    for (auto [m, n, k] : shapes)
      for (int t = 0; t < 2; ++t) {
        std::snprintf(what, sizeof what, "%ldx%ldx%ld%s", long(m), long(n), long(k),
                      t ? " b transposed" : "");
        show(dtype, what, bench_product(dtype, m, n, k, t, seconds));
      }
    const int64_t blocks[][3] = {
        {128, 128, 128}, {128, 128, 256}, {256, 128, 128}, {128, 256, 256}, {256, 256, 256}};
    for (auto [m, n, k] : blocks)
      for (int t = 0; t < 2; ++t) {
        std::snprintf(what, sizeof what, "1024^3 by %ldx%ldx%ld%s", long(m), long(n), long(k),
                      t ? " b transposed" : "");
        show(dtype, what, bench_blocked(dtype, 1024, 1024, 1024, m, n, k, t, seconds));
      }
  }
  return 0;
}
