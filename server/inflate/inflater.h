// Inflater: decompresses clients' messages, within bounds.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>

#include "absl/status/status.h"
#include "proto/base/byte_allowance.h"

namespace mpsd {

// Stands between a message's arrival and its first reader, on the InflaterThreads. Keeps nothing
// from one message to the next. gRPC never inflates for us, because it checks the limit only after
// it has inflated the whole message.
//
// Takes memory piece by piece as bytes come out, and believes nothing that the message says of its
// size. Two limits hold: of one message, and of all inflated messages together. Owned by the
// server; outlives every message it inflated. Thread-safe.
class Inflater {
 public:
  // The limits of one message, and of all inflated messages that somebody still holds.
  Inflater(uint64_t message_bytes, uint64_t held_limit_bytes)
      : message_bytes_(message_bytes), held_(held_limit_bytes) {}
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // True when the client compressed the message. Leaves the message as it is.
  static bool IsCompressed(grpc::ByteBuffer* message);

  // Replaces a compressed message by the plain one; leaves a plain message as it is. Takes up to a
  // tenth of a second for the largest message. After a failure the message is still compressed and
  // no memory is held. RESOURCE_EXHAUSTED beyond a limit; the status says when to try again, unless
  // the message itself is too large. INVALID_ARGUMENT unless the bytes are exactly one gzip member
  // or one zlib stream.
  absl::Status Inflate(grpc::ByteBuffer* message);

  // The memory of all inflated messages that somebody still holds.
  uint64_t held_bytes() const { return held_.taken_bytes(); }

 private:
  const uint64_t message_bytes_;
  ByteAllowance held_;
};

}  // namespace mpsd
