// Scheduler: decides which requests run next, in which batch, on which lane, and when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

#include "absl/types/span.h"
#include "server/schedule/latency_curve.h"
#include "server/schedule/return_forecast.h"

namespace mpsd {

// A line of queued requests whose rows are filled. Sorted by rank (0 is served first: it says of
// which priority a request is, and whether it has to yield to others of that), and within a rank by
// deadline; tenants share a rank. The head is the one with the earliest deadline of the first rank.
// The requests of a line have equal shape keys, so that they can share a batch; but for the line of
// suspects (requests that have seen a worker die), of which each runs alone. Times are those of the
// monotonic clock (proto/base/clock.h).
struct LineView {
  uint32_t rows = 0;       // of the head's rank. 0: nobody waits, and the other fields mean nothing
  uint32_t head_rows = 0;  // the most that one has that may be first in a batch
  int64_t head_arrival_ns = 0;
  int64_t head_deadline_ns = 0;         // of its wait
  int64_t head_answer_deadline_ns = 0;  // not before that of its wait
  int64_t tail_deadline_ns = 0;         // of the wait of the last one of the head's rank
  const LatencyCurve* curve = nullptr;  // of the line's batches; null: nothing is known of them
  uint32_t rank = 0;                    // the head's
  // Of the ranks behind that one, which fill its batches: the one whose head has the earliest
  // deadline, and the deadlines of that head.
  uint32_t later_rows = 0;
  uint32_t later_rank = 0;
  int64_t later_deadline_ns = std::numeric_limits<int64_t>::max();
  int64_t later_answer_deadline_ns = 0;
  // Lane time that the tenant has had of which the next request is (TenantShares): of lines with
  // heads of one rank the least is served first. 0 where there is but one tenant.
  int64_t head_served_ns = 0;
  // Of a batch, as far as its tokens go; not below `head_rows`, since a request that has more rows
  // than may be shared runs alone.
  uint32_t most_rows = std::numeric_limits<uint32_t>::max();
  uint64_t pin = 0;                // of the one lane that may run it; 0: any may
  uint64_t head_output_bytes = 0;  // that the head's answer takes at least; 0: nobody knows

  bool empty() const { return rows == 0; }
  uint32_t all_rows() const { return rows + later_rows; }
  friend bool operator==(const LineView&, const LineView&) = default;
};

// Lines are served by the ranks of their heads, those of one rank by what their tenants have had,
// and those of equal tenants by their deadlines. Pure.
inline bool IsServedBefore(const LineView& line, const LineView& other) {
  return std::tuple(line.rank, line.head_served_ns, line.head_deadline_ns) <
         std::tuple(other.rank, other.head_served_ns, other.head_deadline_ns);
}

struct LaneView {
  uint32_t worker = 0;      // index in SchedulerSnapshot::workers
  uint32_t batches = 0;     // that it has: one runs, the others wait in its ring
  int64_t free_at_ns = 0;   // when these are expected to have run; past: at once, or nobody knows
  uint64_t pin = 0;         // the name by which lines are bound to it
  int64_t expected_ns = 0;  // for which its last batch is expected to run; 0: nobody knows
};

struct WorkerView {
  uint32_t first_lane = 0;  // index in SchedulerSnapshot::lanes; a worker's lanes are neighbours
  uint32_t batches = 0;     // of all its lanes
  bool takes_batches = true;
  bool kept = false;            // reserved for suspects
  bool has_output_room = true;  // false: a batch found no room for its outputs since the last kWait
  bool has_resources = true;    // false: others hold what a batch needs (PoolClaims)
  int64_t turn_ns = 0;          // for which a batch waits until they do not (TurnWait)
  int64_t turn_since_ns = 0;    // since when one waits for that; 0: none does
  double slowness = 1;          // how many times as long as usual its batches take (Slowness)
  uint32_t passed_over = 0;     // batches that others got since its last one
  uint64_t largest_lease_bytes = std::numeric_limits<uint64_t>::max();  // for an answer

