#include "text/normalize/bert_normalizer.h"

#include "text/unicode/characters.h"
#include "text/unicode/forms.h"
#include "text/unicode/utf8.h"

namespace mpsd::text {

BertNormalizer::BertNormalizer(const BertNormalizerOptions& options) : options_(options) {
  for (uint8_t c = 0; c < ascii_.size(); ++c) {
    const uint32_t traits = Traits(c);
    const bool is_upper = c >= 'A' && c <= 'Z';
    ascii_[c] = options.lowercase && is_upper ? static_cast<uint8_t>(c - 'A' + 'a') : c;
    if (!options.clean_text) continue;
    if ((traits & kSpace) != 0) ascii_[c] = ' ';
    if ((traits & kControl) != 0) ascii_[c] = kDrops;
  }
}

bool BertNormalizer::Append(absl::string_view text, size_t most_bytes,
                            std::string* normalized) const {
  const size_t size_before = normalized->size();
  if (!AppendUnsorted(text, normalized)) {
    normalized->resize(size_before);
    AppendSorted(text, normalized);
  }
  return normalized->size() <= most_bytes;
}

bool BertNormalizer::AppendUnsorted(absl::string_view text, std::string* normalized) const {
  normalized->reserve(normalized->size() + text.size() + text.size() / 2);
  std::u32string parts;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at >= 0) {
      const uint8_t byte = ascii_[static_cast<uint8_t>(*at++)];
      if (byte != kDrops) normalized->push_back(static_cast<char>(byte));
    } else if (!AppendCharacter(TakeCharacter(&at), &parts, normalized)) {
      return false;
    }
  }
  return true;
}

bool BertNormalizer::AppendCharacter(char32_t c, std::u32string* parts,
                                     std::string* normalized) const {
  const uint32_t traits = Traits(c);
  if (options_.clean_text && (traits & kControl) != 0) return true;
  if (options_.clean_text && (traits & kSpace) != 0) {
    normalized->push_back(' ');
    return true;
  }
  const bool stands_apart = options_.handle_chinese_chars && (traits & kIdeograph) != 0;
  if (stands_apart) normalized->push_back(' ');
  if (options_.strip_accents) {
    parts->clear();
    AppendDecomposed(c, Decomposition::kCanonical, parts);
    for (const char32_t part : *parts) {
      const uint32_t of_part = Traits(part);
      if ((of_part & kNonspacingMark) != 0) continue;
      if ((of_part & kHasOrder) != 0) return false;
      AppendCased(part, normalized);
    }
  } else {
    AppendCased(c, normalized);
  }
  if (stands_apart) normalized->push_back(' ');
  return true;
}

void BertNormalizer::AppendCased(char32_t c, std::string* normalized) const {
  if (options_.lowercase && (Traits(c) & kHasLower) != 0) {
    std::u32string lower;
    AppendLower(c, &lower);
    for (const char32_t part : lower) AppendUtf8(part, normalized);
  } else {
    AppendUtf8(c, normalized);
  }
}

// Takes the reference's steps, each over the whole text.
void BertNormalizer::AppendSorted(absl::string_view text, std::string* normalized) const {
  BertNormalizerOptions options = options_;
  options.strip_accents = options.lowercase = false;
  std::string clean;
  BertNormalizer(options).AppendUnsorted(text, &clean);
  std::string sorted;
  AppendForm(Form::kNfd, clean, &sorted);
  for (const char* at = sorted.data(); at != sorted.data() + sorted.size();) {
    const char32_t c = TakeCharacter(&at);
    if ((Traits(c) & kNonspacingMark) == 0) AppendCased(c, normalized);
  }
}

}  // namespace mpsd::text
