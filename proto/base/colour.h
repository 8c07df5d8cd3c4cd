// Colour: colours of a text on a terminal.
//
// A verb asks once whether its output takes colours, and hands the answer on, so that making the
// text stays pure.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd {

enum class Colour { kNone, kGreen, kYellow, kRed };

// True for a terminal, unless the environment has NO_COLOR, or TERM is "dumb". Thread-safe as long
// as nobody changes the environment.
bool TakesColours(int fd);

// Unchanged if not `colours`. Pure.
std::string Coloured(absl::string_view text, Colour colour, bool colours);

}  // namespace mpsd
