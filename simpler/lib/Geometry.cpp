//===- Geometry.cpp - the devices this runtime stands for (spec 1.2) ------===//
#include "Device.h"

#include <cstring>

namespace simpler {

// One row per platform: programs may depend on these numbers, the scheduler does not.
static constexpr Geometry kPlatforms[] = {
    {"a2a3", 24, 50000000},
    {"a2a3sim", 8, 50000000},
    {"a5", 36, 1000000000},
    {"a5sim", 8, 1000000000},
};

const Geometry *findGeometry(const char *name) {
  for (const Geometry &geometry : kPlatforms)
    if (name && std::strcmp(name, geometry.arch) == 0)
      return &geometry;
  return nullptr;
}

} // namespace simpler
