// ManualVerbs: `completion` and `man`, which print texts made of the command line's own table.
//
// They need no daemon. All are called on main's thread.
#pragma once

#include <ostream>
#include <string>

#include "absl/strings/string_view.h"
#include "client/manual/command_table.h"

namespace mpsd::cli {

// The options as they stand on the command line.
struct ManualOptions {
  std::string page;    // a verb, or "mpsd.json"; empty: the page of the program
  std::string folder;  // not empty: all pages are written there, and none to stdout
};

// Prints the script of "bash", "zsh" or "fish". Returns an exit code of exit_code.h. REQUIRES: the
// shell is one of these.
int RunCompletion(const std::string& shell, const CommandTable& table, std::ostream& out,
                  std::ostream& err);

// Prints a page, or writes them all: mpsd.1, mpsd-VERB.1 for each verb, mpsd.json.5. A page has
// the date of SOURCE_DATE_EPOCH in the environment, else today's. kExitUsage where there is no
// such page, kExitCannotWrite where a file cannot be written. REQUIRES: `schema` is
// config/schema.json.
int RunManual(const ManualOptions& options, const CommandTable& table, absl::string_view schema,
              std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
