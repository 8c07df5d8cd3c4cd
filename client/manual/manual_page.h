// ManualPage: the manual pages of `mpsd`, in the macros man(7) that every `man` reads.
//
//   mpsd(1), mpsd-serve(1), …   made of the table of the command line
//   mpsd.json(5)                made of the config's JSON Schema
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "client/manual/command_table.h"

namespace mpsd::cli {

// The text at the top and the bottom of each page. Plain data.
struct PageFacts {
  std::string version;
  std::string date;  // as 2026-01-31
};

// All are pure and thread-safe. Texts may have any characters: a line of a text is never read as a
// macro.

// mpsd(1): the verbs, the flags before a verb, the exit codes.
std::string ProgramPage(const CommandTable& table, const PageFacts& facts);

// mpsd-VERB(1): the verb's words and flags, its examples.
std::string VerbPage(const VerbRow& verb, const PageFacts& facts);

// mpsd.json(5): every key with its type, its bounds and its default. REQUIRES: `schema` is
// config/schema.json.
std::string ConfigPage(absl::string_view schema, const PageFacts& facts);

}  // namespace mpsd::cli
