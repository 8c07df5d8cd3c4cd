// The file of tokens: each line has the name of a token and the SHA-256 of its text in hex.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/access_rules.h"

namespace mpsd {

// Parses lines of the form "embedder 9f86d081…0a08". Skips empty lines and lines that begin with #.
// INVALID_ARGUMENT "line 3: …" for the first mistake: a bad name or digest, a name or digest that
// stands twice, more than kMaxAccessTokens tokens. Pure.
absl::StatusOr<std::vector<AccessToken>> ParseTokens(absl::string_view text);

// Reads the tokens of a file. Refuses a file that belongs to a user other than this one and root,
// or that others can read or write. The errors name the path. Thread-safe.
absl::StatusOr<std::vector<AccessToken>> ReadTokenFile(const std::string& path);

// What is wrong with the owner or the mode of a file that holds a secret; empty if nothing is wrong
// or there is no such file. No bit of `denied_mode` may be set. Thread-safe.
std::string SecretFileFault(const std::string& path, unsigned denied_mode);

}  // namespace mpsd
