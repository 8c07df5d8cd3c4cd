// ModelMetrics: the counters of one model, written on the request's path, read by a scrape.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "server/telemetry/answer_statistics.h"
#include "server/telemetry/inference_statistics.h"
#include "server/telemetry/worker_exit.h"

namespace mpsd {

// A histogram with fixed bounds. Thread-safe; writing is two relaxed additions, no allocation.
// Snapshot() may be torn between two counters, never within one.
template <size_t kBounds>
class AtomicHistogram {
 public:
  struct Snapshot {
    std::array<uint64_t, kBounds + 1> counts{};  // not cumulative; the last is beyond all bounds
    double sum = 0;
  };

  explicit constexpr AtomicHistogram(const std::array<double, kBounds>& bounds) : bounds_(bounds) {}

  // Counts `count` observations of `value`, which is in the unit of the bounds; `ticks` is the same
  // value as an integer of `1 / scale`.
  void Observe(double value, uint64_t ticks, uint64_t count = 1) {
    size_t i = 0;
    while (i < kBounds && value > bounds_[i]) ++i;
    counts_[i].fetch_add(count, std::memory_order_relaxed);
    ticks_.fetch_add(ticks * count, std::memory_order_relaxed);
  }

  Snapshot Read(double scale) const {
    Snapshot snapshot;
    for (size_t i = 0; i <= kBounds; ++i) {
      snapshot.counts[i] = counts_[i].load(std::memory_order_relaxed);
    }
    snapshot.sum = static_cast<double>(ticks_.load(std::memory_order_relaxed)) * scale;
    return snapshot;
  }

  const std::array<double, kBounds>& bounds() const { return bounds_; }

 private:
  const std::array<double, kBounds>& bounds_;
  std::array<std::atomic<uint64_t>, kBounds + 1> counts_{};
  std::atomic<uint64_t> ticks_{0};
};

inline constexpr std::array<double, 16> kSecondsBounds = {
    20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3,
    10e-3, 20e-3, 50e-3,  0.1,    0.2,    0.5,  1,    5};
inline constexpr std::array<double, 11> kBatchBounds = {1,  2,   4,   8,   16,  32,
                                                        64, 128, 256, 512, 1024};

// A stage time in seconds, fed with nanoseconds. Thread-safe.
class StageHistogram : public AtomicHistogram<16> {
 public:
  StageHistogram() : AtomicHistogram(kSecondsBounds) {}
  void ObserveNs(int64_t ns, uint64_t count = 1) {
    const int64_t positive = ns < 0 ? 0 : ns;
    Observe(static_cast<double>(positive) * 1e-9, static_cast<uint64_t>(positive), count);
  }
  Snapshot ReadSeconds() const { return Read(1e-9); }
};

// Rows of batches. Thread-safe.
class BatchHistogram : public AtomicHistogram<11> {
 public:
  BatchHistogram() : AtomicHistogram(kBatchBounds) {}
  void ObserveRows(uint32_t rows) { Observe(rows, rows); }
  Snapshot ReadRows() const { return Read(1); }
};

inline constexpr size_t kStatusCodes = 17;  // gRPC's codes 0..16

// Thread-safe. Counters only grow; gauges are set by whoever owns what they show. Grouped by
// writer, a cache line apart.
struct ModelMetrics {
  std::string model;
  std::string version = "1";

  // Written when a request ends.
  alignas(128) std::array<std::atomic<uint64_t>, kStatusCodes> requests_by_code{};
  StageHistogram queue;     // admitted → in a batch
  StageHistogram dispatch;  // in a batch → the lane has begun
  StageHistogram execute;   // the lane has begun → the lane is done
  StageHistogram respond;   // the lane is done → the reply is handed to gRPC

  // Written when a batch ends.
  alignas(128) BatchHistogram batch_rows;
  std::atomic<uint64_t> batches{0};
  std::atomic<uint64_t> gathered_batches{0};      // of more than one row run
  std::atomic<uint64_t> skipped_batches{0};       // no live row was left
  std::atomic<uint64_t> dispatched_again{0};      // requests whose worker died
  std::atomic<uint64_t> quarantined_requests{0};  // ended as one that crashed its worker before
  std::atomic<uint64_t> timeout_wakeups{0};       // a wake-up that came by time-out: a bug
  std::atomic<uint64_t> copied_replies{0};        // large, but copied since too much was pinned
  InferenceStatistics inference;
  AnswerStatistics answers;  // of a decoupled model

  // Gauges.
  alignas(128) std::atomic<int64_t> queued_requests{0};
  std::atomic<int64_t> queued_bytes{0};
  std::atomic<int64_t> running_batches{0};
  std::atomic<int64_t> workers_configured{0};
  std::atomic<int64_t> workers_ready{0};
  std::atomic<int64_t> input_slabs_leased{0};
  std::atomic<int64_t> slab_segment_bytes{0};
  std::atomic<int64_t> output_leases{0};
  std::atomic<int64_t> pinned_output_bytes{0};
  std::atomic<int64_t> circuit_open{0};  // 1: its workers died too often, and it rests
  std::atomic<uint64_t> worker_restarts{0};
  std::atomic<uint64_t> worker_recycles{0};
  std::atomic<uint64_t> worker_lines_dropped{0};
  std::array<std::atomic<uint64_t>, kWorkerExits> worker_exits{};
  std::atomic<uint64_t> lane_demotions{0};  // workers that run fewer lanes than they were told
};

// What is counted for the whole daemon.
struct ServerMetrics {
  // Of requests that were refused before there was a model for them.
  std::array<std::atomic<uint64_t>, kStatusCodes> refused_by_code{};
  std::atomic<uint64_t> log_lines_dropped{0};
  std::atomic<uint64_t> model_load_failures{0};
  std::atomic<int64_t> config_reload_ok{1};      // 0: what runs is not what the config says
  std::atomic<int64_t> config_reload_time_s{0};  // since the epoch; 0: never
  std::atomic<int64_t> open_calls{0};
  std::atomic<int64_t> connections{0};
  std::atomic<uint64_t> refused_connections{0};  // beyond the limit
  std::atomic<int64_t> unread_copy_bytes{0};     // of large answers
  std::atomic<int64_t> inflated_request_bytes{0};
  std::atomic<int64_t> client_regions{0};  // shared memory that clients have registered
  std::atomic<int64_t> client_region_bytes{0};
  std::atomic<uint64_t> device_copier_deaths{0};
  std::atomic<uint64_t> lost_traces{0};  // since their file was full or slow
};

}  // namespace mpsd
