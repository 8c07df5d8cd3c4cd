// NextStepNs: when a free lane starts, so that lanes become free one after the other.
#pragma once

#include <cstdint>

#include "server/schedule/scheduler.h"

namespace mpsd {

// Lanes that start together become free together, and so they go on: each finds few rows, then all
// are busy, and the next requests wait for the longest time that there is. Lanes in equal steps
// find batches of equal size, and nobody waits longer than a step.
//
//   together   ▐▌▐████▌   ▐▌▐████▌        in steps  ▐███▌▐███▌▐███▌
//              ▐▌▐████▌   ▐▌▐████▌                   ▐███▌▐███▌▐███▌
//              ▐▌▐████▌   ▐▌▐████▌                     ▐███▌▐███▌▐███▌
//
// Returns when a batch of all rows of the line is to start on a free lane: so that this lane
// becomes free most of a step after the last of the others, where a step is the time of a usual
// batch, divided by the lanes. No request waits longer than two such steps. It starts at once
// (`now_ns`) if that has come, with as many rows as usual, if there is one lane, where batches are
// about as short as a wake-up, where larger batches gain nothing, and where the head would be late.
// Pure. REQUIRES: the line is not empty, and its curve is known.
int64_t NextStepNs(const SchedulerSnapshot& snapshot, const LineView& line, int64_t now_ns);

}  // namespace mpsd
