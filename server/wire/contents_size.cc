#include "server/wire/contents_size.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <string>

#include "proto/inference.pb.h"

namespace mpsd {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using Request = inference::ModelInferRequest;
using Contents = inference::InferTensorContents;

constexpr uint64_t kStringBytes = sizeof(std::string) + 2 * sizeof(void*);

// What an element of the field takes; 0 for a field that holds none.
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

constexpr uint64_t kTagBytes = 1;  // of each field of the contents

// A number that is not packed may be of a type that is not the field's: it is then kept as a field
// that nobody knows.
constexpr uint64_t kLooseBytes = 2 * sizeof(uint64_t);

// Thread-compatible. One walk over the fields, down to the elements.
class Measure {
 public:
  explicit Measure(absl::string_view fields)
      : bytes_(fields),
        stream_(reinterpret_cast<const uint8_t*>(fields.data()), static_cast<int>(fields.size())) {}

  ContentsSize Take() {
    Each(Request::kInputsFieldNumber, [this] {
      return Each(Request::InferInputTensor::kContentsFieldNumber, [this] { return Elements(); });
    });
    return size_;
  }

 private:
  // Calls `take` within each message of that field, and passes over everything else.
  template <typename TakeMessage>
  bool Each(int field, TakeMessage take) {
    while (const uint32_t tag = stream_.ReadTag()) {
      if (tag != WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
        if (!WireFormatLite::SkipField(&stream_, tag)) return false;
        continue;
      }
      int length = 0;
      if (!stream_.ReadVarintSizeAsInt(&length)) return false;
      const auto limit = stream_.PushLimit(length);
      if (!take()) return false;
      stream_.PopLimit(limit);
    }
    return true;
  }

  bool Elements() {
    while (const uint32_t tag = stream_.ReadTag()) {
      const int field = WireFormatLite::GetTagFieldNumber(tag);
      int length = 0;
      if (ElementBytes(field) == 0) {
        if (!WireFormatLite::SkipField(&stream_, tag)) return false;
      } else if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
        const int begin = stream_.CurrentPosition();
        if (!WireFormatLite::SkipField(&stream_, tag)) return false;
        size_.wire_bytes += kTagBytes + static_cast<uint64_t>(stream_.CurrentPosition() - begin);
        size_.parsed_bytes += std::max(ElementBytes(field), kLooseBytes);
      } else {
        if (!stream_.ReadVarintSizeAsInt(&length)) return false;
        const auto begin = static_cast<size_t>(stream_.CurrentPosition());
        if (!stream_.Skip(length)) return false;
        Add(field, bytes_.substr(begin, static_cast<size_t>(length)));
      }
    }
    return true;
  }

  // A string, or many numbers.
  void Add(int field, absl::string_view value) {
    size_.wire_bytes += kTagBytes + value.size() +
                        CodedOutputStream::VarintSize32(static_cast<uint32_t>(value.size()));
    if (field == Contents::kBytesContentsFieldNumber) {
      size_.parsed_bytes += kStringBytes + value.size();
    } else if (IsFixed(field)) {
      size_.parsed_bytes += value.size();
    } else {
      // Each varint ends with the byte whose highest bit is clear.
      for (const char byte : value) {
        if (static_cast<signed char>(byte) >= 0) size_.parsed_bytes += ElementBytes(field);
      }
    }
  }

  const absl::string_view bytes_;
  CodedInputStream stream_;
  ContentsSize size_;
};

}  // namespace

ContentsSize MeasureContents(absl::string_view fields) { return Measure(fields).Take(); }

}  // namespace mpsd
