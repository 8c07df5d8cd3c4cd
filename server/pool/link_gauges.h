// LinkGauges: a pool's gauges of its workers' links.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "server/pool/inflight_table.h"
#include "server/pool/lanes/worker_link.h"
#include "server/telemetry/gauge_share.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Thread-compatible: its pool's mutex guards it. An unread answer keeps its bytes after its
// worker's death, so links of dead workers count until then.
class LinkGauges {
 public:
  explicit LinkGauges(ModelMetrics* metrics)
      : metrics_(metrics),
        leases_(&metrics->output_leases),
        pinned_bytes_(&metrics->pinned_output_bytes),
        workers_ready_(&metrics->workers_ready) {}

  void AddPast(const std::shared_ptr<WorkerLink>& link) {
    NoteCounts(link.get());
    past_.push_back(link);
  }

  void NoteCounts(const InflightTable& inflight) {
    const auto workers = static_cast<uint32_t>(inflight.workers().size());
    for (uint32_t worker = 0; worker < workers; ++worker)
      NoteCounts(inflight.worker(worker).link.get());
  }

  void Note(const InflightTable& inflight) {
    uint64_t leases = 0;
    uint64_t pinned_bytes = 0;
    const auto count = [&](const WorkerLink& link) {
      leases += link.leases_out();
      pinned_bytes += link.pinned_bytes();
    };
    const auto workers = static_cast<uint32_t>(inflight.workers().size());
    for (uint32_t worker = 0; worker < workers; ++worker) count(*inflight.worker(worker).link);
    std::erase_if(past_, [&](const std::weak_ptr<WorkerLink>& past) {
      const std::shared_ptr<WorkerLink> link = past.lock();
      if (link != nullptr) count(*link);
      return link == nullptr;
    });
    leases_.Set(static_cast<int64_t>(leases));
    pinned_bytes_.Set(static_cast<int64_t>(pinned_bytes));
    workers_ready_.Set(workers);
  }

 private:
  void NoteCounts(WorkerLink* link) {
    const LaneCounts counts = link->TakeCounts();
    metrics_->timeout_wakeups.fetch_add(counts.timeout_wakeups, std::memory_order_relaxed);
    metrics_->keep_warm_runs.fetch_add(counts.keep_warm_runs, std::memory_order_relaxed);
    metrics_->memory_trims.fetch_add(counts.memory_trims, std::memory_order_relaxed);
  }

  ModelMetrics* const metrics_;
  GaugeShare leases_;
  GaugeShare pinned_bytes_;
  GaugeShare workers_ready_;
  std::vector<std::weak_ptr<WorkerLink>> past_;
};

}  // namespace mpsd
