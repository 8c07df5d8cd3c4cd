// BatchSizePolicy: how many rows of a line run next, and who is given up for them.
#pragma once

#include <cstdint>

#include "server/schedule/scheduler.h"

namespace mpsd {

struct SizeChoice {
  uint32_t rows = 0;  // of the batch
  // Not 0: first drop the requests of `drop_rank` whose deadline is not after this.
  int64_t drop_until_ns = 0;
  uint32_t drop_rank = 0;
};

// A batch has as many rows as can be answered by the deadline of the line's head. In overload this
// alone would be fatal: a head that has little time left runs alone, all others wait for it, and
// the next head has even less. So heads are given up if
//   - at the pace of such batches the line's last request would be late too, and
//   - without them a larger batch serves more rows a second, by kWorthGivingUp.
// A head that is too late by the curve is given up if there is anybody behind it; alone, it is
// tried.
//
// Nobody is given up for those of a later rank, but they fill the batch. Those of them that would
// be late in it are given up, or in overload it would be filled with them.
//
// Pure. It takes the deadlines between head and tail as evenly spread. REQUIRES: the line is not
// empty, and its curve is known.
SizeChoice ChooseSize(const LineView& line, uint32_t max_rows, int64_t now_ns);

}  // namespace mpsd
