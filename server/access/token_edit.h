// TokenEdit: changes to the file of tokens, whose form token_file.h has.
//
// A daemon may read the file at any moment, and an operator may have written comments into it. So
// an edit touches one line, and the file is exchanged as a whole.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// A token that nobody can guess: 64 hex digits. INTERNAL only if the cryptographic library fails.
absl::StatusOr<std::string> NewToken();

// The text with a further line for this token, of which only the digest is kept. ALREADY_EXISTS for
// a name that is there, else as ParseTokens(). Pure.
absl::StatusOr<std::string> WithToken(absl::string_view text, absl::string_view name,
                                      absl::string_view token);

// The text without the line of this token. NOT_FOUND where there is none. Pure.
absl::StatusOr<std::string> WithoutToken(absl::string_view text, absl::string_view name);

// Replaces the file at `path` by what `edit` makes of its text, with mode 0600 and the owner that
// it had; a missing file has the text "". Readers see the old file or the new one, never a part,
// and after a crash one of the two is there. Edits at one time wait for each other. Errors of
// `edit`, and of ReadTokenFile() for a file that is there; UNAVAILABLE names the path where it
// cannot be written. Thread-safe.
using TokenTextEdit = std::function<absl::StatusOr<std::string>(absl::string_view text)>;
absl::Status EditTokenFile(const std::string& path, const TokenTextEdit& edit);

}  // namespace mpsd
