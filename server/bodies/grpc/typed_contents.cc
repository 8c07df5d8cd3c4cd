#include "server/bodies/grpc/typed_contents.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "proto/base/datatype.h"
#include "proto/encoding/protobuf_reader.h"
#include "proto/inference.pb.h"

namespace mpsd {
namespace {

using RequestMessage = inference::ModelInferRequest;
using Contents = inference::InferTensorContents;

constexpr uint64_t kStringBytes = sizeof(std::string) + 2 * sizeof(void*);

// 0 for a field without elements.
uint64_t ElementBytes(int field) {
  switch (field) {
    case Contents::kBoolContentsFieldNumber:
      return sizeof(bool);
    case Contents::kIntContentsFieldNumber:
    case Contents::kUintContentsFieldNumber:
    case Contents::kFp32ContentsFieldNumber:
      return sizeof(uint32_t);
    case Contents::kInt64ContentsFieldNumber:
    case Contents::kUint64ContentsFieldNumber:
    case Contents::kFp64ContentsFieldNumber:
      return sizeof(uint64_t);
    case Contents::kBytesContentsFieldNumber:
      return kStringBytes;
    default:
      return 0;
  }
}

bool IsFixed(int field) {
  return field == Contents::kFp32ContentsFieldNumber || field == Contents::kFp64ContentsFieldNumber;
}

// An unpacked number of another type than its field's becomes an unknown field of this size.
constexpr uint64_t kLooseBytes = 2 * sizeof(uint64_t);

// Calls `take` with each message in that field. False if one is malformed, or `take` returned
// false.
template <typename TakeMessage>
bool ForEach(absl::string_view message, int field, TakeMessage take) {
  ProtobufReader reader(message);
  while (reader.Next()) {
    if (!reader.Is(static_cast<uint32_t>(field), WireType::kLengthDelimited)) continue;
    if (!take(reader.text())) return false;
  }
  return !reader.malformed();
}

// A length-delimited field: one string, or many numbers.
uint64_t ParsedBytes(int field, absl::string_view value) {
  if (field == Contents::kBytesContentsFieldNumber) return kStringBytes + value.size();
  if (IsFixed(field)) return value.size();
  // Each varint ends with the byte whose highest bit is clear.
  const auto ends = [](char byte) { return static_cast<signed char>(byte) >= 0; };
  return ElementBytes(field) *
         static_cast<uint64_t>(std::count_if(value.begin(), value.end(), ends));
}

bool AddContents(absl::string_view contents, ContentsSize* size) {
  ProtobufReader reader(contents);
  while (reader.Next()) {
    const int field = static_cast<int>(reader.field());
    if (ElementBytes(field) == 0) continue;
    size->wire_bytes += reader.whole().size();
    size->parsed_bytes += reader.type() == WireType::kLengthDelimited
                              ? ParsedBytes(field, reader.text())
                              : std::max(ElementBytes(field), kLooseBytes);
  }
  return !reader.malformed();
}

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

// A field is named by its own datatype; empty: none.
absl::string_view FieldOf(DataType datatype) {
  switch (datatype) {
    case DataType::kInt8:
    case DataType::kInt16:
      return "INT32";
    case DataType::kUint8:
    case DataType::kUint16:
      return "UINT32";
    case DataType::kFp16:
    case DataType::kBf16:
    case DataType::kInvalid:
      return "";
    default:
      return DataTypeName(datatype);
  }
}

// Empty if there is none.
absl::string_view OtherFilledField(const inference::InferTensorContents& contents,
                                   absl::string_view own) {
  const std::pair<absl::string_view, int> fields[] = {
      {"BOOL", contents.bool_contents_size()},     {"INT32", contents.int_contents_size()},
      {"INT64", contents.int64_contents_size()},   {"UINT32", contents.uint_contents_size()},
      {"UINT64", contents.uint64_contents_size()}, {"FP32", contents.fp32_contents_size()},
      {"FP64", contents.fp64_contents_size()},     {"BYTES", contents.bytes_contents_size()}};
  for (const auto& [name, elements] : fields) {
    if (elements > 0 && name != own) return name;
  }
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

ContentsSize MeasureContents(absl::string_view fields) {
  ContentsSize size;
  ForEach(fields, RequestMessage::kInputsFieldNumber, [&size](absl::string_view input) {
    return ForEach(input, RequestMessage::InferInputTensor::kContentsFieldNumber,
                   [&size](absl::string_view contents) { return AddContents(contents, &size); });
  });
  return size;
}

absl::StatusOr<std::string> TypedContents(
    const inference::ModelInferRequest::InferInputTensor& input) {
  const DataType datatype = ParseDataType(input.datatype());
  const absl::string_view other = OtherFilledField(input.contents(), FieldOf(datatype));
  if (!other.empty()) return absl::InvalidArgumentError(other);
  std::string bytes = BytesOf(input.contents(), datatype);
  if (bytes.empty()) return absl::NotFoundError("no element");
  return bytes;
}

}  // namespace mpsd
