// SpanSink: takes the spans of traced requests to a collector.
#pragma once

#include <string>

namespace mpsd {

// Owned by the daemon, outlives TraceLog. Thread-safe.
class SpanSink {
 public:
  virtual ~SpanSink() = default;

  // `spans` is written by OtlpSpans(). Does not wait.
  virtual void Send(std::string spans) = 0;
};

}  // namespace mpsd