  // Batches of lines, and not of suspects alone.
  bool takes_lines() const { return takes_batches && !kept; }
  bool may_run() const { return takes_batches && has_resources; }
  bool is_slow() const { return slowness > 1; }
};

// What a scheduler sees of one pool. The spans are views of tables that the pool keeps anyway, so a
// snapshot is a few machine words, and cheap. They are valid until the decision has been carried
// out.
struct SchedulerSnapshot {
  absl::Span<const LineView> lines;  // empty lines included
  LineView suspects;                 // each of them runs alone, whatever its shape
  absl::Span<const LaneView> lanes;
  absl::Span<const WorkerView> workers;
  uint32_t max_batch_rows = 1;
  uint32_t usual_batch_rows = 1;  // the mean of the last few batches
  ExpectedReturns returns;

  // The most rows of a batch of that line.
  uint32_t MostRowsOf(const LineView& line) const {
    return std::min(max_batch_rows, line.most_rows);
  }
};

// The one next thing to do.
struct SchedulerDecision {
  enum class Step : uint8_t {
    kWait,        // nothing, until something changes or `at_ns` has come
    kKeepWorker,  // `worker` is reserved for suspects, until another line runs there
    kDrop,        // requests of `rank` of `line` whose deadline is not after `at_ns` end as
                  // expired, or go to a later rank
    kRun,         // `lane` gets a batch of at most `max_rows` rows from the head of `line`
  };

  static constexpr uint32_t kSuspects = std::numeric_limits<uint32_t>::max();  // a value of `line`
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();       // a value of `at_ns`

  Step step = Step::kWait;
  uint32_t line = 0;
  uint32_t rank = 0;
  uint32_t lane = 0;
  uint32_t worker = 0;
  uint32_t max_rows = 0;
  int64_t at_ns = kNever;

  static SchedulerDecision WaitUntil(int64_t at_ns) { return {.at_ns = at_ns}; }
  static SchedulerDecision KeepWorker(uint32_t worker) {
    return {.step = Step::kKeepWorker, .worker = worker};
  }
  static SchedulerDecision Drop(uint32_t line, int64_t until_ns, uint32_t rank = 0) {
    return {.step = Step::kDrop, .line = line, .rank = rank, .at_ns = until_ns};
  }
  static SchedulerDecision Run(uint32_t line, uint32_t lane, uint32_t max_rows) {
    return {.step = Step::kRun, .line = line, .lane = lane, .max_rows = max_rows};
  }

  friend bool operator==(const SchedulerDecision&, const SchedulerDecision&) = default;
};

// A pure function of a snapshot and the time: Decide() reads no clock, takes no lock, allocates
// nothing and remembers nothing. Owned by a pool, which calls Decide() under its mutex whenever a
// request was queued, a batch came back, a worker came or went, or the time of a kWait has come.
// The pool carries the decision out and asks again. It stops at kWait, and when a batch found no
// room for its outputs (not a batch of suspects: see rule 4). A scheduler never sees a request, a
// payload or a segment. Thread-safe.
//
// The pool CHECKs that each decision can be carried out and changes something:
//  1. kKeepWorker names a worker that takes batches and is not kept. A worker that is kept has no
//     batch then, and is kept no more.
//  2. kDrop names a rank of a line whose first request has a deadline that is not after `at_ns`.
//  3. kRun names a line that is not empty, and a lane whose worker takes batches and which has
//     fewer than kMaxLaneDepth (proto/base/limits.h) of them. How many a lane should have, 1 on a
//     cpu, is the scheduler's own to know. `max_rows` is not below the head's rows.
//  4. A batch of suspects goes to a kept worker that has no batch and has output room.
//  5. kRun names no worker without resources. Where they turn out to be lacking, the pool shows it
//     in the views and asks again.
// A kRun of another line to a kept worker ends the keeping.
//
// A batch is formed when it is run: no request is bound to a lane before. So a scheduler says "in
// x µs" with kWait and its `at_ns`, and is free to decide otherwise until then.
//
// What a scheduler with latency curves, admission and shares of a device adds, and where, is in
// docs/decisions/0015-scheduler-as-a-pure-function.md. Such additions are fields of the views and
// steps of the decision; the pool's loop stays the same.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  virtual SchedulerDecision Decide(const SchedulerSnapshot& snapshot, int64_t now_ns) const = 0;
};

}  // namespace mpsd
