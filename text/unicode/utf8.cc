#include "text/unicode/utf8.h"

#include <algorithm>
#include <cstring>

#include "proto/base/utf8.h"

namespace mpsd::text {
namespace {

size_t AsciiEnd(absl::string_view text, size_t at) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  for (uint64_t eight = 0; at + sizeof(eight) <= text.size(); at += sizeof(eight)) {
    std::memcpy(&eight, text.data() + at, sizeof(eight));
    if ((eight & kHighBits) != 0) break;
  }
  while (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

// Finds the first byte that begins no valid character.
size_t ValidEnd(absl::string_view text, size_t at) {
  while (true) {
    at = AsciiEnd(text, at);
    const size_t size = CharacterBytes(text.substr(at));
    if (size == 0) return at;
    at += size;
  }
}

// The size of a character's longest beginning; 1 for a byte that begins none. REQUIRES: no valid
// character begins there.
size_t BrokenSize(absl::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0xC2 || lead > 0xF4) return 1;
  const size_t wanted = CharacterSize(text[0]);
  // From the third byte on, any further byte would do.
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
