// The file of tokens: each line has a token's name and the SHA-256 of its text in hex.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/access_rules.h"

namespace mpsd {

// Read when the daemon starts and when SIGHUP makes it read its config again; a call never waits
// for a file. A file with a mistake is refused whole: at the start the daemon ends and names the
// line, at a reload the rules in force stay.
//
//   # who       what `printf %s TOKEN | sha256sum` prints
//   embedder    9f86d081…0a08

// Parses a file's text. Skips empty lines and lines that begin with #. INVALID_ARGUMENT "line 3: …"
// for the first mistake: a bad or repeated name or digest, more than kMaxAccessTokens tokens. Pure.
absl::StatusOr<std::vector<AccessToken>> ParseTokens(absl::string_view text);

// Reads the tokens of a file of at most 256 KiB. PERMISSION_DENIED if another user than this one
// and root owns the file, or others can read or write it: the digests may then not be the
// operator's. NOT_FOUND if it cannot be read, else as ParseTokens(). Judges the file that it has
// opened, so that nobody can exchange it in between. Does not wait for the writer of a named pipe.
// The errors name the path and are for operators. Thread-safe.
absl::StatusOr<std::vector<AccessToken>> ReadTokenFile(const std::string& path);

// The text of such a file, with the same errors, unparsed: for an edit.
absl::StatusOr<std::string> ReadTokenText(const std::string& path);

// Faults in the owner or mode of a file with a secret, such as a private key that is opened later;
// empty if there are none or no such file. No bit of `denied_mode` may be set. The text names the
// path. Thread-safe.
std::string SecretFileFault(const std::string& path, unsigned denied_mode);

}  // namespace mpsd
