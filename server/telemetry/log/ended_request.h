// EndedRequest: one request's facts for the request log and the traces.
//
// The five times cut a request's life into stages, which are those of /metrics (ModelMetrics):
//
//   arrival ──queue──▶ batched ──dispatch──▶ started ──execute──▶ finished ──respond──▶ ended
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "server/telemetry/request_span.h"

namespace mpsd {

// A value for one call of Write(); the views live until it returns. Clients' texts may have any
// bytes and length; the logs escape and cut them. Times are from Clock::NowNs(). A request without
// a batch has only the first and the last time.
struct EndedRequest {
  const RequestSpan* span = nullptr;  // null: not traced
  std::string_view trace_id;          // empty: the caller gave none, and it is not traced
  std::string_view model;             // as the client wrote it; may not exist
  std::string_view version;
  std::string_view id;    // the client's own
  std::string_view code;  // "OK", "NOT_FOUND", …
  uint32_t rows = 0;
  int64_t arrival_ns = 0;
  int64_t batched_ns = 0;   // first batch of the request
  int64_t started_ns = 0;   // its lane began
  int64_t finished_ns = 0;  // its lane completed the last answer
  int64_t ended_ns = 0;

  // Stage i of kStageNames lies between times i and i + 1.
  std::array<int64_t, 5> times() const {
    return {arrival_ns, batched_ns, started_ns, finished_ns, ended_ns};
  }

  bool ran() const { return batched_ns > 0 && started_ns > 0 && finished_ns > 0; }
};

}  // namespace mpsd
