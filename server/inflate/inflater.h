// Inflater: decompresses the messages of gRPC's clients, within bounds.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/inflate/inflate_bounds.h"
#include "server/request/held_bytes.h"

namespace mpsd {

// Runs between a message's arrival and its first reader, on the InflaterThreads (step 1 of a
// request). Keeps nothing between messages. gRPC must not inflate for us: it checks the limit only
// after it has inflated the whole message (decision 0013).
//
// A message of 64 KiB can inflate to 64 MiB. So memory is taken piece by piece as bytes come out
// (InflateStream):
//
//   1 to 16 KiB | twice as much | … | 1 MiB | 1 MiB | …      each piece is a slice of the plain one
//   ^ four times the compressed size
//
// Two limits hold in any case, and MessageInflation shares them for HTTP:
//   1. One message has at most `message_bytes` plain bytes, limits.message.
//   2. All inflated messages still held have at most `held_limit_bytes` of pieces, limits.buffered.
//      One client may have half of that, or one message. A piece is returned when gRPC drops the
//      last reference on its slice.
//
// Owned by the server; outlives every message that it inflated. Thread-safe: any number of threads
// inflate at a time, each its own message.
class Inflater {
 public:
  // The limits of one message, and of all inflated messages still held.
  Inflater(uint64_t message_bytes, uint64_t held_limit_bytes)
      : held_(held_limit_bytes, message_bytes), bounds_{message_bytes, &held_} {}
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Leaves the message as it is. Cheap: called for every message, on the queue thread.
  static bool IsCompressed(grpc::ByteBuffer* message);

  // Replaces a compressed message by the plain one; leaves a plain message as it is. Takes up to a
  // tenth of a second: never call it on a queue thread. After a failure the message is still
  // compressed and no memory is held. The status is the client's answer. RESOURCE_EXHAUSTED beyond
  // a limit, with a time to retry unless the message itself is too large. INVALID_ARGUMENT unless
  // the bytes are exactly one gzip member or zlib stream. The parameter `client` is the client's
  // address as gRPC writes it: of a connection, or of a Unix socket.
  absl::Status Inflate(grpc::ByteBuffer* message, absl::string_view client);

  // The same bounds, for messages of another transport, which count here too.
  const InflateBounds& bounds() const { return bounds_; }

  uint64_t held_bytes() const { return held_.taken_bytes(); }

 private:
  HeldBytes held_;
  const InflateBounds bounds_;
};

}  // namespace mpsd
