#include "server/pool/schedule/lane_choice.h"

#include <algorithm>
#include <tuple>

#include "server/pool/schedule/lane_forecast.h"

namespace mpsd {
namespace {

// The load of a lane and then of its worker, compared in this order.
using Load = std::tuple<uint32_t, int64_t, int64_t, uint32_t>;

struct LoadedLane {
  std::optional<uint32_t> lane;
  Load load;

  void Offer(uint32_t other, const Load& other_load) {
    if (lane.has_value() && load <= other_load) return;
    lane = other;
    load = other_load;
  }
};

bool IsKept(const WorkerView& worker, bool suspects_wait) {
  return worker.kept && (suspects_wait || worker.batches > 0);
}

uint32_t EndOfLanes(const SchedulerSnapshot& snapshot, size_t worker) {
  if (worker + 1 < snapshot.workers.size()) return snapshot.workers[worker + 1].first_lane;
  return static_cast<uint32_t>(snapshot.lanes.size());
}

// The worker's lane with room and the least to do, and that load.
LoadedLane LeastLoaded(const SchedulerSnapshot& snapshot, size_t worker, uint32_t lane_depth,
                       int64_t now_ns) {
  const WorkerView& view = snapshot.workers[worker];
  LoadedLane best;
  int64_t left_ns = 0;
  for (uint32_t i = view.first_lane; i < EndOfLanes(snapshot, worker); ++i) {
    const LaneView& lane = snapshot.lanes[i];
    const int64_t free_ns = ExpectedFreeNs(lane, now_ns);
    left_ns += free_ns - now_ns;
    const bool has_room = lane.batches < lane_depth && !MayHang(lane, now_ns);
    if (has_room) best.Offer(i, {lane.batches, free_ns, 0, 0});
  }
  std::get<2>(best.load) = left_ns;
  std::get<3>(best.load) = view.batches;
  return best;
}

// The lanes that are not slow.
struct UsualLanes {
  uint32_t count = 0;
  int64_t free_ns = SchedulerDecision::kNever;  // when the first of them is free
};

UsualLanes UsualLanesOf(const SchedulerSnapshot& snapshot, int64_t now_ns) {
  UsualLanes usual;
  for (const LaneView& lane : snapshot.lanes) {
    const WorkerView& worker = snapshot.workers[lane.worker];
    if (!worker.takes_lines() || !worker.may_run() || worker.is_slow()) continue;
    ++usual.count;
    usual.free_ns = std::min(usual.free_ns, ExpectedFreeNs(lane, now_ns));
  }
  return usual;
}

}  // namespace

LaneChoice ChooseLane(const SchedulerSnapshot& snapshot, uint32_t lane_depth, int64_t now_ns) {
  const bool suspects_wait = !snapshot.suspects.empty();
  LoadedLane usual;
  LoadedLane slow;
  for (size_t worker = 0; worker < snapshot.workers.size(); ++worker) {
    const WorkerView& view = snapshot.workers[worker];
    if (!view.may_run() || !view.has_output_room || IsKept(view, suspects_wait)) continue;
    const LoadedLane least = LeastLoaded(snapshot, worker, lane_depth, now_ns);
    if (!least.lane.has_value()) continue;
    if (view.batches == 0 && view.passed_over >= kProbeEvery) return {.lane = least.lane};
    if (!view.is_slow()) {
      usual.Offer(*least.lane, least.load);
    } else if (snapshot.lanes[*least.lane].batches == 0) {
      slow.Offer(*least.lane, least.load);
    }
  }
  const bool is_idle = usual.lane.has_value() && snapshot.lanes[*usual.lane].batches == 0;
  return {usual.lane, is_idle ? std::nullopt : slow.lane};
}

int64_t UseSlowLaneAtNs(const SchedulerSnapshot& snapshot, const LineView& line, uint32_t slow_lane,
                        uint32_t most_rows, int64_t now_ns) {
  const UsualLanes usual = UsualLanesOf(snapshot, now_ns);
  if (usual.count == 0 || !IsKnown(line.curve)) return now_ns;
  const uint32_t waiting = line.all_rows();
  const int64_t batch_ns = line.curve->MeanNs(std::min(waiting, most_rows));
  const double slowness = snapshot.workers[snapshot.lanes[slow_lane].worker].slowness;
  const auto slow_ns = static_cast<int64_t>(static_cast<double>(batch_ns) * slowness);
  if (now_ns + slow_ns > line.head_answer_deadline_ns) return SchedulerDecision::kNever;
  const int64_t further_batches = (waiting - 1) / most_rows;
  const int64_t further_ns = further_batches * line.curve->MeanNs(most_rows) / usual.count;
  const int64_t usual_ns = usual.free_ns - now_ns + batch_ns + further_ns;
  if (slow_ns < usual_ns) return now_ns;
  return std::max(now_ns + 1, usual.free_ns + slow_ns - batch_ns - further_ns);
}

}  // namespace mpsd
