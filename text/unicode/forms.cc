#include "text/unicode/forms.h"

#include <algorithm>
#include <limits>

#include "text/unicode/characters.h"
#include "text/unicode/utf8.h"

namespace mpsd::text {
namespace {

// This holds for all of text/. Linux aarch64 has no sign unless the build asks for it.
static_assert(std::numeric_limits<char>::is_signed, "a byte of UTF-8 above 127 is negative");

bool IsAscii(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char byte) { return byte >= 0; });
}

// Sorts the marks between two characters that stay in place.
void SortMarks(std::u32string* text) {
  for (size_t start = 0; start < text->size(); ++start) {
    if (OrderOf((*text)[start]) == 0) continue;
    size_t end = start + 1;
    while (end < text->size() && OrderOf((*text)[end]) != 0) ++end;
    if (end - start > 1) {
      std::stable_sort(text->begin() + static_cast<int64_t>(start),
                       text->begin() + static_cast<int64_t>(end),
                       [](char32_t a, char32_t b) { return OrderOf(a) < OrderOf(b); });
    }
    start = end;
  }
}

// A mark of the same or a later order stands in the way.
void Compose(std::u32string* text) {
  size_t kept = 0;
  size_t starter = std::u32string::npos;
  uint8_t last_order = 0;
  for (size_t i = 0; i < text->size(); ++i) {
    const char32_t c = (*text)[i];
    const uint8_t order = OrderOf(c);
    const bool is_next = starter != std::u32string::npos && kept == starter + 1;
    if (starter != std::u32string::npos && (is_next || last_order < order)) {
      if (const char32_t composed = Composed((*text)[starter], c)) {
        (*text)[starter] = composed;
        continue;
      }
    }
    if (order == 0) starter = kept;
    last_order = order;
    (*text)[kept++] = c;
  }
  text->resize(kept);
}

}  // namespace

void AppendForm(Form form, absl::string_view text, std::string* normalized) {
  if (IsAscii(text)) {
    normalized->append(text.data(), text.size());
    return;
  }
  const bool is_canonical = form == Form::kNfc || form == Form::kNfd;
  std::u32string characters;
  characters.reserve(text.size());
  for (const char* at = text.data(); at != text.data() + text.size();) {
    AppendDecomposed(TakeCharacter(&at),
                     is_canonical ? Decomposition::kCanonical : Decomposition::kCompatibility,
                     &characters);
  }
  SortMarks(&characters);
  if (form == Form::kNfc || form == Form::kNfkc) Compose(&characters);
  for (const char32_t c : characters) AppendUtf8(c, normalized);
}

}  // namespace mpsd::text
