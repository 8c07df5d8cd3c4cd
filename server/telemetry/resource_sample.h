// ResourceSample: total and held amounts of a resource that models share.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

// A value.
struct ResourceSample {
  std::string name;
  std::string device;  // empty: shared by all devices
  uint64_t limit = 0;
  uint64_t held = 0;
  uint64_t waiting = 0;  // models that wait for it there
};

}  // namespace mpsd
