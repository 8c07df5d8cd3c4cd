#include "server/telemetry/log/trace_log.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "nlohmann/json.hpp"
#include "proto/base/check.h"
#include "server/telemetry/log/log_line.h"

namespace mpsd {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kSpanTextBytes = 512;

// One span, in nanoseconds since the Unix epoch.
struct Span {
  const char* name;
  std::string id;
  std::string parent_id;
  int64_t begin_ns;
  int64_t end_ns;
};

struct Trace {
  std::string id;
  std::vector<Span> spans;  // the request's own first
};

std::string Hex(uint64_t value) { return absl::StrCat(absl::Hex(value, absl::kZeroPad16)); }

// Clients choose names and ids of any length.
std::string Text(std::string_view text) { return std::string(text.substr(0, kSpanTextBytes)); }

// Names that clients choose need not be UTF-8.
void AddStages(const EndedRequest& request, int64_t to_unix_ns, const std::string ids[4],
               Trace* trace) {
  if (!request.ran()) return;
  const int64_t times[] = {request.arrival_ns, request.batched_ns, request.started_ns,
                           request.finished_ns, request.ended_ns};
  const char* const names[] = {"queue", "dispatch", "execute", "respond"};
  for (size_t i = 0; i < 4; ++i) {
    trace->spans.push_back(
        {names[i], ids[i], trace->spans[0].id, times[i] + to_unix_ns, times[i + 1] + to_unix_ns});
  }
}

std::string SpanLines(const EndedRequest& request, const Trace& trace) {
  std::string lines;
  for (const Span& span : trace.spans) {
    Json line;
    line["trace_id"] = trace.id;
    line["span_id"] = span.id;
    line["parent_id"] = span.parent_id;
    line["name"] = span.name;
    line["begin_ns"] = span.begin_ns;
    line["end_ns"] = span.end_ns;
    line["model"] = Text(request.model);
    line["version"] = Text(request.version);
    line["id"] = Text(request.id);
    line["code"] = Text(request.code);
    if (!lines.empty()) lines.push_back('\n');
    lines += OneLine(line);
  }
  return lines;
}

Json Attribute(const char* key, std::string_view value) {
  return {{"key", key}, {"value", {{"stringValue", Text(value)}}}};
}

Json OtlpSpan(const EndedRequest& request, const std::string& trace_id, const Span& span,
              bool is_request) {
  constexpr int kInternal = 1;
  constexpr int kServer = 2;
  constexpr int kOk = 1;
  constexpr int kError = 2;
  Json json;
  json["traceId"] = trace_id;
  json["spanId"] = span.id;
  if (!span.parent_id.empty()) json["parentSpanId"] = span.parent_id;
  json["name"] = span.name;
  json["kind"] = is_request ? kServer : kInternal;
  json["startTimeUnixNano"] = absl::StrCat(span.begin_ns);
  json["endTimeUnixNano"] = absl::StrCat(span.end_ns);
  if (!is_request) return json;
  json["attributes"] = {Attribute("rpc.system", "grpc"), Attribute("model_name", request.model),
                        Attribute("model_version", request.version),
                        Attribute("request_id", request.id),
                        Attribute("rpc.grpc.status", request.code)};
  json["status"] = {{"code", request.code == "OK" ? kOk : kError}};
  return json;
}

std::string OtlpLine(const EndedRequest& request, const Trace& trace) {
  Json spans = Json::array();
  for (const Span& span : trace.spans) {
    spans.push_back(OtlpSpan(request, trace.id, span, &span == &trace.spans.front()));
  }
  Json scope_spans = Json::array();
  scope_spans.push_back({{"scope", {{"name", "mpsd"}}}, {"spans", std::move(spans)}});
  Json resource;
  resource["attributes"] = Json::array({Attribute("service.name", "mpsd")});
  Json resource_spans = Json::array();
  resource_spans.push_back(
      {{"resource", std::move(resource)}, {"scopeSpans", std::move(scope_spans)}});
  Json line;
  line["resourceSpans"] = std::move(resource_spans);
  return OneLine(line);
}

}  // namespace

TraceLog::TraceLog(std::unique_ptr<LogFile> file, TraceFormat format, const TraceSettings& settings,
                   uint64_t seed, const Clock* clock, ServerMetrics* metrics)
    : format_(format),
      configured_(settings),
      clock_(clock),
      lines_(std::move(file), "mpsd-traces", &metrics->lost_traces),
      ids_(seed),
      on_(settings.on && settings.count != 0),
      all_({settings, 0}) {
  MPSD_CHECK(settings.rate > 0);
}

// The next value of a counter, scattered over 64 bits. No value comes twice.
uint64_t TraceLog::NextId() {
  uint64_t x = ids_.fetch_add(0x9e3779b97f4a7c15, std::memory_order_relaxed);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

bool TraceLog::AnyMayWant() const {
  const auto may_want = [](const auto& entry) { return entry.second.MayWant(); };
  return all_.MayWant() || std::any_of(of_model_.begin(), of_model_.end(), may_want);
}

bool TraceLog::Wants(absl::string_view model, bool sampled) {
  if (!on_.load(std::memory_order_relaxed)) return false;
  absl::MutexLock lock(&mu_);
  const auto own = of_model_.find(model);
  Share& share = own == of_model_.end() ? all_ : own->second;
  TraceSettings& settings = share.settings;
  const bool turn = share.seen++ % settings.rate == 0;
  if (!share.MayWant() || (!sampled && !turn)) return false;
  if (settings.count > 0 && --settings.count == 0) {
    on_.store(AnyMayWant(), std::memory_order_relaxed);
  }
  return true;
}

void TraceLog::Write(const EndedRequest& request) {
  const int64_t to_unix_ns = absl::ToUnixNanos(absl::Now()) - clock_->NowNs();
  Trace trace;
  trace.id = request.trace_id.empty() ? Hex(NextId()) + Hex(NextId()) : Text(request.trace_id);
  trace.spans.push_back({"request", Hex(NextId()), Text(request.parent_id),
                         request.arrival_ns + to_unix_ns, request.ended_ns + to_unix_ns});
  const std::string ids[4] = {Hex(NextId()), Hex(NextId()), Hex(NextId()), Hex(NextId())};
  AddStages(request, to_unix_ns, ids, &trace);
  lines_.Write(format_ == TraceFormat::kOtlp ? OtlpLine(request, trace)
                                             : SpanLines(request, trace));
}

TraceSettings TraceLog::settings(absl::string_view model) const {
  absl::MutexLock lock(&mu_);
  const auto own = of_model_.find(model);
  return own == of_model_.end() ? all_.settings : own->second.settings;
}

void TraceLog::Set(absl::string_view model, const TraceSettings& settings) {
  MPSD_CHECK(settings.rate > 0);
  absl::MutexLock lock(&mu_);
  if (model.empty()) {
    all_ = {settings, 0};
  } else if (settings == all_.settings) {
    of_model_.erase(model);
  } else {
    of_model_[model] = {settings, 0};
  }
  on_.store(AnyMayWant(), std::memory_order_relaxed);
}

}  // namespace mpsd
