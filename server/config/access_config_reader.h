// Reads who may do what, as a config document says it.
#pragma once

#include <string>

#include "proto/link/json_object.h"
#include "server/config/config.h"

namespace mpsd {

// Thread-compatible. Reads the file of tokens too. `folder` is where relative paths start from.
// Reports every mistake to `errors`; `access` is whole only when there was none.
void ReadAccessConfig(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                      AccessRules* access);

// Reports each address by which everybody on the network would get in without this being said, and
// rules that can never speak of anybody. REQUIRES: `listen` and `access` of `config` were read.
void CheckWhoGetsIn(const Config& config, JsonErrors* errors);

}  // namespace mpsd
