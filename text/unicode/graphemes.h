// graphemes: where one user-perceived character ends and the next begins.
//
//   "e" and an accent are one; so are a Hangul syllable in parts, and two emoji with a joiner
//
// The rules of Unicode's extended grapheme clusters, with the classes of the library `tokenizers`.
// A flag of two regional indicators counts as two, which makes no difference: Precompiled
// (text/normalize), the only caller, takes anything of 6 bytes or more apart.
#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"

namespace mpsd::text {

// The end of the grapheme that begins at `begin`. Pure, thread-safe. REQUIRES: valid UTF-8, and a
// grapheme begins at `begin` < text.size().
size_t GraphemeEnd(absl::string_view text, size_t begin);

}  // namespace mpsd::text
