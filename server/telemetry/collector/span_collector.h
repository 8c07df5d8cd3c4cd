// SpanCollector: a program, such as OpenTelemetry's collector, that takes messages with spans.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// Lives on the thread of SpanExporter. Owned by the daemon, outlives the exporter.
class SpanCollector {
 public:
  virtual ~SpanCollector() = default;

  // Hands one message over (OtlpMessage()). UNAVAILABLE: the same message may be taken later. Any
  // other error: never. Waits for at most `timeout_ns`, and about a second once `cut` is true.
  virtual absl::Status Take(const std::string& message, int64_t timeout_ns,
                            const std::atomic<bool>& cut) = 0;
};

}  // namespace mpsd
