// run_prices: whether a batch is answered faster by a larger recorded run or without one.
//
// A recorded run has a fixed number of rows, or of tokens; a smaller batch pays for all of them.
// Without a record, the batch pays for its launches. Both costs were measured:
//
//   rows of the record     1    2    4    8
//   replayed, us         200  200  210  300
//   not recorded, us     900  900  910  930
//
// A batch of 5 rows uses the record of 8 if that takes at most twice as long as 5 rows without a
// record (between 910 and 930 us).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"

namespace mpsd {

// Plain data.
struct RunPrice {
  uint32_t rows = 0;
  int64_t replayed_ns = 0;
  int64_t plain_ns = 0;  // cost without a record
};

// The index of the fastest record for `rows` rows; nullopt: run the batch without one. A record of
// exactly `rows` rows is always taken. `prices` are sorted by rows, without duplicates. Pure.
std::optional<size_t> CheapestRecord(absl::Span<const RunPrice> prices, uint32_t rows);

}  // namespace mpsd
