// The file of tokens: a line a token, its name and the SHA-256 of its text in hex.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/access_rules.h"

namespace mpsd {

// "embedder 9f86d081…0a08", blanks between; lines that begin with # and empty ones are left out.
// INVALID_ARGUMENT "line 3: …" for the first mistake: a name or a digest that is none, one that
// stands twice, more than kMaxAccessTokens. Pure.
absl::StatusOr<std::vector<AccessToken>> ParseTokens(absl::string_view text);

// The tokens of a file that belongs to this user or to root and that nobody else can read or write.
// The errors name the path. Thread-safe.
absl::StatusOr<std::vector<AccessToken>> ReadTokenFile(const std::string& path);

// What is wrong with the owner or the mode of a file that holds a secret; empty when nothing is, or
// when there is no such file. `denied_mode` are the bits that must not be set. Thread-safe.
std::string SecretFileFault(const std::string& path, unsigned denied_mode);

}  // namespace mpsd
