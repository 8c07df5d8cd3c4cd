// MetricsPage: the text that a scrape reads.
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

// Turns the registered counters into Prometheus' text. Owned by the daemon. Scrapes come on the
// HTTP server's threads and may overlap. Thread-safe after the last AddLimit() and OnCollect().
// Owns no counters: it holds those of models weakly, and a model's series end with its last
// generation. Cannot fail: an unknown figure is left out or 0.
class MetricsPage final : public prometheus::Collectable {
 public:
  static constexpr char kContentType[] = "text/plain; version=0.0.4; charset=utf-8";

  // `build` has the labels of mpsd_build_info: {"version", "0.2.0"}, … The call's time becomes
  // process_start_time_seconds. `server` outlives the page.
  MetricsPage(const ServerMetrics* server, std::vector<std::pair<std::string, std::string>> build);

  // See TritonFamilies(). May come at any time.
  void AddTritonNames();

  // `access` outlives the page.
  void AddAccess(const AccessMetrics* access) { access_ = access; }

  // The calls from here to SetExemplars() REQUIRE: no Collect() before. Their functions run on the
  // scraping thread, and must be thread-safe. Their referents outlive the last scrape.
  void AddLimit(std::string name, double value);

  // Called before each collection, for figures that are not counted as they happen.
  void OnCollect(std::function<void()> refresh) { refresh_ = std::move(refresh); }

  void SetModelStates(std::function<std::vector<ModelStateSample>()> states) {
    states_ = std::move(states);
  }

  void SetGpus(const GpuWatch* gpus) { gpus_ = gpus; }

  void SetResources(std::function<std::vector<ResourceSample>()> resources) {
    resources_ = std::move(resources);
  }

  void SetPulls(std::function<std::vector<PullSample>()> pulls) { pulls_ = std::move(pulls); }

  void SetExemplars(const StageExemplars* exemplars) { exemplars_ = exemplars; }

  // Adds a model's series until its counters have no other owner. Does nothing for registered
  // counters. REQUIRES: no other living counters have this name and version.
  void AddModel(const std::shared_ptr<const ModelMetrics>& model);

  // Since the Unix epoch.
  double start_time_seconds() const { return start_time_seconds_; }

  // All current families.
  std::vector<prometheus::MetricFamily> Collect() const override;

  // In Prometheus' form, and in OpenMetrics' with the exemplars.
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
