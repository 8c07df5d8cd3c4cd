// AdmissionForecast: whether a request that arrives now would get its answer in time.
#pragma once

#include <cstdint>
#include <limits>

#include "server/pool/schedule/scheduler.h"

namespace mpsd {

struct Arrival {
  const LatencyCurve* curve = nullptr;  // for batches of its shape; null: nothing is known
  uint32_t rows = 1;
  uint32_t most_rows = std::numeric_limits<uint32_t>::max();  // limit on a batch of its line
  uint64_t rows_ahead = 0;                                    // admitted, without a lane
  uint64_t rows_behind = 0;        // rows of the same call that come after it
  int64_t deadline_ns = 0;         // when its wait ends
  int64_t answer_deadline_ns = 0;  // when its batch must be back
};

struct Foreseen {
  int64_t late_ns = 0;    // how late its batch would be back; 0: in time
  bool is_tried = false;  // admitted even if it would be late

  bool is_let_in() const { return late_ns == 0 || is_tried; }
};

// The request waits for a lane, and for the batches ahead. Beside other models it also waits for a
// turn in each round of its lanes. If nobody can tell, it counts as in time.
//
// A request that finds a free lane and nobody ahead is tried whatever the curve says. Otherwise a
// curve that is too high would never come down. If the last rows of its call would be late, the
// request is late too, and is not tried: the call would fail after much work. A lane that may hang
// does not count, unless all may. Pure.
Foreseen Foresee(const Arrival& arrival, const SchedulerSnapshot& snapshot, int64_t now_ns);

// Only the lane of that pin may run the request. In time if the lane is gone: its loss ends the
// request.
Foreseen ForeseePinned(Arrival arrival, uint64_t pin, const SchedulerSnapshot& snapshot,
                       int64_t now_ns);

}  // namespace mpsd
