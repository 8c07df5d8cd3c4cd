#include "text/split/byte_level.h"

#include <array>
#include <cstdint>
#include <string>

#include "text/unicode/utf8.h"

namespace mpsd::text {
namespace {

using ByteTexts = std::array<std::string, 256>;

bool IsVisible(uint32_t byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

ByteTexts MakeByteTexts() {
  ByteTexts texts;
  char32_t next = 0x100;
  for (uint32_t byte = 0; byte < texts.size(); ++byte) {
    AppendUtf8(IsVisible(byte) ? byte : next++, &texts[byte]);
  }
  return texts;
}

void AppendVisible(absl::string_view word, Pieces* cut) {
  static const ByteTexts texts = MakeByteTexts();
  const size_t begin = cut->bytes.size();
  for (const char byte : word) {
    if (byte > ' ' && byte < '\x7F') {
      cut->bytes.push_back(byte);
    } else {
      cut->bytes.append(texts[static_cast<uint8_t>(byte)]);
    }
  }
  cut->Add(begin, cut->bytes.size());
}

}  // namespace

bool PatternSplit::Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const {
  cut->bytes = whole.bytes;
  for (size_t i = 0; i < whole.spans.size(); ++i) {
    const absl::string_view piece = whole.Piece(i);
    for (size_t begin = 0; begin < piece.size();) {
      const size_t end = pattern_.WordEnd(piece, begin);
      cut->Add(whole.spans[i].begin + begin, whole.spans[i].begin + end);
      begin = end;
    }
  }
  return cut->bytes.size() <= most_bytes;
}

bool ByteLevel::Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const {
  const WordPattern pattern = WordPattern::Gpt2();
  cut->bytes.reserve(whole.bytes.size() * 2);
  std::string spaced;
  for (size_t i = 0; i < whole.spans.size(); ++i) {
    absl::string_view piece = whole.Piece(i);
    if (adds_space_ && piece[0] != ' ') {
      spaced.assign(1, ' ');
      spaced.append(piece.data(), piece.size());
      piece = spaced;
    }
    for (size_t begin = 0; begin < piece.size();) {
      const size_t end = cuts_ ? pattern.WordEnd(piece, begin) : piece.size();
      AppendVisible(piece.substr(begin, end - begin), cut);
      begin = end;
    }
  }
  return cut->bytes.size() <= most_bytes;
}

}  // namespace mpsd::text
