//===- irregular_comm.cpp - copies between views, signals in memory -------===//
#include "irregular_tile.h"
#include <sched.h>

using namespace ptoas::kernels;

namespace {
// As Comm.cpp writes it.
struct View {
  char *data;
  int64_t type, rank;
  int64_t dims[10]; // sizes, then strides in elements

  int64_t count() const {
    int64_t all = 1;
    for (int64_t d = 0; d < rank; ++d)
      all *= dims[d] > 0 ? dims[d] : 0;
    return all;
  }
  // Elements count in row-major order.
  char *at(int64_t linear) const {
    int64_t offset = 0;
    for (int64_t d = rank - 1; d >= 0; --d) {
      offset += linear % dims[d] * dims[rank + d];
      linear /= dims[d];
    }
    return data + offset * int64_t(elementBytes(type));
  }
};

enum Mode { Assign, Add, Max, Min };

template <typename T> T combine(T a, T b, int mode) {
  return mode == Add ? T(a + b) : mode == Max ? (a > b ? a : b) : (a < b ? a : b);
}
} // namespace

/// dst[dstStart + i] = src[srcStart + i], or combined with what is there, as far as both go; gives
/// the number of elements.
PTO_RUNTIME int64_t pto_view_copy(const View *dst, int64_t dstStart, const View *src,
                                  int64_t srcStart, int32_t mode) {
  int64_t fits = dst->count() - dstStart, given = src->count() - srcStart;
  int64_t count = fits < given ? fits : given;
  unsigned bytes = elementBytes(src->type);
  for (int64_t i = 0; i < count; ++i) {
    char *to = dst->at(dstStart + i);
    const char *from = src->at(srcStart + i);
    if (mode == Assign) {
      std::memcpy(to, from, bytes);
    } else if (src->type <= F64) {
      storeNumber(to, dst->type,
                  combine(loadNumber(to, dst->type), loadNumber(from, src->type), mode));
    } else {
      int64_t value = combine(loadInteger(to, dst->type), loadInteger(from, src->type), mode);
      std::memcpy(to, &value, bytes);
    }
  }
  return count > 0 ? count : 0;
}

PTO_RUNTIME void pto_signal_notify(int32_t *signal, int32_t value, int32_t adds) {
  if (adds)
    __atomic_fetch_add(signal, value, __ATOMIC_SEQ_CST);
  else
    __atomic_store_n(signal, value, __ATOMIC_SEQ_CST);
}

/// `cmp`: eq, ne, gt, ge, lt, le.
PTO_RUNTIME int32_t pto_signal_test(int32_t *signal, int32_t value, int32_t cmp) {
  int32_t now = __atomic_load_n(signal, __ATOMIC_SEQ_CST);
  switch (cmp) {
  case 0:
    return now == value;
  case 1:
    return now != value;
  case 2:
    return now > value;
  case 3:
    return now >= value;
  case 4:
    return now < value;
  default:
    return now <= value;
  }
}

/// Waits for another device, which may be another process: there is no telling when it is in vain.
PTO_RUNTIME void pto_signal_wait(int32_t *signal, int32_t value, int32_t cmp) {
  while (!pto_signal_test(signal, value, cmp))
    sched_yield();
}
