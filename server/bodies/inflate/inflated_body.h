// InflatedBody: the plain bytes of one compressed message.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/bodies/inflate/inflate_bounds.h"
#include "server/bodies/inflate/inflate_stream.h"

namespace mpsd {

// A message of 64 KiB can inflate to 64 MiB, so memory is taken as bytes come out. Readers need
// contiguous bytes: addresses are reserved for the largest result. Only touched memory counts in
// the bounds, from before it is touched until Drop().
//
//   body.Inflate(form, compressed, peer)      on a thread inflate-N
//   std::string plain = body.Take();          back on the request's thread; the bytes still count
//   body.Drop();                              once `plain` is gone
//
// Owned by one request, and reused. Thread-compatible: MessageInflation hands it to the inflater's
// threads and back.
class InflatedBody final : private InflateSink {
 public:
  // Bytes beyond the end that a reader may touch.
  static constexpr size_t kPaddingBytes = 64;

  // The ledger of `bounds` outlives the body.
  explicit InflatedBody(const InflateBounds& bounds) : bounds_(bounds) {}
  InflatedBody(const InflatedBody&) = delete;
  InflatedBody& operator=(const InflatedBody&) = delete;
  ~InflatedBody() override { Drop(); }

  // Replaces the last message. The share of the bounds is counted by `client`, an address. Blocks.
  // Statuses as InflateStream(). Also RESOURCE_EXHAUSTED, with a time to retry, if the bounds have
  // no room; then nothing is held.
  absl::Status Inflate(CompressedForm form, absl::string_view compressed, absl::string_view client);

  // With room for kPaddingBytes behind them. The bytes count until Drop().
  std::string Take() { return std::exchange(bytes_, std::string()); }

  // Frees the bytes, or says that the caller has freed them.
  void Drop();

 private:
  absl::StatusOr<absl::Span<char>> Grow(uint64_t most) override;
  void GiveBack(uint64_t bytes);

  const InflateBounds bounds_;
  std::string bytes_;
  uint64_t client_ = 0;
  uint64_t taken_bytes_ = 0;  // from the ledger
  uint64_t next_bytes_ = 0;   // next room's size
};

}  // namespace mpsd
