// SequenceTable: the open sequences of a model, their lanes, and which request of each is next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/request/byte_allowance.h"
#include "server/request/request.h"
#include "server/sequences/sequence.h"
#include "server/sequences/waiting_ledger.h"
#include "server/telemetry/gauge_share.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Pure but for the counters: it is told the time, touches no queue and ends no request. What it
// takes out the caller ends, as TurnsToEnd says. Owned by a SequenceQueue, whose mutex guards it.
// Thread-compatible.
//
//   Admit ─▶ waits ─▶ Begin ─▶ runs ─▶ Done ─▶ the next turn, or idle, or closed
//              └─▶ Remove, TakeExpired, LoseLanes, EndAll
//
// A sequence opens with a turn that starts, gets the lane with the fewest sequences, and stays
// there. While all lanes have their most, it waits for one in the order of arrival. A turn that
// starts in an open sequence ends that one and begins another with its id, once the turns before it
// are over: both are one Sequence here. A turn that follows one which ends is refused unless it
// starts.
//
// A turn that starts and is not answered takes those that follow it along, up to the next that
// starts: the model has not seen the beginning.
//
// Invariants:
//  1. At most one turn of a sequence runs, and only where the sequence has a lane.
//  2. An open sequence has a turn, or is idle and has a lane.
//  3. At most `candidates` sequences have one lane, `most_waiting` turns wait, and these have at
//     most `most_bytes`; half of these turns are of sequences without a lane. Of one tenant no more
//     than is left for all others. A turn that begins at once needs no such room.
class SequenceTable {
 public:
  struct Bounds {
    uint32_t candidates = 1;  // of a lane
    int64_t idle_ns = 0;
    uint32_t most_waiting = 0;  // requests
    uint64_t most_bytes = 0;    // of their inputs
  };

  // How a turn that has begun is over.
  enum class Outcome {
    kAnswered,
    kFailed,   // the model may have seen it
    kRefused,  // by the pool: the model has not
  };

  // A turn that may begin.
  struct Begun {
    std::shared_ptr<Sequence> sequence;
    Turn turn;
  };

  // Requests that the caller ends with that status.
  struct TurnsToEnd {
    std::vector<std::pair<Request*, absl::Status>> waiting;
  };

  // `model` is its name, for texts. The pointers outlive the table.
  SequenceTable(std::string model, const Bounds& bounds, ByteAllowance* states,
                ModelMetrics* metrics)
      : model_(std::move(model)),
        bounds_(bounds),
        states_(states),
        metrics_(metrics),
        open_share_(&metrics->open_sequences),
        ledger_({bounds.most_waiting, bounds.most_bytes}) {}

  // The turn waits from now on; `state_bytes` are what a sequence keeps. INVALID_ARGUMENT where its
  // sequence is not open and it does not start one; RESOURCE_EXHAUSTED where too many wait, or
  // there is no room for another state; UNAVAILABLE where no lane comes in time.
  absl::Status Admit(const SequenceKey& key, const Turn& turn, uint64_t state_bytes);

  // The next turn that may run, which does from now on; none: nothing may. Turns that have waited
  // for too long end instead.
  std::optional<Begun> Begin(int64_t now_ns, TurnsToEnd* to_end);

  // The turn that ran has ended. A sequence whose end was refused stays open for another.
  void Done(Sequence* sequence, const Turn& turn, Outcome outcome, int64_t now_ns,
            TurnsToEnd* to_end);

  // A turn that waits is given up. False where none of that request does.
  bool Remove(Request* request, int64_t now_ns, TurnsToEnd* to_end);

  // Lanes come and go. The sequences of those that go are lost; the caller cancels what runs there.
  void AddLanes(absl::Span<const uint64_t> pins);
  void LoseLanes(absl::Span<const uint64_t> pins, TurnsToEnd* to_end);

  // While there are no lanes none comes before `when_ns`: turns that may not wait longer end as
  // UNAVAILABLE, and such new ones are refused. INT64_MIN: one may come at any moment.
  void ExpectLanesAt(int64_t when_ns, int64_t now_ns, TurnsToEnd* to_end);

  // Turns whose wait has taken too long, and sequences that have been idle for too long.
  void TakeExpired(int64_t now_ns, TurnsToEnd* to_end);

  // All turns that wait end with this status; no sequence is open any more. Turns that run go on.
  void EndAll(const absl::Status& status, TurnsToEnd* to_end);

  size_t open() const { return open_.size(); }
  size_t waiting() const { return waiting_.size(); }

 private:
  struct Lane {
    uint64_t pin = 0;
    uint32_t sequences = 0;
  };
  struct Past {
    SequenceEnd end = SequenceEnd::kEnded;
    uint64_t number = 0;  // of its entry in past_order_
  };
  struct Waiting {
    std::shared_ptr<Sequence> sequence;
    uint64_t bytes = 0;
  };

  absl::Status NotOpen(const SequenceKey& key) const;
  bool BeginsAtOnce(const Sequence& sequence) const;
  bool GetsLane(const SequenceKey& key);
  absl::StatusOr<std::shared_ptr<Sequence>> Open(const SequenceKey& key, uint64_t state_bytes);
  void PlaceBacklog();
  void LeaveBacklog(Sequence* sequence);
  bool MayHaveLane(uint32_t tenant) const;
  Lane* FreeLane();
  void LookAt(const std::shared_ptr<Sequence>& sequence);
  void Settle(Sequence* sequence, int64_t now_ns);
  void Rest(Sequence* sequence, int64_t now_ns);
  void StopRest(Sequence* sequence);
  void Forget(Request* request);
  bool Expire(Request* request, int64_t now_ns, TurnsToEnd* to_end);
  void EndUntil(int64_t until_ns, const absl::Status& status, int64_t now_ns, TurnsToEnd* to_end);
  void EndTurnsUntil(int64_t until_ns, const absl::Status& status, Sequence* sequence,
                     TurnsToEnd* to_end);
  absl::Status NotBegun(const Sequence& sequence) const;
  void DropFollowers(Sequence* sequence, size_t first, TurnsToEnd* to_end);
  void EndWaiting(Sequence* sequence, const absl::Status& status, TurnsToEnd* to_end);
  void Close(Sequence* sequence, SequenceEnd end);
  void Remember(const SequenceKey& key, SequenceEnd end);
  void Count(SequenceEnd end);

  const std::string model_;
  const Bounds bounds_;
  ByteAllowance* const states_;
  ModelMetrics* const metrics_;
  GaugeShare open_share_;

  absl::flat_hash_map<SequenceKey, std::shared_ptr<Sequence>> open_;
  absl::flat_hash_map<Request*, Waiting> waiting_;
  WaitingLedger ledger_;                               // of those
  absl::flat_hash_map<uint32_t, uint32_t> placed_of_;  // sequences with a lane, of each tenant
  std::vector<Lane> lanes_;
  int64_t lanes_expected_ns_ = INT64_MIN;        // while there are none
  std::list<Sequence*> backlog_;                 // without a lane, in the order of arrival
  std::deque<std::shared_ptr<Sequence>> ready_;  // with a turn that may begin, or that had one
  std::list<Sequence*> idle_;                    // the longest first

  // Why those ended that ended last, so that a client is told.
  absl::flat_hash_map<SequenceKey, Past> past_;
  std::deque<std::pair<SequenceKey, uint64_t>> past_order_;
  uint64_t past_count_ = 0;
};

}  // namespace mpsd
