// ReadParameters: reads a model's `parameters` from the config, key by key.
//
//   absl::Status status = ReadParameters(order.parameters, [&](const auto& key, const auto& text) {
//     if (key == "self_check") return ReadChoice(text, "off", "on", &options.self_check);
//     return absl::OkStatus();  // a key for clients
//   });
#pragma once

#include <map>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace mpsd {

// Calls `read` in the order of the keys, until one is refused: INVALID_ARGUMENT "parameters.KEY: "
// and the text of its error. `read` returns OK for unknown keys, which are for clients, unless the
// format forbids them. Thread-safe.
absl::Status ReadParameters(
    const std::map<std::string, std::string>& parameters,
    absl::FunctionRef<absl::Status(const std::string& key, const std::string& text)> read);

}  // namespace mpsd
