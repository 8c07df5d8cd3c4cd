// ConfigReader: reads a config document that is JSON already. The rest of the daemon sees config.h.
#pragma once

#include <string>

#include "proto/link/json_object.h"
#include "server/config/config.h"

namespace mpsd {

// Thread-compatible. `folder` is absolute; relative paths of the document start from it. Reports
// every mistake to `errors`; `config` is whole only when there was none.
void ReadConfigDocument(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                        Config* config);

// `path` made absolute, from `folder` where it is relative, without "." and "..".
std::string ResolvePath(const std::string& folder, const std::string& path);

}  // namespace mpsd
