#include "server/bodies/inflate/inflated_body.h"

#include <algorithm>

#include "absl/hash/hash.h"

namespace mpsd {
namespace {

// The format allows no more, except for the first bytes.
constexpr uint64_t kMostRatio = 1032;
constexpr uint64_t kFirstBytes = 1 << 10;

}  // namespace

absl::Status InflatedBody::Inflate(CompressedForm form, absl::string_view compressed,
                                   absl::string_view client) {
  Drop();
  client_ = absl::HashOf(client);
  next_bytes_ = FirstRoomBytes(compressed.size());
  const uint64_t most = kMostRatio * compressed.size() + kFirstBytes;
  bytes_.reserve(std::min(bounds_.message_bytes, most) + kPaddingBytes);
  uint64_t unused_bytes = 0;
  const absl::Status status =
      InflateStream(form, compressed, bounds_.message_bytes, this, &unused_bytes);
  if (!status.ok()) {
    Drop();
    return status;
  }
  GiveBack(unused_bytes);
  bytes_.resize(bytes_.size() - unused_bytes);
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<char>> InflatedBody::Grow(uint64_t most) {
  const uint64_t bytes = std::min(next_bytes_, most);
  if (!bounds_.held->TryTake(client_, bytes)) return TooManyInflated();
  taken_bytes_ += bytes;
  next_bytes_ = NextRoomBytes(next_bytes_);
  const size_t used = bytes_.size();
  bytes_.resize(used + bytes);
  return absl::Span<char>(bytes_.data() + used, bytes);
}

void InflatedBody::GiveBack(uint64_t bytes) {
  if (bytes == 0) return;
  bounds_.held->GiveBack(client_, bytes);
  taken_bytes_ -= bytes;
}

void InflatedBody::Drop() {
  std::string().swap(bytes_);
  GiveBack(taken_bytes_);
}

}  // namespace mpsd
