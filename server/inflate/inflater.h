// Inflater: decompresses the messages of gRPC's clients, within bounds.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/inflate/inflate_bounds.h"
#include "server/request/held_bytes.h"

namespace mpsd {

// Stands between a message's arrival and its first reader, on the InflaterThreads (step 1 of a
// request). Keeps nothing from one message to the next. gRPC never inflates for us, because it
// checks the limit only after it has inflated the whole message (decision 0013).
//
// A message of 64 KiB can inflate to 64 MiB. So memory is taken piece by piece as bytes come out
// (InflateStream):
//
//   1 to 16 KiB | twice as much | … | 1 MiB | 1 MiB | …      each piece is a slice of the plain one
//   ^ four times the compressed size
//
// Two limits hold, whatever comes, and BodyInflation shares them for HTTP:
//   1. One message has at most `message_bytes` plain bytes, limits.message.
//   2. All inflated messages that somebody still holds have at most `held_limit_bytes` of pieces,
//      limits.buffered, and those of one client at most half of that, or one message. A piece is
//      given back when gRPC's last reference on its slice goes.
//
// Owned by the server; outlives every message it inflated. Thread-safe: any number of threads
// inflate at a time, each another message.
class Inflater {
 public:
  // The limits of one message, and of all inflated messages that somebody still holds.
  Inflater(uint64_t message_bytes, uint64_t held_limit_bytes)
      : held_(held_limit_bytes, message_bytes), bounds_{message_bytes, &held_} {}
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // True when the client compressed the message. Leaves the message as it is. Cheap: asked for
  // every message, on the queue thread.
  static bool IsCompressed(grpc::ByteBuffer* message);

  // Replaces a compressed message by the plain one; leaves a plain message as it is. Takes up to a
  // tenth of a second for the largest message: never called on a queue thread. After a failure the
  // message is still compressed and no memory is held. The status is the client's answer.
  // RESOURCE_EXHAUSTED beyond a limit; the status says when to try again, unless the message itself
  // is too large. INVALID_ARGUMENT unless the bytes are exactly one gzip member or one zlib stream.
  // `client` is the client's address as gRPC writes it: that of a connection, or of a Unix socket.
  absl::Status Inflate(grpc::ByteBuffer* message, absl::string_view client);

  // The same bounds for the messages of another transport, which count as these do.
  const InflateBounds& bounds() const { return bounds_; }

  // The memory of all inflated messages that somebody still holds.
  uint64_t held_bytes() const { return held_.taken_bytes(); }

 private:
  HeldBytes held_;
  const InflateBounds bounds_;
};

}  // namespace mpsd
