// SlabAnnouncer: adds a pool's slab segments and removes them.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/link/messages.h"
#include "server/pool/lanes/worker_link.h"
#include "server/pool/pool.h"
#include "server/pool/pool_memory.h"
#include "server/supervise/memory_budget.h"

namespace mpsd {

// Moves memory while requests go on. Owned by the pool's WorkerGroup. Lives on the supervisor's
// thread; never blocks.
//
// A segment's life (the first one is made with the pool and stays):
//   absent    → announced, once every attached worker was told of it
//   announced → serving, once each worker that gets batches has mapped it
//   serving   → retiring, once the pool has not used it for a while; all are told to unmap it
//   retiring  → absent, once each has
// A dead worker counts as having answered. A worker that attaches later is told of every segment
// that is not retiring, and gets batches only once HasMappedAll().
//
// Invariants:
//   1. A worker that gets batches has mapped every segment that the pool has.
//   2. A segment's number is used again only after every worker has unmapped it.
//   3. At most one segment is announced at a time.
class SlabAnnouncer {
 public:
  using Send = std::function<absl::Status(const Message&, absl::Span<const int> fds)>;

  SlabAnnouncer(Pool* pool, MemoryBudget* budget, std::string model)
      : pool_(pool), budget_(budget), model_(std::move(model)) {}

  // The worker was sent its attach order, with segment 0. Errors of `send` are ignored: the
  // worker's exit follows. REQUIRES: it is not attached.
  void Attach(const WorkerLink* worker, Send send);

  // The worker is reaped. REQUIRES: it is attached.
  void Detach(const WorkerLink* worker);

  // Takes a SlabsMapped or SlabsUnmapped. INVALID_ARGUMENT for anything else, or an answer that
  // nobody asked for.
  absl::Status Take(const WorkerLink* worker, const Message& message);

  // Whether the worker has answered for every segment that it was told about.
  bool HasMappedAll(const WorkerLink* worker) const;

  // The worker gets batches from now on. REQUIRES: HasMappedAll().
  void Serve(const WorkerLink* worker);

  // Grows the pool as asked, and retires a segment idle for kIdleLooks looks. Called every kLookNs
  // or more often; `now_ns` is OwnTime. Returns, once each, warm workers that have owed an answer
  // for kPatienceNs; the caller kills them.
  std::vector<const WorkerLink*> Tick(const std::function<bool(const WorkerLink*)>& is_warm,
                                      int64_t now_ns);

  static constexpr int64_t kLookNs = 250 * kNsPerMs;
  static constexpr uint32_t kIdleLooks = 8;
  static constexpr int64_t kPatienceNs = 120 * kNsPerSecond;

 private:
  struct Peer {
    Send send;
    std::bitset<kMaxSlabSegments> to_map;  // not answered yet
    std::bitset<kMaxSlabSegments> to_unmap;
    bool serves = false;
    int64_t overdue_at_ns = 0;  // 0 unless it is warm and owes an answer

    bool HasMappedAll() const { return to_map.none() && to_unmap.none(); }
  };

  void Grow(uint64_t bytes);
  void Retire(uint32_t number);
  void Advance();
  void Tell(const SlabSegment& segment, Peer* peer);
  SlabSegment Announced() const;

  Pool* const pool_;
  MemoryBudget* const budget_;
  const std::string model_;
  std::map<const WorkerLink*, Peer> peers_;
  std::bitset<kMaxSlabSegments> taken_{1};  // 0 always is
  std::bitset<kMaxSlabSegments> retiring_;
  std::optional<OwnedSegment> announced_;  // not yet the pool's
  uint32_t announced_number_ = 0;
  int64_t next_look_ns_ = 0;
};

}  // namespace mpsd
