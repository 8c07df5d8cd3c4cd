#include "server/bodies/grpc/named_model.h"

#include "proto/encoding/protobuf_reader.h"

namespace mpsd {

std::optional<absl::string_view> TextField(absl::string_view bytes, uint32_t field) {
  absl::string_view text;
  ProtobufReader reader(bytes);
  while (reader.Next()) {
    if (reader.Is(field, WireType::kLengthDelimited)) text = reader.text();
  }
  if (reader.malformed()) return std::nullopt;
  return text;
}

}  // namespace mpsd
