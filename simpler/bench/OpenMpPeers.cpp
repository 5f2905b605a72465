//===- OpenMpPeers.cpp - the same graphs with OpenMP tasks ----------------===//
#include "Bench.h"

#include <omp.h>
#include <vector>

namespace bench {

template <typename F> static double inTeam(int threads, F &&body) {
  return best(15, [&] {
#pragma omp parallel num_threads(threads)
#pragma omp single
    body();
  });
}

double ompDependWave(int side, int threads) {
  std::vector<char> cells((side + 1) * (side + 1));
  char *c = cells.data();
  return inTeam(threads, [&] {
    int pitch = side + 1;
    for (int i = 1; i <= side; ++i)
      for (int j = 1; j <= side; ++j) {
        char *up = c + (i - 1) * pitch + j, *left = c + i * pitch + j - 1,
             *self = c + i * pitch + j;
#pragma omp task depend(in : *up, *left) depend(inout : *self) firstprivate(self)
        {
          asm volatile("" : : "r"(self));
        }
      }
  });
}

double ompDependChains(int chains, int length, int threads) {
  std::vector<char> cells(chains * 3);
  char *c = cells.data();
  return inTeam(threads, [&] {
    for (int k = 0; k < length; ++k)
      for (int i = 0; i < chains; ++i) {
        char *a = c + 3 * i, *b = a + 1, *d = a + 2;
#pragma omp task depend(in : *a, *b) depend(inout : *d) firstprivate(d)
        {
          asm volatile("" : : "r"(d));
        }
      }
  });
}

double ompDependIndependent(int tasks, int threads) {
  std::vector<char> cells(3 * 1024);
  char *c = cells.data();
  return inTeam(threads, [&] {
    for (int i = 0; i < tasks; ++i) {
      char *a = c + 3 * (i % 1024), *b = a + 1, *d = a + 2;
#pragma omp task depend(in : *a, *b, *d) firstprivate(d)
      {
        asm volatile("" : : "r"(d));
      }
    }
  });
}

} // namespace bench
