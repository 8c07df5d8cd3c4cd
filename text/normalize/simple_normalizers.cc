#include "text/normalize/simple_normalizers.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "text/unicode/characters.h"
#include "text/unicode/utf8.h"

namespace mpsd::text {
namespace {

bool IsSpaceAt(const char* at) { return (Traits(TakeCharacter(&at)) & kSpace) != 0; }

}  // namespace

bool NormalizerSequence::Append(absl::string_view text, size_t most_bytes,
                                std::string* normalized) const {
  std::string current(text);
  std::string next;
  for (const std::unique_ptr<Normalizer>& step : steps_) {
    next.clear();
    if (!step->Append(current, most_bytes, &next)) return false;
    current.swap(next);
  }
  normalized->append(current);
  return normalized->size() <= most_bytes;
}

bool LowercaseNormalizer::Append(absl::string_view text, size_t most_bytes,
                                 std::string* normalized) const {
  std::u32string lower;
  for (const char* at = text.data(); at != text.data() + text.size();) {
    lower.clear();
    AppendLower(TakeCharacter(&at), &lower);
    for (const char32_t c : lower) AppendUtf8(c, normalized);
  }
  return normalized->size() <= most_bytes;
}

bool StripAccentsNormalizer::Append(absl::string_view text, size_t most_bytes,
                                    std::string* normalized) const {
  for (const char* at = text.data(); at != text.data() + text.size();) {
    const char32_t c = TakeCharacter(&at);
    if ((Traits(c) & kMark) == 0) AppendUtf8(c, normalized);
  }
  return normalized->size() <= most_bytes;
}

bool StripNormalizer::Append(absl::string_view text, size_t most_bytes,
                             std::string* normalized) const {
  while (left_ && !text.empty() && IsSpaceAt(text.data())) {
    text.remove_prefix(CharacterSize(text[0]));
  }
  while (right_ && !text.empty()) {
    size_t begin = text.size() - 1;
    while (ContinuesCharacter(text[begin])) --begin;
    if (!IsSpaceAt(text.data() + begin)) break;
    text = text.substr(0, begin);
  }
  normalized->append(text.data(), text.size());
  return normalized->size() <= most_bytes;
}

bool PrependNormalizer::Append(absl::string_view text, size_t most_bytes,
                               std::string* normalized) const {
  if (!text.empty()) normalized->append(prefix_);
  normalized->append(text.data(), text.size());
  return normalized->size() <= most_bytes;
}

bool ReplaceNormalizer::Append(absl::string_view text, size_t most_bytes,
                               std::string* normalized) const {
  while (!text.empty() && normalized->size() <= most_bytes) {
    const size_t begin = text.find(text_);
    normalized->append(text.data(), std::min(begin, text.size()));
    if (begin == absl::string_view::npos) break;
    text.remove_prefix(begin);
    size_t count = 0;
    for (; absl::StartsWith(text, text_) && (takes_runs_ || count == 0); ++count) {
      text.remove_prefix(text_.size());
    }
    normalized->append(takes_runs_ && count == 1 ? text_ : content_);
  }
  return normalized->size() <= most_bytes;
}

}  // namespace mpsd::text
