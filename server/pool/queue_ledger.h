// QueueLedger: how much waits in a pool, by priority level and tenant, against its limits.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/limits.h"
#include "server/pool/completion_rate.h"
#include "server/request/request.h"

namespace mpsd {

// Part of a PoolQueue, which counts each request that comes and goes. It holds no request. Each
// priority level has its own limit, so that an overflowing level leaves room for others. A known
// tenant may use at most as much as is left for all others. So one alone gets half of each limit,
// and N that flood the queue leave 1 / (N + 1). Thread-compatible: guarded by the pool's mutex.
//
// Invariants, which CheckInvariants() checks:
//  1. The total equals the sum over the levels, and over the tenants.
//  2. A level's count equals the sum over its tenants.
class QueueLedger {
 public:
  struct Limits {
    std::vector<uint32_t> requests = {kDefaultQueueRequests};  // by priority level
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

  bool IsFull(const Request& request, uint64_t bytes) const;

  // How much of the limit of the request's level, or of all bytes, is taken: 1 is full.
  double FullShare(const Request& request) const;

  // The refusal of a request that finds no room, with the time to come again.
  absl::Status FullError() const;

  // A request has come (`sign` 1) or gone (-1). Its bytes, rows, level and tenant do not change
  // between the two calls.
  void Count(const Request& request, int sign);

  // Rows that are served before such a new request. They are those of higher priority levels, of
  // its own level and tenant, and of each other tenant of that level an equal share.
  uint64_t RowsBefore(const Request& request) const;

  uint32_t requests() const { return all_.requests; }
  uint64_t bytes() const { return all_.bytes; }
  uint64_t most_bytes() const { return limits_.bytes; }
  CompletionRate* rate() { return &rate_; }

  // CHECKs the class's invariants, and returns everything counted. Slow: for tests.
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
  std::vector<Tenant> tenants_;  // tenants that ever had a request here
};

}  // namespace mpsd
