// ModelMetrics: the counters of one model. The request's path writes them, a scrape reads them.
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

// A histogram with fixed bounds. Thread-safe. An observation is two relaxed additions and no
// allocation. Read() may see one counter before and another after an observation.
template <size_t kBounds>
class AtomicHistogram {
 public:
  struct Snapshot {
    std::array<uint64_t, kBounds + 1> counts{};  // not cumulative; the last one is above all bounds
    double sum = 0;
  };

  explicit constexpr AtomicHistogram(const std::array<double, kBounds>& bounds) : bounds_(bounds) {}

  // Counts `count` observations of `value`, in the unit of the bounds. `ticks` is the same value as
  // a whole number of ticks.
  void Observe(double value, uint64_t ticks, uint64_t count = 1) {
    size_t i = 0;
    while (i < kBounds && value > bounds_[i]) ++i;
    counts_[i].fetch_add(count, std::memory_order_relaxed);
    ticks_.fetch_add(ticks * count, std::memory_order_relaxed);
  }

  // `scale` is one tick in the unit of the bounds.
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

// The times of a stage: observed in nanoseconds, read in seconds. Thread-safe.
class StageHistogram : public AtomicHistogram<16> {
 public:
  StageHistogram() : AtomicHistogram(kSecondsBounds) {}
  void ObserveNs(int64_t ns, uint64_t count = 1) {
    const int64_t positive = ns < 0 ? 0 : ns;
    Observe(static_cast<double>(positive) * 1e-9, static_cast<uint64_t>(positive), count);
  }
  Snapshot ReadSeconds() const { return Read(1e-9); }
};

// The rows of batches. Thread-safe.
class BatchHistogram : public AtomicHistogram<11> {
 public:
  BatchHistogram() : AtomicHistogram(kBatchBounds) {}
  void ObserveRows(uint32_t rows) { Observe(rows, rows); }
  Snapshot ReadRows() const { return Read(1); }
};

inline constexpr size_t kStatusCodes = 17;  // gRPC's codes 0..16

// Shared by the generations of a model; ends with the last of them. Thread-safe. Counters only
// grow. A gauge is set by the owner of what the gauge shows. Members are grouped by writer, a cache
// line apart.
struct ModelMetrics {
  std::string model;
  std::string version = "1";

  // Written when a request ends.
  alignas(128) std::array<std::atomic<uint64_t>, kStatusCodes> requests_by_code{};
  StageHistogram queue;     // from admission to the batch
  StageHistogram dispatch;  // from the batch to the start of the lane
  StageHistogram execute;   // from the start of the lane to its end
  StageHistogram respond;   // from the end of the lane to the transport

  // Written when a batch ends.
  alignas(128) BatchHistogram batch_rows;
  std::atomic<uint64_t> batches{0};
  std::atomic<uint64_t> gathered_batches{0};      // with more than one row run
  std::atomic<uint64_t> skipped_batches{0};       // without a live row
  std::atomic<uint64_t> dispatched_again{0};      // requests of a worker that died
  std::atomic<uint64_t> quarantined_requests{0};  // same content as one that crashed a worker
  std::atomic<uint64_t> timeout_wakeups{0};       // each of them is a bug
  std::atomic<uint64_t> copied_replies{0};        // large answers, because too much was pinned
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
  std::atomic<int64_t> circuit_open{0};  // 1: the model rests
  std::atomic<uint64_t> worker_restarts{0};
  std::atomic<uint64_t> worker_recycles{0};
  std::atomic<uint64_t> worker_lines_dropped{0};
  std::atomic<uint64_t> worker_send_errors{0};
  std::array<std::atomic<uint64_t>, kWorkerExits> worker_exits{};
  std::atomic<uint64_t> lane_demotions{0};  // workers with fewer lanes than configured
};

// The counters of the whole daemon. Owned by the daemon. Thread-safe.
struct ServerMetrics {
  // Requests that were refused before a model was found for them.
  std::array<std::atomic<uint64_t>, kStatusCodes> refused_by_code{};
  std::atomic<uint64_t> log_lines_dropped{0};
  std::atomic<uint64_t> model_load_failures{0};
  std::atomic<int64_t> config_reload_ok{1};      // 0: the last reload failed
  std::atomic<int64_t> config_reload_time_s{0};  // since the Unix epoch; 0: never
  std::atomic<int64_t> open_calls{0};
  std::atomic<int64_t> connections{0};
  std::atomic<uint64_t> refused_connections{0};  // beyond the limit
  std::atomic<uint64_t> refused_calls{0};        // likewise
  std::atomic<uint64_t> untaken_answers{0};      // whose calls were cancelled
  std::atomic<int64_t> unread_copy_bytes{0};     // of large answers
  std::atomic<int64_t> inflated_request_bytes{0};
  std::atomic<int64_t> client_regions{0};  // registered by clients
  std::atomic<int64_t> client_region_bytes{0};
  std::atomic<uint64_t> device_copier_deaths{0};
  std::atomic<uint64_t> lost_traces{0};  // the file was full or slow
};

}  // namespace mpsd
