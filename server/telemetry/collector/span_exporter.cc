#include "server/telemetry/collector/span_exporter.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/time/time.h"
#include "proto/base/check.h"
#include "proto/base/platform.h"

namespace mpsd {

SpanExporter::SpanExporter(Collector* collector, SpanExporterOptions options, Logger* logger,
                           ServerMetrics* metrics)
    : collector_(collector),
      options_(std::move(options)),
      log_(logger, "spans"),
      metrics_(metrics) {
  MPSD_CHECK(collector != nullptr && logger != nullptr && metrics != nullptr);
  thread_ = std::thread([this] { Run(); });
}

SpanExporter::~SpanExporter() {
  {
    absl::MutexLock lock(&mu_);
    ends_ = true;
  }
  thread_.join();
}

void SpanExporter::Send(std::string spans) {
  absl::MutexLock lock(&mu_);
  if (queue_.size() == options_.queued_traces) {
    queue_.pop_front();
    CountLost(1);
  }
  queue_.push_back(std::move(spans));
}

void SpanExporter::CountLost(size_t requests) {
  metrics_->lost_traces.fetch_add(requests, std::memory_order_relaxed);
}

std::vector<std::string> SpanExporter::NextBatch() {
  const auto has_some = [this] {
    mu_.AssertReaderHeld();
    return !queue_.empty() || ends_;
  };
  const auto has_enough = [this] {
    mu_.AssertReaderHeld();
    return queue_.size() >= options_.message_traces || ends_;
  };
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(&has_some));
  mu_.AwaitWithTimeout(absl::Condition(&has_enough), absl::Nanoseconds(options_.gather_ns));
  const size_t count = ends_ ? queue_.size() : std::min(queue_.size(), options_.message_traces);
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<std::string> batch(std::make_move_iterator(queue_.begin()),
                                 std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
  return batch;
}

void SpanExporter::Pause(int64_t ns) {
  absl::MutexLock lock(&mu_);
  mu_.AwaitWithTimeout(absl::Condition(
                           +[](std::atomic<bool>* ends) { return ends->load(); }, &ends_),
                       absl::Nanoseconds(ns));
}

absl::Status SpanExporter::Deliver(const std::string& message) {
  // The last message has no second try.
  const std::atomic<bool> never{false};
  if (ends_) return collector_->Take(message, options_.last_call_ns, never);
  absl::Status outcome;
  int64_t wait_ns = options_.first_retry_ns;
  for (int tries = 1;; ++tries) {
    outcome = collector_->Take(message, options_.timeout_ns, ends_);
    if (!absl::IsUnavailable(outcome) || tries == options_.tries || ends_) return outcome;
    log_.Note(outcome);
    Pause(wait_ns);
    wait_ns *= 2;
  }
}

void SpanExporter::Run() {
  platform::NameThread("mpsd-spans");
  while (true) {
    const std::vector<std::string> batch = NextBatch();
    if (batch.empty()) return;
    const absl::Status outcome = Deliver(OtlpMessage(options_.resource, batch));
    log_.Note(outcome);
    if (!outcome.ok()) CountLost(batch.size());
  }
}

}  // namespace mpsd
