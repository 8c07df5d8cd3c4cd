// EndedRequest: one request's facts for the request log and the traces.
//
// The last step of a request's life. When the answer is ready, TellEnding()
// (server/exchange/request_ending.h) fills one and gives it to TraceLog, RequestLog or both, before
// the client gets the bytes. If neither is on, none is made. The five times cut a request's life
// into stages:
//
//   arrival ──queue──▶ batched ──dispatch──▶ started ──execute──▶ finished ──respond──▶ ended
//
// The stages of /metrics (ModelMetrics) have the same bounds. So a slow request in a trace and a
// slow stage on a dashboard are the same thing.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "server/telemetry/request_span.h"

namespace mpsd {

// A value for one call of Write(). The views live until Write() returns, and refer to the request
// and its message. Clients' texts may have any bytes and length; the logs escape and cut them.
// Times are from Clock::NowNs(), monotonic and without a date. A request without a batch has only
// the first and the last time.
struct EndedRequest {
  const RequestSpan* span = nullptr;  // null: not traced
  std::string_view trace_id;          // 32 hexadecimal digits; empty: the caller gave none
  std::string_view model;             // as the client wrote it; may not exist
  std::string_view version;
  std::string_view id;    // the client's own
  std::string_view code;  // "OK", "NOT_FOUND", …
  uint32_t rows = 0;
  int64_t arrival_ns = 0;
  int64_t batched_ns = 0;   // the first batch of the request was formed
  int64_t started_ns = 0;   // its lane began to work on it
  int64_t finished_ns = 0;  // its lane completed its last answer
  int64_t ended_ns = 0;

  // The stages' bounds: stage i of kStageNames lies between times i and i + 1.
  std::array<int64_t, 5> times() const {
    return {arrival_ns, batched_ns, started_ns, finished_ns, ended_ns};
  }

  // Whether a batch answered the request.
  bool ran() const { return batched_ns > 0 && started_ns > 0 && finished_ns > 0; }
};

}  // namespace mpsd
