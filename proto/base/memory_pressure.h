// MemoryPressure: how short of memory the host is, as its system reports it.
#pragma once

#include <cstdint>

namespace mpsd {

// The mailbox and the metrics hold these numbers.
enum class MemoryPressure : uint32_t {
  kNone = 0,
  kWarn = 1,      // give back what is not needed now
  kCritical = 2,  // give back all that can be loaded or computed again
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
