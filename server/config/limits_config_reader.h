// Reads the bounds of the whole daemon that a config document sets.
#pragma once

#include "proto/link/json_object.h"
#include "server/config/limits_config.h"

namespace mpsd {

// Thread-compatible. `json` is the value of `limits`. A limit that is not there keeps what `limits`
// holds. Reports every mistake to `errors`; `limits` is whole only when there was none.
void ReadLimitsConfig(const nlohmann::json& json, JsonErrors* errors, LimitsConfig* limits);

}  // namespace mpsd
