// Reads a config document that is JSON already. The rest of the daemon sees config.h.
#pragma once

#include <string>

#include "proto/link/json_object.h"
#include "server/config/config.h"

namespace mpsd {

// Thread-compatible. `folder` is absolute; relative paths of the document start from it. Looks at
// the files that the document names. Reports every mistake to `errors`; `config` is whole only when
// there was none.
void ReadConfigDocument(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                        Config* config);

}  // namespace mpsd
