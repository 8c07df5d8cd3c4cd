#include "text/normalize/precompiled.h"

#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "text/unicode/graphemes.h"
#include "text/unicode/utf8.h"

namespace mpsd::text {
namespace {

constexpr size_t kWholeGraphemeBytes = 6;  // shorter graphemes are looked up as a whole

bool HasLeaf(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t LabelOf(uint32_t unit) { return unit & (1U << 31 | 0xFF); }
uint32_t OffsetOf(uint32_t unit) { return unit >> 10 << ((unit & 1U << 9) >> 6); }
uint32_t ValueOf(uint32_t unit) { return unit & ((1U << 31) - 1); }

}  // namespace

absl::StatusOr<Precompiled> Precompiled::Make(absl::string_view charsmap) {
  uint32_t trie_bytes = 0;
  if (charsmap.size() < sizeof(trie_bytes)) {
    return absl::InvalidArgumentError("the charsmap has no trie");
  }
  std::memcpy(&trie_bytes, charsmap.data(), sizeof(trie_bytes));
  charsmap.remove_prefix(sizeof(trie_bytes));
  if (trie_bytes > charsmap.size() || trie_bytes % sizeof(uint32_t) != 0 || trie_bytes == 0) {
    return absl::InvalidArgumentError("the charsmap's trie has a wrong size");
  }
  std::vector<uint32_t> units(trie_bytes / sizeof(uint32_t));
  std::memcpy(units.data(), charsmap.data(), trie_bytes);
  const absl::string_view replacements = charsmap.substr(trie_bytes);
  std::string storage;
  if (ValidUtf8(replacements, &storage).data() != replacements.data()) {
    return absl::InvalidArgumentError("the charsmap's replacements are no UTF-8");
  }
  for (const absl::string_view one : absl::StrSplit(replacements, '\0')) {
    if (one.size() <= kMaxReplacementBytes) continue;
    return absl::InvalidArgumentError(absl::StrCat("a replacement of the charsmap has more than ",
                                                   kMaxReplacementBytes, " bytes"));
  }
  return Precompiled(std::move(units), std::string(replacements));
}

Precompiled::Precompiled(std::vector<uint32_t> units, std::string replacements)
    : units_(std::move(units)), replacements_(std::move(replacements)) {
  replacements_.push_back('\0');
  for (size_t c = 0; c < ascii_.size(); ++c) {
    const auto byte = static_cast<char>(c);
    ascii_[c] = Find({&byte, 1});
  }
}

bool Precompiled::Append(absl::string_view text, size_t most_bytes, std::string* normalized) const {
  normalized->reserve(normalized->size() + text.size() + text.size() / 8);
  for (size_t at = 0; at < text.size() && normalized->size() <= most_bytes;) {
    const char byte = text[at];
    const bool is_alone = byte >= 0 && byte != '\r' && (at + 1 == text.size() || text[at + 1] >= 0);
    if (is_alone) {
      const int64_t found = ascii_[static_cast<size_t>(byte)];
      if (found == kKept) {
        normalized->push_back(byte);
      } else {
        AppendReplacement(found, normalized);
      }
      ++at;
      continue;
    }
    const size_t end = GraphemeEnd(text, at);
    AppendGrapheme(text.substr(at, end - at), most_bytes, normalized);
    at = end;
  }
  return normalized->size() <= most_bytes;
}

void Precompiled::AppendGrapheme(absl::string_view text, size_t most_bytes,
                                 std::string* normalized) const {
  if (text.size() < kWholeGraphemeBytes) {
    if (const int64_t found = Find(text); found != kKept) {
      AppendReplacement(found, normalized);
      return;
    }
  }
  while (!text.empty() && normalized->size() <= most_bytes) {
    const absl::string_view character = text.substr(0, CharacterSize(text[0]));
    text.remove_prefix(character.size());
    if (const int64_t found = Find(character); found != kKept) {
      AppendReplacement(found, normalized);
    } else {
      normalized->append(character.data(), character.size());
    }
  }
}

int64_t Precompiled::Find(absl::string_view text) const {
  uint32_t at = OffsetOf(units_[0]);
  for (const char byte : text) {
    if (byte == '\0') break;
    at ^= static_cast<uint8_t>(byte);
    if (at >= units_.size() || LabelOf(units_[at]) != static_cast<uint8_t>(byte)) break;
    const uint32_t unit = units_[at];
    at ^= OffsetOf(unit);
    if (!HasLeaf(unit)) continue;
    if (at >= units_.size()) break;
    const uint32_t begin = ValueOf(units_[at]);
    const bool is_character =
        begin < replacements_.size() && !ContinuesCharacter(replacements_[begin]);
    return is_character ? begin : kKept;
  }
  return kKept;
}

void Precompiled::AppendReplacement(int64_t begin, std::string* normalized) const {
  normalized->append(replacements_.c_str() + begin);
}

}  // namespace mpsd::text
