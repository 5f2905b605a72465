//===- Config.cpp - the simulated machine, from the environment -----------===//
#include "npu_runtime/Config.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unistd.h>
#include <vector>

namespace npu {
namespace {

constexpr size_t MiB = size_t(1) << 20, GiB = size_t(1) << 30;

const SocInfo Products[] = {
    {"Ascend910B1", 2201, 24, 48, 64 * GiB, 192 * MiB},
    {"Ascend910B2", 2201, 24, 48, 64 * GiB, 192 * MiB},
    {"Ascend910B3", 2201, 20, 40, 64 * GiB, 192 * MiB},
    {"Ascend910B4", 2201, 20, 40, 32 * GiB, 96 * MiB},
    {"Ascend910_9391", 2201, 24, 48, 64 * GiB, 192 * MiB},
    {"Ascend950PR", 3510, 32, 64, 128 * GiB, 128 * MiB},
    {"Ascend950DT", 3510, 32, 64, 144 * GiB, 128 * MiB},
};

const char *variable(const char *name) {
  const char *text = std::getenv(name);
  return text && *text ? text : nullptr;
}

[[noreturn]] void bad(const char *name, const std::string &text, const std::string &wanted) {
  throw std::invalid_argument(std::string(name) + "='" + text + "' is not valid: expected " +
                              wanted);
}

bool flag(const char *name) {
  const char *text = variable(name);
  if (!text || !std::strcmp(text, "0"))
    return false;
  if (!std::strcmp(text, "1"))
    return true;
  bad(name, text, "0 or 1");
}

size_t bytes(const char *name, size_t fallback) {
  const char *text = variable(name);
  if (!text)
    return fallback;
  char *end = nullptr;
  double value = std::strtod(text, &end);
  std::string unit = end;
  double scale = unit.empty() || unit == "B"    ? 1
                 : unit == "KiB" || unit == "K" ? 1024
                 : unit == "MiB" || unit == "M" ? double(MiB)
                 : unit == "GiB" || unit == "G" ? double(GiB)
                                                : 0;
  if (end == text || scale == 0 || !(value > 0) || value * scale > 1e15)
    bad(name, text, "a size such as 1073741824, 512MiB or 4GiB");
  return size_t(value * scale);
}

Config read() {
  Config c;
  c.soc = Products[0];
  if (const char *name = variable("PTO_NPU_SOC")) {
    auto *found = std::find_if(std::begin(Products), std::end(Products),
                               [&](const SocInfo &p) { return p.name == name; });
    if (found == std::end(Products)) {
      std::string names;
      for (const SocInfo &p : Products)
        names += (names.empty() ? "" : ", ") + p.name;
      bad("PTO_NPU_SOC", name, "one of " + names);
    }
    c.soc = *found;
  }
  if (const char *mode = variable("TASK_QUEUE_ENABLE")) {
    if (std::strlen(mode) != 1 || mode[0] < '0' || mode[0] > '2')
      bad("TASK_QUEUE_ENABLE", mode, "0, 1 or 2");
    c.taskQueueMode = mode[0] - '0';
  }
  c.launchBlocking = flag("ASCEND_LAUNCH_BLOCKING");
  if (c.launchBlocking)
    c.taskQueueMode = 0;
  c.queuePerStream = flag("PER_STREAM_QUEUE") && c.taskQueueMode != 0;
  c.forceAsync = flag("PTO_NPU_ASYNC");
  size_t host = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
  c.memoryBytes = bytes("PTO_NPU_MEMORY", std::min(c.soc.memoryBytes, host / 10 * 8));
  return c;
}

} // namespace

const Config &config() {
  static const Config c = read();
  return c;
}

int visibleDeviceCount() noexcept {
  int present = 2;
  if (const char *text = variable("PTO_NPU_COUNT"))
    present = std::clamp(std::atoi(text), 0, 16);
  const char *visible = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
  if (!visible)
    return present;
  int count = 0, last = -1;
  for (const char *at = visible; *at;) {
    char *end = nullptr;
    long index = std::strtol(at, &end, 10);
    if (end == at || index <= last || index >= present || (*end && *end != ','))
      break;
    last = int(index);
    ++count;
    at = *end ? end + 1 : end;
  }
  return count;
}

} // namespace npu
