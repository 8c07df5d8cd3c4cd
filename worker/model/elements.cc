#include "worker/model/elements.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace mpsd {
namespace {

template <typename T>
double ReadAs(const void* data) {
  T value;
  std::memcpy(&value, data, sizeof(value));
  return static_cast<double>(value);
}

double FromHalf(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  double value = 0;
  if (exponent == 0x1F) {
    value = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

double FromBfloat(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  return ReadAs<float>(&wide);
}

}  // namespace

bool IsFloat(DataType datatype) {
  return datatype == DataType::kFp64 || datatype == DataType::kFp32 ||
         datatype == DataType::kFp16 || datatype == DataType::kBf16;
}

double ReadElement(DataType datatype, const void* data) {
  switch (datatype) {
    case DataType::kBool:
      return ReadAs<uint8_t>(data) != 0 ? 1 : 0;
    case DataType::kUint8:
      return ReadAs<uint8_t>(data);
    case DataType::kUint16:
      return ReadAs<uint16_t>(data);
    case DataType::kUint32:
      return ReadAs<uint32_t>(data);
    case DataType::kUint64:
      return ReadAs<uint64_t>(data);
    case DataType::kInt8:
      return ReadAs<int8_t>(data);
    case DataType::kInt16:
      return ReadAs<int16_t>(data);
    case DataType::kInt32:
      return ReadAs<int32_t>(data);
    case DataType::kInt64:
      return ReadAs<int64_t>(data);
    case DataType::kFp16:
      return FromHalf(static_cast<uint16_t>(ReadAs<uint16_t>(data)));
    case DataType::kFp32:
      return ReadAs<float>(data);
    case DataType::kFp64:
      return ReadAs<double>(data);
    case DataType::kBf16:
      return FromBfloat(static_cast<uint16_t>(ReadAs<uint16_t>(data)));
    case DataType::kInvalid:
    case DataType::kBytes:
      break;
  }
  return NAN;
}

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
