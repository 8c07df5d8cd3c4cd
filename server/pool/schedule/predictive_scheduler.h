// PredictiveScheduler: the earliest deadline goes first, in the batch that pays.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "server/pool/schedule/lane_choice.h"
#include "server/pool/schedule/scheduler.h"

namespace mpsd {

// Thread-safe: it has no state. Its rules, the first that applies:
//  1. While suspects wait, the worker with the fewest batches is kept for them. Once it has no
//     batch, the first suspect runs there, alone.
//  2. A batch goes to the lane with the least to do (ChooseLane), at most `lane_depth` to a lane. A
//     busy lane gets only a full batch, since more requests may join a smaller one. An idle lane of
//     a slow worker gets a batch only if no other lane is idle, or will be soon (UseSlowLaneAtNs).
//  3. Among the lines that are due, the one whose head is served first gets the batch
//     (IsServedBefore). A line is due once its head has waited for `max_delay_ns`, or its rows fill
//     a batch or a preferred size.
//  4. A request whose deadline has passed is dropped first. So is a head whose answer would be too
//     late by the line's curve, unless nobody waits behind it.
//  5. A batch has no more rows than can be answered by the head's deadline. It has no more than pay
//     (PayingRows), unless the user has set `max_delay_ns` or sizes.
//  6. A free lane waits for clients that are expected back if waiting pays (PaysToGrow). It never
//     waits if the user has set `max_delay_ns`, for lines of other shapes, or while another lane is
//     free.
//  7. A free lane waits so that lanes do not start together (NextStepNs). Rule 6's exceptions
//     apply, except the last one. The rule is off if the user has set sizes.
//  8. If the line's head has not waited for `max_delay_ns`, or need not, a batch has the largest
//     preferred size that its rows fill, if any.
// Without a known curve, rules 5 to 7 do not apply, and a free lane never waits.
class PredictiveScheduler final : public Scheduler {
 public:
  // REQUIRES: `preferred_rows` are in rising order.
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
