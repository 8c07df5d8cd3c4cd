// Says where a text stops being JSON.
#pragma once

#include <string>
#include <string_view>

namespace mpsd {

// "3: is not JSON: unexpected …": the line, from 1, and what the parser says. REQUIRES: `text`,
// whose comments are left out, is not JSON. Pure.
std::string JsonSyntaxError(std::string_view text);

}  // namespace mpsd
