#include "worker/model/torch/host_buffers.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/base/limits.h"

namespace mpsd {

absl::Status HostBuffers::Add(const void* data, uint64_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  if (bytes == 0 || address % page_bytes_ != 0 || bytes % page_bytes_ != 0) {
    return absl::InvalidArgumentError("the memory is not of whole pages");
  }
  absl::StatusOr<std::shared_ptr<void>> buffer = maker_->Make(data, bytes);
  if (!buffer.ok()) return buffer.status();
  absl::MutexLock lock(&mu_);
  pieces_.push_back({static_cast<const char*>(data), bytes, *std::move(buffer)});
  return absl::OkStatus();
}

void HostBuffers::Remove(const void* data) {
  absl::MutexLock lock(&mu_);
  const auto found = std::find_if(pieces_.begin(), pieces_.end(),
                                  [data](const Piece& piece) { return piece.data == data; });
  if (found != pieces_.end()) pieces_.erase(found);
}

std::optional<BufferPlace> HostBuffers::Find(const void* data, uint64_t bytes) const {
  const char* const at = static_cast<const char*>(data);
  absl::ReaderMutexLock lock(&mu_);
  const auto found = std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
    return at >= piece.data && bytes <= piece.bytes &&
           static_cast<uint64_t>(at - piece.data) <= piece.bytes - bytes;
  });
  if (found == pieces_.end()) return std::nullopt;
  const auto offset = static_cast<uint64_t>(at - found->data);
  if (bytes == 0 || offset % kTensorAlignment != 0) return std::nullopt;
  return BufferPlace{found->buffer, offset};
}

uint64_t HostBuffers::HeldBytes() const {
  absl::ReaderMutexLock lock(&mu_);
  uint64_t bytes = 0;
  for (const Piece& piece : pieces_) bytes += piece.bytes;
  return bytes;
}

}  // namespace mpsd
