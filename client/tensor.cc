#include "client/tensor.h"

#include "absl/strings/str_cat.h"

namespace mpsd::client {
namespace {

constexpr size_t kLengthBytes = 4;

uint32_t ReadLength(absl::string_view bytes) {
  uint32_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return length;
}

}  // namespace

absl::Status WrongDataType(const InferOutput& output, DataType wanted) {
  return absl::InvalidArgumentError(absl::StrCat("output '", output.name, "' is ",
                                                 DataTypeName(output.datatype), ", not ",
                                                 DataTypeName(wanted)));
}

std::string PackBytes(absl::Span<const std::string> elements) {
  std::string packed;
  for (const std::string& element : elements) {
    const auto length = static_cast<uint32_t>(element.size());
    for (size_t i = 0; i < kLengthBytes; ++i)
      packed.push_back(static_cast<char>(length >> (8 * i)));
    packed += element;
  }
  return packed;
}

absl::StatusOr<std::vector<std::string>> UnpackBytes(absl::string_view bytes) {
  std::vector<std::string> elements;
  while (!bytes.empty()) {
    if (bytes.size() < kLengthBytes) {
      return absl::InvalidArgumentError("a BYTES length is cut short");
    }
    const uint32_t length = ReadLength(bytes);
    bytes.remove_prefix(kLengthBytes);
    if (length > bytes.size()) return absl::InvalidArgumentError("a BYTES element is cut short");
    elements.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return elements;
}

}  // namespace mpsd::client
