// ConfigPaths: where the files of a running daemon are, as its config says.
//
// For an operator's verbs, which must also work while the config has mistakes: only what they need
// is read, and nothing is checked.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mpsd {

// Paths are absolute; empty where the config has no such key. Plain data.
struct ConfigPaths {
  std::string config;  // the file itself; empty: there is none
  std::string state_dir;
  std::string log;                       // log.file
  std::string tokens;                    // access.tokens
  std::vector<std::string> token_rules;  // the tokens that access.rules name
};

// Reads `config`, or the one that `mpsd serve` would find; all is empty where there is none.
// NOT_FOUND where a file that was named cannot be read, INVALID_ARGUMENT where it is no JSON.
// Thread-safe.
absl::StatusOr<ConfigPaths> ReadConfigPaths(const std::string& config);

}  // namespace mpsd
