// EndedRequest: what the request log and the traces record about one request.
#pragma once

#include <cstdint>
#include <string_view>

namespace mpsd {

// A value for one call of Write(): the views live until Write() returns. Times are from
// Clock::NowNs(). A request that no batch answered has only the first and the last time.
struct EndedRequest {
  std::string_view trace_id;   // 32 hexadecimal digits; empty: the caller gave none
  std::string_view parent_id;  // 16 hexadecimal digits: the caller's span
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

  // Whether a batch answered the request.
  bool ran() const { return batched_ns > 0 && started_ns > 0 && finished_ns > 0; }
};

}  // namespace mpsd
