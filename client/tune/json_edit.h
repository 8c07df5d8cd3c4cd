// json_edit: changes single values in a JSON text, and leaves comments, order and layout.
//
//   { "lanes": 1,  // one        after: lanes 2, threads 4       { "lanes": 2,  // one
//     "name": "m" }              ────────────────────────▶         "name": "m", "threads": 4 }
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace mpsd::tune {

// New members stand last in their object. If edits cannot produce `after`, for example because a
// member is gone, returns `after` without comments. REQUIRES: `text` is JSON with comments. Pure,
// thread-safe.
std::string EditedJson(absl::string_view text, const nlohmann::ordered_json& after);

}  // namespace mpsd::tune
