#include "server/wire/contents_size.h"

#include <algorithm>
#include <string>

#include "proto/base/protobuf_reader.h"
#include "proto/inference.pb.h"

namespace mpsd {
namespace {

using RequestMessage = inference::ModelInferRequest;
using Contents = inference::InferTensorContents;

constexpr uint64_t kStringBytes = sizeof(std::string) + 2 * sizeof(void*);

// The memory that one element of the field takes; 0 for a field that holds no elements.
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

// A number that is not packed may be of another type than its field's. Protobuf then keeps it as an
// unknown field, of this size.
constexpr uint64_t kLooseBytes = 2 * sizeof(uint64_t);

// Calls `take` with each message in that field of `message`. False where one is malformed, or
// `take` returned false.
template <typename TakeMessage>
bool ForEach(absl::string_view message, int field, TakeMessage take) {
  ProtobufReader reader(message);
  while (reader.Next()) {
    if (!reader.Is(static_cast<uint32_t>(field), WireType::kLengthDelimited)) continue;
    if (!take(reader.text())) return false;
  }
  return !reader.malformed();
}

// The memory that a length-delimited field takes: one string, or many numbers.
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

}  // namespace

ContentsSize MeasureContents(absl::string_view fields) {
  ContentsSize size;
  ForEach(fields, RequestMessage::kInputsFieldNumber, [&size](absl::string_view input) {
    return ForEach(input, RequestMessage::InferInputTensor::kContentsFieldNumber,
                   [&size](absl::string_view contents) { return AddContents(contents, &size); });
  });
  return size;
}

}  // namespace mpsd
