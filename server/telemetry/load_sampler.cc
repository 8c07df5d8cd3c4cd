#include "server/telemetry/load_sampler.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

// Rates of the first moments would be those of single requests.
constexpr double kLeastSeconds = 0.5;

// Failures for which no client is to blame, as the dashboard counts them.
constexpr absl::StatusCode kFailures[] = {absl::StatusCode::kUnknown, absl::StatusCode::kInternal,
                                          absl::StatusCode::kUnavailable,
                                          absl::StatusCode::kDataLoss};

struct ModelLoad {
  std::string name;
  double load = 0;
  double saturation = 0;
  double queued = 0;

  double most() const { return std::max(load, saturation); }
};

ModelLoad LoadOf(const ModelMetrics& model) {
  ModelLoad load;
  load.name = model.model;
  load.load = static_cast<double>(model.load_permille) / 1000;
  load.saturation = std::min(static_cast<double>(model.saturation_permille) / 1000, 1.0);
  load.queued = static_cast<double>(model.queued_requests);
  return load;
}

// A counter of a model that is gone no longer counts.
double RateOf(double now, double before, double seconds) {
  return std::max(now - before, 0.0) / std::max(seconds, kLeastSeconds);
}

// The most loaded version of a model stands for the others.
void NameModels(const std::vector<ModelLoad>& loads, OrcaReport* report) {
  absl::flat_hash_set<absl::string_view> named;
  for (const ModelLoad& load : loads) {
    if (named.size() == LoadSampler::kMostModels) return;
    if (!named.insert(load.name).second) continue;
    report->named_metrics.emplace_back(absl::StrCat("load.", load.name), load.load);
    report->named_metrics.emplace_back(absl::StrCat("saturation.", load.name), load.saturation);
    report->named_metrics.emplace_back(absl::StrCat("queued.", load.name), load.queued);
  }
}

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

std::shared_ptr<const LoadSampler::Sample> LoadSampler::Now() {
  absl::MutexLock lock(&mu_);
  const int64_t now_ns = clock_->NowNs();
  if (sample_ != nullptr && now_ns - last_.at_ns < kSampleNs) return sample_;
  const OrcaReport report = Take(now_ns);
  sample_ = std::make_shared<const Sample>(
      Sample{FormsOf(report, /*names=*/true), FormsOf(report, /*names=*/false)});
  return sample_;
}

OrcaReport LoadSampler::Take(int64_t now_ns) {
  const HostSample host = host_ ? host_() : HostSample();
  Totals totals{now_ns, host.cpu_seconds, 0, 0};
  std::vector<ModelLoad> loads;
  for (const std::shared_ptr<const ModelMetrics>& model : page_->Models()) {
    loads.push_back(LoadOf(*model));
    for (const std::atomic<uint64_t>& count : model->requests_by_code) {
      totals.requests += static_cast<double>(count);
    }
    for (const absl::StatusCode code : kFailures) {
      totals.failures += static_cast<double>(model->requests_by_code[static_cast<size_t>(code)]);
    }
  }
  std::stable_sort(loads.begin(), loads.end(), [](const ModelLoad& one, const ModelLoad& other) {
    return one.most() > other.most();
  });
  const Totals before = std::exchange(last_, totals);
  const bool is_first = sample_ == nullptr;
  const double seconds = static_cast<double>(now_ns - before.at_ns) / 1e9;
  OrcaReport report;
  if (!loads.empty()) report.application_utilization = loads.front().most();
  const auto used = static_cast<double>(host.used_bytes);
  report.mem_utilization = Share(used, used + static_cast<double>(host.available_bytes));
  if (!is_first) {
    report.cpu_utilization =
        RateOf(totals.cpu_seconds, before.cpu_seconds, seconds) / std::max(host.cores, 1U);
    report.rps_fractional = RateOf(totals.requests, before.requests, seconds);
    report.eps = RateOf(totals.failures, before.failures, seconds);
  }
  NameModels(loads, &report);
  return report;
}

}  // namespace mpsd
