// Reads who may do what from a config document.
#pragma once

#include <string>

#include "proto/link/json_object.h"
#include "server/config/config.h"

namespace mpsd {

// Thread-compatible. `json` is the value of `access`. Reads the file of tokens too. Relative paths
// start from `folder`. Reports every mistake to `errors`; `access` is whole only when there was
// none.
void ReadAccessConfig(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                      AccessRules* access);

// Reports each address that would let in every other host although the config does not say so, and
// each rule that can never apply to a caller. REQUIRES: `listen` and `access` of `config` were
// read.
void CheckWhoGetsIn(const Config& config, JsonErrors* errors);

}  // namespace mpsd
