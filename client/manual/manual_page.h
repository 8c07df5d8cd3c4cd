// ManualPage: the manual pages of `mpsd`, in the macros man(7).
//
//   mpsd(1), mpsd-serve(1), …   made of the table of the command line
//   mpsd.json(5)                made of the config's JSON Schema
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "client/manual/command_table.h"

namespace mpsd::cli {

// Each page has these at top and bottom. Plain data.
struct PageFacts {
  std::string version;
  std::string date;  // as 2026-01-31
};

// All are pure and thread-safe. A line of a text is never read as a macro.

// Verbs, flags before a verb, exit codes.
std::string ProgramPage(const CommandTable& table, const PageFacts& facts);

// The page has words, flags and examples.
std::string VerbPage(const VerbRow& verb, const PageFacts& facts);

// Every key with type, bounds and default. REQUIRES: `schema` is config/schema.json.
std::string ConfigPage(absl::string_view schema, const PageFacts& facts);

}  // namespace mpsd::cli
