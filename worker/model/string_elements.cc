#include "worker/model/string_elements.h"

#include <cstring>

namespace mpsd {

absl::StatusOr<std::vector<absl::string_view>> ReadElements(const void* data, uint64_t bytes,
                                                            uint64_t count) {
  const absl::Status malformed = absl::InternalError("a malformed BYTES tensor");
  std::vector<absl::string_view> elements;
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    uint32_t length = 0;
    if (bytes < sizeof(length) || elements.size() == count) return malformed;
    std::memcpy(&length, at, sizeof(length));
    bytes -= sizeof(length);
    at += sizeof(length);
    if (length > bytes) return malformed;
    elements.emplace_back(at, length);
    bytes -= length;
    at += length;
  }
  if (elements.size() != count) return malformed;
  return elements;
}

uint64_t ElementsBytes(absl::Span<const std::string> elements) {
  uint64_t bytes = 0;
  for (const std::string& element : elements) bytes += sizeof(uint32_t) + element.size();
  return bytes;
}

void WriteElements(absl::Span<const std::string> elements, void* target) {
  char* at = static_cast<char*>(target);
  for (const std::string& element : elements) {
    const auto length = static_cast<uint32_t>(element.size());
    std::memcpy(at, &length, sizeof(length));
    std::memcpy(at + sizeof(length), element.data(), element.size());
    at += sizeof(length) + element.size();
  }
}

}  // namespace mpsd
