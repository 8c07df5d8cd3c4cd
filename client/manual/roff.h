// Roff: the few macros of man(7) that the manual pages need. All pure and thread-safe.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::cli {

// No character is a command, and a '-' can be copied from the page.
std::string RoffText(absl::string_view text);

std::string RoffBold(absl::string_view text);
std::string RoffItalic(absl::string_view text);

// Begins a section.
std::string RoffSection(absl::string_view title);

// `text` is indented below `term`, which is roff already. An empty text leaves no space.
std::string RoffItem(absl::string_view term, absl::string_view text);

// Lines keep their breaks.
std::string RoffLines(absl::string_view lines);

}  // namespace mpsd::cli
