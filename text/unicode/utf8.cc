#include "text/unicode/utf8.h"

#include <algorithm>
#include <cstring>

#include "proto/base/utf8.h"

namespace mpsd::text {
namespace {

// Position of the first non-ASCII byte from `at` on.
size_t AsciiEnd(absl::string_view text, size_t at) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  for (uint64_t eight = 0; at + sizeof(eight) <= text.size(); at += sizeof(eight)) {
    std::memcpy(&eight, text.data() + at, sizeof(eight));
    if ((eight & kHighBits) != 0) break;
  }
  while (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

// Position of the first byte from `at` on that begins no valid character.
size_t ValidEnd(absl::string_view text, size_t at) {
  while (true) {
    at = AsciiEnd(text, at);
    const size_t size = CharacterBytes(text.substr(at));
    if (size == 0) return at;
    at += size;
  }
}

// Bytes of the longest beginning of a valid character at the start of `text`; 1 for a byte that
// begins none. REQUIRES: no valid character begins there.
size_t BrokenSize(absl::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0xC2 || lead > 0xF4) return 1;
  const size_t wanted = CharacterSize(text[0]);
  // A beginning can be completed with further bytes; from the third byte on, any will do.
  for (size_t size = std::min(text.size(), wanted - 1); size > 1; --size) {
    char whole[4] = {text[0], text[1], '\x80', '\x80'};
    if (size == 3) whole[2] = text[2];
    if (CharacterBytes({whole, wanted}) != 0) return size;
  }
  return 1;
}

}  // namespace

absl::string_view ValidUtf8(absl::string_view text, std::string* storage) {
  size_t at = ValidEnd(text, 0);
  if (at == text.size()) return text;
  storage->assign(text.data(), at);
  while (at < text.size()) {
    AppendUtf8(kReplacement, storage);
    at += BrokenSize(text.substr(at));
    const size_t end = ValidEnd(text, at);
    storage->append(text.data() + at, end - at);
    at = end;
  }
  return *storage;
}

}  // namespace mpsd::text
