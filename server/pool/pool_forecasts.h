// PoolForecasts: what a pool has learned of its clients, workers and batches.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/pool/batch/formed_batch.h"
#include "server/pool/completion_rate.h"
#include "server/pool/lanes/output_sizing.h"
#include "server/pool/pool_facts.h"
#include "server/pool/schedule/admission_margin.h"
#include "server/pool/schedule/replica_forecast.h"
#include "server/pool/schedule/return_forecast.h"
#include "server/pool/schedule/saturation.h"
#include "server/pool/schedule/standing_queue.h"
#include "server/pool/slow_workers.h"
#include "server/request/request.h"
#include "server/request/retry_info.h"

namespace mpsd {

inline constexpr absl::string_view kNoLaneInTime =
    "no lane is free in time for the request's deadline";

// After `late_ns` the request may be asked again.
inline absl::Status NoLaneInTime(absl::string_view text, int64_t late_ns) {
  return WithRetryAfter(
      absl::ResourceExhaustedError(text),
      std::clamp(late_ns, CompletionRate::kMinRetryNs, CompletionRate::kMaxRetryNs));
}

// Thread-compatible: its pool's mutex guards it.
struct PoolForecasts {
  PoolForecasts(const PoolOptions& options, InflightTable* inflight)
      : standing(options.queue_target_ns), replicas(options.slo_ns), slow_workers(inflight) {}

  // Notes the longest wait of a batch's requests, and the wait of the first without its own
  // deadline.
  void Started(const FormedBatch& formed, int64_t now_ns) {
    double share = 0;
    const Request* patient = nullptr;
    for (const BatchEntry& entry : formed.entries) {
      const Request& request = *entry.request;
      const int64_t deadline_ns = request.answer_deadline_ns();
      share = std::max(share, Saturation::OfWait(request.arrival_ns, deadline_ns, now_ns));
      const bool is_patient = request.patience_ns > 0 && request.answers == 0;
      if (is_patient && patient == nullptr) patient = &request;
    }
    saturation.Note(share, now_ns);
    if (patient != nullptr) standing.NoteWait(now_ns - patient->arrival_ns, now_ns);
  }

  // A deadline that the client did not give says nothing about forecasts, nor does a request that
  // was expected to be late.
  void Answered(const Request& request, int64_t now_ns) {
    if (request.patience_ns > 0) return;
    const int64_t deadline_ns = request.answer_deadline_ns();
    if (!request.is_tried) margin.NoteEnd(request.arrival_ns, deadline_ns, now_ns);
    margin.NoteAnswer(request.arrival_ns, deadline_ns, now_ns);
  }

  // The request ends unanswered because of its deadline or client. A further limit on its wait may
  // have ended it instead, and then it says nothing.
  void Left(const Request& request, int64_t now_ns) {
    if (request.patience_ns > 0 || request.final_deadline_ns != 0 || request.is_tried) return;
    margin.NoteEnd(request.arrival_ns, request.deadline_ns, now_ns);
  }

  ReturnForecast returns;
  AdmissionMargin margin;
  StandingQueue standing;
  OutputEstimate estimate;
  Saturation saturation;     // for operators
  ReplicaForecast replicas;  // for operators
  SlowWorkers slow_workers;
};

}  // namespace mpsd
