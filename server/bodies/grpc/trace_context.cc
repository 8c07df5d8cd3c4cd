#include "server/bodies/grpc/trace_context.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace mpsd {
namespace {

constexpr size_t kBytes = 55;  // in version 00
constexpr size_t kMostBytes = 256;

bool IsHex(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
  });
}

bool IsZero(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '0'; });
}

unsigned Nibble(char digit) {
  return static_cast<unsigned>(
      absl::ascii_isdigit(static_cast<unsigned char>(digit)) ? digit - '0' : digit - 'a' + 10);
}

}  // namespace

bool ReadTraceparent(absl::string_view text, TraceContext* context) {
  if (text.size() < kBytes || text.size() > kMostBytes) return false;
  const absl::string_view version = text.substr(0, 2);
  const absl::string_view trace_id = text.substr(3, 32);
  const absl::string_view parent_id = text.substr(36, 16);
  const absl::string_view flags = text.substr(53, 2);
  if (text[2] != '-' || text[35] != '-' || text[52] != '-') return false;
  if (!IsHex(version) || !IsHex(trace_id) || !IsHex(parent_id) || !IsHex(flags)) return false;
  if (version == "ff" || IsZero(trace_id) || IsZero(parent_id)) return false;
  if (text.size() > kBytes && (version == "00" || text[kBytes] != '-')) return false;
  if (!std::all_of(text.begin(), text.end(),
                   [](unsigned char c) { return absl::ascii_isgraph(c); }))
    return false;
  context->text = std::string(text);
  context->sampled = (Nibble(flags[1]) & 1) != 0;
  return true;
}

}  // namespace mpsd
