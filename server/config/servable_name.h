// The names by which clients find a model or the server.
#pragma once

#include <string>
#include <string_view>

namespace mpsd {

// What is wrong with such a name, as a sentence without a subject; empty when nothing is. A name
// has 1 to kMaxNameBytes letters, digits, '.', '_' or '-', and begins with a letter or a digit.
std::string ServableNameFault(std::string_view name);

}  // namespace mpsd
