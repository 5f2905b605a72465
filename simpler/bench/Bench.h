//===- Bench.h - rows of figures with a peer each -------------------------===//
#ifndef SIMPLER_BENCH_H
#define SIMPLER_BENCH_H

#include <chrono>
#include <cstdio>
#include <functional>

namespace bench {

/// Best of `rounds` runs of body, seconds.
inline double best(int rounds, const std::function<void()> &body) {
  double result = 1e30;
  for (int i = 0; i < rounds; ++i) {
    auto start = std::chrono::steady_clock::now();
    body();
    std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    result = elapsed.count() < result ? elapsed.count() : result;
  }
  return result;
}

/// One JSON row. `ratio` is peer / ours where lower is better, ours / peer where higher is.
inline void row(const char *name, double ours, double peer, const char *peerName, const char *unit,
                double target, bool higherIsBetter = false) {
  double ratio = peer > 0 ? (higherIsBetter ? ours / peer : peer / ours) : 0;
  std::printf("{\"name\": \"%s\", \"ours\": %.4g, \"peer\": %.4g, \"peer_name\": \"%s\", "
              "\"unit\": \"%s\", \"ratio\": %.3g, \"target\": %.4g}\n",
              name, ours, peer, peerName, unit, ratio, target);
  std::fflush(stdout);
}

// Peers, each in its own file because their flags and headers differ. Seconds for one execution.
double tbbFlowGraphWave(int side, int threads);
double tbbTaskGroup(int tasks, int threads);
double tbbFlowGraphChains(int chains, int length, int threads);
double ompDependWave(int side, int threads);
double ompDependChains(int chains, int length, int threads);
double ompDependIndependent(int tasks, int threads);

} // namespace bench

#endif // SIMPLER_BENCH_H
