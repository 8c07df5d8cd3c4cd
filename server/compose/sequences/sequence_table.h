// SequenceTable: a model's open sequences, their lanes, and each one's next request.
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
#include "server/compose/sequences/sequence.h"
#include "server/compose/sequences/waiting_ledger.h"
#include "server/request/byte_allowance.h"
#include "server/request/request.h"
#include "server/telemetry/gauge_share.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// It touches no queue and ends no request: the caller does (TurnsToEnd). Owned by a SequenceQueue,
// whose mutex guards it. Thread-compatible.
//
//   Admit ─▶ waits ─▶ Begin ─▶ runs ─▶ Done ─▶ the next turn, or idle, or closed
//              └─▶ Remove, TakeExpired, LoseLanes, EndAll
//
// A sequence opens with a turn that starts, gets the lane with the fewest sequences, and stays
// there. If all lanes are full, it waits for one in the order of arrival. A turn may start in an
// open sequence: once the turns before it are over, it begins another with the same id. If a
// starting turn is not answered, the turns behind it fail too, up to the next starting turn: the
// model has not seen the beginning.
//
// Invariants:
//  1. At most one turn of a sequence runs, and only if the sequence has a lane.
//  2. An open sequence has a turn, or is idle and has a lane.
//  3. A lane has at most `candidates` sequences. At most `most_waiting` turns wait, with at most
//     `most_bytes`; see WaitingLedger. A turn that begins at once needs no such room.
class SequenceTable {
 public:
  struct Bounds {
    uint32_t candidates = 1;  // sequences on a lane
    int64_t idle_ns = 0;
    uint32_t most_waiting = 0;  // requests
    uint64_t most_bytes = 0;    // bytes of their inputs
  };

  enum class Outcome {
    kAnswered,
    kFailed,   // the model may have seen it
    kRefused,  // by the pool: the model has not seen it
  };

  struct Begun {
    std::shared_ptr<Sequence> sequence;
    Turn turn;
  };

  struct TurnsToEnd {
    std::vector<std::pair<Request*, absl::Status>> waiting;
  };

  SequenceTable(std::string model, const Bounds& bounds, ByteAllowance* states,
                ModelMetrics* metrics)
      : model_(std::move(model)),
        bounds_(bounds),
        states_(states),
        metrics_(metrics),
        open_share_(&metrics->open_sequences),
        ledger_({bounds.most_waiting, bounds.most_bytes}) {}

  // INVALID_ARGUMENT if the sequence is not open, or a turn before ends it, and this one does not
  // start. RESOURCE_EXHAUSTED if too many wait, or there is no room for another state. UNAVAILABLE
  // if no lane comes in time.
  absl::Status Admit(const SequenceKey& key, const Turn& turn, uint64_t state_bytes);

  // Returns none if nothing may run.
  std::optional<Begun> Begin(int64_t now_ns, TurnsToEnd* to_end);

  // If a sequence's end was refused, the sequence stays open.
  void Done(Sequence* sequence, const Turn& turn, Outcome outcome, int64_t now_ns,
            TurnsToEnd* to_end);

  // False if the request has no waiting turn.
  bool Remove(Request* request, int64_t now_ns, TurnsToEnd* to_end);

  // Sequences of lost lanes are lost; the caller cancels what runs there.
  void AddLanes(absl::Span<const uint64_t> pins);
  void LoseLanes(absl::Span<const uint64_t> pins, TurnsToEnd* to_end);

  // As PoolWatcher::ExpectAt(). Turns that may not wait longer end as UNAVAILABLE.
  void ExpectLanesAt(int64_t when_ns, int64_t now_ns, TurnsToEnd* to_end);

  // Ends turns and sequences whose time is over.
  void TakeExpired(int64_t now_ns, TurnsToEnd* to_end);

  // Closes all sequences. Running turns go on.
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
    uint64_t number = 0;
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
  WaitingLedger ledger_;
  absl::flat_hash_map<uint32_t, uint32_t> placed_of_;  // sequences with a lane, by tenant
  std::vector<Lane> lanes_;
  int64_t lanes_expected_ns_ = INT64_MIN;        // while there are no lanes
  std::list<Sequence*> backlog_;                 // in order of arrival
  std::deque<std::shared_ptr<Sequence>> ready_;  // have a turn that may begin, or had one
  std::list<Sequence*> idle_;                    // longest idle first

  // Why the latest sequences ended, for clients that ask.
  absl::flat_hash_map<SequenceKey, Past> past_;
  std::deque<std::pair<SequenceKey, uint64_t>> past_order_;
  uint64_t past_count_ = 0;
};

}  // namespace mpsd
