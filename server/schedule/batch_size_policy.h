// BatchSizePolicy: how many rows of a line run next, who is given up for them, and how many pay.
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

// The knee of the curve: the fewest rows whose batches answer nearly as many rows a second as the
// best batches of up to `max_rows` do.
//
//   rows a    │        ●────●────●  as many, but each waits for all
//   second    │    ●
//             │ ●
//             └─┴──┴───┴────┴────┴─ rows
//               1  2   4    8   16    the knee is 4
//
// Larger batches would only let requests wait for each other, and leave other lanes without any.
// Pure. REQUIRES: max_rows >= 1, and the curve is known.
uint32_t PayingRows(const LatencyCurve& curve, uint32_t max_rows);

}  // namespace mpsd
