#include <array>

#include "text/split/simple_pre_tokenizers.h"
#include "text/unicode/characters.h"
#include "text/unicode/utf8.h"

namespace mpsd::text {
namespace {

std::array<uint8_t, 128> AsciiTraits() {
  std::array<uint8_t, 128> traits;
  for (uint8_t c = 0; c < traits.size(); ++c) {
    traits[c] = static_cast<uint8_t>(Traits(c) & (kSpace | kPunctuation));
  }
  return traits;
}

void CutSpan(const Pieces::Span& span, Pieces* cut) {
  static const std::array<uint8_t, 128> ascii = AsciiTraits();
  static_assert((kSpace | kPunctuation) < 0x100);
  const char* const bytes = cut->bytes.data();
  size_t begin = span.begin;
  for (size_t at = span.begin; at < span.end;) {
    const char* next = bytes + at;
    const uint32_t traits =
        *next >= 0 ? ascii[static_cast<uint8_t>(*next++)] : Traits(TakeCharacter(&next));
    const auto end = static_cast<size_t>(next - bytes);
    if ((traits & (kSpace | kPunctuation)) != 0) {
      cut->Add(begin, at);
      if ((traits & kSpace) == 0) cut->Add(at, end);
      begin = end;
    }
    at = end;
  }
  cut->Add(begin, span.end);
}

}  // namespace

bool BertPreTokenizer::Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const {
  cut->bytes = whole.bytes;
  for (const Pieces::Span& span : whole.spans) CutSpan(span, cut);
  return cut->bytes.size() <= most_bytes;
}

}  // namespace mpsd::text
