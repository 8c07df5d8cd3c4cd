#include "server/exchange/request_ending.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "proto/base/string_views.h"
#include "server/telemetry/log/request_log.h"
#include "server/telemetry/log/trace_log.h"

namespace mpsd {

std::unique_ptr<const RequestSpan> RequestObservers::BeginSpan(absl::string_view model,
                                                               const TraceContext& context) const {
  if (traces == nullptr) return nullptr;
  std::optional<bool> sampled;
  if (!context.text.empty()) sampled = context.sampled;
  if (!traces->Wants(model, sampled)) return nullptr;
  return std::make_unique<RequestSpan>(traces->Begin(context.trace_id(), context.parent_id()));
}

std::unique_ptr<const RequestSpan> RequestObservers::BeginStep(const RequestSpan& whole,
                                                               const std::string& step) const {
  return std::make_unique<RequestSpan>(traces->BeginStep(whole, step));
}

void CountEnding(const Request& request, absl::StatusCode code, ServerMetrics* server,
                 const Clock* clock) {
  const size_t index = std::min<size_t>(static_cast<size_t>(code), kStatusCodes - 1);
  if (request.metrics == nullptr) {
    server->refused_by_code[index].fetch_add(1, std::memory_order_relaxed);
    return;
  }
  request.metrics->requests_by_code[index].fetch_add(1, std::memory_order_relaxed);
  if (code == absl::StatusCode::kOk || request.queue == nullptr || request.is_answered) return;
  request.metrics->inference.AddFailure(clock->NowNs() - request.arrival_ns);
}

void TellEnding(const Request& request, const InferMessage& message, absl::StatusCode code,
                const TraceContext& context, const RequestObservers& observers,
                const Clock* clock) {
  const bool traced = request.span != nullptr;
  if (!traced && observers.requests == nullptr) return;
  const std::string code_name = absl::StatusCodeToString(code);
  EndedRequest ended;
  ended.span = request.span.get();
  ended.trace_id = traced ? std::string_view(request.span->trace_id) : StdView(context.trace_id());
  ended.model = StdView(message.model);
  ended.version = request.metrics == nullptr ? StdView(message.version)
                                             : std::string_view(request.metrics->version);
  ended.id = StdView(message.id);
  ended.code = code_name;
  ended.rows = request.rows;
  ended.arrival_ns = request.arrival_ns;
  ended.batched_ns = request.times.batched_ns;
  ended.started_ns = request.times.started_ns;
  ended.finished_ns = request.times.finished_ns;
  ended.ended_ns = clock->NowNs();
  if (traced) observers.traces->Write(ended);
  if (observers.requests != nullptr) observers.requests->Write(ended);
}

absl::Status CheckInTime(const Request& request, int64_t now_ns) {
  if (request.deadline_ns > now_ns) return absl::OkStatus();
  return absl::DeadlineExceededError("Request timeout expired");
}

absl::Status CallCancelled() { return absl::CancelledError("Request was cancelled"); }

}  // namespace mpsd
