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

// Where the plain bytes of one message go. Implemented by the transports, which differ in what they
// make of the bytes. Thread-compatible.
class InflateSink {
 public:
  virtual ~InflateSink() = default;

  // Room for further bytes, of which there are at most `most`: one byte or more. Called when the
  // room before is full. A status ends the message.
  virtual absl::StatusOr<absl::Span<char>> Grow(uint64_t most) = 0;
};

// Inflates the pieces, one behind the other, into `sink`. `*unused_bytes` is what stayed empty of
// the sink's last room.
//
// Nothing is believed that the message says of its size: room is asked for as bytes come out, and
// the message ends with the first byte beyond `message_bytes`. INVALID_ARGUMENT unless the bytes
// are exactly one gzip member or zlib stream; RESOURCE_EXHAUSTED beyond the bound, without a time
// to try again, or for lack of memory, with one. Takes up to a tenth of a second for the largest
// message. Thread-safe.
absl::Status InflateStream(CompressedForm form, absl::Span<const absl::string_view> pieces,
                           uint64_t message_bytes, InflateSink* sink, uint64_t* unused_bytes);

// The room that a message of so many compressed bytes asks for first, and what follows a room of
// `bytes`: four times the compressed size, from 1 to 16 KiB, and then twice as much each time, up
// to 1 MiB. Pure.
uint64_t FirstRoomBytes(uint64_t compressed_bytes);
uint64_t NextRoomBytes(uint64_t bytes);

}  // namespace mpsd
