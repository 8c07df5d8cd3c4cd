// GrpcMessages: cuts the body of a gRPC call into messages.
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

// Moved, not copied.
struct GrpcPiece {
  std::string bytes;
  size_t begin = 0;       // where the message begins
  size_t wire_bytes = 0;  // message and prefix, in the body
  bool is_compressed = false;

  absl::string_view view() const { return absl::string_view(bytes).substr(begin); }
};

// Pieces of the body have nothing to do with messages:
//
//   pieces     | ~~~~~~~~~~~~~~ | ~~ | ~~~~~~~~~~~~~~~~~~~~~~~~~~ |
//   messages   | prefix ~~~~~ | prefix ~~~~~~~~~~~~~~~ | prefix ~
//
//   while (message = Next()) serve it; Add(the next piece) …
//
// Holds one largest message at most, and a piece. Large messages keep the memory of the pieces,
// others are copied out. Part of a task. Thread-compatible.
class GrpcMessages {
 public:
  GrpcMessages(uint64_t message_bytes, BodyCoding coding)
      : message_bytes_(message_bytes), coding_(coding) {}

  // REQUIRES: Next() has found no message.
  void Add(std::string piece);

  // Nothing if more of the body is needed. RESOURCE_EXHAUSTED for too large a message and INTERNAL,
  // as IsCompressed(), end the call.
  absl::StatusOr<std::optional<GrpcPiece>> Next();

  // The same, with the pieces that the call has.
  absl::StatusOr<std::optional<GrpcPiece>> NextOf(HttpCall* call);

 private:
  GrpcPiece Take(size_t length, bool is_compressed);

  const uint64_t message_bytes_;
  const BodyCoding coding_;
  std::string bytes_;
  size_t begin_ = 0;   // where the next prefix begins
  size_t wanted_ = 0;  // bytes of the message that is there in part
};

}  // namespace mpsd
