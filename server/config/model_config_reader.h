// Reads one model of a config document.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proto/link/json_object.h"
#include "server/config/config.h"

namespace mpsd {

// Thread-compatible. `json` is the element of `models` at `path`. Relative paths start from
// `folder`. The queue must fit `limits`. Reports every mistake to `errors`; the result is whole
// only when there was none.
ModelConfig ReadModelConfig(const nlohmann::json& json, const std::string& path,
                            const std::string& folder, const LimitsConfig& limits,
                            JsonErrors* errors);

// The format that the suffix of a model's file tells; nothing for another suffix.
std::optional<ModelFormat> FormatOfFile(const std::string& path);

}  // namespace mpsd
