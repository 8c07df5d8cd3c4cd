// LinkGauges: what a pool shows of its workers' links: answers that lie there, late wake-ups.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/dispatch/inflight_table.h"
#include "server/lanes/worker_link.h"
#include "server/telemetry/gauge_share.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Owned by a pool. Thread-compatible: guarded by the pool's mutex. Counts the links of dead workers
// too, for as long as answers lie in them: an answer that a client has not read yet keeps its
// bytes, and so it stays on the gauges, whatever has become of the worker that wrote it.
class LinkGauges {
 public:
  explicit LinkGauges(ModelMetrics* metrics)
      : timeout_wakeups_(&metrics->timeout_wakeups),
        leases_(&metrics->output_leases),
        pinned_bytes_(&metrics->pinned_output_bytes),
        workers_ready_(&metrics->workers_ready) {}

  // The link has left the table: its worker is dead.
  void AddPast(const std::shared_ptr<WorkerLink>& link) {
    NoteWakeups(link.get());
    past_.push_back(link);
  }

  // Counts how often the lanes found work only because their sleep had timed out.
  void NoteWakeups(const InflightTable& inflight) {
    const auto workers = static_cast<uint32_t>(inflight.workers().size());
    for (uint32_t worker = 0; worker < workers; ++worker) NoteWakeups(inflight.link(worker).get());
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
    for (uint32_t worker = 0; worker < workers; ++worker) count(*inflight.link(worker));
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
  void NoteWakeups(WorkerLink* link) {
    timeout_wakeups_->fetch_add(link->TakeTimeoutWakeups(), std::memory_order_relaxed);
  }

  std::atomic<uint64_t>* const timeout_wakeups_;
  GaugeShare leases_;
  GaugeShare pinned_bytes_;
  GaugeShare workers_ready_;
  std::vector<std::weak_ptr<WorkerLink>> past_;
};

}  // namespace mpsd
