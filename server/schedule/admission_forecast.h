// AdmissionForecast: whether a request that arrives now would be answered in time.
#pragma once

#include <cstdint>
#include <limits>

#include "server/schedule/scheduler.h"

namespace mpsd {

// A request that asks to be let in.
struct Arrival {
  const LatencyCurve* curve = nullptr;  // of batches of its shape; null: nothing is known of them
  uint32_t rows = 1;
  uint32_t most_rows = std::numeric_limits<uint32_t>::max();  // of a batch of its line
  uint64_t rows_ahead = 0;                                    // inside, without a lane
  uint64_t rows_behind = 0;        // rows of the same call that come after it
  int64_t deadline_ns = 0;         // of its wait
  int64_t answer_deadline_ns = 0;  // when its batch has to be back
};

// What would become of it.
struct Foreseen {
  int64_t late_ns = 0;    // how much too late its batch would be back; 0: in time
  bool is_tried = false;  // it is let in even if it would be late

  bool is_let_in() const { return late_ns == 0 || is_tried; }
};

// Foretells a request that is let in at `now_ns`. The request waits for a lane, and then for the
// batches ahead of it, whose rows are limited by deadlines like its own. Beside other models it
// also waits for a turn of each round of its lanes. Where nobody can tell, it is in time.
//
// A request that finds a lane free and nobody ahead of it is tried whatever the curve says:
// somebody has to, or a curve that is too high would never come down. A request is late, too,
// if the last rows of its call would be. Then it is not tried: the call would fail after much work.
// A lane that may hang (MayHang) helps nobody, unless all are so. Pure; it walks the lanes.
Foreseen Foresee(const Arrival& arrival, const SchedulerSnapshot& snapshot, int64_t now_ns);

// The same for a request that only the lane of that pin may run: that lane counts, and of what is
// ahead the rows that are bound to that lane. In time where the lane is gone: its loss ends the
// request.
Foreseen ForeseePinned(Arrival arrival, uint64_t pin, const SchedulerSnapshot& snapshot,
                       int64_t now_ns);

}  // namespace mpsd
