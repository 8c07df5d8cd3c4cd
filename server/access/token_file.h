// TokenFile: each line has a token's name and the SHA-256 of its text in hex.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/access_rules.h"

namespace mpsd {

// A file with a mistake is refused whole: the start fails, a reload leaves the rules in force.
//
//   # who       what `printf %s TOKEN | sha256sum` prints
//   embedder    9f86d081…0a08

// Skips empty lines and lines that begin with #. INVALID_ARGUMENT "line 3: …" for a bad or repeated
// name or digest, or beyond kMaxAccessTokens. Pure.
absl::StatusOr<std::vector<AccessToken>> ParseTokens(absl::string_view text);

// At most 256 KiB. PERMISSION_DENIED unless this user or root owns the file, and nobody else can
// read or write it: the digests might not be the operator's. NOT_FOUND if it cannot be read, else
// as ParseTokens(). Judges the opened file, so that nobody can exchange it in between. Errors name
// the path and are for operators. Thread-safe.
absl::StatusOr<std::vector<AccessToken>> ReadTokenFile(const std::string& path);

// Unparsed, for an edit; with the same errors.
absl::StatusOr<std::string> ReadTokenText(const std::string& path);

// Faults in owner or mode of a secret file; empty if there are none or no such file. No bit of
// `denied_mode` may be set. The text names the path. Thread-safe.
std::string SecretFileFault(const std::string& path, unsigned denied_mode);

}  // namespace mpsd
