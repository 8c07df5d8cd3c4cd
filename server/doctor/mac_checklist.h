// MacChecklist: what only a person with a Mac can find out, as commands and what they must print.
//
// The one copy that `mpsd doctor --mac-checklist` prints; docs/macos.md shows the same table, which
// a test holds to this one. A row names its number in that table's order and keeps it: reports and
// the documents refer to "check 7".
#pragma once

#include <string>
#include <vector>

namespace mpsd {

// A value. Both texts are written as in Markdown: code stands between backticks.
struct MacCheck {
  std::string command;
  std::string must_print;
};

// The checks, of which the first has the number 1. Pure.
std::vector<MacCheck> MacChecklist();

// The list for a terminal: a number, the command, and below it what it must print. Pure.
std::string MacChecklistText();

}  // namespace mpsd
