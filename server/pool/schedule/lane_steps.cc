#include "server/pool/schedule/lane_steps.h"

#include <algorithm>

namespace mpsd {
namespace {

// Share of a step: batches differ, and a lane that is free for long is lost.
constexpr double kMostOfAStep = 0.75;
constexpr int64_t kLongestWaitSteps = 2;
constexpr int64_t kShortBatchNs = 200'000;
// If two usual batches in one take longer than this multiple of one, nothing is gained.
constexpr double kTwoInOne = 1.9;

struct SteppingLanes {
  uint32_t count = 0;        // lanes expected to help
  int64_t last_free_ns = 0;  // when the last busy lane is free; a late one is not waited for
};

SteppingLanes SteppingLanesOf(const SchedulerSnapshot& snapshot) {
  SteppingLanes lanes;
  for (const LaneView& lane : snapshot.lanes) {
    const WorkerView& worker = snapshot.workers[lane.worker];
    if (!worker.takes_lines() || worker.is_slow()) continue;
    ++lanes.count;
    if (lane.batches > 0) lanes.last_free_ns = std::max(lanes.last_free_ns, lane.free_at_ns);
  }
  return lanes;
}

}  // namespace

int64_t NextStepNs(const SchedulerSnapshot& snapshot, const LineView& line, int64_t now_ns) {
  const SteppingLanes lanes = SteppingLanesOf(snapshot);
  const int64_t usual_ns = line.curve->MeanNs(snapshot.usual_batch_rows);
  const uint32_t rows = line.all_rows();
  const bool is_usual = rows >= snapshot.usual_batch_rows;
  if (is_usual || lanes.count < 2 || usual_ns < kShortBatchNs) return now_ns;
  const int64_t two_in_one_ns = line.curve->MeanNs(2 * snapshot.usual_batch_rows);
  if (static_cast<double>(two_in_one_ns) > kTwoInOne * static_cast<double>(usual_ns)) return now_ns;
  const auto step_ns =
      static_cast<int64_t>(kMostOfAStep * static_cast<double>(usual_ns) / lanes.count);
  const int64_t start_ns = std::min(lanes.last_free_ns + step_ns - line.curve->MeanNs(rows),
                                    line.head_arrival_ns + kLongestWaitSteps * step_ns);
  const bool is_late = start_ns > line.head_deadline_ns ||
                       start_ns + line.curve->LateNs(rows) > line.head_answer_deadline_ns;
  return is_late ? now_ns : std::max(start_ns, now_ns);
}

}  // namespace mpsd
