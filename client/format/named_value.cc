#include "client/format/named_value.h"

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/base/limits.h"

namespace mpsd::cli {

std::pair<std::string, absl::string_view> SplitName(absl::string_view value) {
  return absl::StrSplit(value, absl::MaxSplits('=', 1));
}

absl::Status WrongOption(absl::string_view option, absl::string_view value,
                         absl::string_view wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", option, " ", value, ": ", wanted, " is expected"));
}

absl::StatusOr<std::pair<std::string, Dims>> ParseShape(const std::string& value) {
  const auto [name, list] = SplitName(value);
  if (name.empty() || list.empty()) return WrongOption("shape", value, "NAME=1,16");
  Dims dims;
  for (const absl::string_view item : absl::StrSplit(list, ',')) {
    int64_t dim = 0;
    if (!absl::SimpleAtoi(item, &dim) || dim < 0 || dims.size() > kMaxRank) {
      return WrongOption("shape", value, "NAME=1,16");
    }
    dims.push_back(dim);
  }
  return std::make_pair(name, dims);
}

}  // namespace mpsd::cli
