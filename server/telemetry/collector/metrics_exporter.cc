#include "server/telemetry/collector/metrics_exporter.h"

#include <chrono>
#include <utility>

#include "absl/time/time.h"
#include "proto/base/check.h"
#include "proto/base/platform.h"
#include "server/telemetry/collector/otlp_metrics.h"

namespace mpsd {
namespace {

int64_t UnixNs() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

MetricsExporter::MetricsExporter(const MetricsPage* page, Collector* collector,
                                 MetricsExporterOptions options, Logger* logger)
    : page_(page), collector_(collector), options_(std::move(options)), log_(logger, "metrics") {
  MPSD_CHECK(page != nullptr && collector != nullptr && logger != nullptr);
  thread_ = std::thread([this] { Run(); });
}

MetricsExporter::~MetricsExporter() {
  ends_ = true;
  end_.Notify();
  thread_.join();
}

void MetricsExporter::Run() {
  platform::NameThread("mpsd-metrics");
  do {
    const absl::Status outcome = Send(options_.timeout_ns, ends_);
    if (!ends_) log_.Note(outcome);
  } while (!end_.WaitForNotificationWithTimeout(absl::Nanoseconds(options_.interval_ns)));
  const std::atomic<bool> never{false};
  Send(options_.last_call_ns, never).IgnoreError();
}

absl::Status MetricsExporter::Send(int64_t timeout_ns, const std::atomic<bool>& cut) {
  const auto start_ns = static_cast<int64_t>(page_->start_time_seconds() * kNsPerSecond);
  const std::string figures = OtlpMetrics(page_->Collect(), start_ns, UnixNs());
  return collector_->Take(OtlpMessage(options_.resource, {figures}), timeout_ns, cut);
}

}  // namespace mpsd
