// run_prices: whether a batch is answered faster by a larger recorded run or without one.
//
// A recorded run has a fixed number of rows. A smaller batch fills the run up and pays for all its
// rows. Without a record, the batch pays for its launches. Both costs were measured at each size:
//
//   rows of the record     1    2    4    8
//   replayed, us         200  200  210  300
//   not recorded, us     900  900  910  930
//
// A batch of 5 rows uses the record of 8 rows if that takes at most twice as long as 5 rows take
// without a record. That is between 910 and 930 us. If a model's records are found by tokens, sizes
// are tokens instead of rows.
//
// The factor is two because the first run with a new row count takes far longer. Libraries choose
// and load kernels for it. For attention in half precision this takes tenths of a second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"

namespace mpsd {

// The cost of a batch of `rows` rows. Plain data.
struct RunPrice {
  uint32_t rows = 0;
  int64_t replayed_ns = 0;
  int64_t plain_ns = 0;  // cost without a record
};

// The index of the record that answers a batch of `rows` rows fastest; nullopt: run it without one.
// A record of exactly `rows` rows is always taken. `prices` are sorted by rows, without duplicates.
// Pure.
std::optional<size_t> CheapestRecord(absl::Span<const RunPrice> prices, uint32_t rows);

}  // namespace mpsd
