// RequestSpan: a traced request's place in its trace.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

// Made when a traced request begins, so that the spans of its steps can lie below its own. Owned by
// the request; untraced ones have none. A value.
struct RequestSpan {
  std::string trace_id;   // 32 hexadecimal digits
  std::string parent_id;  // 16; empty: the trace begins here
  std::string id;         // 16
  std::string step;       // step of its whole; empty: a client's request
  int64_t to_unix_ns =
      0;  // added to Clock::NowNs() gives Unix time; a whole's and its steps' alike

  const char* name() const { return step.empty() ? "request" : step.c_str(); }
};

}  // namespace mpsd
