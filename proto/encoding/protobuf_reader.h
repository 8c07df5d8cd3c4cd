// ProtobufReader: walks the fields of a serialized protobuf message, without protobuf.
//
//   ProtobufReader reader(message);
//   while (reader.Next()) {
//     if (reader.Is(kName, WireType::kLengthDelimited)) name = reader.text();
//   }
//   if (reader.malformed()) return absl::InvalidArgumentError("…");
//
// For one or two fields: a request's model name before its rights are known, or the size of
// contents before allocation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "proto/encoding/protobuf_writer.h"

namespace mpsd {

// Reads one message in order; a nested message is text. Results are views into the message. Safe
// for clients' bytes: never reads beyond them and allocates next to nothing. Refuses the malformed
// keys, lengths and groups that protobuf refuses; groups nest at most a hundred deep. A field that
// occurs twice is reported twice. Thread-compatible.
class ProtobufReader {
 public:
  explicit ProtobufReader(absl::string_view message) : rest_(message) {}

  // A whole group is one field. False at the end, and at the first byte that cannot be read.
  bool Next();

  // The walk ended at a mistake.
  bool malformed() const { return malformed_; }

  // ---- the current field, set by the last Next() that returned true ----

  uint32_t field() const { return field_; }
  WireType type() const { return type_; }
  bool Is(uint32_t field, WireType type) const { return field_ == field && type_ == type; }

  // The value of a varint; 0 for other types.
  uint64_t number() const { return number_; }

  // The bytes of a value with a length or a fixed size; empty for other types.
  absl::string_view text() const { return text_; }

  // The field with its key.
  absl::string_view whole() const { return whole_; }

 private:
  bool TakeField();
  bool TakeVarint(size_t most_bytes, uint64_t* value);
  bool TakeText(uint64_t bytes);
  bool SkipGroup();

  absl::string_view rest_;  // the bytes behind the current field
  bool malformed_ = false;
  uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
  uint64_t number_ = 0;
  absl::string_view text_;
  absl::string_view whole_;
};

}  // namespace mpsd
