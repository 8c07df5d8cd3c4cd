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
  std::string name;
  std::string id;
  std::string parent_id;
  int64_t begin_ns;
  int64_t end_ns;
};

std::string Hex(uint64_t value) { return absl::StrCat(absl::Hex(value, absl::kZeroPad16)); }

// Clients choose names and ids of any length.
std::string Text(std::string_view text) { return std::string(text.substr(0, kSpanTextBytes)); }

// The request's own span, and those of its stages, which get the ids.
std::vector<Span> SpansOf(const EndedRequest& request, const std::string ids[4]) {
  const RequestSpan& own = *request.span;
  std::vector<Span> spans = {{Text(own.name()), own.id, own.parent_id,
                              request.arrival_ns + own.to_unix_ns,
                              request.ended_ns + own.to_unix_ns}};
  if (!request.ran()) return spans;
  const int64_t times[] = {request.arrival_ns, request.batched_ns, request.started_ns,
                           request.finished_ns, request.ended_ns};
  const char* const names[] = {"queue", "dispatch", "execute", "respond"};
  for (size_t i = 0; i < 4; ++i) {
    spans.push_back(
        {names[i], ids[i], own.id, times[i] + own.to_unix_ns, times[i + 1] + own.to_unix_ns});
  }
  return spans;
}

// Clients' names need not be UTF-8.
std::string SpanLines(const EndedRequest& request, const std::vector<Span>& spans) {
  std::string lines;
  for (const Span& span : spans) {
    Json line;
    line["trace_id"] = request.span->trace_id;
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

// A step is no call.
Json OtlpAttributes(const EndedRequest& request) {
  Json attributes = Json::array();
  if (request.span->step.empty()) attributes.push_back(Attribute("rpc.system", "grpc"));
  attributes.push_back(Attribute("model_name", request.model));
  attributes.push_back(Attribute("model_version", request.version));
  attributes.push_back(Attribute("request_id", request.id));
  attributes.push_back(Attribute("rpc.grpc.status", request.code));
  return attributes;
}

Json OtlpSpan(const EndedRequest& request, const Span& span) {
  constexpr int kInternal = 1;
  constexpr int kServer = 2;
  constexpr int kOk = 1;
  constexpr int kError = 2;
  const bool is_whole = span.id == request.span->id;
  Json json;
  json["traceId"] = request.span->trace_id;
  json["spanId"] = span.id;
  if (!span.parent_id.empty()) json["parentSpanId"] = span.parent_id;
  json["name"] = span.name;
  json["kind"] = is_whole && request.span->step.empty() ? kServer : kInternal;
  json["startTimeUnixNano"] = absl::StrCat(span.begin_ns);
  json["endTimeUnixNano"] = absl::StrCat(span.end_ns);
  if (!is_whole) return json;
  json["attributes"] = OtlpAttributes(request);
  json["status"] = {{"code", request.code == "OK" ? kOk : kError}};
  return json;
}

std::string OtlpLine(const EndedRequest& request, const std::vector<Span>& spans) {
  Json list = Json::array();
  for (const Span& span : spans) list.push_back(OtlpSpan(request, span));
  Json scope_spans = Json::array();
  scope_spans.push_back({{"scope", {{"name", "mpsd"}}}, {"spans", std::move(list)}});
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

// A counter's next value, scattered over 64 bits. No value repeats.
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

RequestSpan TraceLog::Begin(absl::string_view trace_id, absl::string_view parent_id) {
  RequestSpan span;
  span.trace_id = trace_id.empty() ? Hex(NextId()) + Hex(NextId()) : std::string(trace_id);
  span.parent_id = std::string(parent_id);
  span.id = Hex(NextId());
  span.to_unix_ns = absl::ToUnixNanos(absl::Now()) - clock_->NowNs();
  return span;
}

RequestSpan TraceLog::BeginStep(const RequestSpan& whole, std::string step) {
  MPSD_CHECK(!step.empty());
  return {whole.trace_id, whole.id, Hex(NextId()), std::move(step), whole.to_unix_ns};
}

void TraceLog::Write(const EndedRequest& request) {
  MPSD_CHECK(request.span != nullptr);
  const std::string ids[4] = {Hex(NextId()), Hex(NextId()), Hex(NextId()), Hex(NextId())};
  const std::vector<Span> spans = SpansOf(request, ids);
  lines_.Write(format_ == TraceFormat::kOtlp ? OtlpLine(request, spans)
                                             : SpanLines(request, spans));
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
