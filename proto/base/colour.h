// Colour: colours of a text on a terminal.
//
// A verb asks once whether its output takes colours, and hands the answer on as a bool: what makes
// the text stays pure. Texts for files, pipes and programs never have colours.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd {

enum class Colour { kNone, kGreen, kYellow, kRed };

// Whether `fd` is a terminal that takes colours. Never where NO_COLOR in the environment is not
// empty, or TERM is "dumb". Thread-safe as long as nobody changes the environment.
bool TakesColours(int fd);

// The text in a colour; as it is where `colours` is false. Pure.
std::string Coloured(absl::string_view text, Colour colour, bool colours);

}  // namespace mpsd
