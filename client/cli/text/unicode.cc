#include "client/cli/text/unicode.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace mpsd::cli {
namespace {

struct Range {
  char16_t first;
  char16_t last;
};

// The characters first, first + step, … last fold to target, target + target_step, ….
struct FoldRun {
  char16_t first;
  char16_t last;
  uint8_t step;
  char16_t target;
  uint8_t target_step;
};

#include "client/cli/text/unicode_tables.inc"

// The entry of a sorted table that contains `c`; null when there is none.
template <class Entry, size_t kSize>
const Entry* Find(const Entry (&table)[kSize], char32_t c) {
  const Entry* entry =
      std::upper_bound(std::begin(table), std::end(table), c,
                       [](char32_t value, const Entry& e) { return value < e.first; });
  if (entry == std::begin(table)) return nullptr;
  --entry;
  return c <= entry->last ? entry : nullptr;
}

struct WideRange {
  char32_t first;
  char32_t last;
};
constexpr WideRange kIdeographs[] = {
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},   {0x20000, 0x2A6DF},
    {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F},
};
constexpr WideRange kSpaces[] = {
    {0x09, 0x0D},     {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
    {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000},
};

// Hangul syllables are composed by a rule: 588 for each leading letter, 28 for each vowel.
constexpr char32_t kHangulFirst = 0xAC00;
constexpr char32_t kHangulLast = 0xD7A3;
constexpr char32_t kHangulLeading = 0x1100;
constexpr char32_t kHangulVowel = 0x1161;
constexpr char32_t kHangulTrailing = 0x11A7;
constexpr char32_t kHangulPerVowel = 28;
constexpr char32_t kHangulPerLeading = 21 * kHangulPerVowel;

constexpr char32_t kReplacement = 0xFFFD;

// How many bytes the character that starts with `byte` has; 0 when no character starts so.
size_t SequenceBytes(unsigned char byte) {
  if (byte < 0x80) return 1;
  if (byte >= 0xC2 && byte < 0xE0) return 2;
  if (byte >= 0xE0 && byte < 0xF0) return 3;
  return byte >= 0xF0 && byte < 0xF5 ? 4 : 0;
}

bool IsScalar(char32_t c, size_t bytes) {
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  return c >= kSmallest[bytes] && c <= 0x10FFFF && !(c >= 0xD800 && c <= 0xDFFF);
}

// The first character of `text`, which is not empty. Sets `*taken` to its number of bytes.
char32_t DecodeOne(absl::string_view text, size_t* taken) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t bytes = SequenceBytes(lead);
  *taken = 1;
  if (bytes == 0 || bytes > text.size()) return kReplacement;
  if (bytes == 1) return lead;
  char32_t c = lead & (0x7F >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return kReplacement;
    c = (c << 6) | (next & 0x3F);
  }
  if (!IsScalar(c, bytes)) return kReplacement;
  *taken = bytes;
  return c;
}

}  // namespace

std::vector<char32_t> DecodeUtf8(absl::string_view text) {
  std::vector<char32_t> decoded;
  decoded.reserve(text.size());
  while (!text.empty()) {
    size_t taken = 0;
    decoded.push_back(DecodeOne(text, &taken));
    text.remove_prefix(taken);
  }
  return decoded;
}

void AppendUtf8(char32_t c, std::string* text) {
  if (c < 0x80) {
    text->push_back(static_cast<char>(c));
    return;
  }
  const int tails = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr unsigned char kLeads[] = {0, 0xC0, 0xE0, 0xF0};
  text->push_back(static_cast<char>(kLeads[tails] | (c >> (6 * tails))));
  for (int i = tails - 1; i >= 0; --i) {
    text->push_back(static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3F)));
  }
}

bool IsWhitespace(char32_t c) { return Find(kSpaces, c) != nullptr; }

bool IsControl(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  return (c >= 0xE000 && c <= 0xF8FF) || Find(kControls, c) != nullptr;
}

bool IsPunctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  }
  return Find(kPunctuation, c) != nullptr;
}

bool IsIdeograph(char32_t c) { return Find(kIdeographs, c) != nullptr; }

bool IsAccent(char32_t c) { return Find(kAccents, c) != nullptr; }

void AppendFolded(char32_t c, std::vector<char32_t>* text) {
  if (c >= kHangulFirst && c <= kHangulLast) {
    const char32_t index = c - kHangulFirst;
    text->push_back(kHangulLeading + index / kHangulPerLeading);
    text->push_back(kHangulVowel + index % kHangulPerLeading / kHangulPerVowel);
    const char32_t trailing = index % kHangulPerVowel;
    if (trailing > 0) text->push_back(kHangulTrailing + trailing);
    return;
  }
  const FoldRun* run = Find(kFolds, c);
  if (run != nullptr && (c - run->first) % run->step == 0) {
    c = run->target + (c - run->first) / run->step * run->target_step;
  }
  text->push_back(c);
}

}  // namespace mpsd::cli
