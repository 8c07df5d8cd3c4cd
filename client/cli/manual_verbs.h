// ManualVerbs: `completion` and `man`, made of the command line's own table. Called on main's
// thread.
#pragma once

#include <ostream>
#include <string>

#include "absl/strings/string_view.h"
#include "client/manual/command_table.h"

namespace mpsd::cli {

struct ManualOptions {
  std::string page;    // a verb, or "mpsd.json"; empty: the program
  std::string folder;  // not empty: all pages are written there
};

// Returns an ExitCode. REQUIRES: the shell is "bash", "zsh" or "fish".
int RunCompletion(const std::string& shell, const CommandTable& table, std::ostream& out,
                  std::ostream& err);

// Prints a page, or writes them all: mpsd.1, mpsd-VERB.1 for each verb, mpsd.json.5. The date is
// SOURCE_DATE_EPOCH in the environment, else today's. kExitUsage: no such page. kExitCannotWrite: a
// file. REQUIRES: `schema` is config/schema.json.
int RunManual(const ManualOptions& options, const CommandTable& table, absl::string_view schema,
              std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
