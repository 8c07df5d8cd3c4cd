// MacChecklist: checks that need a Mac with a gpu. The first ones tell most.
//
// A test compares this list with the table of docs/macos.md. A row's number is its place: reports
// say "check 7".
#pragma once

#include <string>
#include <vector>

namespace mpsd {

// Markdown: code stands between backticks. A value.
struct MacCheck {
  std::string command;
  std::string must_print;
};

// Numbered from 1. Pure.
std::vector<MacCheck> MacChecklist();

// For a terminal. The last line has the command for the report. Pure.
std::string MacChecklistText();

}  // namespace mpsd
