// Collector: a program that takes spans or figures.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// Lives on the thread of its one exporter, which it outlives. Owned by the daemon.
class Collector {
 public:
  virtual ~Collector() = default;

  // `message` is OtlpMessage()'s. UNAVAILABLE: the same message may be taken later. Any other
  // error: never. Waits for at most `timeout_ns`, and about a second once `cut` is true.
  virtual absl::Status Take(const std::string& message, int64_t timeout_ns,
                            const std::atomic<bool>& cut) = 0;
};

}  // namespace mpsd
