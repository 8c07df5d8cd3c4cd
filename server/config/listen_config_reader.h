// Reads where a config document says that the daemon is reached.
#pragma once

#include <string>

#include "proto/link/json_object.h"
#include "server/config/config.h"

namespace mpsd {

// Thread-compatible. `json` is the value of `listen`. Relative paths start from `folder`. A key
// that is not there keeps what `listen` holds. Reports every mistake to `errors`; `listen` is whole
// only when there was none.
void ReadListenConfig(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                      ListenConfig* listen);

}  // namespace mpsd
