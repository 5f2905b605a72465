#!/usr/bin/env bash
# Fuzzes text and bytecode for PTO_FUZZ_SECONDS (600) seconds of CPU time in all, in a build of its own whose
# code reports its coverage. A finding is kept in build/fuzz and fails the run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
seconds=${PTO_FUZZ_SECONDS:-600}
build=build/fuzz
cmake --preset dev -B $build -DPTO_COMPONENTS="support;ptoas" -DPTO_FUZZ=ON
cmake --build $build -j "$(nproc)" --target ptoas_fuzz_text ptoas_fuzz_bytecode

# Seconds of CPU time, user and system, that the programs started here have used (proc(5)).
cpu_seconds() { awk -v hertz="$(getconf CLK_TCK)" '{ print int(($16 + $17) / hertz) }' /proc/$$/stat; }

for kind in text bytecode; do
  found=$build/found/$kind
  mkdir -p "$found"
  begin=$(cpu_seconds)
  # libFuzzer counts seconds of the wall, of which a busy machine gives fewer.
  while used=$(($(cpu_seconds) - begin)) && left=$((seconds / 2 - used)) && [ $left -gt 0 ]; do
    $build/ptoas/test/fuzz/ptoas_fuzz_$kind -max_total_time=$left -timeout=10 -rss_limit_mb=4096 \
      -max_len=6000 -keep_seed=1 -print_final_stats=1 -artifact_prefix=$build/found/ -dict=ptoas/test/fuzz/pto.dict \
      "$found" ptoas/test/fuzz/$kind ptoas/test/IR/text
  done
  echo "fuzzed $kind for $(($(cpu_seconds) - begin)) seconds of CPU time"
done
