// The file of tokens: each line has the name of a token and the SHA-256 of its text in hex.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/access_rules.h"

namespace mpsd {

// Read when the daemon starts and when SIGHUP has it read its config again; a call never waits for
// a file. A file with a mistake is refused whole: at the start the daemon ends and names the line,
// at a reload the rules in force stay.
//
//   # who       what `printf %s TOKEN | sha256sum` prints
//   embedder    9f86d081…0a08

// Parses the text of a file. Skips empty lines and lines that begin with #. INVALID_ARGUMENT
// "line 3: …" for the first mistake: a bad name or digest, a name or digest that stands twice, more
// than kMaxAccessTokens tokens. Pure.
absl::StatusOr<std::vector<AccessToken>> ParseTokens(absl::string_view text);

// Reads the tokens of a file of at most 256 KiB. PERMISSION_DENIED for a file that belongs to a
// user other than this one and root, or that others can read or write: then the digests may not be
// the operator's. NOT_FOUND where it cannot be read, else as ParseTokens() does. Opens the file
// once and judges what it has opened, so that nobody can exchange it in between; does not wait for
// the writer of a named pipe. The errors name the path and are for operators. Thread-safe.
absl::StatusOr<std::vector<AccessToken>> ReadTokenFile(const std::string& path);

// The text of such a file, with the same errors, unparsed: for an edit.
absl::StatusOr<std::string> ReadTokenText(const std::string& path);

// What is wrong with the owner or the mode of a file that holds a secret, such as a private key
// that somebody else opens later; empty if nothing is wrong or there is no such file. No bit of
// `denied_mode` may be set. The text names the path. Thread-safe.
std::string SecretFileFault(const std::string& path, unsigned denied_mode);

}  // namespace mpsd
