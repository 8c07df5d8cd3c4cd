// graphemes: where one user-perceived character ends and the next begins.
//
//   "e" and an accent are one; so are a Hangul syllable in parts, and two emoji with a joiner
//
// Unicode's extended grapheme clusters, with the classes of the library `tokenizers`. A flag counts
// as two: Precompiled, the only caller, takes anything of 6 bytes or more apart.
#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"

namespace mpsd::text {

// Pure, thread-safe. REQUIRES: valid UTF-8, and a grapheme begins at `begin` < text.size().
size_t GraphemeEnd(absl::string_view text, size_t begin);

}  // namespace mpsd::text
