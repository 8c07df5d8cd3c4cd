// forms: Unicode's four normal forms, with the tables of the library `tokenizers`.
//
//   "é" in one character   ──kNfd──▶  "e" and an accent   ──kNfc──▶  "é" in one character
//   "ﬁ"                    ──kNfkd──▶ "fi"
//
// Normalizers (text/normalize) call these for each text, after ValidUtf8(). Pure, thread-safe.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::text {

enum class Form { kNfc, kNfd, kNfkc, kNfkd };

// Appends `text` in that form. ASCII stays unchanged, and costs a copy. Memory: 4 bytes for each
// byte of the text, and up to 18 characters for each character. REQUIRES: valid UTF-8.
void AppendForm(Form form, absl::string_view text, std::string* normalized);

}  // namespace mpsd::text
