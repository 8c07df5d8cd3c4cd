// ModelMetrics: the counters of one model, of the daemon, and of access. The request's path writes
// them, a scrape reads them.
//
// Counting must not make a request wait, so a counter is an atomic that orders nothing else: a
// scrape sees each counter right, but not all of them at one moment. Figures that must agree with
// each other stand in InferenceStatistics and AnswerStatistics, under a mutex. metric_families.cc
// has the name and the help text of each.
//
// A new counter is a member here and a row of a table there. Unsigned members only grow; signed
// ones are gauges.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "server/telemetry/answer_statistics.h"
#include "server/telemetry/http_replies.h"
#include "server/telemetry/inference_statistics.h"
#include "server/telemetry/sequence_end.h"
#include "server/telemetry/worker_exit.h"

namespace mpsd {

// A histogram with fixed bounds, each of which is the largest value of its bucket. Thread-safe. An
// observation is two relaxed additions and no allocation. Read() may see one counter before and
// another after an observation.
//
// The sum is kept as a whole number of ticks, since an atomic addition of a double would be a loop:
//
//   histogram.ObserveNs(1'500);        // one tick is 1 ns, the bounds are in seconds
//   histogram.ReadSeconds().sum;       // 1.5e-6
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

// From the time of the smallest model to that of one which keeps a client waiting.
inline constexpr std::array<double, 16> kSecondsBounds = {
    20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3,
    10e-3, 20e-3, 50e-3,  0.1,    0.2,    0.5,  1,    5};
// Up to kMaxBatchRows.
inline constexpr std::array<double, 11> kBatchBounds = {1,  2,   4,   8,   16,  32,
                                                        64, 128, 256, 512, 1024};
// From one short text to the largest batches of long ones.
inline constexpr std::array<double, 11> kTokenBounds = {16,   64,   256,   512,   1024, 2048,
                                                        4096, 8192, 16384, 32768, 65536};

// The times of a stage: observed in nanoseconds, read in seconds. A negative time, which the clock
// of a worker's lane can cause, counts as 0. Thread-safe.
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

// The tokens of batches. Thread-safe.
class TokenHistogram : public AtomicHistogram<11> {
 public:
  TokenHistogram() : AtomicHistogram(kTokenBounds) {}
  void ObserveTokens(uint64_t tokens) { Observe(static_cast<double>(tokens), tokens); }
  Snapshot ReadTokens() const { return Read(1); }
};

inline constexpr size_t kStatusCodes = 17;  // gRPC's codes 0..16

// The counters of one model and version. Made with the first generation, shared by all further
// ones, so that a reload does not set counters back; ends with the last of them. MetricsPage shows
// it as long as another part owns it. Thread-safe.
//
// Counters only grow. A gauge is set by the owner of what the gauge shows, through a GaugeShare
// where two generations may show something at once. Members are grouped by writer, a cache line
// apart, so that threads that end requests do not slow down those that end batches.
struct ModelMetrics {
  std::string model;
  std::string version = "1";

  // Written when a request ends: the code by its exchange, the stages by AnswerStep if a lane has
  // had the request: once a request, with the time of all its answers.
  alignas(128) std::array<std::atomic<uint64_t>, kStatusCodes> requests_by_code{};
  StageHistogram queue;     // from admission to the batch
  StageHistogram dispatch;  // from the batch to the start of the lane
  StageHistogram execute;   // from the start of the lane to its end
  StageHistogram respond;   // from the end of the lane to the transport

  // Written where a request is looked for among the kept answers (server/cache).
  alignas(128) std::atomic<uint64_t> cache_hits{0};
  std::atomic<uint64_t> cache_misses{0};

  // Written where texts become tokens (server/texts), before the request is admitted.
  alignas(128) StageHistogram text_encoding;  // of all texts of a request
  std::atomic<uint64_t> text_tokens{0};       // special ones included, padding not
  std::atomic<uint64_t> truncated_texts{0};   // of which something was cut
  std::atomic<uint64_t> repeated_texts{0};    // equal to another of their request

  // Written where sequences begin and end (server/sequences).
  alignas(128) std::atomic<int64_t> open_sequences{0};
  std::array<std::atomic<uint64_t>, kSequenceEnds> ended_sequences{};

