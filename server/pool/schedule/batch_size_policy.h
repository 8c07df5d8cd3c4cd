// BatchSizePolicy: how many rows of a line run next, which heads are given up, and how many rows
// pay.
#pragma once

#include <cstdint>

#include "server/pool/schedule/scheduler.h"

namespace mpsd {

struct SizeChoice {
  uint32_t rows = 0;  // rows of the batch
  // Not 0: first drop the requests of `drop_rank` with a deadline up to this time.
  int64_t drop_until_ns = 0;
  uint32_t drop_rank = 0;
};

// rule alone would be fatal: a head with little time left runs alone, all others wait for it, and
// the next head has even less time. So heads are given up on two conditions. At the pace of such
// batches the line's last request would be late too. And without the heads a larger batch serves
// more rows a second, by kWorthGivingUp. A head that is too late by the curve is given up if
// anybody waits behind it. Alone, it is tried.
//
// Requests of a later rank fill the batch, but no head is given up for them. A later request that
// would be late in the batch is given up, or such requests would fill the batch in overload.
//
// Pure. Takes deadlines as evenly spread between head and tail. REQUIRES: the line is not empty,
// and its curve is known.
SizeChoice ChooseSize(const LineView& line, uint32_t max_rows, int64_t now_ns);

// The knee of the curve: the fewest rows whose batches serve nearly as many rows a second as the
// best batches of up to `max_rows` rows.
//
//   rows a    │        ●────●────●  as many, but each waits for all
//   second    │    ●
//             │ ●
//             └─┴──┴───┴────┴────┴─ rows
//               1  2   4    8   16    the knee is 4
//
// In larger batches requests only wait for each other, and other lanes get none. Pure. REQUIRES:
// max_rows >= 1, and the curve is known.
uint32_t PayingRows(const LatencyCurve& curve, uint32_t max_rows);

}  // namespace mpsd
