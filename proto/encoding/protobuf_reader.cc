#include "proto/encoding/protobuf_reader.h"

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"

namespace mpsd {
namespace {

constexpr size_t kMaxOpenGroups = 100;  // the depth limit of protobuf's parser

}  // namespace

bool ProtobufReader::Next() {
  if (malformed_ || rest_.empty()) return false;
  const absl::string_view before = rest_;
  malformed_ = !TakeField() || type_ == WireType::kGroupEnd ||
               (type_ == WireType::kGroupBegin && !SkipGroup());
  whole_ = before.substr(0, before.size() - rest_.size());
  return !malformed_;
}

// Takes only the key of a group's begin or end.
bool ProtobufReader::TakeField() {
  uint64_t key = 0;
  if (!TakeVarint(kMaxKeyBytes, &key)) return false;
  key &= UINT32_MAX;  // as protobuf reads it
  if (key >> 3 == 0) return false;
  field_ = static_cast<uint32_t>(key >> 3);
  type_ = static_cast<WireType>(key & 7);
  number_ = 0;
  text_ = {};
  uint64_t bytes = 0;
  switch (type_) {
    case WireType::kVarint:
      return TakeVarint(SIZE_MAX, &number_);
    case WireType::kFixed64:
      return TakeText(sizeof(uint64_t));
    case WireType::kFixed32:
      return TakeText(sizeof(uint32_t));
    case WireType::kLengthDelimited:
      return TakeVarint(kMaxKeyBytes, &bytes) && TakeText(bytes);
    case WireType::kGroupBegin:
    case WireType::kGroupEnd:
      return true;
  }
  return false;
}

bool ProtobufReader::TakeVarint(size_t most_bytes, uint64_t* value) {
  Varint varint;
  for (size_t i = 0; i < most_bytes && !rest_.empty() && !varint.too_long(); ++i) {
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    if (!varint.Take(byte)) continue;
    *value = varint.value();
    return true;
  }
  return false;
}

bool ProtobufReader::TakeText(uint64_t bytes) {
  if (bytes > rest_.size()) return false;
  text_ = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return true;
}

// The group stays the current field.
bool ProtobufReader::SkipGroup() {
  const uint32_t group = field_;
  absl::InlinedVector<uint32_t, 8> open = {group};
  while (!open.empty()) {
    if (!TakeField()) return false;
    if (type_ == WireType::kGroupBegin) {
      if (open.size() == kMaxOpenGroups) return false;
      open.push_back(field_);
    } else if (type_ == WireType::kGroupEnd) {
      if (field_ != open.back()) return false;
      open.pop_back();
    }
  }
  field_ = group;
  type_ = WireType::kGroupBegin;
  number_ = 0;
  text_ = {};
  return true;
}

}  // namespace mpsd
