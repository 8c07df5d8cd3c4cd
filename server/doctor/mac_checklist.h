// MacChecklist: checks that need a person with a Mac, as commands and their expected output.
//
// `mpsd doctor --mac-checklist` prints this list; docs/macos.md shows the same table, and a test
// compares them. A row's number is its place, which it keeps: reports and documents refer to "check
// 7".
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

// The list for a terminal: number, command, and below it the expected output. Pure.
std::string MacChecklistText();

}  // namespace mpsd
