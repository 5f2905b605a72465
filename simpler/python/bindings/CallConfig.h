//===- CallConfig.h - options of one run, as Python gives them ------------===//
#ifndef SIMPLER_BINDINGS_CALL_CONFIG_H
#define SIMPLER_BINDINGS_CALL_CONFIG_H

#include "simpler/callable_api.h"

#include <array>
#include <string>

namespace simpler::py {

struct RuntimeEnv {
  std::array<uint64_t, 4> taskWindow{}, heap{}, depPool{};
};

struct CallConfig {
  int32_t aicpuThreads = 0, swimlane = 0, dumpArgs = 0, pmu = 0;
  bool depGen = false, scopeStats = false;
  RuntimeEnv env;
  std::string outputPrefix;

  /// Empty when valid, else what is wrong.
  std::string problem() const;
  SimplerCallOptions options(bool hostBuildGraph) const;
};

} // namespace simpler::py

#endif // SIMPLER_BINDINGS_CALL_CONFIG_H
