#include "text/split/word_pattern.h"

#include <cstdint>

#include "absl/strings/match.h"
#include "text/unicode/characters.h"
#include "text/unicode/utf8.h"

// Each alternative is a function. It returns the end of its match, or `begin` if there is none.
namespace mpsd::text {
namespace {

constexpr char kGpt2Expression[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr char kQwen2Expression[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr char kLlama3Expression[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr uint32_t kKinds = kLetter | kNumber | kPatternSpace;

// Returns 0 for a sign, and kKinds at the end.
uint32_t KindAt(absl::string_view text, size_t at) {
  if (at == text.size()) return kKinds;
  const char* next = text.data() + at;
  return Traits(TakeCharacter(&next)) & kKinds;
}

size_t Next(absl::string_view text, size_t at) { return at + CharacterSize(text[at]); }

size_t RunEnd(absl::string_view text, size_t at, uint32_t kind, size_t most = SIZE_MAX) {
  for (; most > 0 && at < text.size() && KindAt(text, at) == kind; --most) at = Next(text, at);
  return at;
}

bool IsLineEnd(char byte) { return byte == '\r' || byte == '\n'; }

// Finds contractions such as 's. If case is ignored, the long s counts too.
size_t Contraction(absl::string_view text, size_t begin, bool ignores_case) {
  if (text[begin] != '\'') return begin;
  const absl::string_view rest = text.substr(begin + 1);
  for (const char* ending : {"s", "t", "re", "ve", "m", "ll", "d"}) {
    const absl::string_view wanted = ending;
    if (ignores_case ? absl::StartsWithIgnoreCase(rest, wanted) : absl::StartsWith(rest, wanted)) {
      return begin + 1 + wanted.size();
    }
  }
  const absl::string_view long_s = "\u017f";
  return ignores_case && absl::StartsWith(rest, long_s) ? begin + 1 + long_s.size() : begin;
}

}  // namespace

std::optional<WordPattern> WordPattern::Of(absl::string_view expression) {
  if (expression == kGpt2Expression) return WordPattern(0);
  if (expression == kQwen2Expression) return WordPattern(1);
  if (expression == kLlama3Expression) return WordPattern(3);
  return std::nullopt;
}

size_t WordPattern::WordEnd(absl::string_view text, size_t begin) const {
  if (const size_t end = Contraction(text, begin, !is_gpt2()); end > begin) return end;
  if (const size_t end = Letters(text, begin); end > begin) return end;
  if (const size_t end = Numbers(text, begin); end > begin) return end;
  if (const size_t end = Others(text, begin); end > begin) return end;
  return Spaces(text, begin);
}

// A space may precede the letters; in other patterns any sign or space that ends no line.
size_t WordPattern::Letters(absl::string_view text, size_t begin) const {
  const uint32_t kind = KindAt(text, begin);
  if (kind == kLetter) return RunEnd(text, begin, kLetter);
  const bool may_precede =
      is_gpt2() ? text[begin] == ' ' : kind != kNumber && !IsLineEnd(text[begin]);
  if (!may_precede) return begin;
  const size_t letters = Next(text, begin);
  const size_t end = RunEnd(text, letters, kLetter);
  return end > letters ? end : begin;
}

size_t WordPattern::Numbers(absl::string_view text, size_t begin) const {
  if (!is_gpt2()) return RunEnd(text, begin, kNumber, max_digits_);
  const size_t digits = text[begin] == ' ' ? begin + 1 : begin;
  const size_t end = RunEnd(text, digits, kNumber);
  return end > digits ? end : begin;
}

size_t WordPattern::Others(absl::string_view text, size_t begin) const {
  const size_t signs = text[begin] == ' ' ? begin + 1 : begin;
  size_t end = RunEnd(text, signs, 0);
  if (end == signs) return begin;
  while (!is_gpt2() && end < text.size() && IsLineEnd(text[end])) ++end;
  return end;
}

// Ends behind the last line end. Without one takes all at the end of the text. Otherwise takes all
// except the last, which belongs to the next word, unless it is alone.
size_t WordPattern::Spaces(absl::string_view text, size_t begin) const {
  size_t last = begin;
  size_t line_end = begin;
  size_t end = begin;
  while (end < text.size() && KindAt(text, end) == kPatternSpace) {
    last = end;
    end = Next(text, end);
    if (!is_gpt2() && IsLineEnd(text[last])) line_end = end;
  }
  if (line_end > begin) return line_end;
  return end == text.size() || last == begin ? end : last;
}

}  // namespace mpsd::text
