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

// A trace has no more bins, and a bin no more calls.
inline constexpr uint32_t kBinsMax = 100'000;
inline constexpr uint32_t kCallsMax = 10'000'000;

// Constant once read.
struct Trace {
  std::vector<uint32_t> calls;  // by bin
  int64_t bin_ns = 0;

  // REQUIRES: there are bins, and bin_ns is above 0.
  double CallsPerSecond() const;
};

// A CSV file's column, and the value that a row needs there to count.
struct TraceFilter {
  std::string column;
  std::string value;
};

// The first line names the columns, with `calls` among them. If it is alone, each row is the next
// bin. Otherwise `bin` is the bin's index, and rows of one bin add up. Fields are not quoted. Rows
// that fail a filter count only for the number of bins. INVALID_ARGUMENT names the fault and its
// line, also if no calls are left. Pure. REQUIRES: bin_ns > 0.
absl::StatusOr<Trace> ParseTrace(const std::string& csv, const std::vector<TraceFilter>& filters,
                                 int64_t bin_ns);

}  // namespace mpsd::traffic
