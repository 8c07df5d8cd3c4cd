// OneLine: JSON as one line of a log.
#pragma once

#include <string>

#include "nlohmann/json.hpp"

namespace mpsd {

// Texts that clients chose need not be UTF-8: what is not becomes U+FFFD. Pure.
inline std::string OneLine(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace mpsd
