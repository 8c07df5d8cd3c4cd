// LinkGauges: a pool's gauges of its workers' links: answers there, and lanes' counts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "server/pool/inflight_table.h"
#include "server/pool/lanes/worker_link.h"
#include "server/telemetry/gauge_share.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Owned by a pool. Thread-compatible: guarded by the pool's mutex. Includes links of dead workers
// while answers lie in them. An unread answer keeps its bytes, and so stays on the gauges after its
// worker's death.
class LinkGauges {
 public:
  explicit LinkGauges(ModelMetrics* metrics)
      : metrics_(metrics),
        leases_(&metrics->output_leases),
        pinned_bytes_(&metrics->pinned_output_bytes),
        workers_ready_(&metrics->workers_ready) {}

  // The link has left the table: its worker is dead.
  void AddPast(const std::shared_ptr<WorkerLink>& link) {
    NoteCounts(link.get());
    past_.push_back(link);
  }

  // Adds up the lanes' counts.
  void NoteCounts(const InflightTable& inflight) {
    const auto workers = static_cast<uint32_t>(inflight.workers().size());
    for (uint32_t worker = 0; worker < workers; ++worker)
      NoteCounts(inflight.worker(worker).link.get());
  }

  // Shows the leases and the pinned bytes of all links, and how many workers serve.
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
