// MetricsPage: what a scrape reads.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "prometheus/collectable.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Collects the registered counters when it is asked and turns them into Prometheus' text. It stands
// beside the request's path: whoever counts never meets it, since it only reads atomics.
// Thread-safe. Owns none of the counters. Series of a removed model end with it.
class MetricsPage final : public prometheus::Collectable {
 public:
  // The content type of Text().
  static constexpr char kContentType[] = "text/plain; version=0.0.4; charset=utf-8";

  // `build` becomes the labels of mpsd_build_info: {"version", "0.1.0"}, {"grpc", "1.51.1"}, …
  // The page is made when the daemon starts: process_start_time_seconds is now.
  MetricsPage(const ServerMetrics* server, std::vector<std::pair<std::string, std::string>> build);

  // From now on the page has Triton's names for the same counts besides.
  void AddTritonNames() ABSL_LOCKS_EXCLUDED(mu_);

  // REQUIRES: no model of this name and version is registered.
  void AddModel(const ModelMetrics* model);

  // REQUIRES: the model is registered. Waits for a scrape that is under way; after the return
  // nothing reads `model`.
  void RemoveModel(const ModelMetrics* model);

  std::vector<prometheus::MetricFamily> Collect() const override;

  // The text exposition of Collect().
  std::string Text() const;

 private:
  const ServerMetrics* const server_;
  const std::vector<std::pair<std::string, std::string>> build_;
  const double start_time_seconds_;

  mutable absl::Mutex mu_;
  std::vector<const ModelMetrics*> models_ ABSL_GUARDED_BY(mu_);
  bool triton_names_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace mpsd
