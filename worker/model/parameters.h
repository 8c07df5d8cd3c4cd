// ReadParameters: reads a model's `parameters` from the config, key by key.
//
// The config passes a model's parameters to the worker unread, in LoadOrder::parameters. Each
// format's loader turns them into a struct of options (TorchOptions, SyntheticOptions), with one
// function that knows its keys:
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

// Calls `read` for each parameter, in the order of the keys, until one is refused. Then returns
// INVALID_ARGUMENT "parameters.KEY: ", followed by the text of `read`'s error, for the operator.
// Some parameters are for clients only: `read` returns OK for unknown keys, unless the format
// forbids them. Thread-safe.
absl::Status ReadParameters(
    const std::map<std::string, std::string>& parameters,
    absl::FunctionRef<absl::Status(const std::string& key, const std::string& text)> read);

}  // namespace mpsd
