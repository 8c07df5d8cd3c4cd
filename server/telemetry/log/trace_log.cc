#include "server/telemetry/log/trace_log.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/base/check.h"
#include "proto/base/string_views.h"
#include "server/telemetry/log/otlp_spans.h"
#include "server/telemetry/log/trace_spans.h"

namespace mpsd {
namespace {

std::string Hex(uint64_t value) { return absl::StrCat(absl::Hex(value, absl::kZeroPad16)); }

}  // namespace

TraceLog::TraceLog(TraceTarget target, const TraceSettings& settings, uint64_t seed,
                   const Clock* clock, ServerMetrics* metrics)
    : format_(target.format),
      configured_(settings),
      clock_(clock),
      lines_(target.file == nullptr
                 ? nullptr
                 : std::make_unique<LineQueue>(std::move(target.file), "mpsd-traces",
                                               &metrics->lost_traces)),
      sink_(target.sink),
      ids_(seed),
      on_(settings.on && settings.count != 0),
      all_({settings, 0}) {
  MPSD_CHECK(settings.rate > 0 && (lines_ != nullptr || sink_ != nullptr));
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

bool TraceLog::Wants(absl::string_view model, std::optional<bool> sampled) {
  if (!on_.load(std::memory_order_relaxed)) return false;
  absl::MutexLock lock(&mu_);
  const auto own = of_model_.find(model);
  Share& share = own == of_model_.end() ? all_ : own->second;
  TraceSettings& settings = share.settings;
  if (!share.MayWant()) return false;
  if (!sampled.has_value()) sampled = share.seen++ % settings.rate == 0;
  if (!*sampled) return false;
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
  const std::vector<TraceSpan> spans = SpansOf(request, ids);
  if (request.ran()) KeepExemplars(request);
  if (sink_ != nullptr) sink_->Send(OtlpSpans(request, spans));
  if (lines_ == nullptr) return;
  lines_->Write(format_ == TraceFormat::kOtlp ? OtlpLine(request, spans)
                                              : SpanLines(request, spans));
}

void TraceLog::KeepExemplars(const EndedRequest& request) {
  const std::array<int64_t, 5> times = request.times();
  const RequestSpan& span = *request.span;
  const double unix_seconds = 1e-9 * static_cast<double>(request.ended_ns + span.to_unix_ns);
  for (size_t i = 0; i < kStageNames.size(); ++i) {
    const double seconds = 1e-9 * static_cast<double>(times[i + 1] - times[i]);
    exemplars_.Keep(View(request.model), View(request.version), i,
                    {span.trace_id, seconds, unix_seconds});
  }
}

absl::Status TraceLog::Reopen() { return lines_ == nullptr ? absl::OkStatus() : lines_->Reopen(); }

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
