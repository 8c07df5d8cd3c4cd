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

// A line of queued requests with complete rows and equal shape keys, sorted by rank, then by
// deadline. A rank combines a request's priority and whether the request must yield; 0 is served
// first. In the line of suspects shapes differ, and each request runs alone. Times are those of the
// monotonic clock.
struct LineView {
  uint32_t rows = 0;       // rows of the head's rank; 0: nobody waits, other fields mean nothing
  uint32_t head_rows = 0;  // rows of the largest request that may start the next batch
  int64_t head_arrival_ns = 0;
  int64_t head_deadline_ns = 0;         // when the head's wait ends
  int64_t head_answer_deadline_ns = 0;  // not before head_deadline_ns
  int64_t tail_deadline_ns = 0;         // when the wait of the last one of the head's rank ends
  const LatencyCurve* curve = nullptr;  // null: nothing is known
  uint32_t rank = 0;                    // rank of the head
  // Later ranks fill the batches of the head's rank. This one's head has the earliest deadline of
  // them.
  uint32_t later_rows = 0;
  uint32_t later_rank = 0;
  int64_t later_deadline_ns = std::numeric_limits<int64_t>::max();
  int64_t later_answer_deadline_ns = 0;
  // Lane time that the head's tenant has used; 0 if there is one tenant.
  int64_t head_served_ns = 0;
  // At least `head_rows`: a request that exceeds the token budget runs alone.
  uint32_t most_rows = std::numeric_limits<uint32_t>::max();
  uint64_t pin = 0;                // pin of the only lane that may run it; 0: any
  uint64_t head_output_bytes = 0;  // least size of the head's answer; 0: unknown

  bool empty() const { return rows == 0; }
  uint32_t all_rows() const { return rows + later_rows; }
  friend bool operator==(const LineView&, const LineView&) = default;
};

inline bool IsServedBefore(const LineView& line, const LineView& other) {
  return std::tuple(line.rank, line.head_served_ns, line.head_deadline_ns) <
         std::tuple(other.rank, other.head_served_ns, other.head_deadline_ns);
}

struct LaneView {
  uint32_t worker = 0;      // index in workers
  uint32_t batches = 0;     // one runs, the others wait in the lane's ring
  int64_t free_at_ns = 0;   // when all should have run; past: at once, or unknown
  uint64_t pin = 0;         // name that binds lines to it
  int64_t expected_ns = 0;  // how long its last batch should run; 0: unknown
};

struct WorkerView {
  uint32_t first_lane = 0;  // index in lanes; a worker's lanes are neighbours
  uint32_t batches = 0;     // batches on all its lanes
  bool takes_batches = true;
  bool kept = false;            // reserved for suspects
  bool has_output_room = true;  // false: a batch found no room since the last kWait
  bool has_resources = true;    // false: others hold what a batch needs (PoolClaims)
  int64_t turn_ns = 0;          // how long a batch waits for its turn (TurnWait)
  int64_t turn_since_ns = 0;    // since when a batch waits for its turn; 0: none does
  double slowness = 1;
  uint32_t passed_over = 0;  // batches that others got since its last
  uint64_t largest_lease_bytes = std::numeric_limits<uint64_t>::max();

  bool takes_lines() const { return takes_batches && !kept; }
  bool may_run() const { return takes_batches && has_resources; }
  bool is_slow() const { return slowness > 1; }
};

// The spans refer to the pool's tables, and are valid until the decision was carried out.
struct SchedulerSnapshot {
  absl::Span<const LineView> lines;  // empty lines included
  LineView suspects;
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

// A pure function: Decide() takes no lock, allocates and remembers nothing. A pool calls it under
// its mutex whenever a request was queued, a batch came back, a worker came or went, or a kWait's
// time has come. The pool carries the decision out and asks again, until kWait. Thread-safe.
//
// The pool CHECKs that each decision can be carried out and changes something.
//  1. A kKeepWorker names a worker that takes batches and is not kept. Any worker that was kept
//     before has no batch, and is kept no more.
//  2. A kDrop names a rank of a line whose first request's deadline is at `at_ns` or earlier.
//  3. A kRun names a line that is not empty, and a lane with fewer than kMaxLaneDepth batches whose
//     worker takes batches. `max_rows` is at least the head's rows.
//  4. A batch of suspects goes to a kept worker that has no batch.
//  5. A kRun names no worker without output room or resources. If they turn out to be missing, the
//     pool shows that in the views and asks again.
// A kRun of another line to a kept worker ends the keeping. No request is bound to a lane before
// its batch runs (decision 0015).
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  virtual SchedulerDecision Decide(const SchedulerSnapshot& snapshot, int64_t now_ns) const = 0;
};

}  // namespace mpsd
