// RequestSpan: the place of a traced request in its trace.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

// Made by TraceLog when a traced request begins, so that the spans of its steps can lie below its
// own before that is written. Owned by the request; untraced ones have none. A value.
struct RequestSpan {
  std::string trace_id;   // 32 hexadecimal digits
  std::string parent_id;  // 16, or empty: the trace begins with this request
  std::string id;         // 16
  std::string step;       // which one of its whole it is; empty: the request is a client's
  int64_t to_unix_ns =
      0;  // added to Clock::NowNs() gives Unix time; a whole's and its steps' alike

  const char* name() const { return step.empty() ? "request" : step.c_str(); }
};

}  // namespace mpsd
