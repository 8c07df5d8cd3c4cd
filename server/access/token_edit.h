// TokenEdit: changes to the file of tokens.
//
// A daemon may read the file at any moment, and it may have an operator's comments. So an edit
// touches one line, and the file is exchanged as a whole.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// 64 hex digits. INTERNAL only if the cryptographic library fails.
absl::StatusOr<std::string> NewToken();

// Adds a line with the token's digest. ALREADY_EXISTS for a known name, else as ParseTokens().
// Pure.
absl::StatusOr<std::string> WithToken(absl::string_view text, absl::string_view name,
                                      absl::string_view token);

// NOT_FOUND without such a line. Pure.
absl::StatusOr<std::string> WithoutToken(absl::string_view text, absl::string_view name);

// Replaces the file, with mode 0600 and the owner that it had; a missing file has the text "".
// Readers see the old file or the new one, also after a crash. Edits wait for each other. Errors of
// `edit` and ReadTokenFile(); UNAVAILABLE names a path that cannot be written. Thread-safe.
using TokenTextEdit = std::function<absl::StatusOr<std::string>(absl::string_view text)>;
absl::Status EditTokenFile(const std::string& path, const TokenTextEdit& edit);

}  // namespace mpsd
