#include "client/traffic/trace.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"

namespace mpsd::traffic {
namespace {

using Fields = std::vector<absl::string_view>;

Fields SplitFields(absl::string_view line) {
  Fields fields = absl::StrSplit(line, ',');
  for (absl::string_view& field : fields) field = absl::StripAsciiWhitespace(field);
  return fields;
}

std::optional<size_t> Find(const Fields& columns, absl::string_view name) {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<size_t>(found - columns.begin());
}

// Reads the lines below the names.
class RowReader {
 public:
  static absl::StatusOr<RowReader> Make(Fields columns, const std::vector<TraceFilter>& filters) {
    RowReader reader;
    const std::optional<size_t> calls = Find(columns, "calls");
    if (!calls) return absl::InvalidArgumentError("there is no column 'calls'");
    reader.calls_at_ = *calls;
    reader.bin_at_ = Find(columns, "bin");
    if (!reader.bin_at_ && columns.size() > 1) {
      return absl::InvalidArgumentError("beside other columns there must be one called 'bin'");
    }
    for (const TraceFilter& filter : filters) {
      const std::optional<size_t> at = Find(columns, filter.column);
      if (!at) return absl::InvalidArgumentError(absl::StrCat("no column '", filter.column, "'"));
      reader.wanted_.push_back({*at, filter.value});
    }
    reader.columns_ = std::move(columns);
    return reader;
  }

  absl::Status Add(absl::string_view line, std::vector<uint32_t>* calls) const {
    const Fields fields = SplitFields(line);
    if (fields.size() != columns_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(fields.size(), " fields instead of ", columns_.size()));
    }
    uint32_t count = 0;
    if (!absl::SimpleAtoi(fields[calls_at_], &count) || count > kCallsMax) {
      return absl::InvalidArgumentError(absl::StrCat("not a number of calls from 0 to ", kCallsMax,
                                                     ": '", fields[calls_at_], "'"));
    }
    size_t bin = calls->size();
    if (bin_at_ && !absl::SimpleAtoi(fields[*bin_at_], &bin)) {
      return absl::InvalidArgumentError(absl::StrCat("not a bin: '", fields[*bin_at_], "'"));
    }
    if (bin >= kBinsMax) {
      return absl::InvalidArgumentError(absl::StrCat("more than ", kBinsMax, " bins"));
    }
    calls->resize(std::max(calls->size(), bin + 1));
    uint32_t* sum = &(*calls)[bin];
    if (Passes(fields)) *sum = std::min(*sum + count, kCallsMax);
    return absl::OkStatus();
  }

 private:
  struct Wanted {
    size_t at;
    std::string value;
  };

  bool Passes(const Fields& fields) const {
    return std::all_of(wanted_.begin(), wanted_.end(),
                       [&](const Wanted& wanted) { return fields[wanted.at] == wanted.value; });
  }

  Fields columns_;
  size_t calls_at_ = 0;
  std::optional<size_t> bin_at_;
  std::vector<Wanted> wanted_;
};

absl::Status InLine(size_t number, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", status.message()));
}

bool HasCalls(const std::vector<uint32_t>& calls) {
  return std::any_of(calls.begin(), calls.end(), [](uint32_t count) { return count > 0; });
}

}  // namespace

double Trace::CallsPerSecond() const {
  MPSD_CHECK(!calls.empty());
  MPSD_CHECK(bin_ns > 0);
  const double all = std::accumulate(calls.begin(), calls.end(), 0.0);
  return all / static_cast<double>(calls.size()) / static_cast<double>(bin_ns) * kNsPerSecond;
}

absl::StatusOr<Trace> ParseTrace(const std::string& csv, const std::vector<TraceFilter>& filters,
                                 int64_t bin_ns) {
  MPSD_CHECK(bin_ns > 0);
  Trace trace;
  trace.bin_ns = bin_ns;
  std::optional<RowReader> rows;
  size_t number = 0;
  for (const absl::string_view whole : absl::StrSplit(csv, '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(whole);
    if (line.empty() || line.front() == '#') continue;
    if (!rows) {
      absl::StatusOr<RowReader> reader = RowReader::Make(SplitFields(line), filters);
      if (!reader.ok()) return InLine(number, reader.status());
      rows = *std::move(reader);
    } else if (const absl::Status added = rows->Add(line, &trace.calls); !added.ok()) {
      return InLine(number, added);
    }
  }
  if (!HasCalls(trace.calls)) return absl::InvalidArgumentError("there are no calls in it");
  return trace;
}

}  // namespace mpsd::traffic
