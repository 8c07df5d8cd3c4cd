// PinLedger: bounds the memory that clients occupy by not reading their answers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "server/wire/unread_copies.h"

namespace mpsd {

// Large answers reach gRPC as slices of workers' memory. A slice pins that memory until the client
// has read it. The ledger counts pinned bytes per connection, and owns the UnreadCopies. Both are
// bounded. An answer that may not be pinned is copied.
//
//   an output over kCopiedReplyBytes
//     the connection's account and the worker's OutputLease have room  → pinned: no copy
//     else, copies() has room                                          → copied
//     else                                                             → RESOURCE_EXHAUSTED
//
// The limits are `limits.connection_pinned` and `limits.unread_copies` of the config. WriteReply()
// takes from them. A slice returns its part when gRPC releases it, on any thread, even after the
// server has ended: each slice shares the ledger.
//
// The number of accounts is fixed. Connections whose addresses hash alike share an account, which
// costs them only copies. So do all connections of a Unix socket, because gRPC gives them one
// address.
//
// The counters order nothing but themselves: references held by slices guard pinned memory. Shared
// by the server and all slices that gRPC holds. The accounts are lock-free. Thread-safe.
class PinLedger {
 public:
  class Account {
   public:
    // Asks to pin `bytes` more; after true the caller calls Unpin() once. False beyond the limit.
    // Also false if the client has read nothing for kSlowReaderNs while bytes are pinned: a slow
    // reader keeps its pins and gets no more.
    bool TryPin(uint64_t bytes, uint64_t limit_bytes, int64_t now_ns);

    // Returns the bytes of one TryPin(), and records that the client makes progress.
    void Unpin(uint64_t bytes, int64_t now_ns);

    uint64_t pinned_bytes() const { return pinned_bytes_.load(std::memory_order_relaxed); }

   private:
    std::atomic<uint64_t> pinned_bytes_{0};
    std::atomic<int64_t> progress_ns_{0};  // when bytes were last unpinned, or nothing was pinned
  };

  // The limits per account, and for all copies together; `cut` as in UnreadCopies.
  PinLedger(
      uint64_t limit_bytes, uint64_t copied_limit_bytes,
      UnreadCopies::Cut cut = [](const std::string&) { return false; })
      : limit_bytes_(limit_bytes), copies_(copied_limit_bytes, std::move(cut)) {}

  // The account of the connection that gRPC knows by this address. Lives as long as the ledger.
  Account* Of(absl::string_view peer);
  uint64_t limit_bytes() const { return limit_bytes_; }

  UnreadCopies* copies() { return &copies_; }

 private:
  static constexpr size_t kAccounts = 1024;

  const uint64_t limit_bytes_;
  UnreadCopies copies_;
  std::array<Account, kAccounts> accounts_;
};

}  // namespace mpsd
