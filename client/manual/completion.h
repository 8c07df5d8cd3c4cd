// Completion: scripts that have a shell complete the verbs and flags of `mpsd`, known values, and
// paths.
//
// A script needs no `mpsd` while it completes, and asks no server for its models.
#pragma once

#include <string>

#include "client/manual/command_table.h"

namespace mpsd::cli {

// All are pure and thread-safe.

// From bash 3.2 on, which a Mac has: `source <(mpsd completion bash)`.
std::string BashCompletion(const CommandTable& table);

// A file `_mpsd` in a folder of `fpath`, or `source <(mpsd completion zsh)`.
std::string ZshCompletion(const CommandTable& table);

// From fish 3.0 on: `mpsd.fish` in a folder of completions, or `mpsd completion fish | source`.
std::string FishCompletion(const CommandTable& table);

}  // namespace mpsd::cli