  // Written when a batch ends, or its worker dies.
  alignas(128) BatchHistogram batch_rows;
  TokenHistogram batch_tokens;              // of batches of tokens, as they were computed
  std::atomic<uint64_t> padding_tokens{0};  // of these
  std::atomic<uint64_t> batches{0};
  std::atomic<uint64_t> gathered_batches{0};      // with more than one row run
  std::atomic<uint64_t> skipped_batches{0};       // without a live row
  std::atomic<uint64_t> dispatched_again{0};      // requests of a worker that died
  std::atomic<uint64_t> refused_in_advance{0};    // no lane is free in time, as far as is known
  std::atomic<uint64_t> given_up_requests{0};     // while they waited, for those who can be in time
  std::atomic<uint64_t> delayed_requests{0};      // that had waited, and yielded to others
  std::atomic<uint64_t> resource_waits{0};        // of free lanes, for what other models hold
  std::atomic<uint64_t> quarantined_requests{0};  // same content as one that crashed a worker
  std::atomic<uint64_t> timeout_wakeups{0};       // each of them is a bug
  std::atomic<uint64_t> keep_warm_runs{0};        // of lanes without a batch
  std::atomic<uint64_t> memory_trims{0};          // by workers, of what they keep unused
  std::atomic<uint64_t> copied_replies{0};        // large answers, because too much was pinned
  InferenceStatistics inference;
  AnswerStatistics answers;  // of a decoupled model

  // Gauges of the pool, and what the thread `supervisor` counts.
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

// The counters of the whole daemon: what belongs to no model. Owned by the daemon, outlives all
// others. Thread-safe.
struct ServerMetrics {
  // Requests that were refused before a model was found for them: requests_by_code has all others.
  std::array<std::atomic<uint64_t>, kStatusCodes> refused_by_code{};
  std::atomic<uint64_t> log_lines_dropped{0};
  std::atomic<uint64_t> model_load_failures{0};
  std::atomic<int64_t> memory_pressure{0};         // a MemoryPressure
  std::atomic<uint64_t> memory_pressure_rises{0};  // to a level above the last one
  std::atomic<int64_t> config_reload_ok{1};        // 0: the last reload failed
  std::atomic<int64_t> config_reload_time_s{0};    // since the Unix epoch; 0: never
  std::atomic<int64_t> open_calls{0};
  std::atomic<int64_t> connections{0};
  std::atomic<uint64_t> refused_connections{0};    // beyond the limit
  std::atomic<uint64_t> displaced_connections{0};  // idle ones, to make room for others
  std::atomic<uint64_t> flooding_connections{0};
  std::atomic<uint64_t> unread_connections{0};
  std::atomic<uint64_t> read_pauses{0};
  std::atomic<uint64_t> refused_calls{0};     // beyond the limit of open calls
  std::atomic<uint64_t> untaken_answers{0};   // whose calls were cancelled
  std::atomic<int64_t> unread_copy_bytes{0};  // of large answers
  std::atomic<int64_t> inflated_request_bytes{0};
  HttpReplies http_replies;
  std::atomic<int64_t> http_connections{0};
  std::atomic<int64_t> http_body_bytes{0};  // of requests
  std::atomic<int64_t> client_regions{0};   // registered by clients
  std::atomic<int64_t> client_region_bytes{0};
  std::atomic<uint64_t> device_copier_deaths{0};
  std::atomic<uint64_t> lost_traces{0};  // the file was full or slow
  std::atomic<int64_t> kept_answers{0};  // of all models
  std::atomic<int64_t> kept_answer_bytes{0};
  std::atomic<uint64_t> evicted_answers{0};      // for others
  std::atomic<int64_t> step_requests{0};         // of models of steps, inside
  std::atomic<int64_t> step_copy_bytes{0};       // and of answers that wait for parts
  std::atomic<int64_t> sequence_state_bytes{0};  // of open sequences
};

// The counters of access and certificates. Owned by the daemon. RefusalLog counts calls;
// CertificateSource counts certificates and sets the gauge. Thread-safe.
struct AccessMetrics {
  std::atomic<uint64_t> unauthenticated_calls{0};  // without credentials, or with wrong ones
  std::atomic<uint64_t> denied_calls{0};           // with credentials that do not suffice
  std::atomic<uint64_t> certificates_taken{0};
  std::atomic<uint64_t> certificates_refused{0};    // changed files that do not fit together
  std::atomic<int64_t> certificate_not_after_s{0};  // since the Unix epoch; 0: no TLS
};

}  // namespace mpsd
