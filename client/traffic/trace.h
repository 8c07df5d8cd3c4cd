// Trace: a service's number of calls, span by span, to be sent again.
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

// The most bins of a trace, and the most calls of one bin.
inline constexpr uint32_t kBinsMax = 100'000;
inline constexpr uint32_t kCallsMax = 10'000'000;

// All bins are equally long. Constant once read.
struct Trace {
  std::vector<uint32_t> calls;  // by bin
  int64_t bin_ns = 0;

  // The mean over all bins. REQUIRES: there are bins, and bin_ns is above 0.
  double CallsPerSecond() const;
};

// A column of a CSV file, and the value that a row needs there to count.
struct TraceFilter {
  std::string column;
  std::string value;
};

// Reads a trace from CSV. The first line names the columns, with `calls` among them. If it is the
// only column, each row is the next bin. Otherwise `bin` is the bin's index, and rows of the same
// bin add up. Fields are not quoted. Only rows that pass all `filters` count, but all rows decide
// the number of bins. INVALID_ARGUMENT names the fault and its line, also if no calls are left.
// Pure. REQUIRES: bin_ns > 0.
absl::StatusOr<Trace> ParseTrace(const std::string& csv, const std::vector<TraceFilter>& filters,
                                 int64_t bin_ns);

}  // namespace mpsd::traffic
