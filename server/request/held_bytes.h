// HeldBytes: bounds the bytes held for clients, and each client's share.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/check.h"

namespace mpsd {

// A client may have half of the limit, but always one message of the largest size. The holder
// numbers clients, for example by a hash of the address. The DoorBounds have one for inflated
// messages, the HttpServer for arriving bodies. Outlives all pieces. Thread-safe.
class HeldBytes {
 public:
  // REQUIRES: message_bytes <= limit_bytes.
  HeldBytes(uint64_t limit_bytes, uint64_t message_bytes)
      : limit_bytes_(limit_bytes), share_bytes_(std::max(limit_bytes / 2, message_bytes)) {
    MPSD_CHECK(message_bytes <= limit_bytes);
  }

  // False, without any change, if the client or all together would have too much.
  bool TryTake(uint64_t client, uint64_t bytes) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    const auto found = of_client_.find(client);
    const uint64_t has = found == of_client_.end() ? 0 : found->second;
    if (bytes > limit_bytes_ - taken_bytes_ || bytes > share_bytes_ - has) return false;
    taken_bytes_ += bytes;
    of_client_[client] = has + bytes;
    return true;
  }

  // The bytes of one TryTake().
  void GiveBack(uint64_t client, uint64_t bytes) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    const auto found = of_client_.find(client);
    MPSD_CHECK(found != of_client_.end() && found->second >= bytes && taken_bytes_ >= bytes);
    taken_bytes_ -= bytes;
    found->second -= bytes;
    if (found->second == 0) of_client_.erase(found);
  }

  uint64_t taken_bytes() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return taken_bytes_;
  }

 private:
  const uint64_t limit_bytes_;
  const uint64_t share_bytes_;

  mutable absl::Mutex mu_;
  uint64_t taken_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<uint64_t, uint64_t> of_client_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
