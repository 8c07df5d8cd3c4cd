// QueueLedger: how much waits in a pool, by priority level and tenant, against its limits.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/limits.h"
#include "server/pool/completion_rate.h"
#include "server/request/request.h"

namespace mpsd {

// Thread-compatible: its pool's mutex guards it. Each priority level has its own limit, so that an
// overflowing level leaves room for others. A known tenant may use at most as much as is left for
// all others: one alone gets half of each limit, and N that flood the queue leave 1 / (N + 1).
//
// Invariants:
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

  // The larger share that is taken: of the level's limit, or of all bytes. 1 is full.
  double FullShare(const Request& request) const;

  // It says when to come again.
  absl::Status FullError() const;

  // `sign`: 1 for a request that has come, -1 for one that has gone. Its bytes, rows, level and
  // tenant must not change in between.
  void Count(const Request& request, int sign);

  // Rows served before such a new request: those of higher levels, of its own level and tenant, and
  // an equal share of each other tenant of that level.
  uint64_t RowsBefore(const Request& request) const;

  uint32_t requests() const { return all_.requests; }
  uint64_t bytes() const { return all_.bytes; }
  uint64_t most_bytes() const { return limits_.bytes; }
  CompletionRate* rate() { return &rate_; }

  // Returns everything counted. Slow: for tests.
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
  std::vector<Tenant> tenants_;  // all that ever had a request here
};

}  // namespace mpsd
