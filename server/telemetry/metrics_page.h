// MetricsPage: the text that a scrape reads.
//
// The page is a list of pointers to counters that others own. Nothing is copied or summed in
// advance: each scrape loads the counters, names them (metric_families.h) and writes text. Without
// scrapes a daemon pays only for the counting.
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
#include "server/telemetry/gpu_watch.h"
#include "server/telemetry/model_metrics.h"
#include "server/telemetry/model_state.h"
#include "server/telemetry/pull_sample.h"
#include "server/telemetry/resource_sample.h"
#include "server/telemetry/stage_exemplars.h"

namespace mpsd {

// Turns the registered counters into Prometheus' text. Beside the request's path: the page only
// reads counters, and delays a writer at most for a copy of statistics. Owned by the daemon, which
// adds the limits and the refresh before the HTTP server starts. ModelFactory adds each
// generation's counters, on the thread `main` at the start and on `reloader` later. Scrapes come on
// the HTTP server's threads and may overlap. Thread-safe after the last AddLimit() and OnCollect().
//
// Owns no counters: it holds those of models weakly, and a model's series end with its last
// generation. The number of models bounds it. Cannot fail: an unknown figure is left out or 0.
class MetricsPage final : public prometheus::Collectable {
 public:
  static constexpr char kContentType[] = "text/plain; version=0.0.4; charset=utf-8";

  // `build` has the labels of mpsd_build_info: {"version", "0.2.0"}, {"grpc", "1.51.1"}, … The
  // call's time becomes process_start_time_seconds. `server` outlives the page.
  MetricsPage(const ServerMetrics* server, std::vector<std::pair<std::string, std::string>> build);

  // Adds the same counts under Triton's names (TritonFamilies()). May come at any time.
  void AddTritonNames();

  // Adds the metrics of access, which outlive the page.
  void AddAccess(const AccessMetrics* access) { access_ = access; }

  // Adds a series of mpsd_limit with the label `name`. REQUIRES: before the first Collect().
  void AddLimit(std::string name, double value);

  // Sets a function to call before each collection, for figures that are not counted as they
  // happen, such as open connections. It runs on the scraping thread, and must be thread-safe.
  // REQUIRES: before the first Collect().
  void OnCollect(std::function<void()> refresh) { refresh_ = std::move(refresh); }

  // Sets the source of the models' states. It runs on the scraping thread, and must be thread-safe.
  // REQUIRES: before the first Collect().
  void SetModelStates(std::function<std::vector<ModelStateSample>()> states) {
    states_ = std::move(states);
  }

  // Adds the gpus, which outlive the last scrape. REQUIRES: before the first Collect().
  void SetGpus(const GpuWatch* gpus) { gpus_ = gpus; }

  // The same for the resources that models share.
  void SetResources(std::function<std::vector<ResourceSample>()> resources) {
    resources_ = std::move(resources);
  }

  // The same for the models that come from a hub.
  void SetPulls(std::function<std::vector<PullSample>()> pulls) { pulls_ = std::move(pulls); }

  // Sets the exemplars of stages, which outlive the last scrape. REQUIRES: before the first
  // Collect().
  void SetExemplars(const StageExemplars* exemplars) { exemplars_ = exemplars; }

  // Adds a model's series until its counters have no other owner. Does nothing for registered
  // counters. REQUIRES: no other living counters have this name and version.
  void AddModel(const std::shared_ptr<const ModelMetrics>& model);

  // When the page was made, since the Unix epoch.
  double start_time_seconds() const { return start_time_seconds_; }

  // All current families: build, models, Triton's names, server, access, limits, process.
  std::vector<prometheus::MetricFamily> Collect() const override;

  // The page in Prometheus' form, and in OpenMetrics' with the exemplars.
  std::string Text() const;
  std::string OpenText() const;

  // The models that still have an owner; forgets the others.
  std::vector<std::shared_ptr<const ModelMetrics>> Models() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const ServerMetrics* const server_;
  const std::vector<std::pair<std::string, std::string>> build_;
  const double start_time_seconds_;

  std::atomic<bool> triton_names_{false};
  std::atomic<const AccessMetrics*> access_{nullptr};
  std::vector<std::pair<std::string, double>> limits_;
  std::function<void()> refresh_;
  std::function<std::vector<ModelStateSample>()> states_;
  std::function<std::vector<ResourceSample>()> resources_;
  std::function<std::vector<PullSample>()> pulls_;
  const GpuWatch* gpus_ = nullptr;
  const StageExemplars* exemplars_ = nullptr;  // null: no request is traced

  mutable absl::Mutex mu_;
  // Forgotten at the next look after the model's last generation is gone.
  mutable std::vector<std::weak_ptr<const ModelMetrics>> models_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
