// NextStepNs: when a free lane starts, so that lanes become free one after another.
#pragma once

#include <cstdint>

#include "server/pool/schedule/scheduler.h"

namespace mpsd {

// Lanes that start together become free together. Each then finds few rows, all are busy, and the
// next requests wait for as long as possible. Lanes in equal steps find batches of equal size, and
// nobody waits longer than a step.
//
//   together   ▐▌▐████▌   ▐▌▐████▌        in steps  ▐███▌▐███▌▐███▌
//              ▐▌▐████▌   ▐▌▐████▌                   ▐███▌▐███▌▐███▌
//              ▐▌▐████▌   ▐▌▐████▌                     ▐███▌▐███▌▐███▌
//
// Returns when a batch of all rows of the line should start on a free lane. The lane should become
// free most of a step after the last of the others, where a step is a usual batch's time divided by
// the lanes. No request waits longer than two steps. The batch starts at once (`now_ns`) if the
// time has come, if it has as many rows as usual, or if the head would be late. It also does if
// there is one lane, if batches are about as short as a wake-up, or if larger batches gain nothing.
// Pure. REQUIRES: the line is not empty, and its curve is known.
int64_t NextStepNs(const SchedulerSnapshot& snapshot, const LineView& line, int64_t now_ns);

}  // namespace mpsd
