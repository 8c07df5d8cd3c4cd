#include "client/bench/load_meter.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/traffic/load_run.h"
#include "proto/base/clock.h"

namespace mpsd::bench {
namespace {

constexpr int64_t kDrainNs = 10 * kNsPerSecond;
constexpr double kFewestRequests = 20;
constexpr absl::Duration kLongestWindow = absl::Seconds(10);

// The load sets the other fields.
traffic::LoadPlan PlanOf(const MeterOptions& options, absl::Duration duration) {
  traffic::LoadPlan plan;
  plan.target = options.address;
  plan.connection = options.connection;
  plan.connect_ns = absl::ToInt64Nanoseconds(options.timeout);
  plan.duration_ns = absl::ToInt64Nanoseconds(duration);
  plan.warmup_ns = plan.duration_ns / 5;
  plan.drain_ns = kDrainNs;
  plan.deadline_ns = absl::ToInt64Nanoseconds(options.deadline);
  plan.seed = options.requests.seed;
  return plan;
}

absl::Status TooFewRequests(double rate, absl::Duration window) {
  return absl::FailedPreconditionError(
      absl::StrCat(LoadText({.rate = rate}), " are too few requests in ",
                   absl::FormatDuration(window), " to tell: measure each load for longer"));
}

}  // namespace

absl::StatusOr<absl::Duration> KneeWindow(double rate, absl::Duration duration) {
  const absl::Duration longest = std::max(duration, kLongestWindow);
  const absl::Duration wanted = absl::Seconds(kFewestRequests / rate);
  if (wanted > longest) return TooFewRequests(rate, longest);
  return std::max(wanted, duration);
}

LoadMeter::LoadMeter(MeterOptions options, std::unique_ptr<LoadTarget> target,
                     std::vector<traffic::PreparedRequest> requests)
    : options_(std::move(options)), target_(std::move(target)), requests_(std::move(requests)) {}

absl::StatusOr<std::unique_ptr<LoadMeter>> LoadMeter::Connect(const MeterOptions& options) {
  const auto deadline = [&] { return absl::Now() + options.timeout; };
  auto target = ConnectLoadTarget(options.address, options.connection, deadline());
  if (!target.ok()) return target.status();
  const auto metadata = (*target)->GetModelMetadata(options.model, deadline());
  if (!metadata.ok()) return metadata.status();
  const auto plan = MakeRequestPlan(*metadata, options.requests);
  if (!plan.ok()) return plan.status();
  auto requests = traffic::PrepareRequests(*plan);
  if (!requests.ok()) return requests.status();
  return std::unique_ptr<LoadMeter>(
      new LoadMeter(options, *std::move(target), *std::move(requests)));
}

client::ModelRuns LoadMeter::Runs() {
  return target_->GetModelRuns(options_.model, absl::Now() + options_.timeout)
      .value_or(client::ModelRuns{});
}

absl::StatusOr<LoadPoint> LoadMeter::Measure(const Load& load, absl::Duration duration,
                                             const Slo* slo) {
  const client::ModelRuns before = Runs();
  const auto result = target_->Run(load, PlanOf(options_, duration), requests_);
  if (!result.ok()) return result.status();
  return MakeLoadPoint(load, *result, before, Runs(), slo);
}

absl::StatusOr<std::optional<LoadPoint>> LoadMeter::FindKnee(
    const Slo& slo, KneeSearch* search, absl::Duration duration, const std::function<bool()>& go_on,
    const std::function<void(const LoadPoint&)>& seen) {
  std::optional<LoadPoint> knee;
  for (auto rate = search->Next(); rate && go_on(); rate = search->Next()) {
    const absl::StatusOr<absl::Duration> window = KneeWindow(*rate, duration);
    if (!window.ok()) return window.status();
    absl::StatusOr<LoadPoint> point = Measure({.rate = *rate}, *window, &slo);
    if (!point.ok()) return point.status();
    if (point->due == 0) return TooFewRequests(*rate, *window);
    seen(*point);
    search->Add(*rate, point->meets_slo);
    if (point->meets_slo) knee = *std::move(point);
  }
  return knee;
}

}  // namespace mpsd::bench
