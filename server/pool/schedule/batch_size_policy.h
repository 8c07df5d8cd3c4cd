// BatchSizePolicy: how many rows of a line run next, and which heads are given up.
#pragma once

#include <cstdint>

#include "server/pool/schedule/scheduler.h"

namespace mpsd {

struct SizeChoice {
  uint32_t rows = 0;
  // Not 0: first drop the requests of `drop_rank` with a deadline up to this time.
  int64_t drop_until_ns = 0;
  uint32_t drop_rank = 0;
};

// A batch has as many rows as can be answered by the deadline of the line's head. In overload this
// alone would be fatal: a head with little time left runs alone, and the next head has even less.
// So heads are given up on two conditions. At the pace of such batches the line's last request
// would be late too, and a larger batch without them serves more rows a second, by kWorthGivingUp.
//
// Requests of a later rank fill the batch, but no head is given up for them. A later request that
// would be late in the batch is given up, or such requests would fill the batch in overload.
//
// Pure. Takes deadlines as evenly spread. REQUIRES: the line is not empty, and its curve is known.
SizeChoice ChooseSize(const LineView& line, uint32_t max_rows, int64_t now_ns);

// The knee of the curve: the fewest rows whose batches serve nearly as many rows a second as the
// best batches.
//
//   rows a    │        ●────●────●  as many, but each waits for all
//   second    │    ●
//             │ ●
//             └─┴──┴───┴────┴────┴─ rows
//               1  2   4    8   16    the knee is 4
//
// Pure. REQUIRES: max_rows >= 1, and the curve is known.
uint32_t PayingRows(const LatencyCurve& curve, uint32_t max_rows);

}  // namespace mpsd
