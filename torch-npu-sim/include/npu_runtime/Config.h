//===- Config.h - what the simulated machine looks like -------------------===//
//
// Read once from the environment, before the first device is touched. Visible
// devices are read on every count until the runtime starts, as on a real host.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "npu_runtime/Export.h"

#include <cstddef>
#include <string>

namespace npu {

/// One product of the simulated family; figures as its data sheet gives them.
struct SocInfo {
  std::string name;   ///< as `get_device_name` reports it, e.g. "Ascend910B1"
  int arch;           ///< 2201 (910B/910_93) or 3510 (950)
  int cubeCores;      ///< matrix cores
  int vectorCores;    ///< vector cores
  size_t memoryBytes; ///< device memory
  size_t l2Bytes;     ///< shared level-2 cache
};

struct Config {
  SocInfo soc;
  int taskQueueMode = 1;       ///< TASK_QUEUE_ENABLE: 0 inline, 1 one queue per device, 2 as 1
  bool queuePerStream = false; ///< PER_STREAM_QUEUE=1
  bool launchBlocking = false; ///< ASCEND_LAUNCH_BLOCKING=1: mode 0 and a wait after each launch
  bool forceAsync = false;     ///< PTO_NPU_ASYNC=1: idle streams do not run work on the caller
  size_t memoryBytes =
      0; ///< limit per device: PTO_NPU_MEMORY, else the product's, at most 80 % of the host's
};

/// The process's configuration. Throws std::invalid_argument, naming the variable, for a value that
/// has no meaning.
NPU_API const Config &config();

/// Devices that the process sees: PTO_NPU_COUNT (default 2) narrowed by ASCEND_RT_VISIBLE_DEVICES
/// (ascending list of indices, the rest after the first bad entry is dropped; empty means none).
/// Never throws.
NPU_API int visibleDeviceCount() noexcept;

} // namespace npu
