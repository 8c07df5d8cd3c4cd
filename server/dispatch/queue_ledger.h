// QueueLedger: how much waits in a pool, of each priority level and tenant, against its limits.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/limits.h"
#include "server/dispatch/completion_rate.h"
#include "server/request/request.h"

namespace mpsd {

// Part of a PoolQueue, which counts each request that comes and goes. It holds no request. Each
// priority level has a limit of its own, so that one that overflows leaves room for the others.
// Where callers are told apart one tenant has at most as much as is left for all others: so one
// alone gets half of each limit, and N that flood the queue leave a part of 1 / (N + 1).
// Thread-compatible: guarded by the pool's mutex.
//
// Invariants, which CheckInvariants() holds it to:
//  1. What is counted of all is the sum of the levels, and that of the tenants.
//  2. What is counted of a level is the sum of all tenants' parts of it.
class QueueLedger {
 public:
  struct Limits {
    std::vector<uint32_t> requests = {kDefaultQueueRequests};  // of each priority level
    uint64_t bytes = kDefaultQueueBytes;
  };

  struct Sum {
    uint32_t requests = 0;
    uint64_t bytes = 0;
    uint64_t rows = 0;

    void Add(const Request& request, int sign);
    void Add(const Sum& other);
    bool operator==(const Sum&) const = default;
  };

  explicit QueueLedger(const Limits& limits) : limits_(limits), levels_(limits.requests.size()) {}

  // Whether a limit refuses this new request of `bytes` bytes.
  bool IsFull(const Request& request, uint64_t bytes) const;

  // How a request is refused that finds no room, with the time to come again.
  absl::Status FullError() const;

  // A request has come, `sign` 1, or has gone, -1. Its bytes, rows, level and tenant stay what they
  // are between the two calls.
  void Count(const Request& request, int sign);

  // Of the requests that are served before such a new one: those of higher priority levels, those
  // of its own level and tenant, and of each other tenant of that level the equal share.
  uint64_t RowsBefore(const Request& request) const;

  uint32_t requests() const { return all_.requests; }
  uint64_t bytes() const { return all_.bytes; }
  uint64_t most_bytes() const { return limits_.bytes; }
  CompletionRate* rate() { return &rate_; }

  // CHECKs the class's invariants, and returns all that is counted. Slow: for tests.
  Sum CheckInvariants() const;

 private:
  struct Tenant {
    explicit Tenant(size_t level_count) : levels(level_count) {}

    Sum all;
    std::vector<Sum> levels;
  };

  bool HasItsShare(const Request& request) const;

  const Limits limits_;
  CompletionRate rate_;
  Sum all_;
  std::vector<Sum> levels_;
  std::vector<Tenant> tenants_;  // those that ever had a request here
};

}  // namespace mpsd
