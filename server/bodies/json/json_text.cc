#include "server/bodies/json/json_text.h"

#include <cstdint>

#include "proto/base/utf8.h"

namespace mpsd {
namespace {

bool IsPlain(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

// The prefix that can be copied as it is.
size_t PlainBytes(absl::string_view text) {
  size_t bytes = 0;
  while (bytes < text.size() && IsPlain(text[bytes])) ++bytes;
  return bytes;
}

// 0: there is no short form.
char ShortEscape(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

void PutEscaped(char c, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  const char letter = ShortEscape(c);
  out->push_back('\\');
  if (letter != 0) return out->push_back(letter);
  out->append("u00");
  out->push_back(kDigits[static_cast<uint8_t>(c) >> 4]);
  out->push_back(kDigits[static_cast<uint8_t>(c) & 15]);
}

}  // namespace

bool PutJsonText(absl::string_view text, std::string* out) {
  bool is_utf8 = true;
  out->push_back('"');
  while (!text.empty()) {
    size_t bytes = PlainBytes(text);
    if (bytes > 0) {
      out->append(text.data(), bytes);
    } else if (static_cast<uint8_t>(text[0]) < 0x80) {
      PutEscaped(text[0], out);
      bytes = 1;
    } else if (bytes = CharacterBytes(text); bytes > 0) {
      out->append(text.data(), bytes);
    } else {
      out->append("\xEF\xBF\xBD");
      is_utf8 = false;
      bytes = 1;
    }
    text.remove_prefix(bytes);
  }
  out->push_back('"');
  return is_utf8;
}

std::string ErrorJson(absl::string_view text) {
  std::string json = R"({"error":)";
  PutJsonText(text, &json);
  json.push_back('}');
  return json;
}

}  // namespace mpsd
