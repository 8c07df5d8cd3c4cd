// ModelMetrics: the counters of one model, of the daemon, and of access.
//
// Counting must not make a request wait, so a counter is an atomic that orders nothing else. A
// scrape sees each counter right, but not all at one moment. Figures that must agree are in
// InferenceStatistics and AnswerStatistics.
//
// A new counter is a member here and a row of a table in metric_families.cc. Unsigned members only
// grow; signed ones are gauges.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "server/telemetry/answer_statistics.h"
#include "server/telemetry/inference_statistics.h"
#include "server/telemetry/sequence_end.h"
#include "server/telemetry/worker_exit.h"

namespace mpsd {

// A bound is the largest value of its bucket. Thread-safe. An observation is two relaxed additions.
// Read() may see one counter before and another after an observation. The sum is a whole number of
// ticks, since an atomic addition of a double would be a loop:
//
//   histogram.ObserveNs(1'500);        // one tick is 1 ns, the bounds are in seconds
//   histogram.ReadSeconds().sum;       // 1.5e-6
template <size_t kBounds>
class AtomicHistogram {
 public:
  struct Snapshot {
    std::array<uint64_t, kBounds + 1> counts{};  // not cumulative; the last is above all bounds
    double sum = 0;
  };

  explicit constexpr AtomicHistogram(const std::array<double, kBounds>& bounds) : bounds_(bounds) {}

  // `value` is in the unit of the bounds, `ticks` the same value in ticks.
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

// From the smallest model's time to one that keeps a client waiting.
inline constexpr std::array<double, 16> kSecondsBounds = {
    20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3,
    10e-3, 20e-3, 50e-3,  0.1,    0.2,    0.5,  1,    5};
// Up to kMaxBatchRows.
inline constexpr std::array<double, 11> kBatchBounds = {1,  2,   4,   8,   16,  32,
                                                        64, 128, 256, 512, 1024};
inline constexpr std::array<double, 11> kTokenBounds = {16,   64,   256,   512,   1024, 2048,
                                                        4096, 8192, 16384, 32768, 65536};

// Observed in nanoseconds, read in seconds. A negative time, from the clock of a worker's lane,
// counts as 0. Thread-safe.
class StageHistogram : public AtomicHistogram<16> {
 public:
  StageHistogram() : AtomicHistogram(kSecondsBounds) {}
  void ObserveNs(int64_t ns, uint64_t count = 1) {
    const int64_t positive = ns < 0 ? 0 : ns;
    Observe(static_cast<double>(positive) * 1e-9, static_cast<uint64_t>(positive), count);
  }
  Snapshot ReadSeconds() const { return Read(1e-9); }
};

// Thread-safe.
class BatchHistogram : public AtomicHistogram<11> {
 public:
  BatchHistogram() : AtomicHistogram(kBatchBounds) {}
  void ObserveRows(uint32_t rows) { Observe(rows, rows); }
  Snapshot ReadRows() const { return Read(1); }
};

// Thread-safe.
class TokenHistogram : public AtomicHistogram<11> {
 public:
  TokenHistogram() : AtomicHistogram(kTokenBounds) {}
  void ObserveTokens(uint64_t tokens) { Observe(static_cast<double>(tokens), tokens); }
  Snapshot ReadTokens() const { return Read(1); }
};

inline constexpr size_t kStatusCodes = 17;  // gRPC's codes

// One model and version, shared by all its generations, so that a reload does not reset the
// counters. Thread-safe. Owners set their gauges through a GaugeShare if two generations may show
// something at once. Members are grouped by writer, a cache line apart, so that threads that end
// requests do not slow down threads that end batches.
struct ModelMetrics {
  std::string model;
  std::string version = "1";

  // Written when a request ends. Its exchange counts the code, AnswerStep the stages: once a
  // request, with the time of all its answers.
  alignas(128) std::array<std::atomic<uint64_t>, kStatusCodes> requests_by_code{};
  StageHistogram queue;     // from admission to the batch
  StageHistogram dispatch;  // from the batch to the lane's start
  StageHistogram execute;   // from the lane's start to its end
  StageHistogram respond;   // from the lane's end to the transport

  // For requests of models that keep answers.
  alignas(128) std::atomic<uint64_t> cache_hits{0};
  std::atomic<uint64_t> cache_misses{0};

  // Written when texts become tokens, before admission.
  alignas(128) StageHistogram text_encoding;  // all texts of a request
  std::atomic<uint64_t> text_tokens{0};       // with special ones, without padding
  std::atomic<uint64_t> truncated_texts{0};   // texts that lost tokens
  std::atomic<uint64_t> repeated_texts{0};    // equal to another text of their request

  // Written when sequences begin and end.
  alignas(128) std::atomic<int64_t> open_sequences{0};
  std::array<std::atomic<uint64_t>, kSequenceEnds> ended_sequences{};

