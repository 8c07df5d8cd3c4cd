#include "server/request/string_elements.h"

#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/shape.h"
#include "server/request/payload_reader.h"

namespace mpsd {
namespace {

template <typename... Words>
absl::Status Malformed(const Words&... words) {
  return absl::InvalidArgumentError(absl::StrCat(words...));
}

}  // namespace

absl::Status CheckStrings(const Payload& payload, absl::string_view input, absl::string_view model,
                          absl::Span<const int64_t> dims) {
  const auto of_input = [input, model] {
    return absl::StrCat(" for inference input '", input, "' for model '", model, "', ");
  };
  const std::optional<uint64_t> expected = ElementCount(dims);
  if (!expected.has_value()) {
    return Malformed("input '", input, "' is larger than any tensor can be");
  }
  PayloadReader reader(payload);
  uint64_t count = 0;
  while (reader.left() >= sizeof(uint32_t)) {
    if (count == *expected) {
      return Malformed("unexpected number of string elements ", count + 1, of_input(), "expecting ",
                       *expected);
    }
    const uint32_t length = reader.Length();
    if (length > reader.left()) {
      return Malformed("incomplete string data", of_input(), "expecting string of length ", length,
                       " but only ", reader.left(), " bytes available");
    }
    reader.Skip(length);
    ++count;
  }
  if (reader.left() > 0) {
    return Malformed("incomplete string length indicator", of_input(), "expecting ",
                     sizeof(uint32_t), " bytes but only ", reader.left(), " bytes available");
  }
  if (count == *expected) return absl::OkStatus();
  return Malformed("expected ", *expected, " string elements", of_input(), "got ", count);
}

std::optional<absl::string_view> TakeString(absl::string_view* bytes) {
  uint32_t length = 0;
  if (bytes->size() < sizeof(length)) return std::nullopt;
  std::memcpy(&length, bytes->data(), sizeof(length));
  bytes->remove_prefix(sizeof(length));
  if (bytes->size() < length) return std::nullopt;
  const absl::string_view element = bytes->substr(0, length);
  bytes->remove_prefix(length);
  return element;
}

std::vector<std::string> ReadStrings(const Payload& payload) {
  std::vector<std::string> strings;
  PayloadReader reader(payload);
  while (reader.left() > 0) {
    std::string& element = strings.emplace_back(reader.Length(), '\0');
    reader.Read(element.data(), element.size());
  }
  return strings;
}

}  // namespace mpsd
