// forms: Unicode's four normal forms, with the tables of the library `tokenizers`.
//
//   "é" in one character   ──kNfd──▶  "e" and an accent   ──kNfc──▶  "é" in one character
//   "ﬁ"                    ──kNfkd──▶ "fi"
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::text {

enum class Form { kNfc, kNfd, kNfkc, kNfkd };

// ASCII only costs a copy. Takes 4 bytes for each byte of the text, and up to 18 characters for
// each character. REQUIRES: valid UTF-8. Pure, thread-safe.
void AppendForm(Form form, absl::string_view text, std::string* normalized);

}  // namespace mpsd::text
