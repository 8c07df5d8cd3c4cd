#include "server/dispatch/pool_parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "proto/base/check.h"
#include "server/dispatch/no_lane_in_time.h"
#include "server/schedule/admission_forecast.h"
#include "server/schedule/predictive_scheduler.h"

namespace mpsd {
namespace {

std::unique_ptr<const Scheduler> OrPredictive(std::unique_ptr<const Scheduler> scheduler,
                                              const PoolOptions& options) {
  if (scheduler != nullptr) return scheduler;
  return std::make_unique<PredictiveScheduler>(options.lane_depth, options.max_delay_ns,
                                               options.preferred_rows);
}

}  // namespace

PoolParts::PoolParts(ServedModel* served, const PoolOptions& given, const Clock* pool_clock,
                     PoolKeeper* pool_keeper, std::unique_ptr<const Scheduler> chosen)
    : model(served),
      options(given),
      clock(pool_clock),
      keeper(pool_keeper),
      scheduler(OrPredictive(std::move(chosen), given)),
      queue(model, &model->metrics, {options.queue_requests, options.queue_bytes}, clock),
      inflight(model, keeper),
      claims(clock, options.resources, options.lane_needs, model, &inflight),
      slow_workers(&inflight),
      answering(&queue),
      standing(options.queue_target_ns),
      replicas(options.slo_ns),
      dispatcher(model, scheduler.get(), clock, &queue, &inflight, &returns, &margin, &standing,
                 &saturation, &estimate, &claims, options.held_requests),
      intake(model, clock, &queue, &inflight, &claims, &slow_workers, &answering, &returns, &margin,
             &estimate, options.max_answer_bytes),
      loss(model, clock, &queue, &inflight, &claims, &quarantine),
      link_gauges(&model->metrics),
      inside_share(&model->metrics.inside_requests),
      saturation_share(&model->metrics.saturation_permille),
      load_share(&model->metrics.load_permille),
      replicas_share(&model->metrics.replicas_needed_permille),
      replicas_known_share(&model->metrics.replicas_known) {
  MPSD_CHECK(options.lane_depth >= 1 && options.lane_depth <= kMaxLaneDepth);
  MPSD_CHECK(options.lane_needs.empty() || options.resources != nullptr);
}

absl::Status PoolParts::RefusalInAdvance(Request* request) {
  const int64_t now_ns = clock->NowNs();
  if (request->expiry_ns() <= now_ns) return absl::DeadlineExceededError("Request timeout expired");
  const bool is_patient = request->patience_ns > 0;
  const int64_t wait_ns = is_patient ? standing.LongestWaitNs() : StandingQueue::kAnyNs;
  const Arrival arrival = {
      .curve = queue.curve(*request),
      .rows = request->rows,
      .most_rows = queue.batcher().MostRowsWith(*request),
      .rows_ahead = queue.ledger()->RowsBefore(*request),
      .rows_behind = request->rows_behind,
      .deadline_ns = std::min(request->expiry_ns(), now_ns + wait_ns),
      .answer_deadline_ns = margin.BackByNs(request->arrival_ns, request->answer_deadline_ns())};
  const SchedulerSnapshot snapshot = dispatcher.Snapshot(now_ns);
  const Foreseen foreseen = request->pin != 0
                                ? ForeseePinned(arrival, request->pin, snapshot, now_ns)
                                : Foresee(arrival, snapshot, now_ns);
  request->is_tried = foreseen.late_ns > 0;
  request->is_unforeseen = !IsKnown(arrival.curve);
  if (request->is_arriving && !foreseen.is_let_in()) {
    return absl::ResourceExhaustedError("asked again once it is whole");
  }
  replicas.Arrived(arrival.curve, arrival.rows, arrival.most_rows);
  if (foreseen.is_let_in()) return absl::OkStatus();
  returns.Arrived(now_ns);
  model->metrics.refused_in_advance.fetch_add(1, std::memory_order_relaxed);
  return NoLaneInTime(standing.stands() && is_patient
                          ? "the queue does not drain: queue.target is exceeded"
                          : kNoLaneInTime,
                      foreseen.late_ns);
}

void PoolParts::NoteLoad(int64_t now_ns) {
  inside_share.Set(inside.get());
  saturation_share.Set(std::lround(1000 * saturation.At(now_ns)));
  const auto lanes = static_cast<uint32_t>(inflight.lanes().size());
  const ReplicaForecast::Needs needs = replicas.At(now_ns, lanes);
  load_share.Set(std::lround(1000 * std::max(needs.load, 0.0)));
  replicas_share.Set(std::lround(1000 * std::max(needs.replicas, 0.0)));
  replicas_known_share.Set(needs.replicas < 0 ? 0 : 1);
}

void PoolParts::CheckInvariants() const {
  absl::MutexLock lock(&mu);
  const QueueLedger::Sum queued = queue.CheckInvariants();
  uint64_t rows = queued.rows + loss.struck_rows();
  inflight.CheckInvariants();
  const Batcher& batcher = queue.batcher();
  int64_t requests = queued.requests;
  inflight.ForEach([&](InflightTable::Position, const InflightBatch* batch) {
    CheckCovers(batch->formed, batcher.slab_table());
    rows += batch->formed.row_count;
    for (const BatchEntry& entry : batch->formed.entries) {
      requests += entry.request == nullptr ? 0 : 1;
    }
  });
  answering.ForEach([&](const Request& request) {
    ++requests;
    rows += request.given_up.ok() ? request.rows : 0;
  });
  MPSD_CHECK(requests == inside.get());
  MPSD_CHECK(rows == batcher.slab_table().live_rows());
}

}  // namespace mpsd
