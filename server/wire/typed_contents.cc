#include "server/wire/typed_contents.h"

#include <cstdint>

#include "proto/base/datatype.h"

namespace mpsd {
namespace {

template <typename Target, typename Source>
std::string Narrowed(const Source& elements) {
  std::string bytes;
  bytes.reserve(static_cast<size_t>(elements.size()) * sizeof(Target));
  for (const auto element : elements) {
    const auto narrow = static_cast<Target>(element);
    bytes.append(reinterpret_cast<const char*>(&narrow), sizeof(narrow));
  }
  return bytes;
}

std::string LengthPrefixed(const google::protobuf::RepeatedPtrField<std::string>& elements) {
  std::string bytes;
  for (const std::string& element : elements) {
    const auto length = static_cast<uint32_t>(element.size());
    bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
    bytes += element;
  }
  return bytes;
}

// The datatype of the field that is filled; empty when none is.
const char* FilledType(const inference::InferTensorContents& contents) {
  if (contents.bool_contents_size() > 0) return "BOOL";
  if (contents.int_contents_size() > 0) return "INT32";
  if (contents.int64_contents_size() > 0) return "INT64";
  if (contents.uint_contents_size() > 0) return "UINT32";
  if (contents.uint64_contents_size() > 0) return "UINT64";
  if (contents.fp32_contents_size() > 0) return "FP32";
  if (contents.fp64_contents_size() > 0) return "FP64";
  if (contents.bytes_contents_size() > 0) return "BYTES";
  return "";
}

std::string BytesOf(const inference::InferTensorContents& contents, DataType datatype) {
  switch (datatype) {
    case DataType::kBool:
      return Narrowed<uint8_t>(contents.bool_contents());
    case DataType::kInt8:
      return Narrowed<int8_t>(contents.int_contents());
    case DataType::kInt16:
      return Narrowed<int16_t>(contents.int_contents());
    case DataType::kInt32:
      return Narrowed<int32_t>(contents.int_contents());
    case DataType::kInt64:
      return Narrowed<int64_t>(contents.int64_contents());
    case DataType::kUint8:
      return Narrowed<uint8_t>(contents.uint_contents());
    case DataType::kUint16:
      return Narrowed<uint16_t>(contents.uint_contents());
    case DataType::kUint32:
      return Narrowed<uint32_t>(contents.uint_contents());
    case DataType::kUint64:
      return Narrowed<uint64_t>(contents.uint64_contents());
    case DataType::kFp32:
      return Narrowed<float>(contents.fp32_contents());
    case DataType::kFp64:
      return Narrowed<double>(contents.fp64_contents());
    case DataType::kBytes:
      return LengthPrefixed(contents.bytes_contents());
    case DataType::kFp16:
    case DataType::kBf16:
    case DataType::kInvalid:
      break;
  }
  return std::string();
}

}  // namespace

absl::StatusOr<std::string> TypedContents(
    const inference::ModelInferRequest::InferInputTensor& input) {
  const std::string filled = FilledType(input.contents());
  if (filled.empty()) return absl::NotFoundError("no element");
  std::string bytes = BytesOf(input.contents(), ParseDataType(input.datatype()));
  if (bytes.empty()) return absl::InvalidArgumentError(filled);
  return bytes;
}

}  // namespace mpsd
