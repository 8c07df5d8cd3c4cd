// MemoryPressure: how short the host's memory is, as its system says.
#pragma once

#include <cstdint>

namespace mpsd {

// The numbers are those of the mailbox (proto/shm/layout.h) and of the metrics.
enum class MemoryPressure : uint32_t {
  kNone = 0,
  kWarn = 1,      // give back what is not needed now
  kCritical = 2,  // give back everything that can be had again
};

inline const char* NameOf(MemoryPressure pressure) {
  switch (pressure) {
    case MemoryPressure::kNone:
      return "none";
    case MemoryPressure::kWarn:
      return "warn";
    case MemoryPressure::kCritical:
      return "critical";
  }
  return "none";
}

}  // namespace mpsd
