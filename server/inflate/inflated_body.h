// InflatedBody: the plain bytes of one compressed message, in one piece.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/inflate/inflate_bounds.h"
#include "server/inflate/inflate_stream.h"

namespace mpsd {

// Beside the Inflater, whose messages are slices of gRPC: for a transport whose readers want the
// bytes next to each other. Addresses are reserved for the largest message that the compressed one
// can be, memory is touched as bytes come out, and only memory that is touched counts in the
// bounds, from before it is touched until Drop().
//
//   body.Inflate(form, compressed, peer)      on a thread inflate-N
//   std::string plain = body.Take();          back on the request's thread; the bytes still count
//   body.Drop();                              once `plain` is gone
//
// Owned by one request, and used again for the next. Thread-compatible: what takes it to the
// threads of the inflater and back (BodyInflation) sees to it that one of both uses it at a time.
class InflatedBody final : private InflateSink {
 public:
  // What a reader of the bytes may want to touch behind them.
  static constexpr size_t kPaddingBytes = 64;

  // The ledger of `bounds` outlives the body.
  explicit InflatedBody(const InflateBounds& bounds) : bounds_(bounds) {}
  InflatedBody(const InflatedBody&) = delete;
  InflatedBody& operator=(const InflatedBody&) = delete;
  ~InflatedBody() override { Drop(); }

  // Inflates a message, in place of the one before. `client` is the client's address, by which its
  // share of the bounds is counted. Blocks for the inflating. Statuses as InflateStream(), and
  // RESOURCE_EXHAUSTED, with a time to try again, where the bounds have no room; nothing is held
  // then.
  absl::Status Inflate(CompressedForm form, absl::string_view compressed, absl::string_view client);

  // Gives the bytes to the caller, with room for kPaddingBytes behind them. They count until
  // Drop().
  std::string Take() { return std::exchange(bytes_, std::string()); }

  // Frees the bytes, or says that the caller has freed them.
  void Drop();

 private:
  absl::StatusOr<absl::Span<char>> Grow(uint64_t most) override;
  void GiveBack(uint64_t bytes);

  const InflateBounds bounds_;
  std::string bytes_;
  uint64_t client_ = 0;
  uint64_t taken_bytes_ = 0;  // of the ledger
  uint64_t next_bytes_ = 0;   // the next room
};

}  // namespace mpsd
