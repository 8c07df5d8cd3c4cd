// grpc_message: gRPC's framing of a message inside HTTP/2.
//
//   00 │ 00 00 10 2a │ …         not compressed, 4,138 bytes
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::load {

// In one piece. Pure.
std::string Framed(const grpc::ByteBuffer& message);

// Empty if the bytes are not exactly one message, uncompressed. The view is into `bytes`. Pure.
std::optional<absl::string_view> Unframed(absl::string_view bytes);

}  // namespace mpsd::load
