// EndedRequest: what the request log and the traces record about one request.
//
// The last step of a request's life: TellEnding() (server/exchange/request_ending.h) fills one when
// the answer is ready, and gives it to TraceLog, to RequestLog, or to both, before gRPC gets the
// bytes. Where neither is on, none is made. The five times cut the life of a request into stages:
//
//   arrival ──queue──▶ batched ──dispatch──▶ started ──execute──▶ finished ──respond──▶ ended
//
// They are the bounds of the stages in /metrics (ModelMetrics) too, so that a slow request found in
// a trace and a slow stage found on a dashboard are the same thing.
#pragma once

#include <cstdint>
#include <string_view>

#include "server/telemetry/request_span.h"

namespace mpsd {

// A value for one call of Write(): the views live until Write() returns, and point into the request
// and its message. Texts of clients may have any bytes and any length; the logs escape and cut
// them. Times are from Clock::NowNs(), which is monotonic: they have no date. A request that no
// batch answered has only the first and the last time.
struct EndedRequest {
  const RequestSpan* span = nullptr;  // null: not traced
  std::string_view trace_id;          // 32 hexadecimal digits; empty: the caller gave none
  std::string_view model;             // as the client wrote it; there may be no such model
  std::string_view version;
  std::string_view id;    // the client's own
  std::string_view code;  // "OK", "NOT_FOUND", …
  uint32_t rows = 0;
  int64_t arrival_ns = 0;
  int64_t batched_ns = 0;   // the request's (first) batch was formed
  int64_t started_ns = 0;   // its lane began to work on it
  int64_t finished_ns = 0;  // its lane completed its last answer
  int64_t ended_ns = 0;

  // Whether a batch answered the request.
  bool ran() const { return batched_ns > 0 && started_ns > 0 && finished_ns > 0; }
};

}  // namespace mpsd
