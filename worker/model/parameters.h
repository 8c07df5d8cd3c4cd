// Parameters: a model's `parameters` in the config, read key by key.
#pragma once

#include <map>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace mpsd {

// Calls `read` for each of them until one is refused, whose status then names it.
absl::Status ReadParameters(
    const std::map<std::string, std::string>& parameters,
    absl::FunctionRef<absl::Status(const std::string& key, const std::string& text)> read);

}  // namespace mpsd
