#include "server/pool/pool_parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "proto/base/check.h"
#include "server/pool/schedule/admission_forecast.h"
#include "server/pool/schedule/predictive_scheduler.h"

namespace mpsd {
namespace {

PoolFacts WithScheduler(PoolFacts facts) {
  PoolOptions& options = facts.options;
  if (options.scheduler == nullptr) {
    options.scheduler = std::make_shared<PredictiveScheduler>(
        options.lane_depth, options.max_delay_ns, options.preferred_rows);
  }
  return facts;
}

}  // namespace

PoolParts::PoolParts(PoolFacts given)
    : facts(WithScheduler(std::move(given))),
      queue(facts.model, &facts.model->metrics,
            {facts.options.queue_requests, facts.options.queue_bytes}, facts.clock),
      inflight(facts.model, facts.keeper),
      claims(&facts, &inflight),
      forecasts(facts.options, &inflight),
      dispatcher(&facts, &queue, &inflight, &claims, &forecasts),
      intake(&facts, &queue, &inflight, &claims, &forecasts),
      loss(&facts, &queue, &inflight, &claims, &quarantine),
      link_gauges(&facts.model->metrics),
      inside_share(&facts.model->metrics.inside_requests),
      saturation_share(&facts.model->metrics.saturation_permille),
      load_share(&facts.model->metrics.load_permille),
      replicas_share(&facts.model->metrics.replicas_needed_permille),
      replicas_known_share(&facts.model->metrics.replicas_known) {
  const PoolOptions& options = facts.options;
  MPSD_CHECK(options.lane_depth >= 1 && options.lane_depth <= kMaxLaneDepth);
  MPSD_CHECK(options.lane_needs.empty() || options.resources != nullptr);
}

absl::Status PoolParts::RefusalInAdvance(Request* request) {
  const int64_t now_ns = facts.clock->NowNs();
  if (request->expiry_ns() <= now_ns) return absl::DeadlineExceededError("Request timeout expired");
  const bool is_patient = request->patience_ns > 0;
  const int64_t wait_ns = is_patient ? forecasts.standing.LongestWaitNs() : StandingQueue::kAnyNs;
  const Arrival arrival = {.curve = queue.curve(*request),
                           .rows = request->rows,
                           .most_rows = queue.batcher().MostRowsWith(*request),
                           .rows_ahead = queue.ledger()->RowsBefore(*request),
                           .rows_behind = request->rows_behind,
                           .deadline_ns = std::min(request->expiry_ns(), now_ns + wait_ns),
                           .answer_deadline_ns = forecasts.margin.BackByNs(
                               request->arrival_ns, request->answer_deadline_ns())};
  const SchedulerSnapshot snapshot = dispatcher.Snapshot(now_ns);
  const Foreseen foreseen = request->pin != 0
                                ? ForeseePinned(arrival, request->pin, snapshot, now_ns)
                                : Foresee(arrival, snapshot, now_ns);
  request->is_tried = foreseen.late_ns > 0;
  request->is_unforeseen = !IsKnown(arrival.curve);
  if (request->is_arriving && !foreseen.is_let_in()) {
    return absl::ResourceExhaustedError("asked again once it is whole");
  }
  forecasts.replicas.Arrived(arrival.curve, arrival.rows, arrival.most_rows);
  if (foreseen.is_let_in()) return absl::OkStatus();
  forecasts.returns.Arrived(now_ns);
  facts.model->metrics.refused_in_advance.fetch_add(1, std::memory_order_relaxed);
  return NoLaneInTime(forecasts.standing.stands() && is_patient
                          ? "the queue does not drain: queue.target is exceeded"
                          : kNoLaneInTime,
                      foreseen.late_ns);
}

void PoolParts::NoteLoad(int64_t now_ns) {
  inside_share.Set(inside.get());
  saturation_share.Set(std::lround(1000 * forecasts.saturation.At(now_ns)));
  const auto lanes = static_cast<uint32_t>(inflight.lanes().size());
  const ReplicaForecast::Needs needs = forecasts.replicas.At(now_ns, lanes);
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
  intake.answering().ForEach([&](const Request& request) {
    ++requests;
    rows += request.given_up.ok() ? request.rows : 0;
  });
  MPSD_CHECK(requests == inside.get());
  MPSD_CHECK(rows == batcher.slab_table().live_rows());
}

}  // namespace mpsd
