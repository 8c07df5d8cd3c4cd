// run_prices: whether a batch is answered faster by a recorded run of more rows, or without one.
//
// A recorded run has a fixed number of rows. A batch of fewer fills it up, and pays for all of
// them; without a record it pays for its launches. What either costs was measured at each size:
//
//   rows of the record     1    2    4    8        a batch of 5 rows: the record of 8, if it takes
//   replayed, us         200  200  210  300        no more than twice of what 5 rows take without
//   not recorded, us     900  900  910  930        one, which lies between 910 and 930
//
// Of a model whose records are found by tokens, these stand for rows.
//
// Twice, since a number of rows that a lane has not run before takes far longer the first time:
// libraries choose and load kernels for it, for attention in halves for tenths of a second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"

namespace mpsd {

// What a batch of `rows` rows takes. Plain data.
struct RunPrice {
  uint32_t rows = 0;
  int64_t replayed_ns = 0;
  int64_t plain_ns = 0;  // not recorded
};

// The index of the record that answers a batch of `rows` rows the fastest; nullopt: none does. A
// record of exactly so many rows is always taken. `prices` are sorted by rows, no two alike. Pure.
std::optional<size_t> CheapestRecord(absl::Span<const RunPrice> prices, uint32_t rows);

}  // namespace mpsd
