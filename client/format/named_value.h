// named_value: options of the form NAME=VALUE. All pure and thread-safe.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/shape.h"

namespace mpsd::cli {

// The rest is a view into `value`, empty without a '='.
std::pair<std::string, absl::string_view> SplitName(absl::string_view value);

// INVALID_ARGUMENT "--option value: wanted is expected".
absl::Status WrongOption(absl::string_view option, absl::string_view value,
                         absl::string_view wanted);

// Parses "NAME=1,16": no dim below 0, at most kMaxRank dims after the batch dim.
absl::StatusOr<std::pair<std::string, Dims>> ParseShape(const std::string& value);

}  // namespace mpsd::cli
