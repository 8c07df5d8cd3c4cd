// Trace: how many calls a service had, span by span, to be sent again.
//
//   calls          bin,model,tenant,calls      '#' begins a remark
//   12             0,embed,north,12            a bin without a row has no calls
//   0              0,embed,south,3
//   31             2,rank,north,31
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mpsd::traffic {

// The most bins of a trace, and the most calls of one of them.
inline constexpr uint32_t kBinsMax = 100'000;
inline constexpr uint32_t kCallsMax = 10'000'000;

// All bins are as long. Constant once read.
struct Trace {
  std::vector<uint32_t> calls;  // by bin
  int64_t bin_ns = 0;

  // In the mean of all bins. REQUIRES: there are bins, and they are longer than 0.
  double CallsPerSecond() const;
};

// A column of a file of CSV, and what a row must have there to count.
struct TraceFilter {
  std::string column;
  std::string value;
};

// Reads a trace from CSV: its first line names the columns, one of which is `calls`. Where there is
// no other one each row is the next bin; otherwise `bin` is the bin's index, and rows of the same
// bin add up. Fields are not quoted. Only rows that all `filters` let pass have calls that count,
// but there are as many bins as all rows have. INVALID_ARGUMENT says what is wrong and in which
// line, also where no calls are left. Pure. REQUIRES: bin_ns > 0.
absl::StatusOr<Trace> ParseTrace(const std::string& csv, const std::vector<TraceFilter>& filters,
                                 int64_t bin_ns);

}  // namespace mpsd::traffic
