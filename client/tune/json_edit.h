// json_edit: changes single values in a JSON text that a person has written, and leaves its
// comments, order and layout as they are.
//
//   { "lanes": 1,  // one        after: lanes 2, threads 4       { "lanes": 2,  // one
//     "name": "m" }              ────────────────────────▶         "name": "m", "threads": 4 }
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace mpsd::tune {

// `text`, changed so that it says `after`. Members that are new stand behind those of their object.
// What says so without the comments, where `after` cannot be had in this way, such as when a member
// is gone. REQUIRES: `text` is JSON with comments. Pure, thread-safe.
std::string EditedJson(absl::string_view text, const nlohmann::ordered_json& after);

}  // namespace mpsd::tune
