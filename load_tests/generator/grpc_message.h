// gRPC's framing of a message inside HTTP/2: a flag, the length, and the message.
//
//   00 │ 00 00 10 2a │ …         not compressed, 4,138 bytes
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::load {

// The message, framed and in one piece. Pure.
std::string Framed(const grpc::ByteBuffer& message);

// The one message that these bytes frame. Empty if the message is compressed, or if the bytes are
// not exactly one message. The view is into `bytes`. Pure.
std::optional<absl::string_view> Unframed(absl::string_view bytes);

}  // namespace mpsd::load
