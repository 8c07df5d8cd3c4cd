// graphemes: where one user-perceived character ends and the next begins.
//
//   "e" and an accent are one; so are a Hangul syllable in parts, and two emoji with a joiner
//
// The rules are those of Unicode's extended grapheme clusters, with the classes of the library
// `tokenizers`. Flags of two regional indicators are taken for two: nobody here can see it, since
// Precompiled (text/normalize), the only caller, takes anything of 6 bytes and more apart.
#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"

namespace mpsd::text {

// Where the grapheme ends that begins at `begin`. Pure, thread-safe. REQUIRES: valid UTF-8, and
// begin < text.size() is where a grapheme begins.
size_t GraphemeEnd(absl::string_view text, size_t begin);

}  // namespace mpsd::text
