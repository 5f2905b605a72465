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

/// Prints rows as one JSON list (`--json`) or one object per line.
inline bool asList = false;
inline int rows = 0;

/// One row. Lower is better unless said otherwise; `target` is the least ratio to the peer. A
/// figure without a peer is compared with its goal.
inline void row(const char *name, double ours, double peer, const char *peerName, const char *unit,
                double target, bool higherIsBetter = false) {
  double ratio = higherIsBetter ? ours / peer : ours > 0 ? peer / ours : 1e9;
  std::printf("%s{\"name\": \"%s\", \"ours\": %.4g, \"peer\": %.4g, \"peer_name\": \"%s\", "
              "\"unit\": \"%s\", \"ratio\": %.3g, \"target\": %.4g, \"higher_is_better\": %s}",
              asList ? (rows++ ? ",\n" : "[\n") : "", name, ours, peer, peerName, unit, ratio,
              target, higherIsBetter ? "true" : "false");
  if (!asList)
    std::printf("\n");
  std::fflush(stdout);
}
inline void goal(const char *name, double ours, double value, const char *unit,
                 bool higherIsBetter = false) {
  row(name, ours, value, "goal", unit, 1.0, higherIsBetter);
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
