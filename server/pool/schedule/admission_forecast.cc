#include "server/pool/schedule/admission_forecast.h"

#include <algorithm>
#include <cmath>

#include "server/pool/schedule/lane_forecast.h"
#include "server/pool/schedule/lane_part.h"

namespace mpsd {
namespace {

// A slow worker's lane helps with the rows ahead, but no request counts on it for itself.
struct Lanes {
  double speed = 0;  // speed of all lanes together; each that is not slow counts as 1
  int64_t first_free_ns = SchedulerDecision::kNever;
  int64_t last_free_ns = 0;
  int64_t turn_ns = SchedulerDecision::kNever;  // shortest wait of a batch before it runs
  bool one_is_free = false;
};

Lanes LanesOf(const SchedulerSnapshot& snapshot, int64_t now_ns, bool with_hanging) {
  Lanes lanes;
  for (const LaneView& lane : snapshot.lanes) {
    const WorkerView& worker = snapshot.workers[lane.worker];
    if (!worker.takes_lines() || (!with_hanging && MayHang(lane, now_ns))) continue;
    lanes.speed += 1 / worker.slowness;
    if (worker.is_slow()) continue;
    const int64_t free_ns = ExpectedFreeNs(lane, now_ns) + ExpectedTurnNs(lane, worker, now_ns);
    lanes.first_free_ns = std::min(lanes.first_free_ns, free_ns);
    lanes.last_free_ns = std::max(lanes.last_free_ns, free_ns);
    lanes.turn_ns = std::min(lanes.turn_ns, worker.turn_ns);
    lanes.one_is_free = lanes.one_is_free || lane.batches == 0;
  }
  return lanes;
}

// If all lanes may hang, the model may have become slower.
Lanes LanesOf(const SchedulerSnapshot& snapshot, int64_t now_ns) {
  const Lanes lanes = LanesOf(snapshot, now_ns, /*with_hanging=*/false);
  if (lanes.first_free_ns != SchedulerDecision::kNever) return lanes;
  return LanesOf(snapshot, now_ns, /*with_hanging=*/true);
}

// When the batch behind `batches` others starts. Each takes `batch_ns`, and each round of the lanes
// a turn. Lanes become free in equal steps; one that hangs is not waited for.
int64_t StartNs(const Lanes& lanes, uint64_t batches, int64_t batch_ns) {
  const double rounds = static_cast<double>(batches) / lanes.speed;
  const double whole_rounds = std::floor(rounds);
  const auto spread_ns =
      static_cast<double>(std::min(lanes.last_free_ns - lanes.first_free_ns, batch_ns));
  const double of_spread =
      lanes.speed > 1 ? (rounds - whole_rounds) * lanes.speed / (lanes.speed - 1) : 0;
  return lanes.first_free_ns + static_cast<int64_t>(whole_rounds) * (batch_ns + lanes.turn_ns) +
         static_cast<int64_t>(of_spread * spread_ns);
}

// In time either in one batch with all rows ahead, or behind batches of those rows. Such a batch
// has as many rows as half of the remaining time allows: the first half passes while the one before
// runs. It has at least as many rows as usual, since later requests join it.
int64_t LatenessNs(const Arrival& arrival, const SchedulerSnapshot& snapshot, const Lanes& lanes,
                   int64_t now_ns) {
  const LatencyCurve& curve = *arrival.curve;
  const uint32_t most_of_batch = std::min(snapshot.max_batch_rows, arrival.most_rows);
  const auto lateness_ns = [&](uint32_t most_rows) {
    const uint64_t rows = std::max<uint64_t>(snapshot.usual_batch_rows,
                                             arrival.rows_ahead % most_rows + arrival.rows);
    const int64_t start_ns =
        StartNs(lanes, arrival.rows_ahead / most_rows, curve.MeanNs(most_rows));
    const int64_t answer_ns =
        start_ns + curve.LateNs(static_cast<uint32_t>(std::min(rows, uint64_t{most_rows})));
    return std::max(start_ns - arrival.deadline_ns, answer_ns - arrival.answer_deadline_ns);
  };
  const int64_t in_one_ns = lateness_ns(most_of_batch);
  if (in_one_ns <= 0) return 0;
  const int64_t half_ns = (arrival.answer_deadline_ns - now_ns - lanes.turn_ns) / 2;
  const uint32_t half_rows = curve.RowsWithin(half_ns, most_of_batch);
  const uint32_t batch_rows =
      std::min(most_of_batch, std::max({half_rows, snapshot.usual_batch_rows, uint32_t{1}}));
  return std::max<int64_t>(0, std::min(in_one_ns, lateness_ns(batch_rows)));
}

}  // namespace

Foreseen Foresee(const Arrival& arrival, const SchedulerSnapshot& snapshot, int64_t now_ns) {
  if (!IsKnown(arrival.curve)) return {};
  const Lanes lanes = LanesOf(snapshot, now_ns);
  if (lanes.first_free_ns == SchedulerDecision::kNever) return {};
  const int64_t own_late_ns = LatenessNs(arrival, snapshot, lanes, now_ns);
  if (own_late_ns > 0 || arrival.rows_behind == 0) {
    return {.late_ns = own_late_ns, .is_tried = lanes.one_is_free && arrival.rows_ahead == 0};
  }
  Arrival last = arrival;  // the last rows of the call
  last.rows_ahead += arrival.rows_behind;
  return {.late_ns = LatenessNs(last, snapshot, lanes, now_ns)};
}

Foreseen ForeseePinned(Arrival arrival, uint64_t pin, const SchedulerSnapshot& snapshot,
                       int64_t now_ns) {
  const auto lane = std::find_if(snapshot.lanes.begin(), snapshot.lanes.end(),
                                 [pin](const LaneView& view) { return view.pin == pin; });
  if (lane == snapshot.lanes.end()) return {};
  uint64_t bound_rows = 0;
  for (const LineView& line : snapshot.lines) bound_rows += line.pin == pin ? line.all_rows() : 0;
  arrival.rows_ahead = std::min(arrival.rows_ahead, bound_rows);
  const LanePart only(snapshot, static_cast<uint32_t>(lane - snapshot.lanes.begin()));
  return Foresee(arrival, only.Snapshot(), now_ns);
}

}  // namespace mpsd
