#include "server/telemetry/log/request_log.h"

#include "absl/time/clock.h"
#include "proto/base/clock.h"
#include "server/telemetry/log/log_line.h"

namespace mpsd {

void RequestLog::Write(const EndedRequest& request) {
  const int64_t queued_until_ns = request.ran() ? request.batched_ns : request.ended_ns;
  const LogField fields[] = {
      {"id", request.id},
      {"model", request.model},
      {"version", request.version},
      {"code", request.code},
      {"rows", request.rows},
      {"queue_us", (queued_until_ns - request.arrival_ns) / kNsPerUs},
      {"total_us", (request.ended_ns - request.arrival_ns) / kNsPerUs},
      {"trace_id", request.trace_id},
  };
  lines_.Write(JsonLine(absl::Now(), LogLevel::kInfo, "request", fields));
}

}  // namespace mpsd
