// MetricsPage: what a scrape reads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "prometheus/collectable.h"
#include "server/telemetry/access_metrics.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Collects the registered counters when it is asked and turns them into Prometheus' text. It stands
// beside the request's path: whoever counts never meets it, since it only reads atomics.
// Thread-safe. Owns none of the counters. Series of a model end when nobody owns its counters any
// more: when its last generation is gone.
class MetricsPage final : public prometheus::Collectable {
 public:
  // The content type of Text().
  static constexpr char kContentType[] = "text/plain; version=0.0.4; charset=utf-8";

  // `build` becomes the labels of mpsd_build_info: {"version", "0.1.0"}, {"grpc", "1.51.1"}, …
  // The page is made when the daemon starts: process_start_time_seconds is now.
  MetricsPage(const ServerMetrics* server, std::vector<std::pair<std::string, std::string>> build);

  // From now on the page has Triton's names for the same counts besides.
  void AddTritonNames();

  // From now on the page has them besides, and they outlive it.
  void AddAccess(const AccessMetrics* access) { access_ = access; }
  // A bound of the daemon's, told beside what it bounds. To be called before anybody reads.
  void AddLimit(std::string name, double value);

  // To be called before each reading, for what nobody counts as it happens. To be set before
  // anybody reads.
  void OnCollect(std::function<void()> refresh) { refresh_ = std::move(refresh); }

  // Counters that are registered already stay so. REQUIRES: no others of this name and version have
  // an owner.
  void AddModel(const std::shared_ptr<const ModelMetrics>& model);

  std::vector<prometheus::MetricFamily> Collect() const override;

  // The text exposition of Collect().
  std::string Text() const;

 private:
  // Those that have an owner; the others are forgotten.
  std::vector<std::shared_ptr<const ModelMetrics>> Models() const ABSL_LOCKS_EXCLUDED(mu_);

  const ServerMetrics* const server_;
  const std::vector<std::pair<std::string, std::string>> build_;
  const double start_time_seconds_;

  std::atomic<bool> triton_names_{false};
  std::atomic<const AccessMetrics*> access_{nullptr};
  std::vector<std::pair<std::string, double>> limits_;
  std::function<void()> refresh_;

  mutable absl::Mutex mu_;
  mutable std::vector<std::weak_ptr<const ModelMetrics>> models_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
