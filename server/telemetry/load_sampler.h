// LoadSampler: makes the host's load reports.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "server/telemetry/metrics_page.h"
#include "server/telemetry/orca_report.h"

namespace mpsd {

// Figures that the operating system tells.
struct HostSample {
  double cpu_seconds = 0;  // the daemon and its workers
  uint32_t cores = 1;
  uint64_t used_bytes = 0;  // likewise
  uint64_t available_bytes = 0;
};

// Takes a sample at most once a second, on the thread that asks. Rates are those between two
// samples. Owned by the daemon, outlives the doors. Thread-safe. It never waits for another
// thread's sample: the last report will do.
class LoadSampler {
 public:
  static constexpr int64_t kSampleNs = kNsPerSecond;
  // Only the most loaded models have named metrics.
  static constexpr size_t kMostModels = 8;

  // One form is for operators, the other for callers that may not know all models' names.
  struct Sample {
    OrcaForms named;
    OrcaForms nameless;
  };

  LoadSampler(const MetricsPage* page, const Clock* clock) : page_(page), clock_(clock) {}

  // REQUIRES: before the first Now().
  void SetHost(std::function<HostSample()> host) { host_ = std::move(host); }

  std::shared_ptr<const Sample> Now() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Totals {
    int64_t at_ns = 0;
    double cpu_seconds = 0;
    double requests = 0;
    double failures = 0;
  };

  OrcaReport Take(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const MetricsPage* const page_;
  const Clock* const clock_;
  std::function<HostSample()> host_;

  absl::Mutex mu_;
  Totals last_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<const Sample> sample_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
