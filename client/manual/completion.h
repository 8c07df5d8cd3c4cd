// Completion: scripts that have a shell complete the verbs and flags of `mpsd`.
//
// A script needs no `mpsd` while it completes: everything lies in its text. It completes verbs,
// flags, the values of flags that have a known list, and the paths of flags that take a path. It
// asks no server for its models.
#pragma once

#include <string>

#include "client/manual/command_table.h"

namespace mpsd::cli {

// All are pure and thread-safe.

// For bash from 3.2 on, which a Mac has. `source <(mpsd completion bash)` takes effect at once.
std::string BashCompletion(const CommandTable& table);

// For zsh, as a file `_mpsd` in a folder of `fpath`, or by `source <(mpsd completion zsh)`.
std::string ZshCompletion(const CommandTable& table);

// For fish from 3.0 on, as `mpsd.fish` in a folder of completions, or by `mpsd completion fish |
// source`.
std::string FishCompletion(const CommandTable& table);

}  // namespace mpsd::cli
