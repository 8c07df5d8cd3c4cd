// Scheduler: decides which requests run next, in which batch, on which lane, and when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

#include "absl/types/span.h"
#include "server/pool/schedule/latency_curve.h"
#include "server/pool/schedule/return_forecast.h"

namespace mpsd {

// A line of queued requests with complete rows. It is sorted by rank, then by deadline. Rank 0 is
// served first: a rank combines a request's priority and whether the request must yield to others
// of that priority. Tenants share a rank. The head has the first rank's earliest deadline. The
// requests of a line have equal shape keys, so they can share a batch. The line of suspects
// (requests that have seen a worker die) is an exception: each of them runs alone. Times are those
// of the monotonic clock (proto/base/clock.h).
struct LineView {
  uint32_t rows = 0;       // rows of the head's rank; 0: nobody waits, other fields mean nothing
  uint32_t head_rows = 0;  // rows of the largest request that may start the next batch
  int64_t head_arrival_ns = 0;
  int64_t head_deadline_ns = 0;         // when the head's wait ends
  int64_t head_answer_deadline_ns = 0;  // not before head_deadline_ns
  int64_t tail_deadline_ns = 0;         // when the wait of the last request of the head's rank ends
  const LatencyCurve* curve = nullptr;  // for the line's batches; null: nothing is known
  uint32_t rank = 0;                    // rank of the head
  // Later ranks fill the batches of the head's rank. These describe the later rank whose head has
  // the earliest deadline, with that head's deadlines.
  uint32_t later_rows = 0;
  uint32_t later_rank = 0;
  int64_t later_deadline_ns = std::numeric_limits<int64_t>::max();
  int64_t later_answer_deadline_ns = 0;
  // Lane time already used by the head request's tenant (TenantShares); 0 if there is one tenant.
  // Among lines of equal rank, the smallest goes first.
  int64_t head_served_ns = 0;
  // Rows that the token budget allows in a batch. At least `head_rows`, because a request with more
  // rows than may be shared runs alone.
  uint32_t most_rows = std::numeric_limits<uint32_t>::max();
  uint64_t pin = 0;                // pin of the only lane that may run it; 0: any lane may
  uint64_t head_output_bytes = 0;  // least size of the head's answer; 0: unknown

  bool empty() const { return rows == 0; }
  uint32_t all_rows() const { return rows + later_rows; }
  friend bool operator==(const LineView&, const LineView&) = default;
};

// Lines are served by the rank of their head, then by the lane time of its tenant, then by its
// deadline. Pure.
inline bool IsServedBefore(const LineView& line, const LineView& other) {
  return std::tuple(line.rank, line.head_served_ns, line.head_deadline_ns) <
         std::tuple(other.rank, other.head_served_ns, other.head_deadline_ns);
}

struct LaneView {
  uint32_t worker = 0;      // index in SchedulerSnapshot::workers
  uint32_t batches = 0;     // one runs, the others wait in the lane's ring
  int64_t free_at_ns = 0;   // when all are expected to have run; past: at once, or unknown
  uint64_t pin = 0;         // the name that binds lines to it
  int64_t expected_ns = 0;  // how long its last batch is expected to run; 0: unknown
};

struct WorkerView {
  uint32_t first_lane = 0;  // index in SchedulerSnapshot::lanes; a worker's lanes are neighbours
  uint32_t batches = 0;     // on all its lanes
  bool takes_batches = true;
  bool kept = false;            // reserved for suspects
  bool has_output_room = true;  // false: since the last kWait a batch found no room for outputs
  bool has_resources = true;    // false: others hold what a batch needs (PoolClaims)
  int64_t turn_ns = 0;          // how long a batch waits for those resources (TurnWait)
  int64_t turn_since_ns = 0;    // since when a batch waits for them; 0: none does
  double slowness = 1;          // its batches' time as a multiple of the usual (Slowness)
  uint32_t passed_over = 0;     // batches that others got since its last
  // largest lease for an answer
  uint64_t largest_lease_bytes = std::numeric_limits<uint64_t>::max();

  // Whether it takes batches of lines, not only of suspects.
  bool takes_lines() const { return takes_batches && !kept; }
  bool may_run() const { return takes_batches && has_resources; }
  bool is_slow() const { return slowness > 1; }
};

// A scheduler's view of one pool. The spans refer to tables that the pool keeps anyway, so a
// snapshot is cheap. They are valid until the decision was carried out.
struct SchedulerSnapshot {
  absl::Span<const LineView> lines;  // empty lines included
  LineView suspects;                 // each of them runs alone, whatever its shape
  absl::Span<const LaneView> lanes;
  absl::Span<const WorkerView> workers;
  uint32_t max_batch_rows = 1;
  uint32_t usual_batch_rows = 1;  // mean of the last few batches
  ExpectedReturns returns;

  uint32_t MostRowsOf(const LineView& line) const {
    return std::min(max_batch_rows, line.most_rows);
  }
};

struct SchedulerDecision {
  enum class Step : uint8_t {
    kWait,        // nothing until a change or `at_ns`
    kKeepWorker,  // `worker` is reserved for suspects, until another line runs there
    kDrop,        // end or demote expired requests of `rank` of `line`, up to `at_ns`
    kRun,         // a batch of up to `max_rows` rows of `line` goes to `lane`
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

// A pure function of a snapshot and the time: Decide() reads no clock, takes no lock, allocates and
// remembers nothing. A pool owns it and calls Decide() under its mutex whenever a request was
// queued, a batch came back, a worker came or went, or a kWait's time has come. The pool carries
// the decision out and asks again, until kWait or until a batch found no room for its outputs
// (except a batch of suspects: rule 4). A scheduler never sees a request, a payload or a segment.
// Thread-safe.
//
// The pool CHECKs that each decision can be carried out and changes something.
//  1. A kKeepWorker names a worker that takes batches and is not kept. Any worker that was kept
//     before has no batch, and is kept no more.
//  2. A kDrop names a rank of a line whose first request's deadline is at `at_ns` or earlier.
//  3. A kRun names a line that is not empty, and a lane with fewer than kMaxLaneDepth batches
//     (proto/base/limits.h) whose worker takes batches. The scheduler knows how many a lane should
//     have (1 on a cpu). `max_rows` is at least the head's rows.
//  4. A batch of suspects goes to a kept worker that has no batch and has output room.
//  5. A kRun names no worker without resources. If they turn out to be missing, the pool shows that
//     in the views and asks again.
// A kRun of another line to a kept worker ends the keeping.
//
// A batch is formed when it runs: no request is bound to a lane before. So kWait with `at_ns` says
// "in x µs", and the scheduler may decide otherwise until then.
//
// docs/decisions/0015-scheduler-as-a-pure-function.md says what latency curves, admission and
// device shares add, and where. Additions are fields of the views and steps of the decision; the
// pool's loop stays the same.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  virtual SchedulerDecision Decide(const SchedulerSnapshot& snapshot, int64_t now_ns) const = 0;
};

}  // namespace mpsd
