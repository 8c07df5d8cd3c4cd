// Reads one model of a config document.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proto/link/json_object.h"
#include "server/config/config.h"

namespace mpsd {

// Thread-compatible. `folder` is where relative paths start from; the queue is held to `limits`.
// Reports every mistake to `errors`; the result is whole only when there was none.
ModelConfig ReadModelConfig(const nlohmann::json& json, const std::string& path,
                            const std::string& folder, const LimitsConfig& limits,
                            JsonErrors* errors);

// What is wrong with a name under which clients find something; empty when nothing is.
std::string ServableNameFault(std::string_view name);

// The format that a model file's suffix tells.
std::optional<ModelFormat> FormatOfFile(const std::string& path);

// What is wrong with a file that is to be read; empty when nothing is.
std::string FileFault(const std::string& path);

}  // namespace mpsd
