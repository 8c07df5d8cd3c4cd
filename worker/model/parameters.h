// ReadParameters: reads a model's `parameters` from the config, key by key.
#pragma once

#include <map>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace mpsd {

// Calls `read` for each parameter, in the order of the keys, until one is refused. The returned
// status names the refused key. Parameters exist for clients too: `read` returns OK for keys that
// it does not know, unless the format forbids them.
absl::Status ReadParameters(
    const std::map<std::string, std::string>& parameters,
    absl::FunctionRef<absl::Status(const std::string& key, const std::string& text)> read);

}  // namespace mpsd
