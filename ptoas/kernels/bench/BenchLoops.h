//===- BenchLoops.h - timed loops shared by kernels_bench and Python ------===//
#ifndef PTOAS_KERNELS_BENCH_BENCHLOOPS_H
#define PTOAS_KERNELS_BENCH_BENCHLOOPS_H

#include <stdint.h>

extern "C" {
#define PTO_BENCH_API __attribute__((visibility("default")))

/// Element types: 0 FP32, 1 bfloat16, 2 half, 3 int8. Both return GFLOP/s (2 m n k per product) of
/// the fastest of many rounds within `seconds`.

/// One dense product, operands warm in cache; bTransposed: b is [n, k] in memory.
PTO_BENCH_API double bench_product(int dtype, int64_t m, int64_t n, int64_t k, int bTransposed,
                                   double seconds);

/// An m x n x k product of big dense matrices, cut to blocks of bm x bn whose sums stay in a local
/// buffer while k advances by bk; the buffer is then copied to the result.
PTO_BENCH_API double bench_blocked(int dtype, int64_t m, int64_t n, int64_t k, int64_t bm,
                                   int64_t bn, int64_t bk, int bTransposed, double seconds);

/// GFLOP/s of independent FMAs in registers, and of tile products (or VDPBF16PS; 0 without either).
PTO_BENCH_API double peak_fp32(double seconds);
PTO_BENCH_API double peak_bf16(double seconds);
}
#endif // PTOAS_KERNELS_BENCH_BENCHLOOPS_H
