// PredictiveScheduler: the earliest deadline goes first, in the batch that pays.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "server/schedule/lane_choice.h"
#include "server/schedule/scheduler.h"

namespace mpsd {

// Thread-safe: it has no state. Its rules, the first that applies:
//  1. While suspects wait, one worker is kept for them: the one with the fewest batches. Once the
//     kept worker has no batch, the first suspect runs there, alone.
//  2. A batch goes to the lane with the least to do (ChooseLane). A lane has at most `lane_depth`
//     batches. One that has a batch gets another only if that one is full: a smaller one would be
//     bound too early, since until the lane is free more requests may join. An idle lane of a slow
//     worker gets one if no other lane is idle, or expected to be soon enough (UseSlowLaneAtNs).
//  3. The batch is of the line that is due and whose head is served first: that of the lowest rank,
//     and of these the one with the earliest deadline. A line is due once its head has waited for
//     `max_delay_ns`, or its rows fill a batch, or a batch of a preferred size.
//  4. A request whose deadline has passed is dropped before its line is compared again; also a head
//     whose answer would come too late by the line's curve, unless nobody waits behind it.
//  5. A batch has no more rows than can be answered by the head's deadline, by the line's curve,
//     and no more than pay (PayingRows), unless the user has set `max_delay_ns` or sizes.
//  6. A free lane waits for clients that are expected back, if the lane then answers more requests
//     a second than at once, and than with two halves of them in turn: by the line's curve, at
//     least kLeastGain times as many. A size that was never seen is held to take as little as it
//     may, so that it is tried. The lane never waits if `max_delay_ns` is set, since the user has
//     said then how long to wait; nor for lines of other shapes; nor while another lane is free.
//  7. A free lane waits until it would become free some way behind the last of the others
//     (NextStepNs), so that lanes do not start together; with the exceptions of 6, but for the
//     last, and not if the user has set sizes.
//  8. Of a line whose head has not waited for `max_delay_ns`, or need not, a batch has the largest
//     preferred size that its rows fill, if they fill any.
// Without a curve, or while it knows nothing, 5 to 7 do not apply, and a free lane never waits.
class PredictiveScheduler final : public Scheduler {
 public:
  // REQUIRES: `preferred_rows` rise.
  PredictiveScheduler(uint32_t lane_depth, int64_t max_delay_ns,
                      std::vector<uint32_t> preferred_rows = {})
      : lane_depth_(lane_depth),
        max_delay_ns_(max_delay_ns),
        preferred_rows_(std::move(preferred_rows)) {}

  SchedulerDecision Decide(const SchedulerSnapshot& snapshot, int64_t now_ns) const override;

 private:
  std::optional<SchedulerDecision> DecideSuspects(const SchedulerSnapshot& snapshot,
                                                  int64_t now_ns) const;
  uint32_t MostRows(const SchedulerSnapshot& snapshot, const LineView& line) const;
  int64_t DueNs(const LineView& line, uint32_t most_rows) const;
  SchedulerDecision RunLine(const SchedulerSnapshot& snapshot, uint32_t index,
                            const LaneChoice& choice, int64_t now_ns) const;
  SchedulerDecision RunLineOn(const SchedulerSnapshot& snapshot, uint32_t index, uint32_t lane,
                              int64_t now_ns) const;
  uint32_t AsPreferred(const LineView& line, uint32_t rows, int64_t now_ns) const;
  bool PaysToWait(const SchedulerSnapshot& snapshot, const LineView& line, uint32_t most_rows,
                  uint32_t lane, int64_t now_ns) const;
  bool KeepsStep(const SchedulerSnapshot& snapshot, const LineView& line, uint32_t most_rows) const;
  bool HasOtherFreeLane(const SchedulerSnapshot& snapshot, uint32_t lane) const;

  const uint32_t lane_depth_;
  const int64_t max_delay_ns_;
  const std::vector<uint32_t> preferred_rows_;
};

}  // namespace mpsd
