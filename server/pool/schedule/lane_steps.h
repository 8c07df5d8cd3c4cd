// NextStepNs: when a free lane starts, so that lanes become free one after another.
#pragma once

#include <cstdint>

#include "server/pool/schedule/scheduler.h"

namespace mpsd {

// Lanes that start together become free together, and the next requests wait for as long as
// possible. In equal steps nobody waits longer than a step.
//
//   together   ▐▌▐████▌   ▐▌▐████▌        in steps  ▐███▌▐███▌▐███▌
//              ▐▌▐████▌   ▐▌▐████▌                   ▐███▌▐███▌▐███▌
//              ▐▌▐████▌   ▐▌▐████▌                     ▐███▌▐███▌▐███▌
//
// Returns when a batch of all rows of the line should start on a free lane: most of a step after
// the last of the others. A step is a usual batch's time divided by the lanes, and no request waits
// longer than two. The batch starts at once (`now_ns`) in these cases:
//
//   it has as many rows as usual, or the head would be late
//   there is one lane, or batches are about as short as a wake-up
//   larger batches gain nothing
//
// Pure. REQUIRES: the line is not empty, and its curve is known.
int64_t NextStepNs(const SchedulerSnapshot& snapshot, const LineView& line, int64_t now_ns);

}  // namespace mpsd
