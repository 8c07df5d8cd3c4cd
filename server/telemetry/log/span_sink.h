// SpanSink: takes the spans of traced requests to where they are collected.
#pragma once

#include <string>

namespace mpsd {

// TraceLog calls it on the thread that ends a request. Owned by the daemon, outlives TraceLog.
// Thread-safe.
class SpanSink {
 public:
  virtual ~SpanSink() = default;

  // Takes a request's spans, written by OtlpSpans(). Does not wait.
  virtual void Send(std::string spans) = 0;
};

}  // namespace mpsd
