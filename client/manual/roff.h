// Roff: the few macros of man(7) that the manual pages need. Pure functions, all thread-safe.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::cli {

// Text as it stands: no character of it is a command, and a '-' can be copied from the page.
std::string RoffText(absl::string_view text);

std::string RoffBold(absl::string_view text);
std::string RoffItalic(absl::string_view text);

// A line that begins a section.
std::string RoffSection(absl::string_view title);

// A term with its text, indented below. `term` is roff already, `text` is not. No text leaves no
// space.
std::string RoffItem(absl::string_view term, absl::string_view text);

// Lines that keep their breaks.
std::string RoffLines(absl::string_view lines);

}  // namespace mpsd::cli
