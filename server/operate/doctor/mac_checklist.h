// MacChecklist: checks that need a Mac with a gpu, as commands and their expected output. The first
// ones tell most. A Mac without a gpu makes all other checks (.github/workflows/macos.yml).
//
// `mpsd doctor --mac-checklist` prints this list; docs/macos.md shows the same table, and a test
// compares them. A row's number is its place: reports and documents refer to "check 7".
#pragma once

#include <string>
#include <vector>

namespace mpsd {

// A value. Both texts are Markdown: code stands between backticks.
struct MacCheck {
  std::string command;
  std::string must_print;
};

// The checks, numbered from 1. Pure.
std::vector<MacCheck> MacChecklist();

// The list for a terminal: number, command, and below it the expected output. The last line has the
// command for the report. Pure.
std::string MacChecklistText();

}  // namespace mpsd
