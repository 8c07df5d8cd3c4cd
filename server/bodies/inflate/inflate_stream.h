// InflateStream: the plain bytes of one compressed message, within a bound. Knows no transport.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

enum class CompressedForm : uint8_t {
  kGzip,     // one gzip member
  kDeflate,  // one zlib stream
};

// Receives the plain bytes of one message. Thread-compatible.
class InflateSink {
 public:
  virtual ~InflateSink() = default;

  // Returns room for more bytes: at least one, at most `most`. Called when the last room is full.
  // An error ends the message.
  virtual absl::StatusOr<absl::Span<char>> Grow(uint64_t most) = 0;
};

// Inflates `compressed` into `sink`. `*unused_bytes` is the unused part of the sink's last
// room.
//
// The message's own claim about its size is ignored: room is requested as bytes come out, and the
// message ends with the first byte beyond `message_bytes`. INVALID_ARGUMENT unless the bytes are
// exactly one gzip member or zlib stream. RESOURCE_EXHAUSTED beyond the bound, without a time to
// retry, or for lack of memory, with one. Takes up to a tenth of a second for the largest message.
// Thread-safe.
absl::Status InflateStream(CompressedForm form, absl::string_view compressed,
                           uint64_t message_bytes, InflateSink* sink, uint64_t* unused_bytes);

// The first room is four times the compressed size, from 1 to 16 KiB. Each further room doubles the
// size of the last one, up to 1 MiB. Pure.
uint64_t FirstRoomBytes(uint64_t compressed_bytes);
uint64_t NextRoomBytes(uint64_t bytes);

}  // namespace mpsd
