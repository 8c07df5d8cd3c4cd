// Inflater: makes plain, within bounds, the messages that clients have compressed.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>

#include "absl/status/status.h"
#include "proto/base/byte_allowance.h"

namespace mpsd {

// Thread-safe; owned by the server, it outlives every message that it made. It stands between a
// message's arrival and its first reader, on the InflaterThreads, and keeps nothing from one
// message to the next. gRPC's own inflating is never in force: it looks at a limit only when all of
// the message is there.
//
// Memory is taken piece by piece as the bytes come out, whatever the message says of its size; no
// more than a message may have, and no more than all of them may.
class Inflater {
 public:
  // The largest message; what all messages may take that were inflated and that somebody holds.
  Inflater(uint64_t message_bytes, uint64_t held_limit_bytes)
      : message_bytes_(message_bytes), held_(held_limit_bytes) {}
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Whether the client has compressed it. Changes nothing.
  static bool IsCompressed(grpc::ByteBuffer* message);

  // Makes a compressed message plain; a plain one stays as it is. When it fails the message is
  // still compressed, and nothing is held: RESOURCE_EXHAUSTED beyond one of the limits, which says
  // when to come again unless the message itself is too large; INVALID_ARGUMENT when the bytes are
  // not one gzip member, or one zlib stream, whole and alone.
  absl::Status Inflate(grpc::ByteBuffer* message);

  // What the messages take that were inflated and that somebody holds.
  uint64_t held_bytes() const { return held_.taken_bytes(); }

 private:
  const uint64_t message_bytes_;
  ByteAllowance held_;
};

}  // namespace mpsd
