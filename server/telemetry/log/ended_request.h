// EndedRequest: what is told of one request when it ends.
#pragma once

#include <cstdint>
#include <string_view>

namespace mpsd {

// The views live until whoever is told returns. Times are those of Clock::NowNs(); a request that
// no batch answered has none but the first and the last.
struct EndedRequest {
  std::string_view trace_id;   // 32 hexadecimal digits; empty: its caller said none
  std::string_view parent_id;  // 16 of them: the caller's span
  std::string_view model;
  std::string_view version;
  std::string_view id;
  std::string_view code;  // "OK", "NOT_FOUND", …
  uint32_t rows = 0;
  int64_t arrival_ns = 0;
  int64_t batched_ns = 0;
  int64_t started_ns = 0;
  int64_t finished_ns = 0;
  int64_t ended_ns = 0;

  bool ran() const { return batched_ns > 0 && started_ns > 0 && finished_ns > 0; }
};

}  // namespace mpsd
