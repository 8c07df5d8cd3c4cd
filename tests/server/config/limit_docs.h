// The texts about a limit in config/README.md, config/schema.json and config/reference.json.
#pragma once

#include <string>

#include "nlohmann/json.hpp"
#include "server/config/limit_keys.h"

namespace mpsd {

// A value of the limit as a config writes it: "64MiB", "30s", 128, true; "auto" where 0 is that.
nlohmann::json LimitJson(const LimitKey& limit, uint64_t value);

// The row of the table in config/README.md.
std::string LimitReadmeRow(const LimitKey& limit);

// The property in config/schema.json, without its key.
nlohmann::ordered_json LimitSchema(const LimitKey& limit);

// The member in config/reference.json with its comment.
std::string LimitReference(const LimitKey& limit);

}  // namespace mpsd
