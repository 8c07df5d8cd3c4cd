// SlabAnnouncer: adds slab segments to a pool and takes them away, in step with the pool's workers.
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
#include "server/dispatch/pool.h"
#include "server/supervise/memory_budget.h"

namespace mpsd {

// One a pool; lives on the supervisor's thread.
//
// The life of a segment but the first, which is made with the pool and sent with the attach order:
//   absent → announced (every attached worker is told of it)
//          → serving, once each of them that serves has mapped it
//          → retiring, once the pool has not used it for a while (every worker is told to let go)
//          → absent, once each has.
// A worker that dies is out of the count. A worker that attaches later is told of every segment
// that is not retiring; it may serve once Settled() says so. One that warms up may take minutes to
// read what it is told, and no segment waits for it to be added, as no batch goes there yet.
class SlabAnnouncer {
 public:
  using Send = std::function<absl::Status(const Message&, absl::Span<const int> fds)>;

  // Pool and budget outlive it.
  SlabAnnouncer(Pool* pool, MemoryBudget* budget, std::string model)
      : pool_(pool), budget_(budget), model_(std::move(model)) {}

  // The worker has its attach order, with segment 0. `send` writes to its control socket; that it
  // fails is for whoever reaps the worker.
  void Attach(const WorkerLink* worker, Send send);

  // The worker is confirmed dead.
  void Detach(const WorkerLink* worker);

  // What a worker says of its segments. INVALID_ARGUMENT when it was not asked.
  absl::Status Take(const WorkerLink* worker, const Message& message);

  // True when the worker has done everything that it was told.
  bool Settled(const WorkerLink* worker) const;

  // The worker gets batches from now on. REQUIRES: Settled().
  void Serve(const WorkerLink* worker);

  // Called every kLookNs or more often: adds what is wanted, retires what has idled for kIdleLooks
  // looks. Returns, once each, the workers that have owed an answer for kPatienceNs although they
  // are warm; the caller gives them up. `now_ns` goes on only while the front end does.
  std::vector<const WorkerLink*> Tick(const std::function<bool(const WorkerLink*)>& is_warm,
                                      int64_t now_ns);

  static constexpr int64_t kLookNs = 250 * kNsPerMs;
  static constexpr uint32_t kIdleLooks = 8;
  static constexpr int64_t kPatienceNs = 120 * kNsPerSecond;

 private:
  struct Peer {
    Send send;
    std::bitset<kMaxSlabSegments> to_map;  // told, not yet acknowledged
    std::bitset<kMaxSlabSegments> to_unmap;
    bool serves = false;
    int64_t overdue_at_ns = 0;  // while it is warm and owes an answer; else 0

    bool Settled() const { return to_map.none() && to_unmap.none(); }
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
  std::bitset<kMaxSlabSegments> taken_{1};  // numbers that are not absent; 0 never is
  std::bitset<kMaxSlabSegments> retiring_;
  std::optional<OwnedSegment> announced_;  // not yet the pool's
  uint32_t announced_number_ = 0;
  int64_t next_look_ns_ = 0;
};

}  // namespace mpsd
