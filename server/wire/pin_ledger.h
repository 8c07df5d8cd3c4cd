// PinLedger: what clients keep by not reading their answers: of the workers' memory, each
// connection for itself, and of copies on the heap, all together.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "proto/base/byte_allowance.h"

namespace mpsd {

// Thread-safe, lock-free, of fixed size: connections share an account where their addresses hash
// alike, and all of a Unix socket's do, for gRPC gives them one address; they then share the limit,
// which costs them copies and nothing else. Outlives the last slice that gRPC holds.
class PinLedger {
 public:
  // One connection's account.
  class Account {
   public:
    // Asks to keep `bytes` more. False beyond the limit, and when something is kept and nothing of
    // it was read for kSlowReaderNs: a slow reader keeps what it has and no more.
    bool TryPin(uint64_t bytes, uint64_t limit_bytes, int64_t now_ns);
    void Unpin(uint64_t bytes, int64_t now_ns);

    uint64_t pinned_bytes() const { return pinned_bytes_.load(std::memory_order_relaxed); }

   private:
    std::atomic<uint64_t> pinned_bytes_{0};
    std::atomic<int64_t> progress_ns_{0};  // when it kept nothing, or let something go, last
  };

  // Of one connection's pinned answers, and of all copies.
  PinLedger(uint64_t limit_bytes, uint64_t copied_limit_bytes)
      : limit_bytes_(limit_bytes), copies_(copied_limit_bytes) {}

  // The account of the connection that gRPC knows by this address.
  Account* Of(absl::string_view peer);
  uint64_t limit_bytes() const { return limit_bytes_; }

  // Copies that are kept until they are sent.
  ByteAllowance* copies() { return &copies_; }

 private:
  static constexpr size_t kAccounts = 1024;

  const uint64_t limit_bytes_;
  ByteAllowance copies_;
  std::array<Account, kAccounts> accounts_;
};

}  // namespace mpsd
