// GrpcMessages: cuts the body of a gRPC call into its messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/door/route/body_coding.h"
#include "server/http/http_call.h"

namespace mpsd {

// One message and the bytes that it lies in. Moved, not copied.
struct GrpcPiece {
  std::string bytes;
  size_t begin = 0;       // where the message begins
  size_t wire_bytes = 0;  // bytes that the message and its prefix were in the body
  bool is_compressed = false;

  absl::string_view view() const { return absl::string_view(bytes).substr(begin); }
};

// The body of a call of several messages comes in pieces that have nothing to do with the messages:
//
//   pieces     | ~~~~~~~~~~~~~~ | ~~ | ~~~~~~~~~~~~~~~~~~~~~~~~~~ |
//   messages   | prefix ~~~~~ | prefix ~~~~~~~~~~~~~~~ | prefix ~
//
//   while (message = Next()) serve it; Add(the next piece) …
//
// Memory: at most one message of the largest size, and a piece. A large message keeps the memory in
// which it was collected; others are copied out of it. Part of a task. Thread-compatible.
class GrpcMessages {
 public:
  // The largest message, and how the compressed ones are compressed.
  GrpcMessages(uint64_t message_bytes, BodyCoding coding)
      : message_bytes_(message_bytes), coding_(coding) {}

  // REQUIRES: Next() has found no message.
  void Add(std::string piece);

  // The next message, or nothing if more of the body is needed. RESOURCE_EXHAUSTED if the message
  // is too large, INTERNAL as IsCompressed(): then the call is over.
  absl::StatusOr<std::optional<GrpcPiece>> Next();

  // The same, with the pieces that the call has.
  absl::StatusOr<std::optional<GrpcPiece>> NextOf(HttpCall* call);

 private:
  GrpcPiece Take(size_t length, bool is_compressed);

  const uint64_t message_bytes_;
  const BodyCoding coding_;
  std::string bytes_;
  size_t begin_ = 0;   // where the next prefix begins in `bytes_`
  size_t wanted_ = 0;  // bytes of the message that Next() has found in part
};

}  // namespace mpsd
