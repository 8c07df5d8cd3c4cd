#include "server/accept/call_trace.h"

#include <string>
#include <string_view>

#include "server/telemetry/model_metrics.h"

namespace mpsd {
namespace {

constexpr char kTraceparent[] = "traceparent";

std::string_view View(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace

TraceContext TakeTraceContext(grpc::ServerContext* call) {
  TraceContext context;
  const auto& metadata = call->client_metadata();
  const auto found = metadata.find(kTraceparent);
  if (found == metadata.end()) return context;
  if (ReadTraceparent({found->second.data(), found->second.size()}, &context)) {
    call->AddInitialMetadata(kTraceparent, context.text);
  }
  return context;
}

void TellEnding(const Request& request, const InferMessage& message, absl::StatusCode code,
                const TraceContext& context, bool traced, const CallObservers& observers,
                const Clock* clock) {
  if (!traced && observers.requests == nullptr) return;
  const std::string code_name = absl::StatusCodeToString(code);
  EndedRequest ended;
  ended.trace_id = View(context.trace_id());
  ended.parent_id = View(context.parent_id());
  ended.model = View(message.model);
  ended.version = request.metrics == nullptr ? View(message.version)
                                             : std::string_view(request.metrics->version);
  ended.id = View(message.id);
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

}  // namespace mpsd
