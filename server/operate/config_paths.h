// ConfigPaths: where a daemon's files are, by its config.
//
// Operators' verbs must work while the config has mistakes: nothing else is read or checked.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mpsd {

// Paths are absolute; empty without the key. Plain data.
struct ConfigPaths {
  std::string config;  // empty: there is none
  std::string state_dir;
  std::string log;                       // log.file
  std::string tokens;                    // access.tokens
  std::vector<std::string> token_rules;  // the tokens that access.rules name
};

// Reads `config`, or the one that `mpsd serve` would find; all is empty without any. NOT_FOUND if a
// named file cannot be read, INVALID_ARGUMENT if it is no JSON. Thread-safe.
absl::StatusOr<ConfigPaths> ReadConfigPaths(const std::string& config);

}  // namespace mpsd