  // Written when a batch ends, or its worker dies.
  alignas(128) BatchHistogram batch_rows;
  TokenHistogram batch_tokens;              // batches of tokens, as computed
  std::atomic<uint64_t> padding_tokens{0};  // part of batch_tokens
  std::atomic<uint64_t> batches{0};
  std::atomic<uint64_t> gathered_batches{0};    // with more than one run of rows
  std::atomic<uint64_t> skipped_batches{0};     // without a live row
  std::atomic<uint64_t> dispatched_again{0};    // requests of a dead worker
  std::atomic<uint64_t> refused_in_advance{0};  // no lane would be free in time, by the forecast
  std::atomic<uint64_t> given_up_requests{0};   // while waiting, for others that can be in time
  std::atomic<uint64_t> delayed_requests{0};    // had waited, and yielded to others
  std::atomic<uint64_t> resource_waits{0};      // free lanes that waited for what other models hold
  std::atomic<uint64_t> quarantined_requests{0};  // same content as one that crashed a worker
  std::atomic<uint64_t> timeout_wakeups{0};       // each is a bug
  std::atomic<uint64_t> keep_warm_runs{0};        // by lanes without a batch
  std::atomic<uint64_t> memory_trims{0};          // trims of unused memory, by workers
  InferenceStatistics inference;
  AnswerStatistics answers;

  // The pool's gauges, and counts of the thread `supervisor`.
  alignas(128) std::atomic<int64_t> queued_requests{0};
  std::atomic<int64_t> queued_bytes{0};
  std::atomic<int64_t> running_batches{0};
  std::atomic<int64_t> inside_requests{0};           // queued, running or being answered
  std::atomic<int64_t> saturation_permille{0};       // see Saturation
  std::atomic<int64_t> load_permille{0};             // see ReplicaForecast; 0: not known
  std::atomic<int64_t> replicas_needed_permille{0};  // if replicas_known
  std::atomic<int64_t> replicas_known{0};            // pools that know theirs
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

// Counts replies by code; codes that are not in kCodes count as 500. A reply counts before its
// first byte goes out. Thread-safe.
class HttpReplies {
 public:
  static constexpr std::array<int, 21> kCodes = {200, 400, 401, 403, 404, 405, 408,
                                                 409, 413, 415, 417, 422, 424, 429,
                                                 431, 499, 501, 503, 504, 505, 500};

  void Add(int code) {
    size_t index = 0;
    while (index + 1 < kCodes.size() && kCodes[index] != code) ++index;
    counts_[index].fetch_add(1, std::memory_order_relaxed);
  }

  // Replies with kCodes[index].
  uint64_t Count(size_t index) const { return counts_[index].load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<uint64_t>, kCodes.size()> counts_{};
};

// The counters of the whole daemon, which owns them. Thread-safe.
struct ServerMetrics {
  // Refused before their model was found; requests_by_code has all others.
  std::array<std::atomic<uint64_t>, kStatusCodes> refused_by_code{};
  std::atomic<uint64_t> log_lines_dropped{0};
  std::atomic<uint64_t> model_load_failures{0};
  std::atomic<uint64_t> pull_failures{0};
  std::atomic<int64_t> memory_pressure{0};         // a MemoryPressure
  std::atomic<uint64_t> memory_pressure_rises{0};  // rises above the last level
  std::atomic<int64_t> config_reload_ok{1};        // 0: the last reload failed
  std::atomic<uint64_t> config_reloads{0};         // failed ones too
  std::atomic<uint64_t> failed_config_reloads{0};
  std::atomic<int64_t> config_reload_time_s{0};  // since the Unix epoch; 0: never
  std::atomic<int64_t> open_calls{0};
  std::atomic<int64_t> connections{0};
  std::atomic<uint64_t> refused_connections{0};    // beyond the limit
  std::atomic<uint64_t> displaced_connections{0};  // idle ones, to make room for others
  std::atomic<uint64_t> flooding_connections{0};
  std::atomic<uint64_t> unread_connections{0};
  std::atomic<uint64_t> refused_calls{0};     // beyond the limit of open calls
  std::atomic<uint64_t> untaken_answers{0};   // their calls were cancelled
  std::atomic<int64_t> unread_copy_bytes{0};  // large answers
  std::atomic<int64_t> inflated_request_bytes{0};
  HttpReplies http_replies;
  std::atomic<int64_t> http_connections{0};
  std::atomic<int64_t> http_body_bytes{0};
  std::atomic<int64_t> client_regions{0};
  std::atomic<int64_t> client_region_bytes{0};
  std::atomic<uint64_t> device_copier_deaths{0};
  std::atomic<uint64_t> lost_traces{0};  // the file or the collector did not take them
  std::atomic<int64_t> kept_answers{0};
  std::atomic<int64_t> kept_answer_bytes{0};
  std::atomic<uint64_t> evicted_answers{0};      // to make room
  std::atomic<int64_t> step_requests{0};         // inside models of steps
  std::atomic<int64_t> step_copy_bytes{0};       // including answers that wait for parts
  std::atomic<int64_t> sequence_state_bytes{0};  // state of open sequences
};

// Owned by the daemon. RefusalLog counts calls, CertificateSource the rest. Thread-safe.
struct AccessMetrics {
  std::atomic<uint64_t> unauthenticated_calls{0};  // missing or wrong credentials
  std::atomic<uint64_t> denied_calls{0};           // credentials that do not suffice
  std::atomic<uint64_t> certificates_taken{0};
  std::atomic<uint64_t> certificates_refused{0};    // changed files that do not fit together
  std::atomic<int64_t> certificate_not_after_s{0};  // since the Unix epoch; 0: no TLS
};

}  // namespace mpsd
