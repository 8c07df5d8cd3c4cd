// InflateStream: inflates one compressed message, within a bound.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

enum class CompressedForm : uint8_t {
  kGzip,     // one member
  kDeflate,  // one zlib stream
};

// Receives the plain bytes. Thread-compatible.
class InflateSink {
 public:
  virtual ~InflateSink() = default;

  // Room for 1 to `most` more bytes, when the last room is full. An error ends the message.
  virtual absl::StatusOr<absl::Span<char>> Grow(uint64_t most) = 0;
};

// Sets `*unused_bytes` of the sink's last room. Ignores the message's own claim about its size.
// INVALID_ARGUMENT unless the bytes are exactly one gzip member or zlib stream. RESOURCE_EXHAUSTED
// beyond `message_bytes`, without a time to retry, or for lack of memory, with one. Takes up to a
// tenth of a second. Thread-safe.
absl::Status InflateStream(CompressedForm form, absl::string_view compressed,
                           uint64_t message_bytes, InflateSink* sink, uint64_t* unused_bytes);

// Rooms begin with four times the compressed size, from 1 to 16 KiB, and double up to 1 MiB. Pure.
uint64_t FirstRoomBytes(uint64_t compressed_bytes);
uint64_t NextRoomBytes(uint64_t bytes);

}  // namespace mpsd
