#include "server/wire/named_model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace mpsd {

using google::protobuf::internal::WireFormatLite;

std::optional<absl::string_view> TextField(absl::string_view bytes, uint32_t field) {
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  const uint32_t wanted =
      WireFormatLite::MakeTag(static_cast<int>(field), WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  absl::string_view text;
  for (uint32_t tag = input.ReadTag(); tag != 0; tag = input.ReadTag()) {
    if (tag != wanted) {
      if (!WireFormatLite::SkipField(&input, tag)) return std::nullopt;
      continue;
    }
    uint32_t length = 0;
    if (!input.ReadVarint32(&length)) return std::nullopt;
    const auto at = static_cast<size_t>(input.CurrentPosition());
    if (length > bytes.size() - at || !input.Skip(static_cast<int>(length))) return std::nullopt;
    text = bytes.substr(at, length);
  }
  if (!input.ConsumedEntireMessage()) return std::nullopt;
  return text;
}

}  // namespace mpsd
